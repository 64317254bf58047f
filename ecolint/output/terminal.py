"""What a terminal can be trusted with: colours, widths, and text that others wrote.

File names, source lines and messages come from the files under test. An escape sequence in
them could repaint the screen and a bidirectional mark could show another path than the one
meant, so such characters are printed as escapes.
"""

import os
import re
from collections.abc import Mapping
from typing import TextIO

from ecolint.diagnostics import Severity

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_RESET = "\x1b[0m"
_SEVERITY = {
    Severity.RED: "\x1b[1;31m",
    Severity.YELLOW: "\x1b[1;33m",
    Severity.GRAY: "\x1b[2m",
    Severity.GREEN: "\x1b[32m",
}
_NAMED = {"bold": "\x1b[1m", "dim": "\x1b[2m", "cyan": "\x1b[36m", "blue": "\x1b[1;34m"}
TAB = 4


def neutralise(text: str) -> str:
    """`text` with every character that a terminal might act upon written as an escape."""
    return _UNSAFE.sub(_escape, text)


def _escape(found: "re.Match[str]") -> str:
    point = ord(found[0])
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def lay_out(line: str, start: int, end: int) -> tuple[str, int, int]:
    """A source line as it is printed, and the columns at which a stretch of it begins and ends.

    `start` and `end` count characters of the line; the columns count cells of the terminal,
    which a wide character takes two of and a combining mark none. Tabs become spaces.
    """
    shown: list[str] = []
    column = 0
    at = {}
    for index, character in enumerate(line):
        at[index] = column
        piece = " " * (TAB - column % TAB) if character == "\t" else neutralise(character)
        shown.append(piece)
        column += width(piece)
    return "".join(shown), at.get(start, column), at.get(end, column)


def width(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0 if category(one) in ("Mn", "Me") else 2 if east_asian_width(one) in "WF" else 1
        for one in text
    )


def paint(text: str, kind: Severity | str, colour: bool) -> str:
    """`text` in the colour of a severity, or in one of the named styles."""
    if not colour:
        return text
    return (_SEVERITY[kind] if isinstance(kind, Severity) else _NAMED[kind]) + text + _RESET


def shows_colour(stream: TextIO, when: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour a stream; `when` is always, never or auto.

    NO_COLOR and FORCE_COLOR count where they are not empty (no-color.org, force-color.org).
    """
    if when != "auto":
        return when == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"
