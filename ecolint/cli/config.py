"""`ecolint config [KEY]`: what can be set, from the table that also validates it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ecolint.cli import CLEAN, COMMANDS
from ecolint.options import EXTEND, OPTIONS, Option, Takes
from ecolint.selectors import did_you_mean
from ecolint.settings import Settings, SettingsError

if TYPE_CHECKING:
    import argparse

ALL_OPTIONS = (*OPTIONS, EXTEND)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "config",
        help=COMMANDS["config"],
        description="List the settings of a configuration file, or describe one.",
    )
    parser.add_argument("key", nargs="?", metavar="KEY", help="such as per-file-ignores")
    parser.add_argument("--output-format", choices=("text", "json", "markdown"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the settings."""
    options = ALL_OPTIONS if args.key is None else (_find(args.key),)
    if args.output_format == "json":
        print(json.dumps([to_dict(option) for option in options], indent=2))
    elif args.output_format == "markdown":
        print(to_markdown(options), end="")
    elif args.key is None:
        print("\n".join(option.key for option in options))
    else:
        print(to_text(options[0]))
    return CLEAN


def _find(key: str) -> Option:
    folded = key.replace("_", "-")
    for option in ALL_OPTIONS:
        if option.key == folded:
            return option
    hint = did_you_mean(key, tuple(option.key for option in ALL_OPTIONS))
    raise SettingsError(f"unknown setting {key!r}{hint}")


def to_markdown(options: tuple[Option, ...]) -> str:
    """The reference of some settings."""
    return "\n".join(_entry(option) for option in options)


def _entry(option: Option) -> str:
    flag = f"\nOn the command line: `{option.flag}`\n" if option.flag else ""
    return (
        f"### `{option.key}`\n\n{option.summary}\n\n"
        f"Takes: {_takes(option)}  \nDefault: `{_default(option)}`\n{flag}\n"
        f"```toml\n{in_pyproject(option)}\n```\n"
    )


def to_text(option: Option) -> str:
    """One setting, for a terminal."""
    flag = f"\nFlag:    {option.flag}" if option.flag else ""
    example = in_pyproject(option).replace("\n", "\n  ")
    return (
        f"{option.summary}\n\nTakes:   {_takes(option)}\nDefault: {_default(option)}{flag}\n\n"
        f"Example:\n  {example}"
    )


def to_dict(option: Option) -> dict[str, Any]:
    """One setting as plain values."""
    return {
        "key": option.key,
        "takes": option.takes.value,
        "choices": list(_choices(option)),
        "default": None if option is EXTEND else _default_value(option),
        "flag": option.flag or None,
        "summary": option.summary,
        "example": in_pyproject(option),
    }


def _takes(option: Option) -> str:
    choices = _choices(option)
    return option.takes.value + (f" ({', '.join(choices)})" if choices else "")


def _choices(option: Option) -> tuple[str, ...]:
    if option.key != "output-format":
        return option.choices
    from ecolint.output import FORMATS

    return tuple(FORMATS)


def _default(option: Option) -> str:
    if option is EXTEND:
        return "nothing"
    value = _default_value(option)
    return "nothing" if value is None else json.dumps(value)


def _default_value(option: Option) -> Any:
    return _plain(option, Settings._field_defaults[option.field])


def _plain(option: Option, value: Any) -> Any:
    """A value of Settings as TOML and JSON have it."""
    if option.takes is Takes.RULES_BY_GLOB:
        return {glob: list(codes) for glob, codes in value}
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def settings_as_toml(settings: Settings) -> str:
    """Settings in full, as an ecolint.toml would state them; what is not set as a comment."""
    lines = [f"# root: {settings.root}", f"# from: {settings.source or 'no file'}"]
    for option in OPTIONS:
        value = _plain(option, getattr(settings, option.field))
        if value is None:
            lines.append(f"# {option.key} is not set")
        else:
            lines.append(f"{option.key} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        pairs = ", ".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    return json.dumps(value, ensure_ascii=False)


def in_pyproject(option: Option) -> str:
    """The option's example as a pyproject.toml has it."""
    table = "" if option.example.startswith("[") else "[tool.ecolint]\n"
    return table + option.example
