"""A stable torchao whose compiled kernels are skipped under the torch beside it.

## What it does
Compares pinned versions of torchao and torch with the pairs that torchao's kernels were built
for.

## Why it wastes energy
torchao loads its C++ kernels only under the torch they were built with. Otherwise it says so in
one log line and runs slow paths, as if it were a nightly build.

## Example
```text
torch==2.8.0
torchao==0.16.0
```
Use instead:
```text
torch==2.10.0
torchao==0.16.0
```

## Exceptions
Versions that are not pinned exactly, and releases that the table does not hold: either may match.

## Fix safety
Unsafe: another torchao may name its configurations differently.

## References
- https://github.com/pytorch/ao/issues/2919
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Severity
from ecolint.facts import Channel, Package, Set
from ecolint.kernel_pairs import kernel_pair, loads_kernels, matching_torchao
from ecolint.rule import Context, Finding, Rule

RULE = Rule(
    code="ECO402",
    name="mismatched-kernels",
    severity=Severity.GRAY,
    reads=Package,
    summary="torchao's kernels were built for another torch",
    applicability=Applicability.UNSAFE,
)


def check(fact: Package, context: Context) -> Iterator[Finding]:
    """Report a pinned torchao that skips its kernels under the pinned torch."""
    if fact.name.lower() != "torchao" or not fact.version or fact.channel is not Channel.STABLE:
        return
    pair, torch = kernel_pair(fact.version), _torch(context)
    if pair is None or torch is None or loads_kernels(pair, torch):
        return
    better = matching_torchao(torch)
    change = f"pin torch {pair.torch}" + (f", or torchao {better}" if better else "")
    yield Finding(
        fact.span,
        f"torchao {fact.version} was built for torch {pair.torch} and skips its kernels under "
        f"torch {torch}; {change}",
        edits=fact.editor.edits(Set("version", better)) if better else None,
        fix=f"Pin torchao {better}" if better else "",
    )


def _torch(context: Context) -> str | None:
    """Return torch's version, as this file or else the project pins it."""
    for package in context.facts.of(Package):
        if package.name.lower() == "torch" and package.version:
            return package.version if package.channel is Channel.STABLE else None
    return context.versions().get("torch")
