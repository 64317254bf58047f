"""Tell whether a model fits a card: weights, KV cache and what the runtime keeps."""

from __future__ import annotations

from dataclasses import dataclass

from ecolint.catalog import Gpu, Model, find_gpu, find_model

GIB = 1024**3

# Bits a weight of a linear layer takes, and of the tensors that quantisers leave in 16 bit.
_BITS = {
    "fp32": 32.0,
    "fp16": 16.0,
    "bf16": 16.0,
    "int8": 8.0,
    "int8-pure": 8.0,
    "fp8": 8.0,
    "fp8-weight-only": 8.0,
    "fp8-dynamic": 8.0,
    "nf4": 4.5,  # one 32-bit scale for 64 weights
    "nf4-dq": 4.13,  # scales quantised to 8 bits in blocks of 256
    "fp4": 4.5,
    "gptq": 4.25,
    "awq": 4.25,
}
_KEPT_BITS = 16.0
# CUDA context and kernels; peak rows of a800-2026-02-15 leave 0.6 GiB at batch 1.
_CONTEXT_GIB = (0.4, 1.0)
# The same rows need 1.0 to 1.2 times weights and cache up to batch 64.
_WORKSPACE = 1.2
# A driver and ECC keep up to 6 % of the memory that a card is sold with.
_RESERVED = 0.06


@dataclass(frozen=True, slots=True)
class Fit:
    """Memory needed and available, in GiB; `fits` is None between the two bounds."""

    needed_gb: tuple[float, float]
    available_gb: float | None
    fits: bool | None
    weights_gb: float
    cache_gb: float | None
    overhead_gb: tuple[float, float]


def fits(
    model: str | Model | float,
    gpu: str | Gpu | None,
    precision: str = "fp16",
    batch: int = 1,
    context: int = 768,
) -> Fit | None:
    """Return whether a model fits one card, None for an unknown model or precision.

    `model` is an id or billions of parameters, `context` the tokens each sequence holds
    (512 in and 256 out by default). The cache is left out where dimensions are unknown,
    which makes the lower bound a true one and forbids a "fits".
    """
    known = find_model(model) if isinstance(model, str) else model
    card = find_gpu(gpu) if isinstance(gpu, str) else gpu
    bits = _BITS.get(precision)
    if known is None or bits is None:
        return None
    weights = _weights_gib(known, bits)
    cache = _cache_gib(known, batch, context)
    low = weights + (cache or 0.0) + _CONTEXT_GIB[0]
    high = (weights + (cache or 0.0)) * _WORKSPACE + _CONTEXT_GIB[1]
    available = card.vram_gb if card else None
    return Fit(
        needed_gb=(low, high),
        available_gb=available,
        fits=_verdict(low, high, available, cache is not None),
        weights_gb=weights,
        cache_gb=cache,
        overhead_gb=(low - weights - (cache or 0.0), high - weights - (cache or 0.0)),
    )


def weight_bytes(params_b: float, precision: str, kept_b: float = 0.0) -> float:
    """Return the bytes of the weights; `kept_b` billions of them stay in 16 bit."""
    bits = _BITS[precision]
    return 1e9 * ((params_b - kept_b) * bits + kept_b * max(bits, _KEPT_BITS)) / 8


def cache_bytes_per_token(model: Model) -> float | None:
    """Return the bytes of 16-bit KV cache a token takes, None where dimensions are unknown."""
    if not (model.layers and model.kv_heads and model.head_dim):
        return None
    return 2 * 2 * model.layers * model.kv_heads * model.head_dim


def kept_in_16bit(model: Model) -> float:
    """Return the billions of parameters outside the transformer's linear layers.

    Embeddings and head stay in 16 bit under bitsandbytes; they are what the layers' own
    dimensions leave over. None of them is assumed where dimensions are unknown.
    """
    if not (model.layers and model.hidden and model.kind == "dense"):
        return 0.0
    linear_b = 12 * model.layers * model.hidden * model.hidden / 1e9
    return max(0.0, model.params_b - linear_b)


def _weights_gib(model: Model | float, bits: float) -> float:
    if isinstance(model, Model):
        kept = min(kept_in_16bit(model), 0.3 * model.params_b)
        params = model.params_b
    else:
        kept, params = 0.0, float(model)
    return 1e9 * ((params - kept) * bits + kept * max(bits, _KEPT_BITS)) / 8 / GIB


def _cache_gib(model: Model | float, batch: int, context: int) -> float | None:
    per_token = cache_bytes_per_token(model) if isinstance(model, Model) else None
    return per_token * batch * context / GIB if per_token else None


def _verdict(low: float, high: float, available: float | None, whole: bool) -> bool | None:
    if available is None:
        return None
    if low > available:
        return False
    return True if whole and high <= available * (1 - _RESERVED) else None
