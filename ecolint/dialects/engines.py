"""Serving engines: their options in snake_case, as Python, YAML, flags and env spell them.

Sources: vllm 0.6.3/0.8.5/0.33 engine/arg_utils.py and config/, sglang 0.4.6/0.5.10/0.5.23
server_args.py, text-generation-inference launcher, lmdeploy 0.18 messages.py, TensorRT-LLM
`trtllm-serve` pages, litserve 0.2 api.py, ray 2.60 serve, bentoml 1.4, NVIDIA Triton docs.
"""

from dataclasses import replace

from ecolint.dialects import Engine, Option, Scheme
from ecolint.facts import Method

_FUSED_FP8 = Scheme(Method.FP8)
_OFF = {0: True, "0": True, "O0": True, "NONE": True, "none": True}

_COMMON_SCHEMES = {
    "awq": Scheme(Method.AWQ),
    "awq_marlin": Scheme(Method.AWQ),
    "gptq": Scheme(Method.GPTQ),
    "gptq_marlin": Scheme(Method.GPTQ),
    "fp8": _FUSED_FP8,
    "bitsandbytes": Scheme(Method.NF4),  # in-flight bitsandbytes means NF4 here, never INT8
    "hqq": Scheme(Method.HQQ),
}

VLLM = Engine(
    "vllm",
    {
        "model": Option("model"),
        "max_num_seqs": Option("concurrency"),
        "enforce_eager": Option("eager"),
        "optimization_level": Option("eager", values=_OFF),
        "O": Option("eager", values=_OFF),
        "compilation_config": Option("eager"),
        "compilation_config.mode": Option("eager", values=_OFF),
        "compilation_config.level": Option("eager", values=_OFF),
        "compilation_config.cudagraph_mode": Option("eager", values=_OFF),
        "enable_prefix_caching": Option("prefix_cache"),
        "no_enable_prefix_caching": Option("prefix_cache", inverted=True),
        "kv_cache_dtype": Option("kv_dtype"),
        "dtype": Option("dtype"),
        "max_model_len": Option("context"),
        "quantization": Option("quantization"),
        "load_format": Option("load_format"),
    },
    {**_COMMON_SCHEMES, "torchao": Scheme(Method.OTHER)},
    prefix_cache_default=True,
    images=("vllm/vllm-openai", "vllm-openai", "llm-d/llm-d-cuda", "rocm/vllm"),
)

SGLANG = Engine(
    "sglang",
    {
        "model_path": Option("model"),
        "model": Option("model"),
        "max_running_requests": Option("concurrency"),
        "disable_cuda_graph": Option("eager"),
        "enable_torch_compile": Option("compiled"),
        "disable_radix_cache": Option("prefix_cache", inverted=True),
        "kv_cache_dtype": Option("kv_dtype"),
        "dtype": Option("dtype"),
        "context_length": Option("context"),
        "quantization": Option("quantization"),
        "torchao_config": Option("torchao"),
        "load_format": Option("load_format"),
    },
    _COMMON_SCHEMES,
    prefix_cache_default=True,
    images=("lmsysorg/sglang",),
)

TGI = Engine(
    "tgi",
    {
        "model_id": Option("model"),
        "max_concurrent_requests": Option("concurrency"),
        "max_batch_size": Option("concurrency"),
        "cuda_graphs": Option("eager", values={0: True, "0": True}),
        "quantize": Option("quantization"),
        "dtype": Option("dtype"),
        "kv_cache_dtype": Option("kv_dtype"),
        "max_total_tokens": Option("context"),
    },
    {
        "bitsandbytes": Scheme(Method.INT8, 6.0),
        "bitsandbytes-nf4": Scheme(Method.NF4),
        "bitsandbytes-fp4": Scheme(Method.FP4),
        "awq": Scheme(Method.AWQ),
        "gptq": Scheme(Method.GPTQ),
        "marlin": Scheme(Method.GPTQ),
        "fp8": _FUSED_FP8,
        "eetq": Scheme(Method.OTHER),
        "exl2": Scheme(Method.OTHER),
        "compressed-tensors": Scheme(Method.OTHER),
    },
    images=("huggingface/text-generation-inference",),
)

LMDEPLOY = Engine(
    "lmdeploy",
    {
        "model_path": Option("model"),
        "max_batch_size": Option("concurrency"),
        "eager_mode": Option("eager"),
        "enable_prefix_caching": Option("prefix_cache"),
        "dtype": Option("dtype"),
        "session_len": Option("context"),
        "model_format": Option("quantization"),
    },
    {"awq": Scheme(Method.AWQ), "gptq": Scheme(Method.GPTQ), "fp8": _FUSED_FP8},
    images=("openmmlab/lmdeploy",),
)

TENSORRT_LLM = Engine(
    "tensorrt-llm",
    {
        "model": Option("model"),
        "max_batch_size": Option("concurrency"),
        "max_seq_len": Option("context"),
        "dtype": Option("dtype"),
    },
    images=("nvidia/tensorrt-llm",),
)

LITSERVE = Engine("litserve", {"max_batch_size": Option("concurrency")}, batches_itself=False)
RAY_SERVE = Engine(
    "ray-serve",
    {
        "max_ongoing_requests": Option("concurrency"),
        "max_concurrent_queries": Option("concurrency"),
        "max_batch_size": Option("concurrency"),
    },
    batches_itself=False,
)
BENTOML = Engine("bentoml", {"max_batch_size": Option("concurrency")}, batches_itself=False)
KSERVE_BATCHER = Engine(
    "kserve-batcher", {"max_batch_size": Option("concurrency")}, batches_itself=False
)
TRITON = Engine("triton", {"max_batch_size": Option("concurrency")}, batches_itself=False)
TORCHSERVE = Engine(
    "torchserve",
    {"batch_size": Option("concurrency"), "batchSize": Option("concurrency")},
    batches_itself=False,
)

ENGINES = {
    engine.name: engine
    for engine in (
        VLLM,
        SGLANG,
        TGI,
        LMDEPLOY,
        TENSORRT_LLM,
        LITSERVE,
        RAY_SERVE,
        BENTOML,
        KSERVE_BATCHER,
        TRITON,
        TORCHSERVE,
    )
}


def at_version(engine: Engine, version: str | None) -> Engine:
    """The engine as of a version (an image's tag, `v0.6.3`); as newest where none is told.

    vLLM: prefix caching is on by default from 0.8 (V1 engine), and bitsandbytes left the
    tree in 0.28, where the option is an error and not a waste. SGLang: `--torchao-config`
    is gone in 0.5.23.
    """
    numbers = _numbers(version)
    if numbers is None:
        return engine
    if engine is VLLM and numbers < (0, 8):
        return replace(engine, prefix_cache_default=False)
    if engine is VLLM and numbers >= (0, 28):
        schemes = {name: each for name, each in engine.schemes.items() if name != "bitsandbytes"}
        options = {name: each for name, each in engine.options.items() if name != "load_format"}
        return replace(engine, schemes=schemes, options=options)
    if engine is SGLANG and numbers >= (0, 5, 23):
        options = {name: each for name, each in engine.options.items() if name != "torchao_config"}
        return replace(engine, options=options)
    return engine


def _numbers(version: str | None) -> tuple[int, ...] | None:
    head = (version or "").removeprefix("v").split("-")[0].split("+")[0]
    parts = head.split(".")
    if len(parts) < 2 or not all(part.isdigit() for part in parts[:2]):
        return None
    return tuple(int(part) for part in parts[:3] if part.isdigit())
