"""Rules on facts built by hand, and what all rule modules have in common."""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecolint import phrasing
from ecolint.catalog import find_model
from ecolint.diagnostics import Applicability, Edit, Provenance, Severity, Span
from ecolint.energy import batch_saving, penalty
from ecolint.energy.dataset import find_row
from ecolint.facts import (
    Change,
    Channel,
    Drop,
    Facts,
    Generation,
    Method,
    ModelLoad,
    Modernise,
    Package,
    Prompts,
    Quantization,
    Role,
    Serving,
    Set,
    Setting,
    State,
    Via,
    Where,
)
from ecolint.kernel_pairs import kernel_pair, loads_kernels, matching_torchao
from ecolint.manual import read_manual
from ecolint.registry import find_rule, load_rules
from ecolint.rule import Context, Finding, Known, LoadedRule
from ecolint.sizing import Side, models_of, only_model, published_crossovers, side_of
from ecolint.testing import CaseError, check_case, read_cases

RULES = Path(__file__).parents[1] / "rules"
HEADINGS = ["What it does", "Why", "Example", "Exceptions", "Fix safety", "References"]
HERE = Span(10, 20)


class Recorder:
    """An editor that remembers what it was asked, and can do all of it."""

    def __init__(self) -> None:
        self.asked: list[Change] = []

    def edits(self, *changes: Change) -> tuple[Edit, ...]:
        self.asked += changes
        return (Edit(HERE, "new"),)


def known(value: Any, via: Via = Via.LITERAL, name: str = "") -> Setting[Any]:
    return Setting(State.KNOWN, value, None if via is Via.DEFAULT else HERE, via, name)


def int8(editor: Recorder | None = None, **fields: Any) -> Quantization:
    given: dict[str, Any] = {"threshold": known(6.0, Via.DEFAULT), **fields}
    return Quantization(
        HERE, "transformers", "X", known(Method.INT8), editor=editor or Recorder(), **given
    )


def nf4(**fields: Any) -> Quantization:
    return Quantization(HERE, "transformers", "X", known(Method.NF4), editor=Recorder(), **fields)


def load_of(model: str, quantization: Quantization | None = None, **fields: Any) -> ModelLoad:
    given: dict[str, Any] = {"editor": Recorder(), **fields}
    return ModelLoad(
        Span(30, 40), "transformers", "transformers", known(model), quantization, **given
    )


def judge(code: str, fact: Any, *others: Any, **context: Any) -> list[Finding]:
    rule = find_rule(code)
    assert rule is not None
    facts = Facts([fact, *others])
    return list(rule.check(fact, Context(facts=facts, **context)))


def gpu(name: str) -> Known:
    return Known(name, "--gpu")


# --- LLM.int8() --------------------------------------------------------------------------------


def test_the_evidence_of_a_cost_is_rows_that_exist() -> None:
    fact = int8()
    load = load_of("mistralai/Mistral-7B-v0.1", fact)
    (found,) = judge("ECO101", fact, load, gpu=gpu("rtx4090d"))
    assert found.evidence is not None
    assert found.evidence.provenance is Provenance.MEASURED
    assert all(find_row(row) is not None for row in found.evidence.rows)
    figure = penalty("int8", gpu="rtx4090d", model="mistralai/Mistral-7B-v0.1")
    assert figure is not None
    assert found.evidence.energy_vs_fp16_pct == figure.pct
    assert phrasing.percent(figure.pct or 0.0) in found.message
    assert found.model == "mistralai/Mistral-7B-v0.1"


def test_the_best_way_out_comes_first_and_tells_perplexity_with_energy() -> None:
    fact = int8()
    load = load_of("mistralai/Mistral-7B-v0.1", fact)
    (found,) = judge("ECO101", fact, load, gpu=gpu("rtx4090d"))
    ways = found.message.partition("; ")[2]
    assert ways.index("load in 16-bit") < ways.index("NF4") < ways.index("threshold=0.0")
    assert ways.count("perplexity") == 2


def test_16_bit_is_no_way_out_where_it_does_not_fit() -> None:
    fact = int8()
    load = load_of("mistralai/Mistral-Nemo-Instruct-2407", fact)
    (found,) = judge("ECO101", fact, load, gpu=gpu("t4"))
    assert "16-bit if" not in found.message
    assert "load in 16-bit" not in found.message


@pytest.mark.parametrize("threshold", [0.0, -1.0])
def test_no_threshold_above_zero_no_finding(threshold: float) -> None:
    assert judge("ECO101", int8(threshold=known(threshold))) == []


def test_a_removed_keyword_is_modernised_with_the_threshold() -> None:
    editor = Recorder()
    fact = int8(editor, removed=known("load_in_8bit"))
    (found,) = judge("ECO101", fact)
    assert editor.asked == [Modernise((("threshold", 0.0),))]
    assert found.edits


def test_a_threshold_that_can_not_be_set_is_not_set() -> None:
    editor = Recorder()
    (found,) = judge("ECO101", int8(editor, threshold_settable=False))
    assert editor.asked == []
    assert (found.edits, found.fix) == (None, "")


@pytest.mark.parametrize("modality", ["audio", "diffusion", "encoder", "ssm", "vision-encoder"])
def test_no_figure_for_what_no_row_covers(modality: str) -> None:
    fact = int8()
    (found,) = judge("ECO101", fact, load_of("org/m-1b", fact, modality=modality))
    assert found.severity is Severity.YELLOW
    assert found.evidence is None
    assert "%" not in found.message


# --- the crossover ----------


@pytest.mark.parametrize(
    ("model", "card", "side"),
    [
        ("Qwen/Qwen2.5-3B", None, Side.BELOW),
        ("Qwen/Qwen2.5-VL-3B-Instruct", None, Side.BELOW),  # 3.75B, but 3B by name
        ("microsoft/Phi-3-mini-4k-instruct", None, Side.DEPENDS),
        ("microsoft/Phi-3-mini-4k-instruct", "rtx4090d", Side.BELOW),
        ("microsoft/Phi-3-mini-4k-instruct", "t4", Side.ABOVE),
        ("Qwen/Qwen2.5-7B", None, Side.ABOVE),
        ("Qwen/Qwen3-30B-A3B", None, None),
        ("Qwen/Qwen2.5-1.5B", "mi300x", None),
    ],
)
def test_sides(model: str, card: str | None, side: Side | None) -> None:
    found = find_model(model)
    assert found is not None
    assert side_of(found, Context(gpu=gpu(card) if card else None)) is side


def test_published_crossovers_come_from_the_table() -> None:
    low, high = published_crossovers()
    assert 0 < low < high


def test_a_size_that_the_file_tells_stands_in_for_a_name() -> None:
    load = ModelLoad(HERE, "transformers", "transformers", params_b=known(0.49))
    (model,) = models_of(load, Context())
    assert (model.params_b, model.kind) == (0.49, "dense")
    assert phrasing.size(model) == "a 0.49B model"


def test_loads_that_differ_have_no_one_model() -> None:
    loads = [load_of("Qwen/Qwen2.5-3B"), load_of("Qwen/Qwen2.5-7B")]
    assert only_model(loads, Context()) is None
    assert only_model(loads[:1], Context()) is not None
    stated = Context(model=Known("Qwen/Qwen2.5-3B", "--model"))
    only = only_model([], stated)
    assert only is not None
    assert only.nominal_b == 3.0


def test_a_model_that_does_not_fit_in_16_bit_is_justified() -> None:
    fact = nf4()
    load = load_of("Qwen/Qwen2.5-3B", fact)
    (found,) = judge("ECO102", load, fact, gpu=gpu("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"))
    assert found.severity is Severity.GRAY
    assert "justified by memory" in found.message
    assert found.edits is None


def test_what_the_rows_call_a_saving_is_gray() -> None:
    fact = nf4()
    load = load_of("microsoft/Phi-3-mini-4k-instruct", fact)
    (found,) = judge("ECO102", load, fact, gpu=gpu("rtx4090"))
    assert found.severity is Severity.GRAY
    assert "pin bitsandbytes" in found.message


def test_a_shared_configuration_is_not_the_place_of_a_small_model() -> None:
    fact = nf4()
    small, large = load_of("Qwen/Qwen2.5-1.5B", fact), load_of("Qwen/Qwen2.5-32B", fact)
    (found,) = judge("ECO102", small, large, fact)
    assert found.span == HERE  # the load's model
    assert judge("ECO102", large, small, fact) == []


def test_the_contested_gpu_is_told() -> None:
    fact = nf4()
    load = load_of("microsoft/Phi-3-mini-4k-instruct", fact)
    (found,) = judge("ECO102", load, fact, gpu_conflict="a.yaml names T4 and L4")
    assert "a.yaml names T4 and L4" in found.message


# --- one at a time ----------


def generation(**fields: Any) -> Generation:
    given: dict[str, Any] = {"where": Where.LOOP, "prompts": Prompts.ONE, **fields}
    return Generation(HERE, "transformers", "model.generate", **given)


@pytest.mark.parametrize(
    ("fields", "fires"),
    [
        ({}, True),
        ({"where": Where.HANDLER}, True),
        ({"where": Where.FUNCTION}, False),
        ({"prompts": Prompts.UNKNOWN}, False),
        ({"prompts": Prompts.MANY}, False),
        ({"batched": True}, False),
        ({"batches_itself": True}, False),
        ({"handwritten": True}, False),
        ({"role": Role.INTERACTIVE}, False),
        ({"batch": known(8)}, False),
        ({"batch": known(1)}, True),
        ({"where": Where.SCRIPT, "batch": known(1)}, False),
        ({"where": Where.SCRIPT, "batch": known(1), "role": Role.SERVICE}, True),
        ({"where": Where.SCRIPT, "batch": known(1, Via.DEFAULT), "role": Role.SERVICE}, False),
        ({"where": Where.SCRIPT, "prompts": Prompts.MANY, "batch": known(1, Via.DEFAULT)}, True),
    ],
)
def test_one_prompt_a_call(fields: dict[str, Any], fires: bool) -> None:
    assert bool(judge("ECO201", generation(**fields))) is fires


def test_an_engines_limit_is_reported_once() -> None:
    limit = known(1, name="max_num_seqs")
    serving = Serving(HERE, "vllm", "LLM", concurrency=limit, editor=Recorder())
    load = load_of("org/m-7b", batch=limit, role=Role.SERVICE)
    assert judge("ECO201", load, serving) == []
    (found,) = judge("ECO201", serving, load)
    saving = batch_saving(8)
    assert saving is not None
    assert phrasing.percent(-saving.saving_pct) in found.message
    assert found.evidence is not None
    assert found.evidence.rows == saving.rows


def test_more_than_one_sequence_is_fine() -> None:
    assert judge("ECO201", Serving(HERE, "vllm", "LLM", concurrency=known(2))) == []


# --- float8 ----------


@pytest.mark.parametrize(
    ("method", "compiled", "severity"),
    [
        (Method.FP8_DYNAMIC, known(False), Severity.RED),
        (Method.FP8_DYNAMIC, Setting(), Severity.RED),
        (Method.FP8_DYNAMIC, Setting(State.UNKNOWN), Severity.GRAY),
        (Method.FP8_DYNAMIC, known(True), None),
        (Method.FP8_WEIGHT_ONLY, known(True), Severity.YELLOW),
        (Method.FP8_WEIGHT_ONLY, Setting(State.UNKNOWN), Severity.RED),
        (Method.FP8, known(False), None),
    ],
)
def test_float8(method: Method, compiled: Setting[bool], severity: Severity | None) -> None:
    fact = Quantization(HERE, "torchao", "X", known(method), compiled=compiled)
    found = judge("ECO301", fact)
    assert [one.severity for one in found] == ([severity] if severity else [])


# --- packages and pairs ----------


@pytest.mark.parametrize(
    ("channel", "fires"),
    [
        (Channel.NIGHTLY, True),
        (Channel.DEVELOPMENT, True),
        (Channel.SOURCE, True),
        (Channel.CANDIDATE, True),
        (Channel.IMAGE, True),
        (Channel.STABLE, False),
        (Channel.PINNED_SOURCE, False),
    ],
)
def test_channels(channel: Channel, fires: bool) -> None:
    editor = Recorder()
    found = judge("ECO401", Package(HERE, "torch", channel=channel, editor=editor))
    assert bool(found) is fires
    assert editor.asked == ([Set("channel", "stable")] if fires else [])


@pytest.mark.parametrize(
    ("torchao", "torch", "loads"),
    [
        ("0.13.0", "2.8.0", True),
        ("0.13.0", "2.7.1", True),
        ("0.13.0", "2.9.0", False),
        ("0.14.0", "2.8.0", True),
        ("0.14.1", "2.9.0+cu128", True),
        ("0.14.1", "2.9.1", False),
        ("0.15.0", "2.9.1", True),
        ("0.16.0", "2.10.0", True),
        ("0.16.0", "2.9.1", False),
        ("0.18.0", "2.12.0", True),
        ("0.18.0", "2.10.0", False),
        ("0.18.0", "nightly", True),
    ],
)
def test_pairs(torchao: str, torch: str, loads: bool) -> None:
    pair = kernel_pair(torchao)
    assert pair is not None
    assert loads_kernels(pair, torch) is loads


def test_an_old_bitsandbytes_is_shown_by_rows_of_both_stacks() -> None:
    editor = Recorder()
    (found,) = judge("ECO403", Package(HERE, "bitsandbytes", version="0.43.1", editor=editor))
    assert found.evidence is not None
    sessions = {row.session.id for row in map(find_row, found.evidence.rows) if row}
    assert len(sessions) == 2
    assert [type(one) for one in editor.asked] == [Set]


def test_a_release_outside_the_table_is_unknown() -> None:
    assert kernel_pair("0.12.0") is None
    assert kernel_pair("0.99.0") is None


@pytest.mark.parametrize(
    ("torch", "torchao"),
    [("2.8.0", "0.13.0"), ("2.9.1", "0.15.0"), ("2.11.0", "0.18.0"), ("2.5.1", None)],
)
def test_the_torchao_to_move_to(torch: str, torchao: str | None) -> None:
    assert matching_torchao(torch) == torchao


# --- engines ----------


def test_prefix_caching_that_is_off_by_default_may_stay_off() -> None:
    off = known(False, name="enable_prefix_caching")
    editor = Recorder()
    default_on = Serving(
        HERE, "vllm", "LLM", prefix_cache=off, prefix_cache_default=True, editor=editor
    )
    (found,) = judge("ECO504", default_on)
    assert found.edits
    assert editor.asked == [Drop("prefix_cache")]
    assert judge("ECO504", Serving(HERE, "lmdeploy", "X", prefix_cache=off)) == []


def test_bfloat16_is_reported_once_for_an_engine_and_its_model() -> None:
    dtype = known("bfloat16", name="dtype")
    serving = Serving(HERE, "vllm", "LLM", dtype=dtype)
    load = load_of("org/m-7b", dtype=dtype)
    assert judge("ECO302", load, serving, gpu=gpu("t4")) == []
    assert len(judge("ECO302", serving, load, gpu=gpu("t4"))) == 1
    assert judge("ECO302", serving, load, gpu=gpu("a100")) == []


def test_fp8_by_default_of_a_library_is_not_the_authors_doing() -> None:
    fact = nf4(compute_dtype=known("bfloat16", Via.DEFAULT))
    assert judge("ECO302", fact, gpu=gpu("t4")) == []


# --- words ----------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (52.6, "+53 %"),
        (-32.2, "−32 %"),
        (0.6, "+0.6 %"),
        (8.04, "+8 %"),
        (-0.01, "+0 %"),
        (9.97, "+10 %"),
    ],
)
def test_percentages(value: float, text: str) -> None:
    assert phrasing.percent(value) == text


def test_a_range_whose_ends_read_the_same_is_one_figure() -> None:
    assert phrasing.between(52.6, 52.9) == "+53 %"
    assert phrasing.between(-8.0, 12.3) == "−8…+12 %"


def test_a_range_over_gpus_says_what_would_narrow_it() -> None:
    found = penalty("int8")
    assert found is not None
    assert phrasing.costs(found, None).endswith("narrow it with --gpu and --model)")


def test_an_extrapolated_figure_says_so() -> None:
    model = find_model("mistralai/Mistral-7B-v0.1")
    found = penalty("nf4", gpu="h100", model="mistralai/Mistral-7B-v0.1")
    assert found is not None
    assert "extrapolated" in phrasing.costs(found, model)


@pytest.mark.parametrize(
    ("pct", "low", "high", "severity"),
    [
        (53.0, 53.0, 53.0, Severity.RED),
        (17.0, 17.0, 40.0, Severity.YELLOW),
        (-4.0, -4.0, 12.0, Severity.GRAY),
        (None, 31.0, 90.0, Severity.RED),
        (None, -39.0, 60.0, Severity.YELLOW),
        (None, -39.0, -2.0, Severity.GRAY),
    ],
)
def test_severities(pct: float | None, low: float, high: float, severity: Severity) -> None:
    from dataclasses import replace

    found = penalty("nf4")
    assert found is not None
    graded = replace(found, pct=pct, low_pct=low, high_pct=high)
    assert phrasing.severity_of(graded, Severity.YELLOW) is severity


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Qwen/Qwen2.5-3B", "Qwen2.5-3B"),
        ("microsoft/Phi-3-mini-4k-instruct", "Phi-3-mini-4k-instruct (3.8B)"),
        ("HuggingFaceTB/SmolLM2-135M", "SmolLM2-135M"),
    ],
)
def test_sizes(name: str, text: str) -> None:
    model = find_model(name)
    assert model is not None
    assert phrasing.size(model) == text


# --- what all rules have in common ----------


def modules() -> list[Path]:
    return [path for path in sorted(RULES.glob("*.py")) if path.name != "__init__.py"]


def each(function: Callable[..., None]) -> Any:
    return pytest.mark.parametrize("loaded", load_rules(), ids=lambda one: one.rule.code)(function)


@each
def test_a_manual_has_the_fixed_sections(loaded: LoadedRule) -> None:
    manual = read_manual(loaded)
    titles = [section.title for section in manual.sections]
    assert len(titles) == len(HEADINGS)
    for title, heading in zip(titles, HEADINGS, strict=True):
        assert title.startswith(heading)
    assert "\n" not in manual.intro
    assert manual.intro.endswith(".")
    assert titles[1] in ("Why it wastes energy", "Why it matters")
    assert "```" in next(one.text for one in manual.sections if one.title == "Example")
    assert all(section.text for section in manual.sections)


@each
def test_a_module_is_named_by_its_code_and_offence(loaded: LoadedRule) -> None:
    slug = loaded.rule.name.replace("-", "_")
    assert loaded.module == f"ecolint.rules.{loaded.rule.code.lower()}_{slug}"


@each
def test_a_safe_word_about_fixes_agrees_with_the_metadata(loaded: LoadedRule) -> None:
    text = next(one.text for one in read_manual(loaded).sections if one.title == "Fix safety")
    expected = {
        None: ("There is no fix", "Nothing is to be changed"),
        Applicability.SAFE: ("Safe",),
        Applicability.UNSAFE: ("Unsafe", "Keeping the discarded result is safe"),
    }
    assert text.startswith(expected[loaded.rule.applicability])


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.stem)
def test_a_rule_holds_no_figure(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\d\s?(%|percent|J\b|kWh)|\$\s?\d", text)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.stem)
def test_a_rule_is_short_and_public_only_in_rule_and_check(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 130
    names = set()
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names.add(node.targets[0].id)
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").startswith(("ecolint", "collections.abc"))
    assert {name for name in names if not name.startswith("_")} == {"RULE", "check"}


def test_codes_and_names_stand_once() -> None:
    rules = [loaded.rule for loaded in load_rules()]
    assert len({rule.code for rule in rules}) == len({rule.name for rule in rules}) == len(rules)


# --- the runner of cases ----------


def write(folder: Path, text: str) -> Path:
    path = folder / "rule.yaml"
    path.write_text(text, encoding="utf-8")
    return path


CASE = """
rule: ECO101
cases:
  - name: finds it
    file: serve.py
    text: |
      from transformers import BitsAndBytesConfig
      config = BitsAndBytesConfig(load_in_8bit=True)
"""


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("", "expected lines [], found"),
        ("    lines: [1]\n", "expected lines [1], found"),
        ("    lines: [2]\n", "a fix is offered"),
        ("    lines: [2]\n    fixed: nothing\n", "fixed to"),
        ("    lines: [2]\n    severity: gray\n", "severity red"),
        ("    lines: [2]\n    says: banana\n", "'banana' is not in"),
    ],
)
def test_a_case_that_does_not_hold_fails(tmp_path: Path, more: str, complaint: str) -> None:
    (case,) = read_cases(write(tmp_path, CASE + more))
    with pytest.raises(AssertionError, match=re.escape(complaint)):
        check_case(case)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rule: ECO101\n", "give a rule and a list of cases"),
        ("rule: ECO101\ncases: [{name: x}]\n", "x needs a name, a file and a text"),
        (CASE + "    line: 2\n", "finds it has line; keys are"),
        ("rule: [\n", "rule.yaml"),
    ],
)
def test_a_file_of_cases_that_means_nothing_is_refused(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(CaseError, match=re.escape(complaint)):
        read_cases(write(tmp_path, text))
