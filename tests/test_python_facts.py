"""What the recognisers make of calls: loads, engines, quantisers, generation, compilation."""

import pytest
from facts_of import only, read

from ecolint.facts import (
    Compilation,
    CompileState,
    Generation,
    Hardware,
    Method,
    ModelLoad,
    Prompts,
    Quantization,
    Role,
    Serving,
    Where,
)

HF = "from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig\n"
LOADED = HF + "lm = AutoModelForCausalLM.from_pretrained('org/m-7b')\n"
AO = (
    "import torch\nfrom torchao.quantization import *\nfrom torchao.quantization import quantize_\n"
)

SCHEMES = {
    "diffusers config": (
        "from diffusers import BitsAndBytesConfig\nBitsAndBytesConfig(load_in_8bit=True)\n",
        Method.INT8, 6.0,
    ),
    "accelerate config": (
        "from accelerate.utils import BnbQuantizationConfig\n"
        "BnbQuantizationConfig(load_in_8bit=True)\n", Method.INT8, 6.0,
    ),
    "raw layer with a threshold": (
        "from bitsandbytes.nn import Linear8bitLt\nLinear8bitLt(8, 8, threshold=6.0)\n",
        Method.INT8, 6.0,
    ),
    "langchain": (
        "from langchain_huggingface import HuggingFacePipeline\n"
        "HuggingFacePipeline.from_model_id('o/m-7b', model_kwargs={'load_in_8bit': True})\n",
        Method.INT8, 6.0,
    ),
    "llama-index": (
        "from llama_index.llms.huggingface import HuggingFaceLLM\n"
        "HuggingFaceLLM(model_name='o/m-7b', model_kwargs={'load_in_8bit': True})\n",
        Method.INT8, 6.0,
    ),
    "haystack": (
        "from haystack.components.generators import HuggingFaceLocalGenerator\n"
        "HuggingFaceLocalGenerator(model='o/m', huggingface_pipeline_kwargs="
        "{'model_kwargs': {'load_in_8bit': True}})\n", Method.INT8, 6.0,
    ),
    "pipeline model_kwargs": (
        "from transformers import pipeline\n"
        "pipeline('text-generation', model='o/m-7b', model_kwargs={'load_in_8bit': True})\n",
        Method.INT8, 6.0,
    ),
    "plain dict as config": (
        HF + "AutoModelForCausalLM.from_pretrained('o/m', quantization_config="
        "{'load_in_4bit': True, 'bnb_4bit_quant_type': 'nf4'})\n", Method.NF4, None,
    ),
    "pipeline quantisation config": (
        "from diffusers.quantizers import PipelineQuantizationConfig\n"
        "PipelineQuantizationConfig(quant_backend='bitsandbytes_8bit', quant_kwargs={})\n",
        Method.INT8, 6.0,
    ),
    "litgpt": (
        "from litgpt import LLM\nLLM.load('o/m-7b', quantize='bnb.int8')\n", Method.INT8, 6.0,
    ),
    "vllm in flight": (
        "from vllm import LLM\nLLM('o/m-7b', quantization='bitsandbytes')\n", Method.NF4, None,
    ),
    "sglang torchao": (
        "import sglang\nsglang.Engine(model_path='o/m-7b', torchao_config='fp8wo')\n",
        Method.FP8_WEIGHT_ONLY, None,
    ),
    "torchao snake case": (AO + "quantize_(lm, float8_weight_only())\n", Method.FP8_WEIGHT_ONLY, None),
    "torchao integer": (
        AO + "quantize_(lm, Int4WeightOnlyConfig())\nlm.generate(x)\n", Method.TORCHAO_INT, None,
    ),
    "unsloth by default": (
        "from unsloth import FastLanguageModel\nFastLanguageModel.from_pretrained('o/m-1b')\n",
        Method.NF4, None,
    ),
    "prequantised id": (
        HF + "AutoModelForCausalLM.from_pretrained('unsloth/m-1b-bnb-4bit')\n", Method.NF4, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "method", "threshold"), SCHEMES.values(), ids=SCHEMES)
def test_every_library_is_read(text: str, method: Method, threshold: float | None) -> None:
    fact = only(text, Quantization)
    assert fact.method.is_(method)
    assert fact.threshold.value == threshold


NO_QUANTIZATION = {
    "raw layer at its default": (
        "import bitsandbytes as bnb\nbnb.nn.Linear8bitLt(8, 8, has_fp16_weights=False)\n"
    ),
    "8-bit optimizer": "import bitsandbytes as bnb\nbnb.optim.Adam8bit(params, lr=1e-4)\n",
    "unsloth told otherwise": (
        "from unsloth import FastLanguageModel\n"
        "FastLanguageModel.from_pretrained('o/m-1b', load_in_4bit=False)\n"
    ),
    "text in strings": "x = 'BitsAndBytesConfig(load_in_8bit=True)'\n",
    "float8 training": (
        "from torchao.float8 import convert_to_float8_training\nconvert_to_float8_training(m)\n"
    ),
    "a kv cache of fp8": "from vllm import LLM\nLLM('o/m', kv_cache_dtype='fp8')\n",
}


@pytest.mark.parametrize("text", NO_QUANTIZATION.values(), ids=NO_QUANTIZATION)
def test_what_is_no_quantisation(text: str) -> None:
    _, facts = read(text)
    assert facts.of(Quantization) == []


@pytest.mark.parametrize(
    ("line", "compiled"),
    [
        ("", False),
        ("lm = torch.compile(lm)", True),
        ("lm.forward = torch.compile(lm.forward)", True),
        ("lm.compile(mode='max-autotune')", True),
        ("lm.generation_config.cache_implementation = 'static'", True),
        ("torch.compile(lm)", False),
        ("lm = torch.compile(lm, backend='eager')", False),
        ("lm = torch.compile(lm, disable=True)", False),
        ("import re\nre.compile('x')", False),
    ],
)
def test_a_quantised_model_knows_whether_it_is_compiled(line: str, compiled: bool) -> None:
    text = AO + f"quantize_(lm, Float8DynamicActivationFloat8WeightConfig())\n{line}\n"
    assert only(text, Quantization).compiled.is_(compiled)


def test_a_single_layer_is_a_benchmark() -> None:
    text = AO + "layer = torch.nn.Linear(8, 8)\nquantize_(layer, Float8WeightOnlyConfig())\n"
    assert only(text, Quantization).role is Role.BENCHMARK


ENGINES = {
    "vllm": ("from vllm import LLM\nLLM('o/m', max_num_seqs=1, enforce_eager=True)\n", 1, True),
    "vllm arguments": (
        "from vllm import AsyncEngineArgs\na = AsyncEngineArgs(model='o/m')\na.max_num_seqs = 1\n",
        1, None,
    ),
    "vllm splat": (
        "import vllm\nopts = dict(model='o/m', max_num_seqs=1)\nvllm.LLM(**opts)\n", 1, None,
    ),
    "sglang": (
        "import sglang as sgl\nsgl.Engine(model_path='o/m', max_running_requests=1,"
        " disable_cuda_graph=True)\n", 1, True,
    ),
    "lmdeploy": (
        "from lmdeploy import PytorchEngineConfig\n"
        "PytorchEngineConfig(max_batch_size=1, eager_mode=True)\n", 1, True,
    ),
    "ray serve": (
        "from ray import serve\n@serve.deployment(max_ongoing_requests=1)\nclass A: ...\n", 1, None,
    ),
    "ray llm": (
        "from ray.serve.llm import LLMConfig\n"
        "LLMConfig(engine_kwargs={'max_num_seqs': 1, 'enforce_eager': True})\n", 1, True,
    ),
    "compilation switched off": (
        "from vllm import LLM\nLLM('o/m', compilation_config={'mode': 0})\n", None, True,
    ),
    "langchain vllm": (
        "from langchain_community.llms import VLLM\n"
        "VLLM(model='o/m', vllm_kwargs={'enforce_eager': True})\n", None, True,
    ),
    "litserve": (
        "import litserve as ls\nclass A(ls.LitAPI): ...\nls.LitServer(A(), max_batch_size=1)\n",
        1, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "concurrency", "eager"), ENGINES.values(), ids=ENGINES)
def test_engines_are_read(text: str, concurrency: int | None, eager: bool | None) -> None:
    fact = only(text, Serving)
    assert fact.concurrency.value == concurrency
    assert fact.eager.value == eager


SURROUNDINGS = {
    "handler": (
        "from fastapi import FastAPI\napp = FastAPI()\n@app.post('/')\ndef say(text: str):\n"
        "    return lm.generate(**tok(text, return_tensors='pt'), max_new_tokens=9)\n",
        Where.HANDLER, Prompts.ONE,
    ),
    "helper of a handler": (
        "from flask import Flask\napp = Flask(__name__)\n"
        "def answer(prompt):\n    return lm.generate(tok(prompt).input_ids, max_new_tokens=9)\n"
        "@app.route('/')\ndef say():\n    return answer('x')\n", Where.HANDLER, Prompts.ONE,
    ),
    "loop over rows": (
        "for row in rows:\n    lm.generate(**tok(row), max_new_tokens=9)\n",
        Where.LOOP, Prompts.ONE,
    ),
    "function called in a loop": (
        "def answer(q):\n    return lm.generate(tok(q).input_ids, max_new_tokens=9)\n"
        "out = [answer(q) for q in questions]\n", Where.LOOP, Prompts.ONE,
    ),
    "a script": ("lm.generate(**tok('hello'), max_new_tokens=9)\n", Where.SCRIPT, Prompts.ONE),
    "a list": (
        "lm.generate(**tok(['a', 'b']), max_new_tokens=9)\n", Where.SCRIPT, Prompts.MANY,
    ),
    "slices": (
        "for i in range(0, 99, 8):\n    lm.generate(**tok(rows[i:i + 8]), max_new_tokens=9)\n",
        Where.SCRIPT, Prompts.MANY,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "where", "prompts"), SURROUNDINGS.values(), ids=SURROUNDINGS)
def test_generation_knows_its_surroundings(text: str, where: Where, prompts: Prompts) -> None:
    head = LOADED + "tok = AutoTokenizer.from_pretrained('org/m-7b')\n"
    if "for " not in text and "@app" not in text:
        # A lone generate in a script is no site: nothing can be said about it.
        _, facts = read(head + text)
        assert facts.of(Generation) == [] or facts.of(Generation)[0].where is where
        return
    fact = only(head + text, Generation)
    assert (fact.where, fact.prompts) == (where, prompts)


CACHE = {
    "argument": ("lm.generate(x, use_cache=False)\n", True),
    "configuration left from training": ("lm.config.use_cache = False\nlm.generate(x)\n", True),
    "restored before generating": (
        "lm.config.use_cache = False\nfit(lm)\nlm.config.use_cache = True\nlm.generate(x)\n", False,
    ),
    "overridden in the call": (
        "lm.config.use_cache = False\nlm.generate(x, use_cache=True)\n", False,
    ),
    "a forward pass": ("lm(x, labels=x, use_cache=False)\n", False),
    "generation config": (
        "from transformers import GenerationConfig\ng = GenerationConfig(use_cache=False)\n"
        "lm.generate(x, generation_config=g)\n", True,
    ),
    "left on": ("lm.generate(x, use_cache=True)\n", False),
}  # fmt: skip


@pytest.mark.parametrize(("text", "off"), CACHE.values(), ids=CACHE)
def test_a_cache_that_stays_off(text: str, off: bool) -> None:
    _, facts = read(LOADED + text)
    assert any(g.use_cache.is_(False) for g in facts.of(Generation)) is off


COMPILATION = {
    "discarded": ("import torch\ntorch.compile(lm)\n", CompileState.DISCARDED),
    "backend": ("import torch\nlm = torch.compile(lm, backend='eager')\n", CompileState.DISABLED),
    "environment": (
        "import os\nos.environ['TORCH_COMPILE_DISABLE'] = '1'\n", CompileState.DISABLED,
    ),
    "generate": ("lm.generate(x, disable_compile=True)\n", CompileState.DISABLED),
}  # fmt: skip


@pytest.mark.parametrize(("text", "state"), COMPILATION.values(), ids=COMPILATION)
def test_a_compiler_that_is_off(text: str, state: CompileState) -> None:
    assert only(LOADED + text, Compilation).state is state


ROLES = {
    "training": ("from peft import get_peft_model\nm = get_peft_model(lm, c)\n", Role.TRAINING),
    "peft inference": ("from peft import PeftModel\nPeftModel.from_pretrained(lm, 'a')\n", None),
    "service": ("from fastapi import FastAPI\napp = FastAPI()\n", Role.SERVICE),
    "test": ("import pytest\ndef test_it(): ...\n", Role.TEST),
    "interactive": ("while True:\n    print(input('? '))\n", Role.INTERACTIVE),
}


@pytest.mark.parametrize(("text", "role"), ROLES.values(), ids=ROLES)
def test_the_role_of_a_program(text: str, role: Role | None) -> None:
    _, facts = read(LOADED + text)
    roles = {load.role for load in facts.of(ModelLoad)}
    assert roles == {role or Role.INFERENCE}


def test_modal_names_its_gpu() -> None:
    text = "import modal\napp = modal.App()\n@app.function(gpu='A100-80GB:2')\ndef f(): ...\n"
    fact = only(text, Hardware)
    assert (fact.gpu, fact.count, fact.kind) == ("A100-80GB", 2, "modal_gpu")
