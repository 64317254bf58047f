"""Compilation switched off, thrown away, or missing where the model counts on it.

## What it does
Finds `disable_compile=True`, environment switches and backends that do not compile, a
`torch.compile(model)` whose result nobody keeps, torchao integer quantisation that no compiler
reaches, and, as advice, a long-running 16-bit server with neither compiler nor static cache.

## Why it wastes energy
Eager decoding launches hundreds of small kernels a token, and the GPU waits between them. torchao's
integer kernels exist only after compilation: eagerly, weights are unpacked for each product.

## Example
```python
torch.compile(model)
```
Use instead:
```python
model = torch.compile(model)
```

## Exceptions
Short scripts, engines that compile by themselves, models quantised with bitsandbytes, which the
compiler does not reach, and files where something is compiled, if only under a condition.

## Fix safety
Keeping the discarded result is safe. Switching compilation on is unsafe: the first calls take
longer, and numerical results may differ in the last bits.

## References
- https://pytorch.org/docs/stable/generated/torch.compile.html
- https://github.com/pytorch/ao
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Severity
from ecolint.facts import (
    Compilation,
    CompileState,
    Drop,
    KeepResult,
    Method,
    Quantization,
    Role,
)
from ecolint.rule import NOT_TRAINING, Context, Finding, Rule

RULE = Rule(
    code="ECO501",
    name="compile-disabled",
    severity=Severity.YELLOW,
    reads=(Compilation, Quantization),
    summary="compilation off, discarded or missing",
    silent_in=NOT_TRAINING | {Role.BENCHMARK},
    applicability=Applicability.UNSAFE,
)


def check(fact: Compilation | Quantization, context: Context) -> Iterator[Finding]:
    """Report what became of the compiler, where it would have helped."""
    if isinstance(fact, Quantization):
        if fact.method.is_(Method.TORCHAO_INT) and fact.compiled.is_(False):
            yield Finding(
                fact.method.span or fact.span,
                "torchao's integer kernels come from the compiler, and nothing compiles this "
                "model; add model = torch.compile(model)",
            )
    elif fact.state is CompileState.DISABLED:
        yield Finding(
            fact.span,
            f"{fact.spelled} switches the compiler off; remove it",
            edits=fact.editor.edits(Drop("compile_off")),
            fix="Let the model be compiled",
        )
    elif fact.state is CompileState.DISCARDED:
        yield Finding(
            fact.span,
            f"{fact.spelled} returns the compiled model, and nothing keeps it; assign the result",
            edits=fact.editor.edits(KeepResult()),
            fix="Keep the compiled model",
            applicability=Applicability.SAFE,
        )
    else:
        yield Finding(
            fact.span,
            "a server that runs for long without torch.compile or a static cache; no figure was "
            "measured for it, so try cache_implementation='static' and measure",
            severity=Severity.GRAY,
        )
