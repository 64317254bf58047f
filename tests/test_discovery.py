"""Which files are found, of which kind, and what their place says."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecolint.discovery import discover, display_path, is_excluded, project_root, role_of_path
from ecolint.facts import Role
from ecolint.globs import matches_any, translate
from ecolint.kinds import Kind, kind_of, kind_of_shebang
from ecolint.settings import Hierarchy, Settings

Tree = Callable[..., None]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """Make files, and work in the folder that holds them."""
    monkeypatch.chdir(tmp_path)

    def make(*names: str, **contents: str) -> None:
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(contents.get("text", ""))

    return make


class Complaints(list[tuple[str, bool]]):
    """Collects what a walk complains of."""

    def __call__(self, text: str, *, fatal: bool = True) -> None:
        self.append((text, fatal))


def found(*paths: str, **changes: object) -> list[str]:
    """The files of a walk that has nothing to complain of."""
    complaints = Complaints()
    sources = list(discover(paths or (".",), Hierarchy(changes, isolated=True), complaints))
    assert complaints == []
    return [source.path.replace(os.sep, "/") for source in sources]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.py", Kind.PYTHON),
        ("a.PY", Kind.PYTHON),
        ("a.pyi", Kind.PYTHON),
        ("n.ipynb", Kind.NOTEBOOK),
        ("k8s/pod.yml", Kind.YAML),
        ("a.jsonc", Kind.JSON),
        ("a.jsonl", Kind.JSON),
        ("pyproject.toml", Kind.TOML),
        ("Pipfile", Kind.TOML),
        ("Pipfile.lock", Kind.JSON),
        ("uv.lock", Kind.TOML),
        ("conda-lock.yml", Kind.CONDA_LOCK),
        ("requirements.lock", Kind.REQUIREMENTS),
        ("requirements-gpu.txt", Kind.REQUIREMENTS),
        ("dev-requirements.in", Kind.REQUIREMENTS),
        ("constraints.txt", Kind.REQUIREMENTS),
        ("requirements/base.txt", Kind.REQUIREMENTS),
        ("Dockerfile", Kind.DOCKERFILE),
        ("Dockerfile.gpu", Kind.DOCKERFILE),
        ("serve.dockerfile", Kind.DOCKERFILE),
        ("Containerfile", Kind.DOCKERFILE),
        ("run.zsh", Kind.SHELL),
        ("CMD_FLAGS.txt", Kind.SHELL),
        ("start.bat", Kind.BATCH),
        ("start.ps1", Kind.BATCH),
        ("Makefile", Kind.MAKEFILE),
        ("rules.mk", Kind.MAKEFILE),
        (".env", Kind.DOTENV),
        (".env.production", Kind.DOTENV),
        ("prod.env", Kind.DOTENV),
        ("Procfile", Kind.PROCFILE),
        ("vllm.service", Kind.SYSTEMD),
        ("vllm.container", Kind.SYSTEMD),
        ("config.pbtxt", Kind.PBTXT),
        ("Modelfile", Kind.MODELFILE),
        ("setup.cfg", Kind.INI),
        ("main.tf", Kind.TERRAFORM),
        ("notes.txt", None),
        ("Cargo.lock", None),
        ("README.md", None),
        ("py", None),
        (".py", None),
        ("environment", None),
        ("sh", None),
    ],
)
def test_a_name_tells_the_kind(name: str, kind: Kind | None) -> None:
    assert kind_of(name) is kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"#!/usr/bin/env python3\n", Kind.PYTHON),
        (b"#!/usr/bin/python3.11 -u\n", Kind.PYTHON),
        (b"#!/usr/bin/env -S uv run --script\n", Kind.PYTHON),
        (b"#!/bin/sh\n", Kind.SHELL),
        (b"#!/usr/bin/env FOO=1 bash\n", Kind.SHELL),
        (b"#!/usr/bin/perl\n", None),
        (b"#!\n", None),
        (b"\x7fELF", None),
    ],
)
def test_a_shebang_tells_the_kind(line: bytes, kind: Kind | None) -> None:
    assert kind_of_shebang(line) is kind


def test_a_walk_is_sorted_and_leaves_the_usual_folders_out(tree: Tree) -> None:
    tree("b.py", "a/z.py", "a/b/c.yaml", "notes.md", ".venv/x.py", "a/node_modules/y.json")
    tree("__pycache__/q.py", ".ipynb_checkpoints/n.ipynb", "build/x.py", ".ecolint_cache/a.json")
    assert found() == ["b.py", "a/z.py", "a/b/c.yaml"]


def test_a_named_file_is_read_whatever_the_excludes_say_unless_forced(tree: Tree) -> None:
    tree("build/x.py")
    assert found("build/x.py") == ["build/x.py"]
    assert found("build") == ["build/x.py"]
    assert found("build/x.py", force_exclude=True) == []
    assert found("build", force_exclude=True) == []


def test_a_file_that_two_paths_mean_comes_once(tree: Tree) -> None:
    tree("a/x.py", "a/y.py")
    assert found("a/y.py", "a", "./a/x.py") == ["a/y.py", "a/x.py"]


def test_excludes_mean_names_at_any_depth_or_paths_below_the_root(tree: Tree) -> None:
    tree("gen/x.py", "src/gen/y.py", "src/a.gen.yaml", "src/old/deep/z.py", "keep.py")
    assert found(exclude=("gen",)) == ["keep.py", "src/a.gen.yaml", "src/old/deep/z.py"]
    assert "src/a.gen.yaml" not in found(exclude=("*.gen.yaml",))
    assert found(exclude=("src/**/z.py",)).count("src/old/deep/z.py") == 0
    assert "src/gen/y.py" in found(exclude=("./gen",))
    assert found(extend_exclude=("src", "gen")) == ["keep.py"]


def test_gitignore_is_honoured_nested_negated_and_up_to_the_repository(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tree(".git/HEAD", "a.py", "out/x.py", "sub/y.py", "sub/keep.py", "sub/deep/z.py")
    (tmp_path / ".gitignore").write_text("out/\n/sub/y.py\n*.tmp.py\n")
    (tmp_path / "sub/.gitignore").write_text("*.py\n!keep.py\n")
    assert found() == ["a.py", "sub/keep.py"]
    assert "out/x.py" in found(respect_gitignore=False)
    monkeypatch.chdir(tmp_path / "sub")
    assert found() == ["keep.py"]
    (tmp_path / "sub/.gitignore").unlink()
    assert found() == ["keep.py", "deep/z.py"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(
    "patterns",
    [
        "*.py",
        "# all\n\n/*.py\n!/a.py",
        "sub/",
        "sub",
        "/deep/sub/x.py",
        "deep/**/x.py",
        "**/x.py",
        "sub/**\n!sub/x.py",
        "sub/*\n!sub/x.py",
        "deep/*.py",
        "x.p[xyz]",
        "\\#odd.py\n?.py",
        "*\n!*/\n!*.yaml",
        "sub/x.py\n!x.py",
        "deep/",
        "dee*",
        "[[:lower:]].py",
        "[!a].py",
        "[]x].py",
        "sub/  ",
        "x.py\\ ",
        "\ufeffx.py",
        "!x.py",
        "**",
        "deep/**/",
        "/",
        "su?/*.py",
        "deep/sub/../x.py",
        "*b.y*l",
        "[z-a]",
    ],
)
def test_gitignore_means_what_git_takes_it_for(tree: Tree, tmp_path: Path, patterns: str) -> None:
    tree("a.py", "x.py", "b.yaml", "#odd.py", "sub/x.py", "sub/y.yaml", "deep/x.py")
    tree("deep/sub/x.py", "deep/sub/sub/x.py", "deep/er/x.yaml")
    (tmp_path / ".gitignore").write_text(patterns + "\n")
    subprocess.run(["git", "init", "-q", "."], check=True)
    listed = subprocess.run(
        ["git", "-c", "core.quotePath=off", "ls-files", "-o", "--exclude-standard"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert sorted(found()) == sorted(set(listed.stdout.splitlines()) - {".gitignore"})


def test_what_git_excludes_privately_is_left_out(tree: Tree, tmp_path: Path) -> None:
    tree(".git/info/exclude", text="mine.py\n")
    tree("mine.py", "ours.py")
    assert found() == ["ours.py"]


def test_links_to_folders_are_not_followed_and_dead_links_are_survived(
    tree: Tree, tmp_path: Path
) -> None:
    tree("a/x.py")
    (tmp_path / "a/loop").symlink_to(tmp_path / "a")
    (tmp_path / "a/dead.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "linked.py").symlink_to(tmp_path / "a/x.py")
    assert found() == ["linked.py", "a/x.py"]


def test_a_pipe_is_never_a_source(tree: Tree, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert found() == []
    complaints = Complaints()
    assert list(discover(["pipe.py"], Hierarchy({}, isolated=True), complaints)) == []
    assert complaints == [("pipe.py: neither a file nor a folder", True)]


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("gone.py", ("gone.py: no such file or folder", True)),
        ("dead.py", ("dead.py: a link to nothing; mend or remove it", True)),
        ("README.md", ("README.md: not a kind of file that ecolint reads", False)),
    ],
)
def test_what_cannot_be_read_is_told_in_a_line_and_the_rest_goes_on(
    tree: Tree, tmp_path: Path, path: str, complaint: tuple[str, bool]
) -> None:
    tree("README.md", "a.py")
    (tmp_path / "dead.py").symlink_to(tmp_path / "nowhere")
    complaints = Complaints()
    sources = list(discover([path, "a.py"], Hierarchy({}, isolated=True), complaints))
    assert [source.path for source in sources] == ["a.py"]
    assert complaints == [complaint]


def test_a_named_script_without_suffix_is_known_by_its_shebang(tree: Tree) -> None:
    tree("bin/serve", text="#!/usr/bin/env python3\n")
    assert found("bin/serve") == ["bin/serve"]
    assert found("bin") == []


def test_each_folder_has_the_settings_of_its_own_configuration(tree: Tree, tmp_path: Path) -> None:
    tree("a/x.py", "a/gen/y.py", "b/gen/z.py")
    (tmp_path / "a/ecolint.toml").write_text('extend-exclude = ["gen"]\n')
    sources = list(discover(["."], Hierarchy({}), Complaints()))
    assert [source.path for source in sources] == ["a/ecolint.toml", "a/x.py", "b/gen/z.py"]
    assert sources[1].settings.root == str(tmp_path / "a")


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("tests/a.py", Role.TEST),
        ("pkg/test/deep/a.yaml", Role.TEST),
        ("pkg/test_serve.py", Role.TEST),
        ("pkg/serve_test.py", Role.TEST),
        ("conftest.py", Role.TEST),
        ("docs/guide.py", Role.DOCUMENTATION),
        ("benchmarks/run.py", Role.BENCHMARK),
        ("bench_linear.py", Role.BENCHMARK),
        ("examples/a.py", None),
        ("latest/a.py", None),
        ("pkg/contest.py", None),
        ("pkg/tests.d/a.py", None),
    ],
)
def test_a_place_tells_a_role(tree: Tree, path: str, role: Role | None) -> None:
    assert role_of_path(path, ".") is role


def test_folders_above_the_project_tell_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "tests" / "docs" / "project"
    (project / "src").mkdir(parents=True)
    file = project / "src" / "a.py"
    file.touch()
    monkeypatch.chdir(project)
    assert role_of_path("src/a.py", project_root("src/a.py", Settings())) is None
    monkeypatch.chdir("/")
    assert role_of_path(str(file), project_root(str(file), Settings())) is None
    (project / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    name = "tests/docs/project/src/a.py"
    assert project_root(name, Settings()) == str(project)
    assert role_of_path(name, project_root(name, Settings())) is None


def test_paths_are_shown_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert display_path(str(tmp_path / "a" / "b.py")) == "a/b.py"
    assert display_path("./a/../b.py") == "b.py"
    assert display_path("/elsewhere/b.py") == "/elsewhere/b.py"


def test_an_excluded_folder_above_counts_when_forced(tree: Tree) -> None:
    tree("a/dist/deep/x.py")
    settings = Settings(root=os.getcwd())
    assert is_excluded("a/dist/deep/x.py", settings)
    assert not is_excluded("a/x.py", settings)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "/r/a/b.py", True),
        ("legacy/*.py", "/r/legacy/deep/b.py", True),
        ("legacy/*.py", "/r/other/legacy/b.py", False),
        ("**/gen/*.py", "/r/gen/b.py", True),
        ("{a,b}.py", "/r/x/b.py", True),
        ("{a,b}.py", "/r/x/c.py", False),
        ("[!a].py", "/r/b.py", True),
        ("[!a].py", "/r/a.py", False),
        ("?.py", "/r/ab.py", False),
        ("[z-a]", "/r/[z-a]", True),
        ("[z-a]", "/r/z", False),
        ("!legacy/*.py", "/r/legacy/b.py", False),
        ("!legacy/*.py", "/r/new/b.py", True),
        ("/abs/x.py", "/abs/x.py", True),
        ("dir/", "/r/a/dir", True),
        ("a+b.py", "/r/a+b.py", True),
        ("a+b.py", "/r/aab.py", False),
    ],
)
def test_globs(pattern: str, path: str, expected: bool) -> None:
    assert matches_any((pattern,), "/r", path) is expected


@given(st.text(alphabet="ab*?[]{},!-^\\/.", max_size=12))
def test_no_glob_breaks(pattern: str) -> None:
    import re

    re.compile(translate(pattern))
    assert matches_any((pattern,), "/r", "/r/ab") in (True, False)
