"""Variables of a script, and the text they stand for, character by character.

A value remembers where each of its characters is written, so that a flag behind
`"${ARGS[@]}"` can be told, and changed, where its author put it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ecolint.document import View
from ecolint.outcomes import Outcome
from ecolint.words import Word

MAX_EXPANSION = 65_536
MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters of a word; `at` is where the first stands, -1 if nowhere."""

    text: str
    at: int = -1
    known: bool = True


Field: TypeAlias = tuple[Piece, ...]
Value: TypeAlias = tuple[Field, ...]
UNKNOWN: Value = ((Piece("", -1, False),),)


@dataclass(slots=True)
class _Frame:
    kind: str
    before: dict[str, Value | None] = field(default_factory=dict)
    outcomes: dict[str, list[Value]] = field(default_factory=dict)
    first: dict[str, Value | None] = field(default_factory=dict)
    certain: dict[str, Value] = field(default_factory=dict)
    chosen: Outcome | None = None
    tested: frozenset[str] = frozenset()


class Scope:
    """The variables of a script, as far as it sets them to something we can tell.

    Blocks that may or may not run leave a variable unknown, unless they only give one that
    had no value a first one (the idiom for a default).
    """

    def __init__(self, text: str) -> None:
        self._uses = Counter(re.findall(r"\$[{(]?([A-Za-z_]\w*)", text))
        # `NAME="$NAME …"` passes the value on to the next reader; it is none itself.
        self._uses.subtract(re.findall(r"\b([A-Za-z_]\w*)=[\"']?\$\{?\1\b", text))
        self._values: dict[str, Value] = {}
        self._frames: list[_Frame] = []
        self._view: View | None = None

    def attach(self, view: View) -> None:
        """Go on in another text: places in the one before can't be told from there."""
        before, self._view = self._view, view
        if before is None or before is view or _same(before, view):
            return
        for name, value in self._values.items():
            self._values[name] = tuple(
                tuple(Piece(piece.text, -1, piece.known) for piece in pieces) for pieces in value
            )

    def get(self, name: str) -> Value | None:
        """The value of a variable; None when the script never sets it."""
        return self._values.get(name)

    def used_once(self, name: str) -> bool:
        """Whether a single place reads the variable, so that its value serves nothing else."""
        return self._uses[name] <= 1

    def assign(self, name: str, value: Value, *, unsure: bool = False) -> None:
        """Set a variable; `unsure` tells that the assignment may not happen."""
        old = self._values.get(name)
        if unsure and old is not None and texts(old) != texts(value):
            value = UNKNOWN
        if self._frames:
            self._frames[-1].before.setdefault(name, old)
        if _size(value) > MAX_EXPANSION:
            value = UNKNOWN
        self._values[name] = value

    def extend(self, name: str, value: Value, *, unsure: bool = False) -> None:
        """Append to an array (`NAME+=(…)`) or, with one field, to a scalar."""
        old = self._values.get(name, ())
        self.assign(name, (*old, *(UNKNOWN if unsure else value)))

    def join(self, name: str, added: Field, *, unsure: bool = False) -> None:
        """Append text to a scalar (`NAME+=text`)."""
        old = self._values.get(name, UNKNOWN)
        if len(old) > 1:
            self.assign(name, UNKNOWN)
        elif unsure:
            self.assign(name, _common(old, [((*old[0], Piece(" ")),)]))
        else:
            self.assign(name, ((*(old[0] if old else ()), *added),))

    def forget(self, name: str) -> None:
        """Unset a variable."""
        self.assign(name, UNKNOWN)

    def enter(self, kind: str) -> None:
        """Begin a block: "if", "case", "loop", "function", "group" or "subshell"."""
        self._frames.append(_Frame(kind))

    @property
    def innermost(self) -> str:
        """The kind of the innermost open block; "" outside any."""
        return self._frames[-1].kind if self._frames else ""

    def condition(self, tested: frozenset[str], chosen: Outcome) -> None:
        """Begin an alternative: the variables that its condition names, and whether it runs."""
        self._frames[-1].tested = tested
        self._frames[-1].chosen = chosen

    def branch(self) -> None:
        """Go on to the next alternative of an `if` or `case`."""
        frame = self._frames[-1]
        chosen = frame.chosen
        for name, old in frame.before.items():
            value = self._values[name]
            self._put(name, old)
            if chosen is Outcome.TRUE:
                frame.certain[name] = value
            elif chosen is not Outcome.FALSE:
                # Only the idiom for a default gives what it asks for.
                chance = chosen is Outcome.OPTIONAL and name not in frame.tested
                found = UNKNOWN if chance and old is None else value
                frame.outcomes.setdefault(name, []).append(found)
                frame.first.setdefault(name, old)
        frame.before.clear()
        frame.chosen = None

    def leave(self) -> None:
        """End the innermost block."""
        frame = self._frames[-1]
        if frame.kind == "group":
            self._frames.pop()
            if self._frames:
                for name, old in frame.before.items():
                    self._frames[-1].before.setdefault(name, old)
            return
        self.branch()
        self._frames.pop()
        if frame.kind == "subshell":
            return
        if len(self._frames) > MAX_DEPTH:
            # Nobody nests so deep; that the blocks around can't restore it keeps this linear.
            self._values.update(dict.fromkeys((*frame.outcomes, *frame.certain), UNKNOWN))
            return
        for name, values in frame.outcomes.items():
            first = frame.first[name]
            if first is not None:
                self.assign(name, _common(first, values))
            elif len(values) == 1 and frame.kind != "function":
                self.assign(name, values[0])
            else:
                self.assign(name, UNKNOWN)
        for name, value in frame.certain.items():
            self.assign(name, value)

    def _put(self, name: str, value: Value | None) -> None:
        if value is None:
            self._values.pop(name, None)
        else:
            self._values[name] = value


def _same(view: View, other: View) -> bool:
    """Whether two views are of the same text of the same file."""
    plain = view.offsets is None and other.offsets is None
    return plain and view.document is other.document and view.base == other.base


def texts(value: Value) -> list[str]:
    """The fields of a value as plain text."""
    return ["".join(piece.text for piece in each) for each in value]


def _common(first: Value, outcomes: Sequence[Value]) -> Value:
    """What is certain of a value that some branch may have changed: what they all kept.

    Scripts gather flags that way: `ARGS+=(--flag)`, or `ARGS="$ARGS --flag"`.
    """
    if len(first) == 1 and all(len(value) == 1 for value in outcomes):
        held = texts(first)[0]
        kept = all(texts(value)[0].startswith(held + " ") for value in outcomes)
        return ((*first[0], Piece(" "), *UNKNOWN[0]),) if kept and held else UNKNOWN
    if all(texts(value[: len(first)]) == texts(first) for value in outcomes):
        return (*first, *UNKNOWN)
    return UNKNOWN


def word_of(pieces: Field, view: View, start: int, end: int) -> Word:
    """The word that the pieces make up, standing at `start`..`end` of the view."""
    text = "".join(piece.text for piece in pieces)
    known = all(piece.known for piece in pieces)
    inner = pieces[0].at if pieces else -1
    at = inner
    exact = at >= 0 and known
    for piece in pieces:
        exact = exact and piece.at == at
        at += len(piece.text)
    return Word(text, view, start, end, known, inner if exact else -1, exact)


def _size(value: Value) -> int:
    return sum(len(piece.text) + 16 for pieces in value for piece in pieces)
