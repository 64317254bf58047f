"""The findings as one JSON list; `schema.json` beside this module describes it."""

from __future__ import annotations

import json
from typing import Any, TextIO

from ecolint.diagnostics import Diagnostic, Fix, LocatedEdit, Location
from ecolint.output import Findings, Style


def write(result: Findings, stream: TextIO, style: Style) -> None:
    """Print the list, indented, in ASCII: every consumer's encoding can hold it."""
    json.dump([to_dict(one) for one in result.diagnostics], stream, indent=2)
    stream.write("\n")


def to_dict(diagnostic: Diagnostic) -> dict[str, Any]:
    """A finding as plain values, in the order in which the schema lists them."""
    evidence = diagnostic.evidence
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "filename": diagnostic.filename,
        "location": _place(diagnostic.location),
        "end_location": _place(diagnostic.end_location),
        "cell": diagnostic.location.cell,
        "url": diagnostic.url,
        "fix": diagnostic.fix and _fix(diagnostic.fix, diagnostic),
        "evidence": evidence
        and {
            "rows": list(evidence.rows),
            "energy_vs_fp16_pct": evidence.energy_vs_fp16_pct,
            "provenance": evidence.provenance.value,
        },
        "role": diagnostic.role or None,
        "gpu": diagnostic.gpu,
        "model": diagnostic.model,
    }


def _fix(fix: Fix, diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "edits": [_edit(one, diagnostic.location.cell) for one in diagnostic.fix_locations],
    }


def _edit(located: LocatedEdit, cell: int | None) -> dict[str, Any]:
    """An edit; it tells its cell where that is another than the finding's (an added import)."""
    content = located.edit.content
    edit: dict[str, Any] = {
        "content": content if located.location.cell is None else _unquoted(content),
        "location": _place(located.location),
        "end_location": _place(located.end_location),
    }
    if located.location.cell != cell:
        edit["cell"] = located.location.cell
    return edit


def _unquoted(content: str) -> str:
    """The source text that a notebook's edit writes: inside the file it is quoted as JSON."""
    return "".join(json.loads(f'["{content}"]'))


def _place(location: Location) -> dict[str, int]:
    return {"row": location.row, "column": location.column}
