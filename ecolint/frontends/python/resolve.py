"""The resolver: what a name or expression is worth where it stands.

Lazy: nothing is evaluated that no site asks for. It follows constants, branches whose
condition the file decides, dicts and splats, functions of the file, classes, enums, command
line and environment defaults; what it can't follow is `UNKNOWN`, never a guess.
"""

import operator
from collections.abc import Callable, Iterable
from typing import Any

import libcst as cst

from ecolint.facts import Via
from ecolint.frontends.python import builtin_calls
from ecolint.frontends.python.branches import Branches
from ecolint.frontends.python.functions import MAX_DEPTH, Functions
from ecolint.frontends.python.objects import Objects
from ecolint.frontends.python.program import (
    Binding,
    Frame,
    Place,
    Program,
    same_function,
)
from ecolint.frontends.python.values import (
    NOTHING,
    Const,
    Entry,
    Environment,
    Items,
    Local,
    LocalClass,
    Member,
    Ref,
    Table,
    Unknown,
    Value,
    Values,
    Where,
    contains,
    join,
    least_sure,
    plain,
    same,
    truth,
    via_of,
    with_via,
)

_COMPARE: dict[type[cst.BaseCompOp], Callable[[Any, Any], object]] = {
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
    cst.Is: operator.eq,
    cst.IsNot: operator.ne,
}
_BINARY: dict[type[cst.BaseBinaryOp], Callable[[Any, Any], object]] = {
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.Multiply: operator.mul,
    cst.FloorDivide: operator.floordiv,
    cst.Modulo: operator.mod,
}


class Resolver:
    """Answers what expressions of one program are worth."""

    def __init__(self, program: Program) -> None:
        """Prepare for a program; the indexes are built when first needed."""
        self.program = program
        self._busy: set[tuple[int, int]] = set()
        self._memo: dict[tuple[int, int], Values] = {}
        self.branches = Branches(self)
        self.functions = Functions(self)
        self.objects = Objects(self)

    def value(self, node: cst.CSTNode | None, where: Where) -> Values:
        """What an expression may be worth; `(UNKNOWN,)` where the file does not tell."""
        if node is None or where.depth > MAX_DEPTH:
            return NOTHING
        key = (id(node), id(where.env))
        if key in self._memo:
            return self._memo[key]
        if key in self._busy:
            return NOTHING
        self._busy.add(key)
        try:
            inner = Where(where.frame, where.order, where.env, where.depth + 1)
            result = self._evaluate(node, inner)
        finally:
            self._busy.discard(key)
        self._memo[key] = result
        return result

    def where(self, place: Place, env: Environment | None = None) -> Where:
        """The reading point of a recorded place."""
        return Where(place.frame, place.order, env)

    def _evaluate(self, node: cst.CSTNode, where: Where) -> Values:
        if isinstance(node, (cst.SimpleString, cst.Integer, cst.Float)):
            return (Const(node.evaluated_value, node),)
        step = _STEPS.get(type(node))
        return step(self, node, where) if step is not None else NOTHING

    def _concatenated(self, node: cst.ConcatenatedString, where: Where) -> Values:
        return self.combine(operator.add, node, (node.left, node.right), where)

    def _attribute(self, node: cst.Attribute, where: Where) -> Values:
        return self.each(self.value(node.value, where), lambda v: self.objects.attribute(v, node))

    def _dict(self, node: cst.Dict, where: Where) -> Values:
        return (self._table(node, where),)

    def _conditional(self, node: cst.IfExp, where: Where) -> Values:
        verdict = self.branches.test(node.test, where)
        branches = [node.body] if verdict else [node.orelse]
        if verdict is None:
            branches = [node.body, node.orelse]
        return join(*(self.value(branch, where) for branch in branches))

    def _inner(self, node: "cst.NamedExpr | cst.Await", where: Where) -> Values:
        inside = node.expression if isinstance(node, cst.Await) else node.value
        return self.value(inside, where)

    def _lambda(self, node: cst.Lambda, where: Where) -> Values:
        return (Local(node, where),)

    @staticmethod
    def each(values: Values, step: Callable[[Value], Values]) -> Values:
        return join(*(step(value) for value in values))

    def combine(
        self,
        step: Callable[..., object],
        node: cst.CSTNode,
        parts: Iterable[cst.CSTNode],
        where: Where,
    ) -> Values:
        """Apply a plain function to every combination of constant parts."""
        chosen: list[list[object]] = [[]]
        via = Via.RESOLVED
        for part in parts:
            values = self.value(part, where)
            if not all(isinstance(v, (Const, Member)) for v in values):
                return NOTHING
            via = least_sure(via, *(via_of(v) for v in values))
            chosen = [[*head, plain(v)] for head in chosen for v in values]
            if len(chosen) > 12:
                return NOTHING
        try:
            return join(*((Const(step(*row), node, via),) for row in chosen))
        except (TypeError, ValueError, ArithmeticError, AttributeError, KeyError, IndexError):
            return NOTHING

    def _fstring(self, node: cst.FormattedString, where: Where) -> Values:
        pieces: list[cst.CSTNode] = []
        shape: list[str | None] = []
        for part in node.parts:
            if isinstance(part, cst.FormattedStringText):
                shape.append(part.value)
            elif isinstance(part, cst.FormattedStringExpression):
                shape.append(None)
                pieces.append(part.expression)

        def fill(*values: object) -> str:
            rest = iter(values)
            return "".join(str(next(rest)) if text is None else text for text in shape)

        return self.combine(fill, node, pieces, where)

    def _sequence(self, node: "cst.List | cst.Tuple | cst.Set", where: Where) -> Values:
        items: list[Values] = []
        for element in node.elements:
            if isinstance(element, cst.StarredElement):
                spread = self.value(element.value, where)
                if len(spread) != 1 or not isinstance(spread[0], Items):
                    return NOTHING
                items.extend(spread[0].items)
            else:
                items.append(self.value(element.value, where))
        return (Items(tuple(items), node),)

    def _table(self, node: cst.Dict, where: Where) -> Table:
        entries: dict[object, list[Entry]] = {}
        is_open = False
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                keys = self.value(element.key, where)
                if len(keys) == 1 and isinstance(keys[0], (Const, Member)):
                    entry = Entry(element.value, where, element.key, element)
                    entries[plain(keys[0])] = [entry]
                else:
                    is_open = True
            elif isinstance(element, cst.StarredDictElement):
                for value in self.value(element.value, where):
                    if isinstance(value, Table):
                        entries.update(self.objects.entries(value, where))
                        is_open |= value.open
                    else:
                        is_open = True
        return Table(node, entries, is_open)

    def _subscript(self, node: cst.Subscript, where: Where) -> Values:
        index = node.slice[0].slice if len(node.slice) == 1 else None
        if not isinstance(index, cst.Index):
            return NOTHING
        keys = self.value(index.value, where)
        return self.each(
            self.value(node.value, where),
            lambda v: join(*(self.objects.item(v, key, where) for key in keys)),
        )

    def _boolean(self, node: cst.BooleanOperation, where: Where) -> Values:
        left = self.value(node.left, where)
        is_or = isinstance(node.operator, cst.Or)
        kept: list[Value] = []
        others = False
        for value in left:
            verdict = truth(value)
            if verdict is is_or:
                kept.append(value)
            else:
                others = True
                # `unknown or default`: the default is what the file tells.
        if not others:
            return tuple(kept)
        right = self.value(node.right, where)
        if is_or and any(isinstance(v, Unknown) for v in left):
            right = tuple(with_via(v, Via.DEFAULT) for v in right)
        elif not is_or and any(truth(v) is None for v in left):
            return join(NOTHING, right)
        return join(tuple(kept), right)

    def _unary(self, node: cst.UnaryOperation, where: Where) -> Values:
        if isinstance(node.operator, cst.Not):
            verdict = self.branches.test(node.expression, where)
            if verdict is None:
                return NOTHING
            via = least_sure(*(via_of(v) for v in self.value(node.expression, where)))
            return (Const(not verdict, node, least_sure(via, Via.RESOLVED)),)
        if isinstance(node.operator, cst.Minus):
            return self.combine(operator.neg, node, (node.expression,), where)
        return NOTHING

    def _comparison(self, node: cst.Comparison, where: Where) -> Values:
        if len(node.comparisons) != 1:
            return NOTHING
        target = node.comparisons[0]
        left, right = self.value(node.left, where), self.value(target.comparator, where)
        via = least_sure(Via.RESOLVED, *(via_of(v) for v in left))
        if isinstance(target.operator, (cst.In, cst.NotIn)):
            verdict = contains(right, left)
            if verdict is None:
                return NOTHING
            return (Const(verdict is isinstance(target.operator, cst.In), node, via),)
        if isinstance(target.operator, (cst.Equal, cst.NotEqual, cst.Is, cst.IsNot)):
            verdict = same(left, right)
            if verdict is None:
                return NOTHING
            positive = isinstance(target.operator, (cst.Equal, cst.Is))
            return (Const(verdict is positive, node, via),)
        step = _COMPARE.get(type(target.operator))
        if step is None:
            return NOTHING
        return self.combine(step, node, (node.left, target.comparator), where)

    def _binary(self, node: cst.BinaryOperation, where: Where) -> Values:
        if isinstance(node.operator, (cst.BitOr, cst.Add)):
            left, right = self.value(node.left, where), self.value(node.right, where)
            joined = self._joined(left, right, node, where)
            if joined is not NOTHING:
                return joined
        if isinstance(node.operator, cst.Divide):
            return self.combine(_divided, node, (node.left, node.right), where)
        step = _BINARY.get(type(node.operator))
        if step is None:
            return NOTHING
        return self.combine(step, node, (node.left, node.right), where)

    def _name(self, node: cst.Name, where: Where) -> Values:
        name = node.value
        if name in ("True", "False", "None"):
            return (Const({"True": True, "False": False, "None": None}[name], node),)
        scope = where.frame.scope
        first = True
        current = scope
        while True:
            bindings = current.bindings.get(name) if first or not current.is_class else None
            if bindings:
                return self._choose(bindings, where)
            if current.stars:
                return (Ref(f"{current.stars[-1]}.{name}"),)
            first = False
            if current.parent is None:
                break
            current = current.parent
        if name in self.program.hidden:
            return NOTHING
        if name in builtin_calls.BUILTINS:
            return (Ref(f"builtins.{name}"),)
        return (Ref(f"?.{name}"),)

    def _choose(self, bindings: list[Binding], where: Where) -> Values:
        """The bindings that may be in force at the reading point, newest first."""
        here = same_function(bindings[0].frame, where.frame)
        earlier = [b for b in bindings if b.order < where.order] if here else bindings
        around = set(where.frame.chain())
        found: list[Values] = []
        for binding in reversed(earlier or bindings):
            if binding.frame.kind == "except" and len(bindings) > 1:
                continue
            if _exclusive(binding.frame, around):
                continue
            alive = self.branches.live(binding.frame, where.env if here else None)
            if alive is False:
                continue
            found.append(
                self._added(bindings, binding, where)
                if binding.kind in ("merge", "extend")
                else self._bound(binding, where)
            )
            conditional = alive is None and any(
                part.kind in ("if", "case", "while") and part not in around
                for part in binding.frame.chain()
            )
            if not conditional:
                break
        return join(*found) if found else NOTHING

    def _added(self, bindings: list[Binding], binding: Binding, where: Where) -> Values:
        """What `name += more` or `name |= more` leaves in the name."""
        context = Where(binding.frame, binding.order, where.env, where.depth + 1)
        before = [b for b in bindings if b.order < binding.order]
        if not before or context.depth > MAX_DEPTH:
            return NOTHING
        return self._joined(
            self._choose(before, context),
            self.value(binding.value, context),
            binding.value,
            context,
        )

    def _joined(
        self, left: Values, right: Values, node: cst.CSTNode | None, where: Where
    ) -> Values:
        """Two lists or two dicts as one; unknown for anything else."""
        if node is None or len(left) != 1 or len(right) != 1:
            return NOTHING
        first, second = left[0], right[0]
        if isinstance(first, Table) and isinstance(second, Table):
            entries = {
                **self.objects.entries(first, where),
                **self.objects.entries(second, where),
            }
            return (Table(node, entries, first.open or second.open),)
        if isinstance(first, Items) and isinstance(second, Items):
            return (Items((*first.items, *second.items), node),)
        return NOTHING

    def _bound(self, binding: Binding, where: Where) -> Values:
        env = where.env
        context = Where(binding.frame, binding.order, env, where.depth)
        if binding.kind == "import":
            return (Ref(binding.target),)
        if binding.kind == "def" and isinstance(binding.value, cst.FunctionDef):
            return (Local(binding.value, context),)
        if binding.kind == "class" and isinstance(binding.value, cst.ClassDef):
            return (LocalClass(binding.value, context),)
        if binding.kind == "param" and isinstance(binding.value, cst.Param):
            return self.functions._param(binding, where)
        if binding.kind in ("assign", "loop"):
            values = self.value(binding.value, context)
            if binding.kind == "loop":
                values = self.each(values, _elements)
            for step in binding.path:
                key = Const(step)
                values = join(*(self.objects.item(v, key, context) for v in values))
            return values
        return NOTHING

    def _call(self, node: cst.Call, where: Where) -> Values:
        return self.each(
            self.value(node.func, where), lambda callee: self.functions.result(callee, node, where)
        )


_STEPS: dict[type[cst.CSTNode], Callable[[Resolver, Any, Where], Values]] = {
    cst.Name: Resolver._name,
    cst.ConcatenatedString: Resolver._concatenated,
    cst.FormattedString: Resolver._fstring,
    cst.Attribute: Resolver._attribute,
    cst.Call: Resolver._call,
    cst.List: Resolver._sequence,
    cst.Tuple: Resolver._sequence,
    cst.Set: Resolver._sequence,
    cst.Dict: Resolver._dict,
    cst.Subscript: Resolver._subscript,
    cst.IfExp: Resolver._conditional,
    cst.BooleanOperation: Resolver._boolean,
    cst.UnaryOperation: Resolver._unary,
    cst.Comparison: Resolver._comparison,
    cst.BinaryOperation: Resolver._binary,
    cst.NamedExpr: Resolver._inner,
    cst.Await: Resolver._inner,
    cst.Lambda: Resolver._lambda,
}


def _divided(left: Any, right: Any) -> object:
    """`a / b`: of numbers, or of the parts of a path."""
    if isinstance(left, str) and isinstance(right, str):
        return f"{left.rstrip('/')}/{right}"
    return operator.truediv(left, right)


def _elements(value: Value) -> Values:
    return join(*value.items) if isinstance(value, Items) else NOTHING


def _exclusive(frame: Frame, around: set[Frame]) -> bool:
    """Whether a place lies in the branch that the reading point's own branch excludes."""
    for part in frame.chain():
        if part.kind not in ("if", "case") or part in around:
            continue
        for other in around:
            if other.node is part.node and other.kind == part.kind and other.parent is part.parent:
                return other.truth is not part.truth or other.case is not part.case
    return False
