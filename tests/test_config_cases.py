"""Configuration files as people write them, each with the findings that it must get.

A file under `config_cases` is a list of cases: `name`, `file` and `text` (or `files`, a mapping
of names to texts), and `finds`, a list of `line code` (`file:line code` with several files); none
means that the case is a trap. `fixed` is the text that the fixes must lead to, `gpu` and `model`
what the user states.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from ecolint import gate
from ecolint.diagnostics import Diagnostic
from ecolint.discovery import role_of_path
from ecolint.document import Document, decode
from ecolint.fixes import fix_document, may_apply
from ecolint.kinds import kind_of
from ecolint.linting import Scope, lint_document
from ecolint.project import Project
from ecolint.settings import Settings
from ecolint.verify import problem_with

FOLDER = Path(__file__).parent / "config_cases"


@dataclass(frozen=True, slots=True)
class Case:
    """Files, and what must be found in them."""

    theme: str
    name: str
    files: dict[str, str]
    finds: tuple[str, ...]
    fixed: str | None
    gpu: str | None
    model: str | None

    def __str__(self) -> str:
        return f"{self.theme}: {self.name}"


def _cases() -> list[Case]:
    cases: list[Case] = []
    for path in sorted(FOLDER.glob("*.yaml")):
        for given in yaml.safe_load(path.read_text(encoding="utf-8")):
            files = given.get("files") or {given["file"]: given["text"]}
            cases.append(
                Case(
                    path.stem,
                    given["name"],
                    files,
                    tuple(str(each) for each in given.get("finds", ())),
                    given.get("fixed"),
                    given.get("gpu"),
                    given.get("model"),
                )
            )
    return cases


def _scope(case: Case, name: str) -> Scope:
    settings = Settings(unsafe_fixes=True, gpu=case.gpu, model=case.model)
    role = role_of_path(os.path.abspath(name), os.getcwd())
    return Scope(settings, Project.from_settings(settings), role)


def _lint(document: Document, scope: Scope) -> list[Diagnostic]:
    complaints: list[str] = []
    found = lint_document(document, scope, complaints.append)
    assert not complaints, complaints
    return [each for each in found if each.suppressed is None]


def _document(name: str, text: str) -> Document | None:
    kind = kind_of(name)
    raw = text.encode()
    return decode(raw, name, kind) if kind is not None and gate.matters(kind, raw) else None


def _told(case: Case, name: str, found: list[Diagnostic]) -> list[str]:
    prefix = f"{name}:" if len(case.files) > 1 else ""
    return [f"{prefix}{each.location.row} {each.code}" for each in found]


CASES = _cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_findings(case: Case) -> None:
    found: list[str] = []
    for name, text in case.files.items():
        document = _document(name, text)
        if document is not None:
            found += _told(case, name, _lint(document, _scope(case, name)))
    assert sorted(found) == sorted(case.finds)


@pytest.mark.parametrize("case", [each for each in CASES if each.finds], ids=str)
def test_fixes(case: Case) -> None:
    """Fixing mends what it offers to mend, keeps the file readable, and has an end."""
    for name, text in case.files.items():
        document, scope = _document(name, text), _scope(case, name)
        if document is None:
            continue

        def lint(one: Document, scope: Scope = scope) -> list[Diagnostic]:
            return _lint(one, scope)

        def allows(one: Diagnostic, scope: Scope = scope) -> bool:
            return may_apply(one, scope.settings)

        settled = fix_document(document, lint, allows)
        assert not settled.remarks, settled.remarks
        assert problem_with(document, settled.document.text) is None
        assert not [each.message for each in settled.remaining if allows(each)]
        again = fix_document(settled.document, lint, allows)
        assert again.document.text == settled.document.text
        if case.fixed is not None and len(case.files) == 1:
            assert settled.document.text == case.fixed
        elif settled.applied:
            _assert_small(text, settled.document.text)


def _assert_small(before: str, after: str) -> None:
    """A fix touches few lines, and adds none but those it must."""
    old, new = before.split("\n"), after.split("\n")
    kept = sum(line in old for line in new)
    assert len(new) - kept <= 4, after
    assert len(new) <= len(old) + 1, after


def test_half_of_the_cases_are_traps() -> None:
    traps = sum(not each.finds for each in CASES)
    assert len(CASES) >= 120
    assert traps * 5 >= len(CASES) * 2
