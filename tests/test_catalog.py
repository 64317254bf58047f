"""Models and GPUs by the names that people write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecolint.catalog import find_gpu, find_model, gpu_for_label, suggest_gpu, suggest_model
from ecolint.energy.dataset import read_table
from ecolint.modelname import parse_name

MODELS = read_table("models")


@pytest.mark.parametrize("line", MODELS, ids=lambda line: line["model"])
def test_a_known_model_has_its_exact_size(line: dict[str, str]) -> None:
    model = find_model(line["model"])
    assert model is not None
    assert model.params_b == float(line["params_b"])
    assert model.active_params_b == float(line["active_params_b"])
    assert model.kind == line["kind"]
    assert model.exact


def test_names_alone_tell_most_sizes_within_a_sixth() -> None:
    near = far = silent = 0
    for line in MODELS:
        said = parse_name(line["model"]).params_b
        if said is None:
            silent += 1
        elif abs(said / float(line["params_b"]) - 1) <= 0.16:
            near += 1
        else:
            far += 1
    assert near >= 252
    assert far <= 21
    assert silent <= 66


@pytest.mark.parametrize(
    ("text", "params_b"),
    [
        ("unsloth/Llama-3.2-3B-Instruct-bnb-4bit", 3.213),
        ("./llama-7b", 6.738),
        ("/models/Qwen2.5-7B-Instruct", 7.616),
        ("C:\\models\\Qwen2.5-7B-Instruct\\", 7.616),
        ("models--Qwen--Qwen2.5-3B/snapshots/abc123", 3.086),
        ("hf://mistralai/Mistral-7B-v0.1", 7.242),
        ("https://huggingface.co/mistralai/Mistral-7B-v0.1", 7.242),
        ("s3://bucket/team/Llama-2-13b-chat-hf/", 13.016),
        ("QWEN/QWEN2.5-3B", 3.086),
        ("llama3:8b-instruct-q4_K_M", 8.0),
        ("qwen2.5:7b", 7.0),
        ("bigscience/bloom-7b1", 7.069),
        ("someone/bloom-fine-1b7", 1.7),
        ("someone/long-context-7b-32k", 7.0),
        ("someone/base-3b-4e1t-2T", 3.0),
        ("someone/b1.58-2B-4T", 2.0),
        ("someone/base-7b-8bit", 7.0),
        ("someone/chat-7B-2407", 7.0),
        ("someone/Qwen2.5-9B-1M", 9.0),
        ("stabilityai/stablelm-2-1_6b", 1.6),
        ("h2oai/h2ogpt-oig-oasst1-512-6_9b", 6.9),
        ("openlm-research/open_llama_3b", 3.426),
        ("runs/7b-lora/checkpoint-10", 7.0),
        ("7B", 7.0),
        ("microsoft/phi-2", 2.78),
        ("gpt2-xl", 1.558),
        ("mistralai/Mistral-Nemo-Instruct-2407", 12.248),
        ("deepseek-ai/DeepSeek-V2-Chat", 236.0),
        ("someone/OLMoE-like-1B-7B", 7.0),
        ("google/gemma-3n-E4B-it", 7.85),
    ],
)
def test_sizes_are_read_past_decoys(text: str, params_b: float) -> None:
    model = find_model(text)
    assert model is not None
    assert model.params_b == pytest.approx(params_b)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "$MODEL",
        "{{ model }}",
        "a model of 7B parameters",
        "bert-base-uncased",
        "openai/whisper-large-v3",
        "out/checkpoint-500",
        "someone/thing-A3B",
        "someone/llama-4bit",
        "someone/context-32k",
        "someone/Llama-4-Maverick-17B-64E",
        "someone/gemma-3n-E9B",
        "x" * 301,
    ],
)
def test_a_name_without_a_size_is_unknown(text: str) -> None:
    assert find_model(text) is None


@pytest.mark.parametrize(
    ("text", "kind", "active_b"),
    [
        ("mistralai/Mixtral-8x7B-v0.1", "moe", 12.88),
        ("Qwen/Qwen3-30B-A3B-FP8", "moe", 3.353),
        ("someone/new-40B-A4B", "moe", 4.0),
        ("someone/new-1b-a400m", "moe", 0.4),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "moe", 17.0),
        ("google/flan-t5-xl", "encoder", 2.85),
        ("RWKV/rwkv-4-world-7b", "ssm", 7.0),
        ("Qwen/Qwen2.5-7B", "dense", 7.616),
    ],
)
def test_kinds_and_active_sizes(text: str, kind: str, active_b: float) -> None:
    model = find_model(text)
    assert model is not None
    assert model.kind == kind
    assert model.active_params_b == pytest.approx(active_b)
    assert model.moe == (kind == "moe")


@pytest.mark.parametrize(
    ("text", "nominal_b"),
    [
        ("Qwen/Qwen2.5-3B", 3.0),
        ("Qwen/Qwen2.5-VL-3B-Instruct", 3.0),
        ("google/gemma-7b", 7.0),
        ("microsoft/Phi-3-mini-4k-instruct", 3.821),
    ],
)
def test_the_named_size_stands_beside_the_exact_one(text: str, nominal_b: float) -> None:
    model = find_model(text)
    assert model is not None
    assert model.nominal_b == nominal_b


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("unsloth/Llama-3.2-1B-Instruct-bnb-4bit", "bnb-4bit"),
        ("TheBloke/Mistral-7B-Instruct-v0.2-AWQ", "awq"),
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "gptq"),
        ("TheBloke/Llama-2-7B-Chat-GGUF", "gguf"),
        ("llama-2-7b-chat.Q4_K_M.gguf", "gguf"),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8", "fp8"),
        ("mlx-community/Qwen2.5-7B-4bit", "mlx"),
        ("deepseek-ai/DeepSeek-R1", "fp8"),
        ("openai/gpt-oss-20b", "mxfp4"),
        ("Qwen/Qwen2.5-7B-Instruct", None),
    ],
)
def test_formats_are_read_from_names(text: str, weights: str | None) -> None:
    model = find_model(text)
    assert model is not None
    assert model.prequantised == weights


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("RTX 4090D", "rtx4090d"),
        ("RTX 4090", "rtx4090"),
        ("NVIDIA GeForce RTX 4090 D", "rtx4090d"),
        ("rtx4090d", "rtx4090d"),
        ("RTX 4090 24GB", "rtx4090"),
        ("NVIDIA-A100-SXM4-80GB", "a100-80gb"),
        ("A100-80GB", "a100-80gb"),
        ("A100 PCIe 80GB", "a100-80gb-pcie"),
        ("A100:8", "a100"),
        ("8xH100", "h100"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("h100", "h100"),
        ("tesla_t4", "tesla_t4"),
        ("T4", "tesla_t4"),
        ("V100 SXM2 32GB", "v100-32gb"),
        ("L40S", "l40s"),
        ("RTX 6000 Ada 48GB", "rtx6000ada"),
        ("RTX PRO 6000", "rtx_pro_6000"),
        ("MI300X", "mi300x"),
    ],
)
def test_gpus_by_what_people_write(text: str, key: str) -> None:
    gpu = find_gpu(text)
    assert gpu is not None
    assert gpu.key == key


@pytest.mark.parametrize("text", ["", "banana", "GPU", "RTX 6000", "x" * 81])
def test_a_name_that_is_no_card_or_two_is_unknown(text: str) -> None:
    assert find_gpu(text) is None


@pytest.mark.parametrize(
    ("key", "architecture", "bf16", "fp8"),
    [
        ("t4", "turing", False, False),
        ("v100", "volta", False, False),
        ("a100", "ampere", True, False),
        ("l4", "ada", True, True),
        ("h100", "hopper", True, True),
        ("rtx5090", "blackwell", True, True),
    ],
)
def test_formats_that_a_card_has(key: str, architecture: str, bf16: bool, fp8: bool) -> None:
    gpu = find_gpu(key)
    assert gpu is not None
    assert (gpu.architecture, gpu.bf16, gpu.fp8) == (architecture, bf16, fp8)


def test_memory_is_unknown_where_a_name_covers_two_sizes() -> None:
    for name in ("a100", "v100"):
        gpu = find_gpu(name)
        assert gpu is not None
        assert gpu.vram_gb is None


def test_a_slice_has_its_own_memory_or_none() -> None:
    slice_ = find_gpu("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb")
    shared = find_gpu("Tesla-T4-SHARED")
    assert slice_ is not None
    assert shared is not None
    assert (slice_.key, slice_.vram_gb, slice_.sliced) == ("a100-80gb", 10.0, True)
    assert (shared.key, shared.vram_gb, shared.sliced) == ("tesla_t4", None, True)


@pytest.mark.parametrize(
    ("kind", "text", "key"),
    [
        ("instance", "g5.xlarge", "a10g"),
        ("instance", "p4de.24xlarge", "a100-80gb"),
        ("instance", "ml.g4dn.xlarge", "tesla_t4"),
        ("instance", "Standard_NC24ads_A100_v4", "a100-80gb"),
        ("instance", "a3-highgpu-8g", "h100"),
        ("aws_instance", "g6e.2xlarge", "l40s"),
        ("cloud.google.com/gke-accelerator", "nvidia-l4", "l4"),
        ("nvidia.com/gpu.product", "NVIDIA-GeForce-RTX-4090-D", "rtx4090d"),
        ("karpenter.k8s.aws/instance-gpu-name", "l40s", "l40s"),
        ("karpenter.k8s.aws/instance-family", "g6e", "l40s"),
        ("node.kubernetes.io/instance-type", "p5.48xlarge", "h100"),
        ("modal_gpu", "A100", "a100-40gb"),
        ("hf_endpoints_instance_type", "nvidia-a100", "a100-80gb"),
    ],
)
def test_labels_and_instances_name_their_card(kind: str, text: str, key: str) -> None:
    gpu = gpu_for_label(kind, text)
    assert gpu is not None
    assert gpu.key == key


def test_a_fraction_of_a_card_has_no_known_memory() -> None:
    gpu = gpu_for_label("instance", "g6f.xlarge")
    assert gpu is not None
    assert (gpu.key, gpu.vram_gb, gpu.sliced) == ("l4", None, True)


@pytest.mark.parametrize("text", ["m5.large", "t3.micro", "n1-standard-4"])
def test_an_instance_without_a_gpu_has_none(text: str) -> None:
    assert gpu_for_label("instance", text) is None


def test_suggestions_are_near() -> None:
    assert suggest_gpu("rtx4900")[0] == "rtx4090"
    assert "Qwen/Qwen2.5-7B" in suggest_model("Qwen/Qwen2.5-77B")
    assert suggest_gpu("zzzzzz") == ()


@given(st.text(max_size=60))
def test_any_text_is_answered(text: str) -> None:
    model, gpu = find_model(text), find_gpu(text)
    assert model is None or model.params_b > 0
    assert gpu is None or gpu.key
