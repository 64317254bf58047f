"""Read data/: the rows, sessions and reference tables behind every figure.

The only module that opens the csv files. A row carries its session, so that whoever holds
a figure also holds the card, the software stack and the basis it was measured on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

TABLES = (
    "measurements",
    "serving",
    "sessions",
    "models",
    "gpus",
    "gpu_patterns",
    "grid",
    "pue",
    "equivalences",
    "crossovers",
    "parameters",
)

DOI = "10.5281/zenodo.19647290"


class Grade(str, Enum):
    """How far a row may be trusted; data/README.md says what each grade means."""

    A = "A"
    A_MINUS = "A-"
    B = "B"
    C = "C"
    D = "D"
    X = "X"

    @property
    def usable(self) -> bool:
        """Tell whether advice and fits may use the row."""
        return self in (Grade.A, Grade.A_MINUS, Grade.B)


class Basis(str, Enum):
    """What the published energy of a session counts."""

    GROSS = "gross"  # board power as drawn
    NET = "net"  # idle power subtracted
    DECODE = "decode"  # gross, decode phase only
    DECODE_NET = "decode-net"  # decode phase only, power above idle
    UNSTATED = "unstated"
    NONE = "none"  # no energy in this session

    @property
    def partial(self) -> bool:
        """Tell whether the session left the prompt's share out."""
        return self in (Basis.DECODE, Basis.DECODE_NET)


@dataclass(frozen=True, slots=True)
class Session:
    """One card, one software stack, one sitting: the widest scope of a comparison."""

    id: str
    gpu: str
    engine: str
    engine_version: str
    stack: Mapping[str, str]
    date: str
    basis: Basis
    idle_w: float | None
    grade: Grade
    doi: str
    source: str
    licence: str
    notes: str

    @property
    def own(self) -> bool:
        """Tell whether a site measured it itself."""
        return self.licence == "own"


@dataclass(frozen=True, slots=True)
class Row:
    """One measured configuration.

    Energy in joules per 1,000 generated tokens, power in watts of all boards together,
    throughput in generated tokens per second over the whole batch.
    """

    id: str
    session: Session
    gpu: str
    n_gpus: int
    model: str
    precision: str
    batch: float | None
    input_tokens: float | None
    output_tokens: float | None
    throughput_tok_s: float | None
    energy_j_per_1k: float | None
    power_w: float | None
    energy_vs_fp16_pct: float | None
    baseline: str
    perplexity: float | None
    perplexity_vs_fp16_pct: float | None
    latency_s: float | None
    vram_gb: float | None
    runs: float | None
    cv_pct: float | None
    task: str
    grade: Grade
    source: str
    licence: str
    notes: str

    @property
    def usable(self) -> bool:
        """Tell whether advice and fits may use the row."""
        return self.grade.usable

    @property
    def gross_j_per_1k(self) -> float | None:
        """Energy as the board drew it, or None where that can't be told.

        A session with idle power subtracted is put right by its own power, else by its
        own idle power; a bill is gross. Where decoding alone was timed, so is this.
        """
        if self.session.basis in (Basis.GROSS, Basis.DECODE):
            return self.energy_j_per_1k
        if self.session.basis is not Basis.NET or self.throughput_tok_s is None:
            return None
        if self.power_w is not None:
            return 1000 * self.power_w / self.throughput_tok_s
        if self.energy_j_per_1k is None or self.session.idle_w is None:
            return None
        return self.energy_j_per_1k + 1000 * self.session.idle_w / self.throughput_tok_s


@cache
def read_table(name: str) -> tuple[Mapping[str, str], ...]:
    """Return a table of data/ as it stands, one mapping a line.

    Raises KeyError for a name that is not in TABLES.
    """
    if name not in TABLES:
        raise KeyError(name)
    import csv
    from importlib.resources import files

    text = files("ecolint.data").joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


@cache
def sessions() -> Mapping[str, Session]:
    """Return the sessions by id."""
    return {line["session"]: session_of(line) for line in read_table("sessions")}


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows of local inference: transformers and llama.cpp, every grade."""
    return tuple(_rows_of("measurements"))


@cache
def serving_rows() -> tuple[Row, ...]:
    """Return the rows of vLLM under load (ML.ENERGY)."""
    return tuple(_rows_of("serving"))


def find_row(row_id: str) -> Row | None:
    """Return a row of data/ by its id."""
    return _by_id(rows).get(row_id) or _by_id(serving_rows).get(row_id)


def usable_rows(engine: str = "transformers", site: Iterable[Row] = ()) -> list[Row]:
    """Return the rows of an engine that advice may use, a site's own first."""
    ours = serving_rows() if engine == "vllm" else rows()
    own = [row for row in site if row.session.engine == engine]
    return own + [row for row in ours if row.session.engine == engine and row.usable]


def session_of(line: Mapping[str, str]) -> Session:
    """Build a session from a line that has the columns of sessions.csv."""
    packages = ("torch", "transformers", "bitsandbytes", "torchao", "cuda", "driver")
    return Session(
        id=line["session"],
        gpu=line["gpu"],
        engine=line["engine"],
        engine_version=line["engine_version"],
        stack={name: line[name] for name in packages if line[name]},
        date=line["date"],
        basis=Basis(line["basis"]),
        idle_w=number(line["idle_w"]),
        grade=Grade(line["grade"]),
        doi=line["doi"],
        source=line["source"],
        licence=line["licence"],
        notes=line["notes"],
    )


def row_of(line: Mapping[str, str], session: Session) -> Row:
    """Build a row from a line that has the columns of measurements.csv."""
    return Row(
        id=line["id"],
        session=session,
        gpu=line["gpu"],
        n_gpus=int(line["n_gpus"] or 1),
        model=line["model"],
        precision=line["precision"],
        batch=number(line["batch"]),
        input_tokens=number(line["input_tokens"]),
        output_tokens=number(line["output_tokens"]),
        throughput_tok_s=number(line["throughput_tok_s"]),
        energy_j_per_1k=number(line["energy_j_per_1k"]),
        power_w=number(line["power_w"]),
        energy_vs_fp16_pct=number(line["energy_vs_fp16_pct"]),
        baseline=line["baseline"],
        perplexity=number(line["perplexity"]),
        perplexity_vs_fp16_pct=number(line["perplexity_vs_fp16_pct"]),
        latency_s=number(line["latency_s"]),
        vram_gb=number(line["vram_gb"]),
        runs=number(line["runs"]),
        cv_pct=number(line["cv_pct"]),
        task=line["task"],
        grade=Grade(line["grade"]),
        source=line["source"],
        licence=line["licence"],
        notes=line["notes"],
    )


def number(text: str) -> float | None:
    """Read a cell: a number, or None where it is empty."""
    return float(text) if text else None


def cite() -> str:
    """Return the citation: how many measured rows ship, counted here, and their DOI."""
    shipped = sum(row.usable for row in rows())
    served = sum(row.usable for row in serving_rows())
    return (
        f"Data: {shipped} measured configurations of EcoCompute (grades A and B; "
        f"doi:{DOI}, CC BY 4.0) and {served} of the ML.ENERGY leaderboard (Apache-2.0)"
    )


def _rows_of(name: str) -> Iterable[Row]:
    known = sessions()
    return (row_of(line, known[line["session"]]) for line in read_table(name))


@cache
def _by_id(table: Callable[[], tuple[Row, ...]]) -> Mapping[str, Row]:
    return {row.id: row for row in table()}
