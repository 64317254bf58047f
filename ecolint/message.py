"""Sentences that know their words and their numbers apart.

A `Message` is an English template, which is also its key in the catalogues, and the values
that fill it. Templates hold no figures, so whoever prints a message can translate the words,
write each number in the reader's way, and trace it to where it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Message:
    """A template with `{name}` marks and the values behind the marks."""

    text: str
    args: tuple[tuple[str, object], ...] = ()

    @property
    def values(self) -> Mapping[str, object]:
        """The values by the name of their mark."""
        return dict(self.args)

    def __str__(self) -> str:
        """Return the sentence in English."""
        return self.text.format_map(self.values)


def say(text: str, /, **values: object) -> Message:
    """Return a message; `text` must be a literal, for the catalogues are made from the source."""
    return Message(text, tuple(values.items()))
