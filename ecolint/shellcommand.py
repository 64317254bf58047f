"""A command as the shell would run it: its words, what it is fed, and what it finds exported."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ecolint.document import View
from ecolint.shellscope import Scope, word_of
from ecolint.words import Word


@dataclass(frozen=True, slots=True)
class Assignment:
    """`NAME=value` as written at `start`..`end` of the view; `exported` reaches programs."""

    name: str
    value: Word
    start: int
    end: int
    exported: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command.

    `assigned` is what it sets itself, `environment` what it finds exported (the last of a
    name counts), `written` the files it writes, `heredoc` the text it is fed; `literal`
    tells that the shell leaves that text alone; `runs` is False where known variables rule
    the command out or an unknown one decides.
    """

    words: tuple[Word, ...]
    assigned: tuple[Assignment, ...] = ()
    environment: tuple[Assignment, ...] = ()
    written: tuple[str, ...] = ()
    heredoc: View | None = None
    literal: bool = True
    runs: bool = True


class Exports:
    """The variables that a script has exported so far."""

    def __init__(self) -> None:
        """Begin with none."""
        self.environment: tuple[Assignment, ...] = ()
        self._held: dict[str, Assignment] = {}
        self._all = False

    def note(
        self, words: Sequence[Word], assigned: Sequence[Assignment], scope: Scope, view: View
    ) -> None:
        """Follow one command that runs: what it assigns, exports or unsets."""
        first = words[0].text if words else ""
        if first == "set" and any(word.text in ("-a", "allexport") for word in words[1:]):
            self._all = True
        changed = first == "unset"
        if changed:
            for word in words[1:]:
                self._held.pop(word.text, None)
        for assignment in assigned:
            name = assignment.name
            if assignment.exported or (not words and (name in self._held or self._all)):
                self._held[name] = assignment
                changed = True
        if first == "export":
            changed |= self._named(words[1:], scope, view)
        if changed:
            self.environment = tuple(self._held.values())

    def _named(self, words: Sequence[Word], scope: Scope, view: View) -> bool:
        """Export variables that have their values already (`export NAME`)."""
        changed = False
        for word in words:
            value = scope.get(word.text)
            if value is not None and len(value) == 1:
                held = word_of(value[0], view, word.start, word.end)
                self._held[word.text] = Assignment(word.text, held, word.start, word.end, True)
                changed = True
        return changed


def read_heredoc(
    view: View, start: int, end: int, delimiter: str, *, strip_tabs: bool
) -> tuple[View, int]:
    """The text that a command is fed from `start` on, and where its last line ends."""
    tabs = r"\t*" if strip_tabs else ""
    last = re.compile(rf"^{tabs}{re.escape(delimiter)}[ \t\r]*$", re.MULTILINE)
    found = last.search(view.text, start, end)
    stop = found.start() if found else end
    body = _without_tabs(view, start, stop) if strip_tabs else view.part(start, stop)
    return body, found.end() if found else end


def _without_tabs(view: View, start: int, stop: int) -> View:
    """The stretch of a view without the tabs that `<<-` takes off its lines."""
    kept = [
        index
        for line in re.finditer(r"\t*([^\n]*\n?)", view.text[start:stop])
        for index in range(start + line.start(1), start + line.end(1))
    ]
    text = "".join(view.text[index] for index in kept)
    offsets = [view.at(index) for index in kept] + [view.at(stop)]
    return View(view.document, text, 0, offsets, view.quoting, view.separator, view.writable)
