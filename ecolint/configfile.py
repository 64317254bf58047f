"""Reads a configuration file into Settings, and refuses what it does not understand.

A setting that is silently ignored is a finding that is silently missed, so every unknown
key, wrong type and unknown rule stops the run, with file, line and the nearest valid name.
"""

import os
import re
from collections.abc import Mapping
from typing import Any

from ecolint.options import EXTEND, OPTIONS, Option, Takes
from ecolint.selectors import SelectorError, did_you_mean, to_code
from ecolint.settings import Settings, SettingsError, overlay

_BY_KEY = {option.key: option for option in (*OPTIONS, EXTEND)}
_HEADER = re.compile(r"\s*\[\[?([^\[\]]+)\]")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def read(path: str) -> Settings:
    """The settings of a file, with those that it extends.

    Raises:
        SettingsError: it can't be read, or says something that ecolint does not understand.
    """
    return _read(os.path.abspath(path), ())


def has_table(raw: bytes, path: str) -> bool:
    """Whether a pyproject.toml has a [tool.ecolint] table."""
    return _table(_parse(_decode(raw, path), path), path) is not None


def parse_override(text: str) -> dict[str, Any]:
    """The settings of a `--config 'key = value'` flag.

    Raises:
        SettingsError: it is not TOML, or says something that ecolint does not understand.
    """
    source = _Source("--config", text, ())
    try:
        table = _loads(text)
    except ValueError as error:
        raise SettingsError(f"--config {text!r}: not TOML: {error}") from None
    if EXTEND.key in table:
        raise SettingsError("--config: 'extend' only works in a file; give --config that file")
    return _understand(table, source, os.getcwd())


def _read(path: str, chain: tuple[str, ...]) -> Settings:
    if path in chain:
        loop = " -> ".join(shown(link) for link in (*chain[chain.index(path) :], path))
        raise SettingsError(f"{shown(chain[-1])}: 'extend' goes in a circle: {loop}")
    try:
        with open(path, "rb") as file:
            text = _decode(file.read(), path)
    except OSError as error:
        after = f" (extended by {shown(chain[-1])})" if chain else ""
        raise SettingsError(f"{shown(path)}: {error.strerror or error}{after}") from None
    table = _table(_parse(text, path), path)
    if table is None:
        raise SettingsError(f"{shown(path)}: has no [tool.ecolint] table")
    in_pyproject = os.path.basename(path) == "pyproject.toml"
    source = _Source(shown(path), text, ("tool", "ecolint") if in_pyproject else ())
    folder = os.path.dirname(path)
    changes = _understand(table, source, folder)
    base = Settings()
    parent = changes.pop(EXTEND.field, None)
    if parent is not None:
        base = _read(parent, (*chain, path))
    return overlay(base, changes)._replace(root=folder, source=path)


def _decode(raw: bytes, path: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{shown(path)}:{line}: not UTF-8, which TOML must be") from None


def _parse(text: str, path: str) -> dict[str, Any]:
    try:
        return _loads(text)
    except ValueError as error:
        found = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = found[1] if found else str(text.count("\n") + 1)
        reason = str(error).partition(" (at ")[0]
        raise SettingsError(f"{shown(path)}:{line}: not TOML: {reason}") from None


def _loads(text: str) -> dict[str, Any]:
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)


def _table(document: dict[str, Any], path: str) -> dict[str, Any] | None:
    if os.path.basename(path) != "pyproject.toml":
        return document
    tool = document.get("tool")
    table = tool.get("ecolint") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


class _Source:
    """Where a table of settings stands, to tell lines by."""

    __slots__ = ("name", "prefix", "text")

    def __init__(self, name: str, text: str, prefix: tuple[str, ...]) -> None:
        self.name = name
        self.text = text
        self.prefix = prefix

    def refuse(self, problem: str, *keys: str, value: object = None) -> SettingsError:
        """The error that points at the line of a key, or of a value under it."""
        if self.name == "--config":
            return SettingsError(f"{self.name}: {problem}")
        line = _line_of(self.text, (*self.prefix, *keys), value)
        return SettingsError(f"{self.name}:{line}: {problem}")


def _line_of(text: str, path: tuple[str, ...], value: object) -> int:
    """The line of a key: of its deepest part that is written out.

    tomllib keeps no places, and a second TOML library for one number is too much.
    """
    lines = text.splitlines()
    table: tuple[str, ...] = ()
    best, depth = 1, 0
    for number, line in enumerate(lines, 1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header:
            table = full = _parts(header[1])
        elif key:
            full = table + _parts(key[1])
        else:
            continue
        if len(full) > depth and path[: len(full)] == full:
            best, depth = number, len(full)
    if isinstance(value, str):
        for number in range(best, len(lines) + 1):
            if f'"{value}"' in lines[number - 1] or f"'{value}'" in lines[number - 1]:
                return number
    return best


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def _understand(table: Mapping[str, Any], source: _Source, folder: str) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key, value in table.items():
        option = _BY_KEY.get(key) or _BY_KEY.get(key.replace("_", "-"))
        if option is None:
            raise source.refuse(f"unknown key {key!r}{did_you_mean(key, tuple(_BY_KEY))}", key)
        changes[option.field] = _convert(option, key, value, source, folder)
    _check_version(changes.get("required_version"), source)
    return changes


def _convert(option: Option, key: str, value: Any, source: _Source, folder: str) -> Any:
    if not _fits(option.takes, value):
        raise source.refuse(f"{key!r} takes {option.takes.value}, not {_kind_of(value)}", key)
    match option.takes:
        case Takes.RULES:
            return tuple(_code(one, source, key) for one in value)
        case Takes.RULES_BY_GLOB:
            return tuple(
                (glob, tuple(_code(one, source, key, glob) for one in codes))
                for glob, codes in value.items()
            )
        case Takes.TEXTS:
            return tuple(value)
        case Takes.PATH:
            expanded = os.path.expandvars(os.path.expanduser(value))
            return os.path.normpath(os.path.join(folder, expanded))
        case Takes.VERSIONS | Takes.NUMBERS:
            return _pairs(option, key, value, source)
        case Takes.INT if value < 0:
            raise source.refuse(f"{key!r} can't be negative", key)
        case Takes.TEXT:
            problem = problem_with(option.key, value)
            if problem:
                raise source.refuse(problem, key)
    return value


def _fits(takes: Takes, value: Any) -> bool:
    match takes:
        case Takes.BOOL:
            return isinstance(value, bool)
        case Takes.INT:
            return isinstance(value, int) and not isinstance(value, bool)
        case Takes.TEXT | Takes.PATH:
            return isinstance(value, str)
        case Takes.TEXTS | Takes.RULES:
            return _is_texts(value)
        case Takes.RULES_BY_GLOB:
            return isinstance(value, dict) and all(_is_texts(codes) for codes in value.values())
        case Takes.VERSIONS:
            return isinstance(value, dict) and _is_texts(list(value.values()))
        case Takes.NUMBERS:
            return isinstance(value, dict) and all(_is_number(one) for one in value.values())


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _kind_of(value: Any) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "this list"
        case dict():
            return "this table"
    return "a date or time"


def _code(selector: str, source: _Source, *keys: str) -> str:
    try:
        return to_code(selector)
    except SelectorError as error:
        raise source.refuse(f"{error} (in {keys[0]!r})", *keys, value=selector) from None


def _pairs(option: Option, key: str, value: Any, source: _Source) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for name, one in value.items():
        folded = name.lower().replace("_", "-")
        if option.choices and folded not in option.choices:
            hint = did_you_mean(name, option.choices)
            raise source.refuse(f"unknown key {name!r} in {key!r}{hint}", key, name)
        if option.takes is Takes.VERSIONS:
            problem = problem_with_version(name, one)
        else:
            problem = f"{name!r} can't be negative" if one < 0 else None
        if problem:
            raise source.refuse(problem, key, name)
        pairs[folded] = one
    return pairs


def _check_version(wanted: str | None, source: _Source) -> None:
    if wanted is None:
        return
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    from ecolint import __version__

    try:
        allowed = SpecifierSet(wanted if wanted[:1] in "<>=!~" else f"=={wanted}")
    except InvalidSpecifier:
        problem = f"'required-version' {wanted!r} is no version; write e.g. '>={__version__}'"
        raise source.refuse(problem, "required-version") from None
    if not allowed.contains(__version__, prereleases=True):
        problem = f"ecolint {wanted} is required, and this is ecolint {__version__}"
        raise source.refuse(problem, "required-version")


def problem_with(key: str, value: str) -> str | None:
    """What is wrong with the value of a string option; None if it can be used."""
    if key == "output-format":
        from ecolint.output import FORMATS

        if value not in FORMATS:
            return f"unknown format {value!r}{did_you_mean(value, tuple(FORMATS))}"
    elif key == "gpu":
        from ecolint.catalog import find_gpu, suggest_gpu

        if find_gpu(value) is None:
            return f"unknown GPU {value!r}{_nearest(suggest_gpu(value))}"
    elif key == "model":
        from ecolint.catalog import find_model, suggest_model

        if find_model(value) is None:
            near = _nearest(suggest_model(value)) or "; a size such as 7B will do"
            return f"unknown model {value!r}, whose name tells no size{near}"
    return None


def problem_with_version(package: str, version: str) -> str | None:
    """What is wrong with a pinned version; None if it can be used."""
    from packaging.version import InvalidVersion, Version

    try:
        Version(version)
    except InvalidVersion:
        return f"{package} = {version!r} is no version; write one such as '0.50'"
    return None


def _nearest(names: tuple[str, ...]) -> str:
    return f"; did you mean {names[0]!r}?" if names else ""


def shown(path: str) -> str:
    """A path as messages show it: relative to the working directory where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return path if relative.startswith("..") else relative.replace(os.sep, "/")
