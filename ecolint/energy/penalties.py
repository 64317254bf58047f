"""Say what a precision costs against FP16, from rows of one session each.

Answers are gross, name both rows of every ratio, and give the range over sessions: the
software stack moves these figures more than the architecture does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ecolint.catalog import Gpu, find_gpu, find_model
from ecolint.diagnostics import Provenance
from ecolint.energy.dataset import Basis, Grade, rows, usable_rows
from ecolint.energy.dataset import sessions as all_sessions
from ecolint.energy.ratios import SAME_SIZE, Curve, Point, Reading, curves, read_at
from ecolint.energy.stack import by_fitness, distance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ecolint.energy.dataset import Row

PRECISIONS = ("int8", "int8-pure", "nf4", "nf4-dq", "fp8-weight-only", "fp8-dynamic")

# Beyond this factor of size no measured session says anything.
_REACH = 2.0
# A quoted figure answers for sizes this near to its own.
_ABOUT = 0.1


@dataclass(frozen=True, slots=True)
class Penalty:
    """Energy against FP16 in percent: positive costs, negative saves.

    `pct` is the figure of the best session, None where the card or the size is unknown or
    was not measured; `low_pct` to `high_pct` spans all sessions that answer the question.
    `basis` is gross unless a session timed decoding alone. `perplexity_pct` is the rise over
    FP16 of the same precision, lowest and highest.
    """

    precision: str
    pct: float | None
    low_pct: float
    high_pct: float
    rows: tuple[str, ...]
    provenance: Provenance
    gpu: str | None
    model: str | None
    perplexity_pct: tuple[float, float] | None
    sessions: tuple[str, ...]
    basis: Basis


def penalty(
    precision: str,
    *,
    gpu: str | None = None,
    model: str | None = None,
    params_b: float | None = None,
    stack: Mapping[str, str] | None = None,
    batch: int | None = None,
    engine: str = "transformers",
    site: Sequence[Row] = (),
) -> Penalty | None:
    """Return the energy cost of a precision against FP16, None where no row tells it.

    `precision` is one of PRECISIONS, `batch` defaults to 1, `site` holds a user's own
    rows. An unknown card or size widens the answer to all that were measured; mixtures of
    experts, encoders, cards of other makers and unmeasured engines get no answer.
    """
    known = find_model(model) if model else None
    if known is not None and known.kind != "dense":
        return None
    card = find_gpu(gpu) if gpu else None
    if card is not None and card.vendor != "nvidia":
        return None
    size = params_b or (known.params_b if known else None)
    question = _Question(precision, card, size, known.id if known else "", stack)
    answer = _answer(question, curves(usable_rows(engine, site), precision, batch or 1))
    if answer is None:
        return None
    return replace(
        answer,
        gpu=card.name if card else None,
        perplexity_pct=_perplexity(precision, size),
    )


@dataclass(frozen=True, slots=True)
class _Question:
    precision: str
    card: Gpu | None
    size: float | None
    model: str
    stack: Mapping[str, str] | None


def _answer(ask: _Question, lines: list[Curve]) -> Penalty | None:
    """Answer from the nearest evidence: the card, what is quoted of it, its kin, any card."""
    whole = [line for line in lines if not line.session.basis.partial]
    if ask.card is None:
        return _range_over(ask, whole)
    own = [line for line in lines if line.session.gpu == ask.card.key]
    answer = _on_card(ask, own) or _quoted(ask, ask.card)
    if answer is not None:
        return answer
    kin = [line for line in whole if _architecture(line) == ask.card.architecture]
    others = [line for line in whole if line not in own]
    answer = _range_over(ask, kin) or _range_over(ask, own + others)
    return answer and replace(answer, provenance=Provenance.EXTRAPOLATED)


def _on_card(ask: _Question, lines: list[Curve]) -> Penalty | None:
    if ask.size is None:
        return _span(ask, _points(lines), Provenance.MEASURED, lines)
    readings = _readings(ask, lines)
    if not readings:
        return None
    order = [session.id for session in by_fitness((r.session for r in readings), ask.stack)]
    best = min(readings, key=lambda reading: _rank(reading, order, ask.stack))
    return _penalty(
        ask,
        [reading.pct for reading in readings],
        pct=best.pct,
        rows=best.rows,
        provenance=Provenance.MEASURED if best.exact else Provenance.INTERPOLATED,
        model=_display(best.model) if best.exact else None,
        sessions=order,
    )


def _rank(
    reading: Reading, order: list[str], stack: Mapping[str, str] | None
) -> tuple[bool, bool, int]:
    """Order readings: a site's own, the pinned stack or a measured size, the fittest."""
    pinned = stack is not None and distance(reading.session, stack) is not None
    return not reading.session.own, not (pinned or reading.exact), order.index(reading.session.id)


def _range_over(ask: _Question, lines: list[Curve]) -> Penalty | None:
    """Return the range over the sessions of several cards, at the size where it is known."""
    if ask.size is None:
        return _span(ask, _points(lines), Provenance.MEASURED, lines)
    readings = _readings(ask, lines)
    if not readings:
        return _span(ask, _nearest_ends(lines, ask.size), Provenance.EXTRAPOLATED, lines)
    exact = all(reading.exact for reading in readings)
    return _penalty(
        ask,
        [reading.pct for reading in readings],
        rows=(row for reading in readings for row in reading.rows),
        provenance=Provenance.MEASURED if exact else Provenance.INTERPOLATED,
        model=_display(readings[0].model) if exact else None,
        sessions=(reading.session.id for reading in readings),
    )


def _readings(ask: _Question, lines: Iterable[Curve]) -> list[Reading]:
    found = (read_at(line, ask.size or 0.0, ask.model) for line in lines)
    return [reading for reading in found if reading is not None]


def _points(lines: Iterable[Curve]) -> list[Point]:
    return [point for line in lines for point in line.points]


def _nearest_ends(lines: list[Curve], size: float) -> list[Point]:
    """Return each session's point nearest to a size that none of them brackets.

    A size more than twice, or less than half, of all that was measured gets nothing.
    """

    def gap(point: Point) -> float:
        return abs(math.log(point.params_b / size))

    ends = [min(line.points, key=gap) for line in lines]
    return [point for point in ends if gap(point) <= math.log(_REACH)]


def _span(
    ask: _Question, points: list[Point], provenance: Provenance, lines: Iterable[Curve]
) -> Penalty | None:
    if not points:
        return None
    named = {row for point in points for row in point.rows}
    return _penalty(
        ask,
        [point.pct for point in points],
        rows=(row for point in points for row in point.rows),
        provenance=provenance,
        sessions=(
            line.session.id
            for line in lines
            if any(row in named for point in line.points for row in point.rows)
        ),
    )


def _quoted(ask: _Question, card: Gpu) -> Penalty | None:
    """Return a figure that is only published, for the card and about the size asked."""
    points = []
    for row in rows():
        model = find_model(row.model)
        if row.grade is not Grade.C or row.gpu != card.key or row.precision != ask.precision:
            continue
        if row.energy_vs_fp16_pct is None or model is None:
            continue
        if ask.size is None or abs(model.params_b / ask.size - 1) <= _ABOUT:
            points.append(Point(model.params_b, row.energy_vs_fp16_pct, row.model, (row.id,)))
    if not points:
        return None
    single = len(points) == 1 and ask.size is not None
    return _penalty(
        ask,
        [point.pct for point in points],
        pct=points[0].pct if single else None,
        rows=(row for point in points for row in point.rows),
        provenance=Provenance.PUBLISHED,
        model=_display(points[0].model) if single else None,
    )


def _penalty(
    ask: _Question,
    figures: list[float],
    *,
    rows: Iterable[str],
    provenance: Provenance,
    pct: float | None = None,
    model: str | None = None,
    sessions: Iterable[str] = (),
) -> Penalty:
    used = tuple(dict.fromkeys(sessions))
    known = all_sessions()
    bases = (known[session].basis for session in used if session in known)
    return Penalty(
        precision=ask.precision,
        pct=pct,
        low_pct=min(figures),
        high_pct=max(figures),
        rows=tuple(dict.fromkeys(rows)),
        provenance=provenance,
        gpu=None,
        model=model,
        perplexity_pct=None,
        sessions=used,
        basis=next((basis for basis in bases if basis.partial), Basis.GROSS),
    )


def _perplexity(precision: str, size: float | None) -> tuple[float, float] | None:
    """Return the rise measured at a size, else over all sizes."""
    rises = []
    for row in rows():
        model = find_model(row.model)
        rise = row.perplexity_vs_fp16_pct
        if row.usable and row.precision == precision and model and rise is not None:
            rises.append((model.params_b, rise))
    same = [rise for params, rise in rises if size and abs(params / size - 1) <= SAME_SIZE]
    chosen = same or [rise for _, rise in rises]
    return (min(chosen), max(chosen)) if chosen else None


def _architecture(line: Curve) -> str:
    card = find_gpu(line.session.gpu)
    return card.architecture if card else ""


def _display(model: str) -> str:
    return model.rpartition("/")[2]
