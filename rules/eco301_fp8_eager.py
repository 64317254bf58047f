"""torchao FP8 on a model that no compiler reaches.

## What it does
Finds torchao's float8 schemes on a model that is not compiled: `quantize_`, `TorchAoConfig`,
torchao's short names and saved configurations. Weight-only float8 stays a finding even under
`torch.compile`.

## Why it wastes energy
Run eagerly, each layer casts, scales and multiplies in separate small kernels. Weight-only float8
is a reference path: it unpacks the weights and multiplies in 16 bit, compiled or not.

## Example
```python
quantize_(model, Float8WeightOnlyConfig())
```
Use instead:
```python
quantize_(model, Float8DynamicActivationFloat8WeightConfig())
model = torch.compile(model)
```

## Exceptions
FP8 of vLLM, SGLang or TGI, fine-grained and FBGEMM FP8, FP8 caches, FP8 training and casts for
storage: all of these have kernels of their own. Kernel benchmarks and single layers. Where
dynamic float8 is compiled under a condition, the finding is gray.

## Fix safety
Unsafe where one is offered: without FP8 the model takes twice the memory and its outputs change.

## References
- https://github.com/pytorch/ao/issues/3288
- https://github.com/pytorch/ao/issues/4094
"""

from collections.abc import Iterator

from ecolint import phrasing
from ecolint.catalog import Gpu
from ecolint.diagnostics import Applicability, Severity
from ecolint.energy import Penalty
from ecolint.facts import Drop, Method, Quantization, Role
from ecolint.rule import NOT_TRAINING, Context, Finding, Rule
from ecolint.sizing import card_of, only_model

RULE = Rule(
    code="ECO301",
    name="fp8-eager",
    severity=Severity.RED,
    reads=Quantization,
    summary="torchao FP8 that no compiler reaches",
    silent_in=NOT_TRAINING | {Role.BENCHMARK},
    applicability=Applicability.UNSAFE,
    query=("fp8-weight-only", "fp8-dynamic"),
)


def check(fact: Quantization, context: Context) -> Iterator[Finding]:
    """Report float8 that runs eagerly, and weight-only float8 however it runs."""
    method = fact.method.value
    if method is None or not method.torchao_fp8:
        return
    weight_only = method is Method.FP8_WEIGHT_ONLY
    if fact.compiled.is_(True) and not weight_only:
        return
    card = card_of(context)
    if not weight_only and card is not None and card.fp8 is False:
        return  # the GPU is the cause then: ECO302
    compiled, unsure = fact.compiled.is_(True), fact.compiled.unknown and not weight_only
    loads = context.loads_of(fact)
    model = only_model(loads, context)
    kind = phrasing.unmeasured_kind(fact, loads, model)
    found = None
    if not compiled and not kind:
        found = phrasing.cost_of(phrasing.precision_of(fact) or "", model, context)
    if found:
        cost = phrasing.costs(found, model)
    else:
        cost = phrasing.nothing_measured(context, "compiled models" if compiled else kind)
    yield Finding(
        fact.method.span or fact.span,
        f"{_cause(method, compiled, unsure)} {cost}; {_way_out(fact, card, compiled)}",
        severity=_severity(found, compiled, unsure),
        edits=fact.editor.edits(Drop("quantization")),
        fix="Load in 16-bit",
        evidence=phrasing.evidence(found) if found else None,
        model=model.id if model else None,
    )


def _severity(found: Penalty | None, compiled: bool, unsure: bool) -> Severity:
    if unsure:
        return Severity.GRAY
    return Severity.YELLOW if compiled else phrasing.severity_of(found, RULE.severity)


def _cause(method: Method, compiled: bool, unsure: bool) -> str:
    if compiled:
        return f"{method.value} unpacks to 16-bit before every product, even compiled:"
    if unsure:
        return f"{method.value}, where no torch.compile reaches it,"
    return f"{method.value} without torch.compile"


def _way_out(fact: Quantization, card: Gpu | None, compiled: bool) -> str:
    if card is not None and card.fp8 is False:
        return "load the model in 16-bit"
    if fact.library in ("vllm", "sglang", "tgi"):
        return f"use {fact.library}'s own FP8 (quantization fp8), or 16-bit"
    if fact.method.is_(Method.FP8_WEIGHT_ONLY):
        with_compile = "" if compiled else " with torch.compile"
        return f"use Float8DynamicActivationFloat8WeightConfig{with_compile}, or 16-bit"
    return "compile the model, or load it in 16-bit"
