"""The packages that decide how much energy inference takes, and where their source lives.

Tables only. A package is listed when it brings GPU kernels, or chooses them: an unreleased
build of anything else is nobody's business here.
"""

TORCH = frozenset(
    {
        "torch", "torchvision", "torchaudio", "torchao", "torchtext", "torchtune", "torchdata",
        "torchrec", "torchcodec", "torch-tensorrt", "executorch", "fbgemm-gpu",
        "fbgemm-gpu-genai", "mslk", "pytorch-triton", "pytorch-triton-rocm",
        "pytorch-triton-xpu", "triton", "triton-rocm", "triton-xpu",
    }
)  # fmt: skip
PACKAGES = TORCH | frozenset(
    {
        "accelerate", "aphrodite-engine", "auto-gptq", "autoawq", "bitsandbytes",
        "compressed-tensors", "deepspeed", "diffusers", "exllamav2", "flash-attn",
        "flashinfer-cubin", "flashinfer-jit-cache", "flashinfer-python", "gptqmodel", "hqq",
        "litgpt", "llmcompressor", "lmdeploy", "optimum", "optimum-quanto", "peft", "sgl-kernel",
        "sglang", "tensorrt-llm", "transformers", "vllm", "xformers",
    }
)  # fmt: skip

# Names under which a project was published before, or is in other indexes.
ALIASES = {
    "flashinfer": "flashinfer-python",
    "pytorch": "torch",
    "pytorch-gpu": "torch",
}

# TensorRT-LLM publishes every release as a candidate first, and its manual installs those.
CANDIDATES_ARE_RELEASES = frozenset({"tensorrt-llm"})
# Their own manuals tell to allow pre-releases, for a dependency's sake.
PRERELEASES_BY_MANUAL = frozenset({"sglang", "tensorrt-llm"})

REPOSITORIES = {
    "autogptq/autogptq": "auto-gptq",
    "bitsandbytes-foundation/bitsandbytes": "bitsandbytes",
    "casper-hansen/autoawq": "autoawq",
    "dao-ailab/flash-attention": "flash-attn",
    "deepspeedai/deepspeed": "deepspeed",
    "dropbox/hqq": "hqq",
    "facebookresearch/xformers": "xformers",
    "flashinfer-ai/flashinfer": "flashinfer-python",
    "hazyresearch/flash-attention": "flash-attn",
    "huggingface/accelerate": "accelerate",
    "huggingface/diffusers": "diffusers",
    "huggingface/optimum": "optimum",
    "huggingface/optimum-quanto": "optimum-quanto",
    "huggingface/peft": "peft",
    "huggingface/transformers": "transformers",
    "internlm/lmdeploy": "lmdeploy",
    "lightning-ai/litgpt": "litgpt",
    "microsoft/deepspeed": "deepspeed",
    "mobiusml/hqq": "hqq",
    "modelcloud/gptqmodel": "gptqmodel",
    "neuralmagic/compressed-tensors": "compressed-tensors",
    "nvidia/tensorrt-llm": "tensorrt-llm",
    "openai/triton": "triton",
    "panqiwei/autogptq": "auto-gptq",
    "pytorch/ao": "torchao",
    "pytorch/audio": "torchaudio",
    "pytorch/pytorch": "torch",
    "pytorch/tensorrt": "torch-tensorrt",
    "pytorch/torchrec": "torchrec",
    "pytorch/torchtune": "torchtune",
    "pytorch/vision": "torchvision",
    "sgl-project/sglang": "sglang",
    "timdettmers/bitsandbytes": "bitsandbytes",
    "triton-lang/triton": "triton",
    "turboderp/exllamav2": "exllamav2",
    "turboderp-org/exllamav2": "exllamav2",
    "vllm-project/compressed-tensors": "compressed-tensors",
    "vllm-project/llm-compressor": "llmcompressor",
    "vllm-project/vllm": "vllm",
}
# A fork keeps its repository's name; names that others use too tell nothing.
FORKED = {
    path.partition("/")[2]: name
    for path, name in REPOSITORIES.items()
    if path.partition("/")[2] not in ("ao", "audio", "vision", "tensorrt", "hqq", "accelerate")
}
