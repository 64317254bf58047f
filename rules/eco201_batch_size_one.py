"""Requests or rows that are generated one at a time in production.

## What it does
Finds a server limited to one sequence at once, a request handler that generates for one prompt a
call with nothing that batches, a bulk loop over rows, and a pipeline that gets a list at its
default batch size of one.

## Why it wastes energy
Decoding reads all weights for each step: at batch one, all of them for a single token.

## Example
```python
engine = LLM(model=name, max_num_seqs=1)
```
Use instead:
```python
engine = LLM(model=name, max_num_seqs=8)
```
and in a handler, an engine with continuous batching (vLLM, SGLang, TGI) or a batcher
(`@serve.batch`, `LitAPI(max_batch_size=8)`) in place of `model.generate` for each request.

## Exceptions
Training, tests, benchmarks, demonstrations for one user, calls that something batches, image
loaders, calibration, limits on tokens or client lists. In evaluations the finding is gray.

## Fix safety
Unsafe where a number is the cause: a larger batch takes more memory, and numerical results may
differ in the last bits. Loops and handlers get advice only.

## References
- https://docs.vllm.ai/en/latest/configuration/optimization.html
- https://doi.org/10.5281/zenodo.19647290
"""

from collections.abc import Iterator

from ecolint import phrasing
from ecolint.diagnostics import Applicability, Edit, Severity, Span
from ecolint.energy import batch_saving
from ecolint.facts import Generation, ModelLoad, Prompts, Role, Serving, Set, Where
from ecolint.rule import NOT_TRAINING, Context, Finding, Rule

RULE = Rule(
    code="ECO201",
    name="batch-size-one",
    severity=Severity.YELLOW,
    reads=(Serving, Generation, ModelLoad),
    summary="one sequence at a time in production",
    silent_in=NOT_TRAINING | {Role.BENCHMARK},
    applicability=Applicability.UNSAFE,
)

_ENOUGH = 8
_TEXT = ("", "causal")
_PRODUCTION = frozenset({Role.SERVICE, Role.BATCH, Role.EVALUATION})


def check(fact: Serving | Generation | ModelLoad, context: Context) -> Iterator[Finding]:
    """Report a limit of one sequence, or a call a prompt, that serves many."""
    if isinstance(fact, Serving):
        limit, option, wastes = fact.concurrency, "concurrency", True
    elif isinstance(fact, ModelLoad):
        wastes = fact.role in _PRODUCTION and not _is_served(fact, context)
        limit, option = fact.batch, "batch"
    else:
        limit, option, wastes = fact.batch, "batch", _is_productive(fact)
    if limit.is_(1) and wastes:
        name = limit.name or "batch_size"
        cause = f"{name} is 1, so sequences run one at a time"
        edits = fact.editor.edits(Set(option, "auto" if _chooses(fact) else _ENOUGH))
        yield _finding(fact, limit.span, cause, f"raise {name}", context, edits)
    elif isinstance(fact, Generation) and _is_single(fact):
        turn = "request" if fact.where is Where.HANDLER else "turn of the loop"
        cause = f"{fact.spelled} generates for one prompt a {turn}"
        yield _finding(fact, None, cause, "batch the prompts", context)


def _chooses(fact: Serving | Generation | ModelLoad) -> bool:
    """Whether the tool finds the largest batch that fits by itself."""
    return "lm-eval" in (fact.engine, getattr(fact, "library", ""))


def _is_served(load: ModelLoad, context: Context) -> bool:
    """Whether the same option was already read as an engine's limit."""
    return any(one.concurrency.span == load.batch.span for one in context.facts.of(Serving))


def _is_productive(fact: Generation) -> bool:
    if fact.batched or fact.batches_itself or fact.modality not in _TEXT:
        return False
    if fact.prompts is Prompts.MANY:
        return True
    if fact.role is Role.INTERACTIVE:
        return False
    bulk = fact.where in (Where.HANDLER, Where.LOOP)
    # A library's own default says something only where many prompts are known to come.
    if fact.batch.span is None:
        return bulk and fact.prompts is Prompts.ONE
    return bulk or fact.role in _PRODUCTION


def _is_single(fact: Generation) -> bool:
    return (
        fact.where in (Where.HANDLER, Where.LOOP)
        and fact.prompts is Prompts.ONE
        and fact.batch.absent
        and not (fact.batched or fact.batches_itself or fact.handwritten)
        and fact.modality in _TEXT
        and fact.role is not Role.INTERACTIVE
    )


def _finding(
    fact: Serving | Generation | ModelLoad,
    place: Span | None,
    cause: str,
    advice: str,
    context: Context,
    edits: tuple[Edit, ...] | None = None,
) -> Finding:
    found = batch_saving(_ENOUGH, context.gpu_name())
    saving = f"; {phrasing.saving(found)}" if found else ""
    return Finding(
        place or fact.span,
        f"{cause}{saving}; {'let the tool choose (auto)' if _chooses(fact) else advice}",
        severity=Severity.GRAY if fact.role is Role.EVALUATION else None,
        edits=edits,
        fix="Let the tool choose" if _chooses(fact) else f"Let {_ENOUGH} run together",
        evidence=phrasing.saving_evidence(found) if found else None,
    )
