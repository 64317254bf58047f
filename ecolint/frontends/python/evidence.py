"""What is switched on elsewhere in a program: the compiler, the KV cache.

A finding about a model depends on statements about the same model further down, so these
are gathered first and asked by name.
"""

from dataclasses import dataclass, field

import libcst as cst

from ecolint.facts import Setting, State, Via
from ecolint.frontends.python.declared import argument
from ecolint.frontends.python.program import Assignment, Place, Program, dotted
from ecolint.frontends.python.resolve import Resolver
from ecolint.frontends.python.values import Const, Made, plain

_OTHER_COMPILERS = ("jit.trace", "jit.script", "export.export", "aoti", "tensorrt", "ORTModel")
_NOT_OURS = frozenset({"re", "regex", "sre_compile", "builtins", "jinja2", "env", "pattern"})


@dataclass(slots=True)
class Compiled:
    """Every place that compiles something: the root name of what, and whether it is reached."""

    roots: list[tuple[str, bool | None]] = field(default_factory=list)

    def setting(self, root: str) -> "Setting[bool]":
        """Whether the thing of that name is compiled, as far as the file tells."""
        if not self.roots:
            return Setting(State.KNOWN, False, None, Via.IMPLIED, "torch.compile")
        alive = [live for name, live in self.roots if name in ("", root) or not root]
        alive = alive or [None]
        if True in alive:
            return Setting(State.KNOWN, True, None, Via.RESOLVED, "torch.compile")
        if None in alive:
            return Setting(State.UNKNOWN, None, None, Via.RESOLVED, "torch.compile")
        return Setting(State.KNOWN, False, None, Via.DEFAULT, "torch.compile")


def root_name(node: cst.BaseExpression | None) -> str:
    """`lm` of `lm.model.forward`; `self.lm` of `self.lm.forward`."""
    name = dotted(node)
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "self" else parts[0]


def is_discarded(place: Place) -> bool:
    """Whether a call stands alone as a statement, its result thrown away."""
    statement = place.statement
    return isinstance(statement, cst.SimpleStatementLine) and any(
        isinstance(part, cst.Expr) and part.value is place.node for part in statement.body
    )


def is_disabled(resolver: Resolver, call: cst.Call, place: Place) -> bool:
    """Whether `torch.compile(…)` is told not to compile."""
    where = resolver.where(place)
    backend, disable = argument(call, "backend"), argument(call, "disable")
    if backend is not None:
        values = {plain(v) for v in resolver.value(backend.value, where)}
        if values <= {"eager", "aot_eager"}:
            return True
    return disable is not None and all(
        isinstance(v, Const) and v.value is True for v in resolver.value(disable.value, where)
    )


def compiled(resolver: Resolver) -> Compiled:
    """Everything in the program that gets compiled."""
    found = Compiled()
    for place in resolver.program.calls:
        call = place.node
        assert isinstance(call, cst.Call)
        name = dotted(call.func)
        tail = call.func.attr.value if isinstance(call.func, cst.Attribute) else name
        live = resolver.branches.live(place.frame)
        if name == "torch.compile" or (tail == "compile" and _is_torch(resolver, call, place)):
            if is_discarded(place) or is_disabled(resolver, call, place):
                continue
            target = argument(call, "model", 0)
            found.roots.append((root_name(target.value if target else None), live))
        elif tail in ("compile", "compile_repeated_blocks") and name.split(".")[0] not in _NOT_OURS:
            if isinstance(call.func, cst.Attribute):
                found.roots.append((root_name(call.func.value), live))
        elif any(mark in name for mark in _OTHER_COMPILERS):
            found.roots.append(("", live))
        else:
            _cache_argument(resolver, call, place, found)
    _decorators(resolver, found)
    for assignment in resolver.program.attributes:
        if assignment.key == "cache_implementation" and _is_static(resolver, assignment):
            found.roots.append(
                (root_name(assignment.base), resolver.branches.live(assignment.place.frame))
            )
    return found


def _is_torch(resolver: Resolver, call: cst.Call, place: Place) -> bool:
    values = resolver.value(call.func, resolver.where(place))
    return any(resolver.functions.target(v) == "torch.compile" for v in values)


def _cache_argument(resolver: Resolver, call: cst.Call, place: Place, found: Compiled) -> None:
    for keyword in ("cache_implementation", "torch_compile", "enable_torch_compile"):
        given = argument(call, keyword)
        if given is None:
            continue
        values = {plain(v) for v in resolver.value(given.value, resolver.where(place))}
        if values & {"static", "hybrid", "sliding_window", "offloaded_static", True}:
            found.roots.append(("", resolver.branches.live(place.frame)))


def _decorators(resolver: Resolver, found: Compiled) -> None:
    for function, frame in resolver.program.functions.items():
        for decorator in getattr(function, "decorators", ()):
            if "torch.compile" in resolver.program.source(decorator.decorator):
                found.roots.append(("", resolver.branches.live(frame)))


def _is_static(resolver: Resolver, assignment: Assignment) -> bool:
    values = resolver.value(assignment.value, resolver.where(assignment.place))
    return any("static" in text for v in values if isinstance(text := plain(v), str))


_ASSISTANTS = frozenset({"assistant_model", "draft_model", "drafter", "prompt_lookup_model"})


def assistants(program: Program) -> frozenset[str]:
    """The names of models that only guess ahead for another one."""
    return frozenset(
        dotted(arg.value)
        for place in program.calls
        if isinstance(place.node, cst.Call)
        for arg in place.node.args
        if arg.keyword is not None and arg.keyword.value in _ASSISTANTS
    )


def is_model(resolver: Resolver, node: cst.BaseExpression, place: Place) -> bool:
    """Whether an expression is a model that this program loads."""
    return any(
        isinstance(v, Made) and v.target.endswith("from_pretrained")
        for v in resolver.value(node, resolver.where(place))
    )
