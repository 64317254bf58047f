"""Read one session between its rows: along batch, then along model size.

Along size the session's own ratio to the fitted model is read, not its energy: two models
of nearly one size may differ by half in layers, and eager decoding pays by the layer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ecolint.catalog import Model, find_model
from ecolint.energy.ratios import SAME_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ecolint.energy.dataset import Row, Session
    from ecolint.energy.physics import Step

# Mean running sequences of a serving run differ this much from the number asked for.
SAME_BATCH = 0.03
# Two neighbours further apart than this factor say too little about what lies between.
_WIDEST_BATCH_GAP = 4.0
_WIDEST_SIZE_GAP = 4.0


@dataclass(frozen=True, slots=True)
class Cell:
    """Energy and speed at one batch and size: measured there if `exact`, else read between.

    `seconds` is the time of a decode step of the whole batch, None where not published.
    """

    session: Session
    model: Model
    batch: float
    energy_j_per_1k: float
    seconds: float | None
    exact: bool
    rows: tuple[str, ...]
    input_tokens: float | None


def read_session(
    rows: Iterable[Row],
    model: Model,
    batch: float,
    expected: Callable[[Model, float], Step | None],
) -> Cell | None:
    """Return what one session's rows say of a model at a batch, None outside their range.

    `expected` gives the fitted model's step for a model and batch, None where it has none.
    """
    sizes = _by_size(rows)
    cells = [cell for cell in (_along_batch(size, batch) for size in sizes) if cell is not None]
    named = [cell for cell in cells if cell.model.id == model.id]
    same = [c for c in cells if abs(c.model.params_b / model.params_b - 1) <= SAME_SIZE]
    if named or same:
        return (named or same)[0]
    if model.kind != "dense":
        return None
    dense = [cell for cell in cells if cell.model.kind == "dense"]
    for low, high in pairwise(sorted(dense, key=lambda cell: cell.model.params_b)):
        if low.model.params_b < model.params_b < high.model.params_b:
            return _along_size(low, high, model, batch, expected)
    return None


def _by_size(rows: Iterable[Row]) -> list[list[Cell]]:
    """Group rows by model, those of one model in order of batch; repeats are averaged."""
    groups: dict[str, dict[float, list[Cell]]] = {}
    for row in rows:
        model, energy = find_model(row.model), row.gross_j_per_1k
        if model is None or not row.batch or not energy:
            continue
        seconds = row.batch / row.throughput_tok_s if row.throughput_tok_s else None
        cell = Cell(
            row.session, model, row.batch, energy, seconds, True, (row.id,), row.input_tokens
        )
        groups.setdefault(model.id, {}).setdefault(row.batch, []).append(cell)
    return [
        [_mean(repeats) for _, repeats in sorted(batches.items())] for batches in groups.values()
    ]


def _mean(repeats: list[Cell]) -> Cell:
    if len(repeats) == 1:
        return repeats[0]
    timed = [cell.seconds for cell in repeats if cell.seconds]
    first = repeats[0]
    return Cell(
        session=first.session,
        model=first.model,
        batch=first.batch,
        energy_j_per_1k=sum(cell.energy_j_per_1k for cell in repeats) / len(repeats),
        seconds=sum(timed) / len(timed) if timed else None,
        exact=True,
        rows=tuple(row for cell in repeats for row in cell.rows),
        input_tokens=first.input_tokens,
    )


def _along_batch(cells: list[Cell], batch: float) -> Cell | None:
    near = min(cells, key=lambda cell: abs(math.log(cell.batch / batch)))
    if abs(near.batch / batch - 1) <= SAME_BATCH:
        return near
    for low, high in pairwise(cells):
        if low.batch < batch < high.batch <= _WIDEST_BATCH_GAP * low.batch:
            part = math.log(batch / low.batch) / math.log(high.batch / low.batch)
            return Cell(
                session=low.session,
                model=low.model,
                batch=batch,
                energy_j_per_1k=_between(low.energy_j_per_1k, high.energy_j_per_1k, part),
                seconds=_between_known(low.seconds, high.seconds, part),
                exact=False,
                rows=low.rows + high.rows,
                input_tokens=low.input_tokens,
            )
    return None


def _along_size(
    low: Cell,
    high: Cell,
    model: Model,
    batch: float,
    expected: Callable[[Model, float], Step | None],
) -> Cell | None:
    steps = [expected(one, batch) for one in (low.model, model, high.model)]
    if any(step is None for step in steps):
        return None
    below, here, above = (step for step in steps if step is not None)
    span = math.log(high.model.params_b / low.model.params_b)
    if span > math.log(_WIDEST_SIZE_GAP):
        return None
    part = math.log(model.params_b / low.model.params_b) / span
    energy = _between(
        low.energy_j_per_1k / below.energy_j_per_1k,
        high.energy_j_per_1k / above.energy_j_per_1k,
        part,
    )
    timed = _between_known(
        low.seconds and low.seconds / below.seconds,
        high.seconds and high.seconds / above.seconds,
        part,
    )
    return Cell(
        session=low.session,
        model=model,
        batch=batch,
        energy_j_per_1k=energy * here.energy_j_per_1k,
        seconds=timed and timed * here.seconds,
        exact=False,
        rows=low.rows + high.rows,
        input_tokens=low.input_tokens,
    )


def _between(low: float, high: float, part: float) -> float:
    return float(low * (high / low) ** part)


def _between_known(low: float | None, high: float | None, part: float) -> float | None:
    return _between(low, high, part) if low and high else None
