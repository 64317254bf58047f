"""FP8 or bfloat16 asked of a GPU that has no units for it.

## What it does
Finds FP8 kernels on a GPU older than Ada and Hopper, and bfloat16 on one older than Ampere, when
the GPU is known.

## Why it wastes energy
The GPU emulates what it lacks: each product is converted to a wider type first, so the smaller
format costs time instead of saving it.

## Example
```python
model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)  # on a T4
```
Use instead:
```python
model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.float16)
```

## Exceptions
An unknown or contested GPU, the checkpoint's own type (`auto`), and weight-only FP8, which unpacks
anyway (ECO301). vLLM, SGLang and TGI fall back to FP8 weights with 16-bit products where the GPU
has no FP8 units: yellow, since it still saves memory.

## Fix safety
Unsafe: float16 has a narrower range than bfloat16, and a model trained in bfloat16 may overflow.

## References
- https://docs.nvidia.com/cuda/cuda-c-programming-guide/
- https://docs.vllm.ai/en/latest/features/quantization/supported_hardware.html
"""

from collections.abc import Iterator

from ecolint.catalog import Gpu
from ecolint.diagnostics import Applicability, Severity
from ecolint.facts import Method, ModelLoad, Quantization, Serving, Set, Setting
from ecolint.rule import Context, Finding, Rule
from ecolint.sizing import card_of

RULE = Rule(
    code="ECO302",
    name="format-unsupported-on-gpu",
    severity=Severity.RED,
    reads=(Quantization, ModelLoad, Serving),
    summary="FP8 or bfloat16 on a GPU without it",
    applicability=Applicability.UNSAFE,
)

_FALL_BACK = frozenset({"vllm", "sglang", "tgi", "lmdeploy"})


def check(fact: Quantization | ModelLoad | Serving, context: Context) -> Iterator[Finding]:
    """Report a number format for which the known GPU has no units."""
    card = card_of(context)
    if card is None:
        return
    if isinstance(fact, Quantization):
        yield from _quantization(fact, card)
    elif isinstance(fact, Serving) or not _is_served(fact, context):
        yield from _bfloat16(fact, fact.dtype, "dtype", card)


def _is_served(load: ModelLoad, context: Context) -> bool:
    """Whether the same option was already read from an engine."""
    return any(one.dtype.span == load.dtype.span for one in context.facts.of(Serving))


def _quantization(fact: Quantization, card: Gpu) -> Iterator[Finding]:
    if fact.method.is_(Method.FP8, Method.FP8_DYNAMIC) and card.fp8 is False:
        falls_back = fact.library in _FALL_BACK
        how = "weights are unpacked and multiplied in 16-bit" if falls_back else "this fails to run"
        yield Finding(
            fact.method.span or fact.span,
            f"{card.name} has no FP8 units, so {how}; use 16-bit, or AWQ or GPTQ kernels",
            severity=Severity.YELLOW if falls_back else RULE.severity,
        )
    yield from _bfloat16(fact, fact.compute_dtype, "compute_dtype", card)


def _bfloat16(
    fact: Quantization | ModelLoad | Serving, dtype: Setting[str], option: str, card: Gpu
) -> Iterator[Finding]:
    if not dtype.is_("bfloat16", "bf16") or dtype.span is None or card.bf16 is not False:
        return
    yield Finding(
        dtype.span or fact.span,
        f"{card.name} has no bfloat16 units and emulates them; use float16",
        edits=fact.editor.edits(Set(option, "float16")),
        fix="Use float16",
    )
