"""Tell where a load stands: its model, its GPU, the crossover, and what would fit."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ecolint.catalog import Gpu, Model, find_gpu, find_model
from ecolint.energy import crossover, fits
from ecolint.energy.dataset import read_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ecolint.facts import ModelLoad
    from ecolint.rule import Context

# What the measured rows, all of decoding language models, say nothing about.
UNMEASURED = frozenset({"encoder", "vision", "vision-encoder", "audio", "diffusion", "ssm"})


class Side(Enum):
    """On which side of the crossover a model stands, DEPENDS where the GPU decides it."""

    BELOW = "below"
    DEPENDS = "depends"
    ABOVE = "above"


def card_of(context: Context) -> Gpu | None:
    """Return the GPU that the project runs on, None where it is unknown or contested."""
    return find_gpu(context.gpu.value) if context.gpu else None


def models_of(load: ModelLoad, context: Context) -> tuple[Model, ...]:
    """Return every model of known size that a load may bring, the likeliest first."""
    names = load.model.values or ((context.model.value,) if context.model else ())
    found = tuple(model for model in map(find_model, names) if model is not None)
    if not found and load.params_b.known and load.params_b.value:
        return (_nameless(load.params_b.value),)
    return found


def _nameless(params_b: float) -> Model:
    """Return a dense model of which only the size is known."""
    return Model(f"a {params_b:.2g}B model", params_b, params_b, params_b, "dense")


def only_model(loads: Iterable[ModelLoad], context: Context) -> Model | None:
    """Return the model that all loads bring, None where it is unknown or they differ.

    Without any load in the file it is the project's model.
    """
    loads = tuple(loads)
    if not loads:
        return find_model(context.model.value) if context.model else None
    found = {model for load in loads for model in models_of(load, context)}
    return found.pop() if len(found) == 1 else None


def side_of(model: Model, context: Context) -> Side | None:
    """Return the side of a dense model on the project's GPU, None where none was measured.

    The size in the name counts too: Qwen2.5-3B is a 3B model, whatever its exact count.
    """
    card = card_of(context)
    if model.kind != "dense" or (card is not None and card.vendor != "nvidia"):
        return None
    size = min(model.params_b, model.nominal_b)
    if size <= crossover(context.gpu_name(), context.versions(), context.site).threshold_b:
        return Side.BELOW
    return Side.DEPENDS if card is None and size <= published_crossovers()[1] else Side.ABOVE


def published_crossovers() -> tuple[float, float]:
    """Return the lowest and the highest published size, in billions of parameters."""
    lines = read_table("crossovers")
    sizes = [float(line["size_b"]) for line in lines if line["kind"] == "published"]
    return min(sizes), max(sizes)


def small_model(load: ModelLoad, context: Context) -> Model | None:
    """Return the first model of a load that stands below the crossover."""
    if load.draft or load.modality in UNMEASURED:
        return None
    models = models_of(load, context)
    return next((model for model in models if side_of(model, context) is Side.BELOW), None)


def fits_in_16_bit(model: Model, context: Context) -> bool | None:
    """Return whether the 16-bit model fits one card, None where that can't be told."""
    found = fits(model, card_of(context), "fp16")
    return found.fits if found else None
