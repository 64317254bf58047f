"""A pinned bitsandbytes so old that its age explains much of what quantisation costs.

## What it does
Finds an exact pin of bitsandbytes that is no newer than a stack which was measured on the same
GPU and models as a later one, and did worse.

## Why it wastes energy
The kernels that unpack weights became faster. On one card, the same models in the same format
turned from costing energy into saving it between two stacks.

## Example
```text
bitsandbytes==0.43.1
```
Use instead:
```text
bitsandbytes>=0.50
```

## Exceptions
Ranges and missing pins, versions nearer to the newer of the two measured stacks, and projects
that only train. torch and the driver changed between the sessions, too: the points are those of
the whole stack.

## Fix safety
Unsafe: outputs may differ in the last bits, and other packages may need the old version.

## References
- https://github.com/bitsandbytes-foundation/bitsandbytes/releases
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Evidence, Provenance, Severity
from ecolint.energy import stack_ageing
from ecolint.facts import Channel, Package, Set
from ecolint.rule import Context, Finding, Rule

RULE = Rule(
    code="ECO403",
    name="outdated-bitsandbytes",
    severity=Severity.YELLOW,
    reads=Package,
    summary="a bitsandbytes whose age costs energy",
    applicability=Applicability.UNSAFE,
    query=("nf4",),
)


def check(fact: Package, context: Context) -> Iterator[Finding]:
    """Report a pin that a measured pair of stacks shows to be slow."""
    if fact.name.lower() != "bitsandbytes" or not fact.version:
        return
    if fact.channel is not Channel.STABLE:
        return
    found = stack_ageing("bitsandbytes", fact.version)
    if found is None:
        return
    method, card = found.precision.upper(), found.gpu
    yield Finding(
        fact.span,
        f"bitsandbytes {fact.version} is old: on {card}, {method} took "
        f"{found.low_points:.0f} to {found.high_points:.0f} points more of the 16-bit energy with "
        f"{found.older} than with {found.newer} ({len(found.pairs)} models, measured); pin "
        f"{found.newer} or newer",
        edits=fact.editor.edits(Set("version", found.newer)),
        fix=f"Pin bitsandbytes {found.newer}",
        evidence=Evidence(found.rows, Provenance.MEASURED),
    )
