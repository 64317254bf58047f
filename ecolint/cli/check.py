"""`ecolint check`: find wasted energy, and mend it where that is asked for.

On the path of every start: a run that finds nothing imports no more than it needs to say so.
"""

import os
import sys
from argparse import Namespace, _SubParsersAction

from ecolint.action import Action
from ecolint.cli import CLEAN, FAILED, FOUND
from ecolint.cli.arguments import declare, read_hierarchy
from ecolint.output import FOR_PEOPLE
from ecolint.runner import Result, run_text
from ecolint.runner import run as run_paths
from ecolint.settings import Hierarchy, Settings, SettingsError

MYPY = False
if MYPY:
    from argparse import ArgumentParser
    from collections.abc import Callable

_STDIN = "-"


def add_parser(subparsers: "_SubParsersAction[ArgumentParser]") -> None:
    """Declare the arguments."""
    declare(subparsers)


def run(args: Namespace) -> int:
    """Check what the arguments name."""
    hierarchy = read_hierarchy(args)
    paths = args.paths or ["."]
    if args.show_settings:
        return _show_settings(paths[0], hierarchy)
    if args.show_files:
        return _show_files(paths, hierarchy)
    if _STDIN in paths and len(paths) > 1:
        raise SettingsError("'-' (stdin) can't be checked together with files")
    if args.stdin_filename and paths not in ([_STDIN], ["."]):
        raise SettingsError("--stdin-filename needs '-' as the only path")
    if args.watch:
        return _watch(paths, args, hierarchy)
    if paths == [_STDIN] or args.stdin_filename:
        return _check_stdin(args, hierarchy)
    return _check_paths(paths, args, hierarchy)


def _check_paths(paths: "list[str]", args: Namespace, hierarchy: Hierarchy) -> int:
    settings = hierarchy.of_folder(".")
    progress = None
    if sys.stderr.isatty() and not (args.quiet or args.silent):
        from ecolint.cli.progress import Progress

        progress = Progress()
    try:
        result = run_paths(paths, hierarchy, _action(args, settings), progress)
    finally:
        if progress is not None:
            progress.close()
    if not result.files and not result.failed and not args.quiet and not args.silent:
        print("ecolint: no files to check here", file=sys.stderr)
    return _conclude(result, args, hierarchy, settings)


def _check_stdin(args: Namespace, hierarchy: Hierarchy) -> int:
    """Check stdin; with --fix the fixed text goes to stdout and all else to stderr."""
    path = args.stdin_filename or _STDIN
    settings = hierarchy.of_file(path)
    action = _action(args, settings)
    if action is Action.SILENCE:
        raise SettingsError("--add-noqa needs files to write to, not stdin")
    result, after = run_text(sys.stdin.buffer.read(), path, hierarchy, action)
    if action is Action.FIX:
        from ecolint.cli.printing import stdout_bytes

        stdout_bytes(after)
    return _conclude(result, args, hierarchy, settings, to_stderr=action is Action.FIX)


def _action(args: Namespace, settings: Settings) -> Action:
    if args.add_noqa:
        return Action.SILENCE
    if args.diff:
        return Action.DIFF
    return Action.FIX if settings.fix or args.fix_only else Action.CHECK


def _conclude(
    result: Result,
    args: Namespace,
    hierarchy: Hierarchy,
    settings: Settings,
    to_stderr: bool = False,
) -> int:
    """Print what a run came to, and tell its exit status."""
    if args.verbose:
        _say_what_was_done(result, settings)
    if args.add_noqa:
        return _conclude_silencing(result, args)
    if args.diff:
        return _conclude_diff(result, args)
    remaining = False
    if (
        result.diagnostics
        or result.fixed
        or args.output_file
        or settings.output_format not in FOR_PEOPLE
    ):
        remaining = _print(result, args, hierarchy, settings, to_stderr)
    elif not (args.quiet or args.silent or result.failed):
        print("All checks passed!", file=sys.stderr if to_stderr else sys.stdout)
    if result.failed:
        return FAILED
    if args.exit_non_zero_on_fix and result.fixed:
        return FOUND
    return FOUND if remaining and not args.exit_zero else CLEAN


def _print(
    result: Result, args: Namespace, hierarchy: Hierarchy, settings: Settings, to_stderr: bool
) -> bool:
    """Print the findings and the summary; tell whether findings are left that count."""
    from ecolint.cli import printing

    stream = sys.stderr if to_stderr else sys.stdout
    printing.tolerate_encoding(stream)
    found = [] if args.fix_only else printing.withhold_fixes(result.diagnostics, hierarchy)
    printing.print_findings(found, args, settings, stream)
    if not (args.quiet or args.silent) and (found or result.fixed or not result.failed):
        stream.write(printing.print_summary(found, result.fixed, args, settings))
    return any(map(printing.counts, found))


def _conclude_diff(result: Result, args: Namespace) -> int:
    from ecolint.cli import printing
    from ecolint.output.summary import would_fix

    printing.tolerate_encoding(sys.stdout)
    if not args.silent:
        sys.stdout.write(result.diff)
    if not (args.quiet or args.silent):
        sys.stdout.flush()
        print(would_fix(len(result.fixed)), file=sys.stderr)
    if result.failed:
        return FAILED
    return FOUND if result.diff and not args.exit_zero else CLEAN


def _conclude_silencing(result: Result, args: Namespace) -> int:
    from ecolint.output.summary import count

    if not (args.quiet or args.silent):
        left = len(result.diagnostics)
        rest = f"; {count(left, 'finding')} left where no comment can stand" if left else ""
        print(f"Silenced {count(len(result.fixed), 'finding')}{rest}.")
    return FAILED if result.failed else CLEAN


def _say_what_was_done(result: Result, settings: Settings) -> None:
    from ecolint.output.summary import count

    source = settings.source or "none, only defaults and flags"
    silenced = count(len(result.suppressed), "finding")
    print(f"ecolint: settings: {source}", file=sys.stderr)
    print(
        f"ecolint: {count(result.files, 'file')} read, {silenced} silenced by comments",
        file=sys.stderr,
    )


def _watch(paths: "list[str]", args: Namespace, hierarchy: Hierarchy) -> int:
    from ecolint.cache import FOLDER
    from ecolint.cli.watching import watch

    if _STDIN in paths or args.stdin_filename:
        raise SettingsError("--watch needs files, not stdin")
    settings = hierarchy.of_folder(".")
    own = settings.cache_dir or os.path.join(settings.root, FOLDER)
    written = [os.path.dirname(text.rpartition(":")[2]) for text in args.output_file]
    return watch(paths, [own, *filter(None, written)], _checker(paths, args))


def _checker(paths: "list[str]", args: Namespace) -> "Callable[[], int]":
    # Settings are read anew each time: they are among the files that change.
    return lambda: _check_paths(paths, args, read_hierarchy(args))


def _show_files(paths: "list[str]", hierarchy: Hierarchy) -> int:
    from ecolint.discovery import discover, display_path
    from ecolint.output.terminal import neutralise

    problems: list[str] = []

    def complain(text: str, *, fatal: bool = True) -> None:
        problems.extend([text] if fatal else [])
        print(f"ecolint: {neutralise(text)}", file=sys.stderr)

    for source in discover(paths, hierarchy, complain):
        print(neutralise(display_path(source.path)))
    return FAILED if problems else CLEAN


def _show_settings(path: str, hierarchy: Hierarchy) -> int:
    from ecolint.cli.config import settings_as_toml

    folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
    print(settings_as_toml(hierarchy.of_folder(folder)), end="")
    return CLEAN
