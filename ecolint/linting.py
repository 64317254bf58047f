"""One document in, its findings out: facts from the front-end, each judged by every rule.

Pure: no file is read and nothing is printed, so the fixer, editors and flake8 share it.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ecolint import frontends
from ecolint.diagnostics import Applicability, Diagnostic, Fix, LocatedEdit, Severity, Span
from ecolint.discovery import display_path, project_root, role_of_path
from ecolint.document import Document, Kind, UnreadableError
from ecolint.facts import Fact, Facts, Role, Unanalysed
from ecolint.globs import matches_any
from ecolint.project import Project
from ecolint.registry import load_rules
from ecolint.rule import QUIET_ROLES, Context, Finding, LoadedRule
from ecolint.settings import Settings, matches, selects
from ecolint.suppress import UNUSED, suppress

# A longer line is no source that a person would look at, and each finding would carry it.
_LONGEST_LINE = 20_000
_CODE_ROLES = frozenset({Role.INFERENCE, Role.SERVICE, Role.BATCH, Role.INTERACTIVE})


@dataclass(frozen=True, slots=True)
class Scope:
    """Under what a document is judged: settings, project, and the role its path tells."""

    settings: Settings
    project: Project
    role: Role | None = None

    @classmethod
    def of(cls, path: str, settings: Settings, project: Project) -> "Scope":
        """The scope of the file at a path."""
        return cls(settings, project, role_of_path(path, project_root(path, settings)))


def _unheard(_: str) -> None:
    return None


def lint_document(
    document: Document, scope: Scope, complain: Callable[[str], None] = _unheard
) -> list[Diagnostic]:
    """The findings of a document in order, those that comments silence marked as such.

    `complain` is told, in one line, of a front-end or a rule that failed; the rest goes on.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the compiler's, about code that isn't ours
            facts = frontends.read(document)
    except UnreadableError as error:
        facts = unread(document, error)
    except (RecursionError, MemoryError):
        facts = unread(document, UnreadableError("nested too deeply", "exclude the file"))
    except Exception as error:
        complain(internal_error(f"reading {display_path(document.path)}", error))
        return []
    return judge(document, facts, scope, complain)


def lint_unreadable(
    path: str, kind: Kind, error: UnreadableError, scope: Scope
) -> list[Diagnostic]:
    """What is said of a file that has no text, because it can't be decoded or is too large."""
    blank = Document(path, kind, "\n" * (error.line - 1))
    return judge(blank, unread(blank, error), scope)


def unread(document: Document, error: UnreadableError) -> Facts:
    """The facts of a file that no front-end could read."""
    start = document.offset_of_line(error.line)
    span = Span(start, start + len(document.line_at(start)))
    return Facts([Unanalysed(span, error.reason, error.mend)])


def judge(
    document: Document,
    facts: Facts,
    scope: Scope,
    complain: Callable[[str], None] = _unheard,
) -> list[Diagnostic]:
    """Put the facts of a document before every rule that is on for it."""
    rules = load_rules()
    runs = _runs(document.path, scope.settings, rules)
    context = scope.project.context(document, facts)
    found: dict[tuple[str, Span], Diagnostic] = {}
    for loaded in rules:
        if not runs(loaded.rule.code):
            continue
        try:
            for diagnostic in _findings(loaded, document, context, scope):
                found.setdefault((diagnostic.code, diagnostic.span), diagnostic)
        except Exception as error:  # one broken rule must not silence the others
            complain(internal_error(f"{loaded.rule.code} on {display_path(document.path)}", error))
    diagnostics = list(found.values())
    if not scope.settings.ignore_noqa:
        diagnostics = _suppress(document, diagnostics, context, scope, runs)
    return sorted(diagnostics, key=lambda one: one.order)


def internal_error(what: str, error: Exception) -> str:
    """The line that tells of a slip of ours, and over what it happened."""
    detail = " ".join(str(error).split())
    return f"internal error in {what}: {type(error).__name__}: {detail}; please report it"


def _runs(path: str, settings: Settings, rules: tuple[LoadedRule, ...]) -> Callable[[str], bool]:
    """Tells of a code whether its rule is on for a file."""
    ignored = [
        codes
        for glob, codes in settings.per_file_ignores
        if matches_any((glob,), settings.root, path)
    ]
    on = {
        rule.code
        for rule in (loaded.rule for loaded in rules)
        if selects(settings, rule.code, rule.name)
        and not any(matches(codes, rule.code, rule.name) for codes in ignored)
        and (settings.show_green or rule.severity is not Severity.GREEN)
    }
    return on.__contains__


def _findings(
    loaded: LoadedRule, document: Document, context: Context, scope: Scope
) -> Iterator[Diagnostic]:
    for fact in context.facts.items:
        if not isinstance(fact, loaded.rule.reads):
            continue
        role = _role(fact, scope)
        silent = loaded.rule.silent_in
        if scope.settings.include_tests:
            silent -= QUIET_ROLES
        if role in silent:
            continue
        for finding in loaded.check(fact, context):
            severity = finding.severity or loaded.rule.severity
            if severity is not Severity.GREEN or scope.settings.show_green:
                yield _diagnostic(loaded, finding, document, context, role)


def _role(fact: Fact, scope: Scope) -> Role:
    """What a fact is for: its code says, unless the file's place says test or documentation."""
    place = scope.role
    if place is None or (place in QUIET_ROLES and scope.settings.include_tests):
        return fact.role
    return place if place in QUIET_ROLES or fact.role in _CODE_ROLES else fact.role


def _diagnostic(
    loaded: LoadedRule, finding: Finding, document: Document, context: Context, role: Role
) -> Diagnostic:
    rule = loaded.rule
    line = document.line_at(finding.span.start)
    fix = _fix(loaded, finding)
    model = finding.model or (context.model.value if context.model else None)
    return Diagnostic(
        code=rule.code,
        name=rule.name,
        severity=finding.severity or rule.severity,
        message=f"{finding.message}{_origin(finding.message, context)}",
        filename=display_path(document.path),
        span=finding.span,
        location=document.locate(finding.span.start),
        end_location=document.locate(finding.span.end),
        line=line if len(line) <= _LONGEST_LINE else "",
        url=rule.url,
        fix=fix,
        fix_locations=tuple(
            LocatedEdit(edit, document.locate(edit.span.start), document.locate(edit.span.end))
            for edit in (fix.edits if fix else ())
        ),
        evidence=finding.evidence,
        role=role.value,
        gpu=context.gpu_name(),
        model=model,
    )


def _origin(message: str, context: Context) -> str:
    """From where the card is known that a message counts on, unless the user said it."""
    gpu = context.gpu
    if gpu is None or gpu.source.startswith("--") or gpu.value not in message:
        return ""
    return f" (gpu: {gpu.value}, from {gpu.source})"


def _fix(loaded: LoadedRule, finding: Finding) -> Fix | None:
    """The fix of a finding; one in words only is for display."""
    if finding.edits:
        applicability = finding.applicability or loaded.rule.applicability or Applicability.UNSAFE
        return Fix(finding.fix, applicability, finding.edits)
    return Fix(finding.fix, Applicability.DISPLAY, ()) if finding.fix else None


def _suppress(
    document: Document,
    diagnostics: list[Diagnostic],
    context: Context,
    scope: Scope,
    runs: Callable[[str], bool],
) -> list[Diagnostic]:
    """Mark what comments silence, and add a note on each comment that silences nothing."""
    rules = rule_names()
    quiet = scope.role in QUIET_ROLES and not scope.settings.include_tests
    judged = suppress(document, diagnostics, rules, (lambda _: False) if quiet else runs)
    own = next((loaded for loaded in load_rules() if loaded.rule.code == UNUSED), None)
    if own is None or not judged.unused:
        return judged.diagnostics
    role = scope.role or Role.INFERENCE
    notes = [_diagnostic(own, one, document, context, role) for one in judged.unused]
    return [*judged.diagnostics, *notes]


def rule_names() -> Mapping[str, str]:
    """Every rule's name by its code."""
    return {loaded.rule.code: loaded.rule.name for loaded in load_rules()}
