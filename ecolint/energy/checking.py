"""Hold rows to physics: what no card can do is not a measurement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ecolint.catalog import find_gpu, find_model
from ecolint.energy.dataset import Basis, Row, find_row, rows, serving_rows
from ecolint.energy.memory import weight_gb

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ecolint.catalog import Gpu

_OVER_LIMIT = 1.05
_ENERGY_AGREES = 0.05
_PERCENT_AGREES = 1.0
_SIXTEEN_BIT = ("fp16", "bf16")


@dataclass(frozen=True, slots=True)
class Violation:
    """A row that breaks a law, and which."""

    row: str
    law: str


def check_rows(checked: Iterable[Row] | None = None) -> list[Violation]:
    """Return every violation among rows, by default all of data/ that advice may use.

    Rows graded C, D or X are kept because they are known to be wrong, and are not checked.
    """
    pool = (*rows(), *serving_rows()) if checked is None else checked
    return [violation for row in pool if row.usable for violation in check_row(row)]


def check_row(row: Row) -> Iterator[Violation]:
    """Yield the laws that a row breaks."""
    card = find_gpu(row.gpu)
    if card is None:
        yield Violation(row.id, f"unknown card {row.gpu!r}")
        return
    yield from _power(row, card)
    yield from _energy(row)
    yield from _speed(row, card)
    yield from _ratio(row)


def _power(row: Row, card: Gpu) -> Iterator[Violation]:
    if row.power_w is None:
        return
    per_card = row.power_w / row.n_gpus
    if card.tdp_w is not None and per_card > _OVER_LIMIT * card.tdp_w:
        yield Violation(row.id, f"{per_card:.0f} W a card is above its limit of {card.tdp_w:.0f} W")
    # Power above idle may itself be below idle.
    idle = 0.0 if row.session.basis is Basis.DECODE_NET else card.idle_w or 0.0
    if per_card <= idle:
        yield Violation(row.id, f"{per_card:.1f} W under load, {idle:.1f} W idle")


def _energy(row: Row) -> Iterator[Violation]:
    if row.power_w is None or row.throughput_tok_s is None or row.energy_j_per_1k is None:
        return
    if row.session.basis is Basis.NET:
        return
    implied = 1000 * row.power_w / row.throughput_tok_s
    if abs(row.energy_j_per_1k / implied - 1) > _ENERGY_AGREES:
        yield Violation(
            row.id,
            f"{row.energy_j_per_1k:.0f} J per 1k tokens, power over throughput is {implied:.0f}",
        )


def _speed(row: Row, card: Gpu) -> Iterator[Violation]:
    """Decoding reads all active weights once for every step of the batch."""
    model = find_model(row.model)
    if model is None or card.bandwidth_gb_s is None or not row.batch or not row.throughput_tok_s:
        return
    # Served mixtures of experts spread a batch over experts, and FP8 halves the bytes.
    if model.kind != "dense" or row.precision not in _SIXTEEN_BIT:
        return
    ceiling = row.n_gpus * card.bandwidth_gb_s / weight_gb(model, "fp16") * row.batch
    if row.throughput_tok_s > ceiling:
        yield Violation(
            row.id,
            f"{row.throughput_tok_s:.0f} tokens/s, but the memory can feed {ceiling:.0f}",
        )


def _ratio(row: Row) -> Iterator[Violation]:
    base = find_row(row.baseline) if row.baseline else None
    if row.baseline and base is None:
        yield Violation(row.id, f"its baseline {row.baseline!r} is no row")
    if base is None or row.energy_vs_fp16_pct is None:
        return
    if base.session.id != row.session.id:
        yield Violation(row.id, f"its baseline {base.id} is of another session")
    if row.energy_j_per_1k is None or base.energy_j_per_1k is None:
        return
    pct = 100 * (row.energy_j_per_1k / base.energy_j_per_1k - 1)
    if abs(pct - row.energy_vs_fp16_pct) > _PERCENT_AGREES:
        yield Violation(
            row.id, f"published {row.energy_vs_fp16_pct:+.1f} %, its two energies give {pct:+.1f} %"
        )
