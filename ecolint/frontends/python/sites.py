"""Which statements of a program bear on a site; the rest is blanked before LibCST sees it.

Measured on transformers' source tree, LibCST reads 21k lines a second and `ast` 210k. So
`ast` finds the statements that hold a call or assignment we know, adds those that bind the
names they use and those that call the functions they stand in, and blanks all others line
by line: every kept line stays at its place, and the cost follows the site, not the file.
"""

import ast
import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ecolint.dialects.python_calls import BY_NAME, NOT_MODELS
from ecolint.dialects.python_handlers import (
    HANDLER_BASES,
    HANDLER_FUNCTIONS,
    MAPPERS,
    REGISTRARS,
    ROUTES,
)
from ecolint.document import UnreadableError

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
_LIBRARIES = {
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
# How many lines beyond the sites themselves are worth reading to resolve a value.
_BUDGET = 300
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_CALLER_STEPS = 3


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


@dataclass(slots=True)
class _Unit:
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
    owner: "_Unit | None" = None
    site: bool = False
    weak: bool = False
    evidence: bool = False
    always: bool = False
    parts: list[ast.AST] = field(default_factory=list)
    definition: ast.ClassDef | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """A program without what bears on no site, and the names that went with the rest.

    `starts` are the first lines of its top-level statements, where known; `calls` and
    `decorators` the last names of all that the whole program calls and decorates with.
    """

    text: str
    hidden: frozenset[str] = frozenset()
    starts: tuple[int, ...] = ()
    calls: frozenset[str] = frozenset()
    decorators: frozenset[str] = frozenset()
    libraries: frozenset[str] = frozenset()


def relevant(text: str) -> Slice | None:
    """The program with everything blanked that bears on no site; None when it has no site.

    A text that this Python's own parser refuses is given back whole, for LibCST to judge.

    Raises:
        UnreadableError: it is nested too deeply to be parsed.
    """
    commands = any(word in text for word in _COMMANDS)
    lines = _candidates(text, commands)
    if not lines:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        refuse_depth(text)
        calls = frozenset(re.findall(r"(\w+)\s*\(", text))
        return Slice(text, calls=calls, decorators=frozenset(re.findall(r"@[\w.]*?(\w+)\b", text)))
    except (RecursionError, MemoryError):
        raise UnreadableError(
            "nested too deeply to be parsed", "split the expression, or exclude the file"
        ) from None
    units = list(_units(tree))
    if not _survey_all(units, lines, commands):
        return None
    if any(unit.libraries & _LIBRARIES for unit in units):
        worthwhile = _generation_matters(units)
        uncached = any(unit.uncaches for unit in units)
        for unit in units:
            unit.site |= unit.weak or (unit.generates and worthwhile)
            # Whether a cache that is off is ever missed hangs on what generates.
            unit.evidence |= unit.generates and uncached
    kept = _closure(units)
    if not kept:
        return None
    hidden = {name for i, u in enumerate(units) if i not in kept for name in u.binds}
    shown = {name for i in kept for name in units[i].binds}
    starts = tuple(units[i].first for i in sorted(kept) if units[i].owner is None)
    return Slice(
        _blank(text, units, kept),
        frozenset(hidden - shown),
        starts,
        frozenset().union(*(unit.calls for unit in units)),
        frozenset().union(*(unit.decorators for unit in units)),
        frozenset().union(*(unit.libraries for unit in units)),
    )


_STRAIN = re.compile(r"[\[({]|[\])}]|\n|[-+*/.|&%@<>=~]|\b(?:not|and|or|lambda|if|await)\b")
_MAX_BRACKETS, _MAX_OPERATORS = 200, 3_000


def refuse_depth(text: str) -> None:
    """Keep LibCST's parser, which overflows its stack and dies, from what is nested too deeply.

    Raises:
        UnreadableError: more brackets or operators in one statement than it was seen to bear.
    """
    depth = operators = 0
    for match in _STRAIN.finditer(text):
        mark = match.group()
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth = max(depth - 1, 0)
        elif mark == "\n":
            operators = operators if depth else 0
            continue
        operators += 1
        if depth > _MAX_BRACKETS or operators > _MAX_OPERATORS:
            line = text.count("\n", 0, match.start()) + 1
            raise UnreadableError(
                "nested too deeply to be parsed", "split the expression, or exclude the file", line
            )


def _candidates(text: str, commands: bool) -> list[int]:
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


def _survey_all(units: list[_Unit], lines: list[int], commands: bool) -> bool:
    """Survey the units that may hold a site, and the others if one does."""
    others: list[_Unit] = []
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


def _units(tree: ast.Module) -> Iterator[_Unit]:
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            yield from _class_units(statement)
        else:
            unit = _unit(statement)
            unit.always = isinstance(statement, (ast.Import, ast.ImportFrom))
            yield unit


def _class_units(node: ast.ClassDef) -> Iterator[_Unit]:
    header = _unit(node)
    header.parts = [*node.bases, *node.keywords, *node.decorator_list]
    header.definition = node
    yield header
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            method = _unit(statement)
            method.owner = header
            yield method
        else:
            header.parts.append(statement)


def _unit(statement: ast.stmt) -> _Unit:
    unit = _Unit(_first_line(statement), statement.end_lineno or statement.lineno)
    unit.parts = [statement]
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        unit.function = statement.name
    return unit


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(int(d.lineno) for d in decorators)])


def _survey(unit: _Unit, commands: bool) -> None:
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


def _generation_matters(units: list[_Unit]) -> bool:
    """Whether a generating call can be more than one prompt in a script: a loop, a handler."""
    if any(unit.decorators & ROUTES or unit.handles for unit in units):
        return True
    if any(unit.calls & (MAPPERS | REGISTRARS) for unit in units):
        return True
    repeated = {name for unit in units for name in unit.repeated}
    makers = _METHODS | {unit.function for unit in units if unit.generates and unit.function}
    makers |= {u.function for u in units if u.function and u.calls & (makers - _METHODS - _COMMON)}
    return bool(repeated & (makers - _COMMON | _METHODS))


def _name(node: ast.Name, unit: _Unit, commands: bool) -> None:
    (unit.names if isinstance(node.ctx, ast.Load) else unit.binds).add(node.id)


def _attribute(node: ast.Attribute, unit: _Unit, commands: bool) -> None:
    unit.members.add(node.attr)
    unit.evidence |= node.attr in _EVIDENCE
    if not isinstance(node.ctx, ast.Load):
        root = _root(node.value)
        unit.binds.add(f".{node.attr}" if root == "self" else root)
        unit.weak |= node.attr in _ASSIGNED
        of_model = _tail(node.value) in ("config", "generation_config")
        unit.uncaches |= node.attr == "use_cache"
        unit.site |= node.attr == "use_cache" and of_model


def _call(node: ast.Call, unit: _Unit, commands: bool) -> None:
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


def _keyword(word: ast.keyword, tail: str, unit: _Unit) -> None:
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


def _subscript(node: ast.Subscript, unit: _Unit, commands: bool) -> None:
    if isinstance(node.ctx, ast.Load):
        return
    unit.binds.add(_root(node.value))
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    unit.site |= key in _SWITCHES or (isinstance(key, str) and key.endswith("_DISABLE"))


def _dict(node: ast.Dict, unit: _Unit, commands: bool) -> None:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and key.value in _SWITCHES:
            unit.weak |= getattr(value, "value", True) not in (False, None)


def _definition(
    node: "ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef", unit: _Unit, commands: bool
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


def _import(node: ast.Import, unit: _Unit, commands: bool) -> None:
    unit.libraries.update(alias.name.partition(".")[0] for alias in node.names)
    unit.binds.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)


def _from_import(node: ast.ImportFrom, unit: _Unit, commands: bool) -> None:
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


def _closure(units: list[_Unit]) -> set[int]:
    """The units to keep: sites, evidence, what they need and what calls them, nearest first."""
    frontier = {index for index, unit in enumerate(units) if unit.site}
    if not frontier:
        return frontier
    frontier |= {i for i, u in enumerate(units) if u.evidence and u.last - u.first < 200}
    kept = frontier | {i for i, unit in enumerate(units) if unit.always}
    index = _Index(units)
    budget = _BUDGET
    for step in range(8):
        wanted = {i for unit in frontier for i in index.wanted(unit, step, kept)} - kept
        frontier = set()
        for unit in sorted(wanted, key=lambda i: units[i].last - units[i].first):
            budget -= _length(units, unit)
            if budget >= 0:
                frontier.add(unit)
        kept |= frontier
        if not frontier:
            break
    # A method cannot stand without its class.
    return kept | {index.headers[id(o)] for i in kept if (o := units[i].owner) is not None}


class _Index:
    """Who binds a name, and who uses it."""

    def __init__(self, units: list[_Unit]) -> None:
        self.units = units
        self.headers = {id(unit): index for index, unit in enumerate(units)}
        self.binders: dict[str, set[int]] = {}
        self.users: dict[str, set[int]] = {}
        for index, unit in enumerate(units):
            for name in unit.binds:
                self.binders.setdefault(name, set()).add(index)
            if unit.function and unit.owner is not None:
                self.binders.setdefault(f".{unit.function}", set()).add(index)
            for name in (*unit.names, *unit.members):
                self.users.setdefault(name, set()).add(index)

    def wanted(self, index: int, step: int, kept: set[int]) -> set[int]:
        """The units that a unit's values hang on."""
        unit = self.units[index]
        found: set[int] = set()
        for name in unit.names:
            found |= self.binders.get(name, set())
        for name in unit.members:
            found |= {
                i
                for i in self.binders.get(f".{name}", ())
                if (owner := self.units[i].owner) is not None
                and (owner is unit.owner or self.headers[id(owner)] in kept)
            }
        if unit.owner is not None:
            found.add(self.headers[id(unit.owner)])
        if unit.function and step < _CALLER_STEPS and unit.function not in _COMMON:
            found |= self.users.get(unit.function, set())
        elif unit.function == "__init__" and unit.owner is not None and step < _CALLER_STEPS:
            for name in unit.owner.binds:
                found |= self.users.get(name, set())
        elif unit.site and step == 0 and not unit.function:
            # `pipe = pipeline(…)`: what is done with it stands elsewhere.
            found |= {i for name in unit.binds for i in self.users.get(name, ())}
        if unit.site and step == 0 and unit.owner is not None:
            found |= {
                i
                for name in unit.binds
                for i in self.users.get(name.removeprefix("."), ())
                if name.startswith(".") and self.units[i].owner is unit.owner
            }
        return found


def _length(units: list[_Unit], index: int) -> int:
    """The lines that keeping a unit costs; a class header costs nothing but its own."""
    unit = units[index]
    inside = sum(u.last - u.first + 1 for u in units if u.owner is unit)
    return unit.last - unit.first + 1 - inside


# Names so common that "who calls it" says nothing.
_COMMON = frozenset(
    {"__init__", "__call__", "forward", "generate", "main", "run", "call", "get", "setup"}
)


def _blank(text: str, units: list[_Unit], kept: set[int]) -> str:
    lines = _LINES.findall(text)
    keep = [False] * (len(lines) + 2)
    for index in kept:
        unit = units[index]
        keep[unit.first : unit.last + 1] = [True] * (unit.last - unit.first + 1)
    for index, unit in enumerate(units):
        # A class whose header is kept keeps its lines but not the methods nobody needs.
        if unit.owner is not None and index not in kept:
            for line in range(unit.first, unit.last + 1):
                keep[line] = False
            if any(unit.owner is units[i] for i in kept):
                head = lines[unit.first - 1]
                indent = head[: len(head) - len(head.lstrip())]
                lines[unit.first - 1] = f"{indent}pass{_end(head)}"
                keep[unit.first] = True
    return "".join(
        line if keep[number] else _end(line) for number, line in enumerate(lines, start=1)
    )


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]
