"""How Python spells a command: a list that grows, a joined list, a formatted string.

Each word keeps its place in the file; text that is put together from pieces maps back to the
pieces, and can't be edited.
"""

import re
import sys
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from ecolint.document import View
from ecolint.frontends.python.program import Binding, Place, dotted
from ecolint.frontends.python.values import Const, Items, Ref
from ecolint.words import Word

if TYPE_CHECKING:
    from ecolint.frontends.python.recognise import Recogniser

_DEPTH = 6
_JOINS = ("join", "list2cmdline")
_SAME = ("list", "tuple", "split", "str")


def arguments_of(
    recogniser: "Recogniser", node: cst.BaseExpression, place: Place, depth: int = _DEPTH
) -> list[Word] | None:
    """The words of a list of arguments, however it is put together; None for no list."""
    if depth == 0:
        return None
    if isinstance(node, (cst.List, cst.Tuple)):
        return _elements(recogniser, node, place, depth)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        sides = [arguments_of(recogniser, s, place, depth - 1) for s in (node.left, node.right)]
        if sides[0] is not None and sides[1] is not None:
            return sides[0] + sides[1]
        return None
    if isinstance(node, cst.Call):
        return _called(recogniser, node, place, depth)
    if isinstance(node, cst.Name):
        return _named(recogniser, node, place, depth)
    for value in recogniser.resolver.value(node, recogniser.resolver.where(place)):
        if isinstance(value, Items) and isinstance(value.node, (cst.List, cst.Tuple)):
            return _elements(recogniser, value.node, place, depth)
    return None


def _elements(
    recogniser: "Recogniser", node: "cst.List | cst.Tuple", place: Place, depth: int
) -> list[Word]:
    words: list[Word] = []
    for element in node.elements:
        if isinstance(element, cst.StarredElement):
            words += arguments_of(recogniser, element.value, place, depth - 1) or []
        else:
            words.append(word_of(recogniser, element.value, place))
    return words


def _called(
    recogniser: "Recogniser", node: cst.Call, place: Place, depth: int
) -> list[Word] | None:
    """`" ".join(words)`, `shlex.join(words)`, `list(words)`, `shlex.split(text)`."""
    tail = node.func.attr.value if isinstance(node.func, cst.Attribute) else dotted(node.func)
    if tail == "split" and isinstance(node.func, cst.Attribute):
        text = node.args[0].value if dotted(node.func) == "shlex.split" else node.func.value
        return split_words(recogniser, text, place) or None
    if tail in (*_JOINS, *_SAME) and len(node.args) == 1:
        return arguments_of(recogniser, node.args[0].value, place, depth - 1)
    return None


def _named(recogniser: "Recogniser", node: cst.Name, place: Place, depth: int) -> list[Word] | None:
    """A list in a variable, with what is added to it before it is used."""
    bindings = _bindings(recogniser, node.value, place)
    changes: list[tuple[int, str, cst.BaseExpression, Place]] = []
    for one in bindings:
        if isinstance(one.value, cst.BaseExpression):
            at = Place(one.value, one.frame, one.order)
            kind = "extend" if one.kind == "extend" else "assign"
            changes.append((one.order, kind, one.value, at))
    for other in recogniser.program.calls:
        call = other.node
        assert isinstance(call, cst.Call)
        owner, _, method = dotted(call.func).rpartition(".")
        if owner == node.value and method in ("append", "extend") and len(call.args) == 1:
            changes.append((other.order, method, call.args[0].value, other))
    words: list[Word] | None = None
    for order, kind, value, at in sorted(changes, key=lambda change: change[0]):
        if order > place.order and at.frame.function() is place.frame.function():
            break
        if not recogniser.alive(at) or recogniser.resolver.branches.live(at.frame) is False:
            continue
        if kind == "assign":
            words = arguments_of(recogniser, value, at, depth - 1)
        elif words is not None and kind == "append":
            words.append(word_of(recogniser, value, at))
        elif words is not None:
            words += arguments_of(recogniser, value, at, depth - 1) or []
    return words


def _bindings(recogniser: "Recogniser", name: str, place: Place) -> Sequence[Binding]:
    scope = place.frame.scope
    while name not in scope.bindings and scope.parent is not None:
        scope = scope.parent
    return scope.bindings.get(name, ())


def words_of(
    recogniser: "Recogniser", nodes: Sequence[cst.BaseExpression], place: Place
) -> list[Word]:
    """Arguments that are given one by one."""
    return [word_of(recogniser, node, place) for node in nodes]


def word_of(recogniser: "Recogniser", node: cst.BaseExpression, place: Place) -> Word:
    """One argument as a word; unknown where the file does not tell."""
    program = recogniser.program
    start, end = program.span(node)
    values = recogniser.resolver.value(node, recogniser.resolver.where(place))
    value = values[0] if len(values) == 1 else None
    if isinstance(value, Ref) and value.name == f"{sys.__name__}.executable":
        return Word("python", program.view, start, end, exact=False)
    if isinstance(value, Const) and isinstance(value.value, (str, int, float)):
        text = str(value.value)
        if isinstance(node, cst.SimpleString):
            inner, stop = _inside(recogniser, node)
            exact = program.view.text[inner:stop] == text
            return Word(text, program.view, start, end, True, inner, exact)
        return Word(text, program.view, start, end, True, -1, False)
    return Word("", program.view, start, end, known=False, exact=False)


def split_words(recogniser: "Recogniser", node: cst.BaseExpression, place: Place) -> list[Word]:
    """The words of a command in one string, each at its place in it where it has one."""
    program = recogniser.program
    values = recogniser.resolver.value(node, recogniser.resolver.where(place))
    value = values[0] if len(values) == 1 else None
    if not isinstance(value, Const) or not isinstance(value.value, str):
        return []
    start, end = program.span(node)
    plain = False
    if isinstance(value.node, cst.SimpleString):
        start, end = _inside(recogniser, value.node)
        plain = program.view.text[start:end] == value.value
    return [
        Word(
            match.group().strip("\"'"),
            program.view,
            start + match.start() if plain else start,
            start + match.end() if plain else end,
            exact=False,
        )
        for match in re.finditer(r"\S+", value.value)
    ]


def rendered(
    recogniser: "Recogniser", node: cst.BaseExpression, place: Place, before: str = ""
) -> View | None:
    """The text of a string with a way back to the file; None where it is not known.

    Only a plain literal can be edited. `before` is put in front of it.
    """
    values = recogniser.resolver.value(node, recogniser.resolver.where(place))
    literals = {v.node for v in values if isinstance(v, Const) and isinstance(v.value, str)}
    source = literals.pop() if len(literals) == 1 and len(values) == 1 else node
    view = recogniser.program.view
    if isinstance(source, cst.SimpleString):
        start, end = _inside(recogniser, source)
        if view.text[start:end] == source.evaluated_value and not before:
            return view.part(start, end)
    if not isinstance(source, cst.BaseExpression):
        return None
    pieces = [(before, recogniser.program.span(source)[0], False)] if before else []
    if not _pieces(recogniser, source, place, pieces):
        return None
    offsets: array[int] = array("q")
    for text, at, exact in pieces:
        offsets.extend(view.at(at + index if exact else at) for index in range(len(text)))
    offsets.append(view.at(recogniser.program.span(source)[1]))
    whole = "".join(text for text, _, _ in pieces)
    return View(view.document, whole, 0, offsets, view.quoting, view.separator, writable=False)


def _pieces(
    recogniser: "Recogniser",
    node: cst.BaseExpression,
    place: Place,
    into: list[tuple[str, int, bool]],
) -> bool:
    """Gather the pieces of a string: text, where it stands, and whether it stands there so."""
    program = recogniser.program
    if isinstance(node, cst.ConcatenatedString):
        return _pieces(recogniser, node.left, place, into) and _pieces(
            recogniser, node.right, place, into
        )
    if isinstance(node, cst.SimpleString) and isinstance(node.evaluated_value, str):
        start, end = _inside(recogniser, node)
        into.append(
            (node.evaluated_value, start, program.view.text[start:end] == node.evaluated_value)
        )
        return True
    if isinstance(node, cst.FormattedString):
        for part in node.parts:
            start, end = program.span(part)
            if isinstance(part, cst.FormattedStringText):
                into.append((part.value, start, program.view.text[start:end] == part.value))
            elif isinstance(part, cst.FormattedStringExpression):
                into.append((_told(recogniser, part.expression, place), start, False))
        return True
    text = _told(recogniser, node, place)
    into.append((text, program.span(node)[0], False))
    return bool(text)


def _told(recogniser: "Recogniser", node: cst.BaseExpression, place: Place) -> str:
    """A value as text; a word that means nothing where the file does not tell it."""
    values = recogniser.resolver.value(node, recogniser.resolver.where(place))
    value = values[0] if len(values) == 1 else None
    if isinstance(value, Ref) and value.name == f"{sys.__name__}.executable":
        return "python"
    if isinstance(value, Const) and isinstance(value.value, (str, int, float)):
        return str(value.value)
    return "" if not isinstance(node, (cst.Name, cst.Attribute, cst.Call)) else "$UNKNOWN"


def _inside(recogniser: "Recogniser", node: cst.SimpleString) -> tuple[int, int]:
    start, end = recogniser.program.span(node)
    opening = len(node.prefix) + len(node.quote)
    return start + opening, end - len(node.quote)
