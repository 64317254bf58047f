"""The command line: what is printed where, and with which exit status."""

import io
import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ecolint.cli
from ecolint import __version__
from ecolint.cli import COMMANDS, main
from ecolint.cli.arguments import read_hierarchy
from ecolint.cli.progress import Progress
from ecolint.settings import Settings

# One finding with a safe fix (use_cache) and one with an unsafe fix (load_in_8bit).
WASTEFUL = """\
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

model = AutoModelForCausalLM.from_pretrained(
    "mistralai/Mistral-7B-Instruct-v0.3",
    quantization_config=BitsAndBytesConfig(load_in_8bit=True),
    device_map="cuda",
)
out = model.generate(**inputs, use_cache=False)
"""
SAFELY_FIXED = WASTEFUL.replace("use_cache=False", "use_cache=True")
FIXED = SAFELY_FIXED.replace("load_in_8bit=True", "load_in_8bit=True, llm_int8_threshold=0.0")
HEADS = ["serve.py:5:44: ECO101 [red] ", "serve.py:8:32: ECO502 [red] "]

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("ECOLINT_") or name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def serve(project: Path) -> Path:
    path = project / "serve.py"
    path.write_text(WASTEFUL, encoding="utf-8")
    return path


def feed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stdin)


def heads(text: str) -> list[str]:
    return [line[: line.index("] ") + 2] for line in text.splitlines() if "] " in line[:60]]


# --- the front door ---


@pytest.mark.parametrize("words", [["version"], ["--version"], ["-V"]])
def test_the_version_is_told_without_parsing(
    words: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ecolint.cli, "build_parser", None)
    assert main(words) == 0
    assert capsys.readouterr().out == f"ecolint {__version__}\n"


def test_the_version_as_json(capsys: Capture) -> None:
    assert main(["version", "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"version": __version__}


def test_help_names_every_command(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"    {name} " in text for name in COMMANDS)


def test_no_words_at_all_get_help_and_a_failure(capsys: Capture) -> None:
    assert main([]) == 2
    assert "usage: ecolint" in capsys.readouterr().out


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_explains_itself(command: str, capsys: Capture) -> None:
    assert main([command, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: ecolint {command} ")


def test_a_path_alone_is_checked(serve: Path, capsys: Capture) -> None:
    assert main(["serve.py"]) == 1
    assert heads(capsys.readouterr().out) == HEADS


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["chekc"], "ecolint: chekc: no such command, file or folder; did you mean 'check'?"),
        (
            ["check", "--unsafe-fix"],
            "unknown option '--unsafe-fix'; did you mean '--unsafe-fixes'?",
        ),
        (["check", "--sel", "ECO1"], "unknown option '--sel'"),
        (["check", "--select"], "argument --select: expected one argument"),
        (["check", "--select", "ECO9999"], "ecolint: --select: unknown rule 'ECO9999'"),
        (["check", "--ignore", "kv-cache-disable"], "did you mean 'kv-cache-disabled'?"),
        (["check", "--jobs", "-2"], "takes a whole number, not '-2'"),
        (["check", "--color", "red"], "argument --color: invalid choice: 'red'"),
        (["check", "--output-format", "jsn"], "unknown format 'jsn'; did you mean 'json'?"),
        (["check", "-o", "jsno:x.json"], "unknown format 'jsno'; did you mean 'json'?"),
        (["check", "--gpu", "RTX 9999"], "ecolint: --gpu: unknown GPU 'RTX 9999'"),
        (["check", "--model", "mystery"], "ecolint: --model: unknown model 'mystery'"),
        (["check", "--stack", "torch"], "ecolint: --stack: 'torch': write NAME=VERSION"),
        (["check", "--stack", "torch=new"], "ecolint: --stack: torch = 'new' is no version"),
        (["check", "--per-file-ignores", "ECO101"], "'ECO101' names no file; write GLOB:CODE"),
        (["check", "--config", "nope.toml"], "nope.toml: No such file or directory"),
        (["check", "--config", "fxi = 1"], "--config: unknown key 'fxi'; did you mean 'fix'?"),
        (["check", "--config", "a.toml", "--config", "b.toml"], "two files, a.toml and b.toml"),
        (["check", "--isolated", "--config", "a.toml"], "can't go with --config FILE"),
        (["check", "-", "serve.py"], "'-' (stdin) can't be checked together with files"),
        (["check", "--stdin-filename", "a.py", "b.py"], "--stdin-filename needs '-'"),
        (["check", "-", "--add-noqa"], "--add-noqa needs files to write to, not stdin"),
        (["check", "-", "--watch"], "--watch needs files, not stdin"),
        (["check", "nope.py"], "ecolint: nope.py: no such file or folder"),
        (["rule", "ECO9999"], "ecolint: unknown rule 'ECO9999'"),
        (["config", "stak"], "ecolint: unknown setting 'stak'; did you mean 'stack'?"),
        (["completion", "nosh"], "no completion for 'nosh', only for bash"),
    ],
)
def test_a_mistake_gets_one_line_and_status_2(
    words: list[str], message: str, serve: Path, capsys: Capture
) -> None:
    if words[0] == "completion":
        pytest.importorskip("shtab")
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_a_broken_configuration_gets_one_line_and_status_2(serve: Path, capsys: Capture) -> None:
    Path("pyproject.toml").write_text("[tool.ecolint]\nslect = []\n")
    assert main(["check"]) == 2
    assert capsys.readouterr().err == (
        "ecolint: pyproject.toml:2: unknown key 'slect'; did you mean 'select'?\n"
    )


# --- when things go wrong inside ---


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(words: list[str]) -> int:
        raise error

    monkeypatch.setattr(ecolint.cli, "_run", run)


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    failing(monkeypatch, KeyboardInterrupt())
    assert main(["check"]) == 130
    assert capsys.readouterr() == ("", "")


def test_an_error_of_ours_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    failing(monkeypatch, ZeroDivisionError("by\nzero"))
    assert main(["check"]) == 2
    captured = capsys.readouterr()
    said = "ecolint: internal error: ZeroDivisionError: by zero (test_cli.py:"
    assert captured.err.startswith(said)
    assert captured.err.count("\n") == 1


def test_a_traceback_can_be_had(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("ECOLINT_TRACEBACK", "1")
    failing(monkeypatch, ZeroDivisionError("zero"))
    assert main(["check"]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_a_reader_that_leaves_early_is_no_error(serve: Path) -> None:
    serve.write_text(WASTEFUL + "out = model.generate(**inputs, use_cache=False)\n" * 3000)
    process = subprocess.Popen(
        [sys.executable, "-m", "ecolint", "check", "--no-cache", "serve.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(ecolint.__file__).parents[1])},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141


def test_a_terminal_without_unicode_gets_escapes(serve: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ecolint", "check", "--no-cache", "serve.py"],
        capture_output=True,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(ecolint.__file__).parents[1]),
            "PYTHONIOENCODING": "ascii",
        },
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.isascii()
    assert done.stderr == b""


# --- check: findings and statuses ---


def test_findings_and_their_summary(serve: Path, capsys: Capture) -> None:
    assert main(["check", "serve.py"]) == 1
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert heads(captured.out) == HEADS
    assert lines[-1] == "Found 2 findings. 1 fixable with --fix (1 more with --unsafe-fixes)."
    assert captured.err == ""


def test_nothing_found(project: Path, capsys: Capture) -> None:
    (project / "a.py").write_text("x = 1\n")
    assert main(["check"]) == 0
    assert capsys.readouterr() == ("All checks passed!\n", "")


def test_no_files_at_all_is_said_and_is_no_failure(capsys: Capture) -> None:
    assert main(["check"]) == 0
    assert capsys.readouterr() == ("All checks passed!\n", "ecolint: no files to check here\n")


def test_a_missing_path_fails_but_the_rest_is_checked(serve: Path, capsys: Capture) -> None:
    assert main(["check", "nope.py", "serve.py"]) == 2
    captured = capsys.readouterr()
    assert heads(captured.out) == HEADS
    assert captured.err == "ecolint: nope.py: no such file or folder\n"


@pytest.mark.parametrize(
    ("flags", "status", "codes"),
    [
        (["--select", "ECO5"], 1, ["ECO502"]),
        (["--select", "ECO1,kv-cache-disabled"], 1, ["ECO101", "ECO502"]),
        (["--select", "eco1", "--select", "ECO5"], 1, ["ECO101", "ECO502"]),
        (["--ignore", "ECO101"], 1, ["ECO502"]),
        (["--select", "ECO2"], 0, []),
        (["--select", "ECO2", "--extend-select", "ECO101"], 1, ["ECO101"]),
        (["--per-file-ignores", "serve.py:ECO101,ECO502"], 0, []),
        (["--per-file-ignores", "other.py:ALL"], 1, ["ECO101", "ECO502"]),
        (["--config", "select = ['ECO5']"], 1, ["ECO502"]),
        (["--exit-zero"], 0, ["ECO101", "ECO502"]),
        (["-q"], 1, ["ECO101", "ECO502"]),
        (["-s"], 1, []),
        (["--extend-exclude", "serve.py"], 0, []),
        (["--exclude", "*.txt"], 1, ["ECO101", "ECO502"]),
    ],
)
def test_which_findings_are_printed(
    flags: list[str], status: int, codes: list[str], serve: Path, capsys: Capture
) -> None:
    assert main(["check", *flags]) == status
    out = capsys.readouterr().out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("serve.py:")] == codes


def test_force_exclude_holds_for_files_that_are_named(serve: Path, capsys: Capture) -> None:
    words = ["check", "serve.py", "--extend-exclude", "serve.py"]
    assert main(words) == 1
    assert main([*words, "--force-exclude"]) == 0
    assert main([*words, "--force-exclude", "--no-force-exclude"]) == 1


def test_quiet_prints_findings_only(serve: Path, capsys: Capture) -> None:
    assert main(["check", "-q"]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 2
    serve.write_text("")
    assert main(["check", "-q"]) == 0
    assert capsys.readouterr() == ("", "")


def test_silent_prints_nothing(serve: Path, capsys: Capture) -> None:
    assert main(["check", "-s"]) == 1
    assert capsys.readouterr() == ("", "")


def test_verbose_says_what_was_done(serve: Path, capsys: Capture) -> None:
    Path("ecolint.toml").write_text("")
    serve.write_text(WASTEFUL.replace("use_cache=False)", "use_cache=False)  # noqa"))
    assert main(["check", "-v"]) == 1
    err = capsys.readouterr().err
    assert "settings: " in err
    assert "ecolint.toml" in err
    assert "2 files read, 1 finding silenced by comments" in err


def test_suppressed_findings_can_be_shown(serve: Path, capsys: Capture) -> None:
    serve.write_text(WASTEFUL.replace("use_cache=False)", "use_cache=False)  # noqa: ECO502"))
    assert main(["check"]) == 1
    assert heads(capsys.readouterr().out) == HEADS[:1]
    assert main(["check", "--ignore-noqa"]) == 1
    assert heads(capsys.readouterr().out) == HEADS


def test_what_is_said_of_the_project_reaches_the_findings(serve: Path, capsys: Capture) -> None:
    words = ["check", "--output-format", "json", "--gpu", "T4", "--stack", "torch=2.9"]
    assert main(words) == 1
    assert {one["gpu"] for one in json.loads(capsys.readouterr().out)} == {"T4"}


def test_the_nearest_settings_hold_for_each_file(serve: Path, capsys: Capture) -> None:
    inner = Path("inner")
    inner.mkdir()
    (inner / "serve.py").write_text(WASTEFUL)
    (inner / "ecolint.toml").write_text("ignore = ['ECO101']")
    Path("ecolint.toml").write_text("ignore = ['ECO502']")
    assert main(["check"]) == 1
    assert heads(capsys.readouterr().out) == [
        "inner/serve.py:8:32: ECO502 [red] ",
        "serve.py:5:44: ECO101 [red] ",
    ]


def test_the_readme_shows_what_is_printed(project: Path, capsys: Capture) -> None:
    page = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
    snippet = page.partition("```python\n")[2].partition("```\n")[0]
    assert snippet.count("\n") == 6
    (project / "serve.py").write_text(snippet)
    assert main(["check", "--gpu", "RTX 5090", "--output-format", "full"]) == 1
    command = '```console\n$ ecolint check --gpu "RTX 5090" --output-format full\n'
    assert f"{command}{capsys.readouterr().out}```\n" in page


# --- formats and targets ---


def test_json_is_the_findings_and_nothing_else(serve: Path, capsys: Capture) -> None:
    assert main(["check", "--output-format", "json"]) == 1
    captured = capsys.readouterr()
    assert [one["code"] for one in json.loads(captured.out)] == ["ECO101", "ECO502"]
    serve.write_text("")
    assert main(["check", "--output-format", "json"]) == 0
    assert capsys.readouterr().out == "[]\n"


def test_what_is_printed_keeps_to_the_schema(serve: Path, capsys: Capture) -> None:
    lines = WASTEFUL.splitlines(keepends=True)
    cell = {"cell_type": "code", "source": lines, "metadata": {}, "outputs": []}
    first = {**cell, "source": ["import torch\n"]}
    book = {"cells": [first, cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    Path("nb.ipynb").write_text(json.dumps(book))
    Path("broken.py").write_text("load_in_8bit=True\n)\n")
    assert main(["check", "--output-format", "json", "--show-green"]) == 1
    found = json.loads(capsys.readouterr().out)
    schema = files("ecolint.output").joinpath("schema.json").read_text("utf-8")
    jsonschema.Draft202012Validator(json.loads(schema)).validate(found)
    assert {"broken.py", "nb.ipynb", "serve.py"} == {one["filename"] for one in found}
    assert {one["cell"] for one in found} == {None, 2}


def test_globs_count_from_here_whatever_the_folder_is_called(
    project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project / "a[1]{x}"
    (folder / "sub").mkdir(parents=True)
    (project / "ecolint.toml").write_text("")
    (folder / "sub" / "serve.py").write_text(WASTEFUL)
    monkeypatch.chdir(folder)
    assert main(["check"]) == 1
    assert main(["check", "--extend-exclude", "sub/*.py"]) == 0
    assert main(["check", "--per-file-ignores", "sub/*.py:ALL"]) == 0


def test_the_format_comes_from_the_environment_or_a_file(
    serve: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("ecolint.toml").write_text('output-format = "json"')
    assert main(["check"]) == 1
    assert capsys.readouterr().out.startswith("[\n")
    monkeypatch.setenv("ECOLINT_OUTPUT_FORMAT", "jsonl")
    assert main(["check"]) == 1
    assert capsys.readouterr().out.startswith("{")
    assert main(["check", "--output-format", "text"]) == 1
    assert capsys.readouterr().out.startswith("serve.py:5:44")
    monkeypatch.setenv("ECOLINT_OUTPUT_FORMAT", "xml")
    assert main(["check"]) == 2
    assert "ECOLINT_OUTPUT_FORMAT: unknown format 'xml'" in capsys.readouterr().err


def test_several_formats_in_one_run(serve: Path, capsys: Capture) -> None:
    assert main(["check", "-o", "json:a.json", "-o", "full:a.txt"]) == 1
    assert heads(capsys.readouterr().out) == HEADS
    assert len(json.loads(Path("a.json").read_text())) == 2
    assert "   |  " not in Path("a.json").read_text()
    assert "^^^^" in Path("a.txt").read_text(encoding="utf-8")


def test_a_file_without_a_format_takes_the_place_of_stdout(serve: Path, capsys: Capture) -> None:
    assert main(["check", "-o", "out.txt", "--color", "always"]) == 1
    assert heads(capsys.readouterr().out) == []
    text = Path("out.txt").read_text(encoding="utf-8")
    assert heads(text) == HEADS
    assert "\x1b" not in text


def test_a_file_that_cannot_be_written_is_told(serve: Path, capsys: Capture) -> None:
    assert main(["check", "-o", "nowhere/out.txt"]) == 2
    assert capsys.readouterr().err == "ecolint: nowhere/out.txt: No such file or directory\n"


def test_statistics_take_the_place_of_the_findings(serve: Path, capsys: Capture) -> None:
    assert main(["check", "--statistics"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1\tECO101\t[ ] int8-mixed-decomposition"
    assert lines[1] == "1\tECO502\t[*] kv-cache-disabled"
    assert lines[2].startswith("Found 2 findings.")


def test_colours_on_demand(serve: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    main(["check", "--color", "always"])
    assert "\x1b[1;31mECO101\x1b[0m" in capsys.readouterr().out
    main(["check"])
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    main(["check"])
    assert "\x1b" in capsys.readouterr().out


# --- fixes ---


def test_fix_applies_safe_fixes(serve: Path, capsys: Capture) -> None:
    assert main(["check", "--fix"]) == 1
    out = capsys.readouterr().out
    assert serve.read_text() == SAFELY_FIXED
    assert heads(out) == HEADS[:1]
    assert out.splitlines()[-1] == (
        "Found 2 findings (1 fixed, 1 remaining). 1 fixable with --fix --unsafe-fixes."
    )


def test_unsafe_fixes_are_applied_when_asked_for(serve: Path, capsys: Capture) -> None:
    assert main(["check", "--fix", "--unsafe-fixes"]) == 0
    assert serve.read_text() == FIXED
    assert capsys.readouterr().out == "Found 2 findings (2 fixed, 0 remaining).\n"
    assert main(["check", "--fix", "--unsafe-fixes"]) == 0
    assert serve.read_text() == FIXED


def test_fixing_can_be_made_to_fail_the_run(serve: Path, capsys: Capture) -> None:
    words = ["check", "--fix", "--unsafe-fixes", "--exit-non-zero-on-fix", "--exit-zero"]
    assert main(words) == 1
    assert main(words) == 0


def test_fix_only_is_silent_about_the_rest(serve: Path, capsys: Capture) -> None:
    assert main(["check", "--fix-only"]) == 0
    assert serve.read_text() == SAFELY_FIXED
    assert capsys.readouterr().out == "Found 1 finding (1 fixed, 0 remaining).\n"


def test_fixes_can_be_listed(serve: Path, capsys: Capture) -> None:
    main(["check", "--fix", "--show-fixes", "--select", "ECO5"])
    assert capsys.readouterr().out == (
        "Fixed 1 finding:\n- serve.py:\n    1 × ECO502 (kv-cache-disabled)\n\n"
        "Found 1 finding (1 fixed, 0 remaining).\n"
    )


def test_a_diff_changes_nothing(serve: Path, capsys: Capture) -> None:
    assert main(["check", "--diff"]) == 1
    captured = capsys.readouterr()
    assert serve.read_text() == WASTEFUL
    assert captured.out.startswith("--- serve.py\n+++ serve.py\n@@ ")
    assert "-out = model.generate(**inputs, use_cache=False)\n" in captured.out
    assert captured.err == "Would fix 1 finding.\n"
    assert main(["check", "--diff", "--exit-zero"]) == 0
    assert main(["check", "--diff", "--select", "ECO2"]) == 0


def test_settings_may_switch_fixing_on_and_a_flag_off(serve: Path, capsys: Capture) -> None:
    Path("ecolint.toml").write_text("fix = true")
    assert main(["check", "--no-fix"]) == 1
    assert serve.read_text() == WASTEFUL
    assert main(["check"]) == 1
    assert serve.read_text() == SAFELY_FIXED


def test_a_rule_that_is_unfixable_gets_no_star(serve: Path, capsys: Capture) -> None:
    Path("ecolint.toml").write_text("unfixable = ['ECO502']")
    assert main(["check", "--fix"]) == 1
    assert serve.read_text() == WASTEFUL
    assert "[*]" not in capsys.readouterr().out


def test_comments_are_added_for_what_is_found(serve: Path, capsys: Capture) -> None:
    assert main(["check", "--add-noqa"]) == 0
    assert capsys.readouterr().out == "Silenced 2 findings.\n"
    assert serve.read_text().count("# ecolint: ignore[ECO") == 2
    assert main(["check"]) == 0


# --- stdin ---


def test_stdin_is_checked_under_its_name(
    project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "inner").mkdir()
    (project / "inner" / "ecolint.toml").write_text("ignore = ['ECO101']")
    feed(monkeypatch, WASTEFUL)
    assert main(["check", "-", "--stdin-filename", "inner/x.py"]) == 1
    assert heads(capsys.readouterr().out) == ["inner/x.py:8:32: ECO502 [red] "]


def test_stdin_without_a_name_is_python(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, WASTEFUL)
    assert main(["check", "-"]) == 1
    assert [head[:3] for head in heads(capsys.readouterr().out)] == ["-:5", "-:8"]


def test_stdin_with_fix_goes_to_stdout_and_the_rest_to_stderr(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    feed(monkeypatch, WASTEFUL)
    assert main(["check", "--fix", "-", "--stdin-filename", "serve.py"]) == 1
    captured = capfdbinary.readouterr()
    assert captured.out.decode() == SAFELY_FIXED
    assert heads(captured.err.decode()) == HEADS[:1]


def test_stdin_that_is_excluded_comes_back_as_it_was(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    feed(monkeypatch, WASTEFUL)
    words = ["check", "--fix", "-", "--stdin-filename", "x.py", "--extend-exclude", "x.py"]
    assert main([*words, "--force-exclude"]) == 0
    assert capfdbinary.readouterr().out.decode() == WASTEFUL


# --- what would be checked, and how ---


def test_files_can_be_listed_without_checking(serve: Path, capsys: Capture) -> None:
    Path("sub").mkdir()
    Path("sub/a.ipynb").write_text("not even json")
    Path("sub/notes.txt").write_text("")
    assert main(["check", "--show-files"]) == 0
    assert capsys.readouterr().out.splitlines() == ["serve.py", "sub/a.ipynb"]
    assert main(["check", "--show-files", "nope"]) == 2


def test_settings_can_be_shown_and_read_back(serve: Path, capsys: Capture) -> None:
    Path("ecolint.toml").write_text(
        'gpu = "L4"\njobs = 2\n[per-file-ignores]\n"a b.py" = ["ECO1"]\n[stack]\ntorch = "2.9"\n'
    )
    assert main(["check", "--show-settings", "serve.py", "--ignore", "ECO2"]) == 0
    shown = capsys.readouterr().out
    assert f"# from: {Path('ecolint.toml').absolute()}\n" in shown
    Path("other").mkdir()
    Path("other/ecolint.toml").write_text(shown)
    again = read_hierarchy(parsed("check")).of_folder("other")
    first = read_hierarchy(parsed("check", "--ignore", "ECO2")).of_folder(".")
    assert again._replace(root="", source=None) == first._replace(root="", source=None)


def parsed(*words: str) -> Any:
    return ecolint.cli.build_parser(("check",)).parse_args(words)


def settings_of(*flags: str) -> Settings:
    return read_hierarchy(parsed("check", *flags)).of_folder(".")


def test_flags_become_settings(project: Path) -> None:
    settings = settings_of(
        "--gpu", "l4", "--model", "7B", "--stack", "torch=2.9,bitsandbytes==0.50", "--stack",
        "Trans_Formers=5.0", "--jobs", "3", "--no-cache", "--cache-dir", "c", "--include-tests",
        "--show-green", "--no-respect-gitignore", "--exclude", "a,b/*.py", "--unsafe-fixes",
        "--per-file-ignores", "!keep.py:ECO1,ECO201,sub/x.py:ALL",
    )  # fmt: skip
    here = str(project)
    assert settings.gpu == "l4"
    assert settings.model == "7B"
    assert settings.stack == {"torch": "2.9", "bitsandbytes": "0.50", "trans-formers": "5.0"}
    assert settings.jobs == 3
    assert settings.cache is False
    assert settings.cache_dir == os.path.join(here, "c")
    assert settings.include_tests
    assert settings.show_green
    assert settings.unsafe_fixes
    assert settings.respect_gitignore is False
    assert settings.exclude == ("a", os.path.join(here, "b/*.py"))
    assert settings.per_file_ignores == (
        ("!keep.py", ("ECO1", "ECO201")),
        (os.path.join(here, "sub/x.py"), ("ALL",)),
    )


def test_the_environment_stands_between_files_and_flags(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("ecolint.toml").write_text('cache = true\ncache-dir = "one"')
    monkeypatch.setenv("ECOLINT_NO_CACHE", "1")
    monkeypatch.setenv("ECOLINT_CACHE_DIR", "two")
    assert settings_of().cache is False
    assert settings_of().cache_dir == str(project / "two")
    assert settings_of("--config", "cache = true").cache is True
    assert settings_of("--cache-dir", "three").cache_dir == str(project / "three")


# --- extras ---


def without(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """Make a module look as if it were not installed."""
    monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.parametrize(
    ("words", "module", "extra"),
    [
        (["check", "--watch"], "watchfiles", "ecolint[watch]"),
        (["completion", "bash"], "shtab", "ecolint[completion]"),
    ],
)
def test_a_missing_extra_is_named(
    words: list[str], module: str, extra: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    without(monkeypatch, module)
    assert main(words) == 2
    err = capsys.readouterr().err
    assert f"pip install '{extra}'" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_commands_and_flags(shell: str, capsys: Capture) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "--unsafe-fixes" in script
    assert "measure" in script


def test_watching_checks_again_after_each_change(
    serve: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    watchfiles = pytest.importorskip("watchfiles")
    watched: dict[str, Any] = {}

    def changes(*paths: str, watch_filter: Any, raise_interrupt: bool) -> Any:
        watched.update(paths=paths, filter=watch_filter)
        serve.write_text(SAFELY_FIXED)
        yield {(watchfiles.Change.modified, str(serve))}
        Path("ecolint.toml").write_text("slect = []")
        yield {(watchfiles.Change.added, "ecolint.toml")}

    monkeypatch.setattr(watchfiles, "watch", changes)
    assert main(["check", "--watch"]) == 0
    captured = capsys.readouterr()
    assert heads(captured.out) == [*HEADS, HEADS[0]]
    assert "ecolint.toml:1: unknown key 'slect'" in captured.err
    assert captured.err.count("Watching for changes") == 3
    assert watched["paths"] == (".",)
    assert watched["filter"](watchfiles.Change.modified, str(serve))
    cache = str(serve.parent / ".ecolint_cache" / "x.json")
    assert not watched["filter"](watchfiles.Change.modified, cache)


@pytest.mark.parametrize("rich", [True, False])
def test_progress_shows_after_a_second_and_leaves_no_trace(
    rich: bool, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rich:
        pytest.importorskip("rich")
    else:
        without(monkeypatch, "rich.console")
    now = [0.0]
    monkeypatch.setattr("ecolint.cli.progress.time.monotonic", lambda: now[0])
    progress = Progress()
    progress(1, 90)
    assert capsys.readouterr().err == ""
    now[0] = 1.5
    progress(2, 90)
    progress.close()
    err = capsys.readouterr().err
    if not rich:
        assert err == "\rChecking: 2 of 90 files\r\x1b[K"
    now[0] = 1.0
    quick = Progress()
    quick(1, 90)
    quick.close()
    assert capsys.readouterr().err == ""


# --- start-up ---


def test_a_run_that_finds_nothing_imports_nothing_heavy(project: Path) -> None:
    (project / "a.py").write_text("x = 1\n")
    code = (
        "import sys; from ecolint.cli import main; status = main(['check', 'a.py']); "
        "print(*sys.modules, file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(ecolint.__file__).parents[1])},
        check=True,
    )
    assert done.stdout == "All checks passed!\n"
    heavy = {"libcst", "yaml", "rich", "flake8", "dataclasses", "inspect", "ast", "json", "pathlib"}
    heavy |= {"shutil", "tomllib", "ecolint.registry", "ecolint.diagnostics", "importlib.metadata"}
    modules = set(done.stderr.split())
    assert "argparse" in modules
    assert not heavy & modules
