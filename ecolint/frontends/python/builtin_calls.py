"""What calls of Python and its configuration libraries give back.

The resolver asks here about everything that is neither in the file nor ours to judge:
built-ins, os.environ, argparse, click, typer, dataclasses, pydantic, importlib, functools.
"""

import builtins
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import libcst as cst

from ecolint.facts import Via
from ecolint.frontends.python.declared import argument, as_bool
from ecolint.frontends.python.program import Assignment, Place
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

# Methods that give an instance's fields as a dict.
DUMPS = frozenset({"dict", "model_dump", "to_dict", "_asdict"})
_PARSERS = frozenset(
    {
        "parse_args", "parse_known_args", "parse_intermixed_args", "parse_args_into_dataclasses",
    }
)  # fmt: skip
_ENVIRONMENT = frozenset(
    {"os.getenv", "os.environ.get", "decouple.config", "environ.get", "os.environ.setdefault"}
)
_TRUTH = frozenset({"strtobool", "str2bool", "str_to_bool", "parse_bool", "string_to_bool"})
# Dicts whose entries are read as attributes.
_ATTRIBUTE_DICTS = frozenset(
    {"EasyDict", "edict", "DictConfig", "Box", "Munch", "munchify", "AttrDict", "DotMap",
     "ConfigDict", "Dict2Obj"}
)  # fmt: skip
_FROM_CLASS = frozenset({"tyro.cli", "simple_parsing.parse", "jsonargparse.CLI", "draccus.wrap"})


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
    told = _setting(resolver, name, call, where) or _path(resolver, name, call, where)
    if told is not None:
        return told
    if name.startswith("os.environ"):
        return NOTHING
    if name == "builtins.dict" or tail in ("OrderedDict", "SimpleNamespace"):
        return (keyword_table(resolver, call, where),)
    if name == "builtins.vars" and first is not None:
        values = resolver.value(first, where)
        if all(isinstance(v, Namespace) for v in values):
            return values
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


def _path(resolver: "Resolver", name: str, call: cst.Call, where: Where) -> Values | None:
    """The path that `os.path.join` or `pathlib.Path` makes, as text."""
    if name == "os.path.join":
        parts = [arg.value for arg in call.args]
        return resolver.combine(lambda *given: "/".join(map(str, given)), call, parts, where)
    if name == "pathlib.Path" and len(call.args) == 1:
        return resolver.value(call.args[0].value, where)
    return None


def _setting(resolver: "Resolver", name: str, call: cst.Call, where: Where) -> Values | None:
    """The result of a call that reads or holds settings; None where it does neither."""
    tail = name.rpartition(".")[2]
    first = call.args[0].value if call.args and not call.args[0].star else None
    if name in ("omegaconf.OmegaConf.create", "OmegaConf.create", "?.OmegaConf.create"):
        tail = "DictConfig"
    if name in _ENVIRONMENT:
        return _environment(resolver, call, where)
    if tail in _TRUTH and first is not None:
        return tuple(as_bool(value) for value in resolver.value(first, where))
    if name in ("json.loads", "ast.literal_eval", "yaml.safe_load") and first is not None:
        return tuple(_loaded(value, call) for value in resolver.value(first, where))
    if tail in _ATTRIBUTE_DICTS and first is None:
        return (keyword_table(resolver, call, where),)
    if tail in _ATTRIBUTE_DICTS and first is not None:
        return tuple(
            value if isinstance(value, Table) else NOTHING[0]
            for value in resolver.value(first, where)
        )
    return None


def _environment(resolver: "Resolver", call: cst.Call, where: Where) -> Values:
    fallback = argument(call, "default", 1)
    if fallback is None:
        return NOTHING
    return tuple(
        Const(v.value, v.node, Via.ENVIRONMENT) if isinstance(v, Const) else v
        for v in resolver.value(fallback.value, where)
    )


def _loaded(value: Value, call: cst.Call) -> Value:
    """What a JSON or Python literal in a string stands for, where it is a scalar."""
    if not isinstance(value, Const) or not isinstance(value.value, str):
        return NOTHING[0]
    words: dict[str, object] = {"true": True, "false": False, "null": None, "none": None}
    text = value.value.strip()
    if text.lower() in words:
        return Const(words[text.lower()], value.node, value.via)
    try:
        return Const(float(text) if "." in text else int(text), value.node, value.via)
    except ValueError:
        return NOTHING[0]


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
    if name in ("bool", "int", "str", "float") and _reads_environment(receiver):
        return _environment(resolver, call, where)
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
    if isinstance(receiver, Record) and name in DUMPS:
        table = fields_table(resolver, receiver, where)
        return (table,) if table is not None else NOTHING
    return None


def _reads_environment(receiver: Value) -> bool:
    return isinstance(receiver, Made) and receiver.target.endswith(("environs.Env", "environ.Env"))


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
    if isinstance(receiver, (Table, Namespace)):
        return join(*(resolver.objects.item(receiver, key, where, fallback) for key in keys))
    # A config read from elsewhere: the fallback is what runs when the file is silent.
    return fallback if len(call.args) > 1 else NOTHING
