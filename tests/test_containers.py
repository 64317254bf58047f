"""Arguments that stand as items of lists, and containers: image, command and environment."""

from collections.abc import Sequence

import pytest
from facts_of import apply

from ecolint.commands import read_argv, read_container
from ecolint.diagnostics import Span
from ecolint.document import Document, Kind, whole
from ecolint.environment import variable
from ecolint.facts import (
    Change,
    Drop,
    Facts,
    Method,
    ModelLoad,
    Quantization,
    Role,
    Serving,
    Set,
    Setting,
    State,
    Via,
)
from ecolint.images import image_launcher
from ecolint.words import Word


def changed(text: str, fact: Serving, *changes: Change) -> str:
    return apply(text, fact.editor.edits(*changes))


def at(text: str, span: Span | None) -> str:
    assert span is not None
    return text[span.start : span.end]


def listed(text: str, items: Sequence[str]) -> list[Word]:
    """The items as words of `text`, each found behind the one before."""
    view = whole(Document("list", Kind.YAML, text))
    words: list[Word] = []
    start = 0
    for item in items:
        inner = text.index(item, start)
        quoted = text[inner - 1] in "'\""
        words.append(
            Word(item, view, inner - quoted, inner + len(item) + quoted, True, inner, True)
        )
        start = inner + len(item)
    return words


BLOCK = """args:
  - --model
  - "m"
  - --max-num-seqs  # one at a time
  - "1"
  - --enforce-eager
"""
FLOW = 'args: ["--model=m", "--enforce-eager", "--max-num-seqs", "1"]\n'
CALL = """run([
    "vllm", "serve", "m",
    "--enforce-eager",
    "--max-num-seqs", "1",
])
"""


def container(text: str, items: Sequence[str]) -> Serving:
    facts = read_container((), listed(text, items), {}, "vllm/vllm-openai", Role.INFERENCE)
    (found,) = Facts(facts).of(Serving)
    return found


def test_items_of_a_yaml_list() -> None:
    items = ["--model", "m", "--max-num-seqs", "1", "--enforce-eager"]
    found = container(BLOCK, items)
    assert at(BLOCK, found.concurrency.span) == '"1"'
    assert at(BLOCK, found.eager.span) == "--enforce-eager"
    assert changed(BLOCK, found, Set("concurrency", 8)) == BLOCK.replace('"1"', '"8"')
    assert changed(BLOCK, found, Drop("eager")) == BLOCK.replace("  - --enforce-eager\n", "")
    without = changed(BLOCK, found, Drop("concurrency"))
    assert without == 'args:\n  - --model\n  - "m"\n  - --enforce-eager\n'
    both = changed(BLOCK, found, Drop("concurrency"), Drop("eager"))
    assert both == 'args:\n  - --model\n  - "m"\n'


def test_the_only_item_of_a_yaml_list_stays() -> None:
    text = "command: [vllm, serve, m]\nargs:\n  - --enforce-eager\n"
    found = container(text, ["--enforce-eager"])
    assert found.editor.edits(Drop("eager")) is None


def test_items_of_a_flow_list() -> None:
    found = container(FLOW, ["--model=m", "--enforce-eager", "--max-num-seqs", "1"])
    assert changed(FLOW, found, Drop("eager")) == FLOW.replace(' "--enforce-eager",', "")
    assert changed(FLOW, found, Drop("concurrency")) == FLOW.replace(', "--max-num-seqs", "1"', "")
    assert changed(FLOW, found, Drop("eager"), Drop("concurrency")) == 'args: ["--model=m"]\n'


def test_items_of_a_list_in_a_program() -> None:
    items = ["vllm", "serve", "m", "--enforce-eager", "--max-num-seqs", "1"]
    (found,) = Facts(read_argv(listed(CALL, items), Role.INFERENCE)).of(Serving)
    assert changed(CALL, found, Drop("eager")) == CALL.replace('    "--enforce-eager",\n', "")
    assert changed(CALL, found, Drop("concurrency")) == CALL.replace(
        '    "--max-num-seqs", "1",\n', ""
    )


def test_text_that_is_not_as_written_is_not_edited() -> None:
    view = whole(Document("p", Kind.PYTHON, 'run(["vllm", "serve", f"{m}", f"--max={n}"])'))
    words = [
        Word("vllm", view, 5, 11, True, 6),
        Word("serve", view, 13, 20, True, 14),
        Word("m", view, 22, 28, True, -1, False),
        Word("--max-num-seqs=1", view, 30, 40, True, -1, False),
    ]
    (found,) = Facts(read_argv(words, Role.INFERENCE)).of(Serving)
    assert found.concurrency.is_(1)
    assert found.editor.edits(Set("concurrency", 8)) is None


def test_a_flag_and_its_value_in_two_lists_are_not_cut_as_one() -> None:
    text = 'command: ["vllm", "serve", "m", "--enforce-eager"]\nimage: x\nargs: ["-O0"]\n'
    words = listed(text, ["vllm", "serve", "m", "--enforce-eager", "-O0"])
    facts = read_container(words[:4], words[4:], {}, "x", Role.INFERENCE)
    (found,) = Facts(facts).of(Serving)
    assert changed(text, found, Drop("eager")) == (
        'command: ["vllm", "serve", "m"]\nimage: x\nargs: []\n'
    )


# --- containers ---------------------------------------------------------------------------


def setting(name: str, value: object) -> Setting[object]:
    return Setting(State.KNOWN, value, Span(0, 1), Via.LITERAL, name)


@pytest.mark.parametrize(
    ("image", "engine"),
    [
        ("vllm/vllm-openai:v0.8.5", "vllm"),
        ("registry.example.org:5000/ai/vllm-openai@sha256:00", "vllm"),
        ("ghcr.io/huggingface/text-generation-inference:2.4.0", "tgi"),
        ("lmsysorg/sglang:latest", "sglang"),
        ("openmmlab/lmdeploy:latest", "lmdeploy"),
        ("kserve/huggingfaceserver:v0.15-gpu", "vllm"),
    ],
)
def test_the_image_decides_whose_flags_these_are(image: str, engine: str) -> None:
    launcher, _ = image_launcher(image)
    assert launcher is not None
    assert launcher.engine is not None
    assert launcher.engine.name == engine


def test_a_tag_is_the_version_and_a_port_is_none() -> None:
    assert image_launcher("vllm/vllm-openai:v0.6.3")[1] == "v0.6.3"
    assert image_launcher("host:5000/vllm/vllm-openai")[1] is None


def test_flags_of_an_unknown_image() -> None:
    text = "args: [--model=m, --max-model-len=4096, --max-num-seqs=1]"
    words = listed(text, ["--model=m", "--max-model-len=4096", "--max-num-seqs=1"])
    (found,) = Facts(read_container((), words, {}, "team/llm:1", Role.INFERENCE)).of(Serving)
    assert found.engine == "vllm"
    assert found.concurrency.is_(1)
    alone = listed(text, ["--max-num-seqs=1"])
    assert not read_container((), alone, {}, "team/llm:1", Role.INFERENCE)


def test_arguments_that_name_variables() -> None:
    env = {"SEQS": setting("SEQS", "1"), "MODEL": setting("MODEL", "m")}
    text = 'args: ["--model=$(MODEL)", "--max-num-seqs", "$(SEQS)", "--dtype", "$(UNSET)"]'
    items = ["--model=$(MODEL)", "--max-num-seqs", "$(SEQS)", "--dtype", "$(UNSET)"]
    facts = read_container((), listed(text, items), env, "vllm/vllm-openai", Role.INFERENCE)
    (found,) = Facts(facts).of(Serving)
    assert found.model.is_("m")
    assert found.concurrency.is_(1)
    assert found.dtype.unknown
    assert found.editor.edits(Set("concurrency", 8)) is None
    script = 'args: ["-c", "vllm serve $MODEL --max-num-seqs ${SEQS}"]'
    words = listed(script, ["-c", "vllm serve $MODEL --max-num-seqs ${SEQS}"])
    shell = Word("sh", words[0].view, 0, 0, True, -1, False)
    (inner,) = Facts(read_container([shell], words, env, "x", Role.INFERENCE)).of(Serving)
    assert inner.model.is_("m")
    assert inner.concurrency.is_(1)


def test_variables_of_a_container() -> None:
    env = {"MAX_NUM_SEQS": setting("MAX_NUM_SEQS", "1"), "MODEL_NAME": setting("MODEL_NAME", "m")}
    worker = read_container((), (), env, "runpod/worker-v1-vllm:stable", Role.INFERENCE)
    (found,) = Facts(worker).of(Serving)
    assert found.concurrency.is_(1)
    assert found.model.is_("m")
    assert not read_container((), (), env, "team/api:1", Role.INFERENCE)
    assert not read_container((), (), env, "vllm/vllm-openai", Role.INFERENCE)
    loads = {"LOAD_IN_8BIT": setting("LOAD_IN_8BIT", "true"), "MODEL_ID": setting("MODEL_ID", "m")}
    facts = Facts(read_container((), (), loads, "team/api:1", Role.INFERENCE))
    (quantized,) = facts.of(Quantization)
    (load,) = facts.of(ModelLoad)
    assert quantized.method.is_(Method.INT8)
    assert not quantized.threshold_settable
    assert load.model.is_("m")


def test_a_variable_is_rewritten_only_where_it_may() -> None:
    view = whole(Document("x", Kind.DOTENV, "A='b'"))
    word = Word("b", view, 2, 5, True, 3)
    assert variable("A", word, Span(0, 5)).literal == Span(3, 4)
    assert variable("A", Word("", view, 2, 5, False), Span(0, 5)).unknown
    frozen = view.part(0, 5, writable=False)
    assert variable("A", Word("b", frozen, 2, 5, True, 3), Span(0, 5)).literal is None
