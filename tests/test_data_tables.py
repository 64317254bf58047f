"""The dataset: whole, credited, and within physics."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ecolint.catalog import find_gpu, gpu_for_label, gpu_keys
from ecolint.energy.checking import check_row, check_rows
from ecolint.energy.crossing import crossings
from ecolint.energy.dataset import (
    TABLES,
    Grade,
    Row,
    cite,
    find_row,
    read_table,
    rows,
    serving_rows,
    sessions,
    usable_rows,
)
from ecolint.energy.ratios import ratio_to_fp16

ROOT = Path(__file__).parents[1]
KEYS = {
    "sessions": "session",
    "models": "model",
    "gpus": "gpu",
    "grid": "region",
    "pue": "provider",
}


def row(row_id: str) -> Row:
    found = find_row(row_id)
    assert found is not None, row_id
    return found


@pytest.mark.parametrize("name", TABLES)
def test_every_line_has_an_id_a_source_and_a_licence(name: str) -> None:
    lines = read_table(name)
    ids = [line[KEYS.get(name, "id")] for line in lines]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    assert all(line["source"] and line["licence"] for line in lines)


@pytest.mark.parametrize("name", TABLES)
def test_the_dictionary_explains_every_column(name: str) -> None:
    readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    section = next(part for part in readme.split("\n### ") if f"{name}.csv" in part.splitlines()[0])
    named = set(re.findall(r"[a-z_0-9]+", section))
    assert set(read_table(name)[0]) <= named


def test_every_table_is_listed() -> None:
    shipped = {path.stem for path in (ROOT / "data").glob("*.csv")}
    assert shipped == set(TABLES)


def test_rows_in_use_obey_physics() -> None:
    assert check_rows() == []


@pytest.mark.parametrize(
    ("changes", "law"),
    [
        ({"power_w": 480.0}, "above its limit"),
        ({"power_w": 16.0}, "idle"),
        ({"energy_j_per_1k": 4000.0}, "power over throughput"),
        ({"throughput_tok_s": 120.0}, "memory can feed"),
        ({"gpu": "rtx9999"}, "unknown card"),
        ({"baseline": "nowhere"}, "is no row"),
        ({"baseline": "a800-20260226-yi-1.5-9b-fp16"}, "another session"),
    ],
)
def test_a_row_against_physics_is_caught(changes: dict[str, Any], law: str) -> None:
    sound = replace(row("rtx4090d-202602b-yi6-fp16"), energy_vs_fp16_pct=0.0)
    assert list(check_row(sound)) == []
    assert any(law in one.law for one in check_row(replace(sound, **changes)))


def test_a_percentage_that_its_energies_deny_is_caught() -> None:
    sound = row("rtx4090d-202602b-yi6-nf4")
    assert list(check_row(sound)) == []
    assert any("two energies" in v.law for v in check_row(replace(sound, energy_vs_fp16_pct=-9.0)))


def test_nothing_graded_c_d_or_x_is_used() -> None:
    used = usable_rows("transformers") + usable_rows("vllm") + usable_rows("llama.cpp")
    assert {one.grade for one in used} == {Grade.A, Grade.A_MINUS, Grade.B}
    kept = [one for one in rows() if not one.usable]
    assert len(kept) == 83
    assert {"t4-md", "ssrn-table3", "practitioner"} <= {one.session.id for one in kept}


def test_the_citation_counts_what_ships() -> None:
    assert f"{sum(one.usable for one in rows())} measured configurations" in cite()
    assert f"and {len(serving_rows())} of" in cite()
    assert "360" not in cite()


def test_every_row_belongs_to_a_session_of_its_card() -> None:
    for one in (*rows(), *serving_rows()):
        # One preprint table compares two cards, and is never used.
        assert one.gpu == one.session.gpu or not one.usable, one.id
    assert {one.gpu for one in sessions().values()} <= set(gpu_keys())


def test_patterns_name_known_cards_and_compile() -> None:
    for line in read_table("gpu_patterns"):
        assert not line["gpu"] or line["gpu"] in gpu_keys(), line["id"]
        if line["kind"] != "k8s_label_key":
            re.compile(line["pattern"])


@pytest.mark.parametrize(
    "line", [ln for ln in read_table("gpu_patterns") if ln["kind"] == "nvml_name"]
)
def test_driver_names_mean_their_card_both_ways(line: dict[str, str]) -> None:
    name = line["pattern"].strip("^$")
    by_label, by_name = gpu_for_label("nvml_name", name), find_gpu(name)
    assert by_label is not None
    assert by_name is not None
    assert by_label.key == line["gpu"]
    assert by_name.architecture == by_label.architecture


def test_computed_crossovers_are_those_of_the_rows() -> None:
    shipped = {ln["session"]: ln for ln in read_table("crossovers") if ln["kind"] == "computed"}
    found = {one.session.id: one for one in crossings()}
    assert shipped.keys() == found.keys()
    for session, one in found.items():
        assert shipped[session]["rows"] == "|".join(one.rows)
        size = f"{one.size_b:.2f}" if one.size_b else ""
        assert shipped[session]["size_b"] == size


@pytest.mark.parametrize(
    ("row_id", "gross_pct"),
    [
        ("rtx4090d-202602a-q257-int8_default", 40.1),
        ("rtx4090d-202602a-mis-int8_default", 52.6),
        ("rtx4090d-202602a-phi-int8_default", 46.0),
        ("rtx4090d-202602a-yi6-int8_default", 59.7),
        ("rtx4090d-202602a-yi6-int8_pure", 9.2),
        ("rtx4090d-202602a-mis-int8_pure", 3.1),
        ("rtx4090d-202602a-phi-nf4", 0.6),
        ("rtx4090d-202602a-mis-nf4", -25.1),
        ("a800-20260226-mistral-7b-v0.1-int8_pure", 48.3),
        ("5090-fp8-2026-09/qwen2-7b/fp8_weight_only/bs1", 815.4),
        ("5090-fp8-2026-09/qwen2-0.5b/fp8_weight_only/bs1", 187.2),
    ],
)
def test_percentages_are_gross_and_of_one_session(row_id: str, gross_pct: float) -> None:
    assert ratio_to_fp16(row(row_id)) == pytest.approx(gross_pct, abs=0.06)


def test_idle_power_is_put_back_without_a_published_power() -> None:
    one = row("rtx4090d-202603-q3-fp16")
    assert one.session.basis.value == "net"
    # The gross session two weeks earlier measured 3,515 J on the same card and model.
    assert one.gross_j_per_1k == pytest.approx(3515, rel=0.02)


def test_a_session_of_unknown_basis_tells_no_gross_energy() -> None:
    assert row("rtx4090d-202603-cmp-tinyllama-fp16").gross_j_per_1k is None


def test_no_machine_path_is_shipped() -> None:
    for path in (ROOT / "data").iterdir():
        if path.suffix in (".csv", ".md", ".py"):
            assert not re.search(r"/(?:work|tmp|root|home)/", path.read_text(encoding="utf-8")), (
                path
            )


def test_recalled_specifications_are_marked() -> None:
    recalled = {line["gpu"] for line in read_table("gpus") if line["status"] == "recalled"}
    assert {"a10g", "h100-nvl", "l40"} <= recalled
    assert "h100" not in recalled
