"""Where comments stand in each kind of file, and which lines belong together.

One regular expression a kind, which steps over strings so that a `#` inside one is no
comment. Not `tokenize`: it stops at the first line that is broken, and a cell may hold `!pip`.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from ecolint.diagnostics import Edit, Location, Span
from ecolint.document import Document, Kind, Quoting, View

_LINE_END = re.compile(r"\r\n|\r|\n")
_TRIPLE = r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""' + r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
_DOUBLE = r'"(?:[^"\\\r\n]|\\.)*"'
_SINGLE = r"'(?:[^'\\\r\n]|\\.)*'"
_RAW = r"'[^'\r\n]*'"
_HASH = r"\#[^\r\n]*"
_SPACED_HASH = r"(?<!\S)\#[^\r\n]*"
_SLASHES = r"//[^\r\n]*|/\*.*?\*/"
# Quotes open a string only at the start of a scalar: `don't # like this` has none.
_SCALAR_START = r"(?<![^\s,:\[{(])"


def _syntax(strings: str, comments: str) -> "re.Pattern[str]":
    opaque = f"(?P<string>{strings})|" if strings else ""
    return re.compile(f"{opaque}(?P<comment>{comments})", re.DOTALL | re.MULTILINE | re.IGNORECASE)


_PYTHON = _syntax(f"{_TRIPLE}|{_DOUBLE}|{_SINGLE}", _HASH)
_SHELL = _syntax(rf"\\.|{_DOUBLE}|{_RAW}", r"(?<![^\s;&|()])\#[^\r\n]*")
_POWERSHELL = _syntax(r'"(?:[^"`\r\n]|`.)*"|' + _RAW, rf"<\#.*?\#>|{_SPACED_HASH}")
_SYNTAX = {
    Kind.PYTHON: _PYTHON,
    Kind.YAML: _syntax(f"{_SCALAR_START}(?:{_DOUBLE}|'(?:[^'\\r\\n]|'')*')", _SPACED_HASH),
    Kind.JSON: _syntax(r'"(?:[^"\\]|\\.)*"', rf"{_SLASHES}|{_SPACED_HASH}"),
    Kind.TOML: _syntax(f"{_TRIPLE}|{_DOUBLE}|{_RAW}", _HASH),
    Kind.REQUIREMENTS: _syntax("", _SPACED_HASH),
    Kind.DOCKERFILE: _SHELL,
    Kind.SHELL: _SHELL,
    Kind.BATCH: _syntax("", r"^[ \t]*@?(?:rem\b|::)[^\r\n]*|&[ \t]*rem\b[^\r\n]*"),
    Kind.MAKEFILE: _SHELL,
    Kind.DOTENV: _SHELL,
    Kind.PROCFILE: _SHELL,
    Kind.SYSTEMD: _SHELL,
    Kind.PBTXT: _syntax(f"{_DOUBLE}|{_SINGLE}", _HASH),
    Kind.MODELFILE: _syntax(f"{_TRIPLE}|{_DOUBLE}", _SPACED_HASH),
    Kind.INI: _syntax("", r"^[ \t]*[\#;][^\r\n]*"),
    Kind.TERRAFORM: _syntax(_DOUBLE, rf"{_HASH}|{_SLASHES}"),
}
_SYNTAX[Kind.CONDA_LOCK] = _SYNTAX[Kind.YAML]
_SHELL_CELL = re.compile(r"%%(?:bash|sh|script|cmd|system)\b")


@dataclass(slots=True)
class Stretch:
    """A stretch of characters and the rows (1-based) on which it begins and ends."""

    start: int
    end: int
    first: int
    last: int


@dataclass(slots=True)
class Region:
    """Text with one comment syntax: a whole file, or a cell of a notebook (`cell` its number).

    `strings` are those that span several lines; `alone` the rows that hold only a comment.
    """

    document: Document
    text: str
    cell: int | None
    offsets: "array[int] | None"
    comments: list[Stretch] = field(default_factory=list)
    strings: list[Stretch] = field(default_factory=list)
    alone: set[int] = field(default_factory=set)
    _starts: list[int] = field(default_factory=list)

    def row_of(self, index: int) -> int:
        """The 1-based row of a character."""
        return bisect_right(self._starts, index)

    def row_bounds(self, row: int) -> tuple[int, int]:
        """Where a row's text begins and ends, its line end left out."""
        start = self._starts[row - 1]
        after = self._starts[row] if row < len(self._starts) else len(self.text)
        return start, start + len(self.text[start:after].rstrip("\r\n"))

    def after_row(self, row: int) -> int:
        """Where the next row begins."""
        return self._starts[row] if row < len(self._starts) else len(self.text)

    def edit(self, start: int, end: int, content: str) -> Edit:
        """The edit of the file that replaces a stretch of one line."""
        if self.offsets is None:
            return Edit(Span(start, end), content)
        view = View(self.document, self.text, 0, self.offsets, Quoting.JSON_LINES)
        return Edit(view.span(start, end), view.quote(content))

    def span(self, start: int, end: int) -> Span:
        """The file's characters that a stretch of one line stands in."""
        return self.edit(start, end, "").span

    def rows_of(self, location: Location, end_location: Location) -> range:
        """The rows that belong to a finding.

        Those that it touches; all lines of a string that it lies in, since no comment can
        stand between them; and all lines of a command that is continued over them.
        """
        first, last = location.row, end_location.row
        if end_location.column == 1 and last > first:
            last -= 1
        for string in self.strings:
            if string.first <= first and last <= string.last:
                first, last = string.first, string.last
        while first > 1 and self._continues(first - 1):
            first -= 1
        while self._continues(last):
            last += 1
        return range(first, last + 1)

    def _continues(self, row: int) -> bool:
        """Whether the next row continues the command on this one; comments may lie between."""
        while row in self.alone and row > 1:
            row -= 1
        if row >= len(self._starts) or row in self.alone:
            return False
        start, end = self.row_bounds(row)
        mark = "^`" if self.document.kind is Kind.BATCH else "\\"
        return self.text[start:end].endswith(tuple(mark))


def read_regions(document: Document) -> Iterator[Region]:
    """The parts of a document with their comments; none for a kind that has no comments."""
    if document.kind is Kind.NOTEBOOK:
        for cell in document.cells:
            syntax = _SHELL if _SHELL_CELL.match(cell.text) else _PYTHON
            yield _scan(Region(document, cell.text, cell.number, cell.offsets), syntax)
        return
    syntax_of_kind = _SYNTAX.get(document.kind)
    if document.kind is Kind.BATCH and document.path.lower().endswith((".ps1", ".psm1")):
        syntax_of_kind = _POWERSHELL
    if syntax_of_kind is not None:
        yield _scan(Region(document, document.text, None, None), syntax_of_kind)


def _scan(region: Region, syntax: "re.Pattern[str]") -> Region:
    text = region.text
    starts = region._starts
    starts += [0, *(end.end() for end in _LINE_END.finditer(text))]
    for found in syntax.finditer(text):
        start, end = found.span()
        first = region.row_of(start)
        stretch = Stretch(start, end, first, region.row_of(max(end - 1, start)))
        if found.lastgroup == "comment":
            region.comments.append(stretch)
            if not text[starts[first - 1] : start].strip():
                region.alone.update(range(first, stretch.last + 1))
        elif stretch.last > first and text[start] != "\\":
            region.strings.append(stretch)
    return region
