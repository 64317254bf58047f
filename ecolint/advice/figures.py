"""Figures that can name where they come from, and arithmetic that never loses the thread.

A figure is given by the user, counted, read from rows of data/, or derived from other
figures by a formula that it carries: evaluating the formula over the inputs gives the value
again, so a test (or a sceptic) can follow every printed number to its rows.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import TypeAlias


class Tier(str, Enum):
    """How near the evidence is to the question, best first."""

    GIVEN = "given"  # the user's own number, or a documented default
    COUNTED = "counted"  # of files, findings, rows
    MEASURED = "measured"
    INTERPOLATED = "interpolated"
    PUBLISHED = "published"  # quoted, not measured by the rows that we ship
    MODELLED = "modelled"  # extrapolated by a fitted model


_ORDER = tuple(Tier)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its unit, its interval (None: exact) and its origin.

    `rows` name lines of data/: the id of a measurement, or "table/id" for any other table.
    A derived figure has a `formula`, arithmetic over the names of its `inputs`.
    """

    key: str
    value: float
    unit: str
    tier: Tier
    low: float | None = None
    high: float | None = None
    rows: tuple[str, ...] = ()
    formula: str = ""
    inputs: tuple[tuple[str, Figure], ...] = ()

    def walk(self) -> Iterator[Figure]:
        """Yield the figure and all that it was derived from."""
        yield self
        for _, figure in self.inputs:
            yield from figure.walk()


def given(key: str, value: float, unit: str, rows: tuple[str, ...] = ()) -> Figure:
    """Return a number that the user gave, or a default that `rows` document."""
    return Figure(key, value, unit, Tier.GIVEN, rows=rows)


def counted(key: str, value: int, unit: str = "") -> Figure:
    """Return how many of something there are."""
    return Figure(key, value, unit, Tier.COUNTED)


def derive(key: str, unit: str, formula: str, /, **inputs: Figure | None) -> Figure | None:
    """Return a figure computed from others, None where one of them is not known.

    The tier is the weakest of the inputs', the rows are all of theirs, and the interval spans
    the values at the ends of theirs, which is exact for formulas monotone in each input.
    """
    known = {name: figure for name, figure in inputs.items() if figure is not None}
    if len(known) < len(inputs):
        return None
    exact = all(figure.low is None for figure in known.values())
    ends = [
        (figure.value,) if figure.low is None or figure.high is None else (figure.low, figure.high)
        for figure in known.values()
    ]
    spread = [
        evaluate(formula, dict(zip(known, corner, strict=True)))
        for corner in (() if exact else product(*ends))
    ]
    return Figure(
        key=key,
        value=evaluate(formula, {name: figure.value for name, figure in known.items()}),
        unit=unit,
        tier=max((figure.tier for figure in known.values()), key=_ORDER.index),
        low=min(spread, default=None),
        high=max(spread, default=None),
        rows=tuple(dict.fromkeys(row for figure in known.values() for row in figure.rows)),
        formula=formula,
        inputs=tuple(known.items()),
    )


_Operator: TypeAlias = Callable[[float, float], float]
_OPERATORS: Mapping[type[ast.operator], _Operator] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def evaluate(formula: str, values: Mapping[str, float]) -> float:
    """Return the value of an arithmetic formula. KeyError for a name without a value."""
    return _evaluate(ast.parse(formula, mode="eval").body, values)


def _evaluate(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Name(id=name):
            return values[name]
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_evaluate(left, values), _evaluate(right, values))
    raise ValueError(f"no arithmetic: {ast.unparse(node)}")
