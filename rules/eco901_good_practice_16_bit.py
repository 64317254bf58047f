"""A model below the crossover that is loaded in 16 bit, as it should be.

## What it does
Praises a 16-bit load of a dense language model that is too small to gain from quantisation.

## Why it matters
It is the setting that ECO102 advises; a report should say what is right, too.

## Example
```python
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B", torch_dtype="bfloat16")
```

## Exceptions
Loads without a dtype, quantised ones, and models of unknown size.

## Fix safety
Nothing is to be changed. Shown with `--show-green` only.

## References
- https://doi.org/10.5281/zenodo.19647290
"""

from collections.abc import Iterator

from ecolint import phrasing
from ecolint.diagnostics import Severity
from ecolint.facts import ModelLoad
from ecolint.rule import Context, Finding, Rule
from ecolint.sizing import small_model

RULE = Rule(
    code="ECO901",
    name="good-practice-16-bit",
    severity=Severity.GREEN,
    reads=ModelLoad,
    summary="a small model in 16-bit",
)

_SIXTEEN_BIT = ("float16", "bfloat16", "half", "auto")


def check(load: ModelLoad, context: Context) -> Iterator[Finding]:
    """Praise a small model that is loaded in 16 bit."""
    if load.quantization is not None or load.quantization_unknown:
        return
    if not load.dtype.is_(*_SIXTEEN_BIT):
        return
    model = small_model(load, context)
    if model is not None and not model.prequantised:
        yield Finding(
            load.dtype.span or load.span,
            f"{phrasing.size(model)} in 16-bit: below the crossover nothing saves more",
            model=model.id,
        )
