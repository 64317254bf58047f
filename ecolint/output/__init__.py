"""Writers of findings, one module a format, imported only when the format is asked for.

A writer has one function, `write(result, stream, style)`: it prints the findings of a run to
a text stream. `style` tells what the stream can show; only formats for people look at it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TextIO

if TYPE_CHECKING:
    from ecolint.diagnostics import Diagnostic

FORMATS = {
    "text": "ecolint.output.text",
    "full": "ecolint.output.full",
    "concise": "ecolint.output.concise",
    "json": "ecolint.output.json",
    "jsonl": "ecolint.output.jsonl",
}

# Formats that a person reads: they get a summary, colours and the word that all is well.
FOR_PEOPLE = frozenset({"text", "full", "concise"})


class Style(NamedTuple):
    """What a stream can show, and whether unsafe fixes count as available."""

    colour: bool = False
    unsafe_fixes: bool = False


class Findings(Protocol):
    """The part of a run's result that a writer needs."""

    @property
    def diagnostics(self) -> "Sequence[Diagnostic]":
        """The findings, in order."""
        ...


class Writer(Protocol):
    """A format."""

    def write(self, result: Findings, stream: TextIO, style: Style) -> None:
        """Print the findings."""
        ...


def load_writer(name: str) -> Writer:
    """The writer of a format. KeyError for a name that is not in FORMATS."""
    from importlib import import_module

    module: Writer = import_module(FORMATS[name])
    return module
