"""Notebooks: one program over cells, magics aside, every place and edit in the raw file."""

import json

import nbformat
import pytest
from facts_of import apply, read
from hypothesis import given
from hypothesis import strategies as st

from ecolint.document import Kind, UnreadableError
from ecolint.facts import Method, Modernise, Quantization, Set, Unanalysed

HEAD = "from transformers import AutoModelForCausalLM, BitsAndBytesConfig\n"


def notebook(*cells: str, as_text: bool = False, indent: int = 1) -> str:
    """The JSON of a notebook with these code cells."""
    made: list[dict[str, object]] = [
        {
            "cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
            "id": f"c{number}",
            "source": cell if as_text else cell.splitlines(keepends=True),
        }
        for number, cell in enumerate(cells)
    ]  # fmt: skip
    body = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(body, indent=indent, ensure_ascii=False) + "\n"


def quantization(text: str) -> tuple[object, Quantization]:
    """The document and its only quantisation."""
    document, facts = read(text, Kind.NOTEBOOK)
    found = facts.of(Quantization)
    assert len(found) == 1
    return document, found[0]


@pytest.mark.parametrize("as_text", [False, True])
def test_cells_are_one_program_and_places_are_by_cell(as_text: bool) -> None:
    text = notebook(HEAD, "on = True\n", "x = 'ü \"q\"'\nc = BitsAndBytesConfig(load_in_8bit=on)",
                    as_text=as_text)  # fmt: skip
    document, facts = read(text, Kind.NOTEBOOK)
    fact = facts.of(Quantization)[0]
    assert fact.method.span is not None
    place = document.locate(fact.method.span.start)
    assert (place.cell, place.row, place.column) == (3, 2, 24)
    line = text.split("\n")[place.file_row - 1]
    assert line[place.file_column - 1 :].startswith("load_in_8bit=on")


@pytest.mark.parametrize(
    "cell",
    [
        "!nvidia-smi\nc = BitsAndBytesConfig(load_in_8bit=True)",
        "%load_ext autoreload\nc = BitsAndBytesConfig(load_in_8bit=True)",
        "%%time\nc = BitsAndBytesConfig(load_in_8bit=True)",
        "out = !ls -l\nc = BitsAndBytesConfig(load_in_8bit=True)",
        "model?\nc = BitsAndBytesConfig(load_in_8bit=True)",
        "if True:\n    !ls \\\n  -l\n    c = BitsAndBytesConfig(load_in_8bit=True)",
        "%%writefile app.py\n" + HEAD + "c = BitsAndBytesConfig(load_in_8bit=True)",
    ],
)
def test_magics_do_not_get_in_the_way(cell: str) -> None:
    _, fact = quantization(notebook(HEAD, cell))
    assert fact.method.is_(Method.INT8)


def test_a_prompt_that_looks_like_a_magic_is_text() -> None:
    _, fact = quantization(notebook(HEAD, 's = """\n!not a command\n%also not\n"""\n'
                                    "c = BitsAndBytesConfig(load_in_8bit=True)"))  # fmt: skip
    assert fact.method.is_(Method.INT8)


def test_a_broken_cell_is_told_and_the_others_read() -> None:
    _, facts = read(notebook(HEAD, "this is no python", "BitsAndBytesConfig(load_in_8bit=True)"),
                    Kind.NOTEBOOK)  # fmt: skip
    assert len(facts.of(Unanalysed)) == 1
    assert len(facts.of(Quantization)) == 1


def test_nbformat_3_is_read() -> None:
    cell = {"cell_type": "code", "input": HEAD + "BitsAndBytesConfig(load_in_8bit=True)"}
    _, fact = quantization(json.dumps({"worksheets": [{"cells": [cell]}], "nbformat": 3}))
    assert fact.method.is_(Method.INT8)


@pytest.mark.parametrize("text", ["[1, 2", "{}", "not json", '{"cells": 3}'])
def test_what_is_no_notebook_is_told(text: str) -> None:
    with pytest.raises(UnreadableError, match="not a notebook"):
        read(text, Kind.NOTEBOOK)


CELLS = (
    "c = BitsAndBytesConfig(load_in_8bit=True)",
    "c = BitsAndBytesConfig(\n    load_in_8bit=True,\n)",
    "c = BitsAndBytesConfig(\n\tload_in_8bit=True\n)\nprint('é\\n\"')",
    'c = BitsAndBytesConfig(load_in_8bit=True)  # ünïcode \\ "quoted"',
)


@given(st.sampled_from(CELLS), st.booleans(), st.sampled_from([1, 2, 4]))
def test_an_edit_leaves_a_valid_notebook_and_all_other_bytes(
    cell: str, as_text: bool, indent: int
) -> None:
    text = notebook(HEAD, cell, "print(1)\n", as_text=as_text, indent=indent)
    _, fact = quantization(text)
    edits = fact.editor.edits(Set("threshold", 0.0))
    assert edits
    fixed = apply(text, edits)
    nbformat.validate(json.loads(fixed))
    _, again = quantization(fixed)
    assert again.threshold.is_(0.0)
    head = min(edit.span.start for edit in edits)
    tail = len(text) - max(edit.span.end for edit in edits)
    assert fixed[:head] == text[:head]
    assert fixed[len(fixed) - tail :] == text[len(text) - tail :]


def test_an_import_is_added_to_the_cell_that_imports() -> None:
    text = notebook("from transformers import AutoModelForCausalLM\n",
                    "m = AutoModelForCausalLM.from_pretrained('o/m-7b', load_in_8bit=True)")  # fmt: skip
    _, fact = quantization(text)
    fixed = apply(text, fact.editor.edits(Modernise((("threshold", 0.0),))))
    sources = ["".join(c["source"]) for c in json.loads(fixed)["cells"]]
    assert sources == [
        "from transformers import AutoModelForCausalLM, BitsAndBytesConfig\n",
        "m = AutoModelForCausalLM.from_pretrained('o/m-7b', quantization_config="
        "BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0))",
    ]
