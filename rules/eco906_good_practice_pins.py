"""A stable release of the inference stack, pinned exactly.

## What it does
Praises exact pins of torch, transformers, bitsandbytes, torchao and vLLM to stable releases.

## Why it matters
The software stack moves energy more than the GPU's architecture does: a figure holds for a
version, and a pin lets ecolint choose the right one.

## Example
```text
bitsandbytes==0.50.2
```

## Exceptions
Ranges, pre-releases, and pins that ECO403 names as too old.

## Fix safety
Nothing is to be changed. Shown with `--show-green` only.

## References
- https://pip.pypa.io/en/stable/topics/repeatable-installs/
"""

from collections.abc import Iterator

from ecolint.diagnostics import Severity
from ecolint.energy import stack_ageing
from ecolint.facts import Channel, Package
from ecolint.rule import Context, Finding, Rule

RULE = Rule(
    code="ECO906",
    name="good-practice-pins",
    severity=Severity.GREEN,
    reads=Package,
    summary="a stable release, pinned",
)

_DECIDING = frozenset({"torch", "transformers", "bitsandbytes", "torchao", "vllm"})


def check(fact: Package, context: Context) -> Iterator[Finding]:
    """Praise a pin on which figures can rest."""
    name = fact.name.lower()
    if name not in _DECIDING or fact.channel is not Channel.STABLE or not fact.version:
        return
    if stack_ageing(name, fact.version) is None:
        yield Finding(fact.span, f"{fact.name} is pinned to {fact.version}, a stable release")
