"""What a site is: a call or assignment that we know, found by the words and by `ast`.

The words of a text say on which lines a site may stand; only the statements around those
lines are looked through, and what they use and bind is noted for the slice.
"""

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from ecolint.dialects.python_calls import BY_NAME, NOT_MODELS
from ecolint.dialects.python_handlers import (
    HANDLER_BASES,
    HANDLER_FUNCTIONS,
    MAPPERS,
    REGISTRARS,
    ROUTES,
)

_METHODS = {"generate", "generate_batch", "chat", "stream_generate", "batch_generate"}
_RUNNERS = {
    "run", "call", "check_call", "check_output", "Popen", "system", "popen", "getoutput",
    "create_subprocess_exec", "create_subprocess_shell", "run_commands", "pip_install",
    "uv_pip_install", "execvp", "getstatusoutput", "local", "sh", "system_raw", "run_line_magic",
    "from_registry", "install",
}  # fmt: skip
_COMMON_RUNNERS = {"run", "call", "system", "popen", "sh", "local", "install"}
_RUN_BY = {"subprocess", "sp", "os", "c", "ctx", "session", "conn", "get_ipython"}
_COMMANDS = (
    "pip install", "pip3 install", "pip_install", '"install"', "'install'", "uv add", "vllm",
    "sglang", "text-generation-launcher", "lmdeploy", "lm_eval", "conda install", "uv pip",
    "llamafactory", "litgpt", "trtllm", "run_line_magic",
)  # fmt: skip
# Names that mean something only in a file that imports a library of ours.
_WEAK_TAILS = {
    "pipeline", "LLM", "Engine", "Runtime", "EngineArgs", "GenerationConfig", "AsyncLLM",
    "ServerArgs", "CrossEncoder", "LLMConfig",
}  # fmt: skip
_OWNED = {"batch": "serve", "deployment": "serve", "api": "bentoml", "compile": "torch"}
_TAILS = {
    "from_pretrained", "pipeline", "LLM", "Engine", "Runtime", "EngineArgs", "batch", "api",
    "deployment", "from_model_id", "from_engine_args", "load", "compile", "GenerationConfig",
    "AsyncLLM", "ServerArgs", "CrossEncoder", "LLMConfig",
}  # fmt: skip
_TAILS = (
    {name for name in BY_NAME if "." not in name} - _WEAK_TAILS - set(_OWNED) - {"from_pretrained"}
)
_PAIRS = {name for name in BY_NAME if "." in name}
LIBRARIES = {
    "transformers", "vllm", "sglang", "unsloth", "optimum", "diffusers", "torchao",
    "bitsandbytes", "sentence_transformers", "langchain", "langchain_huggingface",
    "langchain_community", "llama_index", "haystack", "lmdeploy", "litgpt", "litserve",
    "tensorrt_llm", "ray", "bentoml", "modal", "auto_gptq", "awq", "modelscope", "lm_eval",
}  # fmt: skip
_SWITCHES = {"load_in_8bit", "load_in_4bit", "disable_compile", "enforce_eager"}
_OFF_ONLY = {"use_cache", "enable_prefix_caching"}
_ASSIGNED = {"use_cache", "load_in_8bit", "load_in_4bit"}
# Statements that a verdict may hang on, wherever they stand.
_EVIDENCE = {
    "compile", "compile_repeated_blocks", "add_argument", "add_option", "set_defaults",
    "DEFINE_bool", "DEFINE_boolean", "DEFINE_string", "DEFINE_integer", "DEFINE_enum",
    "set_stance", "cache_implementation", "DataLoader",
}  # fmt: skip

# Words of which one stands on every line that holds a site. Common names need their bracket.
_COMMON_CALLS = {"pipeline", "LLM", "Engine", "Runtime", "generate", "chat", *_OWNED}
_NAMES = set(BY_NAME) | _METHODS | _WEAK_TAILS
_WORDS = (
    *sorted(_NAMES - _COMMON_CALLS),
    *(f"{name}{bracket}" for name in sorted(_COMMON_CALLS) for bracket in ("(", " (")),
    *sorted(_SWITCHES), "use_cache=False", ".use_cache =", ".use_cache=", "_DISABLE",
    "enable_prefix_caching=False", "max_batch_size", "max_ongoing_requests", "gpu=",
    "accelerator_type",
)  # fmt: skip
_RUNNER_WORDS = tuple(f"{name}(" for name in sorted(_RUNNERS))
_LINE_END = re.compile(r"\r\n|\r|\n")
COMMON = frozenset(
    {"__init__", "__call__", "forward", "generate", "main", "run", "call", "get", "setup"}
)


@dataclass(slots=True)
class Unit:
    """Statements that are kept or blanked together: a top-level statement, or a method."""

    first: int
    last: int
    names: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    libraries: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)
    required: set[str] = field(default_factory=set)
    generates: bool = False
    uncaches: bool = False
    aliases: set[str] = field(default_factory=set)
    handles: bool = False
    decorators: set[str] = field(default_factory=set)
    function: str = ""
    owner: "Unit | None" = None
    site: bool = False
    weak: bool = False
    evidence: bool = False
    always: bool = False
    parts: list[ast.AST] = field(default_factory=list)
    definition: ast.ClassDef | None = None


def names_a_command(text: str) -> bool:
    """Whether a text names a command that matters, so that what runs commands is a site."""
    return any(word in text for word in _COMMANDS)


def candidates(text: str, commands: bool) -> list[int]:
    """The lines that may hold a site, going by their words; a docstring may, too."""
    found: list[int] = []
    # Three times as quick as one regular expression with a hundred alternatives.
    for word in (*_WORDS, *_RUNNER_WORDS) if commands else _WORDS:
        at = text.find(word)
        while at >= 0:
            # An example in a docstring, as doctest has it, is no code.
            if not text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith((">>> ", "... ")):
                found.append(at)
            at = text.find(word, at + 1)
    if not found:
        return []
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    return sorted(bisect_right(starts, at) for at in found)


def survey_all(units: list[Unit], lines: list[int], commands: bool) -> bool:
    """Survey the units that may hold a site, and the others if one does."""
    others: list[Unit] = []
    found = False
    for unit in units:
        at = bisect_left(lines, unit.first)
        if at < len(lines) and lines[at] <= unit.last:
            _survey(unit, commands)
            found |= unit.site or unit.weak or unit.generates or bool(unit.aliases)
        else:
            others.append(unit)
    if found:
        for unit in others:
            _survey(unit, commands)
        aliases = {name for unit in units for name in unit.aliases}
        for unit in units:
            unit.weak |= bool(unit.calls & aliases)
    return found


def _survey(unit: Unit, commands: bool) -> None:
    """Note what a unit uses and binds, and whether it holds a site."""
    if unit.definition is not None:
        _definition(unit.definition, unit, commands)
    stack: list[tuple[ast.AST, bool]] = [(part, False) for part in unit.parts]
    while stack:
        node, looped = stack.pop()
        kind = type(node)
        look = _LOOKS.get(kind)
        if look is not None:
            look(node, unit, commands)
            if looped and kind is ast.Call:
                unit.repeated.add(_tail(node.func))  # type: ignore[attr-defined]
        looped = looped or kind in _LOOPS
        # `ast.iter_child_nodes` is a generator of generators, and this is the hot loop.
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                stack.append((value, looped))
            elif type(value) is list:
                stack.extend((item, looped) for item in value if isinstance(item, ast.AST))


_LOOPS = frozenset({ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.GeneratorExp, ast.DictComp})


def _tail(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def generation_matters(units: list[Unit]) -> bool:
    """Whether a generating call can be more than one prompt in a script: a loop, a handler."""
    if any(unit.decorators & ROUTES or unit.handles for unit in units):
        return True
    if any(unit.calls & (MAPPERS | REGISTRARS) for unit in units):
        return True
    repeated = {name for unit in units for name in unit.repeated}
    makers = _METHODS | {unit.function for unit in units if unit.generates and unit.function}
    makers |= {u.function for u in units if u.function and u.calls & (makers - _METHODS - COMMON)}
    return bool(repeated & (makers - COMMON | _METHODS))


def _name(node: ast.Name, unit: Unit, commands: bool) -> None:
    (unit.names if isinstance(node.ctx, ast.Load) else unit.binds).add(node.id)


def _attribute(node: ast.Attribute, unit: Unit, commands: bool) -> None:
    unit.members.add(node.attr)
    unit.evidence |= node.attr in _EVIDENCE
    if not isinstance(node.ctx, ast.Load):
        root = _root(node.value)
        unit.binds.add(f".{node.attr}" if root == "self" else root)
        unit.weak |= node.attr in _ASSIGNED
        of_model = _tail(node.value) in ("config", "generation_config")
        unit.uncaches |= node.attr == "use_cache"
        unit.site |= node.attr == "use_cache" and of_model


def _call(node: ast.Call, unit: Unit, commands: bool) -> None:
    func = node.func
    tail, owner = getattr(func, "id", ""), ""
    if isinstance(func, ast.Attribute):
        tail = func.attr
        owner = _tail(func.value.func if isinstance(func.value, ast.Call) else func.value)
    unit.calls.add(tail)
    runs = commands and tail in _RUNNERS and (owner in _RUN_BY or tail not in _COMMON_RUNNERS)
    if runs or tail in _TAILS or f"{owner}.{tail}" in _PAIRS:
        unit.site = True
    elif tail == "from_pretrained":
        # `cls.from_pretrained(path)` and the like pass on what others configure.
        named = not node.args or getattr(node.args[0], "id", "") not in unit.required
        unit.weak |= named and owner[:1].isupper() and not owner.endswith(NOT_MODELS)
    elif tail in _OWNED:
        unit.weak |= owner == _OWNED[tail]
    elif tail == "partial" and node.args:
        unit.weak |= getattr(node.args[0], "attr", "") == "from_pretrained"
    elif tail in _METHODS:
        unit.generates |= owner != "self" and not isinstance(_base(func), ast.Call)
    elif tail in _WEAK_TAILS:
        unit.weak = True
    elif tail == "setattr" and len(node.args) > 1:
        unit.binds.add(_root(node.args[0]))
        given = getattr(node.args[1], "value", None)
        unit.weak |= given in _ASSIGNED
        unit.uncaches |= given == "use_cache"
    elif tail in ("update", "setdefault", "pop") and isinstance(func, ast.Attribute):
        unit.uncaches |= owner in ("config", "generation_config")
        unit.binds.add(_root(func.value))
        unit.site |= owner == "environ" and any(map(_is_switch, node.args))
    elif tail == "Thread":
        unit.generates |= any(_tail(word.value) in _METHODS for word in node.keywords)
        unit.uncaches |= unit.generates
    for word in node.keywords:
        _keyword(word, tail, unit)


def _keyword(word: ast.keyword, tail: str, unit: Unit) -> None:
    constant = isinstance(word.value, ast.Constant)
    value = word.value.value if isinstance(word.value, ast.Constant) else None
    if word.arg in _SWITCHES:
        unit.site |= not constant or value not in (False, None)
    elif word.arg in _OFF_ONLY:
        unit.site |= value is False and tail in (*_METHODS, "from_pretrained")
    elif word.arg in ("cache_implementation", "assistant_model"):
        unit.evidence = True
    elif word.arg in ("gpu", "max_batch_size", "max_ongoing_requests"):
        unit.weak = True


def _is_switch(node: ast.expr) -> bool:
    keys = node.keys if isinstance(node, ast.Dict) else [node]
    return any(isinstance(k, ast.Constant) and str(k.value).endswith("_DISABLE") for k in keys)


def _base(func: ast.expr) -> ast.expr | None:
    return func.value if isinstance(func, ast.Attribute) else None


def _subscript(node: ast.Subscript, unit: Unit, commands: bool) -> None:
    if isinstance(node.ctx, ast.Load):
        return
    unit.binds.add(_root(node.value))
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    unit.site |= key in _SWITCHES or (isinstance(key, str) and key.endswith("_DISABLE"))


def _dict(node: ast.Dict, unit: Unit, commands: bool) -> None:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and key.value in _SWITCHES:
            unit.weak |= getattr(value, "value", True) not in (False, None)


def _definition(
    node: "ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef", unit: Unit, commands: bool
) -> None:
    unit.binds.add(node.name)
    if isinstance(node, ast.ClassDef):
        unit.handles |= any(HANDLER_BASES.search(_dotted(base)) for base in node.bases)
    else:
        arguments = node.args
        given = len(arguments.args) - len(arguments.defaults)
        unit.required.update(a.arg for a in arguments.args[:given])
        unit.required.update(
            a.arg
            for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if d is None
        )
        unit.handles |= node.name in HANDLER_FUNCTIONS
    for decorator in node.decorator_list:
        inner = decorator.func if isinstance(decorator, ast.Call) else decorator
        unit.decorators.add(_tail(inner))


def _import(node: ast.Import, unit: Unit, commands: bool) -> None:
    unit.libraries.update(alias.name.partition(".")[0] for alias in node.names)
    unit.binds.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)


def _from_import(node: ast.ImportFrom, unit: Unit, commands: bool) -> None:
    if node.module and not node.level:
        unit.libraries.add(node.module.partition(".")[0])
    unit.binds.update(alias.asname or alias.name for alias in node.names)
    known = _TAILS | _WEAK_TAILS
    unit.aliases.update(a.asname for a in node.names if a.asname and a.name in known)


_LOOKS: dict[type[ast.AST], Callable[..., None]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Dict: _dict,
    ast.FunctionDef: _definition,
    ast.AsyncFunctionDef: _definition,
    ast.ClassDef: _definition,
    ast.Import: _import,
    ast.ImportFrom: _from_import,
}


def _dotted(node: ast.expr) -> str:
    return f"{_root(node)}.{_tail(node)}"


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
