"""Finds the rules: every module of `ecolint.rules`, and those that others have installed.

Third parties publish a module (RULE and check, like ours) under the entry-point group
`ecolint.rules`. Importing rules is left until a file has facts to judge.
"""

from functools import lru_cache
from importlib import import_module
from types import ModuleType

from ecolint.rule import LoadedRule, Rule

GROUP = "ecolint.rules"


class RuleError(Exception):
    """A rule module that can't be used: what is wrong with it and whose it is."""


@lru_cache(maxsize=1)
def load_rules() -> tuple[LoadedRule, ...]:
    """All rules, sorted by code.

    Raises:
        RuleError: a module lacks RULE or check, or two rules share a code or a name.
    """
    rules = [_load(module) for module in (*_own(), *_foreign())]
    seen: dict[str, LoadedRule] = {}
    for loaded in rules:
        for key in (loaded.rule.code, loaded.rule.name):
            if key in seen:
                raise RuleError(f"{loaded.module} repeats {key} of {seen[key].module}")
            seen[key] = loaded
    return tuple(sorted(rules, key=lambda loaded: loaded.rule.code))


def _own() -> list[ModuleType]:
    from pkgutil import iter_modules

    package = import_module("ecolint.rules")
    names = sorted(info.name for info in iter_modules(package.__path__))
    return [import_module(f"ecolint.rules.{name}") for name in names if not name.startswith("_")]


def _foreign() -> list[ModuleType]:
    from importlib.metadata import entry_points

    modules = []
    for point in entry_points(group=GROUP):
        try:
            modules.append(point.load())
        except Exception as error:  # a broken plug-in is told, never a traceback
            raise RuleError(
                f"plug-in {point.name} ({point.value}) can't be loaded: {error}"
            ) from None
    return modules


def _load(module: ModuleType) -> LoadedRule:
    rule = getattr(module, "RULE", None)
    check = getattr(module, "check", None)
    if not isinstance(rule, Rule) or not callable(check):
        raise RuleError(f"{module.__name__} must define RULE (ecolint.rule.Rule) and check()")
    return LoadedRule(rule, check, module.__doc__ or "", module.__name__)


def find_rule(name: str) -> LoadedRule | None:
    """The rule of that code or name, in any case."""
    wanted = name.lower()
    for loaded in load_rules():
        if wanted in (loaded.rule.code.lower(), loaded.rule.name.lower()):
            return loaded
    return None
