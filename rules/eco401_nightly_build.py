"""A package of the inference stack from a nightly index, a branch or a pre-release.

## What it does
Finds torch, torchao, bitsandbytes, vLLM and their like when they come from a nightly index, a
development version, a git branch, a release-candidate index or a nightly image: in requirements,
lock files, project files, containers, scripts, notebooks and CI.

## Why it wastes energy
Kernels that were compiled for another build are skipped in silence, and slow paths take over. No
figure holds for a build that changes every night, so the finding is gray: it can't be verified.

## Example
```text
pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu128
```
Use instead:
```text
pip install torch --index-url https://download.pytorch.org/whl/cu128
```

## Exceptions
Local versions (`+cu128`), NVIDIA's vetted alphas and NGC images, sources pinned to a tag or a
revision, unrelated packages, test environments of CI, and cron jobs that merely run at night.

## Fix safety
Unsafe: a feature that only the nightly build has is lost. Nothing is changed where no stable
release is known to take its place.

## References
- https://pytorch.org/get-started/locally/
- https://docs.vllm.ai/en/latest/getting_started/installation/
"""

from collections.abc import Iterator

from ecolint.diagnostics import Applicability, Severity
from ecolint.facts import Channel, Package, Set
from ecolint.rule import Context, Finding, Rule

RULE = Rule(
    code="ECO401",
    name="nightly-build",
    severity=Severity.GRAY,
    reads=Package,
    summary="a package from a nightly or development build",
    applicability=Applicability.UNSAFE,
)

_ORIGIN = {
    Channel.NIGHTLY: "comes from a nightly index",
    Channel.DEVELOPMENT: "is a development version",
    Channel.SOURCE: "is built from a branch",
    Channel.CANDIDATE: "may be a release candidate",
    Channel.IMAGE: "is a nightly image",
}


def check(fact: Package, context: Context) -> Iterator[Finding]:
    """Report a package that changes with every build."""
    origin = _ORIGIN.get(fact.channel)
    if origin is None:
        return
    risk = (
        "its kernels are not final"
        if fact.channel is Channel.CANDIDATE
        else "its kernels may be missing or skipped, and no energy figure holds for it"
    )
    yield Finding(
        fact.span,
        f"{fact.name} {origin}: {risk}; use a stable release",
        edits=fact.editor.edits(Set("channel", "stable")),
        fix=f"Use a stable {fact.name}",
    )
