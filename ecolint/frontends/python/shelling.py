"""Commands inside Python: subprocess lists and strings, `os.system`, Modal image steps."""

from typing import TYPE_CHECKING

import libcst as cst

from ecolint.facts import Fact
from ecolint.frontends.python import commandlines
from ecolint.frontends.python.commandlines import arguments_of, rendered, word_of
from ecolint.frontends.python.program import Place, dotted
from ecolint.frontends.python.values import Items, Made, Ref
from ecolint.words import Word

if TYPE_CHECKING:
    from ecolint.frontends.python.recognise import Recogniser

_RUNNERS = frozenset(
    {
        "run", "call", "check_call", "check_output", "Popen", "system", "popen", "getoutput",
        "getstatusoutput", "create_subprocess_exec", "create_subprocess_shell", "execvp",
        "run_commands", "sh", "local", "pip_main", "system_raw", "run_line_magic", "sudo",
    }
)  # fmt: skip
_ROOTS = ("subprocess", "os", "asyncio", "commands", "sp", "sh", "shlex", "pip", "sudo")
# They take the words of a command one by one.
_SPREAD = frozenset({"create_subprocess_exec", "execlp"})
_SESSIONS = ("session.run", "session.install", "c.run", "ctx.run", "conn.run")
_IMAGE_STEPS = frozenset({"pip_install", "uv_pip_install"})
_REGISTRIES = frozenset({"from_registry", "DockerImage"})


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
        elif tail in _REGISTRIES and call.args:
            found.extend(_image(recogniser, call, place))
        elif name in ("session.run", "session.install") and recogniser.alive(place):
            found.extend(_session(recogniser, call, place, installs=name.endswith("install")))
        elif (
            tail in _RUNNERS
            and call.args
            and recogniser.alive(place)
            and (tail == "run_commands" or _is_runner(recogniser, call, place))
        ):
            found.extend(_run(recogniser, call, place, tail))
    return found


def _is_runner(recogniser: "Recogniser", call: cst.Call, place: Place) -> bool:
    if dotted(call.func) in _SESSIONS:
        return True
    values = recogniser.resolver.value(call.func, recogniser.resolver.where(place))
    if isinstance(call.func, cst.Attribute) and isinstance(call.func.value, cst.Call):
        return dotted(call.func.value.func) == "get_ipython"
    return any(
        isinstance(v, Ref) and v.name.lstrip("?.").split(".")[0] in (*_ROOTS, "check_call", "run")
        for v in values
    )


def _run(recogniser: "Recogniser", call: cst.Call, place: Place, tail: str) -> list[Fact]:
    from ecolint.commands import read_argv

    if tail == "run_line_magic" and len(call.args) > 1:
        return _command(recogniser, call.args[1].value, place, "pip ")
    if tail in _SPREAD:
        words = commandlines.words_of(
            recogniser, [a.value for a in call.args if not a.keyword], place
        )
        return list(read_argv(words, recogniser.role))
    if tail == "execvp" and len(call.args) > 1:
        return _command(recogniser, call.args[1].value, place)
    if tail == "run_commands":
        return [f for arg in call.args for f in _command(recogniser, arg.value, place)]
    first = next((a for a in call.args if a.keyword is None or a.keyword.value == "args"), None)
    return _command(recogniser, first.value, place) if first is not None else []


def _command(
    recogniser: "Recogniser", node: cst.BaseExpression, place: Place, before: str = ""
) -> list[Fact]:
    from ecolint.commands import read_argv
    from ecolint.shell import read_script

    words = arguments_of(recogniser, node, place)
    if words is not None:
        return list(read_argv(words, recogniser.role))
    view = rendered(recogniser, node, place, before)
    return list(read_script(view, recogniser.role)) if view is not None else []


def _session(
    recogniser: "Recogniser", call: cst.Call, place: Place, *, installs: bool
) -> list[Fact]:
    """`session.run("pip", "install", …)` and `session.install(…)` of nox."""
    from ecolint.commands import read_argv

    positional = [a.value for a in call.args if a.keyword is None and not a.star]
    words = commandlines.words_of(recogniser, positional, place)
    if installs:
        start, end = recogniser.program.span(call.func)
        words = [*_pip_install(recogniser, start, end), *words]
    return list(read_argv(words, recogniser.role))


def _pip_install(recogniser: "Recogniser", start: int, end: int) -> list[Word]:
    view = recogniser.program.view
    return [Word(text, view, start, end, exact=False) for text in ("pip", "install")]


def _image(recogniser: "Recogniser", call: cst.Call, place: Place) -> list[Fact]:
    """The container image that a Modal or similar program starts from."""
    from ecolint.images import image_facts

    return image_facts(word_of(recogniser, call.args[0].value, place), recogniser.role)


def _image_step(recogniser: "Recogniser", call: cst.Call, place: Place) -> list[Fact]:
    """`image.pip_install("torch", pre=True, extra_index_url=…)` as a pip command."""
    from ecolint.commands import read_argv

    view = recogniser.program.view
    start, end = recogniser.program.span(call.func)
    words = _pip_install(recogniser, start, end)
    for arg in call.args:
        if arg.keyword is None:
            words += _requirements(recogniser, arg, place)
            continue
        at = recogniser.program.span(arg.keyword, arg.value)
        flag = arg.keyword.value.replace("_", "-")
        if flag == "pre" and dotted(arg.value) == "True":
            words.append(Word("--pre", view, *at, exact=False))
        elif flag in ("index-url", "extra-index-url", "find-links"):
            words.append(Word(f"--{flag}", view, *at, exact=False))
            words.append(word_of(recogniser, arg.value, place))
        elif flag == "extra-options":
            words += commandlines.split_words(recogniser, arg.value, place)
    return list(read_argv(words, recogniser.role))


def _requirements(recogniser: "Recogniser", arg: cst.Arg, place: Place) -> list[Word]:
    """The words of one positional argument: a requirement, a list of them, or `*LIST`."""
    where = recogniser.resolver.where(place)
    if arg.star or isinstance(arg.value, cst.List):
        return arguments_of(recogniser, arg.value, place) or []
    values = recogniser.resolver.value(arg.value, where)
    if any(isinstance(v, (Items, Made)) for v in values):
        return arguments_of(recogniser, arg.value, place) or []
    return [word_of(recogniser, arg.value, place)]
