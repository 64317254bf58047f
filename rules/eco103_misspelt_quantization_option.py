"""A quantisation option that its reader ignores or refuses.

## What it does
Finds keywords that `BitsAndBytesConfig` takes without a word and never uses, an int where it
demands a float, and both bit widths at once.

## Why it wastes energy
A misspelt option leaves the default in force: the setting that was meant to save energy is not
the one that runs, and no log line at the usual level tells it.

## Example
```python
BitsAndBytesConfig(load_in_8bit=True, llm_int8_treshold=0.0)  # ignored: 6.0 stays
BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0)   # raises: must be a float
```
Use instead:
```python
BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)
```

## Exceptions
Names that resemble no known option, readers that accept an int (accelerate), and options whose
value or name is not written in the file.

## Fix safety
Safe: it writes what was meant, in place of what is ignored or refused. Two bit widths at once
get no fix, since either may be meant.

## References
- https://huggingface.co/docs/transformers/main_classes/quantization
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Severity
from ecolint.facts import Misspelling, Quantization, Respell
from ecolint.rule import Context, Finding, Rule

RULE = Rule(
    code="ECO103",
    name="misspelt-quantization-option",
    severity=Severity.RED,
    reads=Quantization,
    summary="a quantisation option that is ignored or refused",
    applicability=Applicability.SAFE,
)


def check(fact: Quantization, context: Context) -> Iterator[Finding]:
    """Report each option that does not mean what it says."""
    for wrong in fact.misspellings:
        edits = fact.editor.edits(Respell(wrong.span, wrong.right)) if wrong.right else None
        fix = f"Write {wrong.right}" if wrong.right else ""
        yield Finding(wrong.span, _message(wrong, fact), edits=edits, fix=fix)


def _message(wrong: Misspelling, fact: Quantization) -> str:
    if wrong.problem == "ignored":
        return (
            f"{fact.library} ignores {wrong.written!r}, so the default stays in force; "
            f"write {wrong.right}"
        )
    if wrong.problem == "type":
        return (
            f"{fact.library} demands a float here and raises a TypeError on {wrong.written}; "
            f"write {wrong.right}"
        )
    return (
        "load_in_4bit and load_in_8bit exclude each other: loading raises a ValueError; "
        "keep the one that is meant"
    )
