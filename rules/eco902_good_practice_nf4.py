"""NF4 on a model above the crossover, computed in 16 bit.

## What it does
Praises NF4 of a dense language model that is large enough to gain from it, with a 16-bit compute
type.

## Why it matters
From the crossover on, the bytes that NF4 saves outweigh the work of unpacking them.

## Example
```python
BitsAndBytesConfig(
    load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype="bfloat16"
)
```

## Exceptions
Cards and sizes for which the measured rows show no saving.

## Fix safety
Nothing is to be changed. Shown with `--show-green` only.

## References
- https://arxiv.org/abs/2305.14314
"""

from collections.abc import Iterator

from ecolint import phrasing
from ecolint.diagnostics import Severity
from ecolint.facts import Method, ModelLoad
from ecolint.rule import Context, Finding, Rule
from ecolint.sizing import UNMEASURED, Side, models_of, side_of

RULE = Rule(
    code="ECO902",
    name="good-practice-nf4",
    severity=Severity.GREEN,
    reads=ModelLoad,
    summary="NF4 on a model large enough to gain",
    query=("nf4",),
)

_SIXTEEN_BIT = ("float16", "bfloat16")


def check(load: ModelLoad, context: Context) -> Iterator[Finding]:
    """Praise NF4 where the rows say that it saves."""
    quantization = load.quantization
    if quantization is None or not quantization.method.is_(Method.NF4):
        return
    if not quantization.compute_dtype.is_(*_SIXTEEN_BIT) or load.modality in UNMEASURED:
        return
    model = next(iter(models_of(load, context)), None)
    if model is None or side_of(model, context) is not Side.ABOVE:
        return
    found = phrasing.cost_of(phrasing.precision_of(quantization) or "", model, context)
    if found is not None and (found.high_pct if found.pct is None else found.pct) < 0:
        yield Finding(
            quantization.method.span or load.span,
            f"NF4 on {phrasing.size(model)} {phrasing.costs(found, model, named=True)}",
            evidence=phrasing.evidence(found),
            model=model.id,
        )
