"""`ecolint data`: tables, filters, formats and the check."""

import csv
import io
import json
from dataclasses import replace

import pytest

from ecolint.cli import main
from ecolint.energy import checking
from ecolint.energy.dataset import find_row, read_table


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["data", *words]) == 0
    return capsys.readouterr().out


def test_the_tables_are_listed_with_the_citation(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys)
    assert "measurements" in text
    assert str(len(read_table("measurements"))) in text
    assert "10.5281/zenodo.19647290" in text


@pytest.mark.parametrize(
    "name",
    [
        "measurements",
        "serving",
        "sessions",
        "models",
        "gpus",
        "gpu-patterns",
        "grids",
        "pue",
        "equivalences",
        "crossovers",
        "parameters",
    ],
)
def test_every_table_is_shown_in_every_format(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = shown(capsys, name)
    as_json = json.loads(shown(capsys, name, "--format", "json"))
    as_csv = list(csv.DictReader(io.StringIO(shown(capsys, name, "--format", "csv"))))
    assert as_json == as_csv
    assert len(table.splitlines()) == len(as_json) + 1


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (["gpu=a800", "precision=fp16"], 7),
        (["gpu=A800", "precision=FP16", "batch>1"], 2),
        (["precision=int8-pure", "batch>=32"], 2),
        (["grade=X"], 50),
        (["id=a800-20260215-mistral7b-int8_pure-bs64"], 1),
        (["no-such-word"], 0),
    ],
)
def test_filters_narrow(filters: list[str], count: int, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for one in filters for word in ("--filter", one)]
    assert len(json.loads(shown(capsys, "measurements", "--format", "json", *words))) == count


def test_a_word_is_found_in_any_column(capsys: pytest.CaptureFixture[str]) -> None:
    lines = json.loads(shown(capsys, "gpus", "--filter", "hopper", "--format", "json"))
    assert {"h100", "h200"} <= {line["gpu"] for line in lines}


def test_inequality_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    lines = json.loads(shown(capsys, "measurements", "--filter", "grade!=A", "--format", "json"))
    assert "A" not in {line["grade"] for line in lines}


def test_the_check_passes_on_what_ships(capsys: pytest.CaptureFixture[str]) -> None:
    assert "0 violations" in shown(capsys, "check")
    assert json.loads(shown(capsys, "check", "--format", "json")) == []


def test_the_check_fails_on_a_bad_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = find_row("a800-20260226-qwen2.5-14b-fp16")
    assert row is not None
    bad = (replace(row, power_w=999.0),)
    monkeypatch.setattr(checking, "rows", lambda: bad)
    assert main(["data", "check"]) == 1
    assert "999 W a card is above its limit" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["measurement"], "did you mean 'measurements'"),
        (["sessions", "--filter", "gpux=3"], "did you mean 'gpu'"),
        (["sessions", "--filter", "idle_w>low"], "'low' is no number"),
    ],
)
def test_a_bad_question_gets_one_line(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", *words]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
