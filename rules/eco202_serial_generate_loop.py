"""Prompts handed one by one to an engine that would run them together.

## What it does
Finds a loop that calls `generate` for one prompt a turn on an engine which schedules a whole list
by itself (vLLM, SGLang, LMDeploy, TensorRT-LLM).

## Why it wastes energy
The engine waits for each answer before it sees the next prompt, so its batch never grows beyond
one while the weights are read for every token.

## Example
```python
for prompt in prompts:
    outputs = llm.generate(prompt, params)
```
Use instead:
```python
outputs = llm.generate(prompts, params)
```

## Exceptions
Loops over batches, loops whose next prompt depends on the last answer, asynchronous calls that
run together, conversations, tests and benchmarks.

## Fix safety
Unsafe: the loop's body may count on one answer a turn. Only the plain form is rewritten.

## References
- https://docs.vllm.ai/en/latest/getting_started/quickstart.html
"""

from collections.abc import Iterator

from ecolint import phrasing
from ecolint.diagnostics import Applicability, Severity
from ecolint.energy import batch_saving
from ecolint.facts import BatchCalls, Generation, Prompts, Role, Where
from ecolint.rule import NOT_TRAINING, Context, Finding, Rule

RULE = Rule(
    code="ECO202",
    name="serial-generate-loop",
    severity=Severity.YELLOW,
    reads=Generation,
    summary="a loop of single calls on an engine that batches by itself",
    silent_in=NOT_TRAINING | {Role.BENCHMARK, Role.INTERACTIVE},
    applicability=Applicability.UNSAFE,
)

_ENOUGH = 8


def check(fact: Generation, context: Context) -> Iterator[Finding]:
    """Report a single-prompt call inside a loop on a self-batching engine."""
    if fact.where is not Where.LOOP or fact.prompts is not Prompts.ONE:
        return
    if not fact.batches_itself or fact.batched:
        return
    found = batch_saving(_ENOUGH, context.gpu_name())
    saving = f" ({phrasing.saving(found)} under transformers)" if found else ""
    yield Finding(
        fact.span,
        f"{fact.spelled} gets one prompt a turn of the loop, though {fact.engine} batches a list "
        f"by itself{saving}; call it once with all prompts",
        edits=fact.editor.edits(BatchCalls()),
        fix="Call it once with the whole list",
        evidence=phrasing.saving_evidence(found) if found else None,
    )
