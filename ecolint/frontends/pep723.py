"""Packages that a script names in its own header (PEP 723).

The header is TOML behind comment marks; it is read through a view without them, so that
places and edits are those of the script.
"""

import re
from array import array

from ecolint.document import Document, View, whole
from ecolint.facts import Facts, Package
from ecolint.frontends.pyproject import read_project
from ecolint.frontends.tomlsettings import parse

_START = re.compile(r"^# /// script[ \t]*\r?$", re.MULTILINE)
_HEADER = re.compile(
    r"^# /// script[ \t]*\r?\n((?:#(?: [^\n]*)?\r?\n)+?)# ///[ \t]*\r?$", re.MULTILINE
)
_LINE = re.compile(r"# ?([^\n]*(?:\n|$))")


def read(document: Document) -> Facts:
    """The facts of a script's header; none where it has no header."""
    return Facts([*read_pep723(whole(document))])


def read_pep723(view: View) -> list[Package]:
    """The package facts of the header in a Python program, wherever that stands."""
    start = _START.search(view.text)
    found = _HEADER.match(view.text, start.start()) if start is not None else None
    if found is None:
        return []
    text = ""
    offsets = array("q")
    for line in _LINE.finditer(view.text, *found.span(1)):
        text += line.group(1)
        offsets.extend(view.at(index) for index in range(*line.span(1)))
    offsets.append(view.at(found.end(1)))
    header = View(
        view.document, text, 0, offsets, view.quoting, view.separator, view.writable
    )  # fmt: skip
    source, _ = parse(header)
    return [package for root in source.roots for package in read_project(header, root)]
