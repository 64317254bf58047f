"""A file, or a cell of a notebook, that could not be read.

## What it does
Says once that a file which holds something about LLM inference could not be decoded or parsed,
so that it is never counted as clean.

## Why it matters
A report without findings should mean that everything was looked at.

## Example
```python
print "loading"          # Python 2: not analysed
model = load(load_in_8bit=True)
```
Use instead:
```python
print("loading")
model = load(load_in_8bit=True)
```

## Exceptions
Files without a word about inference are never opened for long enough to be judged, and files
of tests and documentation are not judged at all. Templates are read as far as they can be.

## Fix safety
There is no fix: the message names the mend.

## References
- https://docs.python.org/3/library/ast.html
"""

from collections.abc import Iterator

from ecolint.diagnostics import Severity
from ecolint.facts import Unanalysed
from ecolint.rule import QUIET_ROLES, Context, Finding, Rule

RULE = Rule(
    code="ECO000",
    name="not-analysed",
    severity=Severity.GRAY,
    reads=Unanalysed,
    summary="a file or cell that could not be read",
    silent_in=QUIET_ROLES,
)


def check(fact: Unanalysed, context: Context) -> Iterator[Finding]:
    """Say that this was not analysed, why, and what would help."""
    yield Finding(fact.span, f"not analysed: {fact.reason}; {fact.mend}")
