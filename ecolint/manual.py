"""A rule's manual: its module's docstring, its metadata and the rows measured for it.

`ecolint rule` prints it and the documentation's pages are made of it, so that both say the
same thing for ever.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from ecolint.diagnostics import Applicability
from ecolint.output.terminal import paint, width
from ecolint.rule import LoadedRule, Rule

if TYPE_CHECKING:
    from ecolint.energy.dataset import Row

_HEADING = re.compile(r"^## +(.+?) *$", re.MULTILINE)
_FENCE = re.compile(r"^(`{3,}|~{3,})")
_REFERENCES = "References"
_MEASURED = "Measured"

_FIXES = {
    None: "There is no automatic fix.",
    Applicability.SAFE: "The fix is safe: `--fix` applies it.",
    Applicability.UNSAFE: "The fix is unsafe: `--fix --unsafe-fixes` applies it.",
    Applicability.DISPLAY: "The fix is shown, and applied by hand.",
}

HEADER = ("GPU", "Precision", "Model", "Batch", "J per 1,000 tokens", "Against FP16", "Row")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a manual: its heading and its Markdown."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Manual:
    """A rule's manual, parsed. `rows` are those measured for the rule's precisions."""

    rule: Rule
    intro: str
    sections: tuple[Section, ...]
    rows: "tuple[Row, ...]"


def read_manual(loaded: LoadedRule) -> Manual:
    """Parse a rule's docstring and look up what was measured for it."""
    intro, *parts = _HEADING.split(cleandoc(loaded.manual))
    sections = [
        Section(title, text.strip()) for title, text in zip(parts[0::2], parts[1::2], strict=True)
    ]
    rows = measured_rows(loaded.rule.query)
    return Manual(loaded.rule, intro.strip(), _with_references(sections, loaded.rule), rows)


def _with_references(sections: list[Section], rule: Rule) -> tuple[Section, ...]:
    """The sections, References last, with those of the metadata that it lacks."""
    body = [section for section in sections if section.title != _REFERENCES]
    written = "\n".join(s.text for s in sections if s.title == _REFERENCES)
    added = [f"- {link}" for link in rule.references if link not in written]
    text = "\n".join(part for part in (written, *added) if part)
    return (*body, Section(_REFERENCES, text)) if text else tuple(body)


def measured_rows(precisions: Sequence[str]) -> "tuple[Row, ...]":
    """The usable rows that compare one of the precisions with FP16, by GPU, model and batch."""
    if not precisions:
        return ()
    from ecolint.energy.dataset import rows

    found = [
        row
        for row in rows()
        if row.precision in precisions and row.usable and row.energy_vs_fp16_pct is not None
    ]
    return tuple(
        sorted(found, key=lambda row: (row.gpu, row.precision, row.model, row.batch or 0, row.id))
    )


def to_markdown(manual: Manual) -> str:
    """The manual as a page."""
    rule = manual.rule
    parts = [f"# {rule.name} ({rule.code})", _facts(rule), manual.intro]
    for title, text in _pages(manual, _markdown_table):
        parts.append(f"## {title}\n\n{text}")
    return "\n\n".join(parts) + "\n"


def to_text(manual: Manual, colour: bool = False) -> str:
    """The manual for a terminal: code indented instead of fenced, columns aligned."""
    rule = manual.rule
    parts = [
        paint(f"{rule.code} {rule.name}", rule.severity, colour),
        _plain(_facts(rule)),
        _plain(manual.intro),
    ]
    for title, text in _pages(manual, _text_table):
        shown = text if title == _MEASURED else _plain(text)
        parts.append(f"{paint(title, 'bold', colour)}\n\n{shown}")
    return "\n\n".join(parts) + "\n"


def to_dict(manual: Manual) -> dict[str, Any]:
    """The manual as plain values."""
    rule = manual.rule
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "summary": rule.summary,
        "fix": rule.applicability.value if rule.applicability else None,
        "since": rule.since,
        "url": rule.url,
        "explanation": manual.intro,
        "sections": {section.title: section.text for section in manual.sections},
        "references": list(rule.references),
        "measured": [_row_dict(row) for row in manual.rows],
    }


def _facts(rule: Rule) -> str:
    severity = f"Severity {rule.severity.value}"
    if rule.query:
        severity += " by default; the data for your GPU and model may change it"
    return f"{severity}. {_FIXES[rule.applicability]} Since ecolint {rule.since}."


def _pages(manual: Manual, table: Any) -> list[tuple[str, str]]:
    """The sections with the measured rows before the references."""
    pages = [(section.title, section.text) for section in manual.sections]
    if manual.rows:
        from ecolint.energy.dataset import cite

        last = bool(pages) and pages[-1][0] == _REFERENCES
        text = f"{table(_cells(manual.rows))}\n\n{cite()}."
        pages.insert(len(pages) - last, (_MEASURED, text))
    return pages


def _cells(rows: "Sequence[Row]") -> list[tuple[str, ...]]:
    return [HEADER, *(_row_cells(row) for row in rows)]


def _row_cells(row: "Row") -> tuple[str, ...]:
    return (
        _gpu_name(row.gpu),
        row.precision,
        row.model,
        "" if row.batch is None else f"{row.batch:g}",
        "" if row.energy_j_per_1k is None else f"{row.energy_j_per_1k:,.0f}",
        "" if row.energy_vs_fp16_pct is None else f"{row.energy_vs_fp16_pct:+.1f} %",
        row.id,
    )


def _row_dict(row: "Row") -> dict[str, Any]:
    return {
        "id": row.id,
        "gpu": _gpu_name(row.gpu),
        "model": row.model,
        "precision": row.precision,
        "batch": row.batch,
        "energy_j_per_1k": row.energy_j_per_1k,
        "energy_vs_fp16_pct": row.energy_vs_fp16_pct,
        "stack": dict(row.session.stack),
        "source": row.source,
        "licence": row.licence,
    }


def _gpu_name(key: str) -> str:
    from ecolint.energy.dataset import read_table

    return next((line["name"] for line in read_table("gpus") if line["gpu"] == key), key)


def _markdown_table(cells: list[tuple[str, ...]]) -> str:
    header, *body = cells
    rule = ("---", "---", "---", "---:", "---:", "---:", "---")
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *body))


def _text_table(cells: list[tuple[str, ...]]) -> str:
    return "\n".join(align(cells, right=(3, 4, 5)))


def align(cells: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Lines of a table whose columns stand under each other; `right` columns end together."""
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    lines = []
    for line in cells:
        padded = []
        for index, (cell, room) in enumerate(zip(line, widths, strict=True)):
            gap = " " * (room - width(cell))
            padded.append(gap + cell if index in right else cell + gap)
        lines.append("  ".join(padded).rstrip())
    return lines


def _plain(markdown: str) -> str:
    """Markdown as a terminal shows it well: code indented between empty lines, no fences."""
    lines: list[str] = []
    fence = None
    for line in markdown.splitlines():
        found = _FENCE.match(line)
        if found and fence in (None, found[1]):
            fence = None if fence else found[1]
            line = ""
        elif fence:
            line = f"    {line}".rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).rstrip()
