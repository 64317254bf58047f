"""`ecolint rules`: all rules, a line each."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from ecolint.cli import CLEAN, COMMANDS
from ecolint.manual import align
from ecolint.output.terminal import paint, shows_colour
from ecolint.registry import load_rules

if TYPE_CHECKING:
    import argparse

    from ecolint.rule import Rule


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("rules", help=COMMANDS["rules"], description=COMMANDS["rules"])
    parser.add_argument("--output-format", choices=("text", "json", "markdown"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the list."""
    rules = [loaded.rule for loaded in load_rules()]
    if args.output_format == "json":
        print(json.dumps([_to_dict(rule) for rule in rules], indent=2))
    elif args.output_format == "markdown":
        print("| Code | Name | Severity | Fix | Finds |\n| --- | --- | --- | --- | --- |")
        for rule in rules:
            link = f"[{rule.name}]({rule.url})"
            print(
                f"| {rule.code} | {link} | {rule.severity.value} | {_fix(rule)} | {rule.summary} |"
            )
    else:
        _print_table(rules, shows_colour(sys.stdout, "auto"))
    return CLEAN


def _print_table(rules: list[Rule], colour: bool) -> None:
    cells = [(r.code, r.severity.value, r.name, _fix(r), r.summary) for r in rules]
    for line, rule in zip(align(cells) if cells else [], rules, strict=True):
        code, rest = line[: len(rule.code)], line[len(rule.code) :]
        print(paint(code, rule.severity, colour) + rest)


def _fix(rule: Rule) -> str:
    return rule.applicability.value if rule.applicability else "-"


def _to_dict(rule: Rule) -> dict[str, str | None]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "fix": rule.applicability.value if rule.applicability else None,
        "summary": rule.summary,
        "since": rule.since,
        "url": rule.url,
    }
