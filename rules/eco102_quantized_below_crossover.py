"""A small model quantised with bitsandbytes, where unpacking costs more than it saves.

## What it does
Finds bitsandbytes quantisation, 4-bit above all, of a dense language model that is smaller than
the crossover: the size from which fewer bytes to read outweigh the work of unpacking them.

## Why it wastes energy
A small model is not limited by memory bandwidth but by the time to launch kernels. Quantised
weights add a kernel to every layer, so the GPU runs longer for the same tokens.

## Example
```python
config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B", quantization_config=config)
```
Use instead:
```python
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B", torch_dtype="auto")
```

## Exceptions
Training, draft models of speculative decoding, mixtures of experts, encoders, vision and audio
models, and models of unknown size. Where the 16-bit model does not fit the stated GPU the
finding is gray: memory justifies it. The crossover depends on the GPU and on the software
stack: without pinned versions the published one holds; name yours with `--gpu` and `--stack`.
8-bit loading with its outlier decomposition is left to ECO101.

## Fix safety
Unsafe: the 16-bit model takes up to four times the memory, and its outputs differ (for the
better: quantisation raises perplexity).

## References
- https://doi.org/10.5281/zenodo.19647290
- https://github.com/huggingface/optimum/pull/2410
"""

from collections.abc import Iterator

from ecolint import phrasing
from ecolint.catalog import Model
from ecolint.diagnostics import Applicability, Severity, Span
from ecolint.facts import Drop, Method, ModelLoad, Quantization
from ecolint.rule import Context, Finding, Rule
from ecolint.sizing import (
    UNMEASURED,
    Side,
    fits_in_16_bit,
    models_of,
    published_crossovers,
    side_of,
    small_model,
)

RULE = Rule(
    code="ECO102",
    name="quantized-below-crossover",
    severity=Severity.YELLOW,
    reads=ModelLoad,
    summary="quantisation of a model too small to gain from it",
    applicability=Applicability.UNSAFE,
    query=("nf4", "nf4-dq"),
)


def check(load: ModelLoad, context: Context) -> Iterator[Finding]:
    """Report the first model below the crossover, or one whose side the GPU decides."""
    quantization = load.quantization
    if quantization is None or load.draft or not _is_concerned(quantization):
        return
    alone = len(context.loads_of(quantization)) == 1
    place = (alone and quantization.method.span) or load.model.span or load.span
    small = small_model(load, context)
    if small is not None:
        yield _below(load, quantization, small, place, context)
        return
    for model in models_of(load, context):
        if side_of(model, context) is Side.DEPENDS and load.modality not in UNMEASURED:
            low, high = published_crossovers()
            yield Finding(
                place,
                f"whether {phrasing.name_of(quantization)} on {phrasing.size(model)} saves energy "
                f"depends on the GPU: crossovers are published from {low:g}B to {high:g}B; "
                f"{context.gpu_conflict or 'name it with --gpu'}",
                severity=Severity.GRAY,
                model=model.id,
            )
            return


def _is_concerned(quantization: Quantization) -> bool:
    """Whether bitsandbytes unpacks these weights, without outliers, which ECO101 names."""
    method = quantization.method.value
    return bool(method and method.four_bit) or (
        method is Method.INT8 and quantization.threshold.is_(0.0)
    )


def _below(
    load: ModelLoad, quantization: Quantization, model: Model, place: Span, context: Context
) -> Finding:
    subject = f"{phrasing.name_of(quantization)} on {phrasing.size(model)}"
    if fits_in_16_bit(model, context) is False:
        need = phrasing.need_in_16_bit(model, context)
        message = f"{subject} is justified by memory: in 16-bit it needs {need}"
        return Finding(place, message, severity=Severity.GRAY, model=model.id)
    precision = phrasing.precision_of(quantization)
    found = phrasing.cost_of(precision, model, context) if precision else None
    cost = phrasing.costs(found, model, named=True) if found else "is not known to save energy"
    severity = phrasing.severity_of(found, RULE.severity)
    advice = "load it in 16-bit"
    if severity is Severity.GRAY:
        advice = "pin bitsandbytes, or measure, to settle which holds"
    return Finding(
        place,
        f"{subject} {cost}; below the crossover of {phrasing.threshold_of(context)}, {advice}",
        severity=severity,
        edits=load.editor.edits(Drop("quantization")),
        fix=f"Load {phrasing.size(model)} in 16-bit",
        evidence=phrasing.evidence(found) if found else None,
        model=model.id,
    )
