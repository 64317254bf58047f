"""The vocabulary shared by front-ends and rules: what an author configured.

A fact is freed of its spelling: `load_in_8bit=True`, `--quantize bitsandbytes` and
`quantization_bit: 8` are all a `Quantization` whose method is INT8. Each value is a
`Setting`, which knows whether it is known, where it was read and how sure we are. A fact's
`editor` turns a wished change into edits of the file, or None where that spelling can't
carry it. Facts compare by identity: two equal settings in two places are two facts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, Protocol, TypeAlias, TypeVar

from ecolint.diagnostics import Edit, Span

T = TypeVar("T")


class State(Enum):
    """Whether the author set the option, and whether we can tell to what."""

    ABSENT = "absent"
    UNKNOWN = "unknown"
    KNOWN = "known"


class Via(Enum):
    """How a known value was found, surest first."""

    LITERAL = "literal"
    RESOLVED = "resolved"
    DEFAULT = "default"
    ENVIRONMENT = "environment"
    IMPLIED = "implied"


@dataclass(frozen=True, slots=True)
class Setting(Generic[T]):
    """One option: its value, where it stands, and how it is spelled there.

    `others` holds further values that the same place takes (a loop over sizes, two
    branches); rules must hold for `value` and may look at the others. `span` is the token
    that a finding should point at; a library's default has none. `key` and `literal` are the
    name and the value alone, where both are written out.
    """

    state: State = State.ABSENT
    value: T | None = None
    span: Span | None = None
    via: Via = Via.LITERAL
    name: str = ""
    others: tuple[T, ...] = ()
    key: Span | None = None
    literal: Span | None = None

    @property
    def known(self) -> bool:
        """Whether the value is known (from the file or as the library's default)."""
        return self.state is State.KNOWN

    @property
    def unknown(self) -> bool:
        """Whether the author set it to something that can't be resolved."""
        return self.state is State.UNKNOWN

    @property
    def absent(self) -> bool:
        """Whether nothing sets it and the library's default is not known either."""
        return self.state is State.ABSENT

    def is_(self, *values: T) -> bool:
        """Whether the value is known to be one of `values`."""
        return self.known and self.value in values

    @property
    def values(self) -> tuple[T, ...]:
        """Every known value, the first one first; empty when unknown or absent."""
        return (self.value, *self.others) if self.known and self.value is not None else ()


class Role(str, Enum):
    """What the code around a fact is for; it decides which rules may speak."""

    INFERENCE = "inference"
    SERVICE = "service"
    BATCH = "batch"
    INTERACTIVE = "interactive"
    TRAINING = "training"
    EVALUATION = "evaluation"
    BENCHMARK = "benchmark"
    TEST = "test"
    DOCUMENTATION = "documentation"


class Method(str, Enum):
    """A quantisation scheme, by what runs on the GPU."""

    NONE = "none"
    INT8 = "bitsandbytes LLM.int8()"
    NF4 = "bitsandbytes NF4"
    FP4 = "bitsandbytes FP4"
    FP8_WEIGHT_ONLY = "torchao float8 weight-only"
    FP8_DYNAMIC = "torchao float8 dynamic activation"
    TORCHAO_INT = "torchao integer"
    FP8 = "fused FP8 kernels"
    GPTQ = "GPTQ"
    AWQ = "AWQ"
    HQQ = "HQQ"
    OTHER = "other"

    @property
    def four_bit(self) -> bool:
        """Whether it is one of bitsandbytes' 4-bit types."""
        return self in (Method.NF4, Method.FP4)

    @property
    def bitsandbytes(self) -> bool:
        """Whether bitsandbytes does the work."""
        return self.four_bit or self is Method.INT8

    @property
    def torchao_fp8(self) -> bool:
        """Whether it is one of torchao's float8 inference schemes."""
        return self in (Method.FP8_WEIGHT_ONLY, Method.FP8_DYNAMIC)

    @property
    def torchao(self) -> bool:
        """Whether torchao does the work, which counts on the compiler."""
        return self.torchao_fp8 or self is Method.TORCHAO_INT


# --- changes: what a rule may ask of an editor ---------------------------------------


@dataclass(frozen=True, slots=True)
class Set:
    """Give an option (a fact's field name) this value, adding it if need be."""

    option: str
    value: object


@dataclass(frozen=True, slots=True)
class Drop:
    """Remove an option (a fact's field name) and what only served it."""

    option: str


@dataclass(frozen=True, slots=True)
class Respell:
    """Replace the characters of a span the fact names (a misspelt key, a wrong literal)."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Modernise:
    """Move removed keywords into the object that took their place, with these options too."""

    options: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class KeepResult:
    """Assign the discarded result of a call to the thing that it was called on."""


@dataclass(frozen=True, slots=True)
class BatchCalls:
    """Replace a loop of single calls by one call with the whole list."""


Change: TypeAlias = Set | Drop | Respell | Modernise | KeepResult | BatchCalls


class Editor(Protocol):
    """How a front-end changes the place that a fact was read from."""

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """The edits that make all `changes` at once; None where this spelling can't."""
        ...


class ReadOnly:
    """The editor of a place that must not be changed (a default, a string in a program)."""

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """Nothing can be changed here."""
        return None


READ_ONLY = ReadOnly()


# --- facts ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Misspelling:
    """An option that its reader ignores or refuses: what is written, what was meant.

    `problem` is "ignored" (unknown key), "type" (an int where a float is demanded) or
    "conflict" (both bit widths at once); `right` is the text that mends it, if one does.
    """

    span: Span
    written: str
    right: str | None
    problem: str


@dataclass(frozen=True, slots=True, eq=False)
class Quantization:
    """A quantisation that some model is loaded with, where it is configured.

    `threshold` is LLM.int8()'s outlier threshold in force (a library's default included),
    absent where the method has none. `threshold_settable` is False for tools that hard-wire
    it. `removed` is the span of a loading keyword that newer versions refuse.
    """

    span: Span
    library: str
    spelled: str
    method: Setting[Method]
    threshold: Setting[float] = Setting()
    threshold_settable: bool = True
    compute_dtype: Setting[str] = Setting()
    quant_type: Setting[str] = Setting()
    double_quant: Setting[bool] = Setting()
    misspellings: tuple[Misspelling, ...] = ()
    removed: Setting[str] = Setting()
    compiled: Setting[bool] = Setting()
    applied: bool = False
    role: Role = Role.INFERENCE
    editor: Editor = READ_ONLY


@dataclass(frozen=True, slots=True, eq=False)
class ModelLoad:
    """One place that brings a model into memory for the GPU.

    `modality` is "causal", "encoder", "vision", "audio", "diffusion", "ssm" or "" (unknown).
    `quantization` is None when none is configured; `quantization_unknown` tells that a value
    was given which can't be resolved. `served_by` is the engine that will run it. `params_b`
    is the size in billions of parameters where the file tells it and not only the name.
    """

    span: Span
    library: str
    engine: str
    model: Setting[str] = Setting()
    quantization: Quantization | None = None
    quantization_unknown: bool = False
    dtype: Setting[str] = Setting()
    device: Setting[str] = Setting()
    use_cache: Setting[bool] = Setting()
    compiled: Setting[bool] = Setting()
    context: Setting[int] = Setting()
    batch: Setting[int] = Setting()
    params_b: Setting[float] = Setting()
    modality: str = ""
    generates: bool = False
    draft: bool = False
    role: Role = Role.INFERENCE
    editor: Editor = READ_ONLY


@dataclass(frozen=True, slots=True, eq=False)
class Serving:
    """An inference engine or batcher as it is set up.

    `concurrency` is how many sequences may run at once; `concurrency.name` is the option's
    spelling there. `prefix_cache_default` tells whether this engine has it on by default.
    """

    span: Span
    engine: str
    spelled: str
    model: Setting[str] = Setting()
    concurrency: Setting[int] = Setting()
    eager: Setting[bool] = Setting()
    prefix_cache: Setting[bool] = Setting()
    prefix_cache_default: bool = False
    kv_dtype: Setting[str] = Setting()
    dtype: Setting[str] = Setting()
    context: Setting[int] = Setting()
    quantization: Quantization | None = None
    role: Role = Role.SERVICE
    editor: Editor = READ_ONLY


class Where(Enum):
    """From what a generating call is made."""

    HANDLER = "request handler"
    LOOP = "loop"
    FUNCTION = "function"
    SCRIPT = "script"


class Prompts(Enum):
    """How many prompts one generating call carries."""

    ONE = "one"
    MANY = "many"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Generation:
    """A call that produces tokens.

    `batches_itself` tells that the engine schedules a list of prompts together. `batched`
    tells that something (a batcher, a batch size) already groups the calls. `handwritten`
    marks a decode loop that calls the model's forward pass itself.
    """

    span: Span
    engine: str
    spelled: str
    where: Where = Where.SCRIPT
    prompts: Prompts = Prompts.UNKNOWN
    batch: Setting[int] = Setting()
    batches_itself: bool = False
    batched: bool = False
    use_cache: Setting[bool] = Setting()
    handwritten: bool = False
    modality: str = ""
    role: Role = Role.INFERENCE
    editor: Editor = READ_ONLY


class CompileState(Enum):
    """What became of the compiler."""

    DISABLED = "disabled"
    DISCARDED = "discarded"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, eq=False)
class Compilation:
    """Compilation switched off, thrown away, or missing from a long-running 16-bit server."""

    span: Span
    state: CompileState
    spelled: str
    role: Role = Role.INFERENCE
    editor: Editor = READ_ONLY


class Channel(str, Enum):
    """Where a package comes from."""

    STABLE = "stable"
    NIGHTLY = "nightly index"
    CANDIDATE = "release-candidate index"
    DEVELOPMENT = "development version"
    SOURCE = "source branch"
    PINNED_SOURCE = "pinned source revision"
    IMAGE = "nightly image"


@dataclass(frozen=True, slots=True, eq=False)
class Package:
    """A package that the project asks for.

    `version` is set only by an exact pin or a lock file; `specifier` is the requirement as
    written. `span` is what a finding points at: the URL, the pin or the image tag.
    """

    span: Span
    name: str
    specifier: str = ""
    version: str | None = None
    channel: Channel = Channel.STABLE
    source: str = ""
    role: Role = Role.INFERENCE
    editor: Editor = READ_ONLY


@dataclass(frozen=True, slots=True, eq=False)
class Hardware:
    """A GPU that the file asks for: the text as written, resolved by `ecolint.catalog`."""

    span: Span
    gpu: str
    kind: str = ""
    count: int = 1
    role: Role = Role.INFERENCE


@dataclass(frozen=True, slots=True, eq=False)
class Unanalysed:
    """A file, or a cell of a notebook, that no front-end could read."""

    span: Span
    reason: str
    mend: str
    role: Role = Role.INFERENCE


Fact: TypeAlias = (
    Quantization | ModelLoad | Serving | Generation | Compilation | Package | Hardware | Unanalysed
)


@dataclass(slots=True)
class Facts:
    """All that one file says, in document order of discovery."""

    items: list[Fact] = field(default_factory=list)

    def of(self, kind: type[T]) -> Sequence[T]:
        """The facts of one kind."""
        return [fact for fact in self.items if isinstance(fact, kind)]

    def __bool__(self) -> bool:
        return bool(self.items)
