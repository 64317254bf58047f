"""Hand out the fitted parameters of data/parameters.csv; benchmarks/energy_fit.py makes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ecolint.energy.dataset import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping


# Sizes within this logarithm of each other count as alike.
_ABOUT = 0.15


@dataclass(frozen=True, slots=True)
class Eager:
    """Decode at batch 1 in eager transformers, one precision.

    `layer_j` and `byte_j` give joules per 1,000 tokens for a layer and for a GB of weights
    on a card of 1 W per GB/s; `layer_s` is the seconds that launching a layer takes.
    """

    layer_j: float
    byte_j: float
    layer_s: float
    energy_factor: float
    time_factor: float


@dataclass(frozen=True, slots=True)
class Serving:
    """A decode step of a vLLM generation, and the board power while it runs.

    Seconds a layer and a sequence, efficiencies against the card's bandwidth and FP16
    rate, and the power law of board power over the two utilisations.
    """

    layer_s: float
    sequence_s: float
    bandwidth_efficiency: float
    compute_efficiency: float
    power_share: float
    power_of_bandwidth: float
    power_of_compute: float
    energy_factor: float
    time_factor: float


@cache
def eager(precision: str) -> Eager | None:
    """Return the parameters of a precision, None where none was fitted."""
    found = _scope("eager", precision)
    return Eager(**found) if found else None


@cache
def serving(generation: str) -> Serving | None:
    """Return the parameters of a vLLM generation, None where none was fitted."""
    found = _scope("vllm", generation)
    return Serving(**found) if found else None


def generations() -> tuple[str, ...]:
    """Return the vLLM generations that were fitted, oldest first."""
    found = {line["scope"] for line in read_table("parameters") if line["model"] == "vllm"}
    return tuple(sorted(found, key=lambda text: [int(part) for part in text.split(".")]))


def session_factor(precision: str) -> float:
    """Return the factor that spans 90 % of what two sessions of one card measure.

    A precision without repeats takes the widest factor known.
    """
    found = _scope("sessions", precision)
    if found:
        return found["energy_factor"]
    known = [line for line in read_table("parameters") if line["model"] == "sessions"]
    return max(float(line["value"]) for line in known)


def interpolation_factor(engine: str) -> float:
    """Return the factor that spans 90 % of the errors of interpolating inside a session."""
    return _scope("interpolation", engine)["energy_factor"]


def typical_layers(params_b: float) -> int:
    """Return the median layers of the known dense models of about a size, or of the nearest."""
    known = sorted(
        (abs(math.log(float(line["params_b"]) / params_b)), int(line["layers"]))
        for line in read_table("models")
        if line["kind"] == "dense" and line["layers"]
    )
    alike = sorted(layers for gap, layers in known if gap <= _ABOUT) or [known[0][1]]
    return alike[len(alike) // 2]


@cache
def _scope(model: str, scope: str) -> Mapping[str, float]:
    return {
        line["name"]: float(line["value"])
        for line in read_table("parameters")
        if line["model"] == model and line["scope"] == scope
    }
