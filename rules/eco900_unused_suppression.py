"""A suppression comment that silences nothing.

## What it does
Finds `# ecolint: ignore[...]` comments, and our codes in `# noqa:` lists, on lines without such a
finding.

## Why it matters
A comment that outlived its finding will hide the next one.

## Example
```python
config = BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)  # noqa: ECO101
```
Use instead:
```python
config = BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)
```

## Exceptions
Codes of other tools, bare `# noqa`, and codes that are not selected in this run.

## Fix safety
Safe: it removes our code, or the comment where nothing else is left in it.

## References
- https://docs.astral.sh/ruff/rules/unused-noqa/
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Severity
from ecolint.rule import Context, Finding, Rule


class _Comment:
    """What `ecolint.suppress` reads; no front-end makes a fact of it."""


RULE = Rule(
    code="ECO900",
    name="unused-suppression",
    severity=Severity.GRAY,
    reads=_Comment,
    summary="a suppression comment that silences nothing",
    silent_in=frozenset(),
    applicability=Applicability.SAFE,
)


def check(fact: _Comment, context: Context) -> Iterator[Finding]:
    """Yield nothing: `ecolint.suppress` reports these once all other rules have spoken."""
    yield from ()
