"""Sequences that are generated together.

## What it does
Praises an engine, a batcher or a pipeline that runs eight sequences or more at once.

## Why it matters
Decoding reads all weights for every token; a batch shares that work.

## Example
```python
engine = LLM(model=name, max_num_seqs=64)
```

## Exceptions
Defaults that are not written in the file, and batch sizes of training or calibration.

## Fix safety
Nothing is to be changed. Shown with `--show-green` only.

## References
- https://docs.vllm.ai/en/latest/configuration/optimization.html
"""

from collections.abc import Iterator

from ecolint import phrasing
from ecolint.diagnostics import Severity
from ecolint.energy import batch_saving
from ecolint.facts import Generation, Serving
from ecolint.rule import Context, Finding, Rule

RULE = Rule(
    code="ECO903",
    name="good-practice-batching",
    severity=Severity.GREEN,
    reads=(Serving, Generation),
    summary="eight sequences or more at once",
)

_ENOUGH = 8


def check(fact: Serving | Generation, context: Context) -> Iterator[Finding]:
    """Praise a batch that the author asked for."""
    batch = fact.concurrency if isinstance(fact, Serving) else fact.batch
    if not batch.known or batch.span is None or (batch.value or 0) < _ENOUGH:
        return
    found = batch_saving(batch.value or 0, context.gpu_name())
    saving = f": {phrasing.saving(found)}" if found else ""
    yield Finding(
        batch.span,
        f"up to {batch.value} sequences run together{saving}",
        evidence=phrasing.saving_evidence(found) if found else None,
    )
