"""JSON: comments, lines, encodings, and files that are too much."""

import json
import time

import pytest
from facts_of import apply, read

from ecolint.document import Document, Kind
from ecolint.facts import Drop, Method, ModelLoad, Quantization, Serving, Set, Unanalysed
from ecolint.frontends import json as front_end

COMMENTED = """\
{
  // why not
  "model": "a/b-7b",
  /* "load_in_8bit": false, */
  "load_in_8bit": true, // saves memory?
}
"""


def test_comments_and_a_last_comma_are_read() -> None:
    _, facts = read(COMMENTED, Kind.JSON)
    (found,) = facts.of(Quantization)
    assert COMMENTED[found.span.start : found.span.end] == '"load_in_8bit": true'
    assert found.method.is_(Method.INT8)


def test_utf16_is_read_as_it_comes_decoded() -> None:
    text = '{"model": "a/b-7b", "load_in_8bit": true}'
    document, facts = read(text.encode("utf-16"), Kind.JSON)
    (found,) = facts.of(Quantization)
    assert document.text[found.span.start :].startswith('"load_in_8bit"')


def test_lines_are_values_of_their_own() -> None:
    text = (
        '{"role": "user", "content": "set \\"load_in_8bit\\": true"}\n'
        '{"model": "a/b-7b", "load_in_8bit": true}\n\n'
        '{"broken": \n'
    )
    facts = front_end.read(Document("x.jsonl", Kind.JSON, text))
    (found,) = facts.of(Quantization)
    assert text.count("\n", 0, found.span.start) == 1
    assert not facts.of(Unanalysed)


def test_a_text_inside_data_says_nothing() -> None:
    rows = [{"instruction": 'use "load_in_8bit": true', "image": "x.png"} for _ in range(20)]
    _, facts = read(json.dumps(rows), Kind.JSON)
    assert not facts


def test_a_large_file_of_data_is_not_parsed() -> None:
    rows = [{"id": n, "text": "load_in_8bit torch pip install vllm"} for n in range(100_000)]
    text = json.dumps(rows)
    begun = time.process_time()
    assert not front_end.read(Document("x.json", Kind.JSON, text))
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    "text",
    [
        '{"load_in_8bit": ' + "[" * 10_000,
        '{"load_in_8bit": tru',
        '{"load_in_8bit": true}\0',
        "{'model': 'x', \"load_in_8bit\": true}",
    ],
)
def test_what_is_no_json_gets_one_note(text: str) -> None:
    facts = front_end.read(Document("x.json", Kind.JSON, text))
    (note,) = facts.items
    assert isinstance(note, Unanalysed)
    assert "line 1" in note.reason


def test_a_template_of_json_is_passed_over() -> None:
    _, facts = read('{"load_in_8bit": {{ cookiecutter.eight }}}', Kind.JSON)
    assert not facts


def test_escapes_in_strings_keep_their_places() -> None:
    text = '{"scripts": {"serve": "vllm serve a/b \\\\\\n  --max-num-seqs 1 --name \\u00e9"}}'
    _, facts = read(text, Kind.JSON)
    (found,) = facts.of(Serving)
    edited = apply(text, found.editor.edits(Set("concurrency", 8)))
    assert edited == text.replace("seqs 1", "seqs 8")
    assert json.loads(edited)


def test_the_last_member_of_a_name_wins() -> None:
    text = '{"model": "a/b", "load_in_8bit": true, "load_in_8bit": false}'
    _, facts = read(text, Kind.JSON)
    assert not facts.of(Quantization)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            '{\n    "device_map": "auto",\n    "model": "a/b",\n    "load_in_8bit": true\n}\n',
            '{\n    "device_map": "auto",\n    "model": "a/b",\n    "load_in_8bit": true,\n'
            '    "llm_int8_threshold": 0.0\n}\n',
        ),
        (
            '{"model":"a/b","device_map":"auto","load_in_8bit":true}',
            '{"model":"a/b","device_map":"auto","load_in_8bit":true, "llm_int8_threshold":0.0}',
        ),
        (
            '{"load_in_8bit": true, "device_map": "auto", "model": "a/b"}',
            '{"load_in_8bit": true, "llm_int8_threshold": 0.0, "device_map": "auto", '
            '"model": "a/b"}',
        ),
        (
            '{\r\n\t"load_in_8bit": true, // why\r\n\t"device_map": "auto", "model": "a/b"\r\n}',
            '{\r\n\t"load_in_8bit": true, // why\r\n\t"llm_int8_threshold": 0.0,\r\n'
            '\t"device_map": "auto", "model": "a/b"\r\n}',
        ),
        (
            '{"load_in_8bit": true, "llm_int8_threshold": 6, "model": "a/b"}',
            '{"load_in_8bit": true, "llm_int8_threshold": 0.0, "model": "a/b"}',
        ),
    ],
)
def test_a_member_is_added_as_its_neighbour_is_written(text: str, wanted: str) -> None:
    _, facts = read(text, Kind.JSON)
    (found,) = facts.of(Quantization)
    assert apply(text, found.editor.edits(Set("threshold", 0.0))) == wanted
    _, again = read(wanted, Kind.JSON)
    assert again.of(Quantization)[0].threshold.is_(0.0)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"model": "a/b", "vllm": {"enforce_eager": true, "n": 1}}', '{"n": 1}'),
        ('{"model": "a/b", "vllm": {"n": 1, "enforce_eager": true}}', '{"n": 1}'),
        ('{"model": "a/b", "vllm": {"n": 1, "enforce_eager": true, "m": 2}}', '{"n": 1, "m": 2}'),
        (
            '{"model": "a/b", "vllm": {\n  "n": 1, // one\n  "enforce_eager": true // why\n}}',
            '{\n  "n": 1 // one\n}',
        ),
        (
            '{"model": "a/b", "vllm": {\n  "n": 1,\n  "enforce_eager": true,\n}}',
            '{\n  "n": 1,\n}',
        ),
        (
            '{"model": "a/b", "vllm": {\n  "enforce_eager": true,\n  // two\n  "n": 1\n}}',
            '{\n  // two\n  "n": 1\n}',
        ),
    ],
)
def test_a_member_goes_with_its_comma_and_line(text: str, wanted: str) -> None:
    _, facts = read(text, Kind.JSON)
    (found,) = facts.of(Serving)
    edited = apply(text, found.editor.edits(Drop("eager")))
    assert edited == f'{{"model": "a/b", "vllm": {wanted}}}'


def test_the_only_member_goes_with_the_mapping_that_held_it() -> None:
    text = '{"model": "a/b", "vllm": {"enforce_eager": true}}'
    _, facts = read(text, Kind.JSON)
    (found,) = facts.of(Serving)
    assert apply(text, found.editor.edits(Drop("eager"))) == '{"model": "a/b"}'


def test_two_members_go_together() -> None:
    text = (
        '{"model": "a/b", "engine": "vllm", "quantization": "bitsandbytes", '
        '"load_format": "bitsandbytes"}'
    )
    _, facts = read(text, Kind.JSON)
    (found,) = facts.of(ModelLoad)
    edited = apply(text, found.editor.edits(Drop("quantization")))
    assert edited == '{"model": "a/b", "engine": "vllm"}'
