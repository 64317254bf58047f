"""`ecolint rule CODE|NAME`: a rule's manual, without a browser or a network."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from ecolint.cli import CLEAN, COMMANDS
from ecolint.manual import read_manual, to_dict, to_markdown, to_text
from ecolint.output.terminal import shows_colour
from ecolint.registry import find_rule, load_rules
from ecolint.selectors import did_you_mean
from ecolint.settings import SettingsError

if TYPE_CHECKING:
    import argparse

    from ecolint.rule import LoadedRule


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "rule",
        help=COMMANDS["rule"],
        description="Explain a rule: what it finds, why, what was measured, and when not to mind.",
    )
    parser.add_argument("rule", nargs="?", metavar="CODE|NAME", help="such as ECO101")
    parser.add_argument("--all", action="store_true", help="explain every rule")
    parser.add_argument("--output-format", choices=("text", "json", "markdown"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the manual of a rule, or of all."""
    if args.all == (args.rule is not None):
        raise SettingsError("rule: give a code, a name or --all")
    wanted = load_rules() if args.all else (_find(args.rule),)
    manuals = [read_manual(loaded) for loaded in wanted]
    if args.output_format == "json":
        tables = [to_dict(manual) for manual in manuals]
        print(json.dumps(tables if args.all else tables[0], indent=2))
    elif args.output_format == "markdown":
        print("\n".join(to_markdown(manual) for manual in manuals), end="")
    else:
        colour = shows_colour(sys.stdout, "auto")
        print("\n".join(to_text(manual, colour) for manual in manuals), end="")
    return CLEAN


def _find(name: str) -> LoadedRule:
    found = find_rule(name)
    if found is None:
        spellings = [text for one in load_rules() for text in (one.rule.code, one.rule.name)]
        raise SettingsError(f"unknown rule {name!r}{did_you_mean(name, spellings)}")
    return found
