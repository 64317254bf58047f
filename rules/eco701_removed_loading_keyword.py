"""A loading keyword that transformers 5 no longer takes.

## What it does
Finds `load_in_8bit=` and `load_in_4bit=` given to `from_pretrained` itself, which transformers
4.38 deprecated and 5.0 answers with a TypeError.

## Why it matters
The program breaks with the next upgrade, and an old version is kept for its sake: with it, old
kernels.

## Example
```python
model = AutoModelForCausalLM.from_pretrained(name, load_in_8bit=True)
```
Use instead:
```python
model = AutoModelForCausalLM.from_pretrained(
    name, quantization_config=BitsAndBytesConfig(load_in_8bit=True)
)
```

## Exceptions
Libraries that take these keywords themselves (Unsloth, lm-eval, LLaMA-Factory), and projects that
pin a transformers from before the deprecation.

## Fix safety
Safe: `BitsAndBytesConfig` holds the same options with the same defaults, in every version since
both exist. The import is added where it is missing.

## References
- https://github.com/huggingface/transformers/pull/41287
- https://huggingface.co/docs/transformers/main_classes/quantization
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Severity
from ecolint.energy.stack import release
from ecolint.facts import Modernise, Quantization
from ecolint.rule import Context, Finding, Rule

RULE = Rule(
    code="ECO701",
    name="removed-loading-keyword",
    severity=Severity.YELLOW,
    reads=Quantization,
    summary="a loading keyword that newer versions refuse",
    applicability=Applicability.SAFE,
)

_DEPRECATED_IN = (4, 38, 0)
_REMOVED_IN = (5, 0, 0)


def check(fact: Quantization, context: Context) -> Iterator[Finding]:
    """Report a keyword that the pinned or the next transformers refuses."""
    if not fact.removed.known:
        return
    pinned = release(context.versions().get("transformers", ""))
    if pinned is not None and pinned < _DEPRECATED_IN:
        return
    name = fact.removed.value
    fails = (
        f"transformers {context.versions()['transformers']} refuses {name} with a TypeError"
        if pinned is not None and pinned >= _REMOVED_IN
        else f"{name} is deprecated since transformers 4.38 and a TypeError from 5.0"
    )
    yield Finding(
        fact.removed.span or fact.span,
        f"{fails}; put it into quantization_config=BitsAndBytesConfig(...)",
        edits=fact.editor.edits(Modernise()),
        fix=f"Move {name} into BitsAndBytesConfig",
    )
