"""The JSON scanner agrees with `json`, and knows where everything stands."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecolint import jsontext
from ecolint.jsontext import Node

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def _value(node: Node) -> object:
    if node.kind == "object":
        return {str(key.value): _value(value) for key, value in node.members}
    if node.kind == "array":
        return [_value(item) for item in node.items]
    return node.value


@given(VALUES, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_it_reads_what_json_writes(value: object, indent: int | str | None, ascii_: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_)
    root = jsontext.parse(text)
    assert _value(root) == value
    for node in root.walk():
        assert json.loads(text[node.start : node.end]) == _value(node)


@given(st.text(), st.booleans())
def test_each_character_of_a_string_has_its_place(value: str, ascii_: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_)
    read, places = jsontext.unescape(jsontext.parse(text))
    assert read == value
    assert len(places) == len(value) + 1
    assert list(places) == sorted(places)
    assert places[-1] == len(text) - 1


@given(st.text(alphabet='{}[]",:0 tnul\\\n/#', max_size=30))
def test_it_never_accepts_what_json_refuses(text: str) -> None:
    try:
        json.loads(text)
        legal = True
    except ValueError:
        legal = False
    try:
        accepted = all(n.kind != "scalar" or _scalar_ok(n) for n in jsontext.parse(text).walk())
    except jsontext.JSONError:
        accepted = False
    assert accepted == legal


def _scalar_ok(node: Node) -> bool:
    try:
        json.loads(node.text[node.start : node.end])
    except ValueError:
        return False
    return True


def test_comments_and_trailing_commas_on_request() -> None:
    text = '{"a": 1, // one\n "b": [2, /* two */ 3,],}'
    assert _value(jsontext.parse(text, comments=True)) == {"a": 1, "b": [2, 3]}
    with pytest.raises(jsontext.JSONError):
        jsontext.parse(text)


def test_deep_nesting_is_refused_without_recursion() -> None:
    with pytest.raises(jsontext.JSONError, match="deep"):
        jsontext.parse("[" * 100_000)


def test_the_last_of_repeated_keys_wins() -> None:
    found = jsontext.parse('{"a": 1, "a": 2}').get("a")
    assert found is not None
    assert found.value == 2
