"""May this file matter? One pass over the bytes, before anything is decoded or parsed.

Of a large source tree few files hold a word that decides anything, so the gate sets the
cost of a run. Decisive words open a file alone; weak ones (`.generate(`) are everywhere and
need a companion, such as an import of a library that serves or loads models.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec

from ecolint.document import Kind

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
)  # fmt: skip

# A word that is common outside our field, and the companions of which one must be near.
_COMPANIONS: tuple[bytes, ...] = (
    b"import transformers", b"from transformers", b"import vllm", b"from vllm", b"sglang",
    b"import torchao", b"from torchao", b"langchain", b"llama_index", b"lmdeploy", b"litgpt",
    b"litserve", b"unsloth", b"bitsandbytes", b"haystack", b"diffusers", b"ctransformers",
    b"optimum", b"bentoml", b"AutoModel", b"text-generation", b"huggingface",
)  # fmt: skip
WEAK: tuple[bytes, ...] = (
    b".generate(", b"pipeline(", b"use_cache", b"torch.compile", b"max_batch_size", b"LLM(",
    b"FastModel", b"from_pretrained", b"generate_batch", b"enable_caching", b"8bit", b"4bit",
    b"max_batch",
)  # fmt: skip


def matters(kind: Kind, raw: bytes) -> bool:
    """Whether a file of this kind and content can hold a fact."""
    if kind in (Kind.PYTHON, Kind.NOTEBOOK):
        if _anyhow(raw):
            return True
        return any(word in raw for word in WEAK) and any(word in raw for word in _COMPANIONS)
    return True


def sharpen() -> None:
    """Use google-re2 for the decisive words from now on; pays off on a thousand files."""
    _search.cache_clear()
    if find_spec("re2") is not None:
        _sharp.append(True)


_sharp: list[bool] = []


@lru_cache(maxsize=1)
def _search() -> Callable[[bytes], object] | None:
    if not _sharp:
        return None
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = True
    pattern = b"|".join(re2.escape(word) for word in DECISIVE)
    search: Callable[[bytes], object] = re2.compile(pattern, options).search
    return search


def _anyhow(raw: bytes) -> bool:
    search = _search()
    if search is not None:
        return search(raw) is not None
    return any(word in raw for word in DECISIVE)
