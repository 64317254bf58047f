"""Edits of entries: the tree that was meant, and every other character as it was."""

import json
import sys
from typing import Any

import pytest
from facts_of import apply
from hypothesis import given
from hypothesis import strategies as st

from ecolint.document import Document, Kind, whole
from ecolint.facts import Drop, Set
from ecolint.frontends import json as json_front_end
from ecolint.frontends import tomlsettings, yaml
from ecolint.frontends.entryedits import EntryEditor
from ecolint.frontends.mapping import Entry, Source

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TARGET = "load_in_8bit"


def parse(kind: Kind, text: str) -> Source:
    view = whole(Document("x", kind, text))
    if kind is Kind.JSON:
        source, notes = json_front_end.parse(view, "x.json")
    else:
        source, notes = (yaml if kind is Kind.YAML else tomlsettings).parse(view)
    assert not notes, (notes, text)
    return source


def loads(kind: Kind, text: str) -> Any:
    """The tree by a parser that the edits don't use."""
    if kind is Kind.TOML:
        return tomllib.loads(text)
    if kind is Kind.JSON:
        return json.loads(text)
    from ruamel.yaml import YAML

    return YAML(typ="safe").load(text)


_KEYS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), unique=True, max_size=3)
_VALUES = st.sampled_from(["1", "true", '"text"', "0.5"])
_NEWLINES = st.sampled_from(["\n", "\r\n"])


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Kind, str, list[str]]:
    """A document with the target somewhere among its siblings, and its lines' line end."""
    kind = draw(st.sampled_from([Kind.YAML, Kind.JSON, Kind.TOML]))
    flow = kind is Kind.JSON or draw(st.booleans())
    several = draw(st.booleans()) if flow and kind is not Kind.TOML else not flow
    newline = draw(_NEWLINES)
    siblings = [(key, draw(_VALUES)) for key in draw(_KEYS)]
    at = draw(st.integers(0, len(siblings)))
    pairs = [*siblings[:at], (TARGET, "true"), *siblings[at:]]
    mark = " = " if kind is Kind.TOML else draw(st.sampled_from([": ", ":  "]))
    if flow and kind is Kind.YAML:
        mark = ": "
    comment = "  # é kept" if kind is not Kind.JSON and several and draw(st.booleans()) else ""
    quote = '"' if kind is Kind.JSON or draw(st.booleans()) else ""
    written = [f"{quote}{key}{quote}{mark}{value}" for key, value in pairs]
    if not flow:
        indent = "  " if kind is Kind.YAML else ""
        head = "# top\nouter:\n" if kind is Kind.YAML else "# top\n[outer]\n"
        text = head + "".join(f"{indent}{line}{comment}\n" for line in written)
        text += "after: 1\n" if kind is Kind.YAML else "[after]\nx = 1\n"
    else:
        name = {Kind.YAML: "outer: ", Kind.JSON: '{"outer": ', Kind.TOML: "outer = "}[kind]
        end = "}" if kind is Kind.JSON else ""
        if several:
            body = f",{comment}\n".join(f"    {line}" for line in written)
            text = f"{name}{{\n{body}{comment}\n  }}{end}\n"
        else:
            text = f"{name}{{{', '.join(written)}}}{end}\n"
    return kind, text.replace("\n", newline), [line for line, _ in pairs]


def target_of(source: Source) -> Entry:
    return source.roots[0].names["outer"].value.names[TARGET]


def editor_of(source: Source) -> EntryEditor:
    entry = target_of(source)
    return EntryEditor(source, {"on": (entry,)}, {"threshold": "llm_int8_threshold"}, entry)


@given(layouts())
def test_a_value_is_replaced_and_nothing_else(case: tuple[Kind, str, list[str]]) -> None:
    kind, text, _ = case
    source = parse(kind, text)
    node = target_of(source).value
    edited = apply(text, editor_of(source).edits(Set("on", False)))
    assert edited == text[: node.start] + "false" + text[node.end :]
    wanted = loads(kind, text)
    wanted["outer"][TARGET] = False
    assert loads(kind, edited) == wanted


@given(layouts())
def test_an_entry_is_added_behind_its_neighbour(case: tuple[Kind, str, list[str]]) -> None:
    kind, text, keys = case
    edited = apply(text, editor_of(parse(kind, text)).edits(Set("threshold", 0.0)))
    before, after = loads(kind, text), loads(kind, edited)
    order = [*after["outer"]]
    assert order.index("llm_int8_threshold") == order.index(TARGET) + 1
    assert after["outer"].pop("llm_int8_threshold") == 0.0
    assert after == before
    assert [key for key in order if key in keys] == keys
    assert is_subsequence(text, edited)
    assert line_ends(edited) == line_ends(text)


@given(layouts())
def test_an_entry_goes_and_its_siblings_stay(case: tuple[Kind, str, list[str]]) -> None:
    kind, text, _ = case
    edited = apply_or_none(text, editor_of(parse(kind, text)).edits(Drop("on")))
    wanted = loads(kind, text)
    del wanted["outer"][TARGET]
    if not wanted["outer"]:
        del wanted["outer"]
    if edited is None:
        assert not wanted  # nothing would be left of the file
        return
    assert (loads(kind, edited) or {}) == wanted
    assert is_subsequence(edited, text)
    assert line_ends(edited) <= line_ends(text)
    assert TARGET not in edited


def apply_or_none(text: str, edits: Any) -> str | None:
    return None if edits is None else apply(text, edits)


def is_subsequence(short: str, long: str) -> bool:
    rest = iter(long)
    return all(char in rest for char in short)


def line_ends(text: str) -> set[str]:
    return {line[-2:] if line.endswith("\r\n") else "\n" for line in text.splitlines(True)}


# --- spellings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "value", "wanted"),
    [
        ("yes", False, "no"),
        ("On", False, "Off"),
        ("True", False, "False"),
        ('"true"', False, '"false"'),
        ("'1'", 8, "'8'"),
        ('"1"', 8, '"8"'),
        ("1", 8, "8"),
        ("float16", "bfloat16", "bfloat16"),
        ("'float16'", "bfloat16", "'bfloat16'"),
        ('"a"', 'b"c', '"b\\"c"'),
        ("'a'", "it's", "'it''s'"),
        ("fp4", "no", '"no"'),
        ("6", 0.0, "0.0"),
        ("&n 1", 8, "&n 8"),
        ("!!int 1", 8, "!!int 8"),
    ],
)
def test_a_value_is_written_as_its_predecessor_was(
    written: str, value: object, wanted: str
) -> None:
    text = f"outer:\n  {TARGET}:   {written}  # why\n"
    edited = apply(text, editor_of(parse(Kind.YAML, text)).edits(Set("on", value)))
    assert edited == text.replace(written, wanted)
    # YAML 1.1, as the readers of these files have it; in quotes everything stays text.
    import yaml as pyyaml

    loaded = pyyaml.safe_load(edited)["outer"][TARGET]
    assert loaded == (str(value).lower() if wanted[0] in "'\"" and value != loaded else value)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "outer:\n- {load_in_8bit: true}\n",
            "outer:\n- {load_in_8bit: true, llm_int8_threshold: 0.0}\n",
        ),
        (
            "outer:\n- load_in_8bit: true # a\n  b: 1\n",
            "outer:\n- load_in_8bit: true # a\n  llm_int8_threshold: 0.0\n  b: 1\n",
        ),
        (
            "outer:\n-   'load_in_8bit':   true",
            "outer:\n-   'load_in_8bit':   true\n    'llm_int8_threshold': 0.0",
        ),
    ],
)
def test_an_entry_of_a_list_item_is_added_in_line(text: str, wanted: str) -> None:
    source = parse(Kind.YAML, text)
    entry = source.roots[0].names["outer"].value.items[0].names[TARGET]
    editor = EntryEditor(source, {}, {"threshold": "llm_int8_threshold"}, entry)
    assert apply(text, editor.edits(Set("threshold", 0.0))) == wanted
    assert loads(Kind.YAML, wanted)["outer"][0]["llm_int8_threshold"] == 0.0


def test_a_dotted_key_of_toml_gets_a_dotted_sibling() -> None:
    text = "model.load_in_8bit = true # é\nmodel.name = 'x'\n"
    source = parse(Kind.TOML, text)
    entry = source.roots[0].names["model"].value.names[TARGET]
    editor = EntryEditor(source, {}, {"threshold": "llm_int8_threshold"}, entry)
    edited = apply(text, editor.edits(Set("threshold", 0.0)))
    assert tomllib.loads(edited)["model"]["llm_int8_threshold"] == 0.0
    assert edited.splitlines()[1] == "model.llm_int8_threshold = 0.0"


def test_what_an_editor_does_not_know_it_refuses() -> None:
    text = "outer:\n  load_in_8bit: true\n  note: |\n    text\n"
    source = parse(Kind.YAML, text)
    note = source.roots[0].names["outer"].value.names["note"]
    editor = EntryEditor(source, {"note": (note,)})
    assert editor.edits(Set("note", "x")) is None
    assert editor.edits(Set("unknown", 1)) is None
    assert editor.edits(Drop("unknown")) is None
    edited = apply(text, editor.edits(Drop("note")))
    assert edited == "outer:\n  load_in_8bit: true\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[a.outer]\nload_in_8bit = true\n[b]\nc = 1\n", "[b]\nc = 1\n"),
        ("[a]\nx = 1\n[a.outer]\nload_in_8bit = true\n", "[a]\nx = 1\n"),
        ("a.outer.load_in_8bit = true\nb = 1\n", "b = 1\n"),
        ("[a]\nouter = {load_in_8bit = true}\n[b]\n", "[b]\n"),
        ("[a.outer]\nload_in_8bit = true\n[b]\n[a.outer.c]\nd = 1\n", None),
    ],
)
def test_a_table_of_toml_goes_with_its_header_alone(text: str, wanted: str | None) -> None:
    source = parse(Kind.TOML, text)
    entry = source.roots[0].names["a"].value.names["outer"].value.names[TARGET]
    edits = EntryEditor(source, {"on": (entry,)}).edits(Drop("on"))
    if wanted is not None:
        assert apply(text, edits) == wanted
    else:
        kept = apply(text, edits)
        assert tomllib.loads(kept) == {"a": {"outer": {"c": {"d": 1}}}, "b": {}}
