"""A model that transformers 4 loads in float32, because no dtype is given.

## What it does
Finds loads for a GPU under a pinned transformers 4 that name no dtype: the model is loaded in
float32 even when its checkpoint is in 16 bit.

## Why it wastes energy
Decoding is bound by reading weights. float32 doubles the bytes of each token, and most tensor
cores stay idle.

## Example
```python
model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")
```
Use instead:
```python
model = AutoModelForCausalLM.from_pretrained(name, device_map="auto", torch_dtype="auto")
```

## Exceptions
transformers 5, whose default is the checkpoint's own type, an unknown version, quantised loads,
loads for the CPU, and encoders.

## Fix safety
Unsafe: outputs differ in the last bits, and the checkpoint decides the type.

## References
- https://huggingface.co/docs/transformers/main_classes/model
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Severity
from ecolint.energy.stack import release
from ecolint.facts import ModelLoad, Set
from ecolint.rule import Context, Finding, Rule
from ecolint.sizing import UNMEASURED, models_of

RULE = Rule(
    code="ECO702",
    name="float32-by-default",
    severity=Severity.YELLOW,
    reads=ModelLoad,
    summary="float32 for want of a dtype",
    applicability=Applicability.UNSAFE,
)

_LOADS_AS_SAVED = 5  # from this major version on


def check(load: ModelLoad, context: Context) -> Iterator[Finding]:
    """Report a GPU load without a dtype under a pinned transformers 4."""
    pinned = release(context.versions().get("transformers", ""))
    if pinned is None or pinned[0] >= _LOADS_AS_SAVED or not load.dtype.absent:
        return
    if load.library != "transformers" or load.engine != "transformers" or not load.generates:
        return
    if load.quantization is not None or load.quantization_unknown or load.modality in UNMEASURED:
        return
    if not load.device.known or not _is_gpu(load.device.value):
        return
    if any(model.prequantised for model in models_of(load, context)):
        return
    version = context.versions()["transformers"]
    yield Finding(
        load.span,
        f"transformers {version} loads this in float32, twice the bytes of a 16-bit checkpoint, "
        "for want of a dtype; no figure was measured for it; pass torch_dtype='auto'",
        edits=load.editor.edits(Set("dtype", "auto")),
        fix="Load the checkpoint's own dtype",
    )


def _is_gpu(device: str | None) -> bool:
    return str(device).partition(":")[0] in ("auto", "cuda", "balanced", "sequential", "0")
