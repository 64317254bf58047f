"""A Python program as the resolver sees it: scopes, bindings, calls and the way to each.

One LibCST visitor records everything in a single walk; no scope or qualified-name metadata
(they cost ten times the walk). What encloses a place is a chain of `Frame`s: the branches,
loops and functions that must be entered to get there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import libcst as cst

from ecolint.document import View
from ecolint.frontends.python.positions import Positions
from ecolint.frontends.python.sites import Slice

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
    """`base.attribute = value` or `base[key] = value`."""

    base: cst.BaseExpression
    key: "str | cst.BaseExpression"
    value: cst.BaseExpression
    place: Place


class Program:
    """A parsed view with all that the visitor saw."""

    def __init__(self, view: View, module: cst.Module, part: Slice) -> None:
        """Walk `module`, parsed from `part`, which was cut from the view's text."""
        self.view = view
        self.hidden = part.hidden
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
        self.module.visit(_Walker(self))

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
        return self.module.code_for_node(node)


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


class _Walker(cst.CSTVisitor):
    """Fills a `Program`; visits the parts of a branch by hand to know which one it is in."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self.scope = program.root
        self.frame = Frame("module", program.module, None, program.root)
        self.order = 0
        self.index = 0
        self.statement: cst.CSTNode | None = None
        program.scopes[program.module] = program.root

    # frames

    def _inside(self, frame: Frame, *nodes: cst.CSTNode | None) -> None:
        outer_frame, outer_scope = self.frame, self.scope
        self.frame, self.scope = frame, frame.scope
        for node in nodes:
            if node is not None:
                node.visit(self)
        self.frame, self.scope = outer_frame, outer_scope

    def _under(self, kind: str, node: cst.CSTNode, **more: object) -> Frame:
        return Frame(kind, node, self.frame, self.scope, self._next(), **more)  # type: ignore[arg-type]

    def _next(self) -> int:
        self.order += 1
        return self.order

    def _bind(self, name: str, kind: str, value: cst.CSTNode | None = None, **more: object) -> None:
        binding = Binding(name, kind, self.frame, self._next(), value, **more)  # type: ignore[arg-type]
        self.scope.bindings.setdefault(name, []).append(binding)

    def _place(self, node: cst.CSTNode) -> Place:
        place = Place(node, self.frame, self._next(), self.statement)
        self.program.places[node] = place
        return place

    # blocks

    def on_visit(self, node: cst.CSTNode) -> bool:
        self.program.positions.note(node, self.index)
        return super().on_visit(node)

    def visit_Module(self, node: cst.Module) -> bool:
        self._block(node.body, top=True)
        return False

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> bool:
        self._block(node.body)
        return False

    def _block(self, body: Sequence[cst.CSTNode], *, top: bool = False) -> None:
        outer = self.frame
        for index, statement in enumerate(body):
            if top:
                self.index = index
            statement.visit(self)
            ends = isinstance(statement, cst.If) and ends_flow(statement.body)
            if isinstance(statement, cst.If) and ends and statement.orelse is None:
                # What follows `if x: return` runs only when x was false.
                self.frame = self._under("if", statement, test=statement.test, truth=False)
        self.frame = outer

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        self.statement = node

    def visit_If(self, node: cst.If) -> bool:
        node.test.visit(self)
        self._inside(self._under("if", node, test=node.test, truth=True), node.body)
        if node.orelse is not None:
            self._inside(self._under("if", node, test=node.test, truth=False), node.orelse)
        return False

    def visit_IfExp(self, node: cst.IfExp) -> bool:
        node.test.visit(self)
        self._inside(self._under("if", node, test=node.test, truth=True), node.body)
        self._inside(self._under("if", node, test=node.test, truth=False), node.orelse)
        return False

    def visit_Match(self, node: cst.Match) -> bool:
        node.subject.visit(self)
        for case in node.cases:
            self._inside(self._under("case", node, case=case), case.body)
        return False

    def visit_For(self, node: cst.For) -> bool:
        node.iter.visit(self)
        frame = self._under("for", node)
        outer, self.frame = self.frame, frame
        self._targets(node.target, node.iter, "loop")
        self.frame = outer
        self._inside(frame, node.body)
        if node.orelse is not None:
            node.orelse.visit(self)
        return False

    def visit_While(self, node: cst.While) -> bool:
        node.test.visit(self)
        self._inside(self._under("while", node), node.body)
        return False

    def visit_Try(self, node: cst.Try) -> bool:
        self._inside(self._under("try", node), node.body)
        for handler in node.handlers:
            self._inside(self._under("except", handler), handler.body)
        for rest in (node.orelse, node.finalbody):
            if rest is not None:
                rest.visit(self)
        return False

    def visit_With(self, node: cst.With) -> bool:
        for item in node.items:
            item.item.visit(self)
            if item.asname is not None and isinstance(item.asname.name, cst.Name):
                self._bind(item.asname.name.value, "assign", item.item)
        node.body.visit(self)
        return False

    # comprehensions are loops in a scope of their own

    def _comprehension(self, node: cst.CSTNode, clause: cst.CompFor, *results: cst.CSTNode) -> bool:
        scope = Scope(None, self.scope)
        current = Frame("for", node, self.frame, scope)
        outer_frame, outer_scope = self.frame, self.scope
        inner: cst.CompFor | None = clause
        while inner is not None:
            inner.iter.visit(self)
            self.frame, self.scope = current, scope
            self._targets(inner.target, inner.iter, "loop")
            for test in inner.ifs:
                test.test.visit(self)
                current = Frame("if", test, current, scope, self._next(), test=test.test)
                self.frame = current
            inner = inner.inner_for_in
        for result in results:
            result.visit(self)
        self.frame, self.scope = outer_frame, outer_scope
        return False

    def visit_ListComp(self, node: cst.ListComp) -> bool:
        return self._comprehension(node, node.for_in, node.elt)

    def visit_SetComp(self, node: cst.SetComp) -> bool:
        return self._comprehension(node, node.for_in, node.elt)

    def visit_GeneratorExp(self, node: cst.GeneratorExp) -> bool:
        return self._comprehension(node, node.for_in, node.elt)

    def visit_DictComp(self, node: cst.DictComp) -> bool:
        return self._comprehension(node, node.for_in, node.key, node.value)

    # functions and classes

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        for decorator in node.decorators:
            decorator.decorator.visit(self)
        for default in _defaults(node.params):
            default.visit(self)
        self._bind(node.name.value, "def", node)
        if isinstance(self.scope.node, cst.ClassDef):
            self.program.owners[node] = self.scope.node
        self._body(node, node.params, node.body)
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        self._body(node, node.params, node.body)
        return False

    def _body(self, node: Function, params: cst.Parameters, body: cst.CSTNode) -> None:
        scope = Scope(node, self.scope)
        frame = Frame("function", node, self.frame, scope)
        self.program.functions[node] = frame
        self.program.scopes[node] = scope
        self.program.decorated[node] = Place(node, self.frame, self.order)
        outer_frame, outer_scope, outer_statement = self.frame, self.scope, self.statement
        self.frame, self.scope = frame, scope
        for param in all_params(params):
            self._bind(param.name.value, "param", param, node=param.name)
        for rest in (params.star_arg, params.star_kwarg):
            if isinstance(rest, cst.Param):
                self._bind(rest.name.value, "opaque", rest)
        if isinstance(node, cst.Lambda):
            self.program.returns.setdefault(node, []).append(self._place(body))
        body.visit(self)
        self.frame, self.scope, self.statement = outer_frame, outer_scope, outer_statement

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        for decorator in node.decorators:
            decorator.decorator.visit(self)
        for base in (*node.bases, *node.keywords):
            base.value.visit(self)
        self._bind(node.name.value, "class", node)
        scope = Scope(node, self.scope)
        self.program.scopes[node] = scope
        self.program.decorated[node] = Place(node, self.frame, self.order)
        self._inside(Frame("class", node, self.frame, scope), node.body)
        return False

    def visit_Return(self, node: cst.Return) -> None:
        self._result(node.value)

    def visit_Yield(self, node: cst.Yield) -> None:
        value = node.value
        self._result(value.item if isinstance(value, cst.From) else value)

    def _result(self, value: cst.BaseExpression | None) -> None:
        function = next(
            (f.node for f in self.frame.chain() if f.kind == "function" and f.node), None
        )
        if value is not None and function is not None:
            self.program.returns.setdefault(function, []).append(self._place(value))

    # names

    def visit_Import(self, node: cst.Import) -> bool:
        for alias in node.names:
            name = dotted(alias.name)
            self.program.imports.append(name)
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                self._bind(alias.asname.name.value, "import", None, target=name)
            else:
                root = name.partition(".")[0]
                self._bind(root, "import", None, target=root)
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        module = "." * len(node.relative) + dotted(node.module)
        self.program.imports.append(module)
        if isinstance(node.names, cst.ImportStar):
            self.scope.stars.append(module)
            return False
        for alias in node.names:
            name = dotted(alias.name)
            shown = alias.asname.name if alias.asname is not None else alias.name
            if isinstance(shown, cst.Name):
                self._bind(shown.value, "import", node, target=f"{module}.{name}")
        return False

    def visit_Assign(self, node: cst.Assign) -> bool:
        node.value.visit(self)
        for target in node.targets:
            self._targets(target.target, node.value, "assign")
        return False

    def visit_AnnAssign(self, node: cst.AnnAssign) -> bool:
        if node.value is not None:
            node.value.visit(self)
            self._targets(node.target, node.value, "assign")
        elif isinstance(node.target, cst.Name):
            self._bind(node.target.value, "opaque", node)
        return False

    def visit_AugAssign(self, node: cst.AugAssign) -> bool:
        node.value.visit(self)
        if isinstance(node.target, cst.Name):
            kinds = {cst.BitOrAssign: "merge", cst.AddAssign: "extend"}
            kind = kinds.get(type(node.operator), "opaque")
            self._bind(node.target.value, kind, node.value)
        return False

    def visit_NamedExpr(self, node: cst.NamedExpr) -> bool:
        node.value.visit(self)
        self._targets(node.target, node.value, "assign")
        return False

    def visit_Del(self, node: cst.Del) -> bool:
        return False

    def _targets(
        self,
        target: cst.CSTNode,
        value: cst.BaseExpression,
        kind: str,
        path: tuple[int, ...] = (),
    ) -> None:
        if isinstance(target, cst.Name):
            self._bind(target.value, kind, value, path=path, node=target)
        elif isinstance(target, (cst.Tuple, cst.List)):
            for index, element in enumerate(target.elements):
                starred = isinstance(element, cst.StarredElement)
                step = "opaque" if starred else kind
                self._targets(element.value, value, step, (*path, index))
        elif isinstance(target, cst.Attribute):
            self.program.attributes.append(
                Assignment(target.value, target.attr.value, value, self._place(target))
            )
        elif isinstance(target, cst.Subscript) and len(target.slice) == 1:
            index_node = target.slice[0].slice
            if isinstance(index_node, cst.Index):
                self.program.items.append(
                    Assignment(target.value, index_node.value, value, self._place(target))
                )

    # sites

    def visit_Call(self, node: cst.Call) -> None:
        self.program.calls.append(self._place(node))

    def visit_Await(self, node: cst.Await) -> None:
        self.program.awaited.add(node.expression)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        self.program.strings.append(self._place(node))

    def visit_List(self, node: cst.List) -> None:
        self._place(node)

    def visit_Dict(self, node: cst.Dict) -> None:
        self._place(node)

    def visit_Tuple(self, node: cst.Tuple) -> None:
        self._place(node)


def all_params(params: cst.Parameters) -> list[cst.Param]:
    """Every named parameter of a function, in order."""
    return [*params.posonly_params, *params.params, *params.kwonly_params]


def _defaults(params: cst.Parameters) -> Iterator[cst.BaseExpression]:
    for param in all_params(params):
        if param.default is not None:
            yield param.default


def same_function(one: Frame, other: Frame) -> bool:
    """Whether two places run in the same function or class body."""

    def innermost(frame: Frame) -> cst.CSTNode | None:
        return next((f.node for f in frame.chain() if f.kind in ("function", "class")), None)

    return innermost(one) is innermost(other)
