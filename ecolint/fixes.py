"""Applies fixes: chooses, merges, verifies, and repeats until nothing is left to do."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ecolint.diagnostics import Applicability, Diagnostic, Edit
from ecolint.document import Document
from ecolint.settings import Settings, may_fix
from ecolint.verify import problem_with

# A fix may uncover another; more rounds than this mean two fixes that undo each other.
MAX_PASSES = 10


@dataclass(frozen=True, slots=True)
class Fixed:
    """A text after fixes, those applied, those refused, and why, for stderr."""

    text: str
    applied: tuple[Diagnostic, ...]
    refused: tuple[Diagnostic, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settled:
    """A document after all passes, what was applied, what is left, and remarks for stderr."""

    document: Document
    applied: tuple[Diagnostic, ...]
    remaining: tuple[Diagnostic, ...]
    remarks: tuple[str, ...] = ()


def may_apply(diagnostic: Diagnostic, settings: Settings) -> bool:
    """Whether these settings allow a finding's fix to be applied unasked."""
    fix = diagnostic.fix
    if fix is None or not fix.edits or diagnostic.suppressed is not None:
        return False
    allowed = fix.applicability is Applicability.SAFE or (
        settings.unsafe_fixes and fix.applicability is Applicability.UNSAFE
    )
    return allowed and may_fix(settings, diagnostic.code, diagnostic.name)


def apply(
    document: Document,
    diagnostics: Iterable[Diagnostic],
    check: Callable[[Document, str], str | None] = problem_with,
) -> Fixed:
    """Apply the fixes of these findings, as many as fit together, in document order.

    A fix that overlaps one already taken waits for the next pass. One whose result does not
    pass the check (by default: it still parses) is refused, with a remark.
    """
    chosen = _choose(diagnostics)
    text = _rewrite(document.text, chosen)
    if check(document, text) is None:
        return Fixed(text, tuple(chosen))
    good: list[Diagnostic] = []
    bad: list[Diagnostic] = []
    remarks: list[str] = []
    for one in chosen:
        problem = check(document, _rewrite(document.text, [*good, one]))
        if problem is None:
            good.append(one)
        else:
            bad.append(one)
            remarks.append(_refusal(one, problem))
    return Fixed(_rewrite(document.text, good), tuple(good), tuple(bad), tuple(remarks))


def _refusal(diagnostic: Diagnostic, problem: str) -> str:
    where = f"{diagnostic.filename}:{diagnostic.location.row}"
    return f"{where}: the fix of {diagnostic.code} was not applied: {problem}"


def fix_document(
    document: Document,
    lint: Callable[[Document], list[Diagnostic]],
    allows: Callable[[Diagnostic], bool],
) -> Settled:
    """Fix a document over several passes, until none of the allowed fixes changes it."""
    applied: list[Diagnostic] = []
    remarks: list[str] = []
    refused: set[tuple[str, str]] = set()
    at_once: int | None = None
    diagnostics = lint(document)
    for _ in range(MAX_PASSES):
        wanted = [one for one in diagnostics if allows(one) and _identity(one) not in refused]
        fixed = apply(document, wanted[:at_once])
        remarks += fixed.remarks
        refused.update(map(_identity, fixed.refused))
        if fixed.text == document.text:
            break
        successor = _with_text(document, fixed.text)
        afterwards = lint(successor)
        if not _broke(diagnostics, afterwards):
            document, diagnostics = successor, afterwards
            applied += fixed.applied
        elif len(fixed.applied) > 1:
            at_once = 1  # one of them did it: find out which
        else:
            refused.update(map(_identity, fixed.applied))
            remarks.append(_refusal(fixed.applied[0], "the result could not be read"))
    else:
        if any(allows(one) and _identity(one) not in refused for one in diagnostics):
            remarks.append(f"{document.path}: fixes did not settle after {MAX_PASSES} passes")
    return Settled(document, tuple(applied), tuple(diagnostics), tuple(remarks))


def _identity(diagnostic: Diagnostic) -> tuple[str, str]:
    return diagnostic.code, diagnostic.line


def _with_text(document: Document, text: str) -> Document:
    return Document(document.path, document.kind, text, document.encoding, document.bom)


def _broke(before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> bool:
    """Whether a part of the file can no longer be analysed that could be before."""

    def unread(diagnostics: Sequence[Diagnostic]) -> int:
        return sum(one.code == "ECO000" for one in diagnostics)

    return unread(after) > unread(before)


def _choose(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The fixes that can be applied together. Equal edits (one import for two) are one."""
    with_fix = [one for one in diagnostics if _edits(one)]
    chosen: list[Diagnostic] = []
    taken: set[Edit] = set()
    # By the place of the finding, not of its first edit: an import stands far above its cause.
    for one in sorted(with_fix, key=lambda diagnostic: diagnostic.order):
        edits = _edits(one)
        if all(edit in taken or not _clashes(edit, taken) for edit in edits):
            chosen.append(one)
            taken.update(edits)
    return chosen


def _edits(diagnostic: Diagnostic) -> tuple[Edit, ...]:
    return diagnostic.fix.edits if diagnostic.fix is not None else ()


def _clashes(edit: Edit, taken: Iterable[Edit]) -> bool:
    """Whether an edit overlaps or, where either only inserts, touches one of another fix."""
    for other in taken:
        start, end = max(edit.span.start, other.span.start), min(edit.span.end, other.span.end)
        inserts = edit.span.start == edit.span.end or other.span.start == other.span.end
        if start < end or (inserts and start == end):
            return True
    return False


def _rewrite(text: str, diagnostics: Iterable[Diagnostic]) -> str:
    """The text with the edits of these findings made.

    Raises:
        ValueError: the edits of one finding overlap, which is its rule's mistake.
    """
    edits = dict.fromkeys(edit for one in diagnostics for edit in _edits(one))
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.span.start, e.span.end)):
        if not at <= edit.span.start <= edit.span.end <= len(text):
            raise ValueError("a fix has edits that overlap or lie outside the file")
        parts += [text[at : edit.span.start], edit.content]
        at = edit.span.end
    return "".join([*parts, text[at:]])
