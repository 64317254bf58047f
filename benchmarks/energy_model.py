"""Score the energy model on rows it has not seen, beside two baselines.

`python -m benchmarks.energy_model` prints the tables, `--write docs/energy-model.md` keeps
them there with the date, `--rows FILE` scores the rows of another laboratory.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.energy_baselines import ecologits, published_rule
from benchmarks.energy_fit import (
    EAGER_PRECISIONS,
    Sample,
    eager_samples,
    fit_eager,
    fit_serving,
    held_out,
    interpolation_ratios,
    interval_factor,
    predict_eager,
    predict_serving,
    serving_samples,
    session_ratios,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

BEGIN, END = "<!-- scores -->", "<!-- /scores -->"
Ratios = list[float]


@dataclass(frozen=True, slots=True)
class Score:
    """Predicted over observed energy of some rows, and of the baselines on the same rows."""

    name: str
    ours: Ratios
    published: Ratios
    ecologits: Ratios

    def cells(self) -> list[str]:
        """Return the table cells: name, rows, bias, errors."""
        return [
            self.name,
            str(len(self.ours)),
            f"{_median(self.ours):.2f}" if self.ours else "-",
            *map(_error, (self.ours, self.published, self.ecologits)),
        ]


def scores(samples: Sequence[Sample], outside: list[tuple[Sample, float]]) -> list[Score]:
    """Return a score for each card, then one for all rows."""
    groups = {f"{sample.gpu}": [] for sample, _ in outside}  # type: dict[str, list[tuple[Sample, float]]]
    for sample, energy in outside:
        groups[sample.gpu].append((sample, energy))
    groups["all"] = outside
    return [_score(name, pairs, samples) for name, pairs in groups.items()]


def _score(name: str, pairs: list[tuple[Sample, float]], samples: Sequence[Sample]) -> Score:
    def ratios(predict: Callable[[Sample], float | None]) -> Ratios:
        found = ((sample, predict(sample)) for sample, _ in pairs)
        return [energy / sample.energy_j_per_1k for sample, energy in found if energy is not None]

    return Score(
        name,
        [energy / sample.energy_j_per_1k for sample, energy in pairs],
        ratios(published_rule),
        ratios(ecologits),
    )


def _groups(by: str) -> Callable[[Sample], str]:
    if by == "card":
        return lambda sample: sample.gpu
    if by == "session":
        return lambda sample: sample.session
    return lambda sample: sample.model


def eager_outside(precision: str, by: str) -> list[tuple[Sample, float]]:
    """Predict every eager row from a fit without its card, or without its session."""
    chosen = [sample for sample in eager_samples() if sample.precision == precision]
    found = held_out(chosen, _groups(by), fit_eager, predict_eager)
    return [(sample, step.energy_j_per_1k) for sample, step in found]


def serving_outside(generation: str, by: str) -> list[tuple[Sample, float]]:
    """Predict every serving row from a fit of its generation without its card or model."""
    chosen = [sample for sample in serving_samples() if sample.scope == generation]
    found = held_out(chosen, _groups(by), fit_serving, predict_serving)
    return [(sample, step.energy_j_per_1k) for sample, step in found]


def coverage(pairs: list[tuple[Sample, float]], group: Callable[[Sample], str]) -> list[bool]:
    """Tell, row by row, whether the interval held that the other groups' errors give.

    The interval of a group never saw the group's own errors.
    """
    held = []
    for name in sorted({group(sample) for sample, _ in pairs}):
        others = [e / s.energy_j_per_1k for s, e in pairs if group(s) != name]
        factor = math.log(interval_factor(others))
        held += [
            abs(math.log(e / s.energy_j_per_1k)) <= factor for s, e in pairs if group(s) == name
        ]
    return held


def repeat_coverage(ratios: Ratios) -> list[bool]:
    """Tell for each ratio whether the interval that the others give holds it."""
    return [
        abs(math.log(ratio)) <= math.log(interval_factor(ratios[:n] + ratios[n + 1 :]))
        for n, ratio in enumerate(ratios)
    ]


def report() -> str:
    """Return all tables as Markdown."""
    parts = ["### One row out, inside its session", "", _inside(), ""]
    head = ["held out", "rows", "bias", "this model", "published rule", "EcoLogits"]
    for precision in EAGER_PRECISIONS:
        for by in ("card", "session"):
            pairs = eager_outside(precision, by)
            title = f"### Eager transformers, {precision}, batch 1: one {by} out"
            table = scores([s for s, _ in pairs], pairs)
            parts += [title, "", _table(head, [score.cells() for score in table]), ""]
    for generation in ("0.5", "0.11"):
        for by in ("card", "model"):
            pairs = serving_outside(generation, by)
            title = f"### vLLM {generation}, 16 bit, chat: one {by} out"
            table = scores([s for s, _ in pairs], pairs)
            parts += [title, "", _table(head, [score.cells() for score in table]), ""]
    parts += ["### Coverage of the 90 % intervals", "", _coverage()]
    return "\n".join(parts)


def _inside() -> str:
    eager, serving = eager_samples(), serving_samples()
    by_precision = {p: fit_eager([s for s in eager if s.precision == p]) for p in EAGER_PRECISIONS}
    by_generation = {g: fit_serving([s for s in serving if s.scope == g]) for g in ("0.5", "0.11")}
    lines = []
    for name, ratios in (
        ("eager transformers", interpolation_ratios(eager, by_precision, predict_eager)),
        ("vLLM", interpolation_ratios(serving, by_generation, predict_serving)),
    ):
        lines.append([name, str(len(ratios)), f"{_median(ratios):.2f}", _error(ratios)])
    return _table(["engine", "rows with neighbours", "bias", "median error"], lines)


def _coverage() -> str:
    lines = []
    eager = [pair for p in ("fp16",) for pair in eager_outside(p, "card")]
    rows = [("modelled, eager 16 bit, card held out", coverage(eager, _groups("card")))]
    serving = [pair for g in ("0.5", "0.11") for pair in serving_outside(g, "card")]
    rows.append(("modelled, vLLM, session held out", coverage(serving, _groups("session"))))
    for precision in ("fp16", "nf4", "int8"):
        held = repeat_coverage(session_ratios(precision))
        rows.append((f"measured, {precision}, another session of the card", held))
    for name, held in rows:
        lines.append([name, str(len(held)), f"{100 * sum(held) / len(held):.0f} %"])
    return _table(["interval", "rows", "held"], lines)


def _median(values: Iterable[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _error(ratios: Ratios) -> str:
    return f"{100 * _median(abs(ratio - 1) for ratio in ratios):.1f} %" if ratios else "-"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    body = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in body)


def write(path: Path, today: date) -> None:
    """Put the tables between the markers of a page, with the date."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(
        f"{before}{BEGIN}\n\nMeasured on {today.isoformat()}.\n\n{report()}\n\n{END}{after}",
        encoding="utf-8",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables, or score a file of rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=Path, help="score these rows instead of our own")
    parser.add_argument("--write", type=Path, help="keep the tables in this page")
    args = parser.parse_args(argv)
    if args.rows:
        from benchmarks.energy_outside import score_file

        print(score_file(args.rows))
    elif args.write:
        write(args.write, date.today())
    else:
        print(report())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
