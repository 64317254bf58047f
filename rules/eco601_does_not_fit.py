"""A model that does not fit the memory of the stated GPU.

## What it does
Adds weights, KV cache and what the runtime keeps, for the stated model, format, batch and
context, and compares the sum with the memory of the GPU.

## Why it wastes energy
What does not fit spills to the CPU, and the GPU idles at its power while weights travel over the
bus for every token; or the program fails after it has loaded for minutes.

## Example
```python
model = AutoModelForCausalLM.from_pretrained(  # on an RTX 4090, 24 GB
    "Qwen/Qwen2.5-32B-Instruct", torch_dtype="bfloat16", device_map="auto"
)
```
Use instead a format or a model that fits:
```python
config = BitsAndBytesConfig(
    load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype="bfloat16"
)
```

## Exceptions
Unknown models or GPUs, several GPUs, engines, which shard by options of their own, and formats
that the estimate does not know. Where `device_map="auto"` may spread the model over GPUs that the
file does not mention, the finding is gray. Between the bounds of the estimate nothing is said.

## Fix safety
There is no fix: which format, model or GPU to take is a decision.

## References
- https://huggingface.co/docs/accelerate/concept_guides/big_model_inference
"""

from collections.abc import Iterator

from ecolint import phrasing
from ecolint.catalog import Gpu, Model
from ecolint.diagnostics import Severity
from ecolint.energy import Fit, fits
from ecolint.facts import Hardware, Method, ModelLoad
from ecolint.rule import Context, Finding, Rule
from ecolint.sizing import card_of, models_of

RULE = Rule(
    code="ECO601",
    name="does-not-fit",
    severity=Severity.RED,
    reads=ModelLoad,
    summary="a model larger than the GPU's memory",
)

_SPREADS = frozenset({"auto", "balanced", "balanced_low_0", "sequential"})
_SMALLER = ("int8", "nf4")
_PLAIN = frozenset({"fp32", "fp16"})


def check(load: ModelLoad, context: Context) -> Iterator[Finding]:
    """Report a load whose least need exceeds the card."""
    card, models = card_of(context), models_of(load, context)
    precision = _precision(load)
    if card is None or not models or precision is None or not _is_on_one_gpu(load, context):
        return
    model = models[0]
    found = _fit(load, model, card, precision)
    if found is None or found.fits is not False:
        return
    spreads = load.device.is_(*_SPREADS)
    fate = "spills to the CPU unless several share it" if spreads else "fails to load"
    yield Finding(
        load.model.span or load.span,
        f"{phrasing.size(model)} in {precision} needs {found.needed_gb[0]:.1f} GiB or more, "
        f"{card.name} has {found.available_gb:g}, so it {fate}; {_way_out(load, model, card)}",
        severity=Severity.GRAY if spreads else None,
        model=model.id,
    )


def _precision(load: ModelLoad) -> str | None:
    """Return the format of the weights as the estimate names it; None where it is not sure."""
    if load.quantization is not None:
        if load.quantization.method.is_(Method.FP4):
            return "fp4"
        return phrasing.precision_of(load.quantization)
    if load.quantization_unknown or load.dtype.unknown:
        return None
    return "fp32" if load.dtype.is_("float32", "float") else "fp16"


def _is_on_one_gpu(load: ModelLoad, context: Context) -> bool:
    several = any(one.count > 1 for one in context.facts.of(Hardware))
    return load.engine == "transformers" and not (several or load.draft or load.device.is_("cpu"))


def _fit(load: ModelLoad, model: Model, card: Gpu, precision: str) -> Fit | None:
    if model.prequantised and load.quantization is None:
        return None
    # Which layers a quantiser leaves in 16 bit is an estimate upwards: the bare size, without
    # them and without the cache, keeps the bound true.
    whole = model if precision in _PLAIN else model.params_b
    batch = (load.batch.known and load.batch.value) or 1
    if load.context.known and load.context.value:
        return fits(whole, card, precision, batch, load.context.value)
    return fits(whole, card, precision, batch)


def _way_out(load: ModelLoad, model: Model, card: Gpu) -> str:
    smaller = next(
        (one for one in _SMALLER if (f := _fit(load, model, card, one)) and f.fits is not False),
        None,
    )
    return f"{smaller} may fit" if smaller else "take a larger GPU, several, or a smaller model"
