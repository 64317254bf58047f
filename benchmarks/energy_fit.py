"""Fit the energy model and write data/parameters.csv; compute data/crossovers.csv.

Run `python -m benchmarks.energy_fit` after a change of rows; a test checks that fitting
the shipped rows gives the shipped parameters back. Plain Python: least squares in closed
form, with the two efficiencies of vLLM searched on a grid.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ecolint.catalog import find_gpu, find_model
from ecolint.energy.crossing import crossings
from ecolint.energy.dataset import Row, find_row, read_table, rows, serving_rows
from ecolint.energy.interpolating import read_session
from ecolint.energy.matching import alike
from ecolint.energy.memory import cache_bytes_per_token, weight_gb
from ecolint.energy.parameters import Eager, Serving
from ecolint.energy.physics import (
    Card,
    Shape,
    Step,
    byte_load,
    eager_step,
    least_seconds,
    serving_step,
    utilisation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ecolint.catalog import Model

# The prompts of the ML.ENERGY chat tasks are not published with the rows.
ASSUMED_PROMPT_TOKENS = 300
CHAT_TASKS = ("chat", "lm-arena-chat")
EAGER_PRECISIONS = ("fp16", "int8", "int8-pure", "nf4", "nf4-dq")
COVERAGE = 0.90
_GRID = [step / 20 for step in range(5, 21)]


Parameters = Eager | Serving


@dataclass(frozen=True, slots=True)
class Sample:
    """A row made ready for a fit: observed energy and step time, the card and the model."""

    id: str
    session: str
    gpu: str
    model: str
    precision: str
    scope: str
    batch: float
    held_tokens: float
    shape: Shape
    card: Card
    energy_j_per_1k: float
    seconds: float | None
    power_w: float | None


def eager_samples() -> list[Sample]:
    """Return the usable rows of eager transformers at batch 1, gross.

    A quantised row published with its ratio to FP16 alone also tells its FP16 energy.
    """
    found = []
    for row in rows():
        energy = row.gross_j_per_1k
        if not row.usable or row.session.engine != "transformers" or row.batch != 1 or not energy:
            continue
        if row.precision in EAGER_PRECISIONS:
            found.append(_sample(row, row.precision, energy, row.precision))
        if row.precision == "nf4" and not row.baseline and row.energy_vs_fp16_pct is not None:
            implied = energy / (1 + row.energy_vs_fp16_pct / 100)
            found.append(_sample(row, "fp16", implied, "fp16", timed=False))
    return [sample for sample in found if sample is not None]


def serving_samples() -> list[Sample]:
    """Return the rows of vLLM on one card: dense text models in 16 bit, chat lengths."""
    found = []
    for row in serving_rows():
        model = find_model(row.model)
        if row.n_gpus != 1 or row.task not in CHAT_TASKS or row.precision not in ("bf16", "fp16"):
            continue
        if model is None or model.kind != "dense" or model.layers is None:
            continue
        energy = row.energy_j_per_1k
        if energy:
            found.append(_sample(row, row.session.engine_version, energy, "fp16"))
    return [sample for sample in found if sample is not None]


def fit_eager(samples: Sequence[Sample]) -> Eager:
    """Fit energy (relative least squares, sessions weighing alike) and launch time (median)."""
    weights = _session_weights(samples)
    design = [
        (sample.shape.layers, byte_load(sample.shape, sample.card), sample.energy_j_per_1k)
        for sample in samples
    ]
    layer_j, byte_j = _solve(design, weights)
    timed = [s.seconds / s.shape.layers for s in samples if s.seconds]
    return Eager(layer_j, byte_j, _quantile(timed, 0.5) if timed else math.nan, math.nan, math.nan)


def fit_serving(samples: Sequence[Sample]) -> Serving:
    """Fit the step time, then board power over the utilisations that were measured."""
    timed = [sample for sample in samples if sample.seconds]
    best: tuple[float, float, float, float, float] | None = None
    for bandwidth in _GRID:
        for compute in _GRID:
            design = []
            for sample in timed:
                reading, computing = least_seconds(
                    sample.shape, sample.card, sample.batch, sample.held_tokens
                )
                rest = (sample.seconds or 0.0) - max(reading / bandwidth, computing / compute)
                design.append((sample.shape.layers, sample.batch, rest))
            observed = [sample.seconds or 0.0 for sample in timed]
            layer, sequence = _solve(design, [1 / second for second in observed], scaled=False)
            error = sum(
                ((layer * a + sequence * b - rest) / second) ** 2
                for (a, b, rest), second in zip(design, observed, strict=True)
            )
            if best is None or error < best[0]:
                best = (error, layer, sequence, bandwidth, compute)
    assert best is not None
    _, layer, sequence, bandwidth, compute = best
    share, of_bandwidth, of_compute = _fit_power(timed)
    return Serving(
        layer, sequence, bandwidth, compute, share, of_bandwidth, of_compute, math.nan, math.nan
    )


def _fit_power(samples: Sequence[Sample]) -> tuple[float, float, float]:
    weights = _session_weights(samples)
    lines = []
    for sample, weight in zip(samples, weights, strict=True):
        reads, computes = utilisation(
            sample.shape, sample.card, sample.batch, sample.held_tokens, sample.seconds or 1.0
        )
        share = (sample.power_w or 1.0) / sample.card.tdp_w
        lines.append(((1.0, math.log(reads), math.log(computes)), math.log(share), weight))
    constant, of_bandwidth, of_compute = _least_squares(lines)
    return math.exp(constant), of_bandwidth, of_compute


def predict_eager(sample: Sample, fitted: Parameters) -> Step:
    """Return what the eager model says of a sample."""
    assert isinstance(fitted, Eager)
    return eager_step(sample.shape, sample.card, fitted)


def predict_serving(sample: Sample, fitted: Parameters) -> Step:
    """Return what the vLLM model says of a sample."""
    assert isinstance(fitted, Serving)
    return serving_step(sample.shape, sample.card, fitted, sample.batch, sample.held_tokens)


def held_out(
    samples: Sequence[Sample],
    group: Callable[[Sample], str],
    fit: Callable[[Sequence[Sample]], Parameters],
    predict: Callable[[Sample, Parameters], Step],
) -> list[tuple[Sample, Step]]:
    """Predict every group of samples from a fit that never saw the group."""
    found = []
    for name in sorted({group(sample) for sample in samples}):
        fitted = fit([sample for sample in samples if group(sample) != name])
        found += [(s, predict(s, fitted)) for s in samples if group(s) == name]
    return found


def interval_factor(ratios: Iterable[float]) -> float:
    """Return the factor either way that spans COVERAGE of the ratios, for one more draw."""
    gaps = sorted(abs(math.log(ratio)) for ratio in ratios)
    rank = math.ceil(COVERAGE * (len(gaps) + 1)) - 1
    return math.exp(gaps[min(rank, len(gaps) - 1)])


def session_ratios(precision: str) -> list[float]:
    """Return every pair of sessions' energies for one card, size and precision."""
    cells: dict[tuple[str, int], dict[str, list[float]]] = {}
    for sample in eager_samples():
        if sample.precision == precision:
            cell = cells.setdefault((sample.gpu, round(100 * sample.shape.params_b)), {})
            cell.setdefault(sample.session, []).append(sample.energy_j_per_1k)
    ratios = []
    for cell in cells.values():
        means = [sum(energies) / len(energies) for energies in cell.values()]
        ratios += [a / b for n, a in enumerate(means) for b in means[n + 1 :]]
    return ratios


def interpolation_ratios(
    samples: Sequence[Sample],
    fitted: Mapping[str, Parameters],
    predict: Callable[[Sample, Parameters], Step],
) -> list[float]:
    """Return predicted over observed energy of every row that its session's others bracket."""
    ratios = []
    for sample in samples:
        row, model = find_row(sample.id), find_model(sample.model)
        if row is None or model is None or alike(row.precision) != sample.precision:
            continue

        def expected(
            other: Model, batch: float, like: Sample = sample, scope: str = sample.scope
        ) -> Step | None:
            return predict(_reshaped(like, other, batch), fitted[scope])

        cell = read_session(_companions(row), model, sample.batch, expected)
        if cell is not None:
            ratios.append(cell.energy_j_per_1k / sample.energy_j_per_1k)
    return ratios


def _companions(row: Row) -> list[Row]:
    """Return the session's other rows of the precision, repeats of the row left out."""
    pool = serving_rows() if row.session.engine == "vllm" else rows()
    return [
        other
        for other in pool
        if other.session.id == row.session.id
        and other.precision == row.precision
        and other.task == row.task
        and other.n_gpus == row.n_gpus
        and (other.model, other.batch) != (row.model, row.batch)
    ]


def _reshaped(sample: Sample, model: Model, batch: float) -> Sample:
    return replace(sample, shape=_shape(model, sample.precision), batch=batch)


def fit_all() -> list[dict[str, str]]:
    """Return the lines of data/parameters.csv."""
    lines: list[dict[str, str]] = []
    eager: dict[str, Eager] = {}
    served: dict[str, Serving] = {}
    samples = eager_samples()
    for precision in EAGER_PRECISIONS:
        chosen = [sample for sample in samples if sample.precision == precision]
        fitted = eager[precision] = fit_eager(chosen)
        outside = held_out(chosen, lambda s: s.gpu, fit_eager, predict_eager)
        lines += _lines("eager", precision, fitted, outside, len(chosen))
    serving = serving_samples()
    for generation in sorted({sample.scope for sample in serving}):
        chosen = [sample for sample in serving if sample.scope == generation]
        outside = held_out(chosen, lambda s: s.gpu, fit_serving, predict_serving)
        served[generation] = fit_serving(chosen)
        lines += _lines("vllm", generation, served[generation], outside, len(chosen))
    for precision in ("fp16", "nf4", "int8"):
        ratios = session_ratios(precision)
        lines.append(
            _line("sessions", precision, "energy_factor", interval_factor(ratios), len(ratios))
        )
    within = {
        "transformers": interpolation_ratios(samples, eager, predict_eager),
        "vllm": interpolation_ratios(serving, served, predict_serving),
    }
    for engine, ratios in within.items():
        lines.append(
            _line("interpolation", engine, "energy_factor", interval_factor(ratios), len(ratios))
        )
    return lines


def _lines(
    model: str, scope: str, fitted: Parameters, outside: list[tuple[Sample, Step]], count: int
) -> list[dict[str, str]]:
    values = asdict(fitted)
    values["energy_factor"] = interval_factor(
        step.energy_j_per_1k / sample.energy_j_per_1k for sample, step in outside
    )
    values["time_factor"] = interval_factor(
        step.seconds / sample.seconds for sample, step in outside if sample.seconds
    )
    return [_line(model, scope, name, value, count) for name, value in values.items()]


_UNITS = {
    "layer_j": "J per 1000 tokens and layer",
    "byte_j": "J per 1000 tokens and GB, at 1 W per GB/s",
    "layer_s": "s per layer",
    "sequence_s": "s per sequence",
    "energy_factor": f"factor either way, {COVERAGE:.0%} interval",
    "time_factor": f"factor either way, {COVERAGE:.0%} interval",
}


def _line(model: str, scope: str, name: str, value: float, count: int) -> dict[str, str]:
    return {
        "id": f"{model}-{scope}-{name}",
        "model": model,
        "scope": scope,
        "name": name,
        "value": f"{value:.6g}",
        "unit": _UNITS.get(name, "1"),
        "fitted_on": str(count),
        "source": "benchmarks/energy_fit.py",
        "licence": "Apache-2.0",
    }


def _sample(
    row: Row, scope: str, energy: float, precision: str, *, timed: bool = True
) -> Sample | None:
    model, card = find_model(row.model), find_gpu(row.gpu)
    if model is None or card is None or model.layers is None or not row.batch:
        return None
    if card.bandwidth_gb_s is None or card.tdp_w is None:
        return None
    speed = row.throughput_tok_s if timed else None
    return Sample(
        id=row.id,
        session=row.session.id,
        gpu=card.key,
        model=row.model,
        precision=precision,
        scope=scope,
        batch=row.batch,
        held_tokens=ASSUMED_PROMPT_TOKENS + (row.output_tokens or 0.0) / 2,
        shape=_shape(model, precision),
        card=Card(card.bandwidth_gb_s, card.tdp_w, card.fp16_tflops),
        energy_j_per_1k=energy,
        seconds=row.batch / speed if speed else None,
        power_w=row.power_w,
    )


def _shape(model: Model, precision: str) -> Shape:
    return Shape(
        params_b=model.params_b,
        layers=model.layers or 0,
        weight_gb=weight_gb(model, precision),
        cache_bytes=cache_bytes_per_token(model) or 0.0,
    )


def _session_weights(samples: Sequence[Sample]) -> list[float]:
    sizes = Counter(sample.session for sample in samples)
    return [1 / math.sqrt(sizes[sample.session]) for sample in samples]


def _solve(
    design: Sequence[tuple[float, float, float]], weights: Sequence[float], *, scaled: bool = True
) -> tuple[float, float]:
    """Return the two non-negative coefficients of least weighted error.

    `scaled` weighs each line by its own target, so that errors count in percent.
    """
    lines = [
        ((float(a), float(b)), target, weight / target if scaled else weight)
        for (a, b, target), weight in zip(design, weights, strict=True)
    ]
    first, second = _least_squares(lines)
    if first >= 0 and second >= 0:
        return first, second
    alone = 0 if second < 0 else 1
    (only,) = _least_squares([((x[alone],), y, w) for x, y, w in lines])
    return (max(only, 0.0), 0.0) if alone == 0 else (0.0, max(only, 0.0))


def _least_squares(
    lines: Sequence[tuple[tuple[float, ...], float, float]],
) -> tuple[float, ...]:
    """Solve the weighted normal equations by elimination with pivoting."""
    size = len(lines[0][0])
    matrix = [[0.0] * (size + 1) for _ in range(size)]
    for features, target, weight in lines:
        for i in range(size):
            for j in range(size):
                matrix[i][j] += weight * weight * features[i] * features[j]
            matrix[i][size] += weight * weight * features[i] * target
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        for k in range(size):
            if k != i:
                part = matrix[k][i] / matrix[i][i]
                matrix[k] = [x - part * y for x, y in zip(matrix[k], matrix[i], strict=True)]
    return tuple(matrix[i][size] / matrix[i][i] for i in range(size))


def _quantile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def computed_crossovers() -> list[dict[str, str]]:
    """Return the lines of data/crossovers.csv: the published ones, then one a session."""
    lines = [dict(line) for line in read_table("crossovers") if line["kind"] == "published"]
    for one in crossings():
        card = find_gpu(one.session.gpu)
        lines.append(
            {
                "id": f"computed-{one.session.id}",
                "architecture": card.architecture if card else "",
                "gpu": one.session.gpu,
                "session": one.session.id,
                "size_b": f"{one.size_b:.2f}" if one.size_b else "",
                "beyond_b": "" if one.size_b else f"{one.beyond_b:g}",
                "kind": "computed",
                "rows": "|".join(one.rows),
                "grade": one.session.grade.value,
                "source": one.session.source,
                "licence": one.session.licence,
                "notes": "" if one.size_b else "NF4 cost energy at every size measured",
            }
        )
    return lines


def main() -> int:
    """Write both files."""
    for name, lines in (("parameters", fit_all()), ("crossovers", computed_crossovers())):
        path = Path(__file__).parents[1] / "data" / f"{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, fieldnames=list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
        print(f"{len(lines)} lines written to data/{name}.csv")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
