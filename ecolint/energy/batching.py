"""Say what batching saves, from sweeps of one session each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from ecolint.catalog import find_gpu
from ecolint.diagnostics import Provenance
from ecolint.energy.dataset import Basis, Row, usable_rows

LARGEST_BATCH = 64


@dataclass(frozen=True, slots=True)
class BatchSaving:
    """Energy per token saved against batch 1, in percent; 84.0 means a sixth is left.

    `saving_pct` is the figure of the widest sweep, the range spans every sweep that answers.
    """

    batch: int
    saving_pct: float
    low_pct: float
    high_pct: float
    rows: tuple[str, ...]
    provenance: Provenance
    gpu: str
    sessions: tuple[str, ...]


def batch_saving(
    batch: int, gpu: str | None = None, precision: str | None = None
) -> BatchSaving | None:
    """Return what a batch saves against one request at a time, None outside 2 to 64.

    Without a sweep of the card or the precision asked for, every sweep answers.
    """
    if not 1 < batch <= LARGEST_BATCH:
        return None
    card = find_gpu(gpu) if gpu else None
    if card is not None and card.vendor != "nvidia":
        return None
    found = [one for one in (_read(sweep, batch) for sweep in _sweeps()) if one is not None]
    own = [one for one in found if card and one.gpu == card.name]
    same = [one for one in own or found if precision and one.precision == precision]
    chosen = same or own or found
    if not chosen:
        return None
    best = max(chosen, key=lambda one: one.reach)
    kind = Provenance.MEASURED if best.exact else Provenance.INTERPOLATED
    return BatchSaving(
        batch=batch,
        saving_pct=best.saving_pct,
        low_pct=min(one.saving_pct for one in chosen),
        high_pct=max(one.saving_pct for one in chosen),
        rows=best.rows,
        provenance=Provenance.EXTRAPOLATED if card and not own else kind,
        gpu=best.gpu,
        sessions=tuple(dict.fromkeys(one.session for one in chosen)),
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    saving_pct: float
    exact: bool
    rows: tuple[str, ...]
    gpu: str
    precision: str
    session: str
    reach: float


def _sweeps() -> list[list[tuple[float, float, Row]]]:
    """Return batch, energy and row of each session, model and precision that vary in batch."""
    groups: dict[tuple[str, str, str], list[tuple[float, float, Row]]] = {}
    for row in usable_rows():
        if row.batch and row.energy_j_per_1k and row.session.basis is not Basis.UNSTATED:
            key = (row.session.id, row.model, row.precision)
            groups.setdefault(key, []).append((row.batch, row.energy_j_per_1k, row))
    sweeps = [sorted(group, key=lambda one: one[0]) for group in groups.values()]
    return [sweep for sweep in sweeps if sweep[0][0] == 1 and sweep[-1][0] > 1]


def _read(sweep: list[tuple[float, float, Row]], batch: int) -> _Reading | None:
    """Read a sweep at a batch size; straight lines between logarithms where not measured."""
    _, alone, first = sweep[0]
    for (small, dear, before), (large, cheap, after) in pairwise(sweep):
        if not small < batch <= large:
            continue
        part = math.log(batch / small) / math.log(large / small)
        energy = dear * (cheap / dear) ** part
        card = find_gpu(first.gpu)
        return _Reading(
            saving_pct=100 * (1 - energy / alone),
            exact=batch == large,
            rows=(after.id, first.id) if batch == large else (before.id, after.id, first.id),
            gpu=card.name if card else first.gpu,
            precision=first.precision,
            session=first.session.id,
            reach=sweep[-1][0],
        )
    return None
