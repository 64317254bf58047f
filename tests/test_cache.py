"""What is remembered between runs, and when it is not believed."""

import builtins
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_linting
import pytest
from fake_linting import document_of, finding

from ecolint.action import Action
from ecolint.cache import FOLDER, Cache, digest_of, findings_of, stamp_of
from ecolint.diagnosticjson import from_plain, to_plain
from ecolint.diagnostics import (
    Diagnostic,
    Edit,
    Evidence,
    LocatedEdit,
    Location,
    Provenance,
    Span,
)
from ecolint.runner import Result, run
from ecolint.settings import Hierarchy, Settings

DIRTY = "f(enforce_eager=True)\n"
Opened = list[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file that has a finding and one that has none, both long unchanged."""
    fake_linting.install(monkeypatch)
    monkeypatch.chdir(tmp_path)
    for name, text in (("dirty.py", DIRTY), ("clean.py", "x = 1\n")):
        (tmp_path / name).write_text(text)
        age(tmp_path / name, 100)
    return tmp_path


def age(path: Path, seconds: float) -> None:
    """Let a file be changed last some time ago."""
    then = time.time() - seconds
    os.utime(path, (then, then))


def check(action: Action = Action.CHECK, **changes: Any) -> Result:
    return run(["."], Hierarchy(changes, isolated=True), action)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Opened:
    """The names of the project's files that are opened from here on."""
    names: Opened = []
    real = builtins.open

    def spy(path: Any, *args: Any, **kwargs: Any) -> Any:
        if str(path).endswith(".py") and FOLDER not in str(path):
            names.append(os.path.basename(path))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", spy)
    return names


def test_a_warm_run_opens_no_file_and_says_the_same(project: Path, opened: Opened) -> None:
    first = check()
    assert sorted(opened) == ["clean.py", "dirty.py", "dirty.py"]
    opened.clear()
    assert check() == first
    assert [one.code for one in first.diagnostics] == ["ECO301"]
    assert opened == []


def test_a_file_that_changed_is_read_again(project: Path, opened: Opened) -> None:
    check()
    (project / "dirty.py").write_text("f(enforce_eager=None)\n" + DIRTY)
    opened.clear()
    assert [one.location.row for one in check().diagnostics] == [2]
    assert "clean.py" not in opened


def test_a_new_time_stamp_alone_costs_a_look_not_an_analysis(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = check()
    age(project / "dirty.py", 50)
    monkeypatch.setattr("ecolint.frontends.read", pytest.fail)
    assert check() == first


def test_a_file_changed_just_now_is_compared_by_content(project: Path) -> None:
    (project / "dirty.py").write_text(DIRTY)
    stamp = (project / "dirty.py").stat()
    assert len(check().diagnostics) == 1
    (project / "dirty.py").write_text("g(enforce_eager=None)\n"[: len(DIRTY)])
    os.utime(project / "dirty.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert (project / "dirty.py").stat().st_size == stamp.st_size
    assert check().diagnostics == ()


def test_other_settings_have_another_memory(project: Path) -> None:
    assert len(check().diagnostics) == 1
    assert check(ignore=("ECO301",)).diagnostics == ()
    assert len(check().diagnostics) == 1


def test_settings_that_change_no_finding_share_it(project: Path, opened: Opened) -> None:
    check()
    opened.clear()
    check(jobs=1, output_format="json", unfixable=("ECO3",))
    assert opened == []


def test_no_cache_leaves_nothing_behind(project: Path) -> None:
    check(cache=False)
    assert not (project / FOLDER).exists()


def test_a_file_that_was_fixed_is_not_remembered_as_it_was(project: Path) -> None:
    check()
    assert len(check(Action.FIX, fix=True).fixed) == 1
    assert check().diagnostics == ()


def test_the_folder_is_marked_for_other_tools(project: Path) -> None:
    check()
    folder = project / FOLDER
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f068")
    assert (folder / ".gitignore").read_text() == "*\n"
    assert not list(folder.rglob("*.tmp"))


def test_a_folder_may_be_named(project: Path, tmp_path: Path) -> None:
    check(cache_dir=str(tmp_path / "elsewhere"))
    assert (tmp_path / "elsewhere" / "CACHEDIR.TAG").exists()
    assert not (project / FOLDER).exists()


def test_a_folder_that_cannot_be_written_is_no_error(project: Path) -> None:
    (project / FOLDER).write_text("a file stands in the way")
    assert len(check().diagnostics) == 1


def stored(project: Path) -> Path:
    (path,) = (project / FOLDER).glob("*/*.json")
    return path


Spoil = Callable[[Any], Any]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"[1, 2]", b'["x", [], {}]', b"\xff\xfe", b"[" * 100_000, b"\x00"],
)
def test_a_broken_cache_counts_as_none(project: Path, content: bytes) -> None:
    first = check()
    stored(project).write_bytes(content)
    assert check() == first
    assert len(json.loads(stored(project).read_bytes())) == 3


@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: [],
        lambda entry: None,
        lambda entry: [*entry[:3], [{"code": "X"}]],
        lambda entry: [*entry[:3], ["X"]],
        lambda entry: [*entry[:3], [{**entry[3][0], "span": [1, 2]}]],
        lambda entry: [*entry[:3], [{**entry[3][0], "severity": "purple"}]],
        lambda entry: [*entry[:3], [{**entry[3][0], "more": 1}]],
        lambda entry: ["x", *entry[1:]],
    ],
)
def test_an_entry_that_is_no_entry_is_not_believed(project: Path, spoil: Spoil) -> None:
    first = check()
    path = stored(project)
    fingerprint, plugins, entries = json.loads(path.read_text())
    key = str(project / "dirty.py")
    path.write_text(json.dumps([fingerprint, plugins, {**entries, key: spoil(entries[key])}]))
    assert check() == first


def test_a_changed_plugin_spoils_the_cache(project: Path, opened: Opened) -> None:
    check()
    path = stored(project)
    fingerprint, _, entries = json.loads(path.read_text())
    path.write_text(json.dumps([fingerprint, [[str(project / "plugin.py"), 1, 1]], entries]))
    opened.clear()
    check()
    assert "dirty.py" in opened


def test_old_caches_are_thrown_away(project: Path) -> None:
    for number in range(12):
        check(model=f"{number}B")
    assert len(list((project / FOLDER).glob("*/*.json"))) == 8


def test_a_file_that_is_gone_is_forgotten(project: Path) -> None:
    check()
    (project / "clean.py").unlink()
    (project / "dirty.py").write_text(2 * DIRTY)
    check()
    assert list(json.loads(stored(project).read_text())[2]) == [str(project / "dirty.py")]


def test_a_run_that_read_little_writes_nothing(project: Path) -> None:
    (project / "dirty.py").unlink()
    check()
    assert not (project / FOLDER).exists()


def full() -> Diagnostic:
    """A diagnostic with every field filled."""
    document = document_of("a\nWASTE ü\n")
    edit = Edit(Span(2, 7), "better")
    return replace(
        finding(document, "WASTE", edits=(edit,)),
        fix_locations=(LocatedEdit(edit, Location(2, 1, 3, 4, 5), Location(2, 6)),),
        evidence=Evidence(("r1", "r2"), Provenance.MEASURED, 53.0, 40.5, None),
        url="https://example.org",
        role="service",
        gpu="L4",
        model="m",
        suppressed="# noqa",
    )


def test_a_diagnostic_comes_back_as_it_was() -> None:
    assert from_plain(json.loads(json.dumps(to_plain(full())))) == full()
    bare = replace(full(), fix=None, evidence=None, fix_locations=(), suppressed=None)
    assert from_plain(json.loads(json.dumps(to_plain(bare)))) == bare


def test_a_cache_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x")
    age(path, 100)
    cache = Cache(Settings(root=str(tmp_path)))
    assert cache.find(str(path)) is None
    cache.remember(str(path), path.stat(), digest_of(b"x"), [full()])
    cache.save()
    entry = Cache(Settings(root=str(tmp_path))).find(str(path))
    assert entry is not None
    assert entry.stamp == stamp_of(path.stat())
    assert entry.digest == digest_of(b"x") != digest_of(b"y")
    assert findings_of(entry) == [full()]
