"""Prefix caching switched off on an engine that has it on by default.

## What it does
Finds `enable_prefix_caching=False`, `--no-enable-prefix-caching` and `--disable-radix-cache`.

## Why it wastes energy
Prompts that begin alike (a system prompt, a conversation) are computed again for each request
instead of once.

## Example
```text
vllm serve Qwen/Qwen2.5-7B-Instruct --no-enable-prefix-caching
```
Use instead:
```text
vllm serve Qwen/Qwen2.5-7B-Instruct
```

## Exceptions
Engines and versions where it is off by default, tests and benchmarks, which switch it off to
measure cold prompts.

## Fix safety
Safe: a cached prefix gives the same outputs.

## References
- https://docs.vllm.ai/en/latest/features/automatic_prefix_caching.html
- https://lmsys.org/blog/2024-01-17-sglang/
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Severity
from ecolint.energy.stack import release
from ecolint.facts import Drop, Role, Serving
from ecolint.rule import NOT_TRAINING, Context, Finding, Rule

RULE = Rule(
    code="ECO504",
    name="prefix-cache-disabled",
    severity=Severity.YELLOW,
    reads=Serving,
    summary="prefix caching switched off",
    silent_in=NOT_TRAINING | {Role.BENCHMARK},
    applicability=Applicability.SAFE,
)

_VLLM_CACHES_FROM = (0, 8, 0)


def check(fact: Serving, context: Context) -> Iterator[Finding]:
    """Report a prefix cache that is off against the engine's default."""
    if fact.prefix_cache.is_(False) and _is_on_by_default(fact, context):
        name = fact.prefix_cache.name or "this option"
        yield Finding(
            fact.prefix_cache.span or fact.span,
            f"{name} makes {fact.engine} compute shared prompt beginnings again for every request; "
            "remove it",
            edits=fact.editor.edits(Drop("prefix_cache")),
            fix=f"Remove {name}",
        )


def _is_on_by_default(fact: Serving, context: Context) -> bool:
    """Whether the engine, at the version that the project pins, caches prefixes unasked."""
    pinned = release(context.versions().get(fact.engine, ""))
    return fact.prefix_cache_default and (
        pinned is None or fact.engine != "vllm" or pinned >= _VLLM_CACHES_FROM
    )
