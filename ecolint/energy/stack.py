"""Compare software stacks: the sessions nearest to the versions that a project pins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ecolint.energy.dataset import Session

# A change of minor version moved INT8 and NF4 figures far more than a patch release did.
_WEIGHTS = (1000.0, 1.0, 0.01)
_DECIDING = ("bitsandbytes", "torchao", "torch")


def release(version: str) -> tuple[int, int, int] | None:
    """Return the first three numbers of a version, None where it names none."""
    found = re.match(r"\D*(\d+)(?:\.(\d+))?(?:\.(\d+))?", version)
    if found is None:
        return None
    major, minor, patch = (int(part or 0) for part in found.groups())
    return major, minor, patch


def distance(session: Session, stack: Mapping[str, str]) -> float | None:
    """Return how far the session's stack is from `stack`; None where nothing compares."""
    gaps = [
        _gap(session.stack[name], stack[name])
        for name in _DECIDING
        if name in session.stack and stack.get(name)
    ]
    known = [gap for gap in gaps if gap is not None]
    if not known:
        return None
    # The quantiser decides; torch only separates sessions that share it.
    return known[0] + sum(known[1:]) / 1000


def by_fitness(sessions: Iterable[Session], stack: Mapping[str, str] | None) -> list[Session]:
    """Order sessions: a site's own, then the nearest stack, then the newest."""
    newest = sorted(sessions, key=lambda session: (session.date, session.id), reverse=True)

    def fitness(session: Session) -> tuple[bool, float]:
        gap = distance(session, stack) if stack else None
        return session.licence != "own", float("inf") if gap is None else gap

    return sorted(newest, key=fitness)


def _gap(left: str, right: str) -> float | None:
    ours, theirs = release(left), release(right)
    if ours is None or theirs is None:
        return None
    pairs = zip(_WEIGHTS, ours, theirs, strict=True)
    return sum(weight * abs(one - other) for weight, one, other in pairs)
