"""Commands inside Python: subprocess lists and strings, `os.system`, Modal image steps."""

import sys
from typing import TYPE_CHECKING

import libcst as cst

from ecolint.facts import Fact
from ecolint.frontends.python.program import Place, dotted
from ecolint.frontends.python.values import Const, Items, Ref
from ecolint.words import Word

if TYPE_CHECKING:
    from ecolint.frontends.python.recognise import Recogniser

_RUNNERS = frozenset(
    {
        "run", "call", "check_call", "check_output", "Popen", "system", "popen", "getoutput",
        "getstatusoutput", "create_subprocess_exec", "create_subprocess_shell", "execvp",
        "run_commands", "sh", "local", "pip_main",
    }
)  # fmt: skip
_ROOTS = ("subprocess", "os", "asyncio", "commands", "sp", "sh", "shlex", "pip")
_IMAGE_STEPS = frozenset({"pip_install", "uv_pip_install"})


def read_commands(recogniser: "Recogniser") -> list[Fact]:
    """The facts of every command that the program runs."""
    found: list[Fact] = []
    for place in recogniser.program.calls:
        call = place.node
        assert isinstance(call, cst.Call)
        name = dotted(call.func)
        tail = call.func.attr.value if isinstance(call.func, cst.Attribute) else name
        if tail in _IMAGE_STEPS:
            found.extend(_image_step(recogniser, call, place))
        elif tail in _RUNNERS and call.args and recogniser.alive(place):
            steps = tail == "run_commands"
            if steps or _is_runner(recogniser, call, place):
                for arg in call.args if steps else call.args[:1]:
                    found.extend(_command(recogniser, arg.value, place))
    return found


def _is_runner(recogniser: "Recogniser", call: cst.Call, place: Place) -> bool:
    values = recogniser.resolver.value(call.func, recogniser.resolver.where(place))
    return any(
        isinstance(v, Ref) and v.name.lstrip("?.").split(".")[0] in (*_ROOTS, "check_call", "run")
        for v in values
    )


def _command(recogniser: "Recogniser", node: cst.BaseExpression, place: Place) -> list[Fact]:
    from ecolint.commands import read_argv
    from ecolint.shell import read_script

    where = recogniser.resolver.where(place)
    facts: list[Fact] = []
    for value in recogniser.resolver.value(node, where):
        if isinstance(value, Items) and isinstance(value.node, (cst.List, cst.Tuple)):
            words = [
                _word(recogniser, e.value, place)
                for e in value.node.elements
                if isinstance(e, cst.Element)
            ]
            facts.extend(read_argv(words, recogniser.role))
        elif isinstance(value, Const) and isinstance(value.node, cst.SimpleString):
            start, end = _inside(recogniser, value.node)
            plain = recogniser.program.view.text[start:end] == value.value
            if plain:
                part = recogniser.program.view.part(start, end)
                facts.extend(read_script(part, recogniser.role))
    return facts


def _word(recogniser: "Recogniser", node: cst.BaseExpression, place: Place) -> Word:
    program = recogniser.program
    start, end = program.span(node)
    values = recogniser.resolver.value(node, recogniser.resolver.where(place))
    value = values[0] if len(values) == 1 else None
    if isinstance(value, Ref) and value.name == f"{sys.__name__}.executable":
        return Word("python", program.view, start, end, exact=False)
    if isinstance(value, Const) and isinstance(value.value, (str, int, float)):
        text = str(value.value)
        if isinstance(node, cst.SimpleString):
            inner, stop = _inside(recogniser, node)
            exact = program.view.text[inner:stop] == text
            return Word(text, program.view, start, end, True, inner, exact)
        return Word(text, program.view, start, end, True, -1, False)
    return Word("", program.view, start, end, known=False, exact=False)


def _inside(recogniser: "Recogniser", node: cst.SimpleString) -> tuple[int, int]:
    start, end = recogniser.program.span(node)
    opening = len(node.prefix) + len(node.quote)
    return start + opening, end - len(node.quote)


def _image_step(recogniser: "Recogniser", call: cst.Call, place: Place) -> list[Fact]:
    """`image.pip_install("torch", pre=True, extra_index_url=…)` as a pip command."""
    from ecolint.commands import read_argv

    view = recogniser.program.view
    start, end = recogniser.program.span(call.func)
    words = [Word(text, view, start, end, exact=False) for text in ("pip", "install")]
    for arg in call.args:
        if arg.star:
            continue
        if arg.keyword is None:
            if isinstance(arg.value, cst.List):
                words += [_word(recogniser, e.value, place) for e in arg.value.elements]
            else:
                words.append(_word(recogniser, arg.value, place))
            continue
        at = recogniser.program.span(arg.keyword, arg.value)
        flag = arg.keyword.value.replace("_", "-")
        if flag == "pre" and dotted(arg.value) == "True":
            words.append(Word("--pre", view, *at, exact=False))
        elif flag in ("index-url", "extra-index-url", "find-links"):
            words.append(Word(f"--{flag}", view, *at, exact=False))
            words.append(_word(recogniser, arg.value, place))
    return list(read_argv(words, recogniser.role))
