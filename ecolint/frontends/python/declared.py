"""Defaults that options and fields are declared with: argparse, click, typer, absl, dataclasses.

What is declared is what runs when nobody says otherwise.
"""

import re
from typing import TYPE_CHECKING

import libcst as cst

from ecolint.facts import Via
from ecolint.frontends.python.program import dotted
from ecolint.frontends.python.values import (
    NOTHING,
    Const,
    Value,
    Values,
    Where,
    join,
    plain,
)

if TYPE_CHECKING:
    from ecolint.frontends.python.resolve import Resolver

_FIELD_MAKERS = frozenset({"field", "Field", "ib", "attrib", "PrivateAttr", "mapped_column"})
_PARAM_MAKERS = frozenset(
    {"Option", "Argument", "Query", "Form", "Body", "Header", "Cookie", "Path", "Param"}
)
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
    elif maker in ("Depends", "Security") and node.args:
        made = resolver.value(node.args[0].value, where)
        return join(*(resolver.functions.result(v, cst.Call(cst.Name("x")), where) for v in made))
    elif maker in _PARAM_MAKERS:
        chosen = argument(node, "default", 0)
    else:
        return resolver.value(node, where)
    if chosen is None or isinstance(chosen.value, cst.Ellipsis):
        return None
    return resolver.value(chosen.value, where)


_SETTINGS_BASES = frozenset({"BaseModel", "BaseSettings", "NamedTuple", "SQLModel", "Struct"})
_SETTINGS_MARKS = re.compile(r"dataclass|attrs?\b|define|frozen")


def holds_settings(node: cst.ClassDef) -> bool:
    """Whether a class is a record of fields with defaults (a dataclass, a pydantic model)."""
    marks = (
        d.decorator.func if isinstance(d.decorator, cst.Call) else d.decorator
        for d in node.decorators
    )
    return any(_SETTINGS_MARKS.search(dotted(mark)) for mark in marks) or any(
        dotted(base.value).rpartition(".")[2] in _SETTINGS_BASES for base in node.bases
    )


def is_property(function: cst.FunctionDef) -> bool:
    """Whether a method is read like an attribute."""
    return any(
        dotted(d.decorator).rpartition(".")[2] in ("property", "cached_property", "computed_field")
        for d in function.decorators
    )


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
            values = tuple(as_bool(value) for value in values)
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


def as_bool(value: Value) -> Value:
    """What a word such as `yes` or `off` means where a truth value is wanted."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return Const(value.value.lower() in _TRUE_WORDS, value.node, value.via)
    return value
