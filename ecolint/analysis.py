"""One file from its bytes to its findings, and to its fixes where they are wanted.

The part of a run that needs everything else; imported once a file matters, and what a worker
process does.
"""

import os
from dataclasses import dataclass, replace

from ecolint.action import Action
from ecolint.diagnostics import Diagnostic
from ecolint.diffs import diff
from ecolint.discovery import Source, display_path
from ecolint.document import MAX_BYTES, Document, UnreadableError, decode
from ecolint.fixes import fix_document, may_apply
from ecolint.linting import Scope, internal_error, lint_document, lint_unreadable, rule_names
from ecolint.project import Project
from ecolint.rewrite import RewriteError, rewrite

_TOO_LARGE = UnreadableError(f"larger than {MAX_BYTES // 1_000_000} MB", "exclude the file")


@dataclass(slots=True)
class Outcome:
    """What came of one file.

    `fixed` are the findings mended (or silenced); `text` is the new content where there is
    one. `remarks` and `failures` are lines for stderr; a failure makes the run fail.
    """

    path: str
    diagnostics: list[Diagnostic]
    fixed: tuple[Diagnostic, ...] = ()
    diff: str = ""
    after: bytes | None = None
    remarks: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


def analyse_file(source: Source, project: Project, action: Action) -> Outcome:
    """Read a file, judge it, and fix it in place if that is the action."""
    name = display_path(source.path)
    try:
        with open(source.path, "rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_BYTES:
                return _unreadable(source, project, _TOO_LARGE)
            raw = file.read()
    except FileNotFoundError:
        return Outcome(source.path, [], remarks=(f"{name}: gone before it was read",))
    except OSError as error:
        failure = f"{name}: {error.strerror or error}; left out"
        return Outcome(source.path, [], failures=(failure,))
    try:
        outcome = analyse(raw, source, project, action)
    except Exception as error:  # a slip of ours over one file must not stop the others
        return Outcome(source.path, [], failures=(internal_error(name, error),))
    if outcome.after is None or action is Action.DIFF:
        return outcome
    try:
        rewrite(source.path, raw, outcome.after)
    except RewriteError as error:
        failure = f"{name}: {error}"
        unfixed = analyse(raw, source, project, Action.CHECK)
        return replace(unfixed, failures=(*unfixed.failures, failure))
    return outcome


def analyse(raw: bytes, source: Source, project: Project, action: Action) -> Outcome:
    """Judge a file's bytes; with fixes the outcome holds what the bytes would become."""
    if len(raw) > MAX_BYTES:
        return _unreadable(source, project, _TOO_LARGE)
    scope = Scope.of(source.path, source.settings, project)
    try:
        document = decode(raw, source.path, source.kind)
    except UnreadableError as error:
        return _unreadable(source, project, error)
    if action is Action.SILENCE:
        return _silence(raw, document, scope)
    if action is Action.CHECK:
        failures: list[str] = []
        diagnostics = lint_document(document, scope, failures.append)
        return Outcome(source.path, diagnostics, failures=tuple(failures))
    return _fix(raw, document, scope)


def _unreadable(source: Source, project: Project, error: UnreadableError) -> Outcome:
    scope = Scope.of(source.path, source.settings, project)
    return Outcome(source.path, lint_unreadable(source.path, source.kind, error, scope))


def _fix(raw: bytes, document: Document, scope: Scope) -> Outcome:
    failures: list[str] = []

    def lint(one: Document) -> list[Diagnostic]:
        return lint_document(one, scope, failures.append)

    settled = fix_document(document, lint, lambda one: may_apply(one, scope.settings))
    outcome = Outcome(document.path, list(settled.remaining), settled.applied)
    outcome.remarks = settled.remarks
    if settled.applied:
        try:
            outcome.after = _encode(raw, document, settled.document.text)
            outcome.diff = diff(document, settled.document, display_path(document.path))
        except RewriteError as error:
            outcome.diagnostics, outcome.fixed = lint(document), ()
            outcome.remarks = (*settled.remarks, f"{display_path(document.path)}: {error}")
    outcome.failures = tuple(dict.fromkeys(failures))
    return outcome


def _silence(raw: bytes, document: Document, scope: Scope) -> Outcome:
    """Silence every finding of a file with a comment, but those that say it wasn't read."""
    from ecolint.silence import add_noqa

    failures: list[str] = []
    diagnostics = lint_document(document, scope, failures.append)
    silenced = add_noqa(document, diagnostics, rule_names())
    outcome = Outcome(document.path, list(silenced.left), silenced.silenced)
    outcome.failures = tuple(dict.fromkeys(failures))
    if silenced.silenced:
        try:
            outcome.after = _encode(raw, document, silenced.text)
        except RewriteError as error:
            outcome.diagnostics, outcome.fixed = diagnostics, ()
            outcome.remarks = (f"{display_path(document.path)}: {error}",)
    return outcome


def _encode(raw: bytes, document: Document, text: str) -> bytes:
    """The bytes of a new text, in the encoding of the old.

    Raises:
        RewriteError: the encoding lacks a character, or would not give the rest back unchanged.
    """
    try:
        if document.encode(document.text) != raw:
            raise RewriteError(f"not fixed: {document.encoding} can't be written back unchanged")
        return document.encode(text)
    except UnicodeEncodeError as error:
        character = text[error.start : error.end]
        raise RewriteError(
            f"not fixed: {document.encoding} has no {character!r}; save the file as UTF-8"
        ) from None
