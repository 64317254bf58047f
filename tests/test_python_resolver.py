"""What the resolver makes of the ways in which people spell one option."""

import pytest
from facts_of import only, read

from ecolint.facts import Method, ModelLoad, Quantization, State, Via

HEAD = "import os, argparse\nfrom transformers import AutoModelForCausalLM, BitsAndBytesConfig\n"
LOAD = "AutoModelForCausalLM.from_pretrained('org/m-7b', quantization_config=%s)\n"

EIGHT_BIT = {
    "keyword": "c = BitsAndBytesConfig(load_in_8bit=True)",
    "position": "c = BitsAndBytesConfig(True)",
    "constant": "ON = True\nc = BitsAndBytesConfig(load_in_8bit=ON)",
    "comparison": "bits = 8\nc = BitsAndBytesConfig(load_in_8bit=bits == 8)",
    "splat of a literal": "c = BitsAndBytesConfig(**{'load_in_8bit': True})",
    "splat of dict()": "k = dict(load_in_8bit=True)\nc = BitsAndBytesConfig(**k)",
    "update": "k = {}\nk.update(load_in_8bit=True)\nc = BitsAndBytesConfig(**k)",
    "update with a dict": "k = {}\nk.update({'load_in_8bit': True})\nc = BitsAndBytesConfig(**k)",
    "setdefault": "k = {}\nk.setdefault('load_in_8bit', True)\nc = BitsAndBytesConfig(**k)",
    "merge operator": "k = {'a': 1} | {'load_in_8bit': True}\nc = BitsAndBytesConfig(**k)",
    "nested splat": "a = {'load_in_8bit': True}\nc = BitsAndBytesConfig(**{**a, 'x': 1})",
    "from_dict": "c = BitsAndBytesConfig.from_dict({'load_in_8bit': True})",
    "attribute": "c = BitsAndBytesConfig()\nc.load_in_8bit = True",
    "function": "def q(on):\n    return BitsAndBytesConfig(load_in_8bit=on)\nc = q(True)",
    "function default": "def q(on=True):\n    return BitsAndBytesConfig(load_in_8bit=on)\nc = q()",
    "early return": (
        "def q(kind='int8'):\n    if kind == 'none':\n        return None\n"
        "    return BitsAndBytesConfig(load_in_8bit=True)\nc = q()"
    ),
    "environment": "c = BitsAndBytesConfig(load_in_8bit=os.getenv('EIGHT', '1') == '1')",
    "argparse default": (
        "p = argparse.ArgumentParser()\np.add_argument('--bits', type=int, default=8)\n"
        "a = p.parse_args()\nc = BitsAndBytesConfig(load_in_8bit=a.bits == 8)"
    ),
    "store_false": (
        "p = argparse.ArgumentParser()\np.add_argument('--fp16', action='store_false', dest='eight')\n"
        "a = p.parse_args()\nc = BitsAndBytesConfig(load_in_8bit=a.eight)"
    ),
    "click default": (
        "import click\n@click.command()\n@click.option('--eight/--no-eight', default=True)\n"
        "def main(eight):\n    c = BitsAndBytesConfig(load_in_8bit=eight)\n"
        "    " + LOAD % "c" + "c = None"
    ),
    "class attribute": "class S:\n    eight = True\nc = BitsAndBytesConfig(load_in_8bit=S.eight)",
    "self attribute": (
        "class S:\n    def __init__(self):\n        self.eight = True\n"
        "    def make(self):\n        return BitsAndBytesConfig(load_in_8bit=self.eight)\n"
        "c = S().make()"
    ),
    "pydantic field": (
        "from pydantic import BaseModel, Field\nclass S(BaseModel):\n    eight: bool = Field(True)\n"
        "s = S()\nc = BitsAndBytesConfig(load_in_8bit=s.eight)"
    ),
    "walrus": "if (on := True):\n    c = BitsAndBytesConfig(load_in_8bit=on)",
    "conditional expression": "c = BitsAndBytesConfig(load_in_8bit=True if 1 < 2 else False)",
    "or": "c = BitsAndBytesConfig(load_in_8bit=None or True)",
    "tuple assignment": "a, b = True, False\nc = BitsAndBytesConfig(load_in_8bit=a, load_in_4bit=b)",
}

NOT_EIGHT_BIT = {
    "false": "c = BitsAndBytesConfig(load_in_8bit=False)",
    "flag passed on": "def q(on):\n    return BitsAndBytesConfig(load_in_8bit=on)\nc = q(unknown())",
    "opt-in flag": (
        "p = argparse.ArgumentParser()\np.add_argument('--int8', action='store_true')\n"
        "a = p.parse_args()\nc = BitsAndBytesConfig(load_in_8bit=a.int8)"
    ),
    "opt-in branch": (
        "p = argparse.ArgumentParser()\np.add_argument('--int8', action='store_true')\n"
        "a = p.parse_args()\nc = None\nif a.int8:\n    c = BitsAndBytesConfig(load_in_8bit=True)"
    ),
    "chosen by the caller": (
        "def q(quant):\n    if quant == 'int8':\n        return BitsAndBytesConfig(load_in_8bit=True)\n"
    ),
    "dead branch": "if 1 > 2:\n    c = BitsAndBytesConfig(load_in_8bit=True)",
    "class of this file": (
        "class BitsAndBytesConfig:\n    def __init__(self, load_in_8bit): ...\n"
        "c = BitsAndBytesConfig(load_in_8bit=True)"
    ),
    "overwritten": "on = True\non = False\nc = BitsAndBytesConfig(load_in_8bit=on)",
}


@pytest.mark.parametrize("body", EIGHT_BIT.values(), ids=EIGHT_BIT)
def test_a_spelling_of_eight_bit_is_found(body: str) -> None:
    fact = only(HEAD + body + "\n", Quantization)
    assert fact.method.is_(Method.INT8)
    assert fact.threshold.is_(6.0)


@pytest.mark.parametrize("body", NOT_EIGHT_BIT.values(), ids=NOT_EIGHT_BIT)
def test_what_nobody_switched_on_is_no_fact(body: str) -> None:
    _, facts = read(HEAD + body + "\n")
    assert [f for f in facts.of(Quantization) if f.method.is_(Method.INT8)] == []


@pytest.mark.parametrize(
    ("written", "value"),
    [("llm_int8_threshold=0.0", 0.0), ("llm_int8_threshold=6", 6.0), ("", 6.0)],
)
def test_threshold_in_force(written: str, value: float) -> None:
    fact = only(HEAD + f"BitsAndBytesConfig(load_in_8bit=True, {written})\n", Quantization)
    assert fact.threshold.is_(value)


def test_a_splat_that_may_hold_the_threshold_leaves_it_open() -> None:
    text = HEAD + "def q(**more):\n    return BitsAndBytesConfig(load_in_8bit=True, **more)\n"
    assert only(text, Quantization).threshold.state is State.UNKNOWN


def test_a_load_knows_its_quantisation_and_model() -> None:
    text = (
        HEAD
        + "NAME = 'org/m-' + '3b'\nc = BitsAndBytesConfig(load_in_4bit=True)\n"
        + ("m = AutoModelForCausalLM.from_pretrained(NAME, quantization_config=c)\n")
    )
    load = only(text, ModelLoad)
    assert load.model.is_("org/m-3b")
    assert load.model.via is Via.RESOLVED
    assert load.quantization is not None
    assert load.quantization.method.is_(Method.FP4)


def test_every_size_of_a_loop_is_known() -> None:
    text = HEAD + "for s in ('1B', '7B'):\n    AutoModelForCausalLM.from_pretrained(f'org/m-{s}')\n"
    assert only(text, ModelLoad).model.values == ("org/m-1B", "org/m-7B")


def test_recursion_and_cycles_end() -> None:
    text = HEAD + (
        "def f(x):\n    return f(x)\ndef g(x):\n    return h(x)\ndef h(x):\n    return g(x)\n"
        "a = b\nb = a\nBitsAndBytesConfig(load_in_8bit=f(g(a)))\n"
    )
    _, facts = read(text)
    assert facts.of(Quantization) == []
