"""Scripts in, facts out: each command of a shell text, and the programs fed to it."""

from collections.abc import Mapping
from typing import Any

from ecolint.document import UnreadableError, View
from ecolint.facts import Fact, Role, Setting
from ecolint.gate import COMMANDS
from ecolint.shellcommand import Assignment, Command
from ecolint.shellgrammar import split
from ecolint.shellscope import UNKNOWN, Piece, Scope
from ecolint.shellwords import Syntax

__all__ = ["Assignment", "Command", "Scope", "Syntax", "read_python", "read_script", "split"]

MAX_SCRIPT = 8_000_000
MAX_SHELLS = 6

_WORDS = tuple(word.decode() for word in COMMANDS)
_WRITERS = frozenset({"cat", "tee"})
_SHELLS = frozenset({"bash", "sh", "zsh", "ssh"})


def read_script(
    view: View,
    role: Role,
    *,
    syntax: Syntax = Syntax.SHELL,
    scope: Scope | None = None,
    env: Mapping[str, Setting[Any]] | None = None,
    depth: int = 0,
    start: int = 0,
    end: int | None = None,
) -> list[Fact]:
    """The facts of a shell text.

    Args:
        view: the text.
        role: what the file that holds it is for.
        syntax: whose rules for comments and variables hold.
        scope: variables known before.
        env: environment variables that reach every command.
        depth: how many shells this one stands in.
        start: where the text begins in the view.
        end: where it ends; the view's end if None.

    Raises:
        UnreadableError: the text is larger than any script (8 MB).
    """
    text = view.text if start == 0 and end is None else view.text[start:end]
    if not any(word in text for word in _WORDS):
        return []
    if len(text) > MAX_SCRIPT:
        raise UnreadableError(
            f"a script of {len(text) // 1_000_000} MB", "exclude it, or move the data out of it"
        )
    from ecolint.environment import read_environment

    scope = scope or Scope(text)
    _seed(scope, env or {})
    facts: list[Fact] = []
    exported: dict[str, Setting[Any]] = {}
    trains = False
    for command in split(view, syntax=syntax, scope=scope, start=start, end=end):
        if command.runs:
            facts.extend(_read(view, command, role, env or {}, exported, depth))
        trains = trains or any(_trains(word.text) for word in command.words)
    return facts if trains else facts + read_environment(exported, role)


def _seed(scope: Scope, env: Mapping[str, Setting[Any]]) -> None:
    """Give a script the variables that it finds in its environment."""
    for name, setting in env.items():
        if scope.get(name) is None:
            known = setting.known and setting.value is not None
            scope.assign(name, ((Piece(str(setting.value)),),) if known else UNKNOWN)


def _trains(program: str) -> bool:
    """Whether a word names a script or package that trains."""
    from ecolint.dialects.launchers import TRAINING_NAMES

    name = program.rsplit("/", 1)[-1].lower()
    script = name.endswith(".py") or name.startswith(("axolotl", "llamafactory"))
    return script and any(part in name for part in TRAINING_NAMES)


def _read(
    view: View,
    command: Command,
    role: Role,
    outer: Mapping[str, Setting[Any]],
    exported: dict[str, Setting[Any]],
    depth: int,
) -> list[Fact]:
    from ecolint.commands import read_argv
    from ecolint.environment import VARIABLES, read_compile_switches, variable

    own = {
        each.name: variable(
            each.name,
            each.value,
            view.span(each.start, each.end),
            view.span(each.start, each.start + len(each.name)),
        )
        for each in (*command.environment, *command.assigned)
        if each.name in VARIABLES
    }
    set_here = {
        each.name: own[each.name]
        for each in command.assigned
        if each.name in own and (each.exported or command.words)
    }
    exported.update(set_here)
    facts = read_compile_switches(set_here, role)
    if command.words:
        facts += read_argv(command.words, role, {**outer, **own}, depth=depth)
    if command.heredoc is not None:
        facts += _read_heredoc(command, role, {**outer, **own}, depth)
    return facts


def _read_heredoc(
    command: Command, role: Role, env: Mapping[str, Setting[Any]], depth: int
) -> list[Fact]:
    """The text fed to a command: a Python program, a script, or a file of either kind."""
    text = command.heredoc
    assert text is not None
    program = command.words[0].text.rsplit("/", 1)[-1] if command.words else ""
    targets = list(command.written)
    if program == "tee":
        targets += [word.text for word in command.words[1:]]
    if program not in _WRITERS:
        targets = []
    if not command.literal and ("$" in text.text or "`" in text.text):
        text = text.part(0, len(text.text), writable=False)
    names = [word.text for word in command.words]
    shebang = text.text.partition("\n")[0] if text.text.startswith("#!") else ""
    fed = program in _SHELLS or not command.words or names[:2] == ["sudo", "bash"]
    python = program.startswith("python") or (fed and "python" in shebang)
    if python or any(name.endswith(".py") for name in targets):
        return read_python(text)
    if (fed or any(name.endswith((".sh", ".bash")) for name in targets)) and depth < MAX_SHELLS:
        return read_script(text, role, env=env, depth=depth + 1)
    return []


def read_python(view: View) -> list[Fact]:
    """The facts of a Python program inside a script; none where it is no Python."""
    from ecolint.frontends.python import read_view

    try:
        return read_view(view)
    except UnreadableError:
        return []
