"""A Python program as the resolver sees it: scopes, bindings, calls and the way to each.

One LibCST visitor records everything in a single walk; no scope or qualified-name metadata
(they cost ten times the walk). What encloses a place is a chain of `Frame`s: the branches,
loops and functions that must be entered to get there.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import libcst as cst

from ecolint.document import View
from ecolint.frontends.python.positions import Positions
from ecolint.frontends.python.slicing import Slice

Function: TypeAlias = cst.FunctionDef | cst.Lambda


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a module, function or class body."""

    node: "cst.Module | cst.FunctionDef | cst.ClassDef | cst.Lambda | None"
    parent: "Scope | None"
    bindings: "dict[str, list[Binding]]" = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    @property
    def is_class(self) -> bool:
        """Whether names in here are invisible to nested functions."""
        return isinstance(self.node, cst.ClassDef)


@dataclass(slots=True, eq=False)
class Frame:
    """What must be entered to reach a place: a branch, loop, function or class body.

    `test` and `truth` belong to branches, `case` to match statements, `loop` to loops.
    """

    kind: str
    node: cst.CSTNode | None
    parent: "Frame | None"
    scope: Scope
    order: int = 0
    test: cst.BaseExpression | None = None
    truth: bool = True
    case: cst.MatchCase | None = None

    def chain(self) -> "Iterator[Frame]":
        """This frame and those around it, innermost first."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent

    def function(self) -> cst.FunctionDef | None:
        """The innermost function around."""
        for frame in self.chain():
            if frame.kind == "function" and isinstance(frame.node, cst.FunctionDef):
                return frame.node
        return None


@dataclass(slots=True, eq=False)
class Binding:
    """One way in which a name gets a value.

    `kind` is "assign", "param", "import", "def", "class", "loop" or "opaque"; `path` are the
    tuple positions that lead from the value to the name.
    """

    name: str
    kind: str
    frame: Frame
    order: int
    value: cst.CSTNode | None = None
    path: tuple[int, ...] = ()
    target: str = ""
    node: cst.CSTNode | None = None


@dataclass(slots=True, eq=False)
class Place:
    """An expression or statement with the way to it."""

    node: cst.CSTNode
    frame: Frame
    order: int
    statement: cst.CSTNode | None = None


@dataclass(slots=True, eq=False)
class Assignment:
    """`base.attribute = value` or `base[key] = value`; `removed`: `del base[key]`."""

    base: cst.BaseExpression
    key: "str | cst.BaseExpression"
    value: cst.BaseExpression
    place: Place
    removed: bool = False


class Program:
    """A parsed view with all that the visitor saw."""

    def __init__(self, view: View, module: cst.Module, part: Slice) -> None:
        """Prepare for `module`, parsed from `part` of the view; `walking.walk` fills it."""
        self.view = view
        self.hidden = part.hidden
        self._sources: dict[cst.CSTNode, str] = {}
        self.text = part.text
        self.module = module
        self.positions = Positions(module, part.starts)
        self._starts = _line_starts(view.text)
        self.root = Scope(self.module, None)
        self.calls: list[Place] = []
        self.strings: list[Place] = []
        self.attributes: list[Assignment] = []
        self.items: list[Assignment] = []
        self.returns: dict[cst.CSTNode, list[Place]] = {}
        self.functions: dict[cst.CSTNode, Frame] = {}
        self.owners: dict[cst.CSTNode, cst.ClassDef] = {}
        self.scopes: dict[cst.CSTNode, Scope] = {}
        self.places: dict[cst.CSTNode, Place] = {}
        self.decorated: dict[cst.CSTNode, Place] = {}
        self.imports: list[str] = []
        self.awaited: set[cst.CSTNode] = set()

    def span(self, node: cst.CSTNode, end: cst.CSTNode | None = None) -> tuple[int, int]:
        """The positions in the view from the start of `node` to the end of it (or of `end`)."""
        first = self.positions.of(node)
        last = self.positions.of(end or node)
        return (
            self._starts[first.start.line - 1] + first.start.column,
            self._starts[last.end.line - 1] + last.end.column,
        )

    def source(self, node: cst.CSTNode) -> str:
        """The text of a node as written; cheaper than asking where it stands."""
        if node not in self._sources:
            self._sources[node] = self.module.code_for_node(node)
        return self._sources[node]


def _line_starts(text: str) -> list[int]:
    import re

    return [0, *(m.end() for m in re.finditer(r"\r\n|\r|\n", text))]


def dotted(node: cst.CSTNode | None) -> str:
    """`a.b.c` of a chain of names and attributes; empty where it is anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    parts.append(node.value)
    return ".".join(reversed(parts))


def ends_flow(body: cst.BaseSuite) -> bool:
    """Whether a block always leaves: its last statement returns, raises, breaks or continues."""
    statements: list[cst.CSTNode] = list(body.body)
    if statements and isinstance(statements[-1], cst.SimpleStatementLine):
        statements = list(statements[-1].body)
    return bool(statements) and isinstance(
        statements[-1], (cst.Return, cst.Raise, cst.Continue, cst.Break)
    )


def all_params(params: cst.Parameters) -> list[cst.Param]:
    """Every named parameter of a function, in order."""
    return [*params.posonly_params, *params.params, *params.kwonly_params]


def same_function(one: Frame, other: Frame) -> bool:
    """Whether two places run in the same function or class body."""

    def innermost(frame: Frame) -> cst.CSTNode | None:
        return next((f.node for f in frame.chain() if f.kind in ("function", "class")), None)

    return innermost(one) is innermost(other)
