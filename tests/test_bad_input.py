"""Input that nobody should write and somebody does: never a traceback, never a silent pass.

These run through the real front-ends and rules.
"""

import builtins
import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecolint import gate
from ecolint.action import Action
from ecolint.document import MAX_BYTES
from ecolint.kinds import Kind
from ecolint.runner import Result, run
from ecolint.settings import Hierarchy

WASTE = 'm = AutoModelForCausalLM.from_pretrained("m", load_in_8bit=True)\n'
GOOD = f"from transformers import AutoModelForCausalLM\n{WASTE}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with one sound file that has to be judged whatever happens."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zz.py").write_text(GOOD)
    return tmp_path


def check(*paths: str, action: Action = Action.CHECK) -> Result:
    """Check, and see that the sound file was judged all the same."""
    hierarchy = Hierarchy({"cache": False, "unsafe_fixes": True}, isolated=True)
    result = run(paths or ["."], hierarchy, action)
    judged = {one.filename for one in (*result.diagnostics, *result.fixed)}
    assert "zz.py" in judged or paths
    return result


def said_of(name: str, result: Result) -> list[tuple[str, int, str]]:
    """What a run says of one file: code, row, message."""
    return [
        (one.code, one.location.row, one.message)
        for one in result.diagnostics
        if one.filename == name
    ]


@pytest.mark.parametrize(
    ("name", "raw", "row", "reason"),
    [
        ("py2.py", b'\nprint "load", f(load_in_8bit=True)', 2, "not Python 3"),
        ("broken.py", b"import transformers\nf(load_in_8bit=True\n", 2, "not Python 3"),
        ("latin.py", b"# caf\xe9\nf(load_in_8bit=True)\n", 1, "not valid utf-8"),
        ("late.py", b"f(load_in_8bit=True)\n# caf\xe9\n", 2, "not valid utf-8"),
        ("codec.py", b"# coding: klingon\nf(load_in_8bit=True)\n", 1, "unknown encoding 'klingon'"),
        ("binary.py", b"load_in_8bit\0\x80\x9f" * 9, 1, "binary content"),
        ("text.ipynb", b"load_in_8bit", 1, "not a notebook"),
        ("list.ipynb", b'["load_in_8bit"]', 1, "not a notebook: it has no list of cells"),
        ("half.ipynb", b'{"cells": [\n{"source": "load_in_8bit', 2, "not a notebook"),
    ],
)
def test_a_file_that_matters_and_cannot_be_read_is_told(
    folder: Path, name: str, raw: bytes, row: int, reason: str
) -> None:
    (folder / name).write_bytes(raw)
    ((code, at, message),) = said_of(name, check())
    assert (code, at) == ("ECO000", row)
    assert message.startswith(f"not analysed: {reason}")
    assert message.count("\n") == 0
    assert "; " in message  # the mend


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("empty.py", b""),
        ("blank.py", b"\n\n  \n"),
        ("bom.py", b"\xef\xbb\xbf"),
        ("empty.ipynb", b""),
        ("py2.py", b'print "nothing about us"\n'),
        ("broken.py", b"def f(:\n"),
        ("binary.py", bytes(range(256))),
        ("empty.json", b""),
        ("empty.yaml", b""),
        ("comment.yaml", b"# nothing\n"),
        ("Dockerfile", b""),
        ("run.sh", b"\xff\xfe"),
        ("requirements.txt", b""),
    ],
)
def test_a_file_that_does_not_matter_is_left_in_peace(folder: Path, name: str, raw: bytes) -> None:
    (folder / name).write_bytes(raw)
    assert said_of(name, check()) == []


def test_a_named_file_that_is_no_text_is_told_even_if_it_holds_no_word_of_ours(
    folder: Path,
) -> None:
    (folder / "weights.py").write_bytes(b"\x00\x9f\x92\x96" * 64)
    assert said_of("weights.py", check()) == []
    ((code, _, message),) = said_of("weights.py", check("weights.py"))
    assert code == "ECO000"
    assert message.startswith("not analysed: binary content")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32"])
def test_any_unicode_is_read(folder: Path, encoding: str) -> None:
    (folder / "wide.py").write_text(GOOD, encoding=encoding)
    assert "ECO101" in [code for code, _, _ in said_of("wide.py", check())]


def test_a_notebook_of_the_old_format_is_read(folder: Path) -> None:
    cell = {"cell_type": "code", "input": GOOD.splitlines(keepends=True), "outputs": []}
    old = {"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [cell]}]}
    (folder / "old.ipynb").write_text(json.dumps(old))
    assert ("ECO101", 2) in [(code, row) for code, row, _ in said_of("old.ipynb", check())]


DEEP = 100_000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("parens.py", "x = " + "(" * DEEP + ")" * DEEP),
        ("sums.py", "x = " + "1+" * DEEP + "1"),
        ("nots.py", "x = " + "not " * DEEP + "1"),
        ("dots.py", "x = a" + ".b" * DEEP),
        ("calls.py", "x = a" + "()" * DEEP),
        ("blocks.py", "".join(" " * n + "if x:\n" for n in range(150)) + " " * 150 + "pass"),
        ("elifs.py", "if x: pass\n" + "elif x: pass\n" * 3000),
    ],
)
def test_deep_nesting_is_survived(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"{GOOD}{text}\n")
    said = said_of(name, check())
    assert {code for code, _, _ in said} & {"ECO000", "ECO101"}


def test_a_file_of_more_than_the_limit_is_told_without_being_held_in_memory(folder: Path) -> None:
    with open(folder / "huge.py", "wb") as file:
        file.write(GOOD.encode())
        file.truncate(2 * MAX_BYTES)
    with open(folder / "clean.py", "wb") as file:
        file.truncate(2 * MAX_BYTES)
    tracemalloc.start()
    try:
        result = check()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    ((code, row, message),) = said_of("huge.py", result)
    assert (code, row) == ("ECO000", 1)
    assert message.startswith("not analysed: larger than 50 MB")
    assert said_of("clean.py", result) == []
    assert peak < MAX_BYTES


def test_one_long_line_is_not_carried_along(folder: Path) -> None:
    (folder / "long.py").write_text(GOOD.rstrip("\n") + " # " + "x" * 1_000_000 + "\n")
    result = check()
    found = [one for one in result.diagnostics if one.filename == "long.py"]
    assert found
    assert all(len(one.line) < 50_000 for one in found)


def test_links_to_nothing_and_loops_are_survived(folder: Path) -> None:
    (folder / "dead.py").symlink_to(folder / "nowhere.py")
    (folder / "self.py").symlink_to(folder / "self.py")
    (folder / "loop").mkdir()
    (folder / "loop" / "back").symlink_to(folder, target_is_directory=True)
    result = check()
    assert {one.filename for one in result.diagnostics} == {"zz.py"}
    assert not result.failed


def test_a_file_that_may_not_be_read_is_told_and_fails_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "secret.py").write_text(GOOD)
    real = builtins.open

    def opening(path: Any, *args: Any, **kwargs: Any) -> Any:
        if str(path) == "secret.py":
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", opening)
    assert check().failed
    assert capsys.readouterr().err == "ecolint: secret.py: Permission denied; left out\n"


@pytest.mark.parametrize("when", ["before it is looked at", "before it is analysed"])
def test_a_file_that_goes_away_meanwhile_is_told_and_does_no_harm(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    when: str,
) -> None:
    (folder / "going.py").write_text(GOOD)
    (folder / "aa.py").write_text("x = 1\n")
    real = gate.matters

    def and_delete(kind: Kind, raw: bytes) -> bool:
        if when == "before it is looked at" or raw == GOOD.encode():
            (folder / "going.py").unlink(missing_ok=True)
        return real(kind, raw)

    monkeypatch.setattr(gate, "matters", and_delete)
    result = check()
    assert not result.failed
    assert capsys.readouterr().err == "ecolint: going.py: gone before it was read\n"


def test_a_folder_that_may_not_be_entered_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "closed").mkdir()
    real = os.scandir

    def scanning(path: Any) -> Any:
        if os.path.basename(str(path)) == "closed":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scanning)
    assert check().failed
    assert capsys.readouterr().err == "ecolint: closed: Permission denied; left out\n"


def test_a_missing_path_fails_the_run_and_the_others_are_checked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = check("nowhere.py", "zz.py")
    assert result.failed
    assert said_of("zz.py", result)
    assert capsys.readouterr().err == "ecolint: nowhere.py: no such file or folder\n"


@pytest.mark.parametrize(
    "name", [b"a\x1b[31mb.py", b"new\nline.py", b"caf\xe9.py", "日本.py".encode()]
)
def test_hostile_names_are_read_and_shown_harmlessly(
    folder: Path, capsys: pytest.CaptureFixture[str], name: bytes
) -> None:
    (folder / os.fsdecode(name)).write_text(GOOD)
    result = check()
    assert os.fsdecode(name) in {one.filename for one in result.diagnostics}
    run([os.fsdecode(name) + "x"], Hierarchy({}, isolated=True))
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "\x1b" not in told


def test_an_interrupt_stops_the_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ecolint.frontends.read", interrupt)
    with pytest.raises(KeyboardInterrupt):
        check()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace(" ", "\u00a0"),
        lambda text: text.replace("(", "\x00("),
        lambda text: text + "\x0c\x1a",
        lambda text: "\ufeff\ufeff" + text,
        lambda text: text.replace('"m"', '"\\ud800"'),
        lambda text: text.replace('"m"', "f'{f'{f\"{1}\"}'}'"),
        lambda text: text * 400,
    ],
)
def test_damaged_files_never_stop_a_fix(folder: Path, change: Callable[[str], str]) -> None:
    (folder / "damaged.py").write_bytes(change(GOOD).encode("utf-8", "surrogatepass"))
    check(action=Action.FIX)
    settled = (folder / "damaged.py").read_bytes()
    run(["."], Hierarchy({"cache": False, "unsafe_fixes": True}, isolated=True), Action.FIX)
    assert (folder / "damaged.py").read_bytes() == settled


def test_a_fix_leaves_a_file_alone_that_cannot_be_read(folder: Path) -> None:
    raw = b'print "x"\nf(load_in_8bit=True)  # ecolint: nothing\n'
    (folder / "py2.py").write_bytes(raw)
    check(action=Action.FIX)
    assert (folder / "py2.py").read_bytes() == raw
