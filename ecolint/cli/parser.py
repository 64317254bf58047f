"""argparse, told to be brief: one line for a mistake, and no work before help is asked for."""

import os
import sys
from argparse import ArgumentParser, HelpFormatter
from collections.abc import Sequence
from typing import Any, NoReturn

from ecolint.cli import FAILED


def _format(prog: str) -> HelpFormatter:
    """A formatter that knows the width itself.

    argparse makes one for every argument that is declared, and to ask for the width imports
    shutil with its compressors: a tenth of a run that finds nothing.
    """
    try:
        columns = int(os.environ.get("COLUMNS", "")) or 80
    except ValueError:
        columns = 80
        if sys.stdout.isatty():
            columns = os.get_terminal_size(sys.stdout.fileno()).columns
    return HelpFormatter(prog=prog, width=max(columns - 2, 40))


class Parser(ArgumentParser):
    """A parser that refuses abbreviations and reports a mistake in one line."""

    def __init__(self, **options: Any) -> None:
        options = {"allow_abbrev": False, "formatter_class": _format, **options}
        super().__init__(**options)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse, and stop at an option that is not known here, naming the nearest that is."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            from ecolint.selectors import did_you_mean

            word = unknown[0]
            hint = did_you_mean(word.partition("=")[0], tuple(self._option_string_actions), 0.75)
            what = "option" if word.startswith("-") else "argument"
            self.error(f"unknown {what} {word!r}{hint}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong, and stop."""
        self.exit(FAILED, f"{self.prog}: {message} (see `{self.prog} --help`)\n")
