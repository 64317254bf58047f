"""A front-end and rules that are small enough to reason about, for tests of the engine.

The front-end finds `enforce_eager=True` and `max_num_seqs=1`; the rules judge them.
"""

import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from ecolint import frontends, linting
from ecolint.diagnostics import Applicability, Diagnostic, Edit, Fix, Severity, Span
from ecolint.discovery import Source
from ecolint.document import Document, Kind, UnreadableError, decode
from ecolint.facts import Compilation, CompileState, Facts, Role, Serving, Unanalysed
from ecolint.linting import Scope
from ecolint.project import Project
from ecolint.rule import Context, Finding, LoadedRule, Rule
from ecolint.settings import Settings

EAGER = "enforce_eager=True"
SEQS = "max_num_seqs=1"


class Unused:
    """No fact: what ECO900 says comes from the comments."""


def read(document: Document) -> Facts:
    """The facts of a text: eager switches, single sequences, and what can't be read."""
    if "<<<" in document.text:
        raise UnreadableError("a conflict marker", "resolve the conflict", 2)
    if "boom" in document.text:
        raise ZeroDivisionError("the front-end slipped")
    if "deep" in document.text:
        raise RecursionError
    facts = Facts()
    for found in re.finditer(re.escape(EAGER), document.text):
        facts.items.append(Compilation(Span(*found.span()), CompileState.DISABLED, EAGER))
    for found in re.finditer(re.escape(SEQS), document.text):
        facts.items.append(Serving(Span(*found.span()), "vllm", SEQS, role=Role.SERVICE))
    return facts


def _eager(fact: Compilation, context: Context) -> Iterator[Finding]:
    value = Span(fact.span.end - len("True"), fact.span.end)
    yield Finding(fact.span, "eager", edits=(Edit(value, "False"),), fix="switch it off")


def _seqs(fact: Serving, context: Context) -> Iterator[Finding]:
    value = Span(fact.span.end - 1, fact.span.end)
    yield Finding(fact.span, "one at a time", edits=(Edit(value, "8"),), fix="batch")


def _unread(fact: Unanalysed, context: Context) -> Iterator[Finding]:
    yield Finding(fact.span, f"not analysed: {fact.reason}; {fact.mend}")


def _praise(fact: Serving, context: Context) -> Iterator[Finding]:
    yield Finding(fact.span, "a server", severity=Severity.GREEN)


def _nothing(fact: Any, context: Context) -> Iterator[Finding]:
    yield from ()


def rules() -> tuple[LoadedRule, ...]:
    """The rules, sorted by code."""
    safe, unsafe = Applicability.SAFE, Applicability.UNSAFE
    quiet = frozenset({Role.TEST, Role.DOCUMENTATION})
    table: list[tuple[str, str, Severity, type[Any], Any, Applicability | None]] = [
        ("ECO000", "not-analysed", Severity.GRAY, Unanalysed, _unread, None),
        ("ECO201", "single-sequence", Severity.YELLOW, Serving, _seqs, unsafe),
        ("ECO301", "eager-mode", Severity.RED, Compilation, _eager, safe),
        ("ECO900", "unused-suppression", Severity.GRAY, Unused, _nothing, safe),
        ("ECO903", "good-server", Severity.GREEN, Serving, _praise, None),
    ]
    return tuple(
        LoadedRule(
            Rule(code, name, severity, fact, name, quiet, applicability), check, "", "ecolint.rules"
        )
        for code, name, severity, fact, check, applicability in table
    )


def install(monkeypatch: pytest.MonkeyPatch, *kinds: Kind) -> None:
    """Let the engine use this front-end (for Python, or these kinds) and these rules."""
    module = ModuleType("fake_front_end")
    module.__dict__["read"] = read
    monkeypatch.setitem(sys.modules, "fake_front_end", module)
    for kind in kinds or (Kind.PYTHON,):
        monkeypatch.setitem(frontends.READERS, kind, "fake_front_end")
    loaded = rules()
    monkeypatch.setattr(linting, "load_rules", lambda: loaded)


def names() -> dict[str, str]:
    """Code → name of the rules."""
    return {loaded.rule.code: loaded.rule.name for loaded in rules()}


def document_of(text: str | bytes, kind: Kind = Kind.PYTHON, path: str = "a.py") -> Document:
    """A document of a text."""
    return decode(text if isinstance(text, bytes) else text.encode(), path, kind)


def scope_of(settings: Settings | None = None, role: Role | None = None) -> Scope:
    """A scope without a project."""
    return Scope(settings or Settings(), Project(), role)


def source_of(path: str, kind: Kind = Kind.PYTHON, named: bool = False) -> Source:
    """A file to analyse under default settings."""
    return Source(path, kind, Settings(), named)


def finding(
    document: Document,
    needle: str,
    code: str = "ECO301",
    *,
    edits: tuple[Edit, ...] = (),
    applicability: Applicability = Applicability.SAFE,
) -> Diagnostic:
    """A finding on the first place where `needle` stands."""
    start = document.text.index(needle)
    span = Span(start, start + len(needle))
    return Diagnostic(
        code=code,
        name=names().get(code, code.lower()),
        severity=Severity.YELLOW,
        message="waste",
        filename=document.path,
        span=span,
        location=document.locate(span.start),
        end_location=document.locate(span.end),
        line=document.line_at(span.start),
        fix=Fix("mend", applicability, edits) if edits else None,
    )
