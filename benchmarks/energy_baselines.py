"""The two baselines that the energy model must beat, each as its author gives it.

The published rule of EcoCompute: a card of the A800's kind draws what the A800 draws, any
other in proportion to its board power; batching divides by batch^0.76. EcoLogits 0.11.3:
a curve over active parameters and batch (MPL-2.0; three constants quoted, no code).
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from ecolint.catalog import find_gpu

if TYPE_CHECKING:
    from benchmarks.energy_fit import Sample

_BATCH_EXPONENT = -0.76
_LIKE_A800 = ("ampere", "hopper")
_ALPHA_WH, _BETA, _GAMMA_WH = 1.1665273170451914e-06, -0.011205921025579175, 4.052928146734005e-05


def published_rule(sample: Sample) -> float | None:
    """Return J per 1,000 tokens by the rule; None for the A800 itself and for quantised rows."""
    card = find_gpu(sample.gpu)
    if card is None or card.key == "a800" or sample.precision != "fp16" or card.tdp_w is None:
        return None
    scale = 1.0
    if card.architecture not in _LIKE_A800 or not card.datacenter:
        scale = card.tdp_w / _a800_tdp()
    return scale * _a800_energy(sample.shape.params_b) * math.pow(sample.batch, _BATCH_EXPONENT)


def ecologits(sample: Sample) -> float | None:
    """Return J per 1,000 tokens of the GPU alone; None for quantised rows."""
    if sample.precision != "fp16":
        return None
    per_token_wh = _ALPHA_WH * math.exp(_BETA * sample.batch) * sample.shape.params_b + _GAMMA_WH
    return per_token_wh * 3600 * 1000


@cache
def _a800_points() -> tuple[tuple[float, float], ...]:
    from benchmarks.energy_fit import eager_samples

    chosen = [s for s in eager_samples() if s.gpu == "a800" and s.precision == "fp16"]
    return tuple(sorted((s.shape.params_b, s.energy_j_per_1k) for s in chosen))


def _a800_energy(params_b: float) -> float:
    """Read the A800's FP16 rows along size, by a straight line through logarithms."""
    points = [(math.log(size), math.log(energy)) for size, energy in _a800_points()]
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum(
        (x - mean_x) ** 2 for x, _ in points
    )
    return math.exp(mean_y + slope * (math.log(params_b) - mean_x))


def _a800_tdp() -> float:
    card = find_gpu("a800")
    assert card is not None
    assert card.tdp_w is not None
    return card.tdp_w
