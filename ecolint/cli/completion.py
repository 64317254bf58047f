"""`ecolint completion SHELL`: a completion script, made by shtab from the parser itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ecolint.cli import CLEAN, COMMANDS, FAILED, build_parser

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "completion",
        help=COMMANDS["completion"],
        description=COMMANDS["completion"],
        epilog="Example: ecolint completion bash >> ~/.bashrc",
    )
    parser.add_argument("shell", metavar="SHELL", help="bash, zsh or tcsh")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    try:
        import shtab
    except ImportError:
        print(
            "ecolint: completion needs shtab; run `pip install 'ecolint[completion]'`",
            file=sys.stderr,
        )
        return FAILED
    if args.shell not in shtab.SUPPORTED_SHELLS:
        shells = ", ".join(shtab.SUPPORTED_SHELLS)
        print(f"ecolint: no completion for {args.shell!r}, only for {shells}", file=sys.stderr)
        return FAILED
    print(shtab.complete(build_parser(tuple(COMMANDS)), shell=args.shell))
    return CLEAN
