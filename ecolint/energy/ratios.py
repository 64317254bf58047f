"""Form energy ratios inside one session, and read them along model size.

Figures of two sessions are never divided by each other: the same card and model differ by
a fifth in FP16 and by more than half in INT8 between two software stacks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ecolint.energy.dataset import Basis, Row, Session, find_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Two ids of one architecture (base and chat, v0.1 and v0.3) differ by less than this.
SAME_SIZE = 0.01


@dataclass(frozen=True, slots=True)
class Point:
    """A ratio to FP16 at one model size, in percent, with both its rows."""

    params_b: float
    pct: float
    model: str
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """The ratios of one session, in order of model size."""

    session: Session
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A session's ratio at a size: measured there, or read between two measured sizes."""

    session: Session
    pct: float
    exact: bool
    model: str
    rows: tuple[str, ...]


def ratio_to_fp16(row: Row, known: Mapping[str, Row] | None = None) -> float | None:
    """Return the row's energy against its own session's FP16 in percent, gross.

    `known` are rows outside data/ among which the baseline may be. None where the session
    tells no gross energy; one that timed decoding alone is compared as published.
    """
    if not row.baseline:
        return row.energy_vs_fp16_pct if row.session.basis is Basis.GROSS else None
    base = (known or {}).get(row.baseline) or find_row(row.baseline)
    if base is None:
        return None
    above, below = row.gross_j_per_1k, base.gross_j_per_1k
    if row.session.basis.partial:
        above, below = row.energy_j_per_1k, base.energy_j_per_1k
    if above is None or below is None:
        return None
    return 100 * (above / below - 1)


def curves(rows: Iterable[Row], precision: str, batch: float) -> list[Curve]:
    """Return each session's ratios for a precision at a batch size."""
    from ecolint.catalog import find_model

    rows = list(rows)
    known = {row.id: row for row in rows}
    found: dict[str, list[Point]] = {}
    by_id: dict[str, Session] = {}
    for row in rows:
        if row.precision != precision or row.batch != batch:
            continue
        model, pct = find_model(row.model), ratio_to_fp16(row, known)
        if pct is None or model is None:
            continue
        sides = (row.id, row.baseline) if row.baseline else (row.id,)
        by_id[row.session.id] = row.session
        found.setdefault(row.session.id, []).append(Point(model.params_b, pct, row.model, sides))
    return [
        Curve(by_id[key], tuple(sorted(points, key=lambda point: point.params_b)))
        for key, points in found.items()
    ]


def read_at(curve: Curve, params_b: float, model: str = "") -> Reading | None:
    """Read a curve at a size; None outside the sizes that its session measured."""
    same = [p for p in curve.points if abs(p.params_b / params_b - 1) <= SAME_SIZE]
    if same:
        best = next((p for p in same if p.model == model), same[0])
        return Reading(curve.session, best.pct, True, best.model, best.rows)
    for low, high in pairwise(curve.points):
        if low.params_b < params_b < high.params_b:
            part = math.log(params_b / low.params_b) / math.log(high.params_b / low.params_b)
            pct = low.pct + part * (high.pct - low.pct)
            return Reading(curve.session, pct, False, "", low.rows + high.rows)
    return None
