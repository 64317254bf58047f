"""LLM.int8() with an outlier threshold above zero, which splits every matrix product in two.

## What it does
Finds bitsandbytes 8-bit loading whose outlier threshold is above zero: the default of
transformers, diffusers, accelerate, Lightning, TGI and most tools that wrap them.

## Why it wastes energy
With a threshold, each linear layer looks for outlier columns, moves them to 16 bit, multiplies
twice and converts types both ways. The GPU waits on many small kernels while it draws power.

## Example
```python
config = BitsAndBytesConfig(load_in_8bit=True)
model = AutoModelForCausalLM.from_pretrained(name, quantization_config=config)
```
Use instead, where the memory allows it:
```python
model = AutoModelForCausalLM.from_pretrained(name, dtype="auto")
```
or, where it does not, without the decomposition:
```python
config = BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)
```

## Exceptions
Training, a threshold of zero, and raw `Linear8bitLt` layers, whose own default is zero. Vision,
audio, encoder and diffusion models are named without a figure: none was measured for them.

## Fix safety
Unsafe: without outliers in 16 bit the outputs change, and perplexity rises, little for some
models and much for others. bitsandbytes' author advises against it where quality matters.
Measure your task first. Tools that hard-wire the threshold get no fix.

## References
- https://arxiv.org/abs/2208.07339
- https://github.com/bitsandbytes-foundation/bitsandbytes/issues/1867
- https://github.com/huggingface/transformers/pull/44407
"""

from collections.abc import Iterator

from ecolint import phrasing
from ecolint.catalog import Model
from ecolint.diagnostics import Applicability, Edit, Severity
from ecolint.facts import Drop, Method, Modernise, Quantization, Set
from ecolint.rule import Context, Finding, Rule
from ecolint.sizing import Side, card_of, fits_in_16_bit, only_model, side_of, small_model

RULE = Rule(
    code="ECO101",
    name="int8-mixed-decomposition",
    severity=Severity.RED,
    reads=Quantization,
    summary="LLM.int8() with its outlier decomposition",
    applicability=Applicability.UNSAFE,
    query=("int8", "int8-pure"),
)


def check(fact: Quantization, context: Context) -> Iterator[Finding]:
    """Report LLM.int8() whose threshold is known to be above zero."""
    threshold = fact.threshold
    if not fact.method.is_(Method.INT8) or not threshold.known or not (threshold.value or 0) > 0:
        return
    loads = context.loads_of(fact)
    model = only_model(loads, context)
    kind = phrasing.unmeasured_kind(fact, loads, model)
    found = None if kind else phrasing.cost_of("int8", model, context)
    cost = f"is slow by design, but {phrasing.nothing_measured(context, kind)}"
    if found:
        cost = phrasing.costs(found, model)
    edits, fix = _edits(fact), "Set llm_int8_threshold=0.0"
    if len(loads) == 1 and small_model(loads[0], context):
        # Without outliers it would still be below the crossover: ECO102 would undo that fix.
        edits, fix = loads[0].editor.edits(Drop("quantization")), "Load in 16-bit"
    yield Finding(
        fact.method.span or fact.span,
        f"LLM.int8() outlier decomposition {cost}; {_way_out(fact, model, kind, context)}",
        severity=phrasing.severity_of(found, RULE.severity) if found else _unmeasured(context),
        edits=edits,
        fix=fix if edits else "",
        evidence=phrasing.evidence(found) if found else None,
        model=model.id if model else None,
    )


def _unmeasured(context: Context) -> Severity:
    card = card_of(context)
    return Severity.YELLOW if card is None or card.vendor == "nvidia" else Severity.GRAY


def _way_out(fact: Quantization, model: Model | None, kind: str | None, context: Context) -> str:
    """Return the alternatives, the best first."""
    ways = []
    fits = fits_in_16_bit(model, context) if model else None
    if fits is not False:
        ways.append("load in 16-bit" if fits else "load in 16-bit if it fits")
    if model and side_of(model, context) is Side.ABOVE:
        smaller = phrasing.cost_of("nf4", model, context)
        ways.append(f"use NF4 ({phrasing.pair(smaller)})" if smaller else "use NF4")
    if fact.threshold_settable:
        pure = None if kind else phrasing.cost_of("int8-pure", model, context)
        risk = f"unsafe: {phrasing.pair(pure)}" if pure else "unsafe: outputs change"
        ways.append(f"set {fact.threshold.name or 'llm_int8_threshold'}=0.0 ({risk})")
    elif not ways or fits is not True:
        ways.append("take another quantizer: the threshold can't be set here")
    return ", or ".join(ways)


def _edits(fact: Quantization) -> tuple[Edit, ...] | None:
    if not fact.threshold_settable or _is_misspelt(fact):
        return None
    if fact.removed.known:
        return fact.editor.edits(Modernise((("threshold", 0.0),)))
    return fact.editor.edits(Set("threshold", 0.0))


def _is_misspelt(fact: Quantization) -> bool:
    """Whether a threshold stands there under a wrong name, which ECO103 mends."""
    return any(one.right == "llm_int8_threshold" for one in fact.misspellings)
