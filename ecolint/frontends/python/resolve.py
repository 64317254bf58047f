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
from ecolint.frontends.python.program import (
    Assignment,
    Binding,
    Frame,
    Place,
    Program,
    all_params,
    dotted,
)
from ecolint.frontends.python.values import (
    NOTHING,
    Const,
    Entry,
    Environment,
    Items,
    Local,
    LocalClass,
    Made,
    Member,
    Method,
    Namespace,
    Partial,
    Record,
    Ref,
    Table,
    Unknown,
    Value,
    Values,
    Where,
    join,
    plain,
    truth,
)

MAX_DEPTH = 24

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
    cst.Divide: operator.truediv,
    cst.FloorDivide: operator.floordiv,
    cst.Modulo: operator.mod,
}

# A model keeps being the same model through these.
_SAME_OBJECT = frozenset(
    {
        "to", "cuda", "cpu", "eval", "half", "bfloat16", "float", "requires_grad_", "compile",
        "train", "merge_and_unload", "merge_adapter", "set_adapter", "to_bettertransformer",
        "tie_weights", "share_memory",
    }
)  # fmt: skip


class Resolver:
    """Answers what expressions of one program are worth."""

    def __init__(self, program: Program) -> None:
        """Prepare for a program; the indexes are built when first needed."""
        self.program = program
        self._busy: set[tuple[int, int]] = set()
        self._memo: dict[tuple[int, int], Values] = {}
        self._live: dict[Frame, bool | None] = {}
        self._options: dict[str, list[Values]] | None = None
        self._callers: dict[str, list[Place]] | None = None
        self._attributes: dict[int, dict[str, list[Assignment]]] | None = None
        self._items: dict[int, list[tuple[Assignment, Where]]] | None = None
        self._calling: set[object] = set()

    # --- entry points ---------------------------------------------------------------

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

    def live(self, frame: Frame, env: Environment | None = None) -> bool | None:
        """Whether the branches around a place are taken: no, yes, or only perhaps (None)."""
        if env is None and frame in self._live:
            return self._live[frame]
        result: bool | None = True
        for part in frame.chain():
            taken = self._taken(part, env)
            if taken is False:
                result = False
                break
            if taken is None:
                result = None
        if env is None:
            self._live[frame] = result
        return result

    def doubts(self, frame: Frame) -> Iterable[cst.CSTNode]:
        """The conditions around a place that the file leaves open."""
        for part in frame.chain():
            if self._taken(part, None) is None:
                if part.test is not None:
                    yield part.test
                elif isinstance(part.node, cst.Match):
                    yield part.node.subject

    def _taken(self, frame: Frame, env: Environment | None) -> bool | None:
        outer = Where(frame.parent or frame, frame.order, env)
        if frame.kind == "if" and frame.test is not None:
            verdict = self.test(frame.test, outer)
            return None if verdict is None else verdict is frame.truth
        if frame.kind == "case" and frame.case is not None and isinstance(frame.node, cst.Match):
            return self._case(frame.node, frame.case, outer)
        return True

    # --- conditions -------------------------------------------------------------------

    def test(self, node: cst.BaseExpression, where: Where) -> bool | None:
        """Whether a condition holds; None when the file leaves it open."""
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            inner = self.test(node.expression, where)
            return None if inner is None else not inner
        if isinstance(node, cst.BooleanOperation):
            left, right = self.test(node.left, where), self.test(node.right, where)
            decisive = isinstance(node.operator, cst.Or)
            if decisive in (left, right):
                return decisive
            return None if None in (left, right) else not decisive
        if isinstance(node, cst.Comparison) and dotted(node.left) == "__name__":
            return True
        verdicts = {truth(value) for value in self.value(node, where)}
        return verdicts.pop() if len(verdicts) == 1 else None

    def _case(self, match: cst.Match, wanted: cst.MatchCase, where: Where) -> bool | None:
        subjects = self.value(match.subject, where)
        if any(isinstance(s, (Unknown, Method)) for s in subjects):
            return None
        hits = set()
        for subject in subjects:
            for case in match.cases:
                fits = self._pattern(case.pattern, subject, where)
                if fits is None or case.guard is not None:
                    return None
                if fits:
                    hits.add(case is wanted)
                    break
            else:
                hits.add(False)
        return hits.pop() if len(hits) == 1 else (None if hits else False)

    def _pattern(self, pattern: cst.MatchPattern, subject: Value, where: Where) -> bool | None:
        if isinstance(pattern, cst.MatchOr):
            verdicts = [self._pattern(e.pattern, subject, where) for e in pattern.patterns]
            return True if True in verdicts else (None if None in verdicts else False)
        if isinstance(pattern, cst.MatchAs):
            return (
                True if pattern.pattern is None else self._pattern(pattern.pattern, subject, where)
            )
        if isinstance(pattern, cst.MatchSingleton):
            return plain(subject) is _singleton(pattern.value)
        if isinstance(pattern, cst.MatchValue):
            return same(self.value(pattern.value, where), (subject,))
        return None

    # --- expressions ------------------------------------------------------------------

    def _evaluate(self, node: cst.CSTNode, where: Where) -> Values:
        if isinstance(node, (cst.SimpleString, cst.Integer, cst.Float)):
            return (Const(node.evaluated_value, node),)
        step = _STEPS.get(type(node))
        return step(self, node, where) if step is not None else NOTHING

    def _concatenated(self, node: cst.ConcatenatedString, where: Where) -> Values:
        return self._combine(operator.add, node, (node.left, node.right), where)

    def _attribute(self, node: cst.Attribute, where: Where) -> Values:
        return self._each(self.value(node.value, where), lambda v: self.attribute(v, node))

    def _dict(self, node: cst.Dict, where: Where) -> Values:
        return (self._table(node, where),)

    def _conditional(self, node: cst.IfExp, where: Where) -> Values:
        verdict = self.test(node.test, where)
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
    def _each(values: Values, step: Callable[[Value], Values]) -> Values:
        return join(*(step(value) for value in values))

    def _combine(
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
            via = max((via, *(_via(v) for v in values)), key=_SURENESS.index)
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

        return self._combine(fill, node, pieces, where)

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
                        entries.update(self.entries(value, where))
                        is_open |= value.open
                    else:
                        is_open = True
        return Table(node, entries, is_open)

    def _subscript(self, node: cst.Subscript, where: Where) -> Values:
        index = node.slice[0].slice if len(node.slice) == 1 else None
        if not isinstance(index, cst.Index):
            return NOTHING
        keys = self.value(index.value, where)
        return self._each(
            self.value(node.value, where),
            lambda v: join(*(self.item(v, key, where) for key in keys)),
        )

    def item(self, value: Value, key: Value, where: Where, fallback: Values = NOTHING) -> Values:
        """`value[key]`; `fallback` where a complete table lacks the key."""
        if isinstance(value, Items):
            index = plain(key)
            if isinstance(index, int) and -len(value.items) <= index < len(value.items):
                return value.items[index]
            return join(*value.items) if isinstance(key, Unknown) else NOTHING
        if isinstance(value, Table):
            entries = self.entries(value, where)
            if isinstance(key, (Const, Member)):
                found = entries.get(plain(key))
                if found:
                    return join(*(self.value(e.value, e.where) for e in found))
                return fallback
            return NOTHING
        if isinstance(value, LocalClass) and isinstance(key, Const):
            return self.class_attribute(value, str(key.value))
        if isinstance(value, Ref):
            return NOTHING
        return fallback if fallback is not NOTHING else NOTHING

    def entries(self, table: Table, where: Where) -> dict[object, list[Entry]]:
        """A table's entries with what was assigned to them before the reading point."""
        merged = dict(table.entries)
        for assignment, context in self._item_index().get(id(table.node), ()):
            late = _same_function(assignment.place.frame, where.frame)
            if late and assignment.place.order > where.order:
                continue
            alive = self.live(assignment.place.frame)
            if alive is False or (alive is None and self.opted(assignment.place.frame)):
                continue
            keys = (
                (Const(assignment.key),)
                if isinstance(assignment.key, str)
                else self.value(assignment.key, context)
            )
            for key in keys:
                if isinstance(key, (Const, Member)):
                    entry = Entry(
                        assignment.value, context, assignment.place.node, assignment.place.node
                    )
                    if alive is None and plain(key) in merged:
                        merged[plain(key)] = [*merged[plain(key)], entry]
                    else:
                        merged[plain(key)] = [entry]
        return merged

    def opted(self, frame: Frame) -> bool:
        """Whether a place is reached only if a user chooses this very precision."""
        return any(
            builtin_calls.CHOICE.search(self.program.source(test)) for test in self.doubts(frame)
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
            right = tuple(_with_via(v, Via.DEFAULT) for v in right)
        elif not is_or and any(truth(v) is None for v in left):
            return join(NOTHING, right)
        return join(tuple(kept), right)

    def _unary(self, node: cst.UnaryOperation, where: Where) -> Values:
        if isinstance(node.operator, cst.Not):
            verdict = self.test(node.expression, where)
            if verdict is None:
                return NOTHING
            via = max((_via(v) for v in self.value(node.expression, where)), key=_SURENESS.index)
            return (Const(not verdict, node, max(via, Via.RESOLVED, key=_SURENESS.index)),)
        if isinstance(node.operator, cst.Minus):
            return self._combine(operator.neg, node, (node.expression,), where)
        return NOTHING

    def _comparison(self, node: cst.Comparison, where: Where) -> Values:
        if len(node.comparisons) != 1:
            return NOTHING
        target = node.comparisons[0]
        left, right = self.value(node.left, where), self.value(target.comparator, where)
        via = max((Via.RESOLVED, *(_via(v) for v in left)), key=_SURENESS.index)
        if isinstance(target.operator, (cst.In, cst.NotIn)):
            verdict = _contains(right, left)
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
        return self._combine(step, node, (node.left, target.comparator), where)

    def _binary(self, node: cst.BinaryOperation, where: Where) -> Values:
        if isinstance(node.operator, cst.BitOr):
            left, right = self.value(node.left, where), self.value(node.right, where)
            if len(left) == len(right) == 1:
                first, second = left[0], right[0]
                if isinstance(first, Table) and isinstance(second, Table):
                    entries = {**self.entries(first, where), **self.entries(second, where)}
                    return (Table(node, entries, first.open or second.open),)
            return NOTHING
        if isinstance(node.operator, cst.Add):
            left, right = self.value(node.left, where), self.value(node.right, where)
            if len(left) == len(right) == 1:
                first, second = left[0], right[0]
                if isinstance(first, Items) and isinstance(second, Items):
                    return (Items((*first.items, *second.items), node),)
        step = _BINARY.get(type(node.operator))
        if step is None:
            return NOTHING
        return self._combine(step, node, (node.left, node.right), where)

    # --- names ------------------------------------------------------------------------

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
        here = _same_function(bindings[0].frame, where.frame)
        earlier = [b for b in bindings if b.order < where.order] if here else bindings
        around = set(where.frame.chain())
        found: list[Values] = []
        for binding in reversed(earlier or bindings):
            if binding.frame.kind == "except" and len(bindings) > 1:
                continue
            if _exclusive(binding.frame, around):
                continue
            alive = self.live(binding.frame, where.env if here else None)
            if alive is False:
                continue
            found.append(self._bound(binding, where))
            conditional = alive is None and any(
                part.kind in ("if", "case", "while") and part not in around
                for part in binding.frame.chain()
            )
            if not conditional:
                break
        return join(*found) if found else NOTHING

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
            return self._param(binding, where)
        if binding.kind in ("assign", "loop"):
            values = self.value(binding.value, context)
            if binding.kind == "loop":
                values = self._each(values, _elements)
            for step in binding.path:
                values = self._each(values, lambda v, s=step: self.item(v, Const(s), context))  # type: ignore[misc]
            return values
        return NOTHING

    def _param(self, binding: Binding, where: Where) -> Values:
        function = binding.frame.node
        env = where.env
        while env is not None:
            if env.function is function:
                return env.arguments.get(binding.name, NOTHING)
            env = env.outer
        if not isinstance(function, cst.FunctionDef):
            return NOTHING
        owner = self.program.owners.get(function)
        params = all_params(function.params)
        if owner is not None and params and params[0].name.value == binding.name:
            place = self.program.decorated[owner]
            return (Record(LocalClass(owner, self.where(place)), None, self.where(place)),)
        param = binding.value
        assert isinstance(param, cst.Param)
        key = (function, binding.name)
        if key in self._calling:
            return NOTHING
        self._calling.add(key)
        try:
            passed = [
                self._passed(call, function, binding.name)
                for call in self.callers(function.name.value)
            ]
        finally:
            self._calling.discard(key)
        if passed:
            return join(*passed)
        return self._param_default(function, param)

    def _param_default(self, function: cst.FunctionDef, param: cst.Param) -> Values:
        place = self.program.decorated[function]
        outside = Where(place.frame, place.order)
        chosen = builtin_calls.option_default(self, function, param.name.value, outside)
        if chosen is None and param.default is not None:
            chosen = builtin_calls.field_default(self, param.default, outside)
        if chosen is None:
            return NOTHING
        return tuple(_with_via(v, Via.DEFAULT) for v in chosen)

    def callers(self, name: str) -> list[Place]:
        """The calls in this file of something with that name."""
        if self._callers is None:
            self._callers = {}
            for place in self.program.calls:
                assert isinstance(place.node, cst.Call)
                tail = dotted(place.node.func).rpartition(".")[2]
                if tail:
                    self._callers.setdefault(tail, []).append(place)
        return self._callers.get(name, [])

    def _passed(self, place: Place, function: cst.FunctionDef, name: str) -> Values:
        assert isinstance(place.node, cst.Call)
        arguments = self.bind(function, place.node, self.where(place))
        return arguments.get(name, NOTHING)

    # --- functions ----------------------------------------------------------------------

    def bind(self, function: cst.CSTNode, call: cst.Call, where: Where) -> dict[str, Values]:
        """The values of a function's parameters in one call of it, defaults included."""
        assert isinstance(function, (cst.FunctionDef, cst.Lambda))
        params = all_params(function.params)
        if function in self.program.owners and not _is_static(function):
            params = params[1:]
        names = [param.name.value for param in params]
        values: dict[str, Values] = {}
        position = 0
        vague = False
        for argument in call.args:
            if argument.star == "**":
                for value in self.value(argument.value, where):
                    if isinstance(value, Table):
                        for key, found in self.entries(value, where).items():
                            values[str(key)] = join(*(self.value(e.value, e.where) for e in found))
                    vague |= not isinstance(value, Table)
            elif argument.star:
                vague = True
            elif argument.keyword is not None:
                values[argument.keyword.value] = self.value(argument.value, where)
            elif position < len(names):
                values[names[position]] = self.value(argument.value, where)
                position += 1
        for param in params:
            if param.name.value in values:
                continue
            values[param.name.value] = (
                NOTHING
                if vague or not isinstance(function, cst.FunctionDef)
                else self._param_default(function, param)
            )
        return values

    def returned(self, local: Local, call: cst.Call, where: Where) -> Values:
        """What a call of a function of this file gives back."""
        if local.node in self._calling or where.depth > MAX_DEPTH:
            return NOTHING
        self._calling.add(local.node)
        try:
            env = Environment(local.node, self.bind(local.node, call, where), where.env)
            found: list[Values] = []
            for place in self.program.returns.get(local.node, ()):
                if self.live(place.frame, env) is False:
                    continue
                found.append(
                    self.value(place.node, Where(place.frame, place.order, env, where.depth + 1))
                )
            return join(*found) if found else (Const(None),)
        finally:
            self._calling.discard(local.node)

    def _call(self, node: cst.Call, where: Where) -> Values:
        return self._each(
            self.value(node.func, where), lambda callee: self.result(callee, node, where)
        )

    def result(self, callee: Value, node: cst.Call, where: Where) -> Values:
        """What calling a value gives back."""
        if isinstance(callee, Local):
            return self.returned(callee, node, where)
        if isinstance(callee, LocalClass):
            return (Record(callee, node, where),)
        if isinstance(callee, Partial):
            return (Made(node, where, self.target(callee)),)
        if isinstance(callee, Ref):
            special = builtin_calls.evaluate(self, callee.name, node, where)
            return special if special is not None else (Made(node, where, callee.name),)
        if isinstance(callee, Method):
            special = builtin_calls.method(self, callee, node, where)
            if special is not None:
                return special
            if callee.attribute in _SAME_OBJECT and isinstance(callee.receiver, (Made, Record)):
                return (callee.receiver,)
            return (Made(node, where, self.target(callee), callee.receiver),)
        return NOTHING

    def target(self, value: Value) -> str:
        """The dotted name of what is called; `().` stands for the result of a call."""
        if isinstance(value, Ref):
            return value.name
        if isinstance(value, Method):
            return f"{self.target(value.receiver)}().{value.attribute}"
        if isinstance(value, Made):
            return value.target
        if isinstance(value, Partial):
            return self.target(value.target)
        return ""

    # --- attributes -----------------------------------------------------------------------

    def attribute(self, value: Value, node: cst.Attribute) -> Values:
        """`value.attribute`."""
        name = node.attr.value
        if isinstance(value, Ref):
            return (Ref(f"{value.name}.{name}"),)
        if isinstance(value, Namespace):
            return self.option(name)
        if isinstance(value, LocalClass):
            return self.class_attribute(value, name)
        if isinstance(value, Record):
            return self.field(value, name)
        if isinstance(value, Member):
            return (Const(value.value if name == "value" else value.name, node, Via.RESOLVED),)
        if isinstance(value, Table) and name in ("__dict__",):
            return (value,)
        if isinstance(value, Partial):
            return NOTHING
        if isinstance(value, Made):
            assigned = self.assigned(value.call).get(name)
            if assigned and name not in _SAME_OBJECT:
                return join(*(self.value(a.value, self.where(a.place)) for a in assigned))
        return (Method(value, name),)

    def option(self, name: str) -> Values:
        """The default of a command-line option, by the name it is parsed to."""
        if self._options is None:
            self._options = {}
            builtin_calls.collect_options(self, self._options)
        found = self._options.get(name)
        return join(*found) if found else NOTHING

    def class_attribute(self, owner: LocalClass, name: str) -> Values:
        """What a class of this file gives under a name: enum member, default or method."""
        scope = self.program.scopes[owner.node]
        binding = next(iter(reversed(scope.bindings.get(name, ()))), None)
        if binding is None:
            for base in owner.node.bases:
                for value in self.value(base.value, owner.where):
                    if isinstance(value, LocalClass) and value.node is not owner.node:
                        return self.class_attribute(value, name)
            return NOTHING
        context = Where(binding.frame, binding.order, None, owner.where.depth)
        if binding.kind == "def" and isinstance(binding.value, cst.FunctionDef):
            return (Local(binding.value, context, owner),)
        if binding.kind != "assign":
            return NOTHING
        assert isinstance(binding.value, cst.BaseExpression)
        values = builtin_calls.field_default(self, binding.value, context) or NOTHING
        if self.is_enum(owner):
            return tuple(
                Member(owner.node, name, v.value) if isinstance(v, Const) else v for v in values
            )
        return values

    def is_enum(self, owner: LocalClass) -> bool:
        """Whether a class of this file is an enumeration."""
        return any(
            dotted(base.value).rpartition(".")[2] in ("Enum", "StrEnum", "IntEnum", "Flag")
            for base in owner.node.bases
        )

    def fields(self, owner: LocalClass) -> dict[str, Binding]:
        """The assigned names of a class and its bases in this file."""
        found: dict[str, Binding] = {}
        for base in owner.node.bases:
            for value in self.value(base.value, owner.where):
                if isinstance(value, LocalClass) and value.node is not owner.node:
                    found.update(self.fields(value))
        for name, bindings in self.program.scopes[owner.node].bindings.items():
            if bindings[-1].kind == "assign":
                found[name] = bindings[-1]
        return found

    def field(self, record: Record, name: str) -> Values:
        """An attribute of an instance of a class of this file."""
        assigned = [
            a
            for a in self.assigned(record.call or record.made_of.node).get(name, ())
            if self.live(a.place.frame) is not False
        ]
        if not assigned:
            assigned = [
                a
                for a in self.assigned(record.made_of.node).get(name, ())
                if self.live(a.place.frame) is not False
            ]
        if assigned:
            return join(*(self.value(a.value, self.where(a.place)) for a in assigned))
        if record.call is not None:
            for argument in record.call.args:
                if argument.keyword is not None and argument.keyword.value == name:
                    return self.value(argument.value, record.where)
        found = self.class_attribute(record.made_of, name)
        owned = tuple(Local(v.node, v.where, record) if isinstance(v, Local) else v for v in found)
        return tuple(_with_via(v, Via.DEFAULT) for v in owned)

    def assigned(self, maker: cst.CSTNode) -> dict[str, list[Assignment]]:
        """Attributes given later to the object that a call made (or to a class's self)."""
        if self._attributes is None:
            self._attributes = {}
            for assignment in self.program.attributes:
                if not isinstance(assignment.key, str):
                    continue
                for value in self.value(assignment.base, self.where(assignment.place)):
                    owner: cst.CSTNode | None = None
                    if isinstance(value, Made):
                        owner = value.call
                    elif isinstance(value, Record):
                        owner = value.call or value.made_of.node
                    if owner is not None:
                        names = self._attributes.setdefault(id(owner), {})
                        names.setdefault(assignment.key, []).append(assignment)
        return self._attributes.get(id(maker), {})

    def _item_index(self) -> dict[int, list[tuple[Assignment, Where]]]:
        if self._items is None:
            self._items = {}
            changes = [(a, self.where(a.place)) for a in self.program.items]
            changes += builtin_calls.updates(self)
            for assignment, context in changes:
                for value in self.value(assignment.base, context):
                    if isinstance(value, Table):
                        self._items.setdefault(id(value.node), []).append((assignment, context))
        return self._items


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
_SURENESS = list(Via)


def _via(value: Value) -> Via:
    return value.via if isinstance(value, (Const, Items)) else Via.RESOLVED


def _with_via(value: Value, via: Via) -> Value:
    if isinstance(value, Const):
        return Const(value.value, value.node, max(via, value.via, key=_SURENESS.index))
    return value


def _elements(value: Value) -> Values:
    return join(*value.items) if isinstance(value, Items) else NOTHING


def _singleton(node: cst.Name) -> object:
    return {"True": True, "False": False, "None": None}.get(node.value)


def _is_static(function: cst.CSTNode) -> bool:
    return isinstance(function, cst.FunctionDef) and any(
        dotted(d.decorator) == "staticmethod" for d in function.decorators
    )


def _same_function(one: Frame, other: Frame) -> bool:
    def innermost(frame: Frame) -> cst.CSTNode | None:
        return next((f.node for f in frame.chain() if f.kind in ("function", "class")), None)

    return innermost(one) is innermost(other)


def _exclusive(frame: Frame, around: set[Frame]) -> bool:
    """Whether a place lies in the branch that the reading point's own branch excludes."""
    for part in frame.chain():
        if part.kind not in ("if", "case") or part in around:
            continue
        for other in around:
            if other.node is part.node and other.kind == part.kind and other.parent is part.parent:
                return other.truth is not part.truth or other.case is not part.case
    return False


def same(left: Values, right: Values) -> bool | None:
    """Whether two values are equal in every combination; None when that is open."""
    verdicts: set[bool] = set()
    for one in left:
        for two in right:
            if isinstance(one, (Unknown, Method)) or isinstance(two, (Unknown, Method)):
                return None
            verdicts.add(_equal(one, two))
    return verdicts.pop() if len(verdicts) == 1 else None


def _equal(one: Value, two: Value) -> bool:
    if isinstance(one, Member) and isinstance(two, Member):
        return one.made_of is two.made_of and one.name == two.name
    if isinstance(one, Ref) and isinstance(two, Ref):
        return one.name == two.name
    if isinstance(one, (Const, Member)) and isinstance(two, (Const, Member)):
        return plain(one) == plain(two)
    return one is two


def _contains(holder: Values, wanted: Values) -> bool | None:
    if len(holder) != 1:
        return None
    box = holder[0]
    if isinstance(box, Const) and isinstance(box.value, str):
        texts = [plain(v) for v in wanted]
        if not all(isinstance(t, str) for t in texts):
            return None
        found = {str(t) in box.value for t in texts}
        return found.pop() if len(found) == 1 else None
    if isinstance(box, Table) and not box.open:
        known = [plain(v) for v in wanted if isinstance(v, (Const, Member))]
        found = {key in box.entries for key in known}
        return found.pop() if len(found) == 1 and len(known) == len(wanted) else None
    if not isinstance(box, Items):
        return None
    verdicts = set()
    for value in wanted:
        hits = [same((value,), item) for item in box.items]
        if None in hits and True not in hits:
            return None
        verdicts.add(True in hits)
    return verdicts.pop() if len(verdicts) == 1 else None
