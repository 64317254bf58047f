"""4-bit weights computed in float32, or meant as NF4 and left at FP4.

## What it does
Finds 4-bit loading through transformers, diffusers or accelerate that leaves the compute type at
float32, or that follows the NF4 recipe (double quantisation) without naming NF4.

## Why it wastes energy
Unpacked weights are multiplied in the compute type. In float32 the tensor cores for 16 bit stay
idle, and every product moves twice the bytes.

## Example
```python
BitsAndBytesConfig(load_in_4bit=True)
```
Use instead:
```python
BitsAndBytesConfig(
    load_in_4bit=True, bnb_4bit_compute_dtype="bfloat16", bnb_4bit_quant_type="nf4"
)
```

## Exceptions
Tools that choose well by themselves (Unsloth, TGI, vLLM, axolotl, LLaMA-Factory), models loaded
in bfloat16 or in the checkpoint's own type, where bitsandbytes follows the inputs, and models so
small that ECO102 advises against 4-bit altogether. A configuration that nothing in the file
loads with is left alone.

## Fix safety
Unsafe: another compute or storage type changes the outputs.

## References
- https://huggingface.co/docs/transformers/quantization/bitsandbytes
- https://arxiv.org/abs/2305.14314
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Severity
from ecolint.energy.stack import release
from ecolint.facts import ModelLoad, Quantization, Set, Setting
from ecolint.rule import Context, Finding, Rule
from ecolint.sizing import card_of, small_model

RULE = Rule(
    code="ECO104",
    name="four-bit-slow-defaults",
    severity=Severity.YELLOW,
    reads=Quantization,
    summary="4-bit weights at slow defaults",
    applicability=Applicability.UNSAFE,
)

_LEAVES_DEFAULTS = frozenset({"transformers", "diffusers", "accelerate"})
_LOADS_AS_SAVED = 5  # from this major version on, transformers loads the checkpoint's dtype


def check(fact: Quantization, context: Context) -> Iterator[Finding]:
    """Report a compute type of float32 by default, or FP4 inside the recipe for NF4."""
    method = fact.method.value
    if method is None or not method.four_bit or fact.library not in _LEAVES_DEFAULTS:
        return
    loads = context.loads_of(fact)
    if not loads or all(small_model(load, context) for load in loads):
        return
    slow = _is_default(fact.compute_dtype, "float32") and not any(
        _follows_inputs(load, context) for load in loads
    )
    fp4 = _is_default(fact.quant_type, "fp4")
    if not slow and not (fp4 and fact.double_quant.is_(True)):
        return
    wrong, changes = [], []
    if slow:
        wrong.append("multiplies in float32")
        changes.append(Set("compute_dtype", _compute_type(context)))
    if fp4:
        wrong.append("stores FP4")
        changes.append(Set("quant_type", "nf4"))
    yield Finding(
        fact.method.span or fact.span,
        f"by default this 4-bit load {' and '.join(wrong)}; no figure was measured for it; set "
        + " and ".join(f"bnb_4bit_{one.option}={one.value}" for one in changes),
        edits=fact.editor.edits(*changes),
        fix="Compute in 16-bit and store NF4",
    )


def _is_default(setting: Setting[str], value: str) -> bool:
    """Whether the library, and not the author, chose the value."""
    return setting.is_(value) and setting.span is None


def _follows_inputs(load: ModelLoad, context: Context) -> bool:
    """Whether bfloat16 inputs, to which bitsandbytes adapts, reach the layers."""
    if load.dtype.absent:
        pinned = release(context.versions().get("transformers", ""))
        return pinned is not None and pinned[0] >= _LOADS_AS_SAVED
    return not load.dtype.is_("float16", "float32")


def _compute_type(context: Context) -> str:
    card = card_of(context)
    return "float16" if card is not None and card.bf16 is False else "bfloat16"
