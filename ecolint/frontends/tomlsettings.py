"""TOML files that are an application's settings, not packaging.

tomllib tells whether the text is TOML but not where a value stands, and tomlkit keeps the
spelling but no places; so tomllib judges first, and a short scanner then finds the places.
"""

import re
import sys
from typing import Any

from ecolint.diagnostics import Span
from ecolint.document import Document, View, whole
from ecolint.facts import Fact, Facts, Unanalysed
from ecolint.frontends.mapping import Entry, Form, Node, Source, Syntax

MAX_TEXT = 8_000_000
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_GAP = re.compile(r"[ \t]*")
_KEY = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{1,2}(?!"))?' r"|'''.*?'''(?:'{1,2}(?!'))?"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'",
    re.DOTALL,
)  # fmt: skip
_BARE = re.compile(r"\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]+|[^\s,\]}#]+")
_LINE = re.compile(r"line (\d+)")


def read_toml_settings(document: Document) -> Facts:
    """The facts of a TOML file; text that is no TOML is told as not analysed."""
    from ecolint.frontends import configs

    source, failures = parse(whole(document))
    return Facts([*configs.recognise(document, source), *failures])


def parse(view: View) -> tuple[Source, list[Fact]]:
    """The tree of a TOML text, and the note about what is none."""
    text = view.text
    source = Source(view, Syntax.TOML, text)
    if len(text) > MAX_TEXT:
        reason = f"a TOML file of {len(text) // 1_000_000} MB"
        return source, [Unanalysed(Span(0, 0), reason, "exclude it, or split it up")]
    try:
        _loads(text)
        source.roots.append(_Scanner(text).read())
    except RecursionError:
        reason, mend = "nested too deeply", "flatten the nested arrays and tables"
        return source, [Unanalysed(Span(0, 0), reason, mend)]
    except ValueError as error:
        if "{{" in text or "{%" in text:
            return source, []
        found = _LINE.search(str(error))
        line = int(found.group(1)) if found else 1
        at = view.document.offset_of_line(line)
        reason = f"not valid TOML in line {line}: {str(error).partition(' (')[0]}"
        return source, [Unanalysed(Span(at, at), reason, "mend that line")]
    source.nodes = len(text) // 8
    return source, []


def _loads(text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)


class _Scanner:
    """Finds the places of what tomllib has accepted."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self) -> Node:
        root = Node(Form.MAPPING, 0, len(self._text))
        table = root
        self._skip()
        while self._at < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header(root)
            else:
                self._assignment(table)
            self._skip()
        return root

    def _skip(self) -> None:
        found = _BLANK.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _gap(self) -> None:
        found = _GAP.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _keys(self) -> list[tuple[str, int, int]]:
        """A dotted key: each part with its stretch."""
        parts: list[tuple[str, int, int]] = []
        while found := _KEY.match(self._text, self._at):
            written = found.group()
            key = written if written[0] not in "\"'" else str(_value(written))
            parts.append((key, found.start(), found.end()))
            self._at = found.end()
            self._gap()
            if not self._text.startswith(".", self._at):
                break
            self._at += 1
            self._gap()
        return parts

    def _header(self, root: Node) -> Node:
        repeated = self._text.startswith("[[", self._at)
        self._at += 2 if repeated else 1
        self._gap()
        parts = self._keys()
        node = self._down(root, parts if not repeated else parts[:-1])
        if repeated:
            key, start, end = parts[-1]
            entry = next((each for each in node.entries if each.key == key), None)
            if entry is None:
                entry = _enter(node, key, start, end, Node(Form.LIST, start, end))
            table = Node(Form.MAPPING, self._at, self._at)
            entry.value.items.append(table)
            node = table
        newline = self._text.find("\n", self._at)
        self._at = newline if newline >= 0 else len(self._text)
        return node

    def _down(self, node: Node, parts: list[tuple[str, int, int]]) -> Node:
        """The table under dotted keys, made where it isn't there yet."""
        for key, start, end in parts:
            entry = next((each for each in node.entries if each.key == key), None)
            if entry is None:
                entry = _enter(node, key, start, end, Node(Form.MAPPING, start, end))
            node = entry.value
            if node.form is Form.LIST and node.items:
                node = node.items[-1]
        return node

    def _assignment(self, table: Node) -> None:
        *above, (key, start, end) = self._keys()
        node = self._down(table, above)
        self._at = self._text.index("=", self._at) + 1
        self._gap()
        value = self._read_value()
        _enter(node, key, start, end, value)
        outer: Node | None = node
        while outer is not None and not outer.flow:
            outer.end = max(outer.end, value.end)
            outer = outer.holder.owner if outer.holder is not None else None

    def _read_value(self) -> Node:
        start = self._at
        mark = self._text[start]
        if mark == "[":
            return self._array()
        if mark == "{":
            return self._inline_table()
        found = (_STRING if mark in "\"'" else _BARE).match(self._text, start)
        if found is None:
            raise ValueError(f"Invalid value (line {self._text.count(chr(10), 0, start) + 1})")
        self._at = found.end()
        written = found.group()
        value = _value(written)
        text = value if isinstance(value, str) else written
        style = "|" if written[:3] in ('"""', "'''") else mark if mark in "\"'" else ""
        return Node(Form.SCALAR, start, self._at, value, text, style)

    def _array(self) -> Node:
        node = Node(Form.LIST, self._at, self._at, flow=True)
        self._at += 1
        self._skip()
        while not self._text.startswith("]", self._at):
            node.items.append(self._read_value())
            self._skip()
            if self._text.startswith(",", self._at):
                self._at += 1
                self._skip()
        self._at += 1
        node.end = self._at
        return node

    def _inline_table(self) -> Node:
        node = Node(Form.MAPPING, self._at, self._at, flow=True)
        self._at += 1
        self._skip()
        while not self._text.startswith("}", self._at):
            self._assignment(node)
            self._skip()
            if self._text.startswith(",", self._at):
                self._at += 1
                self._skip()
        self._at += 1
        node.end = self._at
        return node


def _enter(node: Node, key: str, start: int, end: int, value: Node) -> Entry:
    entry = Entry(key, start, end, value, node)
    value.holder = entry
    node.entries.append(entry)
    return entry


def _value(written: str) -> Any:
    """The value of one token."""
    if written in ("true", "false"):
        return written == "true"
    if written.isdigit() and len(written) < 19:
        return int(written)
    if written[0] in "\"'" and "\\" not in written and written[:3] not in ('"""', "'''"):
        return written[1:-1]
    return _loads(f"value = {written}")["value"]
