"""What a rule is: metadata, documentation and one function from a fact to findings.

A rule module holds `RULE` and `check(fact, context)`, nothing else public; its docstring is
the rule's manual, in fixed sections. `ecolint.registry` finds it; nothing imports it by name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ecolint.diagnostics import Applicability, Edit, Evidence, Severity, Span
from ecolint.facts import Facts, ModelLoad, Quantization, Role

if TYPE_CHECKING:
    from ecolint.energy.dataset import Row

F = TypeVar("F")

# Nobody deploys these, so by default no rule speaks about them.
QUIET_ROLES = frozenset({Role.TEST, Role.DOCUMENTATION})
NOT_TRAINING = QUIET_ROLES | {Role.TRAINING}


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's metadata.

    `reads` is the fact type that `check` wants, or a tuple of them; `silent_in` the roles in
    which the rule does not apply; `query` the precisions whose measured rows make the table on
    the rule's page.
    """

    code: str
    name: str
    severity: Severity
    reads: type[Any] | tuple[type[Any], ...]
    summary: str
    silent_in: frozenset[Role] = NOT_TRAINING
    applicability: Applicability | None = None
    since: str = "0.1.0"
    references: tuple[str, ...] = ()
    query: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """The rule's page."""
        return f"https://ecolint.github.io/ecolint/rules/{self.name}"


@dataclass(frozen=True, slots=True)
class Finding:
    """What `check` yields: a place, a message, and perhaps a fix and the rows behind it."""

    span: Span
    message: str
    severity: Severity | None = None
    edits: tuple[Edit, ...] | None = None
    fix: str = ""
    applicability: Applicability | None = None
    evidence: Evidence | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A value about the project, and from where it is known (`--gpu`, `k8s/a.yaml:31`)."""

    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may know besides its fact.

    `gpu` and `model` come from flags, settings or other files; `gpu_conflict` tells why the
    GPU is left open when the evidence disagrees. `stack` maps a package to its pinned version;
    `site` holds the user's own measurements, which win over the published ones.
    """

    facts: Facts = field(default_factory=Facts)
    gpu: Known | None = None
    gpu_conflict: str | None = None
    model: Known | None = None
    stack: Mapping[str, Known] = field(default_factory=dict)
    site: Sequence["Row"] = ()
    path: str = ""

    def loads_of(self, quantization: Quantization) -> Sequence[ModelLoad]:
        """The loads in this file that use a quantisation."""
        return [load for load in self.facts.of(ModelLoad) if load.quantization is quantization]

    def versions(self) -> dict[str, str]:
        """The pinned stack as package → version."""
        return {name: known.value for name, known in self.stack.items()}

    def gpu_name(self) -> str | None:
        """The GPU as given, None when unknown or contested."""
        return self.gpu.value if self.gpu else None


Check = Callable[[Any, Context], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class LoadedRule:
    """A rule with its function and its manual."""

    rule: Rule
    check: Check
    manual: str
    module: str
