"""Writers: each format's exact words, and that hostile text stays text."""

import io
import json
from dataclasses import replace
from importlib.resources import files
from typing import Any, NamedTuple

import jsonschema
import pytest

from ecolint.diagnostics import (
    Applicability,
    Diagnostic,
    Edit,
    Evidence,
    Fix,
    LocatedEdit,
    Location,
    Provenance,
    Severity,
    Span,
)
from ecolint.output import FOR_PEOPLE, FORMATS, Style, load_writer
from ecolint.output import statistics as statistics_table
from ecolint.output.summary import list_fixed, summarise, would_fix
from ecolint.output.terminal import lay_out, neutralise, paint, shows_colour, width

EDIT = Edit(Span(40, 40), ", llm_int8_threshold=0.0")
FINDING = Diagnostic(
    code="ECO101",
    name="int8-mixed-decomposition",
    severity=Severity.RED,
    message="LLM.int8() splits outliers",
    filename="app/serve.py",
    span=Span(22, 39),
    location=Location(14, 5, None, 14, 5),
    end_location=Location(14, 22, None, 14, 22),
    line="    load_in_8bit=True,",
    url="https://ecolint.github.io/ecolint/rules/int8-mixed-decomposition",
    fix=Fix("Set llm_int8_threshold to 0.0", Applicability.UNSAFE, (EDIT,)),
    fix_locations=(LocatedEdit(EDIT, Location(14, 22), Location(14, 22)),),
    evidence=Evidence(("row-1", "row-2"), Provenance.MEASURED, 30.7),
    role="service",
    gpu="RTX 4090D",
    model="Mistral-7B",
)
SAFE = replace(
    FINDING,
    code="ECO502",
    name="kv-cache-disabled",
    filename="a.py",
    fix=Fix("Drop use_cache=False", Applicability.SAFE, (EDIT,)),
)
GRAY = replace(SAFE, code="ECO000", name="not-analysed", severity=Severity.GRAY, fix=None)
GREEN = replace(GRAY, code="ECO905", name="good-practice-cache", severity=Severity.GREEN)
IN_CELL = replace(
    FINDING,
    filename="nb.ipynb",
    location=Location(3, 4, 2, 31, 20),
    end_location=Location(3, 9, 2, 31, 25),
)


PLAIN = Style()


class Findings(NamedTuple):
    diagnostics: tuple[Diagnostic, ...]


def printed(name: str, *found: Diagnostic, style: Style = PLAIN) -> str:
    stream = io.StringIO()
    load_writer(name).write(Findings(found), stream, style)
    return stream.getvalue()


# --- for people ---


@pytest.mark.parametrize("name", ["text", "concise"])
def test_one_line_a_finding(name: str) -> None:
    assert printed(name, FINDING, SAFE) == (
        "app/serve.py:14:5: ECO101 [red] LLM.int8() splits outliers\n"
        "a.py:14:5: ECO502 [red] LLM.int8() splits outliers [*]\n"
    )


def test_unsafe_fixes_count_when_they_are_asked_for() -> None:
    line = printed("text", FINDING, style=Style(unsafe_fixes=True))
    assert line.endswith("splits outliers [*]\n")


def test_a_fix_that_is_only_shown_gets_no_star() -> None:
    assert FINDING.fix is not None
    shown = replace(FINDING, fix=replace(FINDING.fix, applicability=Applicability.DISPLAY))
    assert "[*]" not in printed("text", shown, style=Style(unsafe_fixes=True))


def test_a_notebook_tells_the_cell() -> None:
    assert printed("text", IN_CELL).startswith("nb.ipynb:cell 2:3:4: ECO101 [red] ")


def test_full_shows_the_line_a_caret_and_the_fix() -> None:
    assert printed("full", FINDING, SAFE) == (
        "app/serve.py:14:5: ECO101 [red] LLM.int8() splits outliers\n"
        "   |\n"
        "14 |     load_in_8bit=True,\n"
        "   |     ^^^^^^^^^^^^^^^^^\n"
        "   = help: Set llm_int8_threshold to 0.0 (unsafe fix)\n"
        "\n"
        "a.py:14:5: ECO502 [red] LLM.int8() splits outliers [*]\n"
        "   |\n"
        "14 |     load_in_8bit=True,\n"
        "   |     ^^^^^^^^^^^^^^^^^\n"
        "   = help: Drop use_cache=False (safe fix)\n"
        "\n"
    )


def test_full_without_a_source_line_or_a_fix_is_the_headline() -> None:
    bare = replace(GRAY, line="")
    assert printed("full", bare) == "a.py:14:5: ECO000 [gray] LLM.int8() splits outliers\n\n"


def carets(line: str, start: int, end: int, end_row: int = 14) -> tuple[str, str]:
    """The source line and the caret line that `full` prints for columns of a line."""
    finding = replace(
        GRAY, line=line, location=Location(14, start), end_location=Location(end_row, end)
    )
    _, _, source, marks, _, _ = printed("full", finding).split("\n")
    return source[5:], marks[5:]


@pytest.mark.parametrize(
    ("line", "start", "end", "marks"),
    [
        ("\tx = 1", 2, 3, "    ^"),
        ("ab\tx = 1", 4, 5, "    ^"),
        ("模型 = f(x=1)", 8, 11, " " * 9 + "^^^"),
        ("e\u0301 = x", 6, 7, "    ^"),
        ("x = y", 5, 5, "    ^"),
        ("x = y", 6, 6, "     ^"),
    ],
)
def test_carets_stand_under_the_setting(line: str, start: int, end: int, marks: str) -> None:
    assert carets(line, start, end)[1] == marks


def test_a_span_over_lines_is_marked_to_the_end_of_the_first() -> None:
    assert carets("f(a,", 3, 2, end_row=15)[1] == "  ^^"


def test_a_minified_line_is_cut_around_the_finding() -> None:
    line = "x" * 500 + "BAD" + "y" * 500
    source, marks = carets(line, 501, 504)
    assert len(source) < 210
    assert source[marks.index("^") : marks.rindex("^") + 1] == "BAD"
    assert source.startswith("…")
    assert source.endswith("…")


def test_colours_follow_the_severity() -> None:
    line = printed("text", FINDING, style=Style(colour=True))
    assert "\x1b[1;31mECO101\x1b[0m" in line
    assert "\x1b[2mECO000\x1b[0m" in printed("text", GRAY, style=Style(colour=True))


# --- hostile text ---

HOSTILE = "a\x1b[2Jb\u202ec\x07d\u2028e\x9bf\udc80g\ufeffh\r\ni"


@pytest.mark.parametrize("name", sorted(FOR_PEOPLE))
def test_nothing_reaches_the_terminal_that_it_would_act_upon(name: str) -> None:
    assert FINDING.fix is not None
    hostile = replace(
        FINDING,
        filename=HOSTILE,
        message=HOSTILE,
        line=HOSTILE,
        fix=replace(FINDING.fix, message=HOSTILE),
    )
    text = printed(name, hostile)
    assert all(one == "\n" or one.isprintable() for one in text)
    assert r"a\x1b[2Jb\u202ec\x07d\u2028e\x9bf\udc80g\ufeffh\x0d\x0ai" in text
    text.encode("utf-8")


def test_neutralise_leaves_ordinary_text_alone() -> None:
    text = "modèle 模型 🦞 − × « »"
    assert neutralise(text) == text


def test_columns_count_escapes_as_they_are_printed() -> None:
    assert lay_out("\x1bx", 1, 2) == (r"\x1bx", 4, 5)


def test_width() -> None:
    assert [width(text) for text in ("abc", "模型", "e\u0301", "")] == [3, 4, 1, 0]


# --- for machines ---


def schema() -> Any:
    return json.loads(files("ecolint.output").joinpath("schema.json").read_text("utf-8"))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


EVERYTHING = (FINDING, SAFE, GRAY, GREEN, IN_CELL)


def test_json_keeps_to_its_schema() -> None:
    jsonschema.Draft202012Validator(schema()).validate(json.loads(printed("json", *EVERYTHING)))


@pytest.mark.parametrize(
    "broken", [{"severity": "blue"}, {"cell": 0}, {"location": {"row": 0, "column": 1}}, {"x": 1}]
)
def test_the_schema_refuses_what_is_wrong(broken: dict[str, object]) -> None:
    finding = json.loads(printed("json", FINDING))[0] | broken
    assert not jsonschema.Draft202012Validator(schema()).is_valid([finding])


def test_json_has_exactly_the_promised_shape() -> None:
    text = printed("json", FINDING)
    assert text.isascii()
    assert json.loads(text) == [
        {
            "code": "ECO101",
            "name": "int8-mixed-decomposition",
            "severity": "red",
            "message": "LLM.int8() splits outliers",
            "filename": "app/serve.py",
            "location": {"row": 14, "column": 5},
            "end_location": {"row": 14, "column": 22},
            "cell": None,
            "url": "https://ecolint.github.io/ecolint/rules/int8-mixed-decomposition",
            "fix": {
                "applicability": "unsafe",
                "message": "Set llm_int8_threshold to 0.0",
                "edits": [
                    {
                        "content": ", llm_int8_threshold=0.0",
                        "location": {"row": 14, "column": 22},
                        "end_location": {"row": 14, "column": 22},
                    }
                ],
            },
            "evidence": {
                "rows": ["row-1", "row-2"],
                "energy_vs_fp16_pct": 30.7,
                "provenance": "measured",
            },
            "role": "service",
            "gpu": "RTX 4090D",
            "model": "Mistral-7B",
        }
    ]


def test_json_says_null_where_there_is_nothing() -> None:
    bare = replace(GRAY, evidence=None, role="", gpu=None, model=None, url=None)
    (finding,) = json.loads(printed("json", bare))
    empty = {key for key, value in finding.items() if value is None}
    assert empty == {"cell", "url", "fix", "evidence", "role", "gpu", "model"}


def test_an_edit_of_a_notebook_is_told_as_source_text() -> None:
    content = 'a = \\"x\\"\\n",\n    "b = 1\\n'
    edit = Edit(Span(0, 0), content)
    located = LocatedEdit(edit, Location(1, 1, 1, 5, 6), Location(1, 1, 1, 5, 6))
    (finding,) = json.loads(printed("json", replace(IN_CELL, fix_locations=(located,))))
    assert finding["cell"] == 2
    assert finding["location"] == {"row": 3, "column": 4}
    assert finding["fix"]["edits"] == [
        {
            "content": 'a = "x"\nb = 1\n',
            "location": {"row": 1, "column": 1},
            "end_location": {"row": 1, "column": 1},
            "cell": 1,
        }
    ]


def test_jsonl_is_the_same_a_line_each() -> None:
    lines = printed("jsonl", *EVERYTHING).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(printed("json", *EVERYTHING))


@pytest.mark.parametrize(("name", "text"), [("json", "[]\n"), ("jsonl", ""), ("text", "")])
def test_nothing_found(name: str, text: str) -> None:
    assert printed(name) == text


def test_every_format_has_a_writer() -> None:
    for name in FORMATS:
        assert callable(load_writer(name).write)
    with pytest.raises(KeyError):
        load_writer("nope")


# --- the lines around the findings ---


@pytest.mark.parametrize(
    ("found", "fixed", "unsafe", "line"),
    [
        ([], 0, False, "All checks passed!"),
        ([GREEN], 0, False, "All checks passed! 1 good practice."),
        ([GRAY], 0, False, "Found 1 finding."),
        ([GRAY, GREEN], 0, False, "Found 1 finding."),
        ([SAFE, SAFE], 0, False, "Found 2 findings. 2 fixable with --fix."),
        (
            [SAFE, SAFE, FINDING],
            0,
            False,
            "Found 3 findings. 2 fixable with --fix (1 more with --unsafe-fixes).",
        ),
        ([FINDING], 0, False, "Found 1 finding. 1 fixable with --fix --unsafe-fixes."),
        ([FINDING, SAFE], 0, True, "Found 2 findings. 2 fixable with --fix."),
        ([], 2, False, "Found 2 findings (2 fixed, 0 remaining)."),
        (
            [FINDING],
            2,
            False,
            "Found 3 findings (2 fixed, 1 remaining). 1 fixable with --fix --unsafe-fixes.",
        ),
    ],
)
def test_the_summary(found: list[Diagnostic], fixed: int, unsafe: bool, line: str) -> None:
    assert summarise(found, fixed, unsafe) == line


def test_what_a_diff_came_to() -> None:
    assert would_fix(1) == "Would fix 1 finding."
    assert would_fix(0) == "No fixes available."


def test_fixes_are_listed_by_file_and_rule() -> None:
    assert list_fixed([SAFE, FINDING, SAFE]) == (
        "Fixed 3 findings:\n"
        "- a.py:\n"
        "    2 × ECO502 (kv-cache-disabled)\n"
        "- app/serve.py:\n"
        "    1 × ECO101 (int8-mixed-decomposition)"
    )


def test_statistics_rank_the_rules() -> None:
    stream = io.StringIO()
    statistics_table.write(Findings((SAFE, FINDING, SAFE, GRAY)), stream, Style(), "text")
    assert stream.getvalue() == (
        "2\tECO502\t[*] kv-cache-disabled\n"
        "1\tECO000\t[ ] not-analysed\n"
        "1\tECO101\t[ ] int8-mixed-decomposition\n"
    )


def test_statistics_for_machines() -> None:
    row = {"code": "ECO502", "name": "kv-cache-disabled", "count": 1, "fixable": 1}
    for name, expected in (("json", [row]), ("jsonl", row)):
        stream = io.StringIO()
        statistics_table.write(Findings((SAFE,)), stream, Style(), name)
        assert json.loads(stream.getvalue()) == expected


# --- colour ---


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "when", "environment", "coloured"),
    [
        (Terminal(), "auto", {}, True),
        (io.StringIO(), "auto", {}, False),
        (Terminal(), "auto", {"NO_COLOR": "1"}, False),
        (Terminal(), "auto", {"NO_COLOR": ""}, True),
        (io.StringIO(), "auto", {"FORCE_COLOR": "1"}, True),
        (Terminal(), "auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (Terminal(), "auto", {"TERM": "dumb"}, False),
        (io.StringIO(), "always", {"NO_COLOR": "1"}, True),
        (Terminal(), "never", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_when_to_colour(
    stream: io.StringIO, when: str, environment: dict[str, str], coloured: bool
) -> None:
    assert shows_colour(stream, when, environment) is coloured


def test_paint_without_colour_is_the_text() -> None:
    assert paint("x", Severity.RED, False) == "x"
    assert paint("x", "bold", True) == "\x1b[1mx\x1b[0m"
