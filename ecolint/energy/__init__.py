"""Answer what an inference setting costs in energy, from measured rows and a fitted model.

Everything is imported on first use: a linter that finds nothing must not pay for a model.
Units are in the names or the docstrings; percentages are against FP16 inside one session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecolint.energy.ageing import Aged, Ageing, stack_ageing
    from ecolint.energy.batching import BatchSaving, batch_saving
    from ecolint.energy.crossing import Crossing, Crossover, crossings, crossover
    from ecolint.energy.dataset import Row, Session, cite
    from ecolint.energy.memory import Fit, fits
    from ecolint.energy.penalties import Penalty, penalty

_HOMES = {
    "ageing": ("Aged", "Ageing", "stack_ageing"),
    "batching": ("BatchSaving", "batch_saving"),
    "crossing": ("Crossing", "Crossover", "crossings", "crossover"),
    "dataset": ("Row", "Session", "cite"),
    "memory": ("Fit", "fits"),
    "penalties": ("Penalty", "penalty"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Aged",
    "Ageing",
    "BatchSaving",
    "Crossing",
    "Crossover",
    "Fit",
    "Penalty",
    "Row",
    "Session",
    "batch_saving",
    "cite",
    "crossings",
    "crossover",
    "fits",
    "penalty",
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
