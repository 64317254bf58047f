"""The command line. One module a command, imported only when that command is called.

A command's module has `add_parser(subparsers)` and `run(args) -> exit status`. The status is
0 when all is well, 1 when there are findings, 2 when ecolint could not do what was asked.
"""

import os
import sys

from ecolint import __version__

MYPY = False
if MYPY:
    import argparse
    from collections.abc import Sequence
    from types import ModuleType

# What `ecolint --help` says of each command, so that it need not import them all.
COMMANDS = {
    "check": "Find wasted energy in files and folders",
    "rule": "Explain a rule",
    "rules": "List the rules",
    "config": "Describe the settings",
    "data": "Look at the measurements behind the figures",
    "measure": "Measure energy on your own GPU",
    "completion": "Print a completion script for a shell",
    "version": "Print the version",
}
CLEAN, FOUND, FAILED = 0, 1, 2
INTERRUPTED, NOBODY_READS = 130, 141


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run a command line and return its exit status; never raises, never shows a traceback."""
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        status = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout once more at exit; give it somewhere to write to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    except SystemExit as stop:  # argparse has said what it had to say
        return stop.code if isinstance(stop.code, int) else FAILED
    except Exception as error:
        return _explain(error)
    return status


def _run(words: "list[str]") -> int:
    if words in (["version"], ["--version"], ["-V"]):
        print(f"ecolint {__version__}")
        return CLEAN
    first = words[0] if words else "--help"
    if first in ("-h", "--help", "help"):
        build_parser(()).print_help()
        return CLEAN if words else FAILED
    if first not in COMMANDS:
        _refuse_misspelt(first)
        words = ["check", *words]
    command = words[0]
    args = build_parser((command,)).parse_args(words)
    status: int = load_command(command).run(args)
    return status


def _refuse_misspelt(word: str) -> None:
    """Stop at a first word that is nearly a command and no path: `ecolint chekc src`."""
    if word.startswith("-") or os.path.lexists(word) or not word.isalpha():
        return
    from ecolint.selectors import did_you_mean
    from ecolint.settings import SettingsError

    hint = did_you_mean(word, tuple(COMMANDS))
    if hint:
        raise SettingsError(f"{word}: no such command, file or folder{hint}")


def build_parser(commands: "Sequence[str]") -> "argparse.ArgumentParser":
    """The parser with these commands and their arguments; without any, with all their names."""
    from ecolint.cli.parser import Parser

    parser = Parser(
        prog="ecolint",
        description="Find and fix wasted GPU energy in LLM inference code and configuration.",
        epilog="`ecolint PATH` is short for `ecolint check PATH`.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"ecolint {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name in commands:
        load_command(name).add_parser(subparsers)
    for name in () if commands else COMMANDS:
        subparsers.add_parser(name, help=COMMANDS[name], add_help=False)
    return parser


def load_command(name: str) -> "ModuleType":
    """The module of a command."""
    from importlib import import_module

    return import_module(f"ecolint.cli.{name}")


def _explain(error: Exception) -> int:
    """Say in one line why a command failed."""
    from ecolint.output.terminal import neutralise
    from ecolint.registry import RuleError
    from ecolint.settings import SettingsError

    if isinstance(error, (SettingsError, RuleError)):
        print(f"ecolint: {neutralise(str(error))}", file=sys.stderr)
        return FAILED
    if os.environ.get("ECOLINT_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
        return FAILED
    what = neutralise(" ".join(str(error).split()))
    print(
        f"ecolint: internal error: {type(error).__name__}: {what}{_last_frame(error)}; "
        "please report it (ECOLINT_TRACEBACK=1 tells more)",
        file=sys.stderr,
    )
    return FAILED


def _last_frame(error: Exception) -> str:
    trace = error.__traceback__
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    name = os.path.basename(trace.tb_frame.f_code.co_filename)
    return f" ({name}:{trace.tb_lineno})"
