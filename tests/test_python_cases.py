"""Programs and notebooks as people write them: what must be found, and on which line.

Each case of `python_cases/` is a text with the lines that must be reported, by code, and
nothing else. Cells of a notebook begin with `# In[1]:`, and lines count in the text as it
stands here. Whatever a fix makes of it must still parse, hold no fixable finding, and stay as
it is when fixed once more.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from ecolint.diagnostics import Diagnostic
from ecolint.discovery import role_of_path
from ecolint.document import Document, decode
from ecolint.fixes import fix_document, may_apply
from ecolint.kinds import kind_of
from ecolint.linting import Scope, lint_document
from ecolint.project import Project
from ecolint.settings import Settings
from ecolint.verify import problem_with

_FOLDER = Path(__file__).parent / "python_cases"
_CELL = re.compile(r"(?m)^# In\[\d+\]:\n")


@dataclass(frozen=True, slots=True)
class Case:
    """A text, how it is saved, under what it is judged, and what must be said.

    `may` are codes that may be reported or not.
    """

    name: str
    text: str
    kind: str = "python"
    file: str = "case.py"
    newline: str = "lf"
    encoding: str = "utf-8"
    gpu: str | None = None
    stack: dict[str, str] = field(default_factory=dict)
    may: tuple[str, ...] = ()
    lines: dict[str, list[int]] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def _read() -> Iterator[Any]:
    known = {one.name for one in fields(Case)}
    for path in sorted(_FOLDER.glob("*.yaml")):
        for given in yaml.safe_load(path.read_text(encoding="utf-8")):
            assert given.keys() <= known, (path.name, given["name"], given.keys() - known)
            yield pytest.param(Case(**given), id=f"{path.stem}: {given['name']}")


def _document(case: Case) -> Document:
    if case.kind == "notebook":
        sources = [cell.rstrip("\n").splitlines(True) for cell in _CELL.split(case.text)[1:]]
        cells: list[dict[str, object]] = [
            {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
             "source": source} for source in sources
        ]  # fmt: skip
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        raw, name = json.dumps(notebook, indent=1).encode(), "case.ipynb"
    else:
        text = case.text.replace("\n", "\r\n") if case.newline == "crlf" else case.text
        raw, name = text.encode(case.encoding), case.file
    kind = kind_of(name)
    assert kind is not None
    return decode(raw, name, kind)


def _scope(case: Case) -> Scope:
    settings = Settings(unsafe_fixes=True, gpu=case.gpu, stack=case.stack)
    role = role_of_path(os.path.abspath(case.file), os.getcwd())
    return Scope(settings, Project.from_settings(settings), role)


def _row(case: Case, one: Diagnostic) -> int:
    """The line of a finding in the case's text, the marks between cells counted."""
    if one.location.cell is None:
        return one.location.row
    marks = [m.start() for m in _CELL.finditer(case.text)]
    return case.text.count("\n", 0, marks[one.location.cell - 1]) + 1 + one.location.row


def _lint(document: Document, scope: Scope) -> list[Diagnostic]:
    complaints: list[str] = []
    found = lint_document(document, scope, complaints.append)
    assert not complaints
    return found


@pytest.mark.parametrize("case", list(_read()))
def test_what_is_found(case: Case) -> None:
    found: dict[str, list[int]] = defaultdict(list)
    for one in _lint(_document(case), _scope(case)):
        if one.code not in case.may or one.code in case.lines:
            found[one.code].append(_row(case, one))
    assert {code: sorted(rows) for code, rows in found.items()} == case.lines


@pytest.mark.parametrize("case", [param for param in _read() if param.values[0].lines])
def test_fixes_settle(case: Case) -> None:
    document, scope = _document(case), _scope(case)

    def lint(one: Document) -> list[Diagnostic]:
        return _lint(one, scope)

    def allows(one: Diagnostic) -> bool:
        return may_apply(one, scope.settings)

    settled = fix_document(document, lint, allows)
    assert problem_with(document, settled.document.text) is None
    assert not [one.message for one in settled.remaining if allows(one)]
    assert not settled.remarks
    assert fix_document(settled.document, lint, allows).document.text == settled.document.text
