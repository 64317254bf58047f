"""What an answer is: plain values that every renderer, the JSON and the tests read alike.

A report holds no formatted numbers and no language: its sentences are messages, its numbers
figures, and its order is that of the page. Renderers add words, colours and the lobster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import TypeAlias

from ecolint.advice.figures import Figure
from ecolint.message import Message


class Protocol(str, Enum):
    """Which question a report answers."""

    OPTIMIZE = "OPTIMIZE"
    DIAGNOSE = "DIAGNOSE"
    COMPARE = "COMPARE"
    ESTIMATE = "ESTIMATE"
    AUDIT = "AUDIT"
    DIFF = "DIFF"
    ASK = "ASK"  # none of them yet: a question back


class Mood(str, Enum):
    """The colour of the lobster's shell, best first; gray is unverified."""

    GREEN = "green"
    YELLOW = "yellow"
    ORANGE = "orange"
    RED = "red"
    GRAY = "gray"


class Origin(str, Enum):
    """Where a parameter comes from."""

    GIVEN = "given"
    INFERRED = "inferred"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One input of an answer. `note` explains a default or shows a conversion.

    `value` is a name, or a number as a figure; `name` is the option's, with underscores.
    """

    name: str
    value: str | Figure
    origin: Origin
    note: Message | None = None


# A piece of text in a place of its own: words, a number, or a name that is never translated.
Text: TypeAlias = Message | Figure | str


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of a program or a file, printed as they are; `language` as in a Markdown fence."""

    text: str
    language: str = "python"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or more."""

    text: Message


@dataclass(frozen=True, slots=True)
class Field:
    """A label and its value; None prints "not measured", with `note` to say why."""

    label: Message
    value: Text | None
    note: Message | None = None


@dataclass(frozen=True, slots=True)
class Fields:
    """Labelled values, one a line."""

    items: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a list: what to know or do, the code for it, and what it brings.

    `place` is where in the project, as `file:line`; `mood` marks how bad or good it is;
    `pattern` is the name of the rule that says so.
    """

    text: Message
    place: str = ""
    code: Code | None = None
    effect: Message | None = None
    mood: Mood | None = None
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list, numbered where its order is a priority."""

    items: tuple[Item, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under headings; None prints a dash. `notes` stand below it."""

    heading: tuple[Message, ...]
    rows: tuple[tuple[Text | None, ...], ...]
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its length is `value`; `beside` is written after it; `here` marks the user's."""

    label: Text
    value: Figure
    mood: Mood
    beside: tuple[Text, ...] = ()
    here: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart whose lengths are proportional to figures of one unit."""

    title: Message
    bars: tuple[Bar, ...]


Block: TypeAlias = Paragraph | Fields | Items | Table | Bars | Code


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it. `key` is stable; `icon` is the template's emoji."""

    key: str
    title: Message
    blocks: tuple[Block, ...]
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Alert:
    """A known trap in the user's configuration, shown before anything else.

    `pattern` is the rule's name and `title` its title, `why` one sentence, `cost` the percent
    and, where the volume is known, the dollars a month; `after` is the mood once it is mended.
    """

    pattern: str
    title: Message
    mood: Mood
    config: Message
    why: Message
    cost: Message | None
    fix: Message
    code: Code | None = None
    after: Mood = Mood.GREEN


@dataclass(frozen=True, slots=True)
class Report:
    """An answer. `patterns` are names of rules; empty says that no known pattern matches."""

    protocol: Protocol
    mood: Mood
    parameters: tuple[Parameter, ...] = ()
    alerts: tuple[Alert, ...] = ()
    patterns: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    praise: tuple[Message, ...] = ()

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every number in the report, in the order of the page, each once."""
        return tuple(dict.fromkeys(one for one in walk(self) if isinstance(one, Figure)))


def walk(node: object) -> Iterator[object]:
    """Yield every message, figure and block under a node, itself included, top down."""
    if isinstance(node, Figure):
        yield node
    elif isinstance(node, Message):
        yield node
        for _, value in node.args:
            yield from walk(value)
    elif is_dataclass(node) and not isinstance(node, type):
        yield node
        for field in fields(node):
            yield from walk(getattr(node, field.name))
    elif isinstance(node, Iterable) and not isinstance(node, str):
        for one in node:
            yield from walk(one)
