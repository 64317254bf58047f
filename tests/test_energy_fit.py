"""The fitted model: refitting gives it back, and it reaches what the page says."""

from pathlib import Path

import pytest

from benchmarks import energy_fit, energy_model
from benchmarks.energy_baselines import ecologits, published_rule
from benchmarks.energy_outside import score_file
from ecolint.energy.dataset import read_table

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tables() -> str:
    return energy_model.report()


def median_error(pairs: list[tuple[energy_fit.Sample, float]]) -> float:
    gaps = sorted(abs(energy / sample.energy_j_per_1k - 1) for sample, energy in pairs)
    return gaps[len(gaps) // 2]


def test_refitting_gives_the_shipped_parameters_back() -> None:
    assert energy_fit.fit_all() == list(map(dict, read_table("parameters")))


def test_recomputing_gives_the_shipped_crossovers_back() -> None:
    assert energy_fit.computed_crossovers() == list(map(dict, read_table("crossovers")))


@pytest.mark.parametrize("by", ["card", "session"])
@pytest.mark.parametrize("precision", energy_fit.EAGER_PRECISIONS)
def test_eager_energy_on_cards_and_sessions_held_out(precision: str, by: str) -> None:
    assert median_error(energy_model.eager_outside(precision, by)) <= 0.20


@pytest.mark.parametrize("by", ["card", "model"])
@pytest.mark.parametrize("generation", ["0.5", "0.11"])
def test_serving_energy_on_cards_and_models_held_out(generation: str, by: str) -> None:
    assert median_error(energy_model.serving_outside(generation, by)) <= 0.20


def test_the_model_beats_both_baselines_where_they_answer() -> None:
    for pairs in (
        energy_model.eager_outside("fp16", "card"),
        energy_model.serving_outside("0.5", "card"),
        energy_model.serving_outside("0.11", "card"),
    ):
        for baseline in (published_rule, ecologits):
            theirs = [(s, e) for s, _ in pairs if (e := baseline(s)) is not None]
            assert len(theirs) > 50
            assert median_error(pairs) < median_error(theirs)


def test_intervals_hold_about_nine_rows_in_ten() -> None:
    eager = energy_model.eager_outside("fp16", "card")
    serving = [p for g in ("0.5", "0.11") for p in energy_model.serving_outside(g, "card")]
    for held in (
        energy_model.coverage(eager, lambda sample: sample.gpu),
        energy_model.coverage(serving, lambda sample: sample.session),
        energy_model.repeat_coverage(energy_fit.session_ratios("fp16")),
    ):
        assert 0.85 <= sum(held) / len(held) <= 0.95


def test_held_out_groups_are_never_seen() -> None:
    samples = [s for s in energy_fit.eager_samples() if s.precision == "fp16"]
    seen: list[set[str]] = []

    def spy(chosen: list[energy_fit.Sample]) -> energy_fit.Parameters:
        seen.append({sample.gpu for sample in chosen})
        return energy_fit.fit_eager(chosen)

    found = energy_fit.held_out(samples, lambda s: s.gpu, spy, energy_fit.predict_eager)  # type: ignore[arg-type]
    cards = sorted({sample.gpu for sample in samples})
    assert [set(cards) - group for group in seen] == [{card} for card in cards]
    assert len(found) == len(samples)


def test_the_page_keeps_these_tables(tables: str) -> None:
    page = (ROOT / "docs" / "energy-model.md").read_text(encoding="utf-8")
    kept = page.partition(energy_model.BEGIN)[2].partition(energy_model.END)[0]
    assert "Measured on 20" in kept
    assert tables in kept


def test_rows_of_others_are_scored(tmp_path: Path) -> None:
    header = (
        "source,gpu,n_gpus,model,params_b,active_b,precision,engine,batch_size,"
        "energy_j_per_1k_tok,throughput_tok_s,power_w,avg_out_tok,basis,notes,use_for_validation\n"
    )
    path = tmp_path / "rows.csv"
    path.write_text(
        header
        + "lab one,A100 SXM 80GB,1,some-lab/chat-7b,7.0,7.0,fp16,HF eager,1,4800,,,200,,,yes\n"
        + "lab one,A100 SXM 80GB,2,some-lab/chat-7b,7.0,7.0,fp16,HF eager,1,4800,,,200,,,yes\n"
        + "lab one,A100 SXM 80GB,1,Mystery,,,fp16,HF eager,1,4800,,,200,,,yes\n"
        + "lab two,RTX 3090 24GB,1,Qwen/Qwen2-7B,7.6,7.6,bfloat16,vLLM 0.11,8,,90,,200,,,yes\n"
        + "lab two,RTX 3090 24GB,1,Qwen/Qwen2-7B,7.6,7.6,gptq,vLLM 0.11,8,900,90,,200,,,yes\n",
        encoding="utf-8",
    )
    lines = score_file(path).splitlines()
    one = next(line for line in lines if line.startswith("| lab one")).split(" | ")
    two = next(line for line in lines if line.startswith("| lab two")).split(" | ")
    assert one[1:4] == ["2", "1", "modelled"]
    assert two[1:4] == ["1", "0", "refused"]
