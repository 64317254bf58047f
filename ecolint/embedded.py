"""Options inside one argument: a JSON object, or `key=value` pairs between commas.

`--hf-overrides '{"quantization_config": {…}}'` and `--model_args pretrained=…,load_in_8bit=True`
hold what other tools spell as flags, and are changed inside their quotes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecolint.diagnostics import Edit
from ecolint.facts import Change, Drop, Respell, Set, Setting, State, Via
from ecolint.flags import typed
from ecolint.words import Word


@dataclass(frozen=True, slots=True)
class Item:
    """One option: its stretch in the text of `word`, and the stretches of key and value."""

    word: Word
    key: str
    start: int
    end: int
    value_start: int
    value_end: int
    value: object
    known: bool = True

    @property
    def escaped(self) -> bool:
        """Whether the file writes this item with escapes, as quotes within quotes are."""
        place = self.word.span(self.start, self.end)
        return "\\" in self.word.view.document.text[place.start : place.end]

    def setting(self) -> Setting[Any]:
        """The option as a setting."""
        state = State.KNOWN if self.known else State.UNKNOWN
        word = self.word
        if not word.exact:
            return Setting(state, self.value, word.span(), Via.LITERAL, self.key)
        return Setting(
            state,
            self.value,
            word.span(self.start, self.end),
            Via.LITERAL,
            self.key,
            (),
            word.span(self.start, self.start + len(self.key)),
            word.span(self.value_start, self.value_end),
        )


def read_pairs(words: Sequence[Word]) -> list[Item]:
    """The pairs of `a=1,b=2`, one word or several, commas in brackets left alone."""
    items: list[Item] = []
    for word in words:
        for start, end in _between_commas(word.text):
            key, equals, value = word.text[start:end].partition("=")
            if equals:
                at = start + len(key) + 1
                known = word.known or end < len(word.text.rstrip(","))
                items.append(Item(word, key.strip(), start, end, at, end, typed(value), known))
    return items


def _between_commas(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    depth = start = 0
    for at, char in enumerate(text):
        if char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
        elif char == "," and depth <= 0:
            found.append((start, at))
            start = at + 1
    found.append((start, len(text)))
    return [(a, b) for a, b in found if a < b]


def read_json(word: Word, *path: str) -> list[Item]:
    """The members of the object under `path` of a JSON argument; none if it is no JSON."""
    from ecolint.jsontext import JSONError, parse

    if not word.known:
        return []
    try:
        node = parse(word.text)
    except JSONError:
        return []
    for key in path:
        inner = node.get(key)
        if inner is None:
            return []
        node = inner
    return [
        Item(
            word,
            str(name.value),
            name.start,
            value.end,
            value.start,
            value.end,
            value.value if value.kind in ("string", "scalar") else None,
            value.kind in ("string", "scalar"),
        )
        for name, value in node.members
    ]


@dataclass(frozen=True, slots=True)
class EmbeddedEditor:
    """Changes options inside an argument; `fields` maps a fact's field to option names."""

    items: tuple[Item, ...]
    fields: Mapping[str, tuple[str, ...]]
    json: bool = False

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """The edits of all changes; None if one of them can't be made."""
        edits: list[Edit | None] = []
        for change in changes:
            if isinstance(change, Respell):
                edits.append(Edit(change.span, change.text))
            elif isinstance(change, Set):
                edits.append(self._set(change))
            elif isinstance(change, Drop):
                edits.extend(self._drop(change))
            else:
                return None
        made = tuple(edit for edit in edits if edit is not None)
        return made if made and len(made) == len(edits) else None

    def _set(self, change: Set) -> Edit | None:
        names = self.fields.get(change.option, ())
        if not names:
            return None
        for item in self.items:
            if self.json and item.escaped:
                return None
            if item.key in names:
                return item.word.replace(
                    self._write(change.value), item.value_start, item.value_end
                )
        anchors = self.fields.get("quantization", ())
        anchor = next((item for item in self.items if item.key in anchors), None)
        if anchor is None:
            return None
        pair = f'"{names[0]}": ' if self.json else f"{names[0]}="
        comma = ", " if self.json else ","
        return anchor.word.replace(comma + pair + self._write(change.value), anchor.end, anchor.end)

    def _write(self, value: object) -> str:
        if self.json:
            import json

            return json.dumps(value)
        return str(value)

    def _drop(self, change: Drop) -> list[Edit | None]:
        names = self.fields.get(change.option, ())
        keep = [item for item in self.items if item.key not in names]
        if len(keep) == len(self.items) or not keep:
            return [None]
        edits: list[Edit | None] = []
        run: list[int] = []
        for index, item in enumerate((*self.items, None)):
            if item is not None and item.key in names:
                run.append(index)
            elif run:
                edits.append(self._cut(run[0], run[-1]))
                run = []
        return edits

    def _cut(self, first: int, last: int) -> Edit | None:
        """Take out neighbouring items and the comma on one side of them."""
        items = self.items
        word = items[first].word
        if any(item.word is not word for item in items[first : last + 1]):
            return None
        if first and items[first - 1].word is word:
            return word.replace("", items[first - 1].end, items[last].end)
        if last + 1 < len(items) and items[last + 1].word is word:
            return word.replace("", items[first].start, items[last + 1].start)
        return None
