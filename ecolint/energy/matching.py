"""Find the rows that answer a question as they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ecolint.catalog import find_gpu, find_model
from ecolint.energy.dataset import Row, rows, serving_rows
from ecolint.energy.interpolating import SAME_BATCH
from ecolint.energy.ratios import SAME_SIZE
from ecolint.energy.stack import by_fitness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ecolint.catalog import Model


@dataclass(frozen=True, slots=True)
class Measured:
    """Rows that match a question, best stack first, and the range of their energies."""

    rows: tuple[Row, ...]
    low_j_per_1k: float
    high_j_per_1k: float
    sessions: tuple[str, ...]


def measured(
    model: str | None = None,
    gpu: str | None = None,
    precision: str | None = None,
    engine: str | None = None,
    batch: float | None = None,
    stack: Mapping[str, str] | None = None,
    site: Sequence[Row] = (),
) -> Measured | None:
    """Return the usable rows that match every filter given, None where there are none.

    The range over sessions is the uncertainty, not the spread within one.
    """
    card, wanted = find_gpu(gpu) if gpu else None, find_model(model) if model else None

    def matches(row: Row) -> bool:
        known = find_model(row.model)
        return (
            row.usable
            and row.gross_j_per_1k is not None
            and (gpu is None or (card is not None and row.gpu == card.key))
            and (model is None or _same_model(known, wanted))
            and (precision is None or alike(row.precision) == alike(precision))
            and (engine is None or row.session.engine == engine)
            and (
                batch is None
                or (row.batch is not None and abs(row.batch / batch - 1) <= SAME_BATCH)
            )
        )

    found = [row for row in (*site, *rows(), *serving_rows()) if matches(row)]
    if not found:
        return None
    order = [one.id for one in by_fitness({r.session.id: r.session for r in found}.values(), stack)]
    found.sort(key=lambda row: order.index(row.session.id))
    energies = [row.gross_j_per_1k or 0.0 for row in found]
    return Measured(tuple(found), min(energies), max(energies), tuple(order))


def _same_model(known: Model | None, wanted: Model | None) -> bool:
    if known is None or wanted is None or known.kind != wanted.kind:
        return False
    return abs(known.params_b / wanted.params_b - 1) <= SAME_SIZE


def alike(precision: str) -> str:
    """Return the name under which a precision is compared: bf16 and fp16 are one."""
    return "fp16" if precision == "bf16" else precision
