"""Settings: which file holds, what is refused and where, and which rules are on."""

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from ecolint import __version__, selectors
from ecolint.cli.config import in_pyproject, to_markdown
from ecolint.configfile import parse_override, problem_with, read
from ecolint.options import EXTEND, OPTIONS, Option
from ecolint.settings import (
    Hierarchy,
    Settings,
    SettingsError,
    find_in,
    matches,
    may_fix,
    overlay,
    selects,
)

RULES = {
    "ECO101": "int8-mixed-decomposition",
    "ECO102": "quantized-below-crossover",
    "ECO201": "batch-size-one",
    "ECO502": "kv-cache-disabled",
}
EXAMPLES = {"ECO401": "nightly-build", "ECO603": "outside-range", "ECO701": "removed-keyword"}


@pytest.fixture(autouse=True)
def _known_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "own_rules", lambda: RULES | EXAMPLES)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        read(str(path))
    return str(caught.value)


# --- the table ---


def test_every_attribute_has_an_option_and_every_option_an_attribute() -> None:
    internal = {"root", "source"}
    assert {option.field for option in OPTIONS} == set(Settings._fields) - internal
    assert len({option.key for option in OPTIONS}) == len(OPTIONS)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_every_example_is_understood_and_changes_something(option: Option, project: Path) -> None:
    settings = read(str(write(project / "pyproject.toml", in_pyproject(option))))
    assert getattr(settings, option.field) != Settings._field_defaults[option.field]


def test_the_reference_in_the_documentation_is_current() -> None:
    page = Path(__file__).parents[1].joinpath("docs", "configuration.md")
    _, marker, reference = page.read_text(encoding="utf-8").partition(
        "<!-- made by `ecolint config --output-format markdown` -->\n\n"
    )
    assert marker
    assert reference == to_markdown((*OPTIONS, EXTEND))


# --- reading a file ---


def test_reads_every_kind_of_value(project: Path) -> None:
    path = write(
        project / "ecolint.toml",
        'select = ["eco1", "KV-cache-disabled"]\nignore = ["ECO102"]\nfix = true\njobs = 3\n'
        'extend-exclude = ["old"]\nmeasurements = "m/own.csv"\ngpu = "RTX 4090"\n'
        'per_file_ignores = { "a/*.py" = ["ALL"] }\n'
        '[stack]\nBitsAndBytes = "0.50"\n[budget]\nusd_per_month = 10.5\n',
    )
    settings = read(str(path))
    assert settings.select == ("ECO1", "ECO502")
    assert settings.ignore == ("ECO102",)
    assert settings.fix is True
    assert settings.jobs == 3
    assert settings.extend_exclude == ("old",)
    assert settings.measurements == str(project / "m" / "own.csv")
    assert settings.gpu == "RTX 4090"
    assert settings.per_file_ignores == (("a/*.py", ("ALL",)),)
    assert settings.stack == {"bitsandbytes": "0.50"}
    assert settings.budget == {"usd-per-month": 10.5}
    assert settings.root == str(project)
    assert settings.source == str(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.ecolint]\nslect = []\n", "2: unknown key 'slect'; did you mean 'select'?"),
        ("[tool.ecolint]\nzzz = 1\n", "2: unknown key 'zzz'"),
        (
            "[tool.other]\nfix = 1\n[tool.ecolint]\nfix = 1\n",
            "4: 'fix' takes true or false, not a number",
        ),
        (
            "[tool.ecolint]\njobs = true\n",
            "2: 'jobs' takes a whole number, not true or false",
        ),
        ("[tool.ecolint]\njobs = -1\n", "2: 'jobs' can't be negative"),
        (
            '[tool.ecolint]\nselect = "ECO101"\n',
            "2: 'select' takes a list of rule codes, prefixes or names, not a string",
        ),
        (
            '[tool.ecolint]\nselect = [\n  "ECO101",\n  "ECO1O1",\n]\n',
            "4: unknown rule 'ECO1O1'; did you mean 'ECO101'? (in 'select')",
        ),
        (
            '[tool.ecolint]\nignore = ["kv-cache-disable"]\n',
            "2: unknown rule 'kv-cache-disable'; did you mean 'kv-cache-disabled'? (in 'ignore')",
        ),
        (
            '[tool.ecolint.per-file-ignores]\n"a.py" = ["ECO101"]\n"b.py" = ["ECO999"]\n',
            "3: unknown rule 'ECO999'",
        ),
        (
            '[tool.ecolint]\noutput-format = "jsno"\n',
            "2: unknown format 'jsno'; did you mean 'json'?",
        ),
        ('[tool.ecolint]\ngpu = "RTX 4909"\n', "2: unknown GPU 'RTX 4909'; did you mean"),
        ('[tool.ecolint]\nmodel = "mystery"\n', "2: unknown model 'mystery'"),
        (
            '[tool.ecolint.stack]\ntorch = "2.9"\nbitsandbytes = "new"\n',
            "3: bitsandbytes = 'new' is no version",
        ),
        (
            "[tool.ecolint.budget]\nusd-per-moth = 3\n",
            "2: unknown key 'usd-per-moth' in 'budget'; did you mean 'usd-per-month'?",
        ),
        ("[tool.ecolint.budget]\nusd-per-month = -3\n", "2: 'usd-per-month' can't be negative"),
        (
            "[tool.ecolint]\nfix = 1979-05-27\n",
            "2: 'fix' takes true or false, not a date or time",
        ),
        ("[tool.ecolint]\nfix = yes\n", "2: not TOML: "),
        ("[tool]\necolint = 3\n", ": has no [tool.ecolint] table"),
        ('[tool.ecolint]\nrequired-version = ">=99"\n', "2: ecolint >=99 is required, and this is"),
        (
            '[tool.ecolint]\nrequired-version = "newest"\n',
            "2: 'required-version' 'newest' is no version; write e.g.",
        ),
        ('[tool.ecolint]\nextend = "nope.toml"\n', "nope.toml: No such file or directory"),
        ('[tool.ecolint]\nextend = "pyproject.toml"\n', "'extend' goes in a circle"),
    ],
)
def test_refuses_what_it_does_not_understand(project: Path, text: str, message: str) -> None:
    said = refusal(write(project / "pyproject.toml", text))
    assert message in said
    assert "\n" not in said
    if message[0].isdigit():
        assert said.startswith(f"pyproject.toml:{message}")


def test_refuses_a_file_that_is_not_utf8(project: Path) -> None:
    path = project / "ecolint.toml"
    path.write_bytes(b'fix = true\ngpu = "\xff"\n')
    assert refusal(path) == "ecolint.toml:2: not UTF-8, which TOML must be"


def test_reads_a_file_with_a_byte_order_mark(project: Path) -> None:
    path = project / "ecolint.toml"
    path.write_bytes(b"\xef\xbb\xbffix = true\r\n")
    assert read(str(path)).fix is True


@pytest.mark.parametrize("wanted", [__version__, f">={__version__}", f"=={__version__}"])
def test_accepts_the_version_that_it_is(project: Path, wanted: str) -> None:
    path = write(project / "ecolint.toml", f'required-version = "{wanted}"')
    assert read(str(path)).required_version == wanted


# --- extend ---


def test_extend_fills_in_what_the_nearer_file_leaves_open(project: Path) -> None:
    write(
        project / "base.toml",
        'ignore = ["ECO101"]\nfix = true\nextend-exclude = ["a"]\nmeasurements = "m.csv"\n'
        '[stack]\ntorch = "2.5"\nbitsandbytes = "0.45"\n',
    )
    path = write(
        project / "sub" / "ecolint.toml",
        'extend = "../base.toml"\nfix = false\nextend-exclude = ["b"]\nextend-select = ["ECO1"]\n'
        '[stack]\nbitsandbytes = "0.50"\n',
    )
    settings = read(str(path))
    assert settings.fix is False
    assert settings.extend_exclude == ("a", "b")
    assert settings.measurements == str(project / "m.csv")
    assert settings.stack == {"torch": "2.5", "bitsandbytes": "0.50"}
    assert settings.ignore == (), "the nearer extend-select takes the ignore back"
    assert settings.root == str(project / "sub")


def test_extend_expands_the_home_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project))
    write(project / "base.toml", "show-green = true")
    assert read(str(write(project / "s" / "ecolint.toml", 'extend = "~/base.toml"'))).show_green


# --- which file holds ---


def test_the_nearest_file_holds_alone(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.ecolint]\nfix = true\nshow-green = true\n")
    write(project / "inner" / "ecolint.toml", "fix = false\n")
    hierarchy = Hierarchy({})
    assert hierarchy.of_file("a.py").fix is True
    assert hierarchy.of_file(str(project / "inner" / "deep" / "b.py")) == hierarchy.of_folder(
        "inner"
    )
    assert hierarchy.of_folder("inner").fix is False
    assert hierarchy.of_folder("inner").show_green is False


def test_a_pyproject_that_does_not_speak_to_us_is_passed_over(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.ecolint]\nfix = true\n")
    write(project / "inner" / "pyproject.toml", "[project]\nname = 'x'  # tool.ecolint\n")
    assert Hierarchy({}).of_folder("inner").fix is True


@pytest.mark.parametrize(
    "text",
    [
        "[tool.ecolint]\n",
        "[tool]\necolint = {}\n",
        "[tool.ecolint.stack]\n",
        "tool.ecolint.fix=true",
    ],
)
def test_any_spelling_of_the_table_counts(project: Path, text: str) -> None:
    path = write(project / "pyproject.toml", text)
    assert find_in(str(project)) == str(path)


def test_the_dotted_file_comes_first(project: Path) -> None:
    for name in ("pyproject.toml", "ecolint.toml", ".ecolint.toml"):
        path = write(project / name, "[tool.ecolint]\n" if name == "pyproject.toml" else "")
        assert find_in(str(project)) == str(path)


def test_no_file_leaves_the_defaults(project: Path) -> None:
    assert Hierarchy({}).of_folder(".")._replace(root=".") == Settings()


def test_a_broken_pyproject_that_speaks_to_us_is_told(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.ecolint]\nfix = \n")
    with pytest.raises(SettingsError, match=r"^pyproject.toml:2: not TOML"):
        Hierarchy({}).of_folder(".")


def test_isolated_looks_for_no_file(project: Path) -> None:
    write(project / "ecolint.toml", "fix = true")
    assert Hierarchy({}, isolated=True).of_folder(".").fix is False


def test_a_given_file_holds_everywhere(project: Path) -> None:
    write(project / "inner" / "ecolint.toml", "fix = false")
    given = write(project / "ci.toml", "fix = true")
    hierarchy = Hierarchy({}, given=str(given))
    assert hierarchy.of_folder("inner").fix is True
    assert hierarchy.of_folder("inner").root == str(project)


def test_flags_are_laid_over_every_file(project: Path) -> None:
    write(project / "ecolint.toml", 'gpu = "T4"')
    write(project / "inner" / "ecolint.toml", "")
    hierarchy = Hierarchy({"gpu": "L4"})
    assert [hierarchy.of_folder(folder).gpu for folder in (".", "inner")] == ["L4", "L4"]


def test_each_file_is_read_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project / "ecolint.toml", "fix = true")
    hierarchy = Hierarchy({})
    first = hierarchy.of_folder(".")
    os.unlink(project / "ecolint.toml")
    assert hierarchy.of_folder(".") is first


# --- overrides on the command line ---


def test_an_override_is_a_piece_of_toml(project: Path) -> None:
    assert parse_override("fix = true") == {"fix": True}
    assert parse_override('stack.torch = "2.9"') == {"stack": {"torch": "2.9"}}
    assert parse_override('cache-dir = "c"') == {"cache_dir": str(project / "c")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fix = maybe", "not TOML"),
        ("fxi = true", "--config: unknown key 'fxi'; did you mean 'fix'?"),
        ("extend = 'x.toml'", "only works in a file"),
    ],
)
def test_a_bad_override_is_refused(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message.replace("?", r"\?")):
        parse_override(text)


# --- selection ---


@pytest.mark.parametrize(
    ("changes", "on"),
    [
        ({}, "101 102 201 502"),
        ({"select": ("ECO1",)}, "101 102"),
        ({"select": ("ECO1",), "ignore": ("ECO101",)}, "102"),
        ({"select": ("ECO101",), "ignore": ("ECO1",)}, "101"),
        ({"select": ("ECO1",), "ignore": ("ECO1",)}, ""),
        ({"select": ("ECO1",), "extend_select": ("ECO502",)}, "101 102 502"),
        ({"select": ("kv-cache-disabled",)}, "502"),
        ({"ignore": ("batch-size-one",)}, "101 102 502"),
        ({"select": ("ALL",), "ignore": ("ECO",)}, ""),
        ({"select": ()}, ""),
    ],
)
def test_the_most_specific_selector_wins(changes: dict[str, Any], on: str) -> None:
    settings = Settings()._replace(**changes)
    chosen = [code[3:] for code, name in RULES.items() if selects(settings, code, name)]
    assert " ".join(chosen) == on


@pytest.mark.parametrize(
    ("file", "flags", "on"),
    [
        ({"select": ("ECO1",), "ignore": ("ECO101",)}, {"select": ("ECO101",)}, "101"),
        ({"select": ("ECO101",)}, {"ignore": ("ECO1",)}, ""),
        ({"ignore": ("ECO101", "ECO2")}, {"extend_select": ("ECO1",)}, "101 102 502"),
        ({"ignore": ("ECO101",)}, {"ignore": ("ECO2",)}, "102 502"),
        ({"extend_select": ("ECO502",), "select": ("ECO1",)}, {"select": ("ECO2",)}, "201"),
        ({"select": ("ECO1",)}, {"extend_select": ("ECO2",)}, "101 102 201"),
    ],
)
def test_flags_have_the_last_word(file: dict[str, Any], flags: dict[str, Any], on: str) -> None:
    settings = overlay(overlay(Settings(), file), flags)
    chosen = [code[3:] for code, name in RULES.items() if selects(settings, code, name)]
    assert " ".join(chosen) == on


def test_fixable_and_unfixable() -> None:
    settings = Settings(fixable=("ECO1", "ECO502"), unfixable=("ECO101",))
    allowed = [code for code, name in RULES.items() if may_fix(settings, code, name)]
    assert allowed == ["ECO102", "ECO502"]


def test_a_list_of_selectors_matches_by_prefix_and_name() -> None:
    assert matches(("ECO2", "kv-cache-disabled"), "ECO502", "kv-cache-disabled")
    assert not matches(("ECO2",), "ECO502", "kv-cache-disabled")
    assert not matches((), "ECO502", "kv-cache-disabled")


def test_rules_are_read_off_their_module_names_as_the_registry_loads_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ecolint.registry import load_rules

    monkeypatch.undo()
    ours = [one.rule for one in load_rules() if one.module.startswith("ecolint.rules.")]
    assert ours
    assert selectors.own_rules() == {rule.code: rule.name for rule in ours}


# --- the value itself ---


def test_settings_cross_a_process_border() -> None:
    settings = Settings(stack={"torch": "2.9"}, gpu="T4", per_file_ignores=(("a", ("ECO1",)),))
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Settings().fix = True  # type: ignore[misc]


@pytest.mark.parametrize("key", ["gpu", "model", "output-format"])
def test_known_values_are_no_problem(key: str) -> None:
    known = {"gpu": "NVIDIA-A100-SXM4-80GB", "model": "7B", "output-format": "full"}
    assert problem_with(key, known[key]) is None
