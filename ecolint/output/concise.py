"""One line a finding: `serve.py:14:9: ECO101 [red] message [*]`."""

from typing import TextIO

from ecolint.diagnostics import Applicability, Diagnostic
from ecolint.output import Findings, Style
from ecolint.output.terminal import neutralise, paint


def write(result: Findings, stream: TextIO, style: Style) -> None:
    """Print a line for each finding."""
    for diagnostic in result.diagnostics:
        stream.write(headline(diagnostic, style) + "\n")


def headline(diagnostic: Diagnostic, style: Style) -> str:
    """The line of one finding; `[*]` marks that `--fix` would mend it."""
    colon = paint(":", "cyan", style.colour)
    place = diagnostic.location
    parts = [paint(neutralise(diagnostic.filename), "bold", style.colour)]
    if place.cell is not None:
        parts.append(f"cell {place.cell}")
    where = colon.join((*parts, str(place.row), str(place.column), ""))
    severity = paint(f"[{diagnostic.severity.value}]", diagnostic.severity, style.colour)
    code = paint(diagnostic.code, diagnostic.severity, style.colour)
    star = f" [{paint('*', 'cyan', style.colour)}]" if applies(diagnostic, style) else ""
    return f"{where} {code} {severity} {neutralise(diagnostic.message)}{star}"


def applies(diagnostic: Diagnostic, style: Style) -> bool:
    """Whether the finding's fix would be applied under these settings."""
    if diagnostic.fix is None:
        return False
    applicability = diagnostic.fix.applicability
    return applicability is Applicability.SAFE or (
        applicability is Applicability.UNSAFE and style.unsafe_fixes
    )
