"""Manuals: a rule's docstring, metadata and measured rows as pages."""

import json
from dataclasses import replace
from typing import Any

import pytest

from ecolint.cli import main
from ecolint.diagnostics import Applicability, Severity
from ecolint.energy.dataset import find_row
from ecolint.facts import Quantization
from ecolint.manual import align, measured_rows, read_manual, to_dict, to_markdown, to_text
from ecolint.registry import load_rules
from ecolint.rule import Context, Finding, LoadedRule, Rule

DOCSTRING = """Report a thing that wastes.

    ## What it does
    Looks for `x`.

    ## Example
    Not this:
    ```python
    f(x=1)

    g()
    ```
    but that.

    ## References
    - https://example.org/a
    """
RULE = Rule(
    code="ECO101",
    name="a-thing",
    severity=Severity.RED,
    reads=Quantization,
    summary="a thing",
    applicability=Applicability.UNSAFE,
    references=("https://example.org/a", "https://example.org/b"),
)


def _check(fact: Quantization, context: Context) -> Any:
    yield Finding(fact.span, "thing")


LOADED = LoadedRule(RULE, _check, DOCSTRING, "x")


def test_parses_the_sections() -> None:
    manual = read_manual(LOADED)
    assert manual.intro == "Report a thing that wastes."
    assert [section.title for section in manual.sections] == [
        "What it does",
        "Example",
        "References",
    ]
    assert manual.sections[0].text == "Looks for `x`."


def test_adds_the_references_that_the_docstring_lacks() -> None:
    manual = read_manual(LOADED)
    assert manual.sections[-1].text == "- https://example.org/a\n- https://example.org/b"


def test_a_manual_without_sections_is_its_sentence() -> None:
    bare = LoadedRule(replace(RULE, references=()), _check, "Only this.", "x")
    manual = read_manual(bare)
    assert (manual.intro, manual.sections, manual.rows) == ("Only this.", (), ())


def test_markdown() -> None:
    assert to_markdown(read_manual(LOADED)) == (
        "# a-thing (ECO101)\n\n"
        "Severity red. The fix is unsafe: `--fix --unsafe-fixes` applies it. "
        "Since ecolint 0.1.0.\n\n"
        "Report a thing that wastes.\n\n"
        "## What it does\n\nLooks for `x`.\n\n"
        "## Example\n\nNot this:\n```python\nf(x=1)\n\ng()\n```\nbut that.\n\n"
        "## References\n\n- https://example.org/a\n- https://example.org/b\n"
    )


def test_text_indents_code_instead_of_fencing_it() -> None:
    text = to_text(read_manual(LOADED))
    assert "Example\n\nNot this:\n\n    f(x=1)\n\n    g()\n\nbut that.\n\nReferences" in text
    assert "```" not in text
    assert "\x1b[" not in text
    assert to_text(read_manual(LOADED), colour=True).startswith("\x1b[1;31mECO101 a-thing\x1b[0m")


@pytest.mark.parametrize(
    ("applicability", "sentence"),
    [
        (None, "There is no automatic fix."),
        (Applicability.SAFE, "The fix is safe: `--fix` applies it."),
        (Applicability.DISPLAY, "The fix is shown, and applied by hand."),
    ],
)
def test_tells_what_the_fix_risks(applicability: Applicability | None, sentence: str) -> None:
    rule = replace(RULE, applicability=applicability)
    assert sentence in to_markdown(read_manual(replace(LOADED, rule=rule)))


# --- what was measured ---


def test_measured_rows_are_usable_ratios_of_the_precisions() -> None:
    found = measured_rows(("int8", "fp8-dynamic"))
    assert {row.precision for row in found} == {"int8", "fp8-dynamic"}
    assert all(row.usable and row.energy_vs_fp16_pct is not None for row in found)
    assert measured_rows(()) == ()


def test_a_manual_shows_the_rows_with_their_ids_before_the_references() -> None:
    manual = read_manual(replace(LOADED, rule=replace(RULE, query=("int8",))))
    assert manual.rows
    assert "Severity red by default; the data for your GPU" in to_markdown(manual)
    for page in (to_markdown(manual), to_text(manual)):
        table = page[page.index("Measured") : page.index("References")]
        for row in manual.rows:
            assert row.id in table
            assert row.energy_vs_fp16_pct is not None
            assert f"{row.energy_vs_fp16_pct:+.1f} %" in table
    for entry in to_dict(manual)["measured"]:
        found = find_row(entry["id"])
        assert found is not None
        assert entry["energy_vs_fp16_pct"] == found.energy_vs_fp16_pct


def test_columns_stand_under_each_other() -> None:
    assert align([("模型", "1"), ("a", "22")], right=(1,)) == ["模型   1", "a     22"]


# --- the commands, over every rule that ships ---


def test_every_rule_explains_itself_by_code_and_name(capsys: pytest.CaptureFixture[str]) -> None:
    rules = [loaded.rule for loaded in load_rules()]
    assert rules
    for rule in rules:
        assert main(["rule", rule.code]) == 0
        by_code = capsys.readouterr().out
        assert main(["rule", rule.name.upper()]) == 0
        assert capsys.readouterr().out == by_code
        assert by_code.startswith(f"{rule.code} {rule.name}\n")
        assert "What it does" in by_code


def test_all_rules_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "--all", "--output-format", "json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    assert main(["rules", "--output-format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    codes = [loaded.rule.code for loaded in load_rules()]
    assert codes
    assert [one["code"] for one in explained] == [one["code"] for one in listed] == codes


def test_all_rules_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "--all", "--output-format", "markdown"]) == 0
    pages = capsys.readouterr().out
    assert main(["rules", "--output-format", "markdown"]) == 0
    table = capsys.readouterr().out
    for loaded in load_rules():
        assert f"# {loaded.rule.name} ({loaded.rule.code})\n" in pages
        assert f"| {loaded.rule.code} | [{loaded.rule.name}](" in table


def test_the_list_of_rules_is_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [one.rule.code for one in load_rules()]


@pytest.mark.parametrize("words", [["rule"], ["rule", "ECO101", "--all"], ["rule", "nope"]])
def test_an_unclear_wish_is_refused_in_a_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
