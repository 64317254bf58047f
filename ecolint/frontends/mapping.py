"""Keys and values with their places: one model for YAML, JSON and TOML, and one walk over it.

A front-end builds the tree, the recognisers in `ecolint.frontends.configs` read it, and
`ecolint.frontends.entryedits` changes single entries of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any

from ecolint.diagnostics import Span
from ecolint.document import View
from ecolint.facts import Setting, State, Via

# What stands in for a template's expression, in the reader of YAML; a shell sees a variable.
PLACEHOLDER = "$___"
_EXPRESSION = re.compile(r"\$\{|\$___|\$\(|\{\{|<<\w|%\(\w+\)")
_ENVIRONMENT = re.compile(r"\$\{oc\.env:[\w.]+,\s*([^${}]*)\}$|\$\{[A-Za-z_]\w*:-([^${}]*)\}$")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][\w.]*)\}$")
_WORD_START = re.compile(r"([a-z0-9])([A-Z])")
_ACRONYM = re.compile(r"([A-Z]+)([A-Z][a-z])")
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
# Aliases may make a small file stand for a huge tree; a walk this long has seen them all.
_VISITS_A_NODE = 4
_VISITS = 2_000
_LARGEST_OPTION = 200  # nodes


class Syntax(Enum):
    """What the entries are written in; it decides how one is added or removed."""

    YAML = "yaml"
    JSON = "json"
    TOML = "toml"


class Form(Enum):
    """What a node is."""

    MAPPING = "mapping"
    LIST = "list"
    SCALAR = "scalar"


@dataclass(slots=True, eq=False)
class Node:
    """A value: `start` and `end` are characters of the view, quotes and brackets included.

    `value` is a scalar's typed value and `text` its characters; `style` is the quote or `|`,
    `>` before it; `flow` tells brackets from indentation. `known` is False for templates and
    foreign tags. `aliased` tells that only a reference stands here.
    """

    form: Form
    start: int
    end: int
    value: Any = None
    text: str = ""
    style: str = ""
    known: bool = True
    flow: bool = False
    aliased: bool = False
    entries: "list[Entry]" = field(default_factory=list)
    items: "list[Node]" = field(default_factory=list)
    holder: "Entry | None" = None
    _names: "dict[str, Entry] | None" = None

    @property
    def names(self) -> "dict[str, Entry]":
        """The entries under their names in snake_case; the last of a name wins."""
        if self._names is None:
            self._names = {snake(entry.key): entry for entry in self.entries}
        return self._names

    def get(self, *names: str) -> "Entry | None":
        """The entry under the first of `names` (snake_case) that is there."""
        table = self.names
        for name in names:
            if name in table:
                return table[name]
        return None

    def scalar(self, *names: str) -> "Node | None":
        """The scalar under the first of `names` that is there; None if it is no scalar."""
        entry = self.get(*names)
        return entry.value if entry is not None and entry.value.form is Form.SCALAR else None

    def child(self, *names: str) -> "Node | None":
        """The mapping under the first of `names` that is there; None if it is no mapping."""
        entry = self.get(*names)
        return entry.value if entry is not None and entry.value.form is Form.MAPPING else None

    def string(self, *names: str) -> str:
        """The text under the first of `names` that is there; empty if it is no scalar."""
        node = self.scalar(*names)
        return node.text if node is not None else ""


@dataclass(slots=True, eq=False)
class Entry:
    """A key with its value; `key_start` and `key_end` hold the key with its quotes.

    `owner` is the mapping that it is written in; mappings that merge it hold it, too.
    `tail` is where the reference ends that stands in place of the value, -1 if none does.
    """

    key: str
    key_start: int
    key_end: int
    value: Node
    owner: Node
    tail: int = -1

    @property
    def end(self) -> int:
        """Where the entry ends, comma and comment left out."""
        return self.value.end if self.tail < 0 else self.tail


@dataclass(frozen=True, slots=True)
class Anchored:
    """A node that aliases refer to: its stretch, and how many places read it.

    A block that only exists to be referred to (`x-common: &common`) reads nothing itself.
    """

    start: int
    end: int
    readers: int


@dataclass(slots=True)
class Source:
    """A parsed file: the roots of its documents, and what its aliases share.

    `text` is what was parsed: as long as the view's own, with templates put out of the way.
    """

    view: View
    syntax: Syntax
    text: str
    roots: list[Node] = field(default_factory=list)
    shared: list[Anchored] = field(default_factory=list)
    nodes: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """A node on the way down from a root: `entry` is the one that led here, lists skipped."""

    source: Source
    node: Node
    entry: "Entry | None" = None
    up: "Place | None" = None

    @property
    def key(self) -> str:
        """The name in snake_case under which it stands; empty at a root."""
        return snake(self.entry.key) if self.entry is not None else ""

    def outwards(self) -> "Iterator[Place]":
        """This place, and those around it up to the root."""
        place: Place | None = self
        while place is not None:
            yield place
            place = place.up

    def root(self) -> Node:
        """The root of its document."""
        return [*self.outwards()][-1].node

    def below(self, entry: "Entry") -> "Place":
        """The place of an entry's value."""
        return Place(self.source, entry.value, entry, self)

    def path(self) -> list[str]:
        """The names from the root to here."""
        return [place.key for place in self.outwards() if place.entry is not None][::-1]


def walk(source: Source) -> Iterator[Place]:
    """Every mapping, outer ones first; those that aliases repeat without end are cut short."""
    budget = _VISITS + _VISITS_A_NODE * source.nodes
    stack = [Place(source, root) for root in reversed(source.roots)]
    while stack and budget:
        budget -= 1
        place = stack.pop()
        node = place.node
        if node.form is Form.MAPPING:
            yield place
            below = [
                place.below(entry)
                for entry in node.names.values()
                if entry.value.form is not Form.SCALAR
            ]
        else:
            below = [
                Place(source, item, place.entry, place.up)
                for item in node.items
                if item.form is not Form.SCALAR
            ]
        stack.extend(reversed(below))


@lru_cache(maxsize=4096)
def snake(key: str) -> str:
    """A key as snake_case: `maxNumSeqs`, `max-num-seqs` and `MAX_NUM_SEQS` are one option."""
    if key.isidentifier() and key.islower():
        return key
    if not key.isupper() and not key.islower():
        key = _WORD_START.sub(r"\1_\2", _ACRONYM.sub(r"\1_\2", key))
    key = key.strip().replace("-", "_").lower()
    return _RUN_TOGETHER.get(key, key)


# Where capitals hide a word's end.
_RUN_TOGETHER = {
    "load_in8bit": "load_in_8bit",
    "load_in8_bit": "load_in_8bit",
    "load_in_8_bit": "load_in_8bit",
    "load_in4bit": "load_in_4bit",
    "load_in4_bit": "load_in_4bit",
    "load_in_4_bit": "load_in_4bit",
    "model_url": "model",
    "model_uri": "model",
}


# --- settings -----------------------------------------------------------------------------


def setting(place: Place, entry: Entry) -> Setting[Any]:
    """An entry as a setting: its own name, its value typed, and where both stand."""
    view = place.source.view
    node = entry.value
    key = _inside(place.source, entry.key_start, entry.key_end, entry.key)
    if node.start < entry.key_end or "\n" in view.text[entry.key_start : node.start]:
        span = view.span(node.start, node.end)
    elif node.form is Form.SCALAR and node.style not in ("|", ">"):
        span = view.span(entry.key_start, node.end)
    else:
        span = view.span(entry.key_start, entry.key_end)
    if node.form is not Form.SCALAR:
        return Setting(State.KNOWN, plain(node), span, Via.LITERAL, entry.key, (), key)
    if node.known and not is_expression(node):
        literal = view.span(node.start, node.end)
        return Setting(State.KNOWN, node.value, span, Via.LITERAL, entry.key, (), key, literal)
    return _resolved(
        place, node, Setting(State.UNKNOWN, None, span, Via.LITERAL, entry.key, (), key)
    )


def settings(place: Place) -> dict[str, Setting[Any]]:
    """The scalar entries and nested ones of a mapping as settings, by snake_case name."""
    return {name: setting(place, entry) for name, entry in place.node.names.items()}


def true_or_false(written: Setting[Any]) -> Setting[Any]:
    """The same setting with a truth written as text or number (`"yes"`, 1) read as one."""
    if not written.known or isinstance(written.value, bool) or written.value is None:
        return written
    folded = str(written.value).strip().lower()
    if folded in _TRUE or folded in _FALSE:
        return Setting(
            State.KNOWN, folded in _TRUE, written.span, written.via, written.name, (),
            written.key, written.literal,
        )  # fmt: skip
    return Setting(State.UNKNOWN, None, written.span, written.via, written.name, (), written.key)


def text_setting(written: Setting[Any]) -> Setting[str]:
    """The setting as text; unknown where it is anything else."""
    if written.known and not isinstance(written.value, str):
        return Setting(State.UNKNOWN, None, written.span, written.via, written.name)
    return written


def is_expression(node: Node) -> bool:
    """Whether a scalar holds an expression of some template language."""
    return _EXPRESSION.search(node.text) is not None


def _resolved(place: Place, node: Node, unknown: Setting[Any]) -> Setting[Any]:
    """What an expression surely stands for: an environment's default, or an entry's value."""
    from dataclasses import replace

    from ecolint.flags import typed

    default = _ENVIRONMENT.fullmatch(node.text)
    if default:
        value = typed(next(group for group in default.groups() if group is not None))
        return replace(unknown, state=State.KNOWN, value=value, via=Via.DEFAULT)
    reference = _REFERENCE.fullmatch(node.text)
    if reference:
        target: Node | None = place.root()
        for name in reference.group(1).split("."):
            entry = target.get(name) if target is not None else None
            target = entry.value if entry is not None else None
        told = target is not None and target.form is Form.SCALAR and target.known
        if target is not None and told and not is_expression(target):
            return replace(unknown, state=State.KNOWN, value=target.value, via=Via.RESOLVED)
    return unknown


def plain(node: Node) -> Any:
    """A node as plain Python values; None where it holds more than an option would."""
    return _plain(node, [_LARGEST_OPTION])


def _plain(node: Node, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        return None
    if node.form is Form.SCALAR:
        return node.value if node.known else None
    if node.form is Form.LIST:
        return [_plain(item, left) for item in node.items[: left[0]]]
    return {entry.key: _plain(entry.value, left) for entry in node.entries[: left[0]]}


def _inside(source: Source, start: int, end: int, text: str) -> Span | None:
    """The stretch of a key without its quotes; None where it is written with escapes."""
    written = source.view.text[start:end]
    if written == text:
        return source.view.span(start, end)
    if written[1:-1] == text:
        return source.view.span(start + 1, end - 1)
    return None
