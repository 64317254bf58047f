"""Fixes: chosen, merged, verified, repeated, and written so that nothing else is harmed."""

import json
import os
import stat
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_linting
import pytest
from fake_linting import document_of, finding, scope_of, source_of
from hypothesis import given
from hypothesis import strategies as st

from ecolint.action import Action
from ecolint.analysis import analyse_file
from ecolint.diagnostics import Applicability, Diagnostic, Edit, Span
from ecolint.diffs import diff
from ecolint.document import Document, Kind
from ecolint.fixes import MAX_PASSES, apply, fix_document, may_apply
from ecolint.frontends import notebook
from ecolint.linting import lint_document
from ecolint.project import Project
from ecolint.rewrite import RewriteError, rewrite
from ecolint.settings import Settings
from ecolint.verify import problem_with


def edit(start: int, end: int, content: str) -> Edit:
    """An edit by offsets."""
    return Edit(Span(start, end), content)


def carrying(document: Document, *edits: Edit, code: str = "ECO301") -> Diagnostic:
    """A finding with these edits, on the first one's place."""
    first = document.text[edits[0].span.start :][:1] or document.text[:1]
    return replace(finding(document, first, code, edits=edits), span=edits[0].span)


# --- choosing and merging -------------------------------------------------------------------


def test_fixes_that_do_not_meet_are_applied_together() -> None:
    document = document_of("a = 1\nb = 2\n")
    one, two = carrying(document, edit(10, 11, "22")), carrying(document, edit(4, 5, "11"))
    fixed = apply(document, [one, two])
    assert fixed.text == "a = 11\nb = 22\n"
    assert fixed.applied == (two, one)


def test_of_two_that_overlap_the_first_in_the_file_is_taken() -> None:
    document = document_of("abcdef\n")
    late, early = carrying(document, edit(2, 5, "X")), carrying(document, edit(1, 3, "Y"))
    assert apply(document, [late, early]).applied == (early,)


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (edit(0, 2, "x"), edit(2, 4, "y"), True),
        (edit(0, 2, "x"), edit(2, 2, "y"), False),
        (edit(2, 2, "x"), edit(2, 2, "y"), False),
        (edit(2, 2, "x"), edit(2, 2, "x"), True),
        (edit(0, 3, "x"), edit(2, 2, "y"), False),
        (edit(0, 3, "x"), edit(0, 3, "x"), True),
    ],
)
def test_what_meets(first: Edit, second: Edit, together: bool) -> None:
    document = document_of("abcdef\n", Kind.SHELL, "a.sh")
    found = [carrying(document, first), carrying(document, second, code="ECO201")]
    assert len(apply(document, found).applied) == (2 if together else 1)


def test_the_same_import_for_two_fixes_is_added_once() -> None:
    document = document_of("a\nb\n")
    line = edit(0, 0, "import x\n")
    found = [carrying(document, line, edit(0, 1, "x")), carrying(document, line, edit(2, 3, "y"))]
    assert apply(document, found).text == "import x\nx\ny\n"


def test_a_fix_is_taken_whole_or_not_at_all() -> None:
    document = document_of("a = 1\nb = 2\n")
    taken = carrying(document, edit(4, 5, "9"))
    waiting = carrying(document, edit(4, 5, "8"), edit(10, 11, "8"))
    assert apply(document, [taken, waiting]).text == "a = 9\nb = 2\n"


def test_edits_of_one_fix_that_overlap_are_a_mistake_that_is_told() -> None:
    document = document_of("abcdef\n")
    with pytest.raises(ValueError, match="overlap"):
        apply(document, [carrying(document, edit(0, 3, "x"), edit(1, 2, "y"))])


@given(st.data())
def test_everything_outside_the_edits_stays(data: st.DataObject) -> None:
    text = data.draw(st.text(min_size=1, max_size=60))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True)))
    contents = st.text(max_size=5)
    # Every second gap between cuts is replaced; the others must come through untouched.
    edits = [edit(a, b, data.draw(contents)) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    document = Document("a.sh", Kind.SHELL, text)
    found = [carrying(document, one) for one in edits]
    fixed = apply(document, data.draw(st.permutations(found)))
    expected, at = "", 0
    for one in edits:
        expected += text[at : one.span.start] + one.content
        at = one.span.end
    assert fixed.text == expected + text[at:]
    assert len(fixed.applied) == len(found)


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6)), max_size=6))
def test_whatever_overlaps_something_is_applied_and_nothing_twice(
    text: str, places: list[tuple[int, int]]
) -> None:
    document = Document("a.sh", Kind.SHELL, text + "#")
    length = len(document.text)
    spans = [(min(a, length), min(a + n, length)) for a, n in places]
    found = [carrying(document, edit(a, b, f"<{i}>")) for i, (a, b) in enumerate(spans)]
    fixed = apply(document, found)
    assert bool(fixed.applied) is bool(found)
    for i, one in enumerate(found):
        assert fixed.text.count(f"<{i}>") == (one in fixed.applied)


# --- what may be applied --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("applicability", "settings", "allowed"),
    [
        (Applicability.SAFE, Settings(), True),
        (Applicability.UNSAFE, Settings(), False),
        (Applicability.UNSAFE, Settings(unsafe_fixes=True), True),
        (Applicability.DISPLAY, Settings(unsafe_fixes=True), False),
        (Applicability.SAFE, Settings(unfixable=("ECO3",)), False),
        (Applicability.SAFE, Settings(fixable=("ECO1",)), False),
        (Applicability.SAFE, Settings(fixable=("ECO301",), unfixable=("ECO3",)), True),
    ],
)
def test_what_may_be_applied(
    applicability: Applicability, settings: Settings, allowed: bool
) -> None:
    document = document_of("WASTE\n")
    found = finding(document, "WASTE", edits=(edit(0, 5, "x"),), applicability=applicability)
    assert may_apply(found, settings) is allowed
    assert not may_apply(replace(found, suppressed="# noqa"), settings)
    assert not may_apply(replace(found, fix=None), settings)


# --- verifying ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "path", "good", "bad"),
    [
        (Kind.PYTHON, "a.py", "f(a=1)", "f(a=1"),
        (Kind.JSON, "a.json", '{"a": 1}', '{"a": }'),
        (Kind.JSON, "a.jsonc", '{"a": 1, // x\n}', '{"a": 1'),
        (Kind.JSON, "a.jsonl", '{"a": 1}\n{"b": 2}\n', '{"a": 1}\n{"b"}\n'),
        (Kind.TOML, "a.toml", "a = 1", "a = "),
        (Kind.YAML, "a.yaml", "a: !Ref b\n---\nb: 1", "a: [1"),
    ],
)
def test_a_result_must_parse(kind: Kind, path: str, good: str, bad: str) -> None:
    assert problem_with(document_of(good, kind, path), good) is None
    assert problem_with(document_of(good, kind, path), bad) is not None
    # What did not parse before proves nothing.
    assert problem_with(document_of(bad, kind, path), bad + " ") is None


def test_python_of_another_version_is_judged_by_libcst(recwarn: pytest.WarningsRecorder) -> None:
    assert problem_with(document_of("print('\\d')\n"), "print('\\d', 1)\n") is None
    assert list(recwarn) == []


def test_a_fix_that_would_break_the_file_is_refused_and_the_others_are_applied() -> None:
    document = document_of("a = 1\nb = 2\n")
    good, bad = carrying(document, edit(4, 5, "3")), carrying(document, edit(10, 11, "("))
    fixed = apply(document, [bad, good])
    assert (fixed.text, fixed.applied, fixed.refused) == ("a = 3\nb = 2\n", (good,), (bad,))
    (remark,) = fixed.remarks
    assert remark.startswith("a.py:")
    assert "the fix of ECO301 was not applied: the result is no Python" in remark


NOTEBOOK: dict[str, Any] = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["enforce_eager=True"]},
        {
            "cell_type": "code",
            "execution_count": 3,
            "metadata": {"scrolled": True},
            "outputs": [{"text": "enforce_eager=True\n", "output_type": "stream"}],
            "source": ["# ü\n", "f(enforce_eager=True)\n", "x"],
        },
    ],
    "metadata": {"kernelspec": {"name": "python3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def notebook_text() -> str:
    return json.dumps(NOTEBOOK, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("old", "new", "fine"),
    [
        ("f(enforce_eager=True)", "f(enforce_eager=False)", True),
        ('"f(enforce_eager=True)\\n"', '"f(",\n    ")"', True),
        ('"execution_count": 3', '"execution_count": 4', False),
        ('"scrolled": true', '"scrolled": false', False),
        ('"source": ["enforce_eager', '"source": ["Enforce_eager', False),
        ("f(enforce_eager=True)", 'f("', False),
        ('"# ü\\n"', "3", False),
        ('"nbformat": 4', '"nbformat":  4', False),
    ],
)
def test_a_notebook_changes_in_its_sources_only(old: str, new: str, fine: bool) -> None:
    text = json.dumps(NOTEBOOK, ensure_ascii=False)
    assert old in text
    document = document_of(text, Kind.NOTEBOOK, "a.ipynb")
    assert (problem_with(document, text.replace(old, new)) is None) is fine


# --- to a fixed point -----------------------------------------------------------------------

Lint = Callable[[Document], list[Diagnostic]]


def allow(_: Diagnostic) -> bool:
    return True


def counting_down(document: Document) -> list[Diagnostic]:
    """A rule whose fix always leaves a little less to do, until nothing."""
    number = int(document.text)
    if number == 0:
        return []
    end = len(document.text)
    return [finding(document, document.text, edits=(edit(0, end, str(number - 1)),))]


def test_passes_go_on_until_nothing_is_left() -> None:
    settled = fix_document(document_of("4"), counting_down, allow)
    assert (settled.document.text, len(settled.applied), settled.remaining) == ("0", 4, ())
    assert settled.remarks == ()


def test_fixes_that_never_end_are_stopped_and_told() -> None:
    settled = fix_document(document_of("99"), counting_down, allow)
    assert settled.document.text == str(99 - MAX_PASSES)
    assert settled.remarks == (f"a.py: fixes did not settle after {MAX_PASSES} passes",)


def test_a_fix_refused_once_is_not_tried_again() -> None:
    def lint(document: Document) -> list[Diagnostic]:
        found = [finding(document, "WASTE", "ECO201", edits=(edit(0, 5, "("),))]
        if "1" in document.text:
            at = document.text.index("1")
            found.append(finding(document, "1", edits=(edit(at, at + 1, "2"),)))
        return found

    settled = fix_document(document_of("WASTE\nx = 1\n"), lint, allow)
    assert settled.document.text == "WASTE\nx = 2\n"
    assert [one.code for one in settled.remaining] == ["ECO201"]
    assert len(settled.remarks) == 1


def test_a_fix_after_which_the_file_cannot_be_read_is_undone_alone() -> None:
    def lint(document: Document) -> list[Diagnostic]:
        if "BROKEN" in document.text:
            return [finding(document, "BROKEN", "ECO000")]
        found = []
        for word, better in (("one", "BROKEN"), ("two", "2")):
            if word in document.text:
                at = document.text.index(word)
                change = edit(at, at + len(word), better)
                found.append(finding(document, word, edits=(change,)))
        return found

    settled = fix_document(document_of("one\ntwo\n"), lint, allow)
    assert settled.document.text == "one\n2\n"
    assert [one.line for one in settled.applied] == ["two"]
    assert settled.remarks == (
        "a.py:1: the fix of ECO301 was not applied: the result could not be read",
    )


# --- whole files ----------------------------------------------------------------------------


def fix_file(path: Path, kind: Kind = Kind.PYTHON) -> Sequence[str]:
    """Fix a file, unsafely too; returns what stderr is told."""
    source = source_of(str(path), kind)._replace(settings=Settings(unsafe_fixes=True))
    outcome = analyse_file(source, Project(), Action.FIX)
    return (*outcome.remarks, *outcome.failures)


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_linting.install(monkeypatch)


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize(
    "raw",
    [
        b"f(enforce_eager=True)\n",
        b"f(enforce_eager=True)",
        b"\xef\xbb\xbff(enforce_eager=True)\r\n# \xc3\xbc\r\n",
        b"# coding: latin-1\r# \xfc\rf(enforce_eager=True)\r",
        "# ü\tf\n\x0c\nf(\tenforce_eager=True)\r\nx\n".encode(),
        b"# coding: shift_jis\n# \x93\xfa\x96{\nf(enforce_eager=True)\n",
        "\ufeff# ü\nf(enforce_eager=True)\r\n".encode("utf-16-le"),
    ],
)
def test_bytes_outside_a_fix_stay_whatever_the_encoding(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(raw)
    assert fix_file(path) == ()
    wide = "True".encode("utf-16-le")
    expected = raw.replace(b"True", b"False").replace(wide, "False".encode("utf-16-le"))
    assert path.read_bytes() == expected
    stamp = path.stat().st_mtime_ns
    assert fix_file(path) == ()
    assert path.stat().st_mtime_ns == stamp


@pytest.mark.usefixtures("fakes")
@given(st.text(alphabet="ab \t\n\r\"'#\\ü漢", max_size=30), st.integers(1, 3))
def test_a_fixed_file_has_nothing_left_and_changes_no_more(noise: str, times: int) -> None:
    document = document_of(noise + " enforce_eager=True max_num_seqs=1" * times)
    scope = scope_of(Settings(unsafe_fixes=True))

    def lint(one: Document) -> list[Diagnostic]:
        return lint_document(one, scope)

    settled = fix_document(document, lint, lambda one: may_apply(one, scope.settings))
    assert settled.remaining == ()
    assert settled.document.text == noise + " enforce_eager=False max_num_seqs=8" * times
    assert fix_document(settled.document, lint, allow).document.text == settled.document.text


@pytest.mark.usefixtures("fakes")
def test_an_encoding_that_cannot_hold_the_fix_leaves_the_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lint(document: Document, *_: object) -> list[Diagnostic]:
        at = document.text.find("True")
        change = edit(at, at + 4, "漢")
        return [finding(document, "True", edits=(change,))] if at >= 0 else []

    monkeypatch.setattr("ecolint.analysis.lint_document", lint)
    path = tmp_path / "a.py"
    path.write_bytes(b"# coding: latin-1\nf(enforce_eager=True)\n")
    (remark,) = fix_file(path)
    assert "has no '漢'; save the file as UTF-8" in remark
    assert path.read_bytes() == b"# coding: latin-1\nf(enforce_eager=True)\n"


def test_a_notebook_keeps_all_but_the_fixed_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_linting.install(monkeypatch, Kind.NOTEBOOK)
    reader = fake_linting.read

    def read_cells(document: Document) -> Any:
        notebook.read(document)
        facts = reader(document)
        cells = document.cells
        facts.items = [f for f in facts.items if any(c.covers(f.span.start) for c in cells)]
        return facts

    monkeypatch.setattr("ecolint.frontends.read", read_cells)
    path = tmp_path / "a.ipynb"
    path.write_text(notebook_text(), encoding="utf-8")
    assert fix_file(path, Kind.NOTEBOOK) == ()
    head, _, tail = notebook_text().partition("f(enforce_eager=True)")
    assert path.read_text(encoding="utf-8") == f"{head}f(enforce_eager=False){tail}"


# --- writing --------------------------------------------------------------------------------


def test_mode_and_link_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "real" / "a.py"
    target.parent.mkdir()
    target.write_bytes(b"old")
    target.chmod(0o751)
    link = tmp_path / "a.py"
    link.symlink_to(target)
    rewrite(str(link), b"old", b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o751
    assert [one.name for one in target.parent.iterdir()] == ["a.py"]


def test_a_file_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"newer")
    with pytest.raises(RewriteError, match="changed meanwhile"):
        rewrite(str(path), b"old", b"new")
    assert path.read_bytes() == b"newer"


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(RewriteError, match="No such file"):
        rewrite(str(tmp_path / "a.py"), b"old", b"new")


def test_a_read_only_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(RewriteError, match="read-only"):
        rewrite(str(path), b"old", b"new")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_whatever_step_fails_the_old_file_stands_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise error

    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises((RewriteError, KeyboardInterrupt)):
        rewrite(str(path), b"old", b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.py"]


@pytest.mark.parametrize("step", ["mkstemp", "fsync", "chmod", "replace", "after"])
def test_a_process_that_is_killed_leaves_the_old_file_or_the_new(tmp_path: Path, step: str) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old" * 1000)
    pid = os.fork()
    if pid == 0:  # the child dies at the step, as under kill -9

        def die(*_: object, **__: object) -> None:
            os._exit(9)

        if step != "after":
            setattr(tempfile if step == "mkstemp" else os, step, die)
        try:
            rewrite(str(path), b"old" * 1000, b"new" * 1000)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == (0 if step == "after" else 9)
    assert path.read_bytes() == (b"new" if step == "after" else b"old") * 1000


# --- showing --------------------------------------------------------------------------------


def test_a_diff_shows_the_lines_that_change() -> None:
    before, after = document_of("a\r\nb\nc"), document_of("a\r\nB\nc")
    assert diff(before, after, "a.py") == (
        "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n a\r\n-b\n+B\n c\n\\ No newline at end of file\n"
    )
    assert diff(before, before, "a.py") == ""


def test_a_diff_of_a_notebook_goes_by_cells() -> None:
    before = document_of(notebook_text(), Kind.NOTEBOOK, "a.ipynb")
    text = notebook_text().replace("f(enforce_eager=True)", "f()")
    after = document_of(text, Kind.NOTEBOOK, "a.ipynb")
    notebook.read(before)
    notebook.read(after)
    assert diff(before, after, "a.ipynb").splitlines() == [
        "--- a.ipynb:cell 2",
        "+++ a.ipynb:cell 2",
        "@@ -1,3 +1,3 @@",
        " # ü",
        "-f(enforce_eager=True)",
        "+f()",
        " x",
        "\\ No newline at end of file",
    ]
