"""Attributes, items and fields: what was put into an object, a class or a dict."""

from typing import TYPE_CHECKING

import libcst as cst

from ecolint.facts import Via
from ecolint.frontends.python import builtin_calls, declared
from ecolint.frontends.python.functions import SAME_OBJECT
from ecolint.frontends.python.program import Assignment, Binding, dotted, same_function
from ecolint.frontends.python.values import (
    NOTHING,
    Const,
    Entry,
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
    with_via,
)

if TYPE_CHECKING:
    from ecolint.frontends.python.resolve import Resolver


class Objects:
    """Looks into instances, classes, tables and parsed arguments."""

    def __init__(self, resolver: "Resolver") -> None:
        """Remember the resolver; indexes are built when first needed."""
        self.resolver = resolver
        self._options: dict[str, list[Values]] | None = None
        self._attributes: dict[int, dict[str, list[Assignment]]] | None = None
        self._items: dict[int, list[tuple[Assignment, Where]]] | None = None

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
                    return join(*(self.resolver.value(e.value, e.where) for e in found))
                return fallback
            return NOTHING
        if isinstance(value, LocalClass) and isinstance(key, Const):
            return self.class_attribute(value, str(key.value))
        if isinstance(value, Namespace):
            return self.option(str(plain(key)))
        if isinstance(value, Ref):
            return NOTHING
        return fallback if fallback is not NOTHING else NOTHING

    def entries(self, table: Table, where: Where) -> dict[object, list[Entry]]:
        """A table's entries with what was assigned to them before the reading point."""
        merged = dict(table.entries)
        for assignment, context in self._item_index().get(id(table.node), ()):
            late = same_function(assignment.place.frame, where.frame)
            if late and assignment.place.order > where.order:
                continue
            alive = self.resolver.branches.live(assignment.place.frame)
            if alive is False or (
                alive is None and self.resolver.branches.opted(assignment.place.frame)
            ):
                continue
            keys = (
                (Const(assignment.key),)
                if isinstance(assignment.key, str)
                else self.resolver.value(assignment.key, context)
            )
            for key in keys:
                if assignment.removed:
                    if alive is True and len(keys) == 1:
                        merged.pop(plain(key), None)
                elif isinstance(key, (Const, Member)):
                    entry = Entry(
                        assignment.value, context, assignment.place.node, assignment.place.node
                    )
                    if alive is None and plain(key) in merged:
                        merged[plain(key)] = [*merged[plain(key)], entry]
                    else:
                        merged[plain(key)] = [entry]
        return merged

    def attribute(self, value: Value, node: cst.Attribute) -> Values:
        """`value.attribute`."""
        name = node.attr.value
        if isinstance(value, Ref):
            if value.name.endswith("flags.FLAGS"):  # absl
                return self.option(name)
            return (Ref(f"{value.name}.{name}"),)
        if isinstance(value, Namespace):
            return self.option(name)
        if isinstance(value, LocalClass):
            return self._of_class(value, name)
        if isinstance(value, Record):
            return self.field(value, name)
        if isinstance(value, Member):
            return (Const(value.value if name == "value" else value.name, node, Via.RESOLVED),)
        if isinstance(value, Table) and name == "__dict__":
            return (value,)
        if isinstance(value, Table) and name in value.entries:
            return join(*(self.resolver.value(e.value, e.where) for e in value.entries[name]))
        if isinstance(value, Partial):
            return NOTHING
        if isinstance(value, Made):
            assigned = self.assigned(value.call).get(name)
            if assigned and name not in SAME_OBJECT:
                return join(
                    *(self.resolver.value(a.value, self.resolver.where(a.place)) for a in assigned)
                )
        return (Method(value, name),)

    def _latest(self, assigned: list[Assignment]) -> Values:
        """What any of several assignments may have left."""
        resolver = self.resolver
        return join(*(resolver.value(a.value, resolver.where(a.place)) for a in assigned))

    def _of_class(self, owner: LocalClass, name: str) -> Values:
        """An attribute of a class, as its body or a later `Class.name = value` gives it."""
        inside = self.class_attribute(owner, name)
        later = self.assigned(owner.node.name).get(name)
        live = self.resolver.branches.live(later[-1].place.frame) if later else False
        if not later or live is False:
            return inside
        last = self.resolver.value(later[-1].value, self.resolver.where(later[-1].place))
        return last if live else join(inside, last)

    def option(self, name: str) -> Values:
        """The default of a command-line option, by the name it is parsed to."""
        if self._options is None:
            self._options = {}
            declared.collect_options(self.resolver, self._options)
        found = self._options.get(name)
        return join(*found) if found else NOTHING

    def class_attribute(self, owner: LocalClass, name: str) -> Values:
        """What a class of this file gives under a name: enum member, default or method."""
        scope = self.resolver.program.scopes[owner.node]
        binding = next(iter(reversed(scope.bindings.get(name, ()))), None)
        if binding is None:
            for base in owner.node.bases:
                for value in self.resolver.value(base.value, owner.where):
                    if isinstance(value, LocalClass) and value.node is not owner.node:
                        return self.class_attribute(value, name)
            return NOTHING
        context = Where(binding.frame, binding.order, None, owner.where.depth)
        if binding.kind == "def" and isinstance(binding.value, cst.FunctionDef):
            method = Local(binding.value, context, owner)
            if declared.is_property(binding.value):
                return self.resolver.functions.returned(method, cst.Call(cst.Name("x")), context)
            return (method,)
        if binding.kind != "assign":
            return NOTHING
        assert isinstance(binding.value, cst.BaseExpression)
        values = declared.field_default(self.resolver, binding.value, context) or NOTHING
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
            for value in self.resolver.value(base.value, owner.where):
                if isinstance(value, LocalClass) and value.node is not owner.node:
                    found.update(self.fields(value))
        for name, bindings in self.resolver.program.scopes[owner.node].bindings.items():
            if bindings[-1].kind == "assign":
                found[name] = bindings[-1]
        return found

    def field(self, record: Record, name: str) -> Values:
        """An attribute of an instance of a class of this file."""
        assigned = [
            a
            for a in self.assigned(record.call or record.made_of.node).get(name, ())
            if self.resolver.branches.live(a.place.frame) is not False
        ]
        if not assigned:
            assigned = [
                a
                for a in self.assigned(record.made_of.node).get(name, ())
                if self.resolver.branches.live(a.place.frame) is not False
            ]
        if assigned:
            return join(
                *(self.resolver.value(a.value, self.resolver.where(a.place)) for a in assigned)
            )
        if record.call is not None:
            given = self._given(record.call, record.made_of, name)
            if given is not None:
                return self.resolver.value(given, record.where)
        found = self.class_attribute(record.made_of, name)
        if found is NOTHING and name in builtin_calls.DUMPS:
            return (Method(record, name),)
        owned = tuple(Local(v.node, v.where, record) if isinstance(v, Local) else v for v in found)
        return tuple(with_via(v, Via.DEFAULT) for v in owned)

    def _given(self, call: cst.Call, owner: LocalClass, name: str) -> cst.BaseExpression | None:
        """What a field is given when an instance is made, by keyword or by its place."""
        order = self._field_order(owner) if declared.holds_settings(owner.node) else []
        for index, argument in enumerate(call.args):
            if argument.star:
                return None
            if argument.keyword is not None and argument.keyword.value == name:
                return argument.value
            if argument.keyword is None and order[index : index + 1] == [name]:
                return argument.value
        return None

    def _field_order(self, owner: LocalClass) -> list[str]:
        """The fields of a record class in the order in which it takes them."""
        names: dict[str, None] = {}
        for base in owner.node.bases:
            for value in self.resolver.value(base.value, owner.where):
                if isinstance(value, LocalClass) and value.node is not owner.node:
                    names.update(dict.fromkeys(self._field_order(value)))
        for name, bindings in self.resolver.program.scopes[owner.node].bindings.items():
            if bindings[-1].kind in ("assign", "opaque"):
                names[name] = None
        return list(names)

    def assigned(self, maker: cst.CSTNode) -> dict[str, list[Assignment]]:
        """Attributes given later to the object that a call made (or to a class's self)."""
        if self._attributes is None:
            self._attributes = {}
            for assignment in self.resolver.program.attributes:
                if not isinstance(assignment.key, str):
                    continue
                for value in self.resolver.value(
                    assignment.base, self.resolver.where(assignment.place)
                ):
                    owner: cst.CSTNode | None = None
                    if isinstance(value, Made):
                        owner = value.call
                    elif isinstance(value, Record):
                        owner = value.call or value.made_of.node
                    elif isinstance(value, LocalClass):
                        owner = value.node.name
                    if owner is not None:
                        names = self._attributes.setdefault(id(owner), {})
                        names.setdefault(assignment.key, []).append(assignment)
        return self._attributes.get(id(maker), {})

    def _item_index(self) -> dict[int, list[tuple[Assignment, Where]]]:
        if self._items is None:
            self._items = {}
            changes = [(a, self.resolver.where(a.place)) for a in self.resolver.program.items]
            changes += builtin_calls.updates(self.resolver)
            for assignment, context in changes:
                for value in self.resolver.value(assignment.base, context):
                    if isinstance(value, Table):
                        self._items.setdefault(id(value.node), []).append((assignment, context))
        return self._items
