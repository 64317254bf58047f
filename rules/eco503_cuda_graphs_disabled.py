"""An engine told to run eagerly, without CUDA graphs and compilation.

## What it does
Finds `enforce_eager`, `--disable-cuda-graph`, `--cuda-graphs 0`, optimisation level zero and their
like on vLLM, SGLang, TGI and LMDeploy.

## Why it wastes energy
A captured graph starts a decoding step at once. Eagerly, the CPU launches each kernel, and the GPU
draws power while it waits.

## Example
```text
vllm serve Qwen/Qwen2.5-7B-Instruct --enforce-eager
```
Use instead:
```text
vllm serve Qwen/Qwen2.5-7B-Instruct
```

## Exceptions
Training frameworks that share the GPU with the engine, tests, benchmarks, and values that are not
written in the file. Models that an engine can't capture need the option: suppress the finding
with that reason.

## Fix safety
Unsafe: graphs take memory and time at start, and a few models can't be captured.

## References
- https://docs.vllm.ai/en/latest/configuration/conserving_memory.html
- https://docs.sglang.ai/advanced_features/server_arguments.html
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Severity
from ecolint.facts import Drop, Role, Serving
from ecolint.rule import NOT_TRAINING, Context, Finding, Rule

RULE = Rule(
    code="ECO503",
    name="cuda-graphs-disabled",
    severity=Severity.YELLOW,
    reads=Serving,
    summary="an engine without CUDA graphs",
    silent_in=NOT_TRAINING | {Role.BENCHMARK},
    applicability=Applicability.UNSAFE,
)


def check(fact: Serving, context: Context) -> Iterator[Finding]:
    """Report an engine that is known to run eagerly."""
    if fact.eager.is_(True):
        name = fact.eager.name or "eager mode"
        yield Finding(
            fact.eager.span or fact.span,
            f"{name} makes {fact.engine} launch every kernel by itself; remove it, so that steps "
            "run as CUDA graphs",
            edits=fact.editor.edits(Drop("eager")),
            fix=f"Remove {name}",
        )
