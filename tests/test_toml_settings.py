"""TOML settings: the scanner finds the places of everything that tomllib reads."""

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecolint.document import Document, Kind, whole
from ecolint.facts import Unanalysed
from ecolint.frontends.mapping import Form, Node
from ecolint.frontends.tomlsettings import parse, read_toml_settings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SAMPLE = '''\
# é
title = "a # no comment"
path = 'C:\\x'
text = """
two
lines \\"""" # behind
raw = \'\'\'it's\'\'\'
when = 1979-05-27 07:32:00
numbers = [ 1, 2.5, # two
  [ "x", ], { y = 0x10, z.w = true }, ]
dotted . "key.with dots".b = false

[server]
port = 8_000
[server.tls]   # deeper
on = true
[[gpu]]
name = "L4"
[[gpu]]
name = "T4"
  [gpu.limits]
  power = 70
'''


def plain(node: Node) -> Any:
    if node.form is Form.MAPPING:
        return {entry.key: plain(entry.value) for entry in node.entries}
    return [plain(item) for item in node.items] if node.form is Form.LIST else node.value


def tree(text: str) -> Node:
    source, notes = parse(whole(Document("x.toml", Kind.TOML, text)))
    assert not notes, notes
    return source.roots[0]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_tree_is_tomllib_s(newline: str) -> None:
    text = SAMPLE.replace("\n", newline)
    assert plain(tree(text)) == tomllib.loads(text)


def test_every_value_stands_where_it_is_said_to() -> None:
    stack = [tree(SAMPLE)]
    seen = 0
    while stack:
        node = stack.pop()
        stack += [*node.items, *(entry.value for entry in node.entries)]
        for entry in node.entries:
            assert SAMPLE[entry.key_start : entry.key_end].strip("\"'") == entry.key
        if node.form is Form.SCALAR:
            written = SAMPLE[node.start : node.end]
            assert tomllib.loads(f"x = {written}")["x"] == node.value
            seen += 1
    assert seen == 16


@given(st.recursive(
    st.integers(-9, 9) | st.booleans() | st.sampled_from(["'a]'", '"b}"', '"#"', "0.5"]),
    lambda inner: st.lists(inner, max_size=3), max_leaves=8,
))  # fmt: skip
def test_nested_lists_end_where_they_end(value: object) -> None:
    def written(each: object) -> str:
        if isinstance(each, list):
            return "[" + ", ".join(map(written, each)) + "]"
        return str(each).lower() if isinstance(each, bool) else str(each)

    text = f"x = {written(value)} # end\ny = 1\n"
    root = tree(text)
    assert plain(root) == tomllib.loads(text)
    node = root.entries[0].value
    assert text[node.start : node.end] == written(value)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 20_000 + "]" * 20_000,
        "load_in_8bit = \n",
        'a = "\0"\n',
        "a = 1\na = 2\n",
        "x" * 9_000_000,
    ],
)
def test_what_is_no_toml_gets_one_note(text: str) -> None:
    (note,) = read_toml_settings(Document("x.toml", Kind.TOML, text)).items
    assert isinstance(note, Unanalysed)
    assert "\n" not in note.reason


def test_a_template_of_toml_is_passed_over() -> None:
    assert not read_toml_settings(Document("x.toml", Kind.TOML, "a = {{ cookiecutter.x }}\n"))
