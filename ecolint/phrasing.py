"""Put figures into words: what a rule says about a cost, where it is known from, how sure.

Every figure comes from `ecolint.energy`, with the rows behind it as `Evidence`; rules hold
none of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecolint.diagnostics import Evidence, Provenance, Severity
from ecolint.energy import crossover, fits, penalty
from ecolint.facts import Method
from ecolint.sizing import UNMEASURED, card_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ecolint.catalog import Model
    from ecolint.energy import BatchSaving, Penalty
    from ecolint.facts import ModelLoad, Quantization
    from ecolint.rule import Context

# Waste in percent above which a finding is red.
_RED_ABOVE = 30.0


def precision_of(quantization: Quantization) -> str | None:
    """Return the name under which the dataset knows a quantisation, None where it does not."""
    method = quantization.method.value
    if method is Method.INT8:
        return "int8-pure" if quantization.threshold.is_(0.0) else "int8"
    if method is Method.NF4:
        return "nf4-dq" if quantization.double_quant.is_(True) else "nf4"
    return {
        Method.FP8_WEIGHT_ONLY: "fp8-weight-only",
        Method.FP8_DYNAMIC: "fp8-dynamic",
    }.get(method or Method.NONE)


def name_of(quantization: Quantization) -> str:
    """Return what a bitsandbytes quantisation is called in a message."""
    method = quantization.method.value or Method.NONE
    plain = method.value.removeprefix("bitsandbytes ")
    return f"{plain} without outliers" if method is Method.INT8 else plain


def kind_of(model: Model) -> str | None:
    """Return the kind of an architecture that no row covers, None for the dense ones."""
    return {
        "moe": "mixtures of experts",
        "encoder": "encoder models",
        "ssm": "state-space models",
    }.get(model.kind)


def cost_of(precision: str, model: Model | None, context: Context) -> Penalty | None:
    """Return what a precision costs against 16-bit for a model on the project's GPU."""
    return penalty(
        precision,
        gpu=context.gpu_name(),
        model=model.id if model else None,
        params_b=model.params_b if model else None,
        stack=context.versions(),
        site=context.site,
    )


def unmeasured_kind(
    quantization: Quantization, loads: Iterable[ModelLoad], model: Model | None
) -> str | None:
    """Return the kind of model ("diffusion models") that no row covers; None if measured."""
    kinds = {load.modality for load in loads}
    if quantization.library == "diffusers":
        kinds = {"diffusion"}
    if kinds and kinds <= UNMEASURED:
        kind = sorted(kinds)[0]
        named = {"ssm": "state-space models", "vision-encoder": "vision models"}
        return named.get(kind, f"{kind} models")
    return kind_of(model) if model else None


def severity_of(found: Penalty | None, default: Severity) -> Severity:
    """Return the severity that a cost deserves: red or yellow by its figure, gray if it saves.

    Without a figure for the very card and size the default stays, unless the whole range lies
    above the limit of red or below zero.
    """
    if found is None:
        return default
    least, most = (found.low_pct, found.high_pct) if found.pct is None else (found.pct, found.pct)
    if least > _RED_ABOVE:
        return Severity.RED
    if most <= 0:
        return Severity.GRAY
    return default if found.pct is None else Severity.YELLOW


def evidence(found: Penalty) -> Evidence:
    """Return the rows behind a cost."""
    return Evidence(found.rows, found.provenance, found.pct, found.low_pct, found.high_pct)


def saving_evidence(found: BatchSaving) -> Evidence:
    """Return the rows behind what a batch saves; it is no figure against 16-bit."""
    return Evidence(found.rows, found.provenance)


def costs(found: Penalty, model: Model | None, *, named: bool = False) -> str:
    """Word a cost: "costs +53 % energy against 16-bit on RTX 4090D (Mistral-7B, measured)".

    `named` tells that the sentence has named the model already.
    """
    figure = _figure(found)
    place = f" on {found.gpu}" if found.gpu else ""
    basis = _basis(found, model, named)
    least = found.low_pct if found.pct is None else found.pct
    if least > 0:
        return f"costs {figure} energy against 16-bit{place} ({basis})"
    return f"changes energy by {figure} against 16-bit{place} ({basis})"


def pair(found: Penalty) -> str:
    """Word energy and perplexity side by side, both against 16-bit: "+3 %, perplexity +1 %"."""
    energy = f"{_figure(found)} energy"
    if found.perplexity_pct is None:
        return energy
    return f"{energy}, perplexity {between(*found.perplexity_pct)}"


def saving(found: BatchSaving) -> str:
    """Word what a batch saves, with the card that it was measured on."""
    figure = percent(-found.saving_pct)
    where = f"{found.provenance.value} on {found.gpu}"
    if found.provenance is Provenance.EXTRAPOLATED:
        where = f"{found.provenance.value} from {found.gpu}"
    return f"at batch {found.batch} a token takes {figure} energy ({where})"


def percent(value: float) -> str:
    """Return a signed percentage of two or three digits: "+53 %", "−7.7 %"."""
    digits = 1 if abs(value) < 9.95 else 0
    text = f"{abs(value):.{digits}f}".removesuffix(".0")
    return f"{'−' if value < 0 and text != '0' else '+'}{text} %"


def between(low: float, high: float) -> str:
    """Return a range of percentages, or the one where both ends read the same."""
    first, last = percent(low), percent(high)
    return first if first == last else f"{first.removesuffix(' %')}…{last}"


def size(model: Model) -> str:
    """Return a model's name and size: "Qwen2.5-3B", "Phi-3-mini-4k-instruct (3.8B)"."""
    name = model.id.rpartition("/")[2]
    billions = f"{model.nominal_b:.1f}".removesuffix(".0")
    if model.nominal_b < 1:
        billions = f"{model.nominal_b:.2g}"
    named = f"{billions}b" in name.lower() or f"{model.nominal_b * 1000:.0f}m" in name.lower()
    return name if named else f"{name} ({billions}B)"


def threshold_of(context: Context) -> str:
    """Word the crossover that decides: "4.2B (published)", or the session it comes from."""
    found = crossover(context.gpu_name(), context.versions(), context.site)
    size_b = f"{found.threshold_b:.1f}B"
    if found.provenance is Provenance.PUBLISHED:
        return f"{size_b} (published)"
    return f"{size_b} ({found.provenance.value} in session {', '.join(found.sessions)})"


def need_in_16_bit(model: Model, context: Context) -> str:
    """Word what the 16-bit model needs on the project's GPU, and what that has."""
    card = card_of(context)
    found = fits(model, card, "fp16")
    if found is None or card is None or found.available_gb is None:
        return "more memory than is known"
    return f"{found.needed_gb[0]:.1f} GiB or more, {card.name} has {found.available_gb:g}"


def nothing_measured(context: Context, kind: str | None = None) -> str:
    """Say for what no figure is claimed, and how to get one."""
    card = card_of(context)
    where = kind or "a model like this"
    if card is not None and card.vendor != "nvidia":
        where = card.name
    return f"no figure was measured for {where}; measure it with `ecolint measure`"


def _figure(found: Penalty) -> str:
    return between(found.low_pct, found.high_pct) if found.pct is None else percent(found.pct)


def _basis(found: Penalty, model: Model | None, named: bool) -> str:
    """Return model, provenance, range and hint, as far as they say something."""
    name = found.model or (size(model) if model and not named else "")
    words = [name, found.provenance.value] if name else [found.provenance.value]
    if found.provenance is Provenance.EXTRAPOLATED:
        words[-1] += " from other cards or sizes"
    elif found.gpu is None:
        words[-1] += " over several GPUs"
    if found.basis.partial:
        words.append("decoding alone")
    text = ", ".join(words)
    spread = between(found.low_pct, found.high_pct)
    if found.pct is not None and spread != percent(found.pct):
        return f"{text}; {spread} by software stack"
    missing = [] if found.gpu else ["--gpu"]
    missing += [] if model else ["--model"]
    return f"{text}; narrow it with {' and '.join(missing)}" if missing else text
