"""Launchers: programs that serve, evaluate or run a model, and how their flags are spelled.

Sources: the argument parsers of vllm 0.6-0.33, sglang 0.4-0.5.23, text-generation-inference
(db931fc), lmdeploy 0.18, transformers 4.54-5.24, litgpt 0.5, lm-eval 0.4.13, fschat 0.2.36,
text-generation-webui (1dcde41), llamafactory 0.9.5, kserve huggingfaceserver (aaac4e2).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as attribute
from enum import Enum
from types import MappingProxyType

from ecolint.dialects import Engine, Wrapper
from ecolint.dialects.bitsandbytes import CONFIG_OPTIONS, WRAPPERS
from ecolint.dialects.engines import LMDEPLOY, SGLANG, TENSORRT_LLM, TGI, VLLM
from ecolint.facts import Method, Role

_NONE: Mapping[str, str] = MappingProxyType({})


class Runs(Enum):
    """What a launcher does with its options."""

    ENGINE = "an engine's own server"
    BITSANDBYTES = "transformers, quantised by bitsandbytes flags"
    LITGPT = "a LitGPT model, `--quantize bnb.*`"
    TRANSFORMERS_SERVE = "transformers' server, `--quantization bnb-*`"
    LLAMA_FACTORY = "a LLaMA-Factory model"
    EVALUATION = "lm-eval"
    NOTHING = "a tool of which no option matters here"


@dataclass(frozen=True, slots=True)
class Launcher:
    """A program with its leading words.

    Args:
        names: leading words of the command line, `python -m` taken off, joined by spaces.
        runs: what it does with its options.
        engine: whose options its flags are.
        wrapper: who hands bitsandbytes options on.
        positional: the option that the first bare word gives.
        aliases: other spellings of options (snake_case, without dashes).
        role: what running it means.
    """

    names: tuple[str, ...]
    runs: Runs
    engine: Engine | None = None
    wrapper: Wrapper | None = None
    positional: str = ""
    aliases: Mapping[str, str] = attribute(default_factory=lambda: _NONE)
    role: Role = Role.SERVICE

    @property
    def spelled(self) -> str:
        """How messages call it."""
        return self.names[0]


_VLLM_ALIASES = {
    "q": "quantization",
    "cc": "compilation_config",
    "tp": "tensor_parallel_size",
    "model_tag": "model",
    "model_id": "model",  # KServe's server passes vLLM's flags through
}

# The first that fits; longer names first where one begins another.
LAUNCHERS: tuple[Launcher, ...] = (
    Launcher(
        ("vllm serve", "vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server",
         "vllm.entrypoints.cli.main serve", "vllm-openai"),
        Runs.ENGINE, VLLM, WRAPPERS["transformers"], "model", _VLLM_ALIASES,
    ),
    Launcher(
        ("huggingfaceserver",), Runs.ENGINE, VLLM, WRAPPERS["transformers"], "", _VLLM_ALIASES,
    ),
    Launcher(
        ("vllm run-batch", "vllm.entrypoints.openai.run_batch"),
        Runs.ENGINE, VLLM, aliases=_VLLM_ALIASES, role=Role.BATCH,
    ),
    Launcher(
        ("vllm bench", "benchmark_serving.py", "benchmark_throughput.py", "benchmark_latency.py"),
        Runs.ENGINE, VLLM, aliases=_VLLM_ALIASES, role=Role.BENCHMARK,
    ),
    Launcher(
        ("sglang.launch_server", "sglang serve", "sglang.srt.server"),
        Runs.ENGINE, SGLANG, positional="model_path",
    ),
    Launcher(
        ("sglang.bench_one_batch", "sglang.bench_offline_throughput", "sglang.bench_latency"),
        Runs.ENGINE, SGLANG, role=Role.BENCHMARK,
    ),
    Launcher(("text-generation-launcher", "text-generation-server serve"), Runs.ENGINE, TGI),
    Launcher(
        ("lmdeploy serve api_server", "lmdeploy serve gradio"),
        Runs.ENGINE, LMDEPLOY, positional="model_path",
    ),
    Launcher(
        ("lmdeploy chat",), Runs.ENGINE, LMDEPLOY, positional="model_path", role=Role.INTERACTIVE
    ),
    Launcher(
        ("trtllm-serve serve", "trtllm-serve disaggregated", "trtllm-serve"),
        Runs.ENGINE, TENSORRT_LLM, positional="model",
    ),
    Launcher(
        ("transformers serve", "transformers-cli serve"),
        Runs.TRANSFORMERS_SERVE, wrapper=WRAPPERS["transformers-serve"], positional="model",
    ),
    Launcher(
        ("transformers chat", "transformers-cli chat"),
        Runs.TRANSFORMERS_SERVE, wrapper=WRAPPERS["transformers-serve"], positional="model",
        role=Role.INTERACTIVE,
    ),
    Launcher(("litgpt serve",), Runs.LITGPT, wrapper=WRAPPERS["lightning"], positional="model"),
    Launcher(
        ("litgpt chat",),
        Runs.LITGPT, wrapper=WRAPPERS["lightning"], positional="model", role=Role.INTERACTIVE,
    ),
    Launcher(
        ("litgpt generate",),
        Runs.LITGPT, wrapper=WRAPPERS["lightning"], positional="model", role=Role.INFERENCE,
    ),
    Launcher(
        ("litgpt evaluate",),
        Runs.LITGPT, wrapper=WRAPPERS["lightning"], positional="model", role=Role.EVALUATION,
    ),
    Launcher(
        ("lm_eval", "lm-eval", "lm_eval run", "lm-eval run", "lm_eval.__main__"),
        Runs.EVALUATION, wrapper=WRAPPERS["lm-eval"], aliases={"b": "batch_size", "m": "model",
        "a": "model_args"}, role=Role.EVALUATION,
    ),
    Launcher(
        ("llamafactory-cli api", "llamafactory-cli webchat", "lmf api"),
        Runs.LLAMA_FACTORY, wrapper=WRAPPERS["llamafactory"],
        aliases={"model_name_or_path": "model"},
    ),
    Launcher(
        ("llamafactory-cli chat", "lmf chat"),
        Runs.LLAMA_FACTORY, wrapper=WRAPPERS["llamafactory"],
        aliases={"model_name_or_path": "model"}, role=Role.INTERACTIVE,
    ),
    # FastChat's --load-8bit is its own compressor; Triton and BentoML take no option of ours.
    Launcher(("fastchat.serve", "tritonserver", "bentoml serve", "llamafactory-cli"),
             Runs.NOTHING),
)  # fmt: skip

# text-generation-webui starts as `server.py`; these flags are its own.
WEBUI = Launcher(
    ("text-generation-webui",),
    Runs.BITSANDBYTES,
    wrapper=WRAPPERS["text-generation-webui"],
    aliases={
        "quant_type": "bnb_4bit_quant_type",
        "compute_dtype": "bnb_4bit_compute_dtype",
        "use_double_quant": "bnb_4bit_use_double_quant",
        "no_cache": "no_use_cache",
        "batch_size": "llama_cpp_tokens",
    },
)
WEBUI_COMPANIONS = frozenset(
    {"listen", "listen_port", "listen_host", "share", "api", "api_port", "public_api", "loader",
     "model_dir", "lora_dir", "model_menu", "extensions", "auto_launch", "gradio_auth", "chat",
     "cai_chat", "chat_buttons", "no_stream", "wbits", "groupsize", "gptq_bits", "auto_devices",
     "gpu_memory", "multi_user", "nowebui", "quant_type", "use_double_quant"}
)  # fmt: skip

# A script that we don't know: only options that are bitsandbytes' own by name.
OWN_SCRIPT = Launcher(
    ("python",),
    Runs.BITSANDBYTES,
    wrapper=Wrapper("transformers", quant_type=None, compute_dtype=None, settable=False),
    aliases={
        "model_id": "model",
        "model_name": "model",
        "model_path": "model",
        "model_name_or_path": "model",
        "base_model": "model",
        "pretrained": "model",
        "torch_dtype": "dtype",
    },
    role=Role.INFERENCE,
)
OWN_OPTIONS = frozenset(CONFIG_OPTIONS)
# Devices for which the figures of GPUs don't hold.
OTHER_DEVICES = ("cpu", "mps", "npu", "tpu", "xla", "hpu")

TRAINING_FLAGS = frozenset(
    {"do_train", "num_train_epochs", "num_epochs", "epochs", "n_epochs", "learning_rate", "lr",
     "per_device_train_batch_size", "gradient_accumulation_steps", "gradient_checkpointing",
     "max_steps", "warmup_steps", "warmup_ratio", "lora_r", "lora_rank", "lora_alpha",
     "lora_dropout", "lora_target_modules", "use_lora", "use_peft", "optim", "weight_decay",
     "lr_scheduler_type", "deepspeed", "train_file", "train_data", "training_data",
     "micro_batch_size", "save_steps", "finetuning_type", "dataset_name", "val_set_size"}
)  # fmt: skip
TRAINING_NAMES = (
    "train", "finetun", "fine_tun", "fine-tun", "sft", "dpo", "grpo", "ppo", "rlhf", "qlora",
    "lora", "pretrain", "axolotl", "run_clm", "distill", "alignment",
)  # fmt: skip
EVALUATION_NAMES = ("eval", "mmlu", "perplexity")
BENCHMARK_NAMES = ("bench", "profile")

# Flags that stand alone; a bare word behind one of them is not its value.
SWITCHES = frozenset(
    {"enforce_eager", "eager_mode", "headless", "async_scheduling", "aggregate_engine_logging",
     "calculate_kv_scales", "language_model_only", "skip_tokenizer_init", "sharded", "allow_unsafe",
     "fully_sharded_loras", "load_in_8bit", "load_in_4bit", "load_8bit", "cpu_offloading",
     "cpu", "listen", "api", "share", "verbose", "debug", "continuous_batching", "compile",
     "force_modeling", "return_tokens_as_token_ids", "json_output", "show_tb", "log_requests",
     "use_double_quant", "use_bnb_nested_quant", "use_v2_block_manager", "multi_user", "nowebui",
     "bnb_4bit_use_double_quant", "llm_int8_has_fp16_weight", "no_cache", "bf16", "fp16",
     "do_train", "do_eval", "overwrite_output_dir", "apply_chat_template", "log_samples",
     "fewshot_as_multiturn"}
)  # fmt: skip
SWITCH_PREFIXES = ("enable_", "disable_", "no_", "trust_", "skip_", "allow_", "return_")

# A container image, by the last parts of its name, starts this launcher.
IMAGES: tuple[tuple[str, str], ...] = (
    ("text-generation-inference", "text-generation-launcher"),
    ("tgi-inference", "text-generation-launcher"),
    ("huggingface-pytorch-tgi", "text-generation-launcher"),
    ("huggingfaceserver", "huggingfaceserver"),
    ("sglang", "sglang.launch_server"),
    ("lmdeploy", "lmdeploy serve api_server"),
    ("llm-d-cuda", "vllm serve"),
    ("vllm", "vllm serve"),
    ("lm-eval", "lm_eval"),
)
# Images whose tag is the version of a package: the end of the name, and the package.
IMAGE_PACKAGES: tuple[tuple[str, str], ...] = (
    ("vllm/vllm-openai", "vllm"),
    ("lmsysorg/sglang", "sglang"),
    ("openmmlab/lmdeploy", "lmdeploy"),
    ("pytorch/pytorch", "torch"),
)
# Images whose entry point reads engine options from the environment (RunPod's worker).
WORKER_IMAGES = ("worker-vllm", "worker-v1-vllm", "worker-sglang")

# Two of these name vLLM as surely as its image does.
VLLM_FLAGS = frozenset(
    {"max_num_seqs", "gpu_memory_utilization", "tensor_parallel_size", "enforce_eager",
     "max_model_len", "max_num_batched_tokens", "served_model_name", "swap_space",
     "enable_chunked_prefill", "enable_prefix_caching", "no_enable_prefix_caching"}
)  # fmt: skip

# Environment variables that hold the model's name.
MODEL_VARIABLES = (
    "MODEL_ID", "HF_MODEL_ID", "MODEL_NAME", "MODEL", "MODEL_PATH", "BASE_MODEL",
    "MODEL_NAME_OR_PATH", "HF_MODEL", "LLM_MODEL", "MODEL_REPO",
)  # fmt: skip
# SageMaker's names for Text Generation Inference's own.
SAGEMAKER_VARIABLES = {"MODEL_ID": "HF_MODEL_ID", "QUANTIZE": "HF_MODEL_QUANTIZE"}
COMPILE_SWITCHES = ("TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE", "TORCHINDUCTOR_DISABLE")
# Installers take options from the environment: the variable and the flag it stands for.
INSTALL_VARIABLES = {
    "pip": {
        "PIP_PRE": "--pre",
        "PIP_INDEX_URL": "--index-url",
        "PIP_EXTRA_INDEX_URL": "--extra-index-url",
        "PIP_FIND_LINKS": "--find-links",
    },
    "uv": {
        "UV_PRERELEASE": "--prerelease",
        "UV_INDEX_URL": "--index-url",
        "UV_DEFAULT_INDEX": "--index-url",
        "UV_EXTRA_INDEX_URL": "--extra-index-url",
        "UV_INDEX": "--extra-index-url",
        "UV_FIND_LINKS": "--find-links",
    },
}

# `transformers serve --quantization`, and LitGPT's `--quantize`, in bitsandbytes' own options.
SERVE_QUANTIZATIONS: Mapping[str, Mapping[str, object]] = {
    "bnb-8bit": {"load_in_8bit": True},
    "bnb-4bit": {"load_in_4bit": True},
}
LITGPT_MODES: Mapping[str, Mapping[str, object]] = {
    "bnb.int8": {"load_in_8bit": True},
    "bnb.nf4": {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
    "bnb.nf4-dq": {
        "load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True,
    },
    "bnb.fp4": {"load_in_4bit": True, "bnb_4bit_quant_type": "fp4"},
    "bnb.fp4-dq": {
        "load_in_4bit": True, "bnb_4bit_quant_type": "fp4", "bnb_4bit_use_double_quant": True,
    },
}  # fmt: skip
FACTORY_METHODS = {"hqq": Method.HQQ, "eetq": Method.OTHER}

BY_NAME = {name: launcher for launcher in LAUNCHERS for name in launcher.names}

# Programs that run the command behind them: their options that take a value, and how many
# bare words come before the command.
PREFIXES: Mapping[str, tuple[frozenset[str], int]] = {
    "sudo": (frozenset({"-u", "-g", "-h", "-p", "-C", "-D"}), 0),
    "nohup": (frozenset(), 0),
    "systemd-run": (
        frozenset({"-p", "--property", "-E", "--setenv", "-u", "--unit", "--slice"}), 0,
    ),
    "exec": (frozenset({"-a"}), 0),
    "eval": (frozenset(), 0),
    "time": (frozenset({"-f", "-o"}), 0),
    "nice": (frozenset({"-n"}), 0),
    "ionice": (frozenset({"-c", "-n", "-p"}), 0),
    "stdbuf": (frozenset({"-i", "-o", "-e"}), 0),
    "setsid": (frozenset(), 0),
    "command": (frozenset(), 0),
    "tini": (frozenset({"-p", "-e"}), 0),
    "dumb-init": (frozenset(), 0),
    "catchsegv": (frozenset(), 0),
    "unbuffer": (frozenset(), 0),
    "timeout": (frozenset({"-s", "-k", "--signal", "--kill-after"}), 1),
    "flock": (frozenset({"-w", "-E"}), 1),
    "taskset": (frozenset(), 1),
    "numactl": (frozenset({"-N", "-m", "-C", "-i", "-p"}), 0),
    "srun": (frozenset({"-n", "-N", "-p", "-c", "-t", "-w", "-J", "-A", "-G", "-o", "-e"}), 0),
    "mpirun": (frozenset({"-n", "-np", "-H", "-x", "--host", "--hostfile"}), 0),
    "nsys profile": (frozenset({"-o", "-t", "--trace", "--output"}), 0),
    "conda run": (frozenset({"-n", "-p", "--name", "--prefix", "--cwd"}), 0),
    "mamba run": (frozenset({"-n", "-p", "--name", "--prefix", "--cwd"}), 0),
    "micromamba run": (frozenset({"-n", "-p", "--name", "--prefix", "--cwd"}), 0),
    "uv run": (
        frozenset({"--with", "-p", "--python", "--extra", "--group", "--project", "--env-file",
                   "--directory", "--index-url", "--extra-index-url", "--package",
                   "--with-requirements", "--index", "--only-group", "--torch-backend"}), 0,
    ),
    "uvx": (frozenset({"--from", "--with", "-p", "--python", "--torch-backend"}), 0),
    "poetry run": (frozenset(), 0),
    "pdm run": (frozenset({"-p"}), 0),
    "pipenv run": (frozenset(), 0),
    "hatch run": (frozenset(), 0),
    "pixi run": (frozenset({"-e", "--environment"}), 0),
    "rye run": (frozenset(), 0),
    "winpty": (frozenset(), 0),
    "call": (frozenset(), 0),
    "start": (frozenset(), 0),
}  # fmt: skip

# Programs that start a Python script or module, wherever it stands among their options.
SCRIPT_STARTERS = frozenset(
    {"accelerate launch", "torchrun", "deepspeed", "torch.distributed.run",
     "torch.distributed.launch", "accelerate.commands.launch", "ipython", "colossalai run"}
)  # fmt: skip

CONTAINER_RUNNERS = frozenset({"docker", "podman", "nerdctl", "nvidia-docker", "docker.exe"})
# Options of `docker run` that stand alone; every other long one takes a value.
CONTAINER_SWITCHES = frozenset(
    {"--rm", "--detach", "--interactive", "--tty", "--privileged", "--init", "--read-only",
     "--publish-all", "--no-healthcheck", "--oom-kill-disable", "--quiet", "--sig-proxy",
     "--disable-content-trust", "--replace", "--tls-verify", "--rmi"}
)  # fmt: skip
CONTAINER_SHORT_WITH_VALUE = "acehlmpuvw"
