"""What ecolint says: a diagnostic, where it points, and how it may be mended.

Plain values only, so that writers, the cache and a worker process can carry them
without the document that they came from.
"""

from dataclasses import dataclass
from enum import Enum


class Severity(str, Enum):
    """How much energy the setting wastes: red above 30 %, yellow 10-30 %."""

    RED = "red"
    YELLOW = "yellow"
    GRAY = "gray"
    GREEN = "green"


class Applicability(str, Enum):
    """Whether a fix may be applied unasked: safe ones keep the model's outputs."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


class Provenance(str, Enum):
    """Where a figure comes from."""

    MEASURED = "measured"
    INTERPOLATED = "interpolated"
    EXTRAPOLATED = "extrapolated"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a document: characters of the decoded text, end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Location:
    """A 1-based place; in a notebook `row` counts inside `cell`, `file_row` in the .ipynb."""

    row: int
    column: int
    cell: int | None = None
    file_row: int = 0
    file_column: int = 0


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters of `span` by `content`."""

    span: Span
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together, and what they risk."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rows of data/ behind a figure, and the figure itself (percent against FP16)."""

    rows: tuple[str, ...]
    provenance: Provenance
    energy_vs_fp16_pct: float | None = None
    low_pct: float | None = None
    high_pct: float | None = None


@dataclass(frozen=True, slots=True)
class LocatedEdit:
    """An edit with the places that a writer prints."""

    edit: Edit
    location: Location
    end_location: Location


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding in one file, ready to print.

    `filename` is relative to the working directory with forward slashes; `line` is the
    source line that `location` points into, for writers that show it; `suppressed` tells
    which comment silenced it (None: nothing did).
    """

    code: str
    name: str
    severity: Severity
    message: str
    filename: str
    span: Span
    location: Location
    end_location: Location
    line: str = ""
    url: str | None = None
    fix: Fix | None = None
    fix_locations: tuple[LocatedEdit, ...] = ()
    evidence: Evidence | None = None
    role: str = ""
    gpu: str | None = None
    model: str | None = None
    suppressed: str | None = None

    @property
    def order(self) -> tuple[str, int, int, str]:
        """Sort key: file, then place, then code."""
        return (self.filename, self.span.start, self.span.end, self.code)
