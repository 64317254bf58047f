"""Estimate what a deployment draws: from its own rows, between rows, or from the model.

An answer says which of these it is and why, names its rows, and carries an interval that
was tested on rows held out. Where nothing was measured near enough, it refuses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ecolint.catalog import find_gpu
from ecolint.energy import parameters, physics
from ecolint.energy.batching import LARGEST_BATCH, batch_saving
from ecolint.energy.dataset import Basis, Row, serving_rows, usable_rows
from ecolint.energy.interpolating import Cell, read_session
from ecolint.energy.matching import alike
from ecolint.energy.memory import Fit, cache_bytes_per_token, fits, weight_gb
from ecolint.energy.question import Question, ask
from ecolint.energy.stack import by_fitness, distance, release

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ecolint.catalog import Model

RECIPE = (
    "measure it: one card with nothing else on it, `ecolint measure -- COMMAND`, "
    "2-3 warm-up generations dropped, 10 of 256 tokens, greedy, one fixed prompt, "
    "repeated after a restart"
)
LONGEST_TOKENS = 4096
# A card outside the fit, or a batch read from another card's sweep: untested, so twice.
# A card of a compute capability inside it: the factor that held for the A100 and V100 rows
# of another laboratory, after a model of this kind was fitted to the A800.
_UNTESTED_FACTOR = 2.0
_KIN_FACTOR = 1.4
# Chat prompts are a part of every serving row; only what exceeds them costs extra.
_CHAT_PROMPT_TOKENS = 512
# Reasoning and code rows decode thousands of tokens a request: another workload.
_TASKS = ("generation", "chat", "lm-arena-chat")
# Heads that most models of known dimensions share: 8 of 128, keys and values in 16 bit.
_TYPICAL_CACHE_BYTES = 2 * 2 * 8 * 128


class Tier(str, Enum):
    """How near the evidence is to the question."""

    MEASURED = "measured"
    INTERPOLATED = "interpolated"
    MODELLED = "modelled"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the bounds that held 90 % of held-out rows."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> Interval:
        """Return the interval in another unit."""
        return Interval(self.value * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a deployment draws while it generates; gross, board power only.

    Energy in J per 1,000 generated tokens and per request, throughput in tokens per second
    over the batch, latency in seconds per request. Speed is None where no row tells it.
    """

    question: Question
    tier: Tier
    energy_j_per_1k: Interval
    energy_j_per_request: Interval
    throughput_tok_s: Interval | None
    power_w: Interval | None
    latency_s: Interval | None
    memory: Fit | None
    reasons: tuple[str, ...]
    rows: tuple[str, ...]
    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """No number rather than a wrong one: why, and how to measure it."""

    question: Question
    reason: str
    recipe: str = RECIPE
    tier: Tier = Tier.REFUSED


def estimate(
    model: str,
    gpu: str,
    precision: str = "fp16",
    engine: str = "transformers",
    batch: int = 1,
    input_tokens: int = 512,
    output_tokens: int = 256,
    stack: Mapping[str, str] | None = None,
    site: Sequence[Row] = (),
) -> Estimate | Refusal:
    """Return energy, speed, latency and memory of one deployment on one card.

    `stack` pins versions (bitsandbytes, torch, vllm); `site` holds a user's own rows, which
    win over ours. Raises QuestionError for an unknown name or an impossible number.
    """
    asked = ask(model, gpu, precision, engine, batch, input_tokens, output_tokens, stack)
    own = [row for row in site if row.session.engine == asked.engine]
    # What a site measured itself is answered even where we would refuse.
    return _from_rows(asked, own) or _refuse(asked) or _from_ours(asked)


def _from_ours(asked: Question) -> Estimate | Refusal:
    return _from_rows(asked, usable_rows(asked.engine)) or _from_model(asked)


def _refuse(asked: Question) -> Refusal | None:
    if asked.gpu.vendor != "nvidia":
        return Refusal(asked, f"nothing was measured on {asked.gpu.name}")
    if asked.engine not in ("transformers", "vllm", "llama.cpp"):
        return Refusal(asked, f"nothing was measured under {asked.engine}")
    if asked.precision in ("gptq", "awq", "fp32", "fp4", "mxfp4"):
        return Refusal(asked, f"{asked.precision} was not measured on one card")
    if asked.input_tokens + asked.output_tokens > LONGEST_TOKENS:
        return Refusal(asked, f"beyond {LONGEST_TOKENS:,} tokens nothing was measured")
    if asked.batch > LARGEST_BATCH and asked.engine != "vllm":
        return Refusal(asked, f"beyond batch {LARGEST_BATCH} nothing was measured")
    context = asked.input_tokens + asked.output_tokens
    memory = fits(asked.model, asked.gpu, asked.precision, 1, context)
    if memory is not None and memory.fits is False:
        return Refusal(
            asked,
            f"it does not fit: {memory.needed_gb[0]:.1f} GiB or more are needed, "
            f"{asked.gpu.name} has {memory.available_gb:.0f}",
            recipe="take a larger card or fewer bits",
        )
    return None


def _from_rows(asked: Question, rows: Sequence[Row]) -> Estimate | None:
    cells = [cell for cell in _cells(asked, rows) if cell is not None]
    if not cells:
        return None
    order = [one.id for one in by_fitness((cell.session for cell in cells), asked.stack)]

    def rank(cell: Cell) -> tuple[bool, int]:
        pinned = distance(cell.session, asked.stack) is not None
        return not (pinned or cell.exact), order.index(cell.session.id)

    best = min(cells, key=rank)
    spread = parameters.session_factor(alike(asked.precision))
    if not best.exact:
        between = parameters.interpolation_factor(asked.engine)
        spread = math.exp(math.hypot(math.log(spread), math.log(between)))
    energies = [cell.energy_j_per_1k for cell in cells]
    energy = Interval(
        best.energy_j_per_1k,
        min(best.energy_j_per_1k / spread, *energies),
        max(best.energy_j_per_1k * spread, *energies),
    )
    prompt = _prompt(asked, best.input_tokens)
    speed = _speed(asked.batch, best.seconds, spread)
    tier = Tier.MEASURED if best.exact else Tier.INTERPOLATED
    reasons = _reasons_of_rows(asked, best, cells)
    return _estimate(asked, tier, energy, speed, prompt, reasons, best.rows, order)


def _cells(asked: Question, rows: Sequence[Row]) -> list[Cell | None]:
    """Read every session of the card, engine generation and precision asked for."""
    wanted = alike(asked.precision)
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.gpu != asked.gpu.key or row.n_gpus != 1 or alike(row.precision) != wanted:
            continue
        if row.task in _TASKS:
            groups.setdefault(row.session.id, []).append(row)
    kept = _nearest_generation(asked, groups)
    return [
        read_session(group, asked.model, asked.batch, lambda m, b: _step(asked, m, b))
        for group in kept.values()
    ]


def _nearest_generation(asked: Question, groups: dict[str, list[Row]]) -> dict[str, list[Row]]:
    if asked.engine != "vllm":
        return groups
    generation = _generation(asked)
    return {
        key: group
        for key, group in groups.items()
        if group[0].session.own or group[0].session.engine_version == generation
    }


def _generation(asked: Question) -> str:
    """Return the fitted vLLM generation nearest to the version asked for, else the newest."""
    known = parameters.generations()
    pinned = release(asked.stack.get("vllm", ""))
    if pinned is None:
        return known[-1]

    def gap(generation: str) -> float:
        major, minor, _ = release(generation) or (0, 0, 0)
        return abs((major - pinned[0]) * 100 + minor - pinned[1])

    return min(known, key=gap)


def _from_model(asked: Question) -> Estimate | Refusal:
    if asked.model.kind != "dense":
        return Refusal(asked, f"no model was fitted for {_kind_in_words(asked.model.kind)}")
    if asked.gpu.bandwidth_gb_s is None or asked.gpu.tdp_w is None or asked.gpu.sliced:
        return Refusal(asked, f"the bandwidth and power of this {asked.gpu.name} are not known")
    if asked.engine == "vllm" and not asked.sixteen_bit:
        return Refusal(asked, f"{asked.precision} was not measured under vllm on one card")
    step = _step(asked, asked.model, asked.batch if asked.engine == "vllm" else 1)
    if step is None:
        return Refusal(asked, f"{asked.precision} under {asked.engine} has no fitted model")
    if asked.engine == "vllm":
        return _modelled_serving(asked, step)
    return _modelled_eager(asked, step)


def _modelled_eager(asked: Question, step: physics.Step) -> Estimate | Refusal:
    fitted = parameters.eager(alike(asked.precision))
    assert fitted is not None
    seconds, energy = step.seconds, step.energy_j_per_1k
    widest = _widening(asked)
    factor = max(fitted.energy_factor, widest)
    reasons = [
        f"no row of {asked.gpu.name} brackets {asked.model.params_b:.1f}B in {asked.precision}",
        "eager decoding at batch 1, modelled as a cost a layer and a cost a byte",
        *_reasons_of_shape(asked.model),
    ]
    if widest > 1:
        reasons.append(
            f"{asked.gpu.name} was never measured: the interval is {widest:g} either way"
        )
    used: tuple[str, ...] = ()
    if asked.batch > 1:
        saving = batch_saving(asked.batch, asked.gpu.key, alike(asked.precision))
        if saving is None:
            return Refusal(asked, f"batch {asked.batch} was not measured")
        energy *= 1 - saving.saving_pct / 100
        factor = max(factor, _UNTESTED_FACTOR)
        used = saving.rows
        reasons.append(f"batch {asked.batch} from the sweep on {saving.gpu}, an untested step")
    interval = Interval(energy, energy / factor, energy * factor)
    speed = _speed(asked.batch, seconds, max(fitted.time_factor, widest))
    prompt = _prompt(asked, None)
    return _estimate(asked, Tier.MODELLED, interval, speed, prompt, reasons, used, [])


def _modelled_serving(asked: Question, step: physics.Step) -> Estimate | Refusal:
    generation = _generation(asked)
    fitted = parameters.serving(generation)
    assert fitted is not None
    served = [row for row in serving_rows() if row.session.engine_version == generation]
    largest = max(row.batch or 0 for row in served)
    if asked.batch > largest:
        return Refusal(asked, f"beyond {largest:.0f} running sequences nothing was measured")
    widest = _widening(asked)
    factor = max(fitted.energy_factor, widest)
    energy = step.energy_j_per_1k
    reasons = [
        f"vLLM of the {generation} generation, step time and power modelled",
        *_reasons_of_shape(asked.model),
    ]
    if widest > 1:
        reasons.append(f"{asked.gpu.name} was never served: the interval is {widest:g} either way")
    interval = Interval(energy, energy / factor, energy * factor)
    speed = _speed(asked.batch, step.seconds, max(fitted.time_factor, widest))
    prompt = _prompt(asked, None)
    return _estimate(asked, Tier.MODELLED, interval, speed, prompt, reasons, (), [])


def _widening(asked: Question) -> float:
    """Return the factor that an interval needs for a card that the fit never saw."""
    cards = {row.gpu for row in usable_rows(asked.engine)}
    if asked.gpu.key in cards:
        return 1.0
    known = (find_gpu(card) for card in cards)
    kin = any(card and card.compute_capability == asked.gpu.compute_capability for card in known)
    return _KIN_FACTOR if kin else _UNTESTED_FACTOR


def _step(asked: Question, model: Model, batch: float) -> physics.Step | None:
    """Return the fitted model's step for a model at a batch on the card asked about."""
    if asked.gpu.bandwidth_gb_s is None or asked.gpu.tdp_w is None:
        return None
    card = _card(asked)
    shape = _shape(model, asked.precision)
    if asked.engine == "vllm":
        serving = parameters.serving(_generation(asked))
        if serving is None or card.tflops is None:
            return None
        return physics.serving_step(shape, card, serving, batch, asked.held_tokens)
    eager = parameters.eager(alike(asked.precision)) if asked.engine == "transformers" else None
    return physics.eager_step(shape, card, eager) if eager else None


def _card(asked: Question) -> physics.Card:
    gpu = asked.gpu
    return physics.Card(gpu.bandwidth_gb_s or 0.0, gpu.tdp_w or 0.0, gpu.fp16_tflops)


def _shape(model: Model, precision: str) -> physics.Shape:
    layers = model.layers or parameters.typical_layers(model.params_b)
    return physics.Shape(
        params_b=model.params_b,
        layers=layers,
        weight_gb=weight_gb(model, precision),
        cache_bytes=cache_bytes_per_token(model) or layers * _TYPICAL_CACHE_BYTES,
    )


@dataclass(frozen=True, slots=True)
class _Prompt:
    """Prompt tokens beyond those that the rows include, and what reading them takes."""

    tokens: int
    seconds: float
    joules: float


def _prompt(asked: Question, included: float | None) -> _Prompt | None:
    if included is None:
        included = _CHAT_PROMPT_TOKENS if asked.engine == "vllm" else 0
    tokens = max(0, asked.input_tokens - round(included))
    if not tokens or asked.gpu.tdp_w is None or asked.gpu.bandwidth_gb_s is None:
        return None
    found = physics.prefill(_shape(asked.model, asked.precision), _card(asked), tokens)
    return _Prompt(tokens, *found) if found else None


def _with_prompt(asked: Question, energy: Interval, prompt: _Prompt) -> Interval:
    """Add the prompt's energy, spread over the tokens generated; half and twice as bounds."""
    extra = 1000 * prompt.joules / asked.output_tokens
    return Interval(energy.value + extra, energy.low + extra / 2, energy.high + 2 * extra)


def _speed(batch: int, seconds: float | None, factor: float) -> Interval | None:
    if not seconds:
        return None
    speed = batch / seconds
    return Interval(speed, speed / factor, speed * factor)


def _estimate(
    asked: Question,
    tier: Tier,
    energy: Interval,
    speed: Interval | None,
    prompt: _Prompt | None,
    reasons: Sequence[str],
    used: tuple[str, ...],
    sessions: Sequence[str],
) -> Estimate:
    latency = power = None
    if speed is not None:
        wait = prompt.seconds if prompt else 0.0
        tokens = asked.batch * asked.output_tokens
        latency = Interval(
            tokens / speed.value + wait, tokens / speed.high + wait, tokens / speed.low + wait
        )
        power = _power(asked, energy, speed)
    if prompt is not None:
        energy = _with_prompt(asked, energy, prompt)
        reasons = [*reasons, f"reading {prompt.tokens} prompt tokens added at full board power"]
    context = asked.input_tokens + asked.output_tokens
    return Estimate(
        question=asked,
        tier=tier,
        energy_j_per_1k=energy,
        energy_j_per_request=energy.times(asked.output_tokens / 1000),
        throughput_tok_s=speed,
        power_w=power,
        latency_s=latency,
        memory=fits(asked.model, asked.gpu, asked.precision, asked.batch, context),
        reasons=tuple(reasons),
        rows=used,
        sessions=tuple(sessions),
    )


def _power(asked: Question, energy: Interval, speed: Interval) -> Interval:
    """Return board power; no card draws more than its limit or less than idle."""
    watts = energy.value * speed.value / 1000
    spread = math.hypot(math.log(energy.high / energy.value), math.log(speed.high / speed.value))
    most = asked.gpu.tdp_w or math.inf
    least = asked.gpu.idle_w or 0.0
    high = min(most, watts * math.exp(spread))
    low = max(least, watts / math.exp(spread))
    return Interval(min(watts, most), min(low, min(watts, most)), high)


def _reasons_of_rows(asked: Question, best: Cell, cells: Sequence[Cell]) -> list[str]:
    reasons = [
        f"measured in session {best.session.id}"
        if best.exact
        else f"read between {len(best.rows)} rows of session {best.session.id}"
    ]
    if best.session.own:
        reasons.append("a row of your own wins over ours")
    if len(cells) > 1:
        reasons.append(f"the interval spans {len(cells)} sessions of this card")
    if best.exact and best.model.id != asked.model.id:
        reasons.append(f"measured with {best.model.id}, which has the same size")
    if best.session.basis is Basis.NET:
        reasons.append("published with idle power subtracted, put back here")
    if best.seconds is None:
        reasons.append("the session published no speed")
    return reasons


def _reasons_of_shape(model: Model) -> list[str]:
    if model.layers:
        return []
    layers = parameters.typical_layers(model.params_b)
    return [f"{model.id}: layers not known, {layers} taken as typical of its size"]


def _kind_in_words(kind: str) -> str:
    return {"moe": "mixtures of experts", "ssm": "state-space models"}.get(kind, "encoders")
