"""Where findings go: stdout, files, or both, each in its own format.

Imported once there is something to print.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TextIO

from ecolint.diagnostics import Applicability, Diagnostic, Severity
from ecolint.output import FOR_PEOPLE, FORMATS, Style, load_writer
from ecolint.output.terminal import shows_colour
from ecolint.selectors import did_you_mean
from ecolint.settings import Hierarchy, Settings, SettingsError, may_fix


class Findings(NamedTuple):
    """What writers are handed."""

    diagnostics: Sequence[Diagnostic]


class Target(NamedTuple):
    """A format, and the file that it is written to."""

    format: str
    path: str


def read_targets(words: Sequence[str], chosen: str) -> tuple[list[Target], bool]:
    """The files to write, and whether stdout gets the findings too.

    `FORMAT:FILE` is written besides stdout; a FILE alone takes its place, in the format chosen.

    Raises:
        SettingsError: a format is misspelt.
    """
    targets = []
    besides = True
    for word in words:
        name, colon, path = word.partition(":")
        if colon and name in FORMATS:
            targets.append(Target(name, path))
            continue
        near = did_you_mean(name, tuple(FORMATS)) if colon else ""
        if near:
            raise SettingsError(f"--output-file: unknown format {name!r}{near}")
        targets.append(Target(chosen, word))
        besides = False
    return targets, besides


def print_findings(
    found: Sequence[Diagnostic], args: Namespace, settings: Settings, stream: TextIO
) -> None:
    """Print findings to a stream, and to the files that were asked for.

    Raises:
        SettingsError: a file can't be written.
    """
    findings = Findings(found)
    targets, besides = read_targets(args.output_file, settings.output_format)
    for target in targets:
        try:
            with open(target.path, "w", encoding="utf-8", newline="\n") as file:
                load_writer(target.format).write(
                    findings, file, Style(unsafe_fixes=settings.unsafe_fixes)
                )
        except OSError as error:
            raise SettingsError(f"{target.path}: {error.strerror or error}") from None
    if not besides or args.silent:
        return
    style = Style(shows_colour(stream, args.color), settings.unsafe_fixes)
    if args.statistics:
        from ecolint.output.statistics import write

        write(findings, stream, style, settings.output_format)
    else:
        load_writer(settings.output_format).write(findings, stream, style)


def print_summary(
    found: Sequence[Diagnostic], fixed: Sequence[Diagnostic], args: Namespace, settings: Settings
) -> str:
    """The lines after the findings; empty where the format is for machines."""
    from ecolint.output.summary import list_fixed, summarise

    if settings.output_format not in FOR_PEOPLE:
        return ""
    lines = [list_fixed(fixed), ""] if args.show_fixes and fixed else []
    return "\n".join([*lines, summarise(found, len(fixed), settings.unsafe_fixes)]) + "\n"


def withhold_fixes(found: Sequence[Diagnostic], hierarchy: Hierarchy) -> list[Diagnostic]:
    """The findings; a fix that `unfixable` keeps from being applied is shown only."""
    return [
        one
        if one.fix is None or may_fix(hierarchy.of_file(one.filename), one.code, one.name)
        else replace(one, fix=replace(one.fix, applicability=Applicability.DISPLAY))
        for one in found
    ]


def counts(diagnostic: Diagnostic) -> bool:
    """Whether a finding makes the exit status 1: all but good practices do."""
    return diagnostic.severity is not Severity.GREEN


def tolerate_encoding(stream: TextIO) -> None:
    """Print characters that a stream's encoding lacks as escapes, instead of failing."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def stdout_bytes(content: bytes) -> None:
    """Write bytes to stdout as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
