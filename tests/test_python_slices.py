"""The slice of a program says the same as the whole, and every node keeps its place."""

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libcst.metadata import MetadataWrapper, PositionProvider

from ecolint.document import UnreadableError
from ecolint.frontends.python import slicing
from ecolint.frontends.python.positions import Positions

PIECES = (
    "import os\n",
    "# a comment\n\n",
    "x = {'a': 1, 'load_in_8bit': True}\n",
    "def helper(a, b=2):\n    '''doc'''\n    return a\n",
    "@decorator\ndef other():\n    pass\n",
    "class C:\n\n    y = 1\n\n    def m(self):\n        return helper(self.y)\n\n    def n(self): return 2\n",
    "a = 1; b = 2\n",
    "if x:\n    c = BitsAndBytesConfig(load_in_8bit=True)\nelse:\n    c = None\n",
    "from transformers import (\n    BitsAndBytesConfig,\n    AutoModel,\n)\n",
    "m = AutoModelForCausalLM.from_pretrained('o/m-1b', load_in_8bit=helper(True))\n",
    "s = '''a\nb\n'''\n",
    "\tx\n".lstrip(),
    "é = 'ü'; print(é)\n",
)


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_positions_equal_those_of_the_whole_print(pieces: list[str], newline: str) -> None:
    text = "".join(pieces).replace("\n", newline)
    part = slicing.relevant(text)
    if part is None:
        return
    module = cst.parse_module(part.text)
    whole = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    lazily = Positions(module, part.starts)
    for node, place in whole.items():
        if isinstance(node, (cst.Call, cst.Arg, cst.Name, cst.SimpleString)):
            assert lazily.of(node) == place


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8))
def test_a_slice_keeps_lines_and_line_count(pieces: list[str]) -> None:
    text = "".join(pieces)
    part = slicing.relevant(text)
    if part is None:
        return
    before, after = text.split("\n"), part.text.split("\n")
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert new in (old, "", old[: len(old) - len(old.lstrip())] + "pass")


def test_a_program_without_a_site_is_not_read() -> None:
    assert slicing.relevant("import os\nprint(os.name)\nmodel.fit(batch_size=1)\n") is None


def test_methods_nobody_needs_are_left_out() -> None:
    text = (
        "class A:\n    def used(self):\n        return BitsAndBytesConfig(load_in_8bit=True)\n"
        "    def unused(self):\n        return [1, 2, 3]\n"
    )
    part = slicing.relevant(text)
    assert part is not None
    assert "BitsAndBytesConfig" in part.text
    assert "[1, 2, 3]" not in part.text


def test_what_calls_the_function_of_a_site_is_kept() -> None:
    text = (
        "def load(on):\n    return BitsAndBytesConfig(load_in_8bit=on)\n"
        "def unrelated():\n    return 7\n"
        "def start():\n    return load(True)\n"
    )
    part = slicing.relevant(text)
    assert part is not None
    assert "load(True)" in part.text
    assert "return 7" not in part.text
    assert "unrelated" in part.hidden


def test_nesting_beyond_the_parser_is_told() -> None:
    with pytest.raises(UnreadableError, match="nested too deeply"):
        slicing.relevant("load_in_8bit=" + "(" * 50_000 + ")" * 50_000)
