"""Does an edited document mean elsewhere what it meant before?

A fix changes some lines; the tree that the document loads to may differ only in what stands
on those lines. Trees are compared leaf by leaf, so an edit that swallows a neighbour, moves
it to another mapping or reaches it through an anchor is refused before anything is written.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, NamedTuple

from ecolint import jsontext
from ecolint.document import Kind

Path = tuple[str, ...]
# A path, its value, and the lines that either stands on; none where the parser keeps none.
Leaf = tuple[Path, str, frozenset[int]]

# More leaves than this come from aliases that multiply, or from data that no fix touches.
_MOST = 300_000


def drift(kind: Kind, before: str, after: str) -> str | None:
    """The key whose value changed though its line did not; None where all is as it was.

    Raises:
        ValueError: a text does not parse; whoever calls has asked for that first.
    """
    old, new = _gather(kind, before), _gather(kind, after)
    if old is None or new is None:
        return None
    gone, come = _changed_lines(before.split("\n"), after.split("\n"))
    for these, others, lines in ((old, new, gone), (new, old, come)):
        for leaf, places in these.items():
            if len(places) > len(others.get(leaf, ())) and not _stands_on(leaf, places, lines):
                return ".".join(part for part in leaf[0] if part) or leaf[1]
    return None


class _Lines(NamedTuple):
    """The lines that only one text has, and those between which the other has more."""

    changed: dict[int, str]
    beside: set[int]


def _stands_on(leaf: tuple[Path, str], places: list[frozenset[int]], lines: _Lines) -> bool:
    """Whether one of the places of a leaf is on a changed line, or lost or gained one inside."""
    changed, beside = lines
    if any(place & changed.keys() for place in places):
        return True
    if any(len(place) > 2 and len(place & beside) > 1 for place in places):
        return True
    # TOML's parser keeps no lines: then the changed ones must show the key or the value.
    shown = [part for part in (leaf[1], *leaf[0][-1:]) if part]
    text = "\n".join(changed.values()).lower()
    return not any(places) and any(part.lower() in text for part in shown)


def _changed_lines(one: list[str], two: list[str]) -> tuple[_Lines, _Lines]:
    """The lines that only one of two texts has, for each."""
    from difflib import SequenceMatcher

    head = 0
    while head < min(len(one), len(two)) and one[head] == two[head]:
        head += 1
    tail = 0
    while tail < min(len(one), len(two)) - head and one[-1 - tail] == two[-1 - tail]:
        tail += 1
    left, right = one[head : len(one) - tail], two[head : len(two) - tail]
    gone, come = _Lines({}, set()), _Lines({}, set())
    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            gone.changed.update((head + at, left[at]) for at in range(a, b))
            come.changed.update((head + at, right[at]) for at in range(c, d))
            gone.beside.update((head + a - 1, head + a))
            come.beside.update((head + c - 1, head + c))
    return gone, come


def _gather(kind: Kind, text: str) -> dict[tuple[Path, str], list[frozenset[int]]] | None:
    """The places of every leaf; None when there are too many to compare."""
    found: dict[tuple[Path, str], list[frozenset[int]]] = {}
    for number, (path, value, lines) in enumerate(_leaves(kind, text)):
        if number >= _MOST:
            return None
        found.setdefault((path, value), []).append(lines)
    return found


def _leaves(kind: Kind, text: str) -> Iterator[Leaf]:
    if kind is Kind.JSON:
        starts = [at for at, char in enumerate(text) if char == "\n"]
        yield from _json_leaves(jsontext.parse(text, comments=True), (), starts, frozenset())
    elif kind is Kind.TOML:
        yield from _plain_leaves(_toml(text), ())
    else:
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        for root in yaml.compose_all(text, Loader=loader):
            yield from _yaml_leaves(root, (), frozenset(), frozenset())


def _toml(text: str) -> dict[str, Any]:
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)


def _yaml_leaves(
    node: Any, path: Path, above: frozenset[int], lines: frozenset[int]
) -> Iterator[Leaf]:
    if node is None or id(node) in above:
        return
    inside = above | {id(node)}
    if node.id == "scalar":
        own = range(node.start_mark.line, node.end_mark.line + 1)
        yield path, str(node.value), lines | set(own)
    elif node.id == "sequence":
        for item in node.value:
            yield from _yaml_leaves(item, (*path, ""), inside, lines)
    else:
        for key, value in node.value:
            name = str(getattr(key, "value", ""))
            yield from _yaml_leaves(value, (*path, name), inside, lines | {key.start_mark.line})


def _json_leaves(
    node: jsontext.Node, path: Path, starts: list[int], lines: frozenset[int]
) -> Iterator[Leaf]:
    if node.kind == "object":
        for key, value in node.members:
            on = lines | {bisect_left(starts, key.start)}
            yield from _json_leaves(value, (*path, str(key.value)), starts, on)
    elif node.kind == "array":
        for item in node.items:
            yield from _json_leaves(item, (*path, ""), starts, lines)
    else:
        own = range(bisect_left(starts, node.start), bisect_left(starts, node.end) + 1)
        yield path, node.text[node.start : node.end], lines | set(own)


def _plain_leaves(value: Any, path: Path) -> Iterator[Leaf]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _plain_leaves(inner, (*path, str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _plain_leaves(inner, (*path, ""))
    else:
        yield path, str(value), frozenset()
