"""What the functions of a file are given and give back."""

from typing import TYPE_CHECKING

import libcst as cst

from ecolint.facts import Via
from ecolint.frontends.python import builtin_calls, declared
from ecolint.frontends.python.program import Binding, Place, all_params, dotted
from ecolint.frontends.python.values import (
    NOTHING,
    Const,
    Environment,
    Local,
    LocalClass,
    Made,
    Method,
    Partial,
    Record,
    Ref,
    Table,
    Value,
    Values,
    Where,
    join,
    with_via,
)

if TYPE_CHECKING:
    from ecolint.frontends.python.resolve import Resolver

MAX_DEPTH = 24

# A model keeps being the same model through these.
SAME_OBJECT = frozenset(
    {
        "to", "cuda", "cpu", "eval", "half", "bfloat16", "float", "requires_grad_", "compile",
        "train", "merge_and_unload", "merge_adapter", "set_adapter", "to_bettertransformer",
        "tie_weights", "share_memory",
    }
)  # fmt: skip


class Functions:
    """Binds parameters and follows calls into the file's own functions."""

    def __init__(self, resolver: "Resolver") -> None:
        """Remember the resolver; indexes are built when first needed."""
        self.resolver = resolver
        self._callers: dict[str, list[Place]] | None = None
        self._calling: set[object] = set()

    def _param(self, binding: Binding, where: Where) -> Values:
        function = binding.frame.node
        env = where.env
        while env is not None:
            if env.function is function:
                return env.arguments.get(binding.name, NOTHING)
            env = env.outer
        if not isinstance(function, cst.FunctionDef):
            return NOTHING
        owner = self.resolver.program.owners.get(function)
        params = all_params(function.params)
        if owner is not None and params and params[0].name.value == binding.name:
            place = self.resolver.program.decorated[owner]
            return (
                Record(
                    LocalClass(owner, self.resolver.where(place)), None, self.resolver.where(place)
                ),
            )
        param = binding.value
        assert isinstance(param, cst.Param)
        called = function.name.value
        if owner is not None and called == "__init__":
            called = owner.name.value
        key = (function, binding.name)
        if key in self._calling:
            return NOTHING
        self._calling.add(key)
        try:
            passed = [self._passed(call, function, binding.name) for call in self.callers(called)]
        finally:
            self._calling.discard(key)
        if passed:
            return join(*passed)
        return self._param_default(function, param)

    def _param_default(self, function: cst.FunctionDef, param: cst.Param) -> Values:
        place = self.resolver.program.decorated[function]
        outside = Where(place.frame, place.order)
        chosen = declared.option_default(self.resolver, function, param.name.value, outside)
        if chosen is None and param.default is not None:
            chosen = declared.field_default(self.resolver, param.default, outside)
        if chosen is None:
            return self._settings(param, outside)
        return tuple(with_via(v, Via.DEFAULT) for v in chosen)

    def _settings(self, param: cst.Param, where: Where) -> Values:
        """An instance with its defaults, where a parameter is annotated as a class of settings."""
        if param.annotation is None:
            return NOTHING
        made = self.resolver.value(param.annotation.annotation, where)
        classes = [v for v in made if isinstance(v, LocalClass)]
        if len(classes) < len(made) or not all(declared.holds_settings(v.node) for v in classes):
            return NOTHING
        return tuple(Record(v, None, where) for v in classes)

    def callers(self, name: str) -> list[Place]:
        """The calls in this file of something with that name."""
        if self._callers is None:
            self._callers = {}
            for place in self.resolver.program.calls:
                assert isinstance(place.node, cst.Call)
                tail = dotted(place.node.func).rpartition(".")[2]
                if tail:
                    self._callers.setdefault(tail, []).append(place)
        return self._callers.get(name, [])

    def _passed(self, place: Place, function: cst.FunctionDef, name: str) -> Values:
        assert isinstance(place.node, cst.Call)
        arguments = self.bind(function, place.node, self.resolver.where(place))
        return arguments.get(name, NOTHING)

    def bind(self, function: cst.CSTNode, call: cst.Call, where: Where) -> dict[str, Values]:
        """The values of a function's parameters in one call of it, defaults included."""
        assert isinstance(function, (cst.FunctionDef, cst.Lambda))
        params = all_params(function.params)
        if function in self.resolver.program.owners and not _is_static(function):
            params = params[1:]
        names = [param.name.value for param in params]
        values: dict[str, Values] = {}
        position = 0
        vague = False
        for argument in call.args:
            if argument.star == "**":
                for value in self.resolver.value(argument.value, where):
                    if isinstance(value, Table):
                        for key, found in self.resolver.objects.entries(value, where).items():
                            values[str(key)] = join(
                                *(self.resolver.value(e.value, e.where) for e in found)
                            )
                    vague |= not isinstance(value, Table)
            elif argument.star:
                vague = True
            elif argument.keyword is not None:
                values[argument.keyword.value] = self.resolver.value(argument.value, where)
            elif position < len(names):
                values[names[position]] = self.resolver.value(argument.value, where)
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
            for place in self.resolver.program.returns.get(local.node, ()):
                if self.resolver.branches.live(place.frame, env) is False:
                    continue
                found.append(
                    self.resolver.value(
                        place.node, Where(place.frame, place.order, env, where.depth + 1)
                    )
                )
            return join(*found) if found else (Const(None),)
        finally:
            self._calling.discard(local.node)

    def result(self, callee: Value, node: cst.Call, where: Where) -> Values:
        """What calling a value gives back."""
        if isinstance(callee, Local):
            return self.returned(callee, node, where)
        if isinstance(callee, LocalClass):
            return (Record(callee, node, where),)
        if isinstance(callee, Partial):
            return (Made(node, where, self.target(callee)),)
        if isinstance(callee, Ref):
            special = builtin_calls.evaluate(self.resolver, callee.name, node, where)
            return special if special is not None else (Made(node, where, callee.name),)
        if isinstance(callee, Method):
            special = builtin_calls.method(self.resolver, callee, node, where)
            if special is not None:
                return special
            if callee.attribute in SAME_OBJECT and isinstance(callee.receiver, (Made, Record)):
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


def _is_static(function: cst.CSTNode) -> bool:
    return isinstance(function, cst.FunctionDef) and any(
        dotted(d.decorator) == "staticmethod" for d in function.decorators
    )
