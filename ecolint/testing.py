"""Run a rule on cases written as YAML: what it must find, what it must leave alone, its fix.

A file of cases names its rule and lists them; a plug-in tests its own rules the same way:

    rule: ECO101
    cases:
      - name: finds the default threshold
        file: serve.py
        text: |
          config = BitsAndBytesConfig(load_in_8bit=True)
        lines: [1]
        fixed: |
          config = BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)
      - name: leaves a threshold of zero alone
        file: serve.py
        text: |
          config = BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)

Optional keys of a case: `gpu`, `model`, `stack` (package: version), `severity`, `says` (a part
of the message), and `besides` (codes of rules that are on as well).

    @pytest.mark.parametrize("case", read_cases("tests/rules"), ids=str)
    def test_rule(case): check_case(case)
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecolint.diagnostics import Diagnostic
    from ecolint.document import Document
    from ecolint.linting import Scope


class CaseError(ValueError):
    """A file of cases that can't be used: which file, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One text, and what a rule must say about it; no `lines` means nothing."""

    rule: str
    name: str
    file: str
    text: str
    lines: tuple[int, ...] = ()
    fixed: str | None = None
    severity: str | None = None
    says: str = ""
    gpu: str | None = None
    model: str | None = None
    stack: Mapping[str, str] = field(default_factory=dict)
    besides: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.rule}: {self.name}"


def read_cases(path: str | os.PathLike[str]) -> list[Case]:
    """Return the cases of a YAML file, or of every YAML file in a folder, by file name.

    Raises CaseError for a file that holds none, or a case with a key that means nothing.
    """
    where = os.fspath(path)
    if not os.path.isdir(where):
        return _read_file(where)
    names = sorted(name for name in os.listdir(where) if name.endswith((".yaml", ".yml")))
    return [case for name in names for case in _read_file(os.path.join(where, name))]


def _read_file(path: str) -> list[Case]:
    import yaml

    try:
        with open(path, encoding="utf-8") as file:
            loaded = yaml.safe_load(file)
    except yaml.YAMLError as error:
        raise CaseError(f"{path}: {' '.join(str(error).split())}") from None
    if not isinstance(loaded, dict) or not loaded.get("cases") or "rule" not in loaded:
        raise CaseError(f"{path}: give a rule and a list of cases")
    return [_case(path, str(loaded["rule"]), one) for one in loaded["cases"]]


def _case(path: str, rule: str, given: Any) -> Case:
    known = {one.name for one in fields(Case)} - {"rule"}
    name = given.get("name", "a case") if isinstance(given, dict) else "a case"
    if not isinstance(given, dict) or not {"name", "file", "text"} <= given.keys():
        raise CaseError(f"{path}: {name} needs a name, a file and a text")
    strange = sorted(given.keys() - known)
    if strange:
        raise CaseError(f"{path}: {name} has {strange[0]}; keys are {', '.join(sorted(known))}")
    values = dict(given)
    for key in ("lines", "besides"):
        values[key] = tuple(values.get(key, ()))
    values["stack"] = {key: str(value) for key, value in values.get("stack", {}).items()}
    return Case(rule, **values)


def check_case(case: Case) -> None:
    """Assert that the rule finds these lines and no others, and that its fix is as written.

    A fix must give the text of `fixed`, which must still parse, must hold no finding of the
    rule, and must not change when fixed once more. Without `fixed` there must be no fix.
    """
    document, scope = _document(case), _scope(case)
    found = _findings(case, document, scope)
    lines = tuple(one.location.file_row or one.location.row for one in found)
    said = "\n".join(f"  {one.location.row}: {one.message}" for one in found) or "  nothing"
    assert lines == case.lines, f"expected lines {list(case.lines)}, found\n{said}"
    for one in found:
        assert case.severity in (None, one.severity.value), f"severity {one.severity.value}"
        assert case.says in one.message, f"{case.says!r} is not in {one.message!r}"
    _check_fix(case, document, scope, found)


def _check_fix(case: Case, document: Document, scope: Scope, found: list[Diagnostic]) -> None:
    from ecolint.fixes import fix_document, may_apply
    from ecolint.linting import lint_document
    from ecolint.verify import problem_with

    fixable = [one for one in found if one.fix is not None and one.fix.edits]
    if case.fixed is None:
        assert not fixable, "a fix is offered; write its result as `fixed`"
        return

    def lint(one: Document) -> list[Diagnostic]:
        return [each for each in lint_document(one, scope) if each.code == case.rule]

    def allows(one: Diagnostic) -> bool:
        return may_apply(one, scope.settings)

    settled = fix_document(document, lint, allows)
    assert settled.document.text == case.fixed, f"fixed to\n{settled.document.text}"
    assert problem_with(document, case.fixed) is None, problem_with(document, case.fixed)
    left = [one.message for one in settled.remaining if one.suppressed is None]
    assert not left, f"after the fix it still says {left}"
    again = fix_document(settled.document, lint, allows)
    assert again.document.text == case.fixed, f"fixed again to\n{again.document.text}"


def _document(case: Case) -> Document:
    from ecolint.document import decode
    from ecolint.kinds import kind_of

    kind = kind_of(case.file)
    if kind is None:
        raise CaseError(f"{case}: no front-end reads a file named {case.file}")
    return decode(case.text.encode("utf-8"), case.file, kind)


def _scope(case: Case) -> Scope:
    from ecolint.discovery import role_of_path
    from ecolint.linting import Scope
    from ecolint.project import Project
    from ecolint.settings import Settings

    settings = Settings(
        select=(case.rule, *case.besides),
        show_green=True,
        unsafe_fixes=True,
        gpu=case.gpu,
        model=case.model,
        stack=case.stack,
    )
    role = role_of_path(os.path.abspath(case.file), os.getcwd())
    return Scope(settings, Project.from_settings(settings), role)


def _findings(case: Case, document: Document, scope: Scope) -> list[Diagnostic]:
    from ecolint.linting import lint_document

    complaints: list[str] = []
    diagnostics = lint_document(document, scope, complaints.append)
    assert not complaints, complaints
    return [one for one in diagnostics if one.code == case.rule and one.suppressed is None]
