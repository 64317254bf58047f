"""Diagnostics as plain values for the cache, and back."""

from dataclasses import asdict
from typing import Any

from ecolint.diagnostics import (
    Applicability,
    Diagnostic,
    Edit,
    Evidence,
    Fix,
    LocatedEdit,
    Location,
    Provenance,
    Severity,
    Span,
)


def to_plain(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as JSON can hold it, nothing left out."""
    return asdict(diagnostic)


def from_plain(plain: dict[str, Any]) -> Diagnostic:
    """The diagnostic that `to_plain` was given.

    Raises:
        KeyError, TypeError, ValueError: it is not what `to_plain` writes.
    """
    fix, evidence = plain["fix"], plain["evidence"]
    return Diagnostic(
        **{
            **plain,
            "severity": Severity(plain["severity"]),
            "span": Span(**plain["span"]),
            "location": Location(**plain["location"]),
            "end_location": Location(**plain["end_location"]),
            "fix": None if fix is None else _fix(fix),
            "fix_locations": tuple(_located(one) for one in plain["fix_locations"]),
            "evidence": None if evidence is None else _evidence(evidence),
        }
    )


def _edit(plain: dict[str, Any]) -> Edit:
    return Edit(Span(**plain["span"]), plain["content"])


def _fix(plain: dict[str, Any]) -> Fix:
    edits = tuple(_edit(one) for one in plain["edits"])
    return Fix(plain["message"], Applicability(plain["applicability"]), edits)


def _located(plain: dict[str, Any]) -> LocatedEdit:
    return LocatedEdit(
        _edit(plain["edit"]), Location(**plain["location"]), Location(**plain["end_location"])
    )


def _evidence(plain: dict[str, Any]) -> Evidence:
    provenance = Provenance(plain["provenance"])
    return Evidence(**{**plain, "rows": tuple(plain["rows"]), "provenance": provenance})
