"""A quantised model on a data-centre GPU that holds its 16-bit weights several times over.

## What it does
Finds bitsandbytes quantisation of a model whose 16-bit form fits the stated data-centre GPU
several times, where measured rows say that the quantised one draws more energy a token.

## Why it wastes energy
Quantisation buys memory with work. Where memory lies idle, only the work is left.

## Example
```python
model = AutoModelForCausalLM.from_pretrained(  # on an A100 80GB
    "mistralai/Mistral-7B-v0.1", quantization_config=BitsAndBytesConfig(load_in_4bit=True)
)
```
Use instead:
```python
model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.1", torch_dtype="auto")
```

## Exceptions
Models below the crossover (ECO102) and LLM.int8() with outliers (ECO101), which are named there;
several models on one GPU; cards and sizes of which no row tells.

## Fix safety
There is no fix: the memory may be wanted for a larger batch.

## References
- https://doi.org/10.5281/zenodo.19647290
"""

from collections.abc import Iterator

from ecolint import phrasing
from ecolint.diagnostics import Provenance, Severity
from ecolint.energy import fits
from ecolint.facts import Method, ModelLoad
from ecolint.rule import Context, Finding, Rule
from ecolint.sizing import UNMEASURED, Side, card_of, models_of, side_of

RULE = Rule(
    code="ECO602",
    name="idle-headroom",
    severity=Severity.YELLOW,
    reads=ModelLoad,
    summary="quantised although the GPU has room to spare",
    query=("nf4", "nf4-dq"),
)

_TIMES_OVER = 3


def check(load: ModelLoad, context: Context) -> Iterator[Finding]:
    """Report a quantisation that saves memory nobody needs, at a measured cost."""
    card, models = card_of(context), models_of(load, context)
    quantization = load.quantization
    if card is None or not card.datacenter or card.sliced or not models or quantization is None:
        return
    precision = phrasing.precision_of(quantization)
    if precision not in ("nf4", "nf4-dq", "int8-pure") or load.modality in UNMEASURED:
        return
    # Without a known threshold the outliers, which ECO101 names, may be in force.
    if quantization.method.is_(Method.INT8) and not quantization.threshold.is_(0.0):
        return
    model = models[0]
    need = fits(model, card, "fp16")
    if need is None or card.vram_gb is None or side_of(model, context) is not Side.ABOVE:
        return
    times = card.vram_gb / need.needed_gb[1]
    found = phrasing.cost_of(precision, model, context)
    least = found and (found.low_pct if found.pct is None else found.pct)
    if found is None or times < _TIMES_OVER or not least or least <= 0:
        return
    if found.provenance is Provenance.EXTRAPOLATED:
        return
    yield Finding(
        quantization.method.span or load.span,
        f"{phrasing.name_of(quantization)} on {phrasing.size(model)} "
        f"{phrasing.costs(found, model, named=True)}, though {card.name} holds it {int(times)} "
        "times in 16-bit; load it in 16-bit",
        severity=phrasing.severity_of(found, RULE.severity),
        evidence=phrasing.evidence(found),
        model=model.id,
    )
