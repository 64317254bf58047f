"""What calls of Python and its configuration libraries give back.

The resolver asks here about everything that is neither in the file nor ours to judge:
built-ins, os.environ, argparse, click, typer, dataclasses, pydantic, importlib, functools.
"""

import builtins
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import libcst as cst

from ecolint.facts import Via
from ecolint.frontends.python.program import Assignment, Place, dotted
from ecolint.frontends.python.values import (
    NOTHING,
    Const,
    Entry,
    Items,
    Made,
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
)

if TYPE_CHECKING:
    from ecolint.frontends.python.resolve import Resolver

BUILTINS = frozenset(dir(builtins))

# A condition that mentions one of these is a user's choice of precision, not a fact about
# the machine: what stands behind it runs only for those who ask for it.
CHOICE = re.compile(
    r"8[-_]?bit|4[-_]?bit|int8|int4|\bbits?\b|bits\b|quant|nf4|fp4|fp8|float8|low_?vram|bnb"
    r"|precision|bitsandbytes|load_in|\bq(4|8)\b|torchao|compress",
    re.IGNORECASE,
)

_FIELD_MAKERS = frozenset({"field", "Field", "ib", "attrib", "PrivateAttr", "mapped_column"})
_PARAM_MAKERS = frozenset(
    {"Option", "Argument", "Query", "Form", "Body", "Header", "Cookie", "Path", "Param"}
)
_PARSERS = frozenset(
    {
        "parse_args", "parse_known_args", "parse_intermixed_args", "parse_args_into_dataclasses",
    }
)  # fmt: skip
_FROM_CLASS = frozenset({"tyro.cli", "simple_parsing.parse", "jsonargparse.CLI", "draccus.wrap"})
_TRUE_WORDS = frozenset({"1", "true", "yes", "on", "y", "t"})


def argument(call: cst.Call, keyword: str, position: int | None = None) -> cst.Arg | None:
    """The argument of that keyword, or at that position."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == keyword:
            return arg
    if position is not None and position < len(call.args):
        found = call.args[position]
        before = call.args[: position + 1]
        if all(arg.keyword is None and not arg.star for arg in before):
            return found
    return None


def field_default(resolver: "Resolver", node: cst.BaseExpression, where: Where) -> Values | None:
    """The default that `field(default=…)`, `Field(…)`, `typer.Option(…)` or a literal gives.

    None where the marker gives none (a required field).
    """
    if not isinstance(node, cst.Call):
        return resolver.value(node, where)
    maker = dotted(node.func).rpartition(".")[2]
    if maker in _FIELD_MAKERS:
        chosen = argument(node, "default", 0 if maker in ("Field", "PrivateAttr") else None)
        factory = argument(node, "default_factory")
        if chosen is None and factory is not None:
            made = resolver.value(factory.value, where)
            call = cst.Call(factory.value)
            return join(*(resolver.functions.result(value, call, where) for value in made))
    elif maker in _PARAM_MAKERS:
        chosen = argument(node, "default", 0)
    else:
        return resolver.value(node, where)
    if chosen is None or isinstance(chosen.value, cst.Ellipsis):
        return None
    return resolver.value(chosen.value, where)


def option_default(
    resolver: "Resolver", function: cst.FunctionDef, name: str, where: Where
) -> Values | None:
    """The default that a click decorator gives to a parameter; None where none does."""
    for decorator in function.decorators:
        call = decorator.decorator
        if not isinstance(call, cst.Call):
            continue
        if dotted(call.func).rpartition(".")[2] not in ("option", "argument"):
            continue
        if name in _option_names(resolver, call, where):
            default = argument(call, "default")
            if default is not None:
                return resolver.value(default.value, where)
            flag = argument(call, "is_flag")
            return (Const(False),) if flag is not None else None
    return None


def _option_names(resolver: "Resolver", call: cst.Call, where: Where) -> set[str]:
    """The names under which an option is parsed: flags without dashes, or an explicit dest."""
    names: list[str] = []
    for arg in call.args:
        if arg.keyword is None and not arg.star:
            names.extend(
                value.value
                for value in resolver.value(arg.value, where)
                if isinstance(value, Const) and isinstance(value.value, str)
            )
    dest = argument(call, "dest")
    if dest is not None:
        for value in resolver.value(dest.value, where):
            return {str(plain(value))}
    plain_names = [n for n in names if not n.startswith("-")]
    if plain_names:
        return {n.replace("-", "_") for n in plain_names}
    long = [n for n in names if n.startswith("--")] or names
    found: set[str] = set()
    for name in long:
        found.update(part.lstrip("-").replace("-", "_") for part in name.split("/"))
    return found


def collect_options(resolver: "Resolver", into: dict[str, list[Values]]) -> None:
    """Every option that the file adds to an argument parser, with its default."""
    for place in resolver.program.calls:
        call = place.node
        assert isinstance(call, cst.Call)
        if not isinstance(call.func, cst.Attribute):
            continue
        name = call.func.attr.value
        where = resolver.where(place)
        if name in ("add_argument", "add_option"):
            default = _argument_default(resolver, call, where)
            for option in _option_names(resolver, call, where):
                into.setdefault(option, []).append(default)
        elif name == "set_defaults":
            for arg in call.args:
                if arg.keyword is not None:
                    into[arg.keyword.value] = [resolver.value(arg.value, where)]
        elif name.startswith("DEFINE_"):
            option_arg, default_arg = argument(call, "name", 0), argument(call, "default", 1)
            if option_arg is not None and default_arg is not None:
                for value in resolver.value(option_arg.value, where):
                    into.setdefault(str(plain(value)), []).append(
                        resolver.value(default_arg.value, where)
                    )


def _argument_default(resolver: "Resolver", call: cst.Call, where: Where) -> Values:
    default = argument(call, "default")
    if default is not None:
        values = resolver.value(default.value, where)
        kind = argument(call, "type")
        if kind is not None and re.search("bool", resolver.program.source(kind.value)):
            values = tuple(_as_bool(value) for value in values)
        return tuple(
            Const(v.value, v.node, Via.DEFAULT) if isinstance(v, Const) else v for v in values
        )
    action = argument(call, "action")
    if action is not None:
        for value in resolver.value(action.value, where):
            if plain(value) == "store_true":
                return (Const(False, None, Via.DEFAULT),)
            if plain(value) == "store_false":
                return (Const(True, None, Via.DEFAULT),)
    required = argument(call, "required")
    flags = [a for a in call.args if a.keyword is None]
    positional = bool(flags) and resolver.program.source(flags[0].value)[1:2] != "-"
    if required is not None or positional:
        return NOTHING
    return (Const(None, None, Via.DEFAULT),)


def _as_bool(value: Value) -> Value:
    if isinstance(value, Const) and isinstance(value.value, str):
        return Const(value.value.lower() in _TRUE_WORDS, value.node, value.via)
    return value


def updates(resolver: "Resolver") -> Iterator[tuple[Assignment, Where]]:
    """What `d.update(…)`, `d.update({…})` and `d.setdefault(k, v)` put into dicts."""
    for place in resolver.program.calls:
        call = place.node
        assert isinstance(call, cst.Call)
        if not isinstance(call.func, cst.Attribute):
            continue
        where = resolver.where(place)
        name = call.func.attr.value
        if name == "setdefault" and len(call.args) == 2:
            key, value = call.args
            if not key.star and not value.star:
                yield _change(call.func.value, key.value, value.value, place, call), where
        elif name == "update":
            for arg in call.args:
                if arg.keyword is not None:
                    yield (
                        _change(call.func.value, arg.keyword.value, arg.value, place, arg),
                        where,
                    )
                    continue
                for value_ in resolver.value(arg.value, where):
                    if isinstance(value_, Table):
                        for key_, entries in value_.entries.items():
                            for entry in entries:
                                yield (
                                    _change(
                                        call.func.value, str(key_), entry.value, place,
                                        entry.holder,
                                    ),
                                    entry.where,
                                )  # fmt: skip


def _change(
    base: cst.BaseExpression,
    key: "str | cst.BaseExpression",
    value: cst.BaseExpression,
    place: Place,
    holder: cst.CSTNode,
) -> Assignment:
    return Assignment(base, key, value, Place(holder, place.frame, place.order, place.statement))


def evaluate(resolver: "Resolver", name: str, call: cst.Call, where: Where) -> Values | None:
    """The result of a call of something outside the file; None where it is not ours to say."""
    tail = name.rpartition(".")[2]
    first = call.args[0].value if call.args and not call.args[0].star else None
    if name in ("os.getenv", "os.environ.get", "decouple.config", "environ.get"):
        return _environment(resolver, call, where)
    if name.startswith("os.environ"):
        return NOTHING
    if name == "builtins.dict" or tail in ("OrderedDict", "SimpleNamespace", "EasyDict", "edict"):
        return (keyword_table(resolver, call, where),)
    if tail in ("asdict", "vars", "model_dump", "dict") and first is not None:
        found = [fields_table(resolver, v, where) for v in resolver.value(first, where)]
        return tuple(found) if all(found) else NOTHING  # type: ignore[arg-type]
    if tail == "partial" and name.startswith(("functools", "?")) and first is not None:
        return tuple(Partial(value, call, where) for value in resolver.value(first, where))
    if name == "importlib.import_module" and first is not None:
        return tuple(
            Ref(v.value) if isinstance(v, Const) and isinstance(v.value, str) else v
            for v in resolver.value(first, where)
        )
    if name == "builtins.getattr" and len(call.args) >= 2 and first is not None:
        return _getattr(resolver, call, where)
    if name in ("copy.deepcopy", "copy.copy") and first is not None:
        return resolver.value(first, where)
    if tail in ("cli", "parse") and name in _FROM_CLASS and first is not None:
        return join(
            *(
                resolver.functions.result(v, cst.Call(first), where)
                for v in resolver.value(first, where)
            )
        )
    if name.startswith("builtins.") and first is not None:
        return _convert(resolver, tail, call, where)
    return None


def _environment(resolver: "Resolver", call: cst.Call, where: Where) -> Values:
    fallback = argument(call, "default", 1)
    if fallback is None:
        return NOTHING
    return tuple(
        Const(v.value, v.node, Via.ENVIRONMENT) if isinstance(v, Const) else v
        for v in resolver.value(fallback.value, where)
    )


def _getattr(resolver: "Resolver", call: cst.Call, where: Where) -> Values:
    names = resolver.value(call.args[1].value, where)
    found: list[Values] = []
    for name in names:
        if not isinstance(plain(name), str):
            return NOTHING
        node = cst.Attribute(call.args[0].value, cst.Name("x")).with_changes(
            attr=_NameOf(str(plain(name)))
        )
        for value in resolver.value(call.args[0].value, where):
            if isinstance(value, Unknown) or (isinstance(value, Method) and len(call.args) == 3):
                fallback = call.args[2].value if len(call.args) == 3 else None
                found.append(resolver.value(fallback, where) if fallback else NOTHING)
            else:
                found.append(resolver.objects.attribute(value, node))
    return join(*found)


class _NameOf(cst.Name):
    """A name that need not be an identifier (`getattr` takes any string)."""

    def __init__(self, value: str) -> None:
        super().__init__("x")
        object.__setattr__(self, "value", value)


_CONVERT: dict[str, Callable[[Any], object]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "len": len,
    "abs": abs,
}


def _convert(resolver: "Resolver", tail: str, call: cst.Call, where: Where) -> Values | None:
    values = resolver.value(call.args[0].value, where)
    if tail in _CONVERT:
        return tuple(_converted(tail, value, call) for value in values)
    if tail in ("list", "tuple", "set", "sorted", "reversed", "iter"):
        return tuple(v if isinstance(v, Items) else NOTHING[0] for v in values)
    if tail == "enumerate":
        return tuple(
            Items(tuple((Items((NOTHING, item)),) for item in v.items))
            if isinstance(v, Items)
            else NOTHING[0]
            for v in values
        )
    if tail == "zip":
        columns = [resolver.value(arg.value, where) for arg in call.args]
        if all(len(c) == 1 and isinstance(c[0], Items) for c in columns):
            rows = zip(*(c[0].items for c in columns if isinstance(c[0], Items)), strict=False)
            return (Items(tuple((Items(tuple(row)),) for row in rows)),)
        return NOTHING
    return None


def _converted(tail: str, value: Value, call: cst.Call) -> Value:
    if tail == "len" and isinstance(value, Items):
        return Const(len(value.items), call, Via.RESOLVED)
    if not isinstance(value, Const):
        return NOTHING[0]
    try:
        return Const(
            _CONVERT[tail](value.value),
            value.node,
            max(value.via, Via.RESOLVED, key=list(Via).index),
        )
    except (TypeError, ValueError):
        return NOTHING[0]


def keyword_table(resolver: "Resolver", call: cst.Call, where: Where) -> Table:
    """The dict that `dict(a=1, **more)` makes."""
    entries: dict[object, list[Entry]] = {}
    is_open = False
    for arg in call.args:
        if arg.keyword is not None:
            entries[arg.keyword.value] = [Entry(arg.value, where, arg.keyword, arg)]
            continue
        for value in resolver.value(arg.value, where):
            if isinstance(value, Table):
                entries.update(resolver.objects.entries(value, where))
                is_open |= value.open
            else:
                is_open = True
    return Table(call, entries, is_open)


def fields_table(resolver: "Resolver", value: Value, where: Where) -> Table | None:
    """The dict of an instance's fields, as `asdict(x)` or `vars(x)` gives it."""
    if isinstance(value, Table):
        return value
    if isinstance(value, Namespace):
        return Table(cst.Pass(), {}, True)
    if not isinstance(value, Record):
        return None
    entries: dict[object, list[Entry]] = {}
    for name, binding in resolver.objects.fields(value.made_of).items():
        expression = binding.value
        assert isinstance(expression, cst.BaseExpression)
        chosen = expression
        if isinstance(expression, cst.Call):
            default = argument(expression, "default")
            if default is not None:
                chosen = default.value
        inner = Where(binding.frame, binding.order)
        entries[name] = [Entry(chosen, inner, binding.node, binding.node or expression)]
    if value.call is not None:
        for arg in value.call.args:
            if arg.keyword is not None:
                entries[arg.keyword.value] = [Entry(arg.value, value.where, arg.keyword, arg)]
    for name, assigned in resolver.objects.assigned(value.call or value.made_of.node).items():
        last = assigned[-1]
        entries[name] = [
            Entry(last.value, resolver.where(last.place), last.place.node, last.place.node)
        ]
    return Table(value.call or value.made_of.node, entries)


_TEXT_METHODS = frozenset(
    {"lower", "upper", "strip", "lstrip", "rstrip", "title", "casefold", "replace", "format"}
)  # fmt: skip
_TEXT_TESTS = frozenset(
    {"startswith", "endswith", "isdigit", "split", "removesuffix", "removeprefix"}
)


def method(resolver: "Resolver", callee: Method, call: cst.Call, where: Where) -> Values | None:
    """The result of a method of a constant, dict, parser or unknown object; None: not ours."""
    name, receiver = callee.attribute, callee.receiver
    if isinstance(receiver, Const) and isinstance(receiver.value, str):
        return _text_method(resolver, receiver, name, call, where)
    if name in _PARSERS and not isinstance(receiver, (Const, Items)):
        return _parsed(resolver, receiver, name, where)
    if name == "get" and call.args:
        return _get(resolver, receiver, call, where)
    if isinstance(receiver, Table):
        if name == "copy":
            return (receiver,)
        if name == "pop" and call.args:
            return _get(resolver, receiver, call, where)
        entries = resolver.objects.entries(receiver, where)
        if name == "values":
            return (
                Items(
                    tuple(
                        join(*(resolver.value(e.value, e.where) for e in found))
                        for found in entries.values()
                    )
                ),
            )
        if name == "items":
            return (
                Items(
                    tuple(
                        (
                            Items(
                                (
                                    (Const(key),),
                                    join(*(resolver.value(e.value, e.where) for e in found)),
                                )
                            ),
                        )
                        for key, found in entries.items()
                    )
                ),
            )
        if name == "keys":
            return (Items(tuple((Const(key),) for key in entries)),)
        return NOTHING
    if isinstance(receiver, Record) and name in ("dict", "model_dump", "to_dict", "_asdict"):
        table = fields_table(resolver, receiver, where)
        return (table,) if table is not None else NOTHING
    return None


def _text_method(
    resolver: "Resolver", receiver: Const, name: str, call: cst.Call, where: Where
) -> Values:
    if name not in _TEXT_METHODS and name not in _TEXT_TESTS:
        return NOTHING
    arguments = []
    for arg in call.args:
        values = resolver.value(arg.value, where)
        if len(values) != 1 or not isinstance(values[0], Const) or arg.keyword or arg.star:
            return NOTHING
        arguments.append(values[0].value)
    try:
        result = getattr(receiver.value, name)(*arguments)
    except (TypeError, ValueError, KeyError, IndexError):
        return NOTHING
    if isinstance(result, list):
        return (Items(tuple((Const(part, call),) for part in result)),)
    via = receiver.via if receiver.via is not Via.LITERAL else Via.RESOLVED
    return (Const(result, receiver.node, via),)


def _parsed(resolver: "Resolver", receiver: Value, name: str, where: Where) -> Values:
    if name == "parse_known_args":
        return (Items(((Namespace(),), NOTHING)),)
    if name != "parse_args_into_dataclasses" and not _takes_classes(receiver):
        return (Namespace(),)
    if not isinstance(receiver, Made):
        return NOTHING
    classes: list[Values] = []
    for arg in receiver.call.args[:1]:
        for value in resolver.value(arg.value, receiver.where):
            classes.extend(value.items if isinstance(value, Items) else [(value,)])
    nothing = cst.Call(cst.Name("x"))
    records = [
        join(*(resolver.functions.result(v, nothing, where) for v in group)) for group in classes
    ]
    return (Items(tuple(records)),)


def _takes_classes(receiver: Value) -> bool:
    return isinstance(receiver, Made) and receiver.target.endswith("HfArgumentParser")


def _get(resolver: "Resolver", receiver: Value, call: cst.Call, where: Where) -> Values:
    keys = resolver.value(call.args[0].value, where)
    fallback: Values = (Const(None),)
    if len(call.args) > 1:
        fallback = tuple(
            Const(v.value, v.node, Via.DEFAULT) if isinstance(v, Const) else v
            for v in resolver.value(call.args[1].value, where)
        )
    if isinstance(receiver, Table):
        return join(*(resolver.objects.item(receiver, key, where, fallback) for key in keys))
    # A config read from elsewhere: the fallback is what runs when the file is silent.
    return fallback if len(call.args) > 1 else NOTHING
