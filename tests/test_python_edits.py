"""Every edit of Python parses, removes its cause, changes nothing else and is made once."""

import ast
from typing import Any

import pytest
from facts_of import apply, read
from hypothesis import given
from hypothesis import strategies as st

from ecolint.diagnostics import Edit
from ecolint.facts import (
    Change,
    Compilation,
    Drop,
    Facts,
    Generation,
    KeepResult,
    Method,
    ModelLoad,
    Modernise,
    Quantization,
    Respell,
    Serving,
    Set,
)

LAYOUTS = ("line", "lines", "lines, no last comma", "commented", "hanging")


def call(name: str, arguments: list[str], layout: str, indent: str = "    ") -> str:
    """A call laid out as people do."""
    if layout == "line":
        return f"{name}({', '.join(arguments)})"
    if layout == "hanging":
        return f"{name}({(',' + chr(10) + indent * 2).join(arguments)})"
    if layout == "commented":
        body = "".join(f"{indent}{a},  # why {n}\n" for n, a in enumerate(arguments))
        return f"{name}(\n{body})"
    last = "" if "no last" in layout else ","
    return f"{name}(\n{indent}" + f",\n{indent}".join(arguments) + f"{last}\n)"


NOISE = st.sampled_from(
    [
        "",
        "# ünïcode\n",
        "x = 'load_in_8bit=True'\n",
        '"""Doc, with a comma"""\n',
        "\n\n",
        "y = (1,\n  2)\n",
    ]
)
EXTRA = st.lists(
    st.sampled_from(["device_map='auto'", 'revision="main"', "trust_remote_code=(True)"]),
    max_size=2, unique=True,
)  # fmt: skip
LAYOUT = st.sampled_from(LAYOUTS)
NEWLINE = st.sampled_from(["\n", "\r\n"])
BOM = st.sampled_from([b"", b"\xef\xbb\xbf"])
INDENT = st.sampled_from(["    ", "\t", "  "])


def changed(text: str, edits: tuple[Edit, ...] | None) -> str:
    """Apply edits and check what holds for all of them: it parses, and all else is as it was."""
    assert edits, "a fix was expected"
    after = apply(text, edits)
    ast.parse(after)
    spans = sorted((e.span.start, e.span.end, e.content) for e in edits)
    kept_before, kept_after, at, shift = [], [], 0, 0
    for start, end, content in spans:
        assert start >= at, "edits overlap"
        kept_before.append(text[at:start])
        kept_after.append(after[at + shift : start + shift])
        shift += len(content) - (end - start)
        at = end
    assert kept_before == kept_after
    assert text[at:] == after[at + shift :]
    if "\r\n" in text:
        assert after.count("\n") == after.count("\r\n")
    return after


def reread(text: str, bom: bytes) -> Facts:
    """The facts of a text in a file with that byte order mark."""
    _, facts = read(bom + text.encode())
    return facts


@given(NOISE, EXTRA, LAYOUT, NEWLINE, BOM, INDENT)
def test_a_threshold_is_added_once(
    noise: str, extra: list[str], layout: str, newline: str, bom: bytes, indent: str
) -> None:
    arguments = ["load_in_8bit=True", *[e for e in extra if "device" not in e]]
    text = "from transformers import BitsAndBytesConfig\n" + noise
    text = (text + "c = " + call("BitsAndBytesConfig", arguments, layout, indent) + "\n").replace(
        "\n", newline
    )
    (fact,) = reread(text, bom).of(Quantization)
    after = changed(text, fact.editor.edits(Set("threshold", 0.0)))
    (again,) = reread(after, bom).of(Quantization)
    assert again.threshold.is_(0.0)
    assert changed(after, again.editor.edits(Set("threshold", 0.0))) == after


@given(NOISE, EXTRA, LAYOUT, NEWLINE, st.booleans(), st.booleans())
def test_a_removed_keyword_moves_into_the_configuration(
    noise: str, extra: list[str], layout: str, newline: str, imported: bool, threshold: bool
) -> None:
    arguments = ["'org/m-7b'", *extra[:1], "load_in_8bit=True", *extra[1:]]
    if threshold:
        arguments.append("llm_int8_threshold=6.0")
    names = "AutoModelForCausalLM, BitsAndBytesConfig" if imported else "AutoModelForCausalLM"
    text = f"from transformers import {names}\n" + noise
    load = call("AutoModelForCausalLM.from_pretrained", arguments, layout)
    text = (text + f"m = {load}\n").replace("\n", newline)
    (fact,) = reread(text, b"").of(Quantization)
    after = changed(text, fact.editor.edits(Modernise((("threshold", 0.0),))))
    (again,) = reread(after, b"").of(Quantization)
    assert again.threshold.is_(0.0)
    assert again.removed.absent
    assert after.count("BitsAndBytesConfig") == 2


@given(NOISE, EXTRA, LAYOUT, NEWLINE, st.sampled_from(["quantization", "inline"]))
def test_a_model_is_loaded_in_16_bit(
    noise: str, extra: list[str], layout: str, newline: str, way: str
) -> None:
    config = "c" if way == "quantization" else "BitsAndBytesConfig(load_in_4bit=True)"
    arguments = ["'org/m-1b'", f"quantization_config={config}", *extra]
    load = call("AutoModelForCausalLM.from_pretrained", arguments, layout)
    text = (
        "from transformers import AutoModelForCausalLM, BitsAndBytesConfig\n" + noise
        + "c = BitsAndBytesConfig(load_in_4bit=True)\nm = " + load + "\n"
    ).replace("\n", newline)  # fmt: skip
    (fact,) = reread(text, b"").of(ModelLoad)
    after = changed(text, fact.editor.edits(Drop("quantization")))
    (again,) = reread(after, b"").of(ModelLoad)
    assert again.quantization is None
    assert again.dtype.is_("auto")


@given(
    st.permutations(["'org/m'", "enforce_eager=True", "max_num_seqs=1", "seed=7"]), LAYOUT, NEWLINE
)
def test_engine_options_are_dropped_and_set(order: list[str], layout: str, newline: str) -> None:
    order.sort(key=lambda a: "=" in a)
    text = ("from vllm import LLM\nllm = " + call("LLM", order, layout) + "\n").replace(
        "\n", newline
    )
    (fact,) = reread(text, b"").of(Serving)
    after = changed(text, fact.editor.edits(Drop("eager")))
    (again,) = reread(after, b"").of(Serving)
    assert again.eager.absent
    assert again.concurrency.is_(1)
    after = changed(after, again.editor.edits(Set("concurrency", 8)))
    (last,) = reread(after, b"").of(Serving)
    assert last.concurrency.is_(8)


CASES: dict[str, tuple[str, type, Change, str]] = {
    "the literal is replaced": (
        "from transformers import BitsAndBytesConfig\n"
        "BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=6.0)\n",
        Quantization, Set("threshold", 0.0),
        "from transformers import BitsAndBytesConfig\n"
        "BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)\n",
    ),
    "a dict entry": (
        "from transformers import BitsAndBytesConfig\n"
        "k = {\n  'load_in_8bit': True,\n}\nBitsAndBytesConfig(**k)\n",
        Quantization, Set("threshold", 0.0),
        "from transformers import BitsAndBytesConfig\n"
        "k = {\n  'load_in_8bit': True,\n  'llm_int8_threshold': 0.0,\n}\nBitsAndBytesConfig(**k)\n",
    ),
    "a field elsewhere": (
        "from transformers import BitsAndBytesConfig\nk = {}\nk['load_in_8bit'] = True\n"
        "BitsAndBytesConfig(**k)\n",
        Quantization, Set("threshold", 0.0),
        "from transformers import BitsAndBytesConfig\nk = {}\nk['load_in_8bit'] = True\n"
        "BitsAndBytesConfig(**k, llm_int8_threshold=0.0)\n",
    ),
    "a module import": (
        "import transformers as hf\nhf.AutoModelForCausalLM.from_pretrained('o/m', load_in_8bit=True)\n",
        Quantization, Modernise((("threshold", 0.0),)),
        "import transformers as hf\nhf.AutoModelForCausalLM.from_pretrained('o/m', quantization_config="
        "hf.BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0))\n",
    ),
    "an import over several lines": (
        "from transformers import (\n    AutoModelForCausalLM,\n    AutoTokenizer,\n)\n"
        "AutoModelForCausalLM.from_pretrained('o/m', load_in_8bit=True)\n",
        Quantization, Modernise(),
        "from transformers import (\n    AutoModelForCausalLM,\n    AutoTokenizer,\n"
        "    BitsAndBytesConfig,\n)\n"
        "AutoModelForCausalLM.from_pretrained('o/m', quantization_config="
        "BitsAndBytesConfig(load_in_8bit=True))\n",
    ),
    "a flag that may be off": (
        "from transformers import AutoModelForCausalLM\nimport os\nON = os.getenv('X', '1') == '1'\n"
        "AutoModelForCausalLM.from_pretrained('o/m', load_in_8bit=ON)\n",
        Quantization, Modernise(),
        "from transformers import AutoModelForCausalLM, BitsAndBytesConfig\nimport os\n"
        "ON = os.getenv('X', '1') == '1'\n"
        "AutoModelForCausalLM.from_pretrained('o/m', quantization_config="
        "BitsAndBytesConfig(load_in_8bit=True) if ON else None)\n",
    ),
    "a prequantised id": (
        "from transformers import AutoModelForCausalLM\n"
        "AutoModelForCausalLM.from_pretrained('unsloth/m-1b-bnb-4bit')\n",
        ModelLoad, Drop("quantization"),
        "from transformers import AutoModelForCausalLM\n"
        "AutoModelForCausalLM.from_pretrained('unsloth/m-1b')\n",
    ),
    "unsloth's own default": (
        "from unsloth import FastLanguageModel\nFastLanguageModel.from_pretrained('unsloth/m-1b')\n",
        ModelLoad, Drop("quantization"),
        "from unsloth import FastLanguageModel\n"
        "FastLanguageModel.from_pretrained('unsloth/m-1b', load_in_4bit=False)\n",
    ),
    "a cache argument": (
        "lm.generate(x, use_cache=False)\n", Generation, Drop("use_cache"), "lm.generate(x)\n",
    ),
    "a cache attribute": (
        "from transformers import AutoModelForCausalLM\n"
        "lm = AutoModelForCausalLM.from_pretrained('o/m')\n"
        "lm.config.use_cache = False\nlm.generate(x)\n",
        Generation, Set("use_cache", True),
        "from transformers import AutoModelForCausalLM\n"
        "lm = AutoModelForCausalLM.from_pretrained('o/m')\n"
        "lm.config.use_cache = True\nlm.generate(x)\n",
    ),
    "a discarded compilation": (
        "import torch\nimport transformers\ntorch.compile(lm, mode='max-autotune')\n",
        Compilation, KeepResult(),
        "import torch\nimport transformers\nlm = torch.compile(lm, mode='max-autotune')\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "kind", "change", "after"), CASES.values(), ids=CASES)
def test_an_edit_gives_exactly_this(before: str, kind: type, change: Change, after: str) -> None:
    _, facts = read(before)
    found: list[Any] = [f for f in facts.items if isinstance(f, kind)]
    if kind is Generation:
        found = [f for f in facts.of(Generation) if f.use_cache.is_(False)]
    assert changed(before, found[0].editor.edits(change)) == after


def test_a_misspelt_option_is_respelt() -> None:
    text = (
        "from transformers import BitsAndBytesConfig\n"
        "BitsAndBytesConfig(load_in_8bit=True, llm_int8_treshold=0.0)\n"
    )
    _, facts = read(text)
    (fact,) = facts.of(Quantization)
    (slip,) = fact.misspellings
    assert slip.right is not None
    after = changed(text, fact.editor.edits(Respell(slip.span, slip.right)))
    assert after == text.replace("treshold", "threshold")


def test_an_int_threshold_becomes_a_float() -> None:
    text = (
        "from transformers import BitsAndBytesConfig\n"
        "BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0)\n"
    )
    _, facts = read(text)
    (fact,) = facts.of(Quantization)
    (slip,) = fact.misspellings
    assert (slip.problem, slip.right) == ("type", "0.0")
    assert fact.method.is_(Method.INT8)
    assert slip.right is not None
    after = changed(text, fact.editor.edits(Respell(slip.span, slip.right)))
    assert after == text.replace("=0)", "=0.0)")
