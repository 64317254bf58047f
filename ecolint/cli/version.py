"""`ecolint version`: which ecolint this is. Without options `ecolint.cli` answers itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ecolint import __version__
from ecolint.cli import CLEAN, COMMANDS

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "version", help=COMMANDS["version"], description=COMMANDS["version"]
    )
    parser.add_argument("--output-format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the version."""
    if args.output_format == "json":
        print(json.dumps({"version": __version__}))
    else:
        print(f"ecolint {__version__}")
    return CLEAN
