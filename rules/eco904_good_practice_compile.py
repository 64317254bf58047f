"""A 16-bit model that is compiled.

## What it does
Praises a load of a 16-bit model that `torch.compile` or a static cache reaches.

## Why it matters
A compiled step launches few kernels, so the GPU waits less while it draws power.

## Example
```python
model = AutoModelForCausalLM.from_pretrained(name, torch_dtype="auto")
model = torch.compile(model)
```

## Exceptions
Models quantised with bitsandbytes, which the compiler does not reach, and compilation under a
condition.

## Fix safety
Nothing is to be changed. Shown with `--show-green` only.

## References
- https://pytorch.org/docs/stable/generated/torch.compile.html
"""

from collections.abc import Iterator

from ecolint.diagnostics import Severity
from ecolint.facts import ModelLoad
from ecolint.rule import Context, Finding, Rule

RULE = Rule(
    code="ECO904",
    name="good-practice-compile",
    severity=Severity.GREEN,
    reads=ModelLoad,
    summary="a compiled model",
)


def check(load: ModelLoad, context: Context) -> Iterator[Finding]:
    """Praise a load that ends up compiled."""
    method = load.quantization.method.value if load.quantization else None
    if load.compiled.is_(True) and not (method and method.bitsandbytes):
        yield Finding(load.span, "this model is compiled")
