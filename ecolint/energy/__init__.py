"""Answer what an inference setting costs in energy, from measured rows and a fitted model.

Everything is imported on first use: a linter that finds nothing must not pay for a model.
Units are in the names or the docstrings; percentages are against FP16 inside one session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecolint.energy.ageing import Aged, Ageing, stack_ageing
    from ecolint.energy.batching import BatchSaving, batch_saving
    from ecolint.energy.checking import Violation, check_rows
    from ecolint.energy.costs import Footprint, Grid, find_grid, find_pue, footprint
    from ecolint.energy.crossing import Crossing, Crossover, crossings, crossover
    from ecolint.energy.dataset import Row, Session, cite
    from ecolint.energy.estimating import Estimate, Interval, Refusal, Tier, estimate
    from ecolint.energy.matching import Measured, measured
    from ecolint.energy.memory import Fit, fits
    from ecolint.energy.penalties import Penalty, penalty
    from ecolint.energy.question import QuestionError
    from ecolint.energy.site import MeasurementsError, read_rows
    from ecolint.energy.tokens import TokenCount, count_tokens

_HOMES = {
    "ageing": ("Aged", "Ageing", "stack_ageing"),
    "batching": ("BatchSaving", "batch_saving"),
    "checking": ("Violation", "check_rows"),
    "costs": ("Footprint", "Grid", "find_grid", "find_pue", "footprint"),
    "crossing": ("Crossing", "Crossover", "crossings", "crossover"),
    "dataset": ("Row", "Session", "cite"),
    "estimating": ("Estimate", "Interval", "Refusal", "Tier", "estimate"),
    "matching": ("Measured", "measured"),
    "memory": ("Fit", "fits"),
    "penalties": ("Penalty", "penalty"),
    "question": ("QuestionError",),
    "site": ("MeasurementsError", "read_rows"),
    "tokens": ("TokenCount", "count_tokens"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Aged",
    "Ageing",
    "BatchSaving",
    "Crossing",
    "Crossover",
    "Estimate",
    "Fit",
    "Footprint",
    "Grid",
    "Interval",
    "Measured",
    "MeasurementsError",
    "Penalty",
    "QuestionError",
    "Refusal",
    "Row",
    "Session",
    "Tier",
    "TokenCount",
    "Violation",
    "batch_saving",
    "check_rows",
    "cite",
    "count_tokens",
    "crossings",
    "crossover",
    "estimate",
    "find_grid",
    "find_pue",
    "fits",
    "footprint",
    "measured",
    "penalty",
    "read_rows",
    "stack_ageing",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
