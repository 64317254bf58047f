"""A run over files: what is judged, in which order, and that nothing stops it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fake_linting
import pytest
from fake_linting import document_of, scope_of

from ecolint import linting, pool
from ecolint.action import Action
from ecolint.analysis import Outcome, analyse_file
from ecolint.diagnostics import Severity, Span
from ecolint.facts import Compilation, CompileState, Facts, Hardware, Package, Role
from ecolint.linting import Scope, judge, lint_document
from ecolint.project import Project
from ecolint.rule import Context, Finding, Known, LoadedRule
from ecolint.runner import Result, run, run_text
from ecolint.settings import Hierarchy, Settings

DIRTY = "f(enforce_eager=True)\n"
SERVER = "g(max_num_seqs=1)\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, the fakes in place."""
    fake_linting.install(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*paths: str, action: Action = Action.CHECK, **changes: Any) -> Result:
    changes = {"cache": False, **changes}
    return run(paths or ["."], Hierarchy(changes, isolated=True), action)


def codes(result: Result) -> list[str]:
    return [f"{one.filename}:{one.location.row}:{one.code}" for one in result.diagnostics]


def test_findings_come_in_order_whatever_the_order_of_files(project: Path) -> None:
    (project / "b.py").write_text(DIRTY + SERVER)
    (project / "a").mkdir()
    (project / "a" / "z.py").write_text(DIRTY)
    (project / "clean.py").write_text("x = 1\n")
    result = check()
    assert codes(result) == ["a/z.py:1:ECO301", "b.py:1:ECO301", "b.py:2:ECO201"]
    assert (result.files, result.failed) == (3, False)
    assert check("b.py", "a") == result._replace(files=2)


def test_a_pool_finds_what_one_process_finds(project: Path) -> None:
    for number in range(12):
        (project / f"f{number:02}.py").write_text("\n" * number + DIRTY)
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))

    hierarchy = Hierarchy({"jobs": 2, "cache": False}, isolated=True)
    assert run(["."], hierarchy, Action.CHECK, progress) == check(jobs=1)
    assert seen == [(n, 12) for n in range(1, 13)]


def test_a_process_that_dies_takes_one_file_with_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.py", "b.py", "fatal.py", "c.py"):
        (project / name).write_text(DIRTY)
    real = analyse_file

    def deadly(source: Any, *rest: Any) -> Outcome:
        if source.path == "fatal.py":
            os._exit(1)
        return real(source, *rest)

    deadly.__module__, deadly.__qualname__ = pool.__name__, "analyse_file"
    monkeypatch.setattr(pool, "analyse_file", deadly)
    result = check(jobs=2)
    assert codes(result) == ["a.py:1:ECO301", "b.py:1:ECO301", "c.py:1:ECO301"]
    assert result.failed
    message = "ecolint: fatal.py: the process that read it was killed; exclude the file\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"select": ("ECO2",)}, ["ECO201"]),
        ({"ignore": ("ECO2",)}, ["ECO301"]),
        ({"select": ("ECO2",), "extend_select": ("ECO301",)}, ["ECO301", "ECO201"]),
        ({"per_file_ignores": (("*.py", ("ECO301",)),)}, ["ECO201"]),
        ({"per_file_ignores": (("src/*.py", ("ECO301",)),)}, ["ECO201"]),
        ({"per_file_ignores": (("lib/*.py", ("ECO301",)),)}, ["ECO301", "ECO201"]),
        ({"per_file_ignores": (("!src/*.py", ("ALL",)),)}, ["ECO301", "ECO201"]),
        ({"show_green": True}, ["ECO301", "ECO201", "ECO903"]),
    ],
)
def test_settings_choose_the_rules(
    project: Path, changes: dict[str, Any], expected: list[str]
) -> None:
    (project / "src").mkdir()
    (project / "src" / "a.py").write_text(DIRTY + SERVER)
    assert [one.code for one in check(**changes).diagnostics] == expected


def test_the_nearest_configuration_holds(project: Path) -> None:
    for folder in ("a", "b"):
        (project / folder).mkdir()
        (project / folder / "x.py").write_text(DIRTY)
    (project / "a" / "ecolint.toml").write_text('ignore = ["ECO301"]\n')
    result = run(["."], Hierarchy({"cache": False}))
    assert codes(result) == ["b/x.py:1:ECO301"]


@pytest.mark.parametrize("place", ["tests/a.py", "docs/a.py", "test_a.py"])
def test_nobody_deploys_tests_and_documentation(project: Path, place: str) -> None:
    (project / place).parent.mkdir(exist_ok=True)
    (project / place).write_text(DIRTY)
    assert codes(check()) == []
    result = check(include_tests=True)
    assert codes(result) == [f"{place}:1:ECO301"]
    assert result.diagnostics[0].role == "inference"


@pytest.mark.parametrize(
    ("place", "of_code", "expected"),
    [
        (None, Role.SERVICE, Role.SERVICE),
        (Role.TEST, Role.SERVICE, Role.TEST),
        (Role.TEST, Role.TRAINING, Role.TEST),
        (Role.BENCHMARK, Role.INFERENCE, Role.BENCHMARK),
        (Role.BENCHMARK, Role.TRAINING, Role.TRAINING),
    ],
)
def test_the_place_of_a_file_may_outdo_its_code(
    monkeypatch: pytest.MonkeyPatch, place: Role | None, of_code: Role, expected: Role
) -> None:
    heard: list[Role] = []
    loaded = fake_linting.rules()[2]

    def listen(fact: Compilation, context: Context) -> Iterator[Finding]:
        yield Finding(fact.span, "heard")

    rule = LoadedRule(loaded.rule, listen, "", "")
    object.__setattr__(rule.rule, "silent_in", frozenset())
    monkeypatch.setattr(linting, "load_rules", lambda: (rule,))
    fact = Compilation(Span(0, 1), CompileState.DISABLED, "x", role=of_code)
    found = judge(document_of("x\n"), Facts([fact]), scope_of(role=place))
    heard += [Role(one.role) for one in found]
    assert heard == [expected]


def test_a_comment_silences_and_the_finding_is_kept_apart(project: Path) -> None:
    (project / "a.py").write_text("f(enforce_eager=True)  # noqa: ECO301 we debug\n" + DIRTY)
    result = check()
    assert codes(result) == ["a.py:2:ECO301"]
    assert [one.suppressed for one in result.suppressed] == ["# noqa: ECO301 we debug"]
    assert len(check(ignore_noqa=True).diagnostics) == 2


def test_a_comment_that_silences_nothing_is_a_finding_with_a_fix(project: Path) -> None:
    text = "f(enforce_eager=None)  # ecolint: ignore[ECO301]\n"
    (project / "a.py").write_text(text)
    (note,) = check().diagnostics
    assert (note.code, note.severity) == ("ECO900", Severity.GRAY)
    assert len(check(action=Action.FIX).fixed) == 1
    assert (project / "a.py").read_text() == "f(enforce_eager=None)\n"


def test_in_tests_comments_are_no_use_either_way(project: Path) -> None:
    (project / "test_a.py").write_text("f(enforce_eager=True)  # ecolint: ignore[ECO301]\n")
    assert codes(check()) == []
    assert codes(check(include_tests=True)) == []


def test_one_place_has_one_finding_of_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    fact = Compilation(Span(0, 1), CompileState.DISABLED, "x")
    twin = Compilation(Span(0, 1), CompileState.DISABLED, "x")
    assert len(judge(document_of("True\n"), Facts([fact, twin]), scope_of())) == 1


def test_a_rule_that_fails_is_told_and_the_others_speak(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def slip(fact: Any, context: Context) -> Iterator[Finding]:
        raise KeyError("no such\nkey")

    fine, bad = fake_linting.rules()[1], fake_linting.rules()[2]
    loaded = (fine, LoadedRule(bad.rule, slip, "", bad.module))
    monkeypatch.setattr(linting, "load_rules", lambda: loaded)
    (project / "a.py").write_text(DIRTY + SERVER)
    result = check()
    assert codes(result) == ["a.py:2:ECO201"]
    assert result.failed
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "ecolint: internal error in ECO301 on a.py: KeyError: 'no such\\nkey'; please report it"
    )


def test_a_front_end_that_fails_is_told_and_other_files_go_on(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "a.py").write_text("boom enforce_eager")
    (project / "b.py").write_text(DIRTY)
    result = check()
    assert codes(result) == ["b.py:1:ECO301"]
    assert result.failed
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ecolint: internal error in reading a.py: ZeroDivisionError: the front")


def test_a_fix_writes_a_diff_does_not(project: Path) -> None:
    (project / "a.py").write_text(DIRTY + SERVER)
    result = check(action=Action.DIFF, fix=True)
    assert "-f(enforce_eager=True)\n+f(enforce_eager=False)\n" in result.diff
    assert [one.code for one in result.fixed] == ["ECO301"]
    assert (project / "a.py").read_text() == DIRTY + SERVER
    result = check(action=Action.FIX, fix=True)
    assert codes(result) == ["a.py:2:ECO201"]
    assert (project / "a.py").read_text() == "f(enforce_eager=False)\n" + SERVER
    result = check(action=Action.FIX, fix=True, unsafe_fixes=True)
    assert codes(result) == []
    assert (project / "a.py").read_text() == "f(enforce_eager=False)\ng(max_num_seqs=8)\n"


def test_what_may_not_be_fixed_stays(project: Path) -> None:
    (project / "a.py").write_text(DIRTY)
    assert codes(check(action=Action.FIX, unfixable=("eager-mode",))) == ["a.py:1:ECO301"]
    assert (project / "a.py").read_text() == DIRTY


def test_comments_are_added_on_request(project: Path) -> None:
    (project / "a.py").write_text(DIRTY)
    result = check(action=Action.SILENCE)
    assert len(result.fixed) == 1
    assert (project / "a.py").read_text() == DIRTY.strip() + "  # ecolint: ignore[ECO301]\n"
    assert codes(check()) == []


def test_text_from_nowhere_is_checked_as_the_file_it_stands_for(project: Path) -> None:
    hierarchy = Hierarchy({"fix": True, "force_exclude": True}, isolated=True)
    result, after = run_text(DIRTY.encode(), "src/a.py", hierarchy, Action.FIX)
    assert (result.diagnostics, after) == ((), b"f(enforce_eager=False)\n")
    result, after = run_text(DIRTY.encode(), "build/a.py", hierarchy, Action.FIX)
    assert (result.fixed, after) == ((), DIRTY.encode())
    result, after = run_text(b"x = 1\n", "a.py", hierarchy)
    assert (result.files, result.diagnostics, after) == (1, (), b"x = 1\n")
    result, _ = run_text(DIRTY.encode(), "tests/a.py", hierarchy)
    assert result.diagnostics == ()


# --- what a file and its project tell ---------------------------------------------------------


def context_of(*facts: Any, **settings: Any) -> Context:
    return Project.from_settings(Settings(**settings)).context(
        document_of("\nL4 A100\n"), Facts(list(facts))
    )


def test_a_file_names_its_own_gpu() -> None:
    context = context_of(Hardware(Span(1, 3), "L4"))
    assert context.gpu == Known("L4", "a.py:2")
    assert context_of(Hardware(Span(1, 3), "a card of ours")).gpu is None


def test_two_gpus_leave_it_open_and_tell_why() -> None:
    context = context_of(Hardware(Span(1, 3), "L4"), Hardware(Span(4, 8), "T4"))
    assert context.gpu is None
    assert context.gpu_conflict == "a.py names L4 and Tesla T4"
    assert context_of(Hardware(Span(1, 3), "L4"), Hardware(Span(4, 8), "nvidia l4")).gpu


def test_what_the_user_states_wins() -> None:
    package = Package(Span(1, 3), "bits_and_bytes", version="0.40")
    context = context_of(
        Hardware(Span(1, 3), "L4"),
        package,
        gpu="T4",
        model="7B",
        stack={"bits-and-bytes": "0.50"},
    )
    assert (context.gpu, context.model) == (Known("T4", "--gpu"), Known("7B", "--model"))
    assert context.versions() == {"bits-and-bytes": "0.50"}
    assert context_of(package).versions() == {"bits-and-bytes": "0.40"}


def test_a_package_pinned_twice_is_not_known() -> None:
    pins = [Package(Span(1, 3), "torch", version=version) for version in ("2.1", "2.2")]
    assert context_of(*pins).versions() == {}


def test_a_document_is_linted_without_touching_anything(project: Path) -> None:
    document = document_of(DIRTY)
    scope = Scope.of("a.py", Settings(gpu="L4"), Project.from_settings(Settings(gpu="L4")))
    (found,) = lint_document(document, scope)
    assert (found.code, found.gpu, found.line) == ("ECO301", "L4", DIRTY.strip())
    assert found.fix_locations[0].location.column == 17
    assert list(project.iterdir()) == []


# --- start-up ---------------------------------------------------------------------------------

HEAVY = (
    "libcst", "yaml", "ruamel", "rich", "pathspec", "importlib.metadata", "tomllib", "dataclasses",
    "inspect", "json", "hashlib", "ecolint.document", "ecolint.rule", "ecolint.registry",
    "multiprocessing", "concurrent.futures", "tempfile",
)  # fmt: skip


def test_files_that_do_not_matter_import_nothing_heavy(project: Path) -> None:
    for number in range(5):
        (project / f"f{number}.py").write_text("import os\n\nprint(os.name)\n")
    code = (
        "import sys\nfrom ecolint.runner import run\nfrom ecolint.settings import Hierarchy\n"
        "result = run(['.'], Hierarchy({}))\n"
        f"print(result.files, [name for name in {HEAVY!r} if name in sys.modules])"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{code}"],
        cwd=project, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "5 []\n"
