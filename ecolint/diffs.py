"""What fixes would change, as unified diffs; a notebook's cell by cell."""

from collections.abc import Iterator, Sequence
from difflib import unified_diff

from ecolint.document import Document, Kind


def diff(before: Document, after: Document, name: str) -> str:
    """The difference between a document and its fixed self; empty where there is none.

    Both notebooks must have been read, so that their cells are known.
    """
    if before.kind is Kind.NOTEBOOK:
        cells = zip(before.cells, after.cells, strict=False)
        parts = (_unified(b.text, a.text, f"{name}:cell {b.number}") for b, a in cells)
        return "".join(parts)
    return _unified(before.text, after.text, name)


def _unified(before: str, after: str, name: str) -> str:
    if before == after:
        return ""
    lines = unified_diff(_lines(before), _lines(after), name, name)
    return "".join(_ended(lines))


def _lines(text: str) -> Sequence[str]:
    """Lines with their ends, split only where a diff tool would."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if not line.endswith("\n"):
            yield "\n\\ No newline at end of file\n"
