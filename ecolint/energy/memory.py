"""Tell whether a model fits a card: weights, KV cache and what the runtime keeps."""

from __future__ import annotations

from dataclasses import dataclass

from ecolint.catalog import Gpu, Model, find_gpu, find_model

GIB = 1024**3

# Bits that a weight of a linear layer takes.
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
    "q4_0": 4.5,
}
_KEPT_BITS = 16.0
# What a model's dimensions leave over may be wide feed-forward layers, not embeddings.
_MOST_KEPT = 0.3
# CUDA context and kernels; the peak rows of a800-2026-02-15 leave 0.6 GiB at batch 1.
_CONTEXT_GIB = (0.4, 1.0)
# The same rows need up to 1.2 times weights and cache at batch 64.
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

    `model` is an id or billions of parameters, `context` the tokens that each sequence
    holds (512 in and 256 out by default). The cache is left out where dimensions are
    unknown, which keeps the lower bound true and forbids a "fits".
    """
    known = find_model(model) if isinstance(model, str) else model
    card = find_gpu(gpu) if isinstance(gpu, str) else gpu
    if known is None or precision not in _BITS:
        return None
    weights = weight_gb(known, precision) * 1e9 / GIB
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


def weight_gb(model: Model | float, precision: str) -> float:
    """Return the weights in GB (1e9 bytes) of a model or of billions of parameters.

    Quantisers leave embeddings and head in 16 bit: what the layers' dimensions leave over.
    """
    params, kept = (model, 0.0) if isinstance(model, int | float) else _parts(model)
    bits = _BITS[precision]
    return ((params - kept) * bits + kept * max(bits, _KEPT_BITS)) / 8


def cache_bytes_per_token(model: Model) -> float | None:
    """Return the bytes of 16-bit KV cache a token takes, None where dimensions are unknown."""
    if not (model.layers and model.kv_heads and model.head_dim):
        return None
    return 2 * 2 * model.layers * model.kv_heads * model.head_dim


def _parts(model: Model) -> tuple[float, float]:
    if not (model.layers and model.hidden and model.kind == "dense"):
        return model.params_b, 0.0
    left_over = model.params_b - 12e-9 * model.layers * model.hidden * model.hidden
    return model.params_b, min(max(0.0, left_over), _MOST_KEPT * model.params_b)


def _cache_gib(model: Model | float, batch: int, context: int) -> float | None:
    per_token = cache_bytes_per_token(model) if isinstance(model, Model) else None
    return per_token * batch * context / GIB if per_token else None


def _verdict(low: float, high: float, available: float | None, whole: bool) -> bool | None:
    if available is None:
        return None
    if low > available:
        return False
    return True if whole and high <= available * (1 - _RESERVED) else None
