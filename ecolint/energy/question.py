"""Turn what a user asks about into known models, cards, precisions and engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ecolint.catalog import Gpu, Model, find_gpu, find_model, suggest_gpu, suggest_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ENGINES = (
    "transformers",
    "transformers-compiled",
    "vllm",
    "sglang",
    "tgi",
    "lmdeploy",
    "tensorrt-llm",
    "llama.cpp",
)
PRECISIONS = (
    "fp16",
    "bf16",
    "fp32",
    "int8",
    "int8-pure",
    "nf4",
    "nf4-dq",
    "fp4",
    "fp8",
    "fp8-weight-only",
    "fp8-dynamic",
    "mxfp4",
    "gptq",
    "awq",
    "q4_0",
)
_ALIASES = {"int8-default": "int8", "int8_default": "int8", "int8_pure": "int8-pure"}
_LARGEST_COUNT = 10**6


class QuestionError(ValueError):
    """A question that names something unknown or impossible; one line, with the mend."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one deployment on one card."""

    model: Model
    gpu: Gpu
    precision: str
    engine: str
    batch: int
    input_tokens: int
    output_tokens: int
    stack: Mapping[str, str]

    @property
    def sixteen_bit(self) -> bool:
        """Tell whether the weights are in 16 bit, which bf16 and fp16 are alike."""
        return self.precision in ("fp16", "bf16")

    @property
    def held_tokens(self) -> float:
        """Cached tokens of a sequence, averaged over the decoding."""
        return self.input_tokens + self.output_tokens / 2


def ask(
    model: str,
    gpu: str,
    precision: str = "fp16",
    engine: str = "transformers",
    batch: int = 1,
    input_tokens: int = 512,
    output_tokens: int = 256,
    stack: Mapping[str, str] | None = None,
) -> Question:
    """Return a checked question. Raises QuestionError with the nearest valid value."""
    known = find_model(model)
    if known is None:
        raise QuestionError(f"unknown model {model!r}{_hint(suggest_model(model))}")
    card = find_gpu(gpu)
    if card is None:
        raise QuestionError(f"unknown GPU {gpu!r}{_hint(suggest_gpu(gpu))}")
    folded = precision.lower()
    return Question(
        model=known,
        gpu=card,
        precision=_one_of("precision", _ALIASES.get(folded, folded), PRECISIONS),
        engine=_one_of("engine", engine.lower(), ENGINES),
        batch=_count("batch", batch),
        input_tokens=_count("input_tokens", input_tokens),
        output_tokens=_count("output_tokens", output_tokens),
        stack=dict(stack or {}),
    )


def _one_of(what: str, value: str, known: Iterable[str]) -> str:
    if value in known:
        return value
    from difflib import get_close_matches

    near = get_close_matches(value, tuple(known), n=3, cutoff=0.4)
    raise QuestionError(f"unknown {what} {value!r}{_hint(near or known)}")


def _count(what: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise QuestionError(f"{what} must be a whole number, not {value!r}; use 1 or more")
    if not 1 <= value <= _LARGEST_COUNT:
        near = 1 if value < 1 else _LARGEST_COUNT
        raise QuestionError(f"{what} {value} is impossible; the nearest valid value is {near}")
    return value


def _hint(near: Iterable[str]) -> str:
    names = ", ".join(near)
    return f"; did you mean {names}?" if names else "; give its size, such as 7B, or a known name"
