"""May this file matter? One pass over the bytes, before anything is decoded or parsed.

Of a large source tree few files hold a word that decides anything, so the gate sets the
cost of a run. Decisive words open a file alone; weak ones (`.generate(`) are everywhere and
need a companion, such as an import of a library that serves or loads models.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from ecolint.kinds import Kind

if TYPE_CHECKING:
    import re

    _Search = Callable[[bytes], object]

DECISIVE: tuple[bytes, ...] = (
    b"load_in_8bit", b"load_in_4bit", b"BitsAndBytesConfig", b"BnbQuantizationConfig",
    b"Linear8bitLt", b"llm_int8", b"bnb_4bit", b"bnb-4bit", b"bnb_8bit", b"bnb-8bit",
    b"bnb.int8", b"bnb.nf4", b"bnb.fp4", b"bitsandbytes_8bit", b"bitsandbytes_4bit",
    b"quantize_(", b"TorchAoConfig", b"Float8Weight", b"Float8Dynamic", b"float8_weight",
    b"float8_dynamic", b"float8wo", b"float8dq", b"torchao-config", b"torchao_config",
    b"fp8wo", b"fp8dq", b"quantization_bit", b"--quantize", b"--quantization", b"QUANTIZE",
    b"load-in-8bit", b"load-in-4bit",
    b"enforce_eager", b"enforce-eager", b"ENFORCE_EAGER", b"eager_mode", b"eager-mode",
    b"disable_cuda_graph", b"disable-cuda-graph", b"cuda-graphs",
    b"max_num_seqs", b"max-num-seqs", b"MAX_NUM_SEQS", b"max_running_requests",
    b"max-running-requests", b"max-concurrent-requests", b"max_concurrent_requests",
    b"max_ongoing_requests", b"max_concurrent_queries",
    b"enable_prefix_caching", b"enable-prefix-caching", b"disable_radix_cache",
    b"disable-radix-cache", b"disable_compile", b"COMPILE_DISABLE", b"TORCHDYNAMO_DISABLE",
    b"whl/nightly", b"whl/test", b"wheels.vllm.ai", b"continuous-release", b"pytorch-nightly",
    b".dev20", b"vllm-openai:nightly", b"git+https://github.com/", b"FastLanguageModel",
    b"# /// script",
)  # fmt: skip

# A word that is common outside our field opens a file only beside an import of a library of
# ours: a real one, at the start of a line, not the example in a docstring.
_LIBRARIES = (
    b"transformers", b"vllm", b"sglang", b"torchao", b"langchain", b"llama_index", b"lmdeploy",
    b"litgpt", b"litserve", b"unsloth", b"bitsandbytes", b"haystack", b"diffusers", b"optimum",
    b"bentoml", b"sentence_transformers", b"ray", b"modal", b"tensorrt_llm", b"peft", b"trl",
    b"accelerate",
)  # fmt: skip
_NEAR = (*(b"import " + name for name in _LIBRARIES), *(b"from " + name for name in _LIBRARIES))
WEAK: tuple[bytes, ...] = (
    b".generate(", b"pipeline(", b"use_cache", b"torch.compile", b"max_batch_size", b"LLM(",
    b"FastModel", b"from_pretrained", b"generate_batch", b"enable_caching", b"8bit", b"4bit",
    b"max_batch",
)  # fmt: skip

# Programs, packages and variables of which a file of commands must name one. Machines that
# are rented count too: they tell the GPU.
COMMANDS: tuple[bytes, ...] = (
    b"pip ", b"pip3", b'pip"', b"pip'", b"conda", b"mamba", b"uv ", b"poetry", b"pdm ",
    b"vllm", b"sglang", b"text-generation", b"lmdeploy", b"trtllm", b"litgpt", b"lm_eval",
    b"lm-eval", b"transformers", b"llamafactory", b"torch", b"8bit", b"4bit", b"QUANTIZE",
    b"8BIT", b"4BIT", b"COMPILE_DISABLE", b"DYNAMO_DISABLE", b"max-num-seqs", b"enforce-eager",
    b"nightly", b"gres=gpu", b"instance-type", b"machine-type", b"accelerator", b"--gpus",
    b"vm-size", b"quantiz",
)  # fmt: skip
# Parts of the names of the packages that bring or choose GPU kernels; lists of packages name one.
INSTALLED: tuple[bytes, ...] = (
    b"torch", b"triton", b"transformers", b"vllm", b"sglang", b"bitsandbytes", b"accelerate",
    b"diffusers", b"peft", b"optimum", b"flash", b"xformers", b"deepspeed", b"gptq", b"awq",
    b"hqq", b"sgl", b"llm", b"lmdeploy", b"litgpt", b"exllama", b"aphrodite", b"compressed",
    b"fbgemm", b"executorch", b"mslk",
)  # fmt: skip
# Keys, values and labels of which a file of settings must hold one. `maxBatchSize: ` has its
# blank, since a schema of Kubernetes ends the line there.
SETTINGS: tuple[bytes, ...] = (
    b"8bit", b"4bit", b"8BIT", b"4BIT", b"8Bit", b"4Bit", b"bnb", b"bitsandbytes", b"uantiz",
    b"UANTIZ", b"quant_type", b"quant_method", b"loat8", b"torchao", b"use_cache", b"batch_size",
    b"BATCH_SIZE", b"atchSize: ", b'atchSize": ', b"enforce_eager", b"enforce-eager",
    b"enforceEager", b"ENFORCE_EAGER", b"eager_mode", b"max_num_seqs", b"max-num-seqs",
    b"axNumSeqs", b"MAX_NUM_SEQS", b"running_requests", b"running-requests", b"cuda_graph",
    b"cuda-graph", b"prefix_caching", b"prefix-caching", b"PrefixCaching", b"radix",
    b"max_ongoing", b"max_concurrent", b"max-concurrent", b"disable_compile",
    b"COMPILE_DISABLE", b"DYNAMO_DISABLE", b"pip install", b"pip3 install", b"uv pip",
    b"uv add", b"conda install", b"mamba install", b"poetry add", b"vllm", b"VLLM", b"sglang",
    b"text-generation", b"lmdeploy", b"trtllm", b"litgpt", b"lm_eval", b"lm-eval",
    b"llamafactory", b"nightly", b"torch", b"nvidia.com/gpu.", b"gke-accelerator", b"gpu-name",
    b"/accelerator", b"instance-type", b"instance-family", b"accelerators:",
    b"accelerator_type", b"acceleratorType: ", b"gpu_type", b"gpuType", b"instance_type",
    b"nstanceType: ", b'nstanceType": "', b"machine_type", b"machineType: ", b"vm_size",
    b"vmSize: ", b"gpu: ",
)  # fmt: skip
_OF_SETTINGS = frozenset({Kind.YAML, Kind.JSON, Kind.TOML})
# Files of settings that list packages say so by one of these.
_LISTS = (b"dependencies", b"pipfile-spec", b"[[package")
_OF_COMMANDS = frozenset(
    {Kind.SHELL, Kind.BATCH, Kind.MAKEFILE, Kind.PROCFILE, Kind.DOCKERFILE, Kind.SYSTEMD}
)


def matters(kind: Kind, raw: bytes) -> bool:
    """Whether a file of this kind and content can hold a fact."""
    if kind in _OF_COMMANDS:
        # PowerShell likes UTF-16, in which no word is found before it is decoded.
        return any(word in raw for word in COMMANDS) or b"\0" in raw[:64]
    if kind is Kind.REQUIREMENTS or kind is Kind.CONDA_LOCK:
        return b"\0" in raw[:64] or lists_packages(raw)
    if kind in _OF_SETTINGS:
        if b"\0" in raw[:64] or any(word in raw for word in SETTINGS):
            return True
        return any(word in raw for word in _LISTS) and lists_packages(raw)
    if kind is not Kind.PYTHON and kind is not Kind.NOTEBOOK:
        return True
    decisive, weak, imports = _searches()
    if decisive(raw):
        return True
    # In a notebook the import may be anywhere, or nowhere: cells are run in any order.
    return bool(weak(raw)) and (kind is Kind.NOTEBOOK or bool(imports(raw)) or _uncached(raw))


_CACHE_OFF = tuple(
    b"use_cache" + form + b"False"
    for form in (b"=", b" = ", b"': ", b'": ', b"', ", b'", ', b": bool = ")
)


def _uncached(raw: bytes) -> bool:
    """Whether somebody generates without a cache; it needs no import to be one of ours."""
    return b".generate(" in raw and any(form in raw for form in _CACHE_OFF)


def lists_packages(raw: bytes) -> bool:
    """Whether a list of packages names one that matters."""
    folded = raw.lower()
    return any(word in folded for word in INSTALLED)


def sharpen() -> None:
    """Use google-re2, where installed, from now on; it pays off from a few hundred files."""
    _sharp.append(True)
    _searches.cache_clear()


_sharp: list[bool] = []
_IMPORT = rb"(?m)^[ \t]*(?:from|import)[ \t]+(?:" + b"|".join(_LIBRARIES) + rb")\b"


@lru_cache(maxsize=1)
def _searches() -> "tuple[_Search, _Search, _Search]":
    """Tests for a decisive word, a weak one, and an import of a library of ours."""
    if _sharp:
        try:
            import re2
        except ImportError:
            return _plain_searches()
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        words = [b"|".join(re2.escape(word) for word in group) for group in (DECISIVE, WEAK)]
        decisive, weak, imports = (
            re2.compile(pattern, options).search for pattern in (*words, _IMPORT)
        )
        return decisive, weak, imports
    return _plain_searches()


def _plain_searches() -> "tuple[_Search, _Search, _Search]":
    # A loop of `in` is three times as quick as one alternation of `re`.
    def decisive(raw: bytes) -> bool:
        return any(word in raw for word in DECISIVE)

    def weak(raw: bytes) -> bool:
        return any(word in raw for word in WEAK)

    def imports(raw: bytes) -> bool:
        return any(word in raw for word in _NEAR) and _imports().search(raw) is not None

    return decisive, weak, imports


@lru_cache(maxsize=1)
def _imports() -> "re.Pattern[bytes]":
    import re

    return re.compile(_IMPORT)
