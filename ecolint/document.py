"""A file as its author wrote it: bytes to text and back, offsets to places.

Every position in ecolint is an offset into `Document.text`, the decoded file. A front-end
reads a `View`: the document itself, or a stretch inside it such as the cells of a notebook,
a heredoc or a string, with the way back from each of its characters to the file.
"""

import codecs
import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from ecolint.diagnostics import Edit, Location, Span
from ecolint.kinds import MAX_BYTES as MAX_BYTES
from ecolint.kinds import Kind as Kind

# Python's own definition of a line end; `str.splitlines` knows eight more.
_LINE_END = re.compile(r"\r\n|\r|\n")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


class UnreadableError(Exception):
    """A file that cannot be analysed: why, on which line, and what would mend it."""

    def __init__(self, reason: str, mend: str, line: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.mend = mend
        self.line = line


@dataclass(slots=True)
class Document:
    """A decoded file.

    `cells` are the starts of a notebook's cells as (offset in text, cell number), filled by
    the notebook front-end so that places can be told by cell and row.
    """

    path: str
    kind: Kind
    text: str
    encoding: str = "utf-8"
    bom: bytes = b""
    cells: "list[Cell]" = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)

    @property
    def newline(self) -> str:
        """The line end that the file uses first."""
        found = _LINE_END.search(self.text)
        return found.group() if found else "\n"

    def encode(self, text: str) -> bytes:
        """The bytes of `text` in this file's encoding, byte order mark kept.

        Raises:
            UnicodeEncodeError: the text has a character that the encoding lacks.
        """
        return self.bom + text.encode(self.encoding)

    def locate(self, offset: int) -> Location:
        """The 1-based place of a character; inside a notebook by cell."""
        row, column = self._place(offset)
        cell = next((c for c in self.cells if c.covers(offset)), None)
        if cell is None:
            return Location(row, column, None, row, column)
        inner_row, inner_column = cell.place(offset)
        return Location(inner_row, inner_column, cell.number, row, column)

    def line_at(self, offset: int) -> str:
        """The source line that holds `offset`, without its line end."""
        cell = next((c for c in self.cells if c.covers(offset)), None)
        if cell is not None:
            return cell.line_at(offset)
        row, _ = self._place(offset)
        starts = self._line_starts()
        end = starts[row] if row < len(starts) else len(self.text)
        return self.text[starts[row - 1] : end].rstrip("\r\n")

    def offset_of_line(self, row: int) -> int:
        """The offset at which 1-based line `row` starts; clamped to the text."""
        starts = self._line_starts()
        return starts[min(max(row, 1), len(starts)) - 1]

    def _line_starts(self) -> list[int]:
        if not self._starts:
            self._starts = [0, *(m.end() for m in _LINE_END.finditer(self.text))]
        return self._starts

    def _place(self, offset: int) -> tuple[int, int]:
        starts = self._line_starts()
        row = bisect_right(starts, offset)
        return row, offset - starts[row - 1] + 1


@dataclass(slots=True)
class Cell:
    """The source of one code cell, and for each of its characters the offset in the file."""

    number: int
    text: str
    offsets: "array[int]"

    def covers(self, offset: int) -> bool:
        """Whether the file's character at `offset` belongs to this cell's source."""
        return bool(self.offsets) and self.offsets[0] <= offset <= self.offsets[-1]

    def _index(self, offset: int) -> int:
        return max(bisect_right(self.offsets, offset) - 1, 0)

    def place(self, offset: int) -> tuple[int, int]:
        """The 1-based row and column inside the cell."""
        index = min(self._index(offset), len(self.text))
        ends = [m.end() for m in _LINE_END.finditer(self.text, 0, index)]
        return len(ends) + 1, index - (ends[-1] if ends else 0) + 1

    def line_at(self, offset: int) -> str:
        """The line of the cell that holds `offset`."""
        row, _ = self.place(offset)
        return _LINE_END.split(self.text)[row - 1]


class Quoting(Enum):
    """How text inside a view is written in the file."""

    PLAIN = "plain"
    JSON_STRING = "json string"
    JSON_LINES = "json list of lines"


@dataclass(slots=True)
class View:
    """Text for a front-end, and the way back to the document.

    `offsets` has one more entry than `text`; None means that the view is the document from
    `base` on. `separator` is what stands between two lines of a notebook's source list.
    """

    document: Document
    text: str
    base: int = 0
    offsets: "Sequence[int] | None" = None
    quoting: Quoting = Quoting.PLAIN
    separator: str = ""
    writable: bool = True

    def at(self, index: int) -> int:
        """The document offset of the view's character `index`."""
        return self.base + index if self.offsets is None else self.offsets[index]

    def span(self, start: int, end: int) -> Span:
        """The document span of a stretch of the view."""
        if end <= start:
            return Span(self.at(start), self.at(start))
        # The last character's own end, not the next one's start: between two lines of a
        # notebook lie quotes and commas that belong to neither.
        last = self.at(end - 1)
        after = self.at(end)
        width = after - last
        if self.quoting is not Quoting.PLAIN and self.text[end - 1] == "\n":
            width = 2
        elif self.quoting is Quoting.JSON_LINES and width > 12:
            width = 1
        return Span(self.at(start), last + width)

    def edit(self, start: int, end: int, content: str) -> Edit | None:
        """An edit of the document that replaces a stretch of the view.

        None where the file cannot carry it (text inside a string literal of a program).
        """
        if not self.writable:
            return None
        return Edit(self.span(start, end), self.quote(content))

    def quote(self, content: str) -> str:
        """`content` as it must be written inside this view."""
        if self.quoting is Quoting.PLAIN:
            newline = self.document.newline
            return content if newline == "\n" else content.replace("\n", newline)
        import json

        ascii_only = self.document.text.isascii()
        lines = content.split("\n")
        quoted = [json.dumps(line, ensure_ascii=ascii_only)[1:-1] for line in lines]
        if self.quoting is Quoting.JSON_STRING:
            return "\\n".join(quoted)
        return f'\\n"{self.separator}"'.join(quoted)

    def part(self, start: int, end: int, *, writable: bool | None = None) -> "View":
        """The view of a stretch of this one."""
        keep = self.writable if writable is None else writable
        if self.offsets is None:
            return View(self.document, self.text[start:end], self.base + start, None, writable=keep)
        return View(
            self.document,
            self.text[start:end],
            0,
            self.offsets[start : end + 1],
            self.quoting,
            self.separator,
            keep,
        )


def whole(document: Document) -> View:
    """The view of a document as it stands."""
    return View(document, document.text)


def decode(raw: bytes, path: str, kind: Kind) -> Document:
    """Decode a file's bytes as its kind demands.

    Raises:
        UnreadableError: binary content, a broken or unknown encoding.
    """
    for bom, name in _BOMS:
        if raw.startswith(bom):
            return Document(path, kind, _decode(raw[len(bom) :], name), name, bom)
    if b"\0" in raw[:8192]:
        guess = _utf16_without_bom(raw)
        if guess is None:
            raise UnreadableError("binary content", "exclude the file or give it its real name")
        return Document(path, kind, _decode(raw, guess), guess)
    encoding = _cookie(raw) if kind is Kind.PYTHON else "utf-8"
    return Document(path, kind, _decode(raw, encoding), encoding)


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def _utf16_without_bom(raw: bytes) -> str | None:
    sample = raw[:512]
    if len(sample) < 4 or len(raw) % 2:
        return None
    if not any(sample[0::2]) or sample[0::2].count(0) > len(sample) // 2 * 0.9:
        return "utf-16-be"
    return "utf-16-le" if sample[1::2].count(0) > len(sample) // 2 * 0.9 else None


def _cookie(raw: bytes) -> str:
    for line in raw.split(b"\n", 2)[:2]:
        found = _COOKIE.match(line)
        if found:
            try:
                return codecs.lookup(found.group(1).decode("ascii")).name
            except LookupError as error:
                raise UnreadableError(
                    f"unknown encoding {found.group(1).decode()!r}", "name a codec that Python has"
                ) from error
    return "utf-8"


def _decode(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UnreadableError(
            f"not valid {encoding}", "save it as UTF-8 or declare its encoding", line
        ) from error
