"""The two fitted models: what a decode step takes in time and energy.

Eager decoding at batch 1 is bound by launches: its energy is a cost a layer plus a cost a
byte. vLLM keeps the card busy: a step reads weights and cache or computes, whichever takes
longer, and board power follows how much of bandwidth and compute that uses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecolint.energy.parameters import Eager, Serving

# Long kernels reach this share of the memory bandwidth, whatever the engine.
_READ_EFFICIENCY = 0.8
# Prefill runs dense matrix products at about this share of the peak rate.
_PREFILL_EFFICIENCY = 0.4


@dataclass(frozen=True, slots=True)
class Card:
    """What the models need of a card: GB/s, W and TFLOPS (FP16, dense)."""

    bandwidth_gb_s: float
    tdp_w: float
    tflops: float | None


@dataclass(frozen=True, slots=True)
class Shape:
    """What the models need of a model: size, layers, weight GB, cache bytes a token."""

    params_b: float
    layers: int
    weight_gb: float
    cache_bytes: float


@dataclass(frozen=True, slots=True)
class Step:
    """A decode step: its seconds, and the joules per 1,000 tokens that it generates."""

    seconds: float
    energy_j_per_1k: float


def eager_step(shape: Shape, card: Card, fitted: Eager) -> Step:
    """Return the step of one sequence in eager transformers."""
    launching = fitted.layer_s * shape.layers
    reading = shape.weight_gb / (_READ_EFFICIENCY * card.bandwidth_gb_s)
    energy = fitted.layer_j * shape.layers + fitted.byte_j * byte_load(shape, card)
    return Step(max(launching, reading), energy)


def byte_load(shape: Shape, card: Card) -> float:
    """Return the weight GB, scaled by what a byte costs on the card.

    The geometric mean of a constant cost and one in proportion to watts per GB/s.
    """
    return shape.weight_gb * math.sqrt(card.tdp_w / card.bandwidth_gb_s)


def serving_step(
    shape: Shape, card: Card, fitted: Serving, batch: float, held_tokens: float
) -> Step:
    """Return the step of `batch` sequences that hold `held_tokens` of cache each."""
    seconds = step_seconds(shape, card, fitted, batch, held_tokens)
    reads, computes = utilisation(shape, card, batch, held_tokens, seconds)
    power = (
        card.tdp_w
        * fitted.power_share
        * reads**fitted.power_of_bandwidth
        * computes**fitted.power_of_compute
    )
    return Step(seconds, 1000 * min(power, card.tdp_w) * seconds / batch)


def step_seconds(
    shape: Shape, card: Card, fitted: Serving, batch: float, held_tokens: float
) -> float:
    """Return the seconds of a step: scheduling, plus the longer of reading and computing."""
    reading, computing = least_seconds(shape, card, batch, held_tokens)
    return (
        fitted.layer_s * shape.layers
        + fitted.sequence_s * batch
        + max(reading / fitted.bandwidth_efficiency, computing / fitted.compute_efficiency)
    )


def least_seconds(
    shape: Shape, card: Card, batch: float, held_tokens: float
) -> tuple[float, float]:
    """Return the seconds that a perfect card needs to read, and to compute, a step."""
    read_gb = shape.weight_gb + batch * shape.cache_bytes * held_tokens / 1e9
    operations = 2e9 * shape.params_b * batch
    return read_gb / card.bandwidth_gb_s, operations / (1e12 * (card.tflops or math.inf))


def utilisation(
    shape: Shape, card: Card, batch: float, held_tokens: float, seconds: float
) -> tuple[float, float]:
    """Return the shares of bandwidth and of compute that a step of given length uses."""
    reading, computing = least_seconds(shape, card, batch, held_tokens)
    return min(1.0, reading / seconds), min(1.0, computing / seconds)


def prefill(shape: Shape, card: Card, tokens: float) -> tuple[float, float] | None:
    """Return seconds and joules of reading a prompt at full board power.

    None where the card's rate is not known.
    """
    if card.tflops is None:
        return None
    seconds = 2e9 * shape.params_b * tokens / (_PREFILL_EFFICIENCY * 1e12 * card.tflops)
    return seconds, seconds * card.tdp_w
