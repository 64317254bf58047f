"""Turns what people write for a rule into codes: `eco1`, `kv-cache-disabled`, `ALL`.

Rules are read off the names of their modules, because importing them all to check one
`--select` would cost more than a run over files that don't matter. Plug-ins are imported
only for a selector that no rule of ours answers to.
"""

import re
from functools import lru_cache

from ecolint.settings import ALL

_MODULE = re.compile(r"([a-z]+\d+)_(\w+)")


class SelectorError(Exception):
    """A selector that names no rule; its text says which one may be meant."""


def to_code(selector: str) -> str:
    """The code, the prefix of codes or ALL that a selector means.

    Raises:
        SelectorError: no rule answers to it.
    """
    text = selector.strip()
    found = _find(text, own_rules())
    if found is None:
        found = _find(text, _all_rules())
    if found is None:
        raise SelectorError(f"unknown rule {text!r}{did_you_mean(text, _spellings())}")
    return found


def split_codes(text: str) -> list[str]:
    """The selectors of a comma-separated list."""
    return [part.strip() for part in text.split(",") if part.strip()]


@lru_cache(maxsize=1)
def own_rules() -> dict[str, str]:
    """Our rules as code → name."""
    from importlib import import_module
    from pkgutil import iter_modules

    package = import_module("ecolint.rules")
    found = (_MODULE.fullmatch(info.name) for info in iter_modules(package.__path__))
    return {m[1].upper(): m[2].replace("_", "-") for m in found if m}


def _all_rules() -> dict[str, str]:
    from ecolint.registry import load_rules

    return {loaded.rule.code: loaded.rule.name for loaded in load_rules()}


def _find(text: str, rules: dict[str, str]) -> str | None:
    upper = text.upper()
    if upper == ALL:
        return ALL
    if text and any(code.startswith(upper) for code in rules):
        return upper
    return next((code for code, name in rules.items() if name == text.lower()), None)


def _spellings() -> list[str]:
    return [*own_rules(), *own_rules().values()]


def did_you_mean(written: str, known: "list[str] | tuple[str, ...]", likeness: float = 0.6) -> str:
    """`; did you mean 'x'?` for the nearest known word, if it is alike enough (0 to 1)."""
    from difflib import get_close_matches

    folded = {word.lower(): word for word in known}
    near = get_close_matches(written.lower().replace("_", "-"), folded, n=1, cutoff=likeness)
    return f"; did you mean {folded[near[0]]!r}?" if near else ""
