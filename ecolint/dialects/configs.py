"""Configuration files: which keys name a model, tell training, or hold an engine's options.

Sources: axolotl 0.21.0, LLaMA-Factory 0.9.5, lm-eval 0.4.13, ray 2.60 llm_config.py, vLLM
production-stack helm/values.yaml (a6c01db), kserve (aaac4e2), skypilot 0.14.1, DJL Serving LMI
guides, TorchServe docs, transformers 5.24 configuration files.
"""

import re
from collections.abc import Mapping

from ecolint.dialects import Engine, Option, Scheme
from ecolint.dialects.engines import LMDEPLOY, SGLANG, TENSORRT_LLM, TGI, VLLM
from ecolint.dialects.launchers import TRAINING_FLAGS
from ecolint.facts import Method

# --- what a file is for ------------------------------------------------------------------

# Flags that a serving file may have, too, under the same name.
_ALSO_SERVING = frozenset(
    {"max_steps", "deepspeed", "dataset_name", "use_lora", "use_peft", "save_steps", "optim"}
)
TRAINING_KEYS = (TRAINING_FLAGS - _ALSO_SERVING) | frozenset(
    {"train_micro_batch_size_per_gpu", "train_batch_size", "optimizer", "training_args",
     "training_arguments", "trainer", "sequence_len", "num_train_steps", "lora_target_linear",
     "per_device_batch_size", "gradient_accumulation", "training", "peft_type",
     # verl, whose engines answer while a model learns
     "actor_rollout_ref", "free_cache_engine", "reward_manager"}
)  # fmt: skip
TRAINING_VALUES: Mapping[str, frozenset[str]] = {
    "adapter": frozenset({"lora", "qlora"}),
    "stage": frozenset({"pt", "sft", "rm", "ppo", "dpo", "kto"}),
    "mode": frozenset({"train", "training", "finetune", "fine-tune"}),
    "task": frozenset({"train", "training", "finetune", "sft"}),
}
EVALUATION_KEYS = frozenset({"num_fewshot", "model_args", "fewshot_config", "metric_list"})
BENCHMARK_KEYS = frozenset({"benchmark", "input_shapes", "warmup_runs", "benchmarks"})
# In a file that trains as well, these sections are about serving.
INFERENCE_SECTIONS = frozenset(
    {"inference", "infer", "serving", "serve", "server", "service", "predict", "prediction",
     "predictor", "generation", "generate", "deployment", "deploy", "production"}
)  # fmt: skip

# --- where the model is named ------------------------------------------------------------

MODEL_KEYS = (
    "model_name_or_path", "pretrained_model_name_or_path", "base_model_name_or_path",
    "base_model", "base_model_id", "model_source", "model_id", "hf_model_id",
    "model_name", "model_path",
    "pretrained", "repo_id", "hf_model", "hf_repo", "model_repo", "llm_model", "model_tag",
    "model", "checkpoint", "checkpoint_dir", "llm", "_name_or_path",
)  # fmt: skip
MODEL_SECTIONS = frozenset(
    {"model", "llm", "models", "base_model", "model_config", "model_loading_config",
     "language_model"}
)  # fmt: skip
KEYS_IN_MODEL_SECTION = (
    "id", "name_or_path", "name", "path", "repo", "repository", "uri", "source", "hf_id",
)  # fmt: skip
# What `model:` says in tools where it is a kind and not a name.
MODEL_KINDS = frozenset(
    {"hf", "vllm", "hf-auto", "hf-causal", "huggingface", "local", "openai", "local-completions",
     "sglang", "dummy", "hf-multimodal"}
)  # fmt: skip

# What a model works on, by its name, where that is not text that it writes.
_MODALITIES: Mapping[str, re.Pattern[str]] = {
    "audio": re.compile(r"whisper|wav2vec|hubert|seamless|musicgen|parler|\bbark\b"),
    "diffusion": re.compile(r"stable-diffusion|\bsdxl|\bsd3|\bflux|pixart"),
    "vision-encoder": re.compile(r"\bclip\b|\bvit\b|siglip|dinov?\d"),
    "encoder": re.compile(r"bert|minilm|mpnet|\bbge\b|\be5\b|\bgte\b|embed|rerank"),
}


def modality_of(model_id: str) -> str:
    """What a model works on, by its name alone; empty where that says nothing."""
    name = model_id.rpartition("/")[2].lower()
    return next((kind for kind, words in _MODALITIES.items() if words.search(name)), "")


# --- engines -------------------------------------------------------------------------------

ENGINE_SECTIONS: Mapping[str, Engine] = {
    "engine_kwargs": VLLM, "vllm": VLLM, "vllm_config": VLLM, "vllm_args": VLLM,
    "vllm_kwargs": VLLM, "vllm_engine_args": VLLM, "vllm_engine_kwargs": VLLM,
    "vllm_options": VLLM, "vllm_settings": VLLM, "sglang": SGLANG, "sglang_config": SGLANG,
    "sglang_args": SGLANG, "sglang_kwargs": SGLANG, "tgi": TGI, "tgi_config": TGI,
    "text_generation_inference": TGI, "lmdeploy": LMDEPLOY, "lmdeploy_config": LMDEPLOY,
    "trtllm": TENSORRT_LLM, "tensorrt_llm": TENSORRT_LLM,
}  # fmt: skip
ENGINE_KEYS = (
    "engine", "backend", "framework", "inference_engine", "infer_backend", "serving_backend",
    "inference_backend", "serving_engine", "rolling_batch", "llm_engine", "runtime", "server",
)  # fmt: skip
ENGINE_NAMES: Mapping[str, Engine] = {
    "vllm": VLLM, "sglang": SGLANG, "tgi": TGI, "text-generation-inference": TGI,
    "lmdeploy": LMDEPLOY, "tensorrt-llm": TENSORRT_LLM, "trtllm": TENSORRT_LLM,
}  # fmt: skip
# One of these beside a model, or two of them, name the engine as surely as its name does.
OWN_OPTIONS: tuple[tuple[Engine, frozenset[str]], ...] = (
    (VLLM, frozenset({"max_num_seqs", "enforce_eager", "gpu_memory_utilization",
                      "max_num_batched_tokens", "enable_prefix_caching",
                      "no_enable_prefix_caching", "tensor_parallel_size", "max_model_len",
                      "enable_chunked_prefill", "kv_cache_dtype", "served_model_name"})),
    (VLLM, frozenset({"vllm_enforce_eager", "vllm_max_num_seqs", "use_vllm", "vllm_gpu_util",
                      "vllm_maxlen", "vllm_max_model_len"})),
    (SGLANG, frozenset({"max_running_requests", "disable_cuda_graph", "disable_radix_cache",
                        "mem_fraction_static", "torchao_config", "chunked_prefill_size",
                        "enable_torch_compile"})),
    (TGI, frozenset({"max_batch_prefill_tokens", "max_batch_total_tokens", "max_total_tokens",
                     "max_input_length", "max_input_tokens", "cuda_graphs", "quantize"})),
)  # fmt: skip
# Charts and frameworks call an engine's options otherwise.
ENGINE_ALIASES: Mapping[str, Mapping[str, str]] = {
    "vllm": {"model_id": "model", "model_path": "model", "model_name_or_path": "model",
             "model_tag": "model", "vllm_max_num_seqs": "max_num_seqs",
             "max_rolling_batch_size": "max_num_seqs", "quantize": "quantization",
             "vllm_enforce_eager": "enforce_eager"},
    "sglang": {"model_id": "model_path", "model_name_or_path": "model_path"},
    "tgi": {"model": "model_id", "model_name": "model_id", "model_path": "model_id"},
    "lmdeploy": {"model": "model_path", "model_id": "model_path"},
}  # fmt: skip

# A service whose settings name a batch size and no engine: it batches only if told to.
BATCH_KEYS = (
    "batch_size", "inference_batch_size", "generation_batch_size", "max_batch_size",
    "generate_batch_size",
)  # fmt: skip
OWN_SERVICE = Engine(
    "transformers",
    {**{key: Option("concurrency") for key in BATCH_KEYS}, "model": Option("model")},
    batches_itself=False,
)
PRODUCTION = frozenset({"production", "prod", "live", "prd"})
PRODUCTION_KEYS = (
    "environment",
    "env",
    "stage",
    "deployment",
    "profile",
    "mode",
    "tier",
    "app_env",
)

# `quantization: bnb-8bit` and its like, where no engine gives the word another meaning.
NAMED_SCHEMES: Mapping[str, Scheme] = {
    **dict.fromkeys(
        ("bnb_8bit", "bitsandbytes_8bit", "bnb.int8", "bnb_int8", "bitsandbytes_int8",
         "llm.int8", "llm_int8", "bitsandbytes8"),
        Scheme(Method.INT8, 6.0),
    ),
    **dict.fromkeys(
        ("bnb_4bit", "bitsandbytes_4bit", "bnb.nf4", "bnb.nf4_dq", "bnb_nf4", "bitsandbytes_nf4",
         "bitsandbytes4"),
        Scheme(Method.NF4),
    ),
    **dict.fromkeys(("bnb.fp4", "bnb.fp4_dq", "bnb_fp4", "bitsandbytes_fp4"), Scheme(Method.FP4)),
}  # fmt: skip

# transformers' `quant_method`, apart from bitsandbytes and torchao.
SAVED_METHODS: Mapping[str, Method] = {
    "gptq": Method.GPTQ, "awq": Method.AWQ, "hqq": Method.HQQ, "fp8": Method.FP8,
    "fbgemm_fp8": Method.FP8,
    **dict.fromkeys(
        ("aqlm", "vptq", "quanto", "eetq", "higgs", "compressed-tensors", "bitnet", "spqr",
         "quark", "fp_quant", "auto-round", "mxfp4", "nvfp4", "mxfp8"),
        Method.OTHER,
    ),
}  # fmt: skip

# --- hardware ----------------------------------------------------------------------------

# Node labels that name a GPU or a machine; `ecolint.catalog` knows what their values mean.
GPU_LABELS = frozenset(
    {"nvidia.com/gpu.product", "nvidia.com/gpu.machine", "cloud.google.com/gke-accelerator",
     "karpenter.k8s.aws/instance-gpu-name", "skypilot.co/accelerator", "gpu.nvidia.com/class",
     "k8s.amazonaws.com/accelerator", "node.kubernetes.io/instance-type",
     "beta.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-family"}
)  # fmt: skip
MACHINE_KEYS = frozenset(
    {"instance_type", "instance_types", "machine_type", "vm_size", "node_type", "instance_size",
     "machine", "accelerator_type", "accelerator", "gpu_type", "sku"}
)  # fmt: skip
