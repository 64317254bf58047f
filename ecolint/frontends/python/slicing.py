"""Which statements of a program bear on a site; the rest is blanked before LibCST sees it.

Measured on transformers' source tree, LibCST reads 21k lines a second and `ast` 210k. So
`ast` finds the statements that hold a call or assignment we know, adds those that bind the
names they use and those that call the functions they stand in, and blanks all others line
by line: every kept line stays at its place, and the cost follows the site, not the file.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from ecolint.document import UnreadableError
from ecolint.frontends.python.sites import (
    COMMON,
    LIBRARIES,
    Unit,
    candidates,
    generation_matters,
    names_a_command,
    survey_all,
)

# How many lines beyond the sites themselves are worth reading to resolve a value.
_BUDGET = 300
_CALLER_STEPS = 3
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


@dataclass(frozen=True, slots=True)
class Slice:
    """A program without what bears on no site, and the names that went with the rest.

    `starts` are the first lines of its top-level statements, where known; `calls` and
    `decorators` the last names of all that the whole program calls and decorates with.
    """

    text: str
    hidden: frozenset[str] = frozenset()
    starts: tuple[int, ...] = ()
    calls: frozenset[str] = frozenset()
    decorators: frozenset[str] = frozenset()
    libraries: frozenset[str] = frozenset()


def relevant(text: str) -> Slice | None:
    """The program with everything blanked that bears on no site; None when it has no site.

    A text that this Python's own parser refuses is given back whole, for LibCST to judge.

    Raises:
        UnreadableError: it is nested too deeply to be parsed.
    """
    commands = names_a_command(text)
    lines = candidates(text, commands)
    if not lines:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        refuse_depth(text)
        calls = frozenset(re.findall(r"(\w+)\s*\(", text))
        return Slice(text, calls=calls, decorators=frozenset(re.findall(r"@[\w.]*?(\w+)\b", text)))
    except (RecursionError, MemoryError):
        raise UnreadableError(
            "nested too deeply to be parsed", "split the expression, or exclude the file"
        ) from None
    units = list(_units(tree))
    if not survey_all(units, lines, commands):
        return None
    if any(unit.libraries & LIBRARIES for unit in units):
        worthwhile = generation_matters(units)
        uncached = any(unit.uncaches for unit in units)
        for unit in units:
            unit.site |= unit.weak or (unit.generates and worthwhile)
            # Whether a cache that is off is ever missed hangs on what generates.
            unit.evidence |= unit.generates and uncached
    kept = _closure(units)
    if not kept:
        return None
    hidden = {name for i, u in enumerate(units) if i not in kept for name in u.binds}
    shown = {name for i in kept for name in units[i].binds}
    starts = tuple(units[i].first for i in sorted(kept) if units[i].owner is None)
    return Slice(
        _blank(text, units, kept),
        frozenset(hidden - shown),
        starts,
        frozenset().union(*(unit.calls for unit in units)),
        frozenset().union(*(unit.decorators for unit in units)),
        frozenset().union(*(unit.libraries for unit in units)),
    )


_STRAIN = re.compile(r"[\[({]|[\])}]|\n|[-+*/.|&%@<>=~]|\b(?:not|and|or|lambda|if|await)\b")
_MAX_BRACKETS, _MAX_OPERATORS = 200, 3_000


def refuse_depth(text: str) -> None:
    """Keep LibCST's parser, which overflows its stack and dies, from what is nested too deeply.

    Raises:
        UnreadableError: more brackets or operators in one statement than it was seen to bear.
    """
    depth = operators = 0
    for match in _STRAIN.finditer(text):
        mark = match.group()
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth = max(depth - 1, 0)
        elif mark == "\n":
            operators = operators if depth else 0
            continue
        operators += 1
        if depth > _MAX_BRACKETS or operators > _MAX_OPERATORS:
            line = text.count("\n", 0, match.start()) + 1
            raise UnreadableError(
                "nested too deeply to be parsed", "split the expression, or exclude the file", line
            )


def _units(tree: ast.Module) -> Iterator[Unit]:
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            yield from _class_units(statement)
        else:
            unit = _unit(statement)
            unit.always = isinstance(statement, (ast.Import, ast.ImportFrom))
            yield unit


def _class_units(node: ast.ClassDef) -> Iterator[Unit]:
    header = _unit(node)
    header.parts = [*node.bases, *node.keywords, *node.decorator_list]
    header.definition = node
    yield header
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            method = _unit(statement)
            method.owner = header
            yield method
        else:
            header.parts.append(statement)


def _unit(statement: ast.stmt) -> Unit:
    unit = Unit(_first_line(statement), statement.end_lineno or statement.lineno)
    unit.parts = [statement]
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        unit.function = statement.name
    return unit


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(int(d.lineno) for d in decorators)])


def _closure(units: list[Unit]) -> set[int]:
    """The units to keep: sites, evidence, what they need and what calls them, nearest first."""
    frontier = {index for index, unit in enumerate(units) if unit.site}
    if not frontier:
        return frontier
    frontier |= {i for i, u in enumerate(units) if u.evidence and u.last - u.first < 200}
    kept = frontier | {i for i, unit in enumerate(units) if unit.always}
    index = _Index(units)
    budget = _BUDGET
    for step in range(8):
        wanted = {i for unit in frontier for i in index.wanted(unit, step, kept)} - kept
        frontier = set()
        for unit in sorted(wanted, key=lambda i: units[i].last - units[i].first):
            budget -= _length(units, unit)
            if budget >= 0:
                frontier.add(unit)
        kept |= frontier
        if not frontier:
            break
    # A method cannot stand without its class.
    return kept | {index.headers[id(o)] for i in kept if (o := units[i].owner) is not None}


class _Index:
    """Who binds a name, and who uses it."""

    def __init__(self, units: list[Unit]) -> None:
        self.units = units
        self.headers = {id(unit): index for index, unit in enumerate(units)}
        self.binders: dict[str, set[int]] = {}
        self.users: dict[str, set[int]] = {}
        for index, unit in enumerate(units):
            for name in unit.binds:
                self.binders.setdefault(name, set()).add(index)
            if unit.function and unit.owner is not None:
                self.binders.setdefault(f".{unit.function}", set()).add(index)
            for name in (*unit.names, *unit.members):
                self.users.setdefault(name, set()).add(index)

    def wanted(self, index: int, step: int, kept: set[int]) -> set[int]:
        """The units that a unit's values hang on."""
        unit = self.units[index]
        found: set[int] = set()
        for name in unit.names:
            found |= self.binders.get(name, set())
        for name in unit.members:
            found |= {
                i
                for i in self.binders.get(f".{name}", ())
                if (owner := self.units[i].owner) is not None
                and (owner is unit.owner or self.headers[id(owner)] in kept)
            }
        if unit.owner is not None:
            found.add(self.headers[id(unit.owner)])
        if unit.function and step < _CALLER_STEPS and unit.function not in COMMON:
            found |= self.users.get(unit.function, set())
        elif unit.function == "__init__" and unit.owner is not None and step < _CALLER_STEPS:
            for name in unit.owner.binds:
                found |= self.users.get(name, set())
        elif unit.site and step == 0 and not unit.function:
            # `pipe = pipeline(…)`: what is done with it stands elsewhere.
            found |= {i for name in unit.binds for i in self.users.get(name, ())}
        if unit.site and step == 0 and unit.owner is not None:
            found |= {
                i
                for name in unit.binds
                for i in self.users.get(name.removeprefix("."), ())
                if name.startswith(".") and self.units[i].owner is unit.owner
            }
        return found


def _length(units: list[Unit], index: int) -> int:
    """The lines that keeping a unit costs; a class header costs nothing but its own."""
    unit = units[index]
    inside = sum(u.last - u.first + 1 for u in units if u.owner is unit)
    return unit.last - unit.first + 1 - inside


# Names so common that "who calls it" says nothing.


def _blank(text: str, units: list[Unit], kept: set[int]) -> str:
    lines = _LINES.findall(text)
    keep = [False] * (len(lines) + 2)
    for index in kept:
        unit = units[index]
        keep[unit.first : unit.last + 1] = [True] * (unit.last - unit.first + 1)
    for index, unit in enumerate(units):
        # A class whose header is kept keeps its lines but not the methods nobody needs.
        if unit.owner is not None and index not in kept:
            for line in range(unit.first, unit.last + 1):
                keep[line] = False
            if any(unit.owner is units[i] for i in kept):
                head = lines[unit.first - 1]
                indent = head[: len(head) - len(head.lstrip())]
                lines[unit.first - 1] = f"{indent}pass{_end(head)}"
                keep[unit.first] = True
    return "".join(
        line if keep[number] else _end(line) for number, line in enumerate(lines, start=1)
    )


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]
