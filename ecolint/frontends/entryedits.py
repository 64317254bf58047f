"""Edits of single entries in YAML, JSON and TOML; every other character stays.

Nothing is printed again from a tree: a value is replaced inside its quotes, an entry goes
with its line or its comma, and a new one copies how its neighbour is written.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ecolint.diagnostics import Edit
from ecolint.document import Quoting, View
from ecolint.facts import Change, Drop, Editor, Respell, Set
from ecolint.frontends.mapping import Entry, Form, Node, Source, Syntax, snake

_REST = re.compile(r"[ \t]*(?:#[^\r\n]*|//[^\r\n]*)?(?:\r\n|\r|\n|$)")
_COMMENT = re.compile(r"[ \t]*(?:#[^\r\n]*|//[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*)?")
_COMMA = re.compile(r"(?:\s|//[^\r\n]*|/\*.*?\*/|#[^\r\n]*)*?,", re.DOTALL)
_NEWLINE = re.compile(r"\r\n|\r|\n")
_INDENT = re.compile(r"[ \t]*")
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*")
_TRUTHS = {
    "true": "false", "True": "False", "TRUE": "FALSE", "yes": "no", "Yes": "No", "YES": "NO",
    "on": "off", "On": "Off", "ON": "OFF", "1": "0",
}  # fmt: skip
_FALSEHOODS = {off: on for on, off in _TRUTHS.items()}


@dataclass(frozen=True, slots=True)
class EntryEditor:
    """Changes options that are entries of mappings.

    Args:
        source: the file.
        fields: a fact's field → the entries that set it, what only serves it included.
        added: a fact's field → the key under which it can be added beside `anchor`.
        anchor: the entry that a new one is put behind.
        switched: fields that `Drop` turns off in place, since their reader is not known to
            do without them.
        inverted: keys (snake_case) that mean the opposite of their field.
    """

    source: Source
    fields: Mapping[str, Sequence[Entry]]
    added: Mapping[str, str] = field(default_factory=dict)
    anchor: Entry | None = None
    switched: frozenset[str] = frozenset()
    inverted: frozenset[str] = frozenset()

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """The edits of all changes; None if one of them can't be made."""
        found: list[Edit] = []
        dropped: list[Entry] = []
        for change in changes:
            made: list[Edit] | None
            if isinstance(change, Respell):
                made = [Edit(change.span, change.text)]
            elif isinstance(change, Set):
                made = self._set(change)
            elif isinstance(change, Drop):
                made = self._drop(change.option, dropped)
            else:
                made = None
            if made is None:
                return None
            found += made
        removed = remove(self.source, dropped)
        if removed is None:
            return None
        return (*found, *removed) or None

    def _set(self, change: Set) -> list[Edit] | None:
        given = self.fields.get(change.option, ())
        if not given:
            key = self.added.get(change.option)
            if key is None or self.anchor is None:
                return None
            return insert(self.source, self.anchor, key, change.value)
        if len(given) != 1:
            return None
        value = change.value
        if isinstance(value, bool) and snake(given[0].key) in self.inverted:
            value = not value
        edit = replace_value(self.source, given[0], value)
        return None if edit is None else [edit]

    def _drop(self, option: str, dropped: list[Entry]) -> list[Edit] | None:
        given = self.fields.get(option, ())
        if not given:
            return None
        if option not in self.switched:
            dropped += [entry for entry in given if entry not in dropped]
            return []
        edits: list[Edit] = []
        for entry in given:
            if entry.value.value is True or entry.value.text.lower() in ("true", "yes", "on", "1"):
                edit = replace_value(self.source, entry, False)
                if edit is None:
                    return None
                edits.append(edit)
        return edits or None


@dataclass(frozen=True, slots=True)
class JoinedEditor:
    """Several editors of one fact, each for the options that it knows."""

    parts: tuple[Editor, ...]

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """The edits of all changes, each by the first editor that can make it."""
        found: list[Edit] = []
        for change in changes:
            made = next((each for part in self.parts if (each := part.edits(change))), None)
            if made is None:
                return None
            found += made
        return tuple(found) or None


# --- values -----------------------------------------------------------------------------------


def replace_value(source: Source, entry: Entry, value: object) -> Edit | None:
    """The edit that gives an entry another value, in the quotes that the old one has."""
    node = entry.value
    if node.form is not Form.SCALAR or node.style in ("|", ">") or node.start == node.end:
        return None
    written = source.view.text[node.start : node.end]
    return source.view.edit(node.start, node.end, _spelled(source.syntax, value, node, written))


def _spelled(syntax: Syntax, value: object, like: Node, written: str) -> str:
    """A value as this syntax writes it, as its predecessor was written."""
    quoted = like.style in ("'", '"')
    inner = written[1:-1] if quoted else written
    if isinstance(value, bool):
        text = _truth(value, inner)
        if quoted:
            return written[0] + text + written[0]
        return text if syntax is Syntax.YAML else _literal(syntax, value)
    if isinstance(value, str) or quoted:
        text = str(value)
        if quoted and like.style == "'":
            return "'" + text.replace("'", "''") + "'" if syntax is Syntax.YAML else f"'{text}'"
        if quoted:
            return json.dumps(text, ensure_ascii=False)
    return _literal(syntax, value)


def _truth(value: bool, like: str) -> str:
    """A truth value in the words of the one that it replaces."""
    turned = _FALSEHOODS if value else _TRUTHS
    if like in (_TRUTHS if value else _FALSEHOODS):
        return like
    return turned.get(like, "true" if value else "false")


def _literal(syntax: Syntax, value: object) -> str:
    if isinstance(value, str):
        if syntax is Syntax.YAML and _PLAIN.fullmatch(value) and value.lower() not in (
            "true", "false", "yes", "no", "on", "off", "null", "y", "n",
        ):  # fmt: skip
            return value
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, (int, float)) else str(value)


# --- insertion ----------------------------------------------------------------------------------


def insert(source: Source, anchor: Entry, key: str, value: object) -> list[Edit] | None:
    """The edits that put a new entry behind `anchor`, written as that one is."""
    text = source.view.text
    quote = text[anchor.key_start]
    name = f"{quote}{key}{quote}" if quote in "\"'" else key
    literal = _literal(source.syntax, value)
    if isinstance(value, str) and anchor.value.style == "'":
        literal = f"'{value}'"
    pair = name + _between(source, anchor) + literal
    if anchor.owner.flow:
        return _insert_in_flow(source, anchor, pair)
    line = _line_start(text, anchor.key_start)
    lead = text[line : anchor.key_start]
    if source.syntax is Syntax.YAML:
        if lead.strip(" -"):
            return None  # an anchor or a tag of the key, or a key of its own line
        lead = " " * len(lead)
    end = _line_end(text, anchor.end)
    return _edits(source, [(end, end, "\n" + lead + pair)])


def _insert_in_flow(source: Source, anchor: Entry, pair: str) -> list[Edit] | None:
    text = source.view.text
    line = _line_start(text, anchor.key_start)
    lead = text[line : anchor.key_start]
    end = anchor.end
    comma = _COMMA.match(text, end)
    follows = comma is not None and comma.end() <= anchor.owner.end
    stop = comma.end() if comma is not None and follows else end
    rest = _REST.match(text, stop)
    if lead.strip() or rest is None:
        gap = " " if not follows or text[stop : stop + 1] in " \t\r\n" else ""
        return _edits(source, [(end, end, f",{gap or ' '}{pair}")])
    at = _line_end(text, stop)
    tail = "," if follows else ""
    line_added = "\n" + lead + pair + tail
    if follows:
        return _edits(source, [(at, at, line_added)])
    if at == end:
        return _edits(source, [(end, end, "," + line_added)])
    return _edits(source, [(end, end, ","), (at, at, line_added)])


def _between(source: Source, entry: Entry) -> str:
    """What stands between key and value, alignment aside."""
    mark = "=" if source.syntax is Syntax.TOML else ":"
    text = source.view.text[entry.key_end : entry.value.start]
    if entry.value.start < entry.key_end or text.strip() != mark:
        return " = " if mark == "=" else ": "
    before, _, after = text.partition(mark)
    if source.syntax is Syntax.JSON:
        return text if "\n" not in text and len(text) <= 3 else ": "
    if mark == "=":
        return f"{before[:1]}={after[:1]}"
    return ": "


# --- removal ------------------------------------------------------------------------------------


def remove(source: Source, entries: Sequence[Entry]) -> list[Edit] | None:
    """The edits that take entries out; a mapping left empty goes with its own entry."""
    edits: list[Edit] = []
    owners = {id(entry.owner): entry.owner for entry in entries}
    for owner in owners.values():
        mine = [entry for entry in owner.entries if entry in entries]
        kept = [entry for entry in owner.entries if entry.owner is owner and entry not in mine]
        if not kept and not _is_dotted(source, owner):
            holder = owner.holder
            made = None if holder is None else remove(source, [holder])
        elif owner.flow:
            made = _remove_from_flow(source, owner, mine)
        else:
            made = _remove_lines(source, owner, mine)
        if made is None:
            return None
        edits += made
    return edits


def _is_dotted(source: Source, owner: Node) -> bool:
    """Whether a table of TOML is only made by the dots in its keys."""
    if source.syntax is not Syntax.TOML or owner.flow or owner.holder is None:
        return False
    text, at = source.view.text, owner.holder.key_start
    return not text[_line_start(text, at) : at].lstrip().startswith("[")


def _remove_lines(source: Source, owner: Node, entries: Sequence[Entry]) -> list[Edit] | None:
    text = source.view.text
    written = [entry for entry in owner.entries if entry.owner is owner]
    cuts: list[tuple[int, int, str]] = []
    for index, entry in enumerate(written):
        if entry not in entries:
            continue
        line, behind = _line_start(text, entry.key_start), _behind_line(text, entry.end)
        prefix = text[line : entry.key_start]
        if source.syntax is Syntax.TOML and _HEADER.search(text, line + 1, behind):
            return None  # tables of others stand between the first and the last line
        if not prefix.strip() or source.syntax is Syntax.TOML:
            cuts.append((line, behind, ""))
            continue
        # Behind the dash of a list: the next entry moves up into its place.
        following = written[index + 1] if index + 1 < len(written) else None
        if following is None or following in entries:
            return None
        cuts.append((entry.key_start, following.key_start, ""))
    return _edits(source, cuts)


def _remove_from_flow(source: Source, owner: Node, entries: Sequence[Entry]) -> list[Edit] | None:
    text = source.view.text
    written = [entry for entry in owner.entries if entry.owner is owner]
    cuts: list[tuple[int, int, str]] = []
    run: list[int] = []
    for index, entry in enumerate([*written, None]):
        if entry is not None and entry in entries:
            run.append(index)
        elif run:
            before = written[run[0] - 1] if run[0] else None
            cuts += _cut_run(text, owner, before, [written[i] for i in run], entry)
            run = []
    return _edits(source, cuts)


def _cut_run(
    text: str, owner: Node, before: Entry | None, run: Sequence[Entry], after: Entry | None
) -> list[tuple[int, int, str]]:
    """Cut neighbouring entries with one comma: the one behind, or for the last the one before."""
    start, end = run[0].key_start, run[-1].end
    comma = _COMMA.match(text, end)
    trailing = comma is not None and comma.end() <= owner.end
    stop = comma.end() if comma is not None and trailing else end
    line = _line_start(text, start)
    rest = _REST.match(text, stop)
    own_lines = not text[line:start].strip() and rest is not None and rest.end() <= owner.end
    if after is not None or trailing:
        if own_lines and rest is not None:
            return [(line, rest.end(), "")]
        blanks = _INDENT.match(text, stop)
        return [(start, blanks.end() if blanks else stop, "")]
    if before is None:
        return []
    if own_lines and rest is not None:
        earlier = _COMMA.match(text, before.end)
        if earlier is None:
            return []
        return [(earlier.end() - 1, earlier.end(), ""), (line, rest.end(), "")]
    return [(before.end, end, "")]


# --- lines ----------------------------------------------------------------------------------------


def _edits(source: Source, cuts: Sequence[tuple[int, int, str]]) -> list[Edit] | None:
    """The edits of the document; None where nothing is to be done or the view is read-only."""
    view = source.view
    if view.offsets is not None and view.quoting is Quoting.PLAIN:
        cuts = [_fitted(view, *cut) for cut in cuts]
    made = [view.edit(start, end, content) for start, end, content in cuts]
    kept = [edit for edit in made if edit is not None]
    return kept if kept and len(kept) == len(made) else None


def _fitted(view: View, start: int, end: int, content: str) -> tuple[int, int, str]:
    """A cut of a file inside a file, whose lines are indented by more than it knows."""
    text = view.text
    if "\n" in content:
        line = view.at(_line_start(text, start))
        outer = view.document.text
        indent = outer[_line_start(outer, line) : line]
        return start, end, content.replace("\n", "\n" + " " * len(indent))
    if start and text[start - 1] == "\n" and text[end - 1 : end] == "\n":
        # The line break before goes instead of the one behind, where indentation follows.
        return start - 1, end - 1, content
    return start, end, content


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _line_end(text: str, at: int) -> int:
    found = _NEWLINE.search(text, at)
    return found.start() if found else len(text)


def _behind_line(text: str, at: int) -> int:
    found = _NEWLINE.search(text, at)
    return found.end() if found else len(text)
