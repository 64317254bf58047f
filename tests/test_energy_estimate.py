"""Estimates: the tier, the interval, the refusals, and what a site measured itself."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecolint.energy import Estimate, QuestionError, Refusal, Tier, estimate, measured, read_rows
from ecolint.energy.dataset import find_row

ROOT = Path(__file__).parents[1]


def answer(*question: Any, **more: Any) -> Estimate:
    found = estimate(*question, **more)
    assert isinstance(found, Estimate), found
    return found


def refusal(*question: Any, **more: Any) -> Refusal:
    found = estimate(*question, **more)
    assert isinstance(found, Refusal), found
    return found


@pytest.mark.parametrize(
    ("question", "tier"),
    [
        (("Qwen/Qwen2.5-3B", "rtx5090"), Tier.MEASURED),
        (("mistralai/Mistral-7B-Instruct-v0.2", "rtx4090d", "int8"), Tier.MEASURED),
        (("mistralai/Mistral-7B-v0.1", "a800", "fp16", "transformers", 8), Tier.MEASURED),
        (("meta-llama/Llama-3.1-8B-Instruct", "h100", "bf16", "vllm", 32), Tier.MEASURED),
        (("meta-llama/Llama-3.1-8B-Instruct", "rtx4090", "q4_0", "llama.cpp"), Tier.MEASURED),
        (("microsoft/Phi-3-mini-4k-instruct", "rtx4090"), Tier.INTERPOLATED),
        (("mistralai/Mistral-7B-v0.1", "a800", "int8-pure", "transformers", 48), Tier.INTERPOLATED),
        (("Qwen/Qwen3-30B-A3B-Instruct-2507", "h100", "bf16", "vllm", 20), Tier.INTERPOLATED),
        (("Qwen/Qwen2-7B", "v100-16gb"), Tier.MODELLED),
        (("Qwen/Qwen2-7B", "a800", "fp16", "transformers", 16), Tier.MODELLED),
        (("Qwen/Qwen2.5-7B", "h100", "bf16", "vllm", 48), Tier.MODELLED),
        (("meta-llama/Llama-3.1-8B", "l40s", "fp16", "vllm", 16), Tier.MODELLED),
    ],
)
def test_the_nearest_evidence_answers(question: tuple[Any, ...], tier: Tier) -> None:
    found = answer(*question)
    assert found.tier is tier
    assert found.reasons
    for interval in (found.energy_j_per_1k, found.throughput_tok_s, found.power_w, found.latency_s):
        assert interval is None or 0 < interval.low <= interval.value <= interval.high
    assert bool(found.rows) == (tier is not Tier.MODELLED or "sweep" in " ".join(found.reasons))


def test_a_measured_row_is_answered_as_it_stands() -> None:
    found = answer("Qwen/Qwen2.5-3B", "rtx5090", input_tokens=1)
    row = find_row(found.rows[0])
    assert row is not None
    assert row.energy_j_per_1k is not None
    assert found.energy_j_per_1k.value == pytest.approx(row.energy_j_per_1k, rel=0.001)
    assert found.throughput_tok_s is not None
    assert row.throughput_tok_s == pytest.approx(found.throughput_tok_s.value)


def test_a_request_is_its_tokens_times_the_energy_of_one() -> None:
    found = answer("Qwen/Qwen2.5-3B", "rtx5090", output_tokens=500)
    assert found.energy_j_per_request.value == pytest.approx(found.energy_j_per_1k.value / 2)


def test_a_longer_prompt_costs_more_and_says_so() -> None:
    short = answer("Qwen/Qwen2-7B", "v100-16gb", input_tokens=1)
    long = answer("Qwen/Qwen2-7B", "v100-16gb", input_tokens=2048)
    assert long.energy_j_per_1k.value > short.energy_j_per_1k.value
    assert any("2048 prompt tokens" in reason for reason in long.reasons)


def test_the_prompt_that_a_row_includes_is_not_counted_twice() -> None:
    found = answer("mistralai/Mistral-7B-v0.1", "a800", "int8-pure", batch=32, input_tokens=256)
    row = find_row("a800-20260215-mistral7b-int8_pure-bs32")
    assert row is not None
    assert found.energy_j_per_1k.value == row.energy_j_per_1k


def test_the_interval_spans_the_other_sessions_of_the_card() -> None:
    found = answer("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "rtx4090", "int8", input_tokens=1)
    rows = measured("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "rtx4090", "int8")
    assert rows is not None
    assert found.energy_j_per_1k.low <= rows.low_j_per_1k
    assert found.energy_j_per_1k.high >= rows.high_j_per_1k
    assert len(found.sessions) == 4


def test_a_newer_engine_draws_less() -> None:
    question = ("meta-llama/Llama-3.1-8B-Instruct", "h100", "bf16", "vllm", 64)
    old = answer(*question, stack={"vllm": "0.5.4"})
    new = answer(*question, stack={"vllm": "0.11.0"})
    assert new.energy_j_per_1k.value < 0.8 * old.energy_j_per_1k.value


def test_a_card_that_was_never_measured_widens_the_interval() -> None:
    kin = answer("Qwen/Qwen2-7B", "a100-80gb", input_tokens=1).energy_j_per_1k
    stranger = answer("Qwen/Qwen2-7B", "v100-16gb", input_tokens=1).energy_j_per_1k
    assert kin.high / kin.value == pytest.approx(1.4, rel=0.02)
    assert stranger.high / stranger.value == pytest.approx(2.0, rel=0.02)


def test_power_stays_within_the_card() -> None:
    found = answer("Qwen/Qwen2-7B", "a800", "fp16", "transformers", 16)
    assert found.power_w is not None
    assert found.power_w.high <= 400


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (("Qwen/Qwen2-7B", "mi300x"), "Instinct MI300X"),
        (("Qwen/Qwen2-7B", "rtx4090", "gptq"), "gptq"),
        (("Qwen/Qwen2-7B", "rtx4090", "awq"), "awq"),
        (("mistralai/Mixtral-8x7B-v0.1", "b200"), "mixtures of experts"),
        (("state-spaces/mamba-2.8b", "rtx4090"), "state-space"),
        (("Qwen/Qwen2-7B", "h100", "int8", "vllm"), "int8"),
        (("Qwen/Qwen2-7B", "h100", "fp16", "sglang"), "sglang"),
        (("Qwen/Qwen2-7B", "a800", "fp16", "transformers", 65), "batch 64"),
        (("Qwen/Qwen2-7B", "a800", "fp16", "transformers", 1, 8192), "4,096"),
        (("Qwen/Qwen2-72B", "rtx3090"), "does not fit"),
        (("Qwen/Qwen2-7B", "gh200"), "not known"),
        (("Qwen/Qwen2-7B", "rtx4090", "fp16", "llama.cpp"), "no fitted model"),
        (("Qwen/Qwen2-7B", "h100", "fp16", "vllm", 5000), "running sequences"),
    ],
)
def test_no_number_where_nothing_was_measured(question: tuple[Any, ...], why: str) -> None:
    found = refusal(*question)
    assert why in found.reason
    assert found.recipe
    assert found.tier is Tier.REFUSED


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ({"model": "no-such-model"}, "unknown model"),
        ({"model": "Qwen/Qwen2.5-77"}, "Qwen/Qwen2.5-7B"),
        ({"gpu": "rtx4900"}, "rtx4090"),
        ({"precision": "fp17"}, "fp16"),
        ({"engine": "vlm"}, "vllm"),
        ({"batch": 0}, "nearest valid value is 1"),
        ({"batch": -3}, "nearest valid value is 1"),
        ({"batch": True}, "whole number"),
        ({"batch": 1.5}, "whole number"),
        ({"output_tokens": 0}, "output_tokens 0"),
        ({"input_tokens": 10**7}, "nearest valid value is 1000000"),
    ],
)
def test_a_bad_question_gets_one_line_with_the_mend(question: dict[str, Any], says: str) -> None:
    with pytest.raises(QuestionError, match=says) as error:
        estimate(**{"model": "Qwen/Qwen2-7B", "gpu": "rtx4090", **question})
    assert "\n" not in str(error.value)


def test_what_matches_comes_best_stack_first() -> None:
    found = measured(gpu="rtx5090", precision="nf4", stack={"bitsandbytes": "0.45.0"})
    assert found is not None
    assert found.rows[0].session.id == found.sessions[0] == "rtx5090-2026-01"
    assert found.low_j_per_1k < found.high_j_per_1k
    assert measured(gpu="rtx5090", precision="awq") is None
    assert measured(gpu="no-such-card") is None


@settings(max_examples=60, deadline=None)
@given(
    size=st.floats(0.3, 70),
    gpu=st.sampled_from(["a100-80gb", "l4", "h100", "rtx3090", "v100-32gb", "b200"]),
    engine=st.sampled_from(["transformers", "vllm"]),
    batch=st.integers(1, 64),
)
def test_every_answer_is_positive_and_ordered(
    size: float, gpu: str, engine: str, batch: int
) -> None:
    found = estimate(f"{size:.1f}B", gpu, "fp16", engine, batch)
    if isinstance(found, Estimate):
        energy = found.energy_j_per_1k
        assert 0 < energy.low <= energy.value <= energy.high
        assert found.power_w is not None
        assert found.power_w.value <= 1400


def test_own_rows_win_over_ours(tmp_path: Path) -> None:
    path = tmp_path / "site.csv"
    path.write_text(
        "gpu,model,precision,throughput_tok_s,power_w,date\n"
        "RTX 5090,Qwen/Qwen2.5-3B,fp16,80,200,2026-10-01\n",
        encoding="utf-8",
    )
    own = read_rows(str(path))
    found = answer("Qwen/Qwen2.5-3B", "rtx5090", input_tokens=1, site=own)
    assert found.energy_j_per_1k.value == pytest.approx(2500, rel=0.001)
    assert found.rows == ("site.csv:2",)
    assert "a row of your own wins over ours" in found.reasons


def test_own_rows_answer_where_ours_refuse(tmp_path: Path) -> None:
    path = tmp_path / "site.csv"
    path.write_text(
        "gpu,model,precision,engine,batch,throughput_tok_s,energy_j_per_1k\n"
        "mi300x,Qwen/Qwen2-7B,gptq,sglang,128,9000,50\n",
        encoding="utf-8",
    )
    question = ("Qwen/Qwen2-7B", "mi300x", "gptq", "sglang", 128)
    assert answer(*question, site=read_rows(str(path))).energy_j_per_1k.value == 50
    assert "MI300X" in refusal(*question).reason


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import ecolint.energy, sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout))
    assert loaded.isdisjoint({"numpy", "dataclasses", "csv", "importlib.resources", "difflib"})
    assert "ecolint.energy.dataset" not in loaded


def test_the_package_offers_what_it_lists() -> None:
    import ecolint.energy

    for name in ecolint.energy.__all__:
        assert getattr(ecolint.energy, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = ecolint.energy.nonsense
