"""A bitsandbytes load for which no figure can be claimed, because nothing like it was measured.

## What it does
Finds bitsandbytes quantisation of a mixture of experts, or on a GPU of another maker than NVIDIA:
places where another rule would have told a figure if there were one.

## Why it matters
Silence would look like approval. A figure read from dense models or other GPUs would be a guess.

## Example
```python
model = AutoModelForCausalLM.from_pretrained(
    "mistralai/Mixtral-8x7B-v0.1", quantization_config=BitsAndBytesConfig(load_in_4bit=True)
)
```
Measure it instead:
```text
ecolint measure -- python generate.py
```

## Exceptions
Large batches, long contexts, GPTQ, AWQ and HQQ are outside the measured range, too, but say
nothing here: the finding would stand on nearly every serving configuration and help nobody.
`ecolint data` shows what was measured.

## Fix safety
There is no fix: the setting may be right.

## References
- https://doi.org/10.5281/zenodo.19647290
"""

from collections.abc import Iterator

from ecolint import phrasing
from ecolint.diagnostics import Severity
from ecolint.facts import ModelLoad
from ecolint.rule import Context, Finding, Rule
from ecolint.sizing import card_of, models_of

RULE = Rule(
    code="ECO603",
    name="outside-measured-range",
    severity=Severity.GRAY,
    reads=ModelLoad,
    summary="quantisation where nothing was measured",
)


def check(load: ModelLoad, context: Context) -> Iterator[Finding]:
    """Say that no figure is claimed where one might be expected."""
    quantization = load.quantization
    method = quantization.method.value if quantization else None
    if quantization is None or method is None or not method.four_bit or load.draft:
        return
    model = next(iter(models_of(load, context)), None)
    card = card_of(context)
    foreign = card is not None and card.vendor != "nvidia"
    if not foreign and (model is None or not model.moe):
        return
    kind = phrasing.kind_of(model) if model else None
    alone = len(context.loads_of(quantization)) == 1
    yield Finding(
        (alone and quantization.method.span) or load.span,
        f"whether {phrasing.name_of(quantization)} saves energy here is not known: "
        f"{phrasing.nothing_measured(context, kind)}",
        model=model.id if model else None,
    )
