"""Score rows of other laboratories, given in the columns of the peers' file.

source, gpu, n_gpus, model, params_b, active_b, precision, engine, batch_size,
energy_j_per_1k_tok, avg_out_tok, use_for_validation.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.energy_baselines import ecologits, published_rule
from benchmarks.energy_fit import ASSUMED_PROMPT_TOKENS, Sample
from ecolint.catalog import find_gpu, find_model
from ecolint.energy.estimating import Estimate, Refusal, estimate
from ecolint.energy.memory import weight_gb
from ecolint.energy.physics import Card, Shape
from ecolint.energy.question import QuestionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_PRECISIONS = {"bfloat16": "bf16", "float16": "fp16", "bnb-nf4": "nf4", "bnb-nf4-dq": "nf4-dq"}
_EAGER = re.compile(r"(?i)\bhf\b|transformers|eager|optimum")
_LONGEST_ANSWER = 2048


@dataclass(frozen=True, slots=True)
class Scored:
    """One row: what was observed, and what we, and the baselines, say of it."""

    group: str
    observed: float
    answer: Estimate | Refusal | None
    published: float | None
    ecologits: float | None


def score_file(path: Path) -> str:
    """Return a table over source, engine and card of the rows that have an energy."""
    with path.open(encoding="utf-8", newline="") as lines:
        scored = [one for one in map(score_row, csv.DictReader(lines)) if one is not None]
    groups: dict[str, list[Scored]] = {}
    for one in scored:
        groups.setdefault(one.group, []).append(one)
    head = (
        "| rows of | n | answered | tiers | bias | median error | MAPE | held | rule | EcoLogits |"
    )
    body = [_line(name, found) for name, found in sorted(groups.items())]
    return "\n".join([head, "|" + " --- |" * 10, *body])


def score_row(line: Mapping[str, str]) -> Scored | None:
    """Return the score of a line; None without energy, or on several cards."""
    if not line["energy_j_per_1k_tok"] or int(float(line["n_gpus"] or 1)) != 1:
        return None
    engine = "transformers" if _EAGER.search(line["engine"]) else line["engine"].split()[0].lower()
    use = line.get("use_for_validation", "")
    scope = "in scope" if use.startswith("yes") and "outside" not in use else "out of scope"
    group = f"{line['source'].split('(')[0].strip()[:40]}, {engine}, {line['gpu']}, {scope}"
    observed = float(line["energy_j_per_1k_tok"])
    answer = _answer(line, engine)
    sample = _sample(line, observed)
    return Scored(
        group,
        observed,
        answer,
        published_rule(sample) if sample else None,
        ecologits(sample) if sample else None,
    )


def _model_name(line: Mapping[str, str]) -> str:
    known = find_model(line["model"].replace(" ", "-"))
    if known is not None:
        return line["model"].replace(" ", "-")
    return f"{float(line['params_b']):g}B" if line["params_b"] else line["model"]


def _answer(line: Mapping[str, str], engine: str) -> Estimate | Refusal | None:
    version = re.search(r"(?i)vllm\s*v?(\d+\.\d+)", line["engine"])
    words = float(line.get("avg_out_tok") or 256)
    try:
        return estimate(
            _model_name(line),
            line["gpu"],
            _PRECISIONS.get(line["precision"], line["precision"]),
            engine,
            max(1, round(float(line["batch_size"] or 1))),
            ASSUMED_PROMPT_TOKENS,
            max(1, min(_LONGEST_ANSWER, round(words))),
            {"vllm": version[1]} if version else None,
        )
    except QuestionError:
        return None


def _sample(line: Mapping[str, str], observed: float) -> Sample | None:
    card, model = find_gpu(line["gpu"]), find_model(_model_name(line))
    if card is None or model is None:
        return None
    precision = _PRECISIONS.get(line["precision"], line["precision"])
    return Sample(
        id="",
        session="",
        gpu=card.key,
        model=model.id,
        precision="fp16" if precision in ("fp16", "bf16") else precision,
        scope="",
        batch=float(line["batch_size"] or 1),
        held_tokens=0.0,
        shape=Shape(model.active_params_b, 0, weight_gb(model, "fp16"), 0.0),
        card=Card(card.bandwidth_gb_s or 0.0, card.tdp_w or 0.0, card.fp16_tflops),
        energy_j_per_1k=observed,
        seconds=None,
        power_w=None,
    )


def _line(name: str, found: list[Scored]) -> str:
    answered = [(one, one.answer) for one in found if isinstance(one.answer, Estimate)]
    tiers = sorted({answer.tier.value for _, answer in answered})
    ratios = [answer.energy_j_per_1k.value / one.observed for one, answer in answered]
    held = [
        answer.energy_j_per_1k.low <= one.observed <= answer.energy_j_per_1k.high
        for one, answer in answered
    ]
    cells = [
        name,
        str(len(found)),
        str(len(answered)),
        ", ".join(tiers) or "refused",
        f"{_median(ratios):.2f}" if ratios else "-",
        _percent([abs(ratio - 1) for ratio in ratios], _median),
        _percent([abs(ratio - 1) for ratio in ratios], _mean),
        _percent([float(one) for one in held], _mean),
        _percent([abs(o.published / o.observed - 1) for o in found if o.published], _median),
        _percent([abs(o.ecologits / o.observed - 1) for o in found if o.ecologits], _median),
    ]
    return "| " + " | ".join(cells) + " |"


def _percent(values: list[float], of: Callable[[list[float]], float]) -> str:
    return f"{100 * of(values):.0f} %" if values else "-"


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
