"""The front-end of pip's requirements and constraints files.

Our own line reader: `packaging` and pip's own parser keep no places. Files that a line
includes (`-r`, `-c`) are read when they are linted themselves, so an include can neither
loop nor lead out of the project; it only tells that more is asked for than stands here.
"""

import re
from collections.abc import Callable
from functools import partial

from ecolint.document import Document, View, whole
from ecolint.facts import Facts, Package, Role
from ecolint.installation import Edits, Installation, Switch, remove_line, role_of
from ecolint.toolchain import classify_index, read_requirement
from ecolint.words import Word

_LINE = re.compile(r"[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*")
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*")
_TOKEN = re.compile(r"(?:[^\s\\]|\\(?!\r?\n))+")
_JOINED = re.compile(
    r"(?:(?P<name>--[A-Za-z-]+)=(?P<value>\S+)|(?P<flag>-[irecf])=?(?P<rest>[^-\s]\S*))"
)
_LONGEST = 20_000  # characters of a line that a hand or pip-compile may have written
_HASH = re.compile(r"\s--hash\b")
_INDEXES = frozenset({"-i", "--index-url", "--extra-index-url", "-f", "--find-links"})
_INCLUDES = frozenset({"-r", "--requirement", "-c", "--constraint"})
_EDITABLE = frozenset({"-e", "--editable"})

Remove = Callable[[], Edits]


def read(document: Document) -> Facts:
    """The facts of a requirements file."""
    name = re.split(r"[/\\]", document.path)[-1]
    return Facts([*read_view(whole(document), role_of(name))])


def read_view(view: View, role: Role) -> list[Package]:
    """The package facts of requirement lines, wherever they stand."""
    installation = Installation(role, apart=True)
    at = 0
    while at < len(view.text):
        found = _LINE.match(view.text, at)
        assert found is not None
        add_line(installation, view, at, found.end())
        at = found.end() + 1
    return installation.packages()


def add_line(
    installation: Installation, view: View, start: int, end: int, remove: Remove | None = None
) -> None:
    """Add one logical line to what is installed.

    `remove` makes the edits that take the whole line away, where that is more than its own
    characters (an item of a list).
    """
    text = view.text
    if end - start > _LONGEST:
        return
    comment = _COMMENT.search(text, start, end)
    stop = comment.start() if comment else end
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1] in " \t\r\n\\":
        stop -= 1
    if start >= stop:
        return
    if text[start] == "-":
        _add_option(installation, view, start, stop, remove)
        return
    word = _word(view, start, stop)
    locked = _HASH.search(word.text) is not None
    installation.ask(word, read_requirement(word.text), locked=locked)


def _add_option(
    installation: Installation, view: View, start: int, stop: int, remove: Remove | None
) -> None:
    """Add a line of options; pip allows several on one."""
    tokens = [(found.start(), found.end()) for found in _TOKEN.finditer(view.text, start, stop)]
    options = [(begin, end) for begin, end in tokens if view.text[begin] == "-"]
    if len(options) > 1:
        remove = _nothing
    elif remove is None:
        remove = partial(remove_line, view, start, stop)
    for begin, end in options:
        following = next(((b, e) for b, e in tokens if b >= end), (end, end))
        _add_one(installation, view, _split(view, begin, end), following, remove)


def _nothing() -> Edits:
    """The options share a line, of which no part is taken away alone."""
    return None


def _split(view: View, start: int, end: int) -> tuple[Word, Word | None]:
    """An option, and its value where both are one token."""
    found = _JOINED.fullmatch(view.text, start, end)
    if found is None:
        return _word(view, start, end), None
    name, value = ("name", "value") if found.group("name") else ("flag", "rest")
    return _word(view, *found.span(name)), _word(view, *found.span(value))


def _add_one(
    installation: Installation,
    view: View,
    option: tuple[Word, Word | None],
    following: tuple[int, int],
    remove: Remove,
) -> None:
    name = option[0].text
    value = option[1] or _word(view, *following)
    if name == "--pre":
        installation.allow(Switch(option[0].span(), name, remove()))
    elif name in _INDEXES:
        index = classify_index(value.text)
        installation.route(value, index, remove() if index is not None else None)
    elif name in _INCLUDES:
        installation.elsewhere = True
    elif name in _EDITABLE:
        requirement = read_requirement(value.text)
        flag = view.edit(option[0].start, value.start, "")
        installation.ask(value, requirement, (flag,) if flag else None)
        installation.elsewhere |= requirement is None


def _word(view: View, start: int, end: int) -> Word:
    return Word(view.text[start:end], view, start, end, True, start, True)
