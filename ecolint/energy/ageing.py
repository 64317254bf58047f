"""Tell how much of a quantisation's cost is the age of its library."""

from __future__ import annotations

from dataclasses import dataclass

from ecolint.catalog import find_gpu
from ecolint.energy.dataset import Session, usable_rows
from ecolint.energy.ratios import SAME_SIZE, Curve, curves
from ecolint.energy.stack import distance, release

_PRECISIONS = ("nf4", "int8", "int8-pure")
_FEWEST_MODELS = 3


@dataclass(frozen=True, slots=True)
class Aged:
    """One model on one card under both stacks: percent against FP16, each in its session."""

    model: str
    old_pct: float
    new_pct: float
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ageing:
    """What an old version costs: points of FP16 energy between two stacks of one card.

    The whole stack changed between the sessions, torch and driver too; `newer` names the
    version from which the lower figures come.
    """

    package: str
    version: str
    older: str
    newer: str
    precision: str
    gpu: str
    low_points: float
    high_points: float
    pairs: tuple[Aged, ...]
    rows: tuple[str, ...]
    sessions: tuple[str, ...]


def stack_ageing(package: str, version: str) -> Ageing | None:
    """Return what the age of a pinned version costs, None where no pair of sessions tells.

    Answers for versions no newer than the older session of a pair, and for those between
    the two that are nearer to the older one.
    """
    pinned = release(version)
    if package != "bitsandbytes" or pinned is None:
        return None
    found: list[Ageing] = []
    for precision in _PRECISIONS:
        for old, new in _pairs(curves(usable_rows(), precision, 1)):
            if _nearer(pinned, old.session, new.session, version):
                found += _compare(version, precision, old, new)
    return max(found, key=lambda one: (len(one.pairs), one.high_points), default=None)


def _pairs(lines: list[Curve]) -> list[tuple[Curve, Curve]]:
    """Return the pairs of one card whose bitsandbytes differ by a minor version or more."""
    dated = [(release(line.session.stack.get("bitsandbytes", "")), line) for line in lines]
    return [
        (old, new)
        for older, old in dated
        for newer, new in dated
        if older and newer and old.session.gpu == new.session.gpu and older[:2] < newer[:2]
    ]


def _nearer(pinned: tuple[int, int, int], old: Session, new: Session, version: str) -> bool:
    older, newer = (release(one.stack.get("bitsandbytes", "")) for one in (old, new))
    if older is None or newer is None or pinned >= newer:
        return False
    to_old, to_new = (distance(one, {"bitsandbytes": version}) for one in (old, new))
    return pinned <= older or (to_old is not None and to_new is not None and to_old < to_new)


def _compare(version: str, precision: str, old: Curve, new: Curve) -> list[Ageing]:
    pairs = []
    for before in old.points:
        for after in new.points:
            if abs(before.params_b / after.params_b - 1) <= SAME_SIZE:
                sides = before.rows + after.rows
                name = after.model.rpartition("/")[2]
                pairs.append(Aged(name, before.pct, after.pct, sides))
    points = [pair.old_pct - pair.new_pct for pair in pairs]
    # One model could be chance: the same version gave +146 and +307 % in two sessions.
    if len(points) < _FEWEST_MODELS or min(points) <= 0:
        return []
    card = find_gpu(old.session.gpu)
    return [
        Ageing(
            package="bitsandbytes",
            version=version,
            older=old.session.stack["bitsandbytes"],
            newer=new.session.stack["bitsandbytes"],
            precision=precision,
            gpu=card.name if card else old.session.gpu,
            low_points=min(points),
            high_points=max(points),
            pairs=tuple(pairs),
            rows=tuple(dict.fromkeys(row for pair in pairs for row in pair.rows)),
            sessions=(old.session.id, new.session.id),
        )
    ]
