"""What an expression may be worth, as far as the file tells.

Values are alternatives: a name bound in two branches is worth both. `Unknown` is one of
them, so "true or unknown" never passes for true.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

import libcst as cst

from ecolint.facts import Via
from ecolint.frontends.python.program import Frame, Function


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Environment:
    """Arguments of the calls that the resolver is inside of: function → parameter → values."""

    function: Function
    arguments: "dict[str, Values]"
    outer: "Environment | None" = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Where:
    """Where an expression is read: what encloses it, and what came before it."""

    frame: Frame
    order: int
    env: Environment | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Unknown:
    """A value that the file does not tell."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Const:
    """A scalar, where it is written, and how it was found."""

    value: object
    node: cst.CSTNode | None = None
    via: Via = Via.LITERAL


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Items:
    """A list, tuple or set with the values of each element."""

    items: "tuple[Values, ...]"
    node: cst.CSTNode | None = None
    via: Via = Via.LITERAL


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Entry:
    """One key of a table: its value, and the nodes that spell it."""

    value: cst.BaseExpression
    where: Where
    key_node: cst.CSTNode | None
    holder: cst.CSTNode


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """A dict: entries known by key; `open` when it may hold others."""

    node: cst.CSTNode
    entries: "dict[object, list[Entry]]" = field(default_factory=dict)
    open: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ref:
    """Something from outside the file, by its dotted name; `?.x` where nothing imports x."""

    name: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Made:
    """What a call of something outside the file returned; `target` names the callee."""

    call: cst.Call
    where: Where
    target: str
    receiver: "Value | None" = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Method:
    """An attribute of a made object or of an unknown one."""

    receiver: "Value"
    attribute: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Local:
    """A function of this file; `owner` is the instance it was taken from."""

    node: Function
    where: Where
    owner: "Value | None" = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LocalClass:
    """A class of this file."""

    node: cst.ClassDef
    where: Where


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Record:
    """An instance of a class of this file; `call` made it, None for `self`."""

    made_of: LocalClass
    call: cst.Call | None
    where: Where


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Partial:
    """functools.partial of something."""

    target: "Value"
    call: cst.Call
    where: Where


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Namespace:
    """Parsed command-line arguments; their defaults are what runs when nobody says otherwise."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Member:
    """A member of an enum of this file."""

    made_of: cst.ClassDef
    name: str
    value: object


Value: TypeAlias = (
    Unknown
    | Const
    | Items
    | Table
    | Ref
    | Made
    | Method
    | Local
    | LocalClass
    | Record
    | Partial
    | Namespace
    | Member
)
Values: TypeAlias = tuple[Value, ...]

UNKNOWN = Unknown()
NOTHING: Values = (UNKNOWN,)
MAX_ALTERNATIVES = 12


def truth(value: Value) -> bool | None:
    """Whether a value counts as true; None when that can't be told."""
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Items):
        return bool(value.items)
    if isinstance(value, Table):
        return True if value.entries else (None if value.open else False)
    if isinstance(value, Member):
        return True
    if isinstance(value, (Unknown, Method, Namespace, Ref, Made)):
        return True if isinstance(value, (Namespace, Ref, Made)) else None
    return True


def plain(value: Value) -> object:
    """The Python value of a constant or enum member; the value itself of anything else."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Member):
        return value.value
    return value


def join(*groups: Values) -> Values:
    """All alternatives, equal constants once; unknown when there are too many."""
    seen: list[Value] = []
    keys: set[object] = set()
    for group in groups:
        for value in group:
            key = _key(value)
            if key not in keys:
                keys.add(key)
                seen.append(value)
    if len(seen) > MAX_ALTERNATIVES:
        return NOTHING
    return tuple(seen) or NOTHING


def _key(value: Value) -> object:
    if isinstance(value, Const):
        try:
            hash(value.value)
        except TypeError:
            return id(value)
        return ("const", type(value.value), value.value)
    if isinstance(value, Unknown):
        return "unknown"
    if isinstance(value, Ref):
        return ("ref", value.name)
    if isinstance(value, (Made, Partial)):
        return ("made", id(value.call))
    if isinstance(value, Record):
        return ("record", id(value.call), id(value.made_of.node))
    if isinstance(value, (Local, LocalClass, Table)):
        return ("node", id(value.node))
    if isinstance(value, Member):
        return ("member", id(value.made_of), value.name)
    return id(value)


_SURENESS = list(Via)


def least_sure(*ways: Via) -> Via:
    """The least sure of several ways in which a value was found."""
    return max(ways, key=_SURENESS.index)


def via_of(value: Value) -> Via:
    """How a value was found."""
    return value.via if isinstance(value, (Const, Items)) else Via.RESOLVED


def with_via(value: Value, via: Via) -> Value:
    """A constant found that way at best; anything else as it is."""
    if isinstance(value, Const):
        return Const(value.value, value.node, least_sure(via, value.via))
    return value


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


def contains(holder: Values, wanted: Values) -> bool | None:
    """Whether a value is in a list, table or text; None when that is open."""
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
