"""The text of a scalar as text of its own: commands inside YAML blocks and JSON strings.

A block loses its indentation and a string its escapes before a shell reads it; each
character of what is left keeps the place where it is written.
"""

import json
import re
from collections.abc import Sequence
from itertools import pairwise

from ecolint.document import Quoting, View
from ecolint.frontends.mapping import PLACEHOLDER, Form, Node, Source
from ecolint.shell import Scope, split
from ecolint.words import Word

_BREAK = re.compile(r"[ \t]*(?:\r\n|\r|\n)[ \t]*(?:(?:\r\n|\r|\n)[ \t]*)*")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|\r\n|.)", re.DOTALL)
_SURROGATES = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_YAML_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f",
    "r": "\r", "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0",
    "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_EXPANSION = re.compile(r"\$[({A-Za-z_]")
_FALLBACK = re.compile(r"\$\{[A-Za-z_]\w*:?-([^${}]*)\}")


def script_view(source: Source, node: Node) -> View:
    """A scalar's text as a view; read-only where its characters can't be traced back."""
    outer = source.view
    begin, end = node.start, node.end
    quoting = Quoting.PLAIN
    if node.style == '"':
        quoting = Quoting.JSON_STRING
    places: Sequence[int] | None
    written = source.text[begin:end]
    if node.style in ("'", '"') and written[1:-1] == node.text:
        places = range(begin + 1, end)
    elif not node.style and written == node.text:
        places = range(begin, end + 1)
    else:
        places = _trace(node, source.text)
    if places is None:
        stuck = [outer.at(begin)] * (len(node.text) + 1)
        return View(outer.document, node.text, 0, stuck, writable=False)
    offsets = places if outer.offsets is None and not outer.base else [outer.at(p) for p in places]
    return View(outer.document, node.text, 0, offsets, quoting, writable=outer.writable)


def word(source: Source, node: Node) -> Word:
    """A scalar as one argument of a command.

    Kubernetes' `$(NAME)` and compose's `${NAME}` make it unknown from there on, unless a
    default stands beside the name. A text with blanks is a script, whose shell knows better.
    """
    view = source.view
    text = node.text
    written = view.text[node.start : node.end]
    if not node.known or PLACEHOLDER in text:
        cut = text.find(PLACEHOLDER)
        text = text[:cut] if node.known and cut >= 0 else ""
        return Word(text, view, node.start, node.end, False, -1, False)
    if _EXPANSION.search(text) and not re.search(r"\s", text):
        filled = _FALLBACK.sub(r"\1", text)
        found = _EXPANSION.search(filled)
        known = found is None
        text = filled if found is None else filled[: found.start()]
        return Word(text, view, node.start, node.end, known, -1, False)
    if not written:
        return Word(text, view, node.start, node.end, True, -1, False)
    if written == text:
        return Word(text, view, node.start, node.end, True, node.start)
    if written[1:-1] == text and node.style in ("'", '"') and _plain(text):
        return Word(text, view, node.start, node.end, True, node.start + 1)
    own = script_view(source, node)
    if not own.writable:
        return Word(text, view, node.start, node.end, True, -1, False)
    return Word(text, own, 0, len(text), True, 0)


def words(source: Source, node: Node) -> list[Word]:
    """A list's scalars as arguments, or the arguments in one string."""
    if node.form is Form.LIST:
        return [word(source, item) for item in node.items if item.form is Form.SCALAR]
    if node.form is Form.SCALAR and node.text and node.known:
        view = script_view(source, node)
        # Compose writes `$$` for a dollar of the container's own.
        command = next(split(view, scope=Scope(view.text)), None)
        return list(command.words) if command is not None else []
    return []


def _plain(text: str) -> bool:
    """Whether text needs no care about quotes when a part of it is replaced."""
    return '"' not in text and "'" not in text and "\\" not in text


def _trace(node: Node, source: str) -> list[int] | None:
    """For each character of a scalar the place where it is written, one more for the end."""
    if node.style == "|":
        return _trace_literal(node, source)
    if node.style == ">":
        body = _NEWLINE.search(source, node.start, node.end)
        if body is None:
            return None
        first = re.compile(r"\s*").match(source, body.end(), node.end)
        return _trace_folded(node, source, first.end() if first else body.end())
    return _trace_folded(node, source, node.start + (1 if node.style else 0))


def _trace_literal(node: Node, source: str) -> list[int] | None:
    header = _NEWLINE.search(source, node.start, node.end)
    if header is None:
        return None
    at, indent = header.end(), -1
    places: list[int] = []
    lines = node.text.split("\n")
    for index, line in enumerate(lines):
        stop = _NEWLINE.search(source, at)
        end = stop.start() if stop else len(source)
        if line and indent < 0:
            indent = end - at - len(line)
        begin = at + max(indent, 0)
        if line and source[begin:end] != line:
            return None
        places.extend(range(begin, begin + len(line)) if line else ())
        if index == len(lines) - 1:
            places.append(places[-1] + 1 if places and line else min(at, len(source)))
            return places
        places.append(end)
        at = stop.end() if stop else len(source)
    return None


def _trace_folded(node: Node, source: str, at: int) -> list[int] | None:
    """Follow quoted, folded and plain text: line breaks became spaces, escapes characters."""
    places: list[int] = []
    text = node.text
    index = 0
    while index < len(text):
        gap = _BREAK.match(source, at)
        if gap:
            fold = _folded(text, index, len(_NEWLINE.findall(gap.group())))
            if fold == 0 and node.style != '"':
                return None
            places.extend([at] * fold)
            index += fold
            at = gap.end()
            continue
        if node.style == '"' and source.startswith("\\", at):
            escape = _SURROGATES.match(source, at) or _ESCAPE.match(source, at)
            if escape is None:
                return None
            said = _unescape(escape.group())
            if said and not text.startswith(said, index):
                return None
            places.extend([at] * len(said))
            index += len(said)
            at = escape.end()
            if not said:
                at += len(source[at:]) - len(source[at:].lstrip(" \t"))
            continue
        if source[at : at + 1] != text[index]:
            return None
        places.append(at)
        index += 1
        at += 2 if node.style == "'" and source.startswith("''", at) else 1
    places.append(at)
    return places if all(a <= b for a, b in pairwise(places)) else None


def _folded(text: str, index: int, breaks: int) -> int:
    """How many characters a run of line breaks became: a space, or all but one of them."""
    if text.startswith(" ", index):
        return 1
    length = 0
    while length < breaks and text.startswith("\n", index + length):
        length += 1
    return length


def _unescape(escape: str) -> str:
    mark = escape[1]
    if mark in "\r\n":
        return ""
    if mark in "uxU":
        if len(escape) == 12:
            return str(json.loads(f'"{escape}"'))
        code = int(escape[2:], 16)
        return chr(code) if code < 0x110000 else ""
    return _YAML_ESCAPES.get(mark, mark)
