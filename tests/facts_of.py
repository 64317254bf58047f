"""Shared by tests: read a snippet with its front-end."""

from typing import TypeVar

from ecolint import frontends
from ecolint.diagnostics import Edit
from ecolint.document import Document, Kind, decode
from ecolint.facts import Fact, Facts

F = TypeVar("F", bound=Fact)


def read(text: str | bytes, kind: Kind = Kind.PYTHON) -> tuple[Document, Facts]:
    """The document and facts of a snippet."""
    raw = text if isinstance(text, bytes) else text.encode()
    document = decode(raw, "snippet", kind)
    return document, frontends.read(document)


def only(text: str, kind: type[F]) -> F:
    """The one fact of a kind in a Python snippet."""
    _, facts = read(text)
    found = facts.of(kind)
    assert len(found) == 1, found
    return found[0]


def apply(text: str, edits: tuple[Edit, ...] | None) -> str:
    """The text after edits."""
    assert edits is not None
    for edit in sorted(edits, key=lambda e: e.span.start, reverse=True):
        text = text[: edit.span.start] + edit.content + text[edit.span.end :]
    return text
