"""Flags of a command line: what is given, where, and how to change it.

`--flag value`, `--flag=value`, `-q value` and two items of a list are one option. Words
carry their places, so the same code edits a script, a YAML list and an argv in Python.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ecolint.diagnostics import Edit, Span
from ecolint.dialects.launchers import SWITCH_PREFIXES, SWITCHES
from ecolint.document import View
from ecolint.facts import Change, Drop, Respell, Set, Setting, State, Via
from ecolint.words import Word

_BOOLEANS = {"true": True, "false": False, "yes": True, "no": False, "on": True, "off": False}
_SPELLED_BOOLEANS = {"true", "false", "True", "False", "0", "1", "yes", "no", "on", "off"}
_NUMBER = re.compile(r"-?\d+(\.\d*)?([eE][-+]?\d+)?")
_LONG = re.compile(r"--?([A-Za-z][\w.-]*)(=)?")
_LEVEL = re.compile(r"-O=?(\d)$")


@dataclass(frozen=True, slots=True)
class Flag:
    """One option as given: words `first` to `last` of the command; `value` None for a switch.

    `name` is normalised (no dashes in front, underscores inside); `offset` is where the value
    starts when flag and value are one word.
    """

    name: str
    written: str
    words: Sequence[Word]
    first: int
    last: int
    value: Word | None = None

    @property
    def span(self) -> Span:
        """Flag and value where they stand on one line; else the value's own place."""
        head = self.words[self.first]
        span = head.view.span(head.start, head.end)
        if self.last == self.first:
            return span
        tail = self.words[self.last]
        end = tail.view.span(tail.start, tail.end)
        text = head.view.document.text
        together = head.view.document is tail.view.document and span.start <= end.start
        if together and "\n" not in text[span.start : end.end]:
            return Span(span.start, end.end)
        return end

    def setting(self) -> Setting[Any]:
        """The option as a setting, its value typed."""
        head = self.words[self.first]
        width = len(self.written)
        key = head.span(0, width) if head.exact and head.view.writable else None
        if self.value is None:
            return Setting(State.KNOWN, True, self.span, Via.LITERAL, self.written, (), key)
        if not self.value.known:
            return Setting(State.UNKNOWN, None, self.span, Via.LITERAL, self.written, (), key)
        literal = self.value.span() if self.value.exact and self.value.view.writable else None
        own = self.value.exact and self.value.start <= self.value.inner <= self.value.end
        via = Via.LITERAL if own else Via.RESOLVED
        value = typed(self.value.text)
        return Setting(State.KNOWN, value, self.span, via, self.written, (), key, literal)


def typed(text: str) -> object:
    """The value that a flag's text stands for: bool, int, float, dict, None or the text."""
    lowered = text.strip().lower()
    if lowered in _BOOLEANS:
        return _BOOLEANS[lowered]
    if lowered in ("none", "null"):
        return None
    if _NUMBER.fullmatch(lowered):
        return float(lowered) if "." in lowered or "e" in lowered else int(lowered)
    if lowered.startswith("{"):
        import json

        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def read_flags(
    words: Sequence[Word],
    start: int,
    aliases: Mapping[str, str],
) -> tuple[dict[str, Flag], list[Word]]:
    """The flags from word `start` on, the last of a name, and the bare words.

    Args:
        words: the whole command.
        start: the first word behind the program.
        aliases: other spellings of an option.
    """
    flags: dict[str, Flag] = {}
    bare: list[Word] = []
    index = start
    while index < len(words):
        word = words[index]
        flag = _flag(words, index, aliases)
        if flag is None:
            if word.text != "--":
                bare.append(word)
            index += 1
        else:
            flags[flag.name] = flag
            index = flag.last + 1
    return flags, bare


def _flag(words: Sequence[Word], index: int, aliases: Mapping[str, str]) -> Flag | None:
    word = words[index]
    if level := _LEVEL.match(word.text):
        return Flag("O", "-O", words, index, index, tail(word, level.start(1)))
    found = _LONG.match(word.text)
    if found is None or (not found.group(2) and found.end() != len(word.text)):
        return None
    plain = normalise(found.group(1))
    head, dot, rest = plain.partition(".")
    name = aliases.get(head, head) + dot + rest
    written = word.text[: found.end(1)]
    if found.group(2):
        return Flag(name, written, words, index, index, tail(word, found.end()))
    if not word.known:
        return None
    following = words[index + 1] if index + 1 < len(words) else None
    if following is None or _is_flag(following):
        return Flag(name, written, words, index, index)
    alone = plain in SWITCHES or plain.startswith(SWITCH_PREFIXES)
    if alone and not _is_boolean(following, plain):
        return Flag(name, written, words, index, index)
    return Flag(name, written, words, index, index + 1, following)


def _is_boolean(word: Word, name: str) -> bool:
    """Whether the word behind a switch is its value all the same, as `--eager $EAGER` shows."""
    if word.known:
        return word.text in _SPELLED_BOOLEANS
    variable = re.fullmatch(r"[\"']?\$\{?(\w+)\}?[\"']?", word.view.text[word.start : word.end])
    return variable is not None and variable.group(1).lower() in name


def normalise(name: str) -> str:
    """An option's name in snake_case."""
    return name.lstrip("-").replace("-", "_")


def _is_flag(word: Word) -> bool:
    text = word.text
    return text.startswith("-") and len(text) > 1 and not _NUMBER.fullmatch(text)


def tail(word: Word, offset: int) -> Word:
    """The part of a word from `offset` on, with its own place where it can be told."""
    text = word.text[offset:]
    if word.exact and word.inner >= 0:
        at = word.inner + offset
        return replace(word, text=text, start=at, end=at + len(text), inner=at)
    # `--flag="value"`: the quotes stand inside the word, the rest is as written.
    source = word.view.text[word.start : word.end]
    if word.known and source[:offset] == word.text[:offset]:
        rest = source[offset:]
        if len(rest) == len(text) + 2 and rest[0] == rest[-1] and rest[1:-1] == text:
            at = word.start + offset
            if rest[0] in "'\"":
                return Word(text, word.view, at, word.end, True, at + 1, True)
    return replace(word, text=text, inner=-1, exact=False)


# --- changes ----------------------------------------------------------------------------

_LIST_ITEM = re.compile(r"[ \t]*-[ \t]+$")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|$)")
_GAP_BEFORE = re.compile(r"(?:[ \t]|[\\^`][ \t]*\r?\n)+$")
_GAP_AFTER = re.compile(r"[ \t]*[\\^`][ \t]*\r?\n[ \t]*|[ \t]+")
_SEPARATOR = re.compile(r"(?:[\s,\\^`-]|#[^\n]*\n)*")
_COMMA_AFTER = re.compile(r"\s*,[ \t]*")
_COMMA_BEFORE = re.compile(r",\s*$")


def removal(words: Sequence[Word], first: int, last: int) -> Edit | None:
    """The edit that takes words out of their command or list, with what separated them.

    None where they share a place with others (elements of one expansion) or the place
    can't be edited.
    """
    view = words[first].view
    start, end = words[first].start, words[last].end
    places = [(word.start, word.end) for word in words]
    mine = places[first : last + 1]
    others = places[:first] + places[last + 1 :]
    if any(place in others for place in mine) or len(set(mine)) != len(mine):
        return None
    if start >= end:
        return None
    if not all(_adjoin(a, b) for a, b in pairwise(words[first : last + 1])):
        return None
    cut = _cut(view, start, end)
    return None if cut is None else view.edit(cut[0], cut[1], "")


def _adjoin(word: Word, following: Word) -> bool:
    """Whether nothing but a separator stands between two words of one command or list."""
    here, there = word.view, following.view
    same = here is there or (here.document is there.document and here.base == there.base)
    if not same or here.text != there.text or word.end > following.start:
        return False
    return _SEPARATOR.fullmatch(word.view.text, word.end, following.start) is not None


def _cut(view: View, start: int, end: int) -> tuple[int, int] | None:
    text = view.text
    line = text.rfind("\n", 0, start) + 1
    rest = _REST_OF_LINE.match(text, end)
    if _LIST_ITEM.fullmatch(text, line, start) and rest:
        return (line, rest.end()) if _has_sibling(text, line, rest.end()) else None
    look = max(0, start - 400)
    comma = _COMMA_AFTER.match(text, end)
    if comma:
        return _cut_before_comma(text, start, end, comma.end())
    earlier = _COMMA_BEFORE.search(text[look:start])
    if earlier:
        return look + earlier.start(), end
    gap = _GAP_BEFORE.search(text[look:start])
    before = look + gap.start() if gap else start
    after = _GAP_AFTER.match(text, end)
    if gap and before > 0 and text[before - 1] not in "\n(":
        return before, end
    if before > 0 and text[before - 1] == "\n":
        # Behind a comment line the backslash in front isn't ours to use.
        return (start, after.end()) if after and "\n" in after.group() else None
    return start, after.end() if after else end


def _cut_before_comma(text: str, start: int, end: int, after: int) -> tuple[int, int]:
    """Without its comma; and without its line where nothing else stands on it."""
    line = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*\r?\n").match(text, after)
    if rest and not text[line:start].strip():
        return line, rest.end()
    return start, after


def _has_sibling(text: str, start: int, end: int) -> bool:
    """Whether the YAML list keeps an item when the lines `start`..`end` go."""
    indent = re.compile(r"[ \t]*").match(text, start)
    item = (indent.group() if indent else "") + "-"
    before = text[:start].rstrip().rsplit("\n", 1)[-1]
    return text.startswith(item, end) or before.startswith(item)


@dataclass(frozen=True, slots=True)
class Given:
    """An option of a fact: its setting, and the flag that spells it.

    Without a flag it is an environment variable; `written` is then the value's spelling.
    """

    setting: Setting[Any]
    flag: Flag | None = None
    written: str = ""


_NEGATED = {"1": "0", "True": "False", "TRUE": "FALSE", "yes": "no", "on": "off"}


@dataclass(frozen=True, slots=True)
class FlagEditor:
    """Changes flags. `fields` maps a fact's field to what sets it, what serves it included."""

    fields: Mapping[str, tuple[Given, ...]]
    inverted: frozenset[str] = frozenset()

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """The edits of all changes; None if one of them can't be made."""
        edits: list[Edit] = []
        dropped: list[Flag] = []
        for change in changes:
            if isinstance(change, Respell):
                edits.append(Edit(change.span, change.text))
            elif isinstance(change, Drop):
                if not self._drop(change.option, edits, dropped):
                    return None
            elif isinstance(change, Set):
                if not self._set(change, edits, dropped):
                    return None
            else:
                return None
        for words, first, last in _runs(dropped):
            edit = removal(words, first, last)
            if edit is None:
                return None
            edits.append(edit)
        return tuple(edits) or None

    def _drop(self, option: str, edits: list[Edit], dropped: list[Flag]) -> bool:
        given = self.fields.get(option, ())
        for each in given:
            if each.flag is not None:
                dropped.append(each.flag)
            elif each.setting.literal is not None and isinstance(each.setting.value, bool):
                edits.append(Edit(each.setting.literal, _NEGATED.get(each.written, "false")))
            else:
                return False
        return bool(given)

    def _set(self, change: Set, edits: list[Edit], dropped: list[Flag]) -> bool:
        given = self.fields.get(change.option, ())
        if len(given) != 1:
            return False
        setting, flag = given[0].setting, given[0].flag
        if isinstance(change.value, bool):
            if setting.value is True and not change.value:
                return self._drop(change.option, edits, dropped)
            if change.option in self.inverted and change.value:
                return self._drop(change.option, edits, dropped)
        content = spelled(change.value)
        if flag is None:
            if setting.literal is None:
                return False
            edits.append(Edit(setting.literal, content))
            return True
        edit = flag.value.replace(content) if flag.value is not None else None
        if edit is None:
            return False
        edits.append(edit)
        return True


def spelled(value: object) -> str:
    """A value as a command line spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _runs(flags: Sequence[Flag]) -> list[tuple[Sequence[Word], int, int]]:
    """The dropped flags as runs of neighbouring words, so that cuts never overlap."""
    runs: list[tuple[Sequence[Word], int, int]] = []
    for flag in sorted(flags, key=lambda each: each.first):
        if runs and flag.first <= runs[-1][2]:
            continue
        neighbours = runs and runs[-1][2] + 1 == flag.first
        if neighbours and _adjoin(flag.words[flag.first - 1], flag.words[flag.first]):
            runs[-1] = (runs[-1][0], runs[-1][1], flag.last)
        else:
            runs.append((flag.words, flag.first, flag.last))
    return runs
