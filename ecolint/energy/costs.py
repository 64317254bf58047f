"""Turn energy per request into kWh, money, CO2 and things one can picture.

Energy is what the boards draw, gross. Hosts are left out unless their power is given, which
undercounts: an eight-card server draws over a kilowatt beside its cards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ecolint.energy.dataset import number, read_table
from ecolint.energy.question import QuestionError

if TYPE_CHECKING:
    from collections.abc import Mapping

_JOULES_PER_KWH = 3.6e6
_WORST_PUE = 3.0


@dataclass(frozen=True, slots=True)
class Grid:
    """Electricity of a region: g CO2 and US dollars per kWh, None where not known."""

    region: str
    name: str
    g_per_kwh: float | None
    usd_per_kwh: float | None
    year: str
    basis: str
    source: str
    price_source: str


@dataclass(frozen=True, slots=True)
class Footprint:
    """What some requests take, PUE included; `usd` is None where no price is known."""

    requests: float
    kwh: float
    usd: float | None
    kg_co2: float | None
    car_km: float | None
    phone_charges: float
    grid: Grid
    pue: float
    host_kwh: float
    notes: tuple[str, ...]


def footprint(
    energy_j: float,
    requests: float = 1.0,
    region: str = "us",
    pue: float | str = "cloud",
    *,
    usd_per_kwh: float | None = None,
    g_per_kwh: float | None = None,
    host_w: float = 0.0,
    seconds: float = 0.0,
) -> Footprint:
    """Return what `requests` of `energy_j` joules each take.

    `region` is a region of data/grid.csv, `pue` a number or a provider of data/pue.csv. A
    host's watts count for the `seconds` that a request occupies it. Raises QuestionError.
    """
    grid = find_grid(region)
    ratio = find_pue(pue)
    _check("energy", energy_j, least=0.0)
    _check("requests", requests, least=0.0)
    _check("host power", host_w, least=0.0)
    _check("seconds", seconds, least=0.0)
    price = grid.usd_per_kwh if usd_per_kwh is None else _check("price", usd_per_kwh, least=0.0)
    intensity = grid.g_per_kwh if g_per_kwh is None else _check("intensity", g_per_kwh, least=0.0)
    host = host_w * seconds * requests * ratio / _JOULES_PER_KWH
    kwh = energy_j * requests * ratio / _JOULES_PER_KWH + host
    kg = None if intensity is None else kwh * intensity / 1000
    per_km, per_charge = equivalence("car"), equivalence("phone")
    return Footprint(
        requests=requests,
        kwh=kwh,
        usd=None if price is None else kwh * price,
        kg_co2=kg,
        car_km=None if kg is None else kg / per_km,
        phone_charges=kwh / per_charge,
        grid=grid,
        pue=ratio,
        host_kwh=host,
        notes=tuple(_notes(grid, price, host_w)),
    )


def find_grid(region: str) -> Grid:
    """Return a region's electricity. Raises QuestionError with the nearest region."""
    wanted = region.strip().lower()
    for line in read_table("grid"):
        names = (line["region"], line["name"].lower(), *line["aliases"].split("|"))
        if wanted and wanted in names:
            return _grid_of(line)
    known = [name for line in read_table("grid") for name in (line["region"], line["name"])]
    raise QuestionError(f"unknown region {region!r}{_near(region, known)}")


def find_pue(pue: float | str) -> float:
    """Return a PUE by provider, or check a number. Raises QuestionError."""
    known = {line["provider"]: float(line["pue"]) for line in read_table("pue")}
    if isinstance(pue, str) and pue.lower() in known:
        return known[pue.lower()]
    try:
        value = float(pue)
    except ValueError:
        raise QuestionError(f"unknown PUE {pue!r}{_near(str(pue), list(known))}") from None
    if not 1.0 <= value <= _WORST_PUE:
        nearest = min(max(value, 1.0), _WORST_PUE) if math.isfinite(value) else 1.0
        raise QuestionError(
            f"a PUE of {value:g} is impossible; the nearest valid one is {nearest:g}"
        )
    return value


def equivalence(kind: str) -> float:
    """Return the value in use for "car" (kg CO2 a km) or "phone" (kWh a charge)."""
    return next(
        float(line["value"])
        for line in read_table("equivalences")
        if line["kind"] == kind and line["use"] == "yes"
    )


def _grid_of(line: Mapping[str, str]) -> Grid:
    return Grid(
        region=line["region"],
        name=line["name"],
        g_per_kwh=number(line["g_per_kwh"]),
        usd_per_kwh=number(line["usd_per_kwh"]),
        year=line["year"],
        basis=line["basis"],
        source=line["source"],
        price_source=line["price_source"],
    )


def _notes(grid: Grid, price: float | None, host_w: float) -> list[str]:
    notes = []
    if price is None:
        notes.append(f"no price is known for {grid.name}: give one in $ per kWh")
    if not host_w:
        notes.append("GPU boards only: CPU, memory, fans and power supply are left out")
    return notes


def _check(what: str, value: float, *, least: float) -> float:
    if not math.isfinite(value) or value < least:
        raise QuestionError(f"{what} {value:g} is impossible; the nearest valid value is {least:g}")
    return value


def _near(text: str, names: list[str]) -> str:
    from difflib import get_close_matches

    folded = {name.lower(): name for name in names}
    near = get_close_matches(text.lower(), folded, n=3, cutoff=0.5)
    if near:
        return f"; did you mean {', '.join(folded[one] for one in near)}?"
    return "; see `ecolint data grids`"
