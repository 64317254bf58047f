"""Find the model size from which NF4 saves energy, session by session."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ecolint.catalog import find_gpu
from ecolint.diagnostics import Provenance
from ecolint.energy.dataset import Row, Session, read_table, usable_rows
from ecolint.energy.ratios import Curve, curves
from ecolint.energy.stack import by_fitness, distance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Crossing:
    """One session's size, in billions of parameters, above which NF4 saves energy.

    None where NF4 cost energy at every size measured; `beyond_b` is the largest of them.
    """

    session: Session
    size_b: float | None
    beyond_b: float
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Crossover:
    """The sizes between which the sign of NF4 turns, and the one to act on.

    `threshold_b` is the crossing of the session nearest to a known stack, else the
    published threshold of the architecture.
    """

    low_b: float
    high_b: float
    threshold_b: float
    sessions: tuple[str, ...]
    provenance: Provenance
    rows: tuple[str, ...]


def crossover(
    gpu: str | None, stack: Mapping[str, str] | None = None, site: Sequence[Row] = ()
) -> Crossover:
    """Return where NF4 begins to save on a card; the lowest published size if unknown."""
    card = find_gpu(gpu) if gpu else None
    published = published_threshold(card.architecture if card else "")
    every = crossings(site)
    found = [one for one in every if card and one.session.gpu == card.key]
    if card and not found:
        found = [one for one in every if _architecture(one) == card.architecture]
    ends = [one.size_b or one.beyond_b for one in found]
    best = _fittest(found, stack)
    if best is None:
        return Crossover(
            low_b=min([published, *ends]),
            high_b=max([published, *ends]),
            threshold_b=published,
            sessions=tuple(one.session.id for one in found),
            provenance=Provenance.PUBLISHED,
            rows=tuple(dict.fromkeys(row for one in found for row in one.rows)),
        )
    return Crossover(
        low_b=min(ends),
        high_b=max(ends),
        threshold_b=best.size_b or max(best.beyond_b, published),
        sessions=(best.session.id,),
        provenance=Provenance.INTERPOLATED,
        rows=best.rows,
    )


def published_threshold(architecture: str) -> float:
    """Return the published threshold, the lowest of all for an architecture without one."""
    published = {
        line["architecture"]: float(line["size_b"])
        for line in read_table("crossovers")
        if line["kind"] == "published"
    }
    return published.get(architecture, min(published.values()))


def crossings(site: Sequence[Row] = ()) -> list[Crossing]:
    """Return the crossing of every session that measured NF4 at batch 1 at two sizes or more.

    A session that saves at its smallest size tells only an upper bound and is left out, as
    is one whose sign turns the other way.
    """
    lines = curves(usable_rows("transformers", site), "nf4", 1)
    found = (_crossing(line) for line in lines if not line.session.basis.partial)
    return [one for one in found if one is not None]


def _crossing(line: Curve) -> Crossing | None:
    first, last = line.points[0], line.points[-1]
    if first.params_b == last.params_b or first.pct <= 0:
        return None
    # The last turn counts: from there on every measured size saves.
    for low, high in reversed(list(pairwise(line.points))):
        if low.pct > 0 >= high.pct:
            part = low.pct / (low.pct - high.pct)
            size = low.params_b * math.exp(part * math.log(high.params_b / low.params_b))
            return Crossing(line.session, size, high.params_b, low.rows + high.rows)
    return Crossing(line.session, None, last.params_b, last.rows)


def _architecture(crossing: Crossing) -> str:
    card = find_gpu(crossing.session.gpu)
    return card.architecture if card else ""


def _fittest(found: list[Crossing], stack: Mapping[str, str] | None) -> Crossing | None:
    """Return the site's own crossing, else that of the stack; None where neither is known."""
    known = [
        one
        for one in found
        if one.session.own or (stack and distance(one.session, stack) is not None)
    ]
    if not known:
        return None
    first = by_fitness((one.session for one in known), stack)[0]
    return next(one for one in known if one.session.id == first.id)
