"""The arguments of `ecolint check`, and the settings that they and the environment make."""

import argparse
import os
from typing import Any

from ecolint.cli import COMMANDS
from ecolint.settings import Hierarchy, SettingsError

_ON_OFF = argparse.BooleanOptionalAction


def declare(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the arguments of check."""
    parser = subparsers.add_parser(
        "check",
        usage="ecolint check [OPTIONS] [PATH ...]",
        help=COMMANDS["check"],
        description=COMMANDS["check"] + ".",
        epilog="Exit status: 0 nothing found, 1 findings, 2 ecolint could not do it.",
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files and folders, or - for stdin (default: .)"
    )
    _declare_rules(parser.add_argument_group("rules"))
    _declare_project(parser.add_argument_group("what ecolint can't see in the files"))
    _declare_fixes(parser.add_argument_group("fixes"))
    _declare_files(parser.add_argument_group("files"))
    _declare_output(parser.add_argument_group("output"))
    _declare_settings(parser.add_argument_group("settings"))


def _declare_rules(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--select", action="append", metavar="CODES", help="rules to run, or ALL")
    group.add_argument("--ignore", action="append", metavar="CODES", help="rules to leave out")
    group.add_argument(
        "--extend-select", action="append", metavar="CODES", help="rules to run besides"
    )
    group.add_argument(
        "--per-file-ignores", action="append", metavar="GLOB:CODES", help="left out in these files"
    )
    group.add_argument(
        "--show-green", action="store_true", default=None, help="report good practices too"
    )
    group.add_argument(
        "--ignore-noqa", action="store_true", default=None, help="report what comments silence"
    )
    group.add_argument(
        "--add-noqa", action="store_true", help="silence every finding with a comment"
    )


def _declare_project(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--gpu", help="the GPU that the code runs on, such as L4")
    group.add_argument("--model", help="the model that is served: an id, or a size such as 7B")
    group.add_argument(
        "--stack", action="append", metavar="NAME=VERSION", help="the version of a package"
    )


def _declare_fixes(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--fix", action=_ON_OFF, default=None, help="apply safe fixes")
    group.add_argument(
        "--unsafe-fixes",
        action=_ON_OFF,
        default=None,
        help="and those that may change outputs, speed or memory",
    )
    group.add_argument("--diff", action="store_true", help="show what --fix would change")
    group.add_argument(
        "--fix-only", action="store_true", help="apply fixes and report nothing that is left"
    )
    group.add_argument("--show-fixes", action="store_true", help="list the fixes applied")
    group.add_argument("-e", "--exit-zero", action="store_true", help="exit 0 despite findings")
    group.add_argument(
        "--exit-non-zero-on-fix", action="store_true", help="exit 1 if anything was fixed"
    )


def _declare_files(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--exclude", action="append", metavar="GLOBS", help="instead of the default")
    group.add_argument("--extend-exclude", action="append", metavar="GLOBS", help="exclude besides")
    group.add_argument(
        "--force-exclude", action=_ON_OFF, default=None, help="exclude files named here too"
    )
    group.add_argument(
        "--respect-gitignore", action=_ON_OFF, default=None, help="leave out what git ignores"
    )
    group.add_argument(
        "--include-tests", action="store_true", default=None, help="judge tests and docs too"
    )
    group.add_argument("--stdin-filename", metavar="NAME", help="what stdin is the content of")
    group.add_argument("--show-files", action="store_true", help="list the files, check nothing")
    group.add_argument("-j", "--jobs", type=_whole, metavar="N", help="processes (default: auto)")
    group.add_argument(
        "-n",
        "--no-cache",
        dest="cache",
        action="store_false",
        default=None,
        help="read every file afresh",
    )
    group.add_argument("--cache-dir", metavar="DIR", help="where results are remembered")
    group.add_argument("-w", "--watch", action="store_true", help="check again on every change")


def _declare_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--output-format", metavar="FORMAT", help="text, full, concise, json, jsonl")
    group.add_argument(
        "-o",
        "--output-file",
        action="append",
        default=[],
        metavar="[FORMAT:]FILE",
        help="write to a file; with FORMAT: besides stdout (repeatable)",
    )
    group.add_argument("--statistics", action="store_true", help="count instead of list")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    group.add_argument("-v", "--verbose", action="store_true", help="say what is done")
    group.add_argument("-q", "--quiet", action="store_true", help="print findings only")
    group.add_argument("-s", "--silent", action="store_true", help="print nothing")


def _declare_settings(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--config", action="append", default=[], metavar="FILE|KEY=VALUE", help="see the docs"
    )
    group.add_argument("--isolated", action="store_true", help="look for no configuration file")
    group.add_argument("--show-settings", action="store_true", help="print what holds for PATH")


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"takes a whole number, not {text!r}")
    return int(text)


def read_hierarchy(args: argparse.Namespace) -> Hierarchy:
    """The settings of every folder under these arguments.

    Flags are laid over `--config key=value`, that over the environment, and all over files.

    Raises:
        SettingsError: a flag's value or the file of --config can't be used.
    """
    given: str | None = None
    changes = _from_environment()
    for text in args.config:
        if "=" in text and not os.path.exists(text):
            from ecolint.configfile import parse_override

            changes |= parse_override(text)
        elif given is None:
            given = text
        else:
            raise SettingsError(f"--config: two files, {given} and {text}; give one")
    if given is not None and args.isolated:
        raise SettingsError("--isolated looks for no file, so it can't go with --config FILE")
    changes |= _from_flags(args)
    return Hierarchy(changes, isolated=args.isolated, given=given)


_PLAIN = (
    "show_green", "ignore_noqa", "fix", "unsafe_fixes", "force_exclude", "respect_gitignore",
    "include_tests", "jobs", "cache",
)  # fmt: skip


def _from_flags(args: argparse.Namespace) -> dict[str, Any]:
    changes = {name: getattr(args, name) for name in _PLAIN if getattr(args, name) is not None}
    for name in ("gpu", "model", "output_format"):
        if getattr(args, name) is not None:
            changes[name] = _checked(name.replace("_", "-"), getattr(args, name))
    for name in ("select", "ignore", "extend_select"):
        if getattr(args, name) is not None:
            changes[name] = _codes(name, ",".join(getattr(args, name)))
    for name in ("exclude", "extend_exclude"):
        if getattr(args, name) is not None:
            globs = ",".join(getattr(args, name)).split(",")
            changes[name] = tuple(_from_here(glob.strip()) for glob in globs if glob.strip())
    if args.per_file_ignores is not None:
        changes["per_file_ignores"] = _per_file(",".join(args.per_file_ignores))
    if args.stack is not None:
        changes["stack"] = _versions(",".join(args.stack))
    if args.cache_dir is not None:
        changes["cache_dir"] = os.path.abspath(args.cache_dir)
    return changes


def _from_environment() -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if os.environ.get("ECOLINT_OUTPUT_FORMAT"):
        name = os.environ["ECOLINT_OUTPUT_FORMAT"]
        changes["output_format"] = _checked("output-format", name, "ECOLINT_OUTPUT_FORMAT")
    if os.environ.get("ECOLINT_CACHE_DIR"):
        changes["cache_dir"] = os.path.abspath(os.environ["ECOLINT_CACHE_DIR"])
    if os.environ.get("ECOLINT_NO_CACHE"):
        changes["cache"] = False
    return changes


def _checked(key: str, value: str, where: str = "") -> str:
    from ecolint.configfile import problem_with

    problem = problem_with(key, value)
    if problem:
        raise SettingsError(f"{where or '--' + key}: {problem}")
    return value


def _codes(flag: str, text: str) -> tuple[str, ...]:
    from ecolint.selectors import SelectorError, split_codes, to_code

    try:
        return tuple(to_code(one) for one in split_codes(text))
    except SelectorError as error:
        raise SettingsError(f"--{flag.replace('_', '-')}: {error}") from None


def _from_here(glob: str) -> str:
    """A glob with a folder in it means a place below the working directory, not below root."""
    if "/" not in glob.strip("/") or os.path.isabs(glob):
        return glob
    # The folder's own brackets and stars are no glob.
    here = "".join(f"[{one}]" if one in "*?[{" else one for one in os.getcwd())
    return os.path.join(here, glob)


def _per_file(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Pairs of `GLOB:CODE`; a part without a colon is one more code for the glob before it."""
    pairs: list[tuple[str, tuple[str, ...]]] = []
    for part in text.split(","):
        glob, colon, code = part.rpartition(":")
        codes = _codes("per-file-ignores", code)
        if colon:
            negated, bare = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
            pairs.append((negated + _from_here(bare.strip()), codes))
        elif pairs:
            pairs[-1] = (pairs[-1][0], pairs[-1][1] + codes)
        else:
            raise SettingsError(f"--per-file-ignores: {part!r} names no file; write GLOB:CODE")
    return tuple(pairs)


def _versions(text: str) -> dict[str, str]:
    from ecolint.configfile import problem_with_version

    pairs: dict[str, str] = {}
    for part in text.split(","):
        name, equals, version = part.strip().partition("=")
        name = name.strip().lower().replace("_", "-")
        version = version.lstrip("=").strip()
        if not name or not equals:
            raise SettingsError(f"--stack: {part!r}: write NAME=VERSION, e.g. bitsandbytes=0.50")
        problem = problem_with_version(name, version)
        if problem:
            raise SettingsError(f"--stack: {problem}")
        pairs[name] = version
    return pairs
