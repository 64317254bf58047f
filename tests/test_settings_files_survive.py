"""Whatever stands in a file of settings, reading it ends, and with facts that lie in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecolint import frontends
from ecolint.document import Document, Kind, UnreadableError

SAMPLES = {
    Kind.YAML: """\
x: &a {image: vllm/vllm-openai:v0.9.0, args: ["--model", "a/b-7b", '--max-num-seqs', "1"]}
services: {one: *a, two: {<<: *a, environment: [LOAD_IN_8BIT=true]}}
vllm:
  - model: a/b-7b
    enforce_eager: yes
run: |
  vllm serve a/b-7b \\
    --enforce-eager
quantization_config: {load_in_8bit: true, llm_int8_threshold: 6}
""",
    Kind.JSON: """\
{"architectures": ["X"], "hidden_size": 64, "use_cache": false, // why
 "quantization_config": {"load_in_8bit": true, "llm_int8_threshold": 6.0},
 "command": "vllm serve a/b-7b --max-num-seqs 1", "args": ["--x", {"y": null}]}
""",
    Kind.TOML: """\
[model]
id = "a/b-7b"
quant = { load_in_8bit = true, list = [1, [2]] }
[[vllm]]
max_num_seqs = 1
enforce_eager = true
""",
}
PIECES = st.sampled_from(
    ['"', "'", "{", "}", "[", "]", ":", "\n", "  ", "#", "&a ", "*a", "|", ">", "- ", "\r\n", "\\",
     "$", "{{", "}}", ",", "=", "é", "\t", "<<: *a", "!!x ", "{% if x %}", "{% end %}", "\0", "//"]
)  # fmt: skip
CHANGES = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 5), PIECES), max_size=4)


@pytest.mark.parametrize("kind", list(SAMPLES))
@given(changes=CHANGES)
def test_a_broken_file_is_survived(kind: Kind, changes: list[tuple[float, int, str]]) -> None:
    text = SAMPLES[kind]
    for place, cut, piece in changes:
        at = int(place * len(text))
        text = text[:at] + piece + text[at + cut :]
    try:
        facts = frontends.read(Document(f"x.{kind.value}", kind, text))
    except UnreadableError:
        return
    for fact in facts.items:
        assert 0 <= fact.span.start <= fact.span.end


@pytest.mark.parametrize("kind", list(SAMPLES))
def test_the_samples_say_something(kind: Kind) -> None:
    facts = frontends.read(Document(f"x.{kind.value}", kind, SAMPLES[kind]))
    assert len(facts.items) >= 2
