"""The options that a call is given: by keyword, position, splat or later assignment."""

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from ecolint.diagnostics import Span
from ecolint.facts import Setting, State, Via
from ecolint.frontends.python import builtin_calls
from ecolint.frontends.python.program import Program
from ecolint.frontends.python.resolve import Resolver
from ecolint.frontends.python.values import (
    Const,
    Items,
    Made,
    Member,
    Record,
    Ref,
    Table,
    Unknown,
    Values,
    Where,
    join,
    plain,
)


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """One option as given: its values, the nodes that spell it, and how it got here.

    `holder` is the node to edit: an `Arg`, a `DictElement`, or the target of an assignment.
    """

    values: Values
    value: cst.BaseExpression
    key: cst.CSTNode | None
    holder: cst.CSTNode


@dataclass(slots=True, eq=False)
class Options:
    """All options of one call; `open` tells that a splat may hold others."""

    given: dict[str, Given]
    open: bool = False

    def get(self, *names: str) -> Given | None:
        """The first of these options that is given."""
        return next((self.given[name] for name in names if name in self.given), None)


def of_call(
    resolver: Resolver,
    call: cst.Call,
    where: Where,
    positional: Sequence[str] = (),
    skip: int = 0,
) -> Options:
    """The options of a call; `positional` names the leading parameters after `skip` others."""
    options = Options({})
    position = -skip
    for arg in call.args:
        if arg.star == "**":
            for value in resolver.value(arg.value, where):
                _splat(resolver, value, where, options)
        elif arg.star:
            options.open = True
            position = len(positional)
        elif arg.keyword is not None:
            options.given[arg.keyword.value] = Given(
                resolver.value(arg.value, where), arg.value, arg.keyword, arg
            )
        else:
            if 0 <= position < len(positional):
                options.given[positional[position]] = Given(
                    resolver.value(arg.value, where), arg.value, None, arg
                )
            position += 1
    return options


def later(resolver: Resolver, call: cst.Call, options: Options) -> None:
    """Add what is assigned to attributes of the object that the call made."""
    for name, assignments in resolver.objects.assigned(call).items():
        for assignment in assignments:
            alive = resolver.branches.live(assignment.place.frame)
            if alive is False:
                continue
            where = resolver.where(assignment.place)
            values = resolver.value(assignment.value, where)
            if alive is None and name in options.given:
                values = join(options.given[name].values, values)
            node = assignment.place.node
            options.given[name] = Given(values, assignment.value, node, node)


def of_table(resolver: Resolver, table: Table, where: Where) -> Options:
    """The entries of a dict with string keys."""
    options = Options({}, table.open)
    for key, entries in resolver.objects.entries(table, where).items():
        if isinstance(key, str):
            values = join(*(resolver.value(e.value, e.where) for e in entries))
            last = entries[-1]
            options.given[key] = Given(values, last.value, last.key_node, last.holder)
    return options


def nested(resolver: Resolver, options: Options, name: str, where: Where) -> Options:
    """The options inside a dict that is itself an option (`model_kwargs={…}`)."""
    given = options.given.get(name)
    found = Options({})
    if given is not None:
        for value in given.values:
            _splat(resolver, value, where, found)
    return found


def _splat(resolver: Resolver, value: object, where: Where, options: Options) -> None:
    table = value if isinstance(value, Table) else None
    if isinstance(value, Record):
        table = builtin_calls.fields_table(resolver, value, where)
    if table is None:
        # `**{}` or `**None or {}` adds nothing; anything else may add something.
        options.open |= not (isinstance(value, Const) and not value.value)
        return
    inner = of_table(resolver, table, where)
    options.given.update(inner.given)
    options.open |= inner.open


def setting(program: Program, name: str, given: Given | None) -> "Setting[object]":
    """An option as a setting: known only when all alternatives agree on what they are."""
    if given is None:
        return Setting(name=name)
    span, key, literal = spans(program, given)
    usable = [scalar(v) for v in given.values]
    if not usable or any(v is None for v in usable):
        return Setting(State.UNKNOWN, None, span, Via.RESOLVED, name, key=key, literal=literal)
    values = [found.value for found in usable if found is not None]
    if len(values) > 1 and any(isinstance(v, bool) or v is None for v in values):
        return Setting(State.UNKNOWN, None, span, Via.RESOLVED, name, key=key, literal=literal)
    first = usable[0]
    assert first is not None
    via = first.via
    if via is Via.LITERAL and first.node is not given.value:
        via = Via.RESOLVED
    return Setting(State.KNOWN, values[0], span, via, name, tuple(values[1:]), key, literal)


def scalar(value: object) -> Const | None:
    """A value as a constant: enum members by value, `torch.float16` by its last name."""
    if isinstance(value, Const):
        return value
    if isinstance(value, Member):
        return Const(value.value, None, Via.RESOLVED)
    if isinstance(value, Ref):
        return Const(value.name.rpartition(".")[2], None, Via.RESOLVED)
    if isinstance(value, Items):
        inner = [scalar(v) for item in value.items for v in item]
        return Const([v.value if v is not None else None for v in inner], value.node, Via.RESOLVED)
    if isinstance(value, Table):
        pairs = {
            str(k): next((plain(x) for x in _literals(e.value)), None)
            for k, entries in value.entries.items()
            for e in entries
        }
        return Const(pairs, value.node, Via.RESOLVED)
    if isinstance(value, Made) and value.target.rpartition(".")[2] in ("Path", "str"):
        return None
    return None


def _literals(node: cst.BaseExpression) -> list[Const]:
    if isinstance(node, (cst.SimpleString, cst.Integer, cst.Float)):
        return [Const(node.evaluated_value, node)]
    if isinstance(node, cst.Name) and node.value in ("True", "False"):
        return [Const(node.value == "True", node)]
    return []


def spans(program: Program, given: Given) -> tuple[Span, Span | None, Span | None]:
    """Where an option stands: name to value, the name alone, the value alone."""
    view = program.view
    value_start, value_end = program.span(given.value)
    literal = view.span(value_start, value_end)
    if given.key is None:
        return literal, None, literal
    start, end = program.span(given.key)
    key = view.span(start, end)
    if start > value_start or value_end < end:
        return literal, key, literal
    return view.span(start, value_end), key, literal


def is_open_value(given: Given | None) -> bool:
    """Whether an option is given something that the file does not tell."""
    return given is not None and any(isinstance(v, Unknown) for v in given.values)
