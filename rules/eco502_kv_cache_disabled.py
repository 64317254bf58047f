"""Generation without a KV cache, which computes the whole prompt again for every token.

## What it does
Finds `use_cache=False` that reaches generation (as an argument, in a GenerationConfig, left over
from training in a configuration) and decode loops that call the model without past keys and
values.

## Why it wastes energy
Without the cache, the work for a token grows with all tokens before it: the cost of an answer
grows with the square of its length.

## Example
```python
model.config.use_cache = False   # left over from training
output = model.generate(**inputs)
```
Use instead:
```python
model.config.use_cache = True
output = model.generate(**inputs)
```

## Exceptions
Training with gradient checkpointing, scoring without generation, a value that is set back before
generation, encoders, and state-space models, which have no such cache.

## Fix safety
Safe: the cache holds what would be computed again, so the outputs are the same. Hand-written loops
get advice only.

## References
- https://huggingface.co/docs/transformers/kv_cache
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Edit, Severity
from ecolint.facts import Generation, ModelLoad, Role, Set
from ecolint.rule import NOT_TRAINING, Context, Finding, Rule

RULE = Rule(
    code="ECO502",
    name="kv-cache-disabled",
    severity=Severity.RED,
    reads=(Generation, ModelLoad),
    summary="generation without a KV cache",
    silent_in=NOT_TRAINING | {Role.BENCHMARK},
    applicability=Applicability.SAFE,
)

_CACHELESS = frozenset({"encoder", "vision-encoder", "ssm", "diffusion"})


def check(fact: Generation | ModelLoad, context: Context) -> Iterator[Finding]:
    """Report a cache that is off where tokens are generated."""
    if fact.modality in _CACHELESS:
        return
    if fact.use_cache.is_(False):
        if isinstance(fact, ModelLoad) and not fact.generates:
            return
        yield Finding(
            fact.use_cache.span or fact.span,
            f"{fact.use_cache.name or 'use_cache'} is off, so every token computes the whole "
            "sequence again; switch it on, the outputs stay the same",
            edits=_edits(fact),
            fix="Use the KV cache",
        )
    elif isinstance(fact, Generation) and fact.handwritten:
        yield Finding(
            fact.span,
            f"this loop gives {fact.spelled} the whole sequence for every token; pass "
            "past_key_values on, or call generate",
        )


def _edits(fact: Generation | ModelLoad) -> tuple[Edit, ...] | None:
    return fact.editor.edits(Set("use_cache", True))
