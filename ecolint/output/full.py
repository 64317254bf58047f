"""Each finding with its source line, a caret under the setting, and its fix."""

from typing import TextIO

from ecolint.diagnostics import Applicability, Diagnostic
from ecolint.output import Findings, Style
from ecolint.output.concise import headline
from ecolint.output.terminal import lay_out, neutralise, paint

# A minified file is one line; the part around the finding is what a reader can use.
_BEFORE = 60
_LONGEST = 200

_RISK = {
    Applicability.SAFE: "safe fix",
    Applicability.UNSAFE: "unsafe fix",
    Applicability.DISPLAY: "to be applied by hand",
}


def write(result: Findings, stream: TextIO, style: Style) -> None:
    """Print a block for each finding, with an empty line after it."""
    for diagnostic in result.diagnostics:
        stream.write("\n".join((headline(diagnostic, style), *_body(diagnostic, style), "", "")))


def _body(diagnostic: Diagnostic, style: Style) -> list[str]:
    number = str(diagnostic.location.row)
    margin = " " * len(number)
    bar = paint("|", "blue", style.colour)
    lines: list[str] = []
    if diagnostic.line:
        shown, caret = _excerpt(diagnostic)
        marks = paint(caret.lstrip(" "), diagnostic.severity, style.colour)
        indent = " " * (len(caret) - len(caret.lstrip(" ")))
        lines += [
            f"{margin} {bar}",
            f"{paint(number, 'blue', style.colour)} {bar} {shown}",
            f"{margin} {bar} {indent}{marks}",
        ]
    if diagnostic.fix is not None:
        help_word = paint("help", "bold", style.colour)
        risk = _RISK[diagnostic.fix.applicability]
        lines.append(f"{margin} = {help_word}: {neutralise(diagnostic.fix.message)} ({risk})")
    return lines


def _excerpt(diagnostic: Diagnostic) -> tuple[str, str]:
    """The source line, shortened where it is very long, and the carets that go under it."""
    line = diagnostic.line
    start = diagnostic.location.column - 1
    same_row = diagnostic.end_location.row == diagnostic.location.row
    end = diagnostic.end_location.column - 1 if same_row else len(line)
    before = after = ""
    if len(line) > _LONGEST:
        first = max(start - _BEFORE, 0)
        last = first + _LONGEST
        before, after = "…" if first else "", "…" if last < len(line) else ""
        line, start, end = line[first:last], start - first, min(end - first, _LONGEST)
    shown, left, right = lay_out(line, start, end)
    caret = " " * (len(before) + left) + "^" * max(right - left, 1)
    return f"{before}{shown}{after}".rstrip(), caret
