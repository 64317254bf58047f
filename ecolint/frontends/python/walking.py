"""One walk over a LibCST tree that notes all that a program binds, calls and assigns."""

# ruff: noqa: N802 -- LibCST calls its visitors by these names

from collections.abc import Iterator, Sequence

import libcst as cst

from ecolint.frontends.python.program import (
    Assignment,
    Binding,
    Frame,
    Function,
    Place,
    Program,
    Scope,
    all_params,
    dotted,
    ends_flow,
)


def walk(program: Program) -> Program:
    """The program, filled with what stands in it."""
    program.module.visit(_Walker(program))
    return program


class _Walker(cst.CSTVisitor):
    """Fills a `Program`; visits the parts of a branch by hand to know which one it is in."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self.scope = program.root
        self.frame = Frame("module", program.module, None, program.root)
        self.outer: dict[tuple[Scope, str], Scope] = {}
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
        scope = self.outer.get((self.scope, name), self.scope)
        scope.bindings.setdefault(name, []).append(binding)

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
        parts = node.target.elements if isinstance(node.target, cst.Tuple) else [node.target]
        for part in parts:
            target = part.value if isinstance(part, cst.Element) else part
            if isinstance(target, cst.Subscript):
                self._remove(target.value, target.slice[0].slice, target)
        return False

    def _remove(self, base: cst.BaseExpression, key: cst.CSTNode, node: cst.CSTNode) -> None:
        """Note that an item leaves a dict."""
        inner = key.value if isinstance(key, cst.Index) else key
        if isinstance(inner, cst.BaseExpression):
            self.program.items.append(
                Assignment(base, inner, inner, self._place(node), removed=True)
            )

    def visit_Expr(self, node: cst.Expr) -> None:
        call = node.value
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            return
        if call.func.attr.value == "pop" and call.args:  # its result is not kept
            self._remove(call.func.value, call.args[0].value, call)

    def visit_Global(self, node: cst.Global) -> bool:
        for item in node.names:
            self.outer[self.scope, item.name.value] = self.program.root
        return False

    def visit_Nonlocal(self, node: cst.Nonlocal) -> bool:
        for item in node.names:
            if self.scope.parent is not None:
                self.outer[self.scope, item.name.value] = self.scope.parent
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
        place = self._place(node)
        self.program.calls.append(place)
        if isinstance(node.func, cst.Name) and node.func.value == "setattr" and len(node.args) == 3:
            base, key, value = (arg.value for arg in node.args)
            if isinstance(key, cst.SimpleString):
                self.program.attributes.append(
                    Assignment(base, str(key.evaluated_value), value, place)
                )

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


def _defaults(params: cst.Parameters) -> Iterator[cst.BaseExpression]:
    for param in all_params(params):
        if param.default is not None:
            yield param.default
