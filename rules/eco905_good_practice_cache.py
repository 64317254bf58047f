"""A KV cache or a prefix cache that is switched on by name.

## What it does
Praises `use_cache=True` where tokens are generated, and prefix caching that is switched on.

## Why it matters
What is kept need not be computed again.

## Example
```python
engine = LLM(model=name, enable_prefix_caching=True)
```

## Exceptions
Defaults that are not written in the file.

## Fix safety
Nothing is to be changed. Shown with `--show-green` only.

## References
- https://docs.vllm.ai/en/latest/features/automatic_prefix_caching.html
"""

from collections.abc import Iterator

from ecolint.diagnostics import Severity
from ecolint.facts import Generation, Serving
from ecolint.rule import Context, Finding, Rule

RULE = Rule(
    code="ECO905",
    name="good-practice-cache",
    severity=Severity.GREEN,
    reads=(Generation, Serving),
    summary="a cache switched on",
)


def check(fact: Generation | Serving, context: Context) -> Iterator[Finding]:
    """Praise a cache that the author asked for."""
    cache = fact.prefix_cache if isinstance(fact, Serving) else fact.use_cache
    if cache.is_(True) and cache.span is not None:
        what = "shared prompt beginnings" if isinstance(fact, Serving) else "past keys and values"
        yield Finding(cache.span, f"{what} are kept, not computed again")
