"""YAML: values and places, aliases, templates, and input that means harm."""

import pytest
from facts_of import apply, read

from ecolint.document import Document, Kind, whole
from ecolint.facts import (
    Drop,
    Method,
    ModelLoad,
    Quantization,
    Role,
    Serving,
    Set,
    Unanalysed,
)
from ecolint.frontends import yaml
from ecolint.frontends.mapping import Form, Node, walk
from ecolint.frontends.scalartext import script_view


def tree(text: str) -> Node:
    source, failures = yaml.parse(whole(Document("x.yaml", Kind.YAML, text)))
    assert not failures, failures
    return source.roots[0]


def load(text: str) -> list[Quantization]:
    _, facts = read(text, Kind.YAML)
    return list(facts.of(Quantization))


@pytest.mark.parametrize("word", ["yes", "on", "True", "TRUE", "true", '"true"', "'yes'", "1"])
def test_yaml_truths_switch_a_load_on(word: str) -> None:
    (found,) = load(f"model: a/b-7b\nload_in_8bit: {word}\n")
    assert found.method.is_(Method.INT8)


@pytest.mark.parametrize("word", ["no", "off", "False", '"false"', "0", "~", "", "null", "{{ x }}"])
def test_yaml_untruths_and_unknowns_do_not(word: str) -> None:
    assert load(f"model: a/b-7b\nload_in_8bit: {word}\n") == []


def test_marks_are_those_of_the_value_without_its_properties() -> None:
    text = "é: &anchor !!str |2\n   a\nk: 'it''s'\nz: [1, *anchor]\n"
    root = tree(text)
    assert [entry.key for entry in root.entries] == ["é", "k", "z"]
    block, quoted, flow = (entry.value for entry in root.entries)
    assert text[block.start : block.end] == "|2\n   a"
    assert text[quoted.start : quoted.end] == "'it''s'"
    assert quoted.text == "it's"
    assert text[flow.start : flow.end] == "[1, *anchor]"
    assert flow.items[1].aliased


@pytest.mark.parametrize(
    "written",
    [
        "|\n  vllm serve x \\\n    --max-num-seqs 1\n",
        "|-\n  vllm serve x \\\n    --max-num-seqs 1",
        ">\n  vllm serve x\n  --max-num-seqs 1\n",
        '"vllm serve x\\n--max-num-seqs 1"',
        '"vllm serve x \\\n  --max-num-seqs 1"',
        "'vllm ''serve'' x --max-num-seqs 1'",
        "vllm serve x\n  --max-num-seqs 1",
        "vllm serve x --max-num-seqs 1",
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_character_of_a_script_knows_its_place(written: str, newline: str) -> None:
    text = f"run: {written}\nnext: 1\n".replace("\n", newline)
    source, _ = yaml.parse(whole(Document("x.yaml", Kind.YAML, text)))
    node = source.roots[0].entries[0].value
    view = script_view(source, node)
    assert view.writable
    at = view.text.index("seqs 1")
    span = view.span(at, at + 6)
    assert text[span.start : span.end] == "seqs 1"


def test_the_last_of_equal_keys_wins() -> None:
    assert load("load_in_8bit: true\nload_in_8bit: false\nmodel: a/b\n") == []
    (found,) = load("load_in_8bit: false\nload_in_8bit: true\nmodel: a/b\n")
    assert found.span.start == len("load_in_8bit: false\n")


def test_documents_are_read_apart() -> None:
    text = (
        "model: a/b\nload_in_8bit: true\n---\na: [}\nvllm: 1\n---\nload_in_4bit: true\nmodel: c\n"
    )
    _, facts = read(text, Kind.YAML)
    assert [one.method.value for one in facts.of(Quantization)] == [Method.INT8, Method.NF4]
    (broken,) = facts.of(Unanalysed)
    assert "line 4" in broken.reason or "line 5" in broken.reason


def test_merge_keys_bring_options_and_own_ones_win() -> None:
    text = (
        "base: &base\n  load_in_8bit: true\n  device_map: auto\n"
        "one:\n  <<: *base\n  model: a/b-7b\n"
        "two:\n  <<: *base\n  load_in_8bit: false\n  model: c/d-7b\n"
    )
    (found,) = load(text)
    _, facts = read(text, Kind.YAML)
    (one,) = facts.of(ModelLoad)
    assert one.model.value == "a/b-7b"
    assert one.quantization is facts.of(Quantization)[0]
    # `two` reads the block as well and does not want the change.
    assert found.editor.edits(Set("threshold", 0.0)) is None


def test_what_all_readers_of_an_anchor_want_is_changed() -> None:
    text = (
        "x-engine: &engine\n  image: vllm/vllm-openai:v0.9.0\n"
        "  command: [--model, a/b-7b, --max-num-seqs, '1']\n"
        "services:\n  one:\n    <<: *engine\n  two: *engine\n"
    )
    _, facts = read(text, Kind.YAML)
    (found,) = facts.of(Serving)
    edited = apply(text, found.editor.edits(Set("concurrency", 8)))
    assert edited == text.replace("'1'", "'8'")


def test_an_alias_in_place_of_a_scalar_is_replaced_there() -> None:
    text = "n: &n 1\nvllm:\n  model: a/b-7b\n  max_num_seqs: *n\n"
    _, facts = read(text, Kind.YAML)
    (found,) = facts.of(Serving)
    assert found.concurrency.is_(1)
    edited = apply(text, found.editor.edits(Set("concurrency", 8)))
    assert edited == text.replace("max_num_seqs: *n", "max_num_seqs: 8")


TEMPLATE = """\
{{- if .Values.enabled }}
kind: Deployment
metadata:
  name: {{ include "x.name" . }}
  labels:
    {{- include "x.labels" . | nindent 4 }}
spec:
  containers:
    - image: vllm/vllm-openai:{{ .Values.tag }}
      args:
        - --model={{ .Values.model }}
        - --max-num-seqs
        - SEQS
        {{- if .Values.eager }}
        - --enforce-eager
        {{- end }}
{{- end }}
"""


def test_a_template_is_read_where_it_is_plain() -> None:
    _, facts = read(TEMPLATE.replace("SEQS", '"1"'), Kind.YAML)
    (found,) = facts.of(Serving)
    assert found.concurrency.is_(1)
    assert found.model.unknown
    assert found.eager.absent
    assert not facts.of(Unanalysed)


def test_expressions_of_a_template_are_unknown() -> None:
    _, facts = read(TEMPLATE.replace("SEQS", "{{ .Values.seqs | quote }}"), Kind.YAML)
    (found,) = facts.of(Serving)
    assert found.concurrency.unknown


def test_a_template_that_is_no_yaml_is_passed_over() -> None:
    _, facts = read("a: {{ x }\n  b: [vllm\n{% for x in y %}\n", Kind.YAML)
    assert not facts


def test_interpolations_are_followed_and_environments_fall_back() -> None:
    text = (
        "name: a/b-7b\nquant:\n  model: ${name}\n  load_in_8bit: ${oc.env:Q,true}\n"
        "  llm_int8_threshold: ${oc.env:T}\n"
    )
    _, facts = read(text, Kind.YAML)
    (found,) = facts.of(ModelLoad)
    assert found.model.value == "a/b-7b"
    assert found.quantization is not None
    assert found.quantization.method.is_(Method.INT8)
    assert found.quantization.threshold.unknown


def test_training_anywhere_in_the_document_silences_it() -> None:
    text = "model:\n  name: a/b\n  load_in_4bit: true\ntrainer:\n  learning_rate: 1e-4\n"
    (found,) = load(text)
    assert found.role is Role.TRAINING


def test_an_inference_section_beside_training_is_inference() -> None:
    text = "training:\n  learning_rate: 1e-4\ninference:\n  model: a/b\n  load_in_8bit: true\n"
    (found,) = load(text)
    assert found.role is Role.INFERENCE


def test_prose_and_lists_of_words_say_nothing() -> None:
    text = (
        "body: >\n  Never set load_in_8bit: true, and no --max-num-seqs 1.\n"
        "keywords: [load_in_8bit, vllm]\nload_in_8bit:\n  type: boolean\n  default: true\n"
        "# load_in_8bit: true\n"
    )
    _, facts = read(text, Kind.YAML)
    assert not facts


# --- input that means harm -------------------------------------------------------------------


def laughs(levels: int, start: str, join: str) -> str:
    lines = [f"a0: &a0 {start}"]
    for level in range(levels):
        refs = ",".join([f"*a{level}"] * 9)
        lines.append(f"a{level + 1}: &a{level + 1} " + join.format(refs=refs, level=level))
    return "\n".join(lines) + "\nload_in_8bit: true\nmodel: a/b\n"


@pytest.mark.parametrize(
    ("start", "join"),
    [
        ("[x,x,x]", "[{refs}]"),
        ("{load_in_8bit: true, device_map: auto}", "[{refs}]"),
        ("{load_in_8bit: true, device_map: auto}", "{{<<: [{refs}], k{level}: 1}}"),
        ("{load_in_8bit: true, device_map: auto}", "{{v: [{refs}]}}"),
    ],
)
def test_aliases_that_multiply_end_soon(start: str, join: str) -> None:
    assert len(load(laughs(14, start, join))) <= 2


def test_an_alias_of_itself_ends() -> None:
    (found,) = load("a: &a\n  model: x\n  load_in_8bit: true\n  b: *a\n  c: [*a]\n")
    assert found.method.is_(Method.INT8)


@pytest.mark.parametrize(
    "text",
    [
        "load_in_8bit: " + "[" * 10_000,
        "- " * 10_000 + "load_in_8bit: true",
        "model: x\nload_in_8bit: true\0\n",
        "model: x\n\tload_in_8bit: true\n",
        "a: \ud800\nload_in_8bit: true\n",
        "load_in_8bit: [true\n",
        "x" * 17_000_000 + " load_in_8bit",
    ],
)
def test_what_is_no_yaml_gets_one_note(text: str) -> None:
    facts = yaml.read(Document("x.yaml", Kind.YAML, text))
    (note,) = facts.items
    assert isinstance(note, Unanalysed)
    assert "\n" not in note.reason


def test_tags_are_never_constructed(tmp_path: object) -> None:
    mark = f"{tmp_path}/made"
    text = (
        f"a: !!python/object/apply:os.system ['touch {mark}']\n"
        "load_in_8bit: !!python/name:os.system true\nmodel: a/b\n"
    )
    assert load(text) == []
    import os

    assert not os.path.exists(mark)


def test_a_walk_visits_mappings_outside_in() -> None:
    source, _ = yaml.parse(whole(Document("x.yaml", Kind.YAML, "a: {b: {c: 1}}\nd: [{e: 1}]\n")))
    keys = [[*place.node.names] for place in walk(source)]
    assert keys == [["a", "d"], ["b"], ["c"], ["e"]]
    assert all(place.node.form is Form.MAPPING for place in walk(source))


def test_a_list_item_loses_its_first_key_and_keeps_its_dash() -> None:
    text = "llm_configs:\n  - engine_kwargs:\n      enforce_eager: true\n      max_num_seqs: 4\n"
    _, facts = read(text, Kind.YAML)
    (found,) = facts.of(Serving)
    edited = apply(text, found.editor.edits(Drop("eager")))
    assert edited == text.replace("      enforce_eager: true\n", "")
    flat = "vllm_args:\n  - enforce_eager: true\n    max_num_seqs: 4\n"
    _, facts = read(flat, Kind.YAML)
    (found,) = facts.of(Serving)
    edited = apply(flat, found.editor.edits(Drop("eager")))
    assert edited == "vllm_args:\n  - max_num_seqs: 4\n"
