"""What a version, an index, a channel, a repository or an image says about a package."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecolint.dialects.packages import FORKED, PACKAGES, REPOSITORIES
from ecolint.facts import Channel
from ecolint.gate import INSTALLED, matters
from ecolint.kinds import Kind
from ecolint.toolchain import (
    Requirement,
    classify_channel,
    classify_image,
    classify_index,
    classify_version,
    package_of,
    read_conda,
    read_constraint,
    read_requirement,
)

TORCH_INDEX = "https://download.pytorch.org/whl"


def mended(text: str, found: Requirement) -> str | None:
    if found.mend is None:
        return None
    return text[: found.mend.start] + found.mend.content + text[found.mend.end :]


def required(text: str) -> Requirement:
    found = read_requirement(text)
    assert found is not None, text
    return found


@pytest.mark.parametrize(
    ("name", "version", "channel"),
    [
        ("torch", "2.6.0", Channel.STABLE),
        ("torch", "2.6.0+cu128", Channel.STABLE),
        ("torch", "2.6.0+rocm6.2", Channel.STABLE),
        ("vllm", "0.6.3.post1", Channel.STABLE),
        ("torch", "2.5.0a0+b465a5843b.nv24.09", Channel.STABLE),
        ("torchvision", "0.20.0a0", Channel.STABLE),
        ("tensorrt-llm", "1.0.0rc4", Channel.STABLE),
        ("torch", "2.9.0rc1", Channel.CANDIDATE),
        ("transformers", "5.0.0rc0", Channel.CANDIDATE),
        ("torch", "2.12.0.dev20260315+cu128", Channel.DEVELOPMENT),
        ("transformers", "4.57.0.dev0", Channel.DEVELOPMENT),
        ("vllm", "0.28.1rc1.dev12+gabc1234", Channel.DEVELOPMENT),
        ("torch", "2.5.0a0+git1c57644", Channel.DEVELOPMENT),
        ("torch", "nonsense", Channel.STABLE),
    ],
)
def test_versions(name: str, version: str, channel: Channel) -> None:
    assert classify_version(name, version) is channel


@pytest.mark.parametrize(
    ("written", "package"),
    [
        ("Torch", "torch"),
        ("flash_attn", "flash-attn"),
        ("flashinfer", "flashinfer-python"),
        ("fbgemm-gpu-nightly", "fbgemm-gpu"),
        ("pytorch", "torch"),
        ("torchmetrics", None),
        ("tf-nightly", None),
        ("transformers-js", None),
    ],
)
def test_names(written: str, package: str | None) -> None:
    assert package_of(written) == package


@pytest.mark.parametrize(
    ("text", "name", "channel", "after"),
    [
        ("torch==2.9.0.dev20250801+cu128", "torch", "DEVELOPMENT", "torch"),
        ("torch==2.9.0.dev20250801 ; python_version > '3'", "torch", "DEVELOPMENT",
         "torch ; python_version > '3'"),
        ("torch (==2.9.0.dev20250801)", "torch", "DEVELOPMENT", "torch"),
        ("torch>=2.9.0.dev20250801,<3", "torch", "DEVELOPMENT", "torch<3"),
        ("transformers==5.0.0rc0", "transformers", "CANDIDATE", "transformers"),
        ("fbgemm-gpu-nightly==2025.1.1", "fbgemm-gpu", "NIGHTLY", "fbgemm-gpu"),
        ("git+https://github.com/huggingface/transformers", "transformers", "SOURCE",
         "transformers"),
        ("git+ssh://git@github.com/vllm-project/vllm.git@main", "vllm", "SOURCE", "vllm"),
        ("torchao @ git+https://github.com/pytorch/ao@main", "torchao", "SOURCE", "torchao"),
        ("transformers[torch] @ git+https://github.com/huggingface/transformers", "transformers",
         "SOURCE", "transformers[torch]"),
        ("git+https://github.com/huggingface/peft#egg=peft[x]", "peft", "SOURCE", "peft[x]"),
        ("https://github.com/huggingface/transformers/archive/main.zip", "transformers", "SOURCE",
         "transformers"),
        ("git+https://github.com/vllm-project/vllm@v0.6.3", "vllm", "PINNED_SOURCE",
         "vllm==0.6.3"),
        ("git+https://github.com/vllm-project/vllm@abcdef1234", "vllm", "PINNED_SOURCE", "vllm"),
        ("git+https://github.com/me/transformers@fix", "transformers", "SOURCE", None),
        (f"torch @ {TORCH_INDEX}/nightly/cu128/torch-2.9.0.dev1%2Bcu128-cp311-cp311-linux.whl",
         "torch", "NIGHTLY", "torch"),
        ("https://github.com/bitsandbytes-foundation/bitsandbytes/releases/download/"
         "continuous-release_main/bitsandbytes-1.33.7.preview-py3-none-any.whl",
         "bitsandbytes", "NIGHTLY", "bitsandbytes"),
    ],
)  # fmt: skip
def test_unreleased_requirements(text: str, name: str, channel: str, after: str | None) -> None:
    found = required(text)
    assert (found.name, found.channel.name) == (name, channel)
    assert mended(text, found) == after
    assert text[found.start : found.end].strip() != ""


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("torch==2.6.0", "2.6.0"),
        ("torch==2.6.0+cu124", "2.6.0+cu124"),
        ("torch[opt] == 2.6.0 # comment 1", "2.6.0"),
        ("torch>=2.6", None),
        ("torch==2.6.*", None),
        ("torch", None),
        ("transformers>=4.50.0.dev0", None),
        ("transformers>=5.0.0rc0", None),
        ("torch!=2.8.0.dev20250601", None),
        (f"{TORCH_INDEX}/cu124/torch-2.6.0%2Bcu124-cp311-cp311-linux_x86_64.whl", "2.6.0+cu124"),
    ],
)
def test_released_requirements(text: str, version: str | None) -> None:
    found = required(text)
    assert (found.channel, found.version) == (Channel.STABLE, version)
    assert found.mend is None


@pytest.mark.parametrize(
    "text",
    [
        "numpy==2.0.0rc1",
        "torchmetrics==1.3.0.dev0",
        "black==24.1a1",
        "git+https://github.com/pallets/flask",
        "git+https://github.com/someone/ao",
        "vllm/",
        "./torch",
        "",
        "git+https://github.com/vllm-project/vllm@${REF}",
        "https://example.org/",
    ],
)
def test_what_is_none_of_our_business(text: str) -> None:
    assert read_requirement(text) is None


def test_a_pin_can_be_moved_without_its_variant() -> None:
    found = required("torch==2.6.0+cu124")
    assert found.pin is not None
    assert "torch==2.6.0+cu124"[slice(*found.pin)] == "2.6.0"
    assert required("torch==2.5.0a0+b465a5843b.nv24.09").pin is None


@pytest.mark.parametrize(
    ("text", "channel", "version"),
    [
        ("2.8.0.dev20250613", "DEVELOPMENT", "2.8.0.dev20250613"),
        ("^2.6", "STABLE", None),
        ("2.6.0", "STABLE", "2.6.0"),
        ("*", "STABLE", None),
        (">=2.9.0.dev20250801", "DEVELOPMENT", None),
    ],
)
def test_constraints_apart_from_their_name(text: str, channel: str, version: str | None) -> None:
    found = read_constraint("torch", text)
    assert found is not None
    assert (found.channel.name, found.version) == (channel, version)
    if found.mend is not None:
        assert mended(text, found) == "*"


@pytest.mark.parametrize(
    ("url", "channel", "after"),
    [
        (f"{TORCH_INDEX}/nightly/cu128", "NIGHTLY", f"{TORCH_INDEX}/cu128"),
        (f"{TORCH_INDEX}/nightly/rocm6.4/", "NIGHTLY", f"{TORCH_INDEX}/rocm6.4/"),
        (f"{TORCH_INDEX}/nightly", "NIGHTLY", TORCH_INDEX),
        (f"{TORCH_INDEX}/test/cpu", "CANDIDATE", f"{TORCH_INDEX}/cpu"),
        (f"torch={TORCH_INDEX}/nightly/xpu", "NIGHTLY", f"torch={TORCH_INDEX}/xpu"),
        (f"{TORCH_INDEX}/nightly/vllm", "NIGHTLY", None),
        (f"{TORCH_INDEX}/nightly/cu121/torch_nightly.html", "NIGHTLY", None),
        ("https://wheels.vllm.ai/nightly", "NIGHTLY", None),
        ("https://wheels.vllm.ai/0123456789012345678901234567890123456789", "NIGHTLY", None),
        ("https://flashinfer.ai/whl/nightly", "NIGHTLY", None),
    ],
)
def test_indexes_of_unreleased_builds(url: str, channel: str, after: str | None) -> None:
    found = classify_index(url)
    assert found is not None
    assert found.channel.name == channel
    mend = found.mend
    assert (mend and url[: mend.start] + mend.content + url[mend.end :]) == after


@pytest.mark.parametrize(
    "url",
    [
        f"{TORCH_INDEX}/cu128",
        TORCH_INDEX,
        f"{TORCH_INDEX}/nightlyish",
        "https://wheels.vllm.ai/0.11.0/cu129",
        "https://example.org/nightly/simple",
        "https://flashinfer.ai/whl/cu126/torch2.6",
    ],
)
def test_other_indexes(url: str) -> None:
    assert classify_index(url) is None


def test_conda_channels() -> None:
    for text, channel, after in (
        ("pytorch-nightly", Channel.NIGHTLY, "pytorch"),
        ("pytorch-test", Channel.CANDIDATE, "pytorch"),
        ("https://conda.anaconda.org/pytorch-nightly/linux-64", Channel.NIGHTLY, "pytorch"),
        ("conda-forge/label/pytorch_rc", Channel.CANDIDATE, "conda-forge"),
    ):
        found = classify_channel(text)
        assert found is not None
        assert found.mend is not None
        assert (found.channel, found.mend.content) == (channel, after)
    for text in (
        "pytorch",
        "conda-forge",
        "nvidia/label/cuda-12.1.0",
        "conda-forge/label/python_rc",
    ):
        assert classify_channel(text) is None


@pytest.mark.parametrize(
    ("text", "channel", "version"),
    [
        ("pytorch=2.5.1=py3.11_cuda*", "STABLE", "2.5.1"),
        ("pytorch==2.5.1", "STABLE", "2.5.1"),
        ("pytorch=2.5", "STABLE", None),
        ("conda-forge::vllm>=0.5", "STABLE", None),
        ("pytorch-nightly::pytorch", "NIGHTLY", None),
        ("pytorch=2.8.0.dev20250601", "DEVELOPMENT", "2.8.0.dev20250601"),
    ],
)
def test_conda_specifications(text: str, channel: str, version: str | None) -> None:
    found = read_conda(text)
    assert found is not None
    assert (found.channel.name, found.version) == (channel, version)
    assert read_conda("python=3.11") is None


@pytest.mark.parametrize(
    "ref",
    [
        "pytorch/torchserve-nightly:latest-gpu",
        "ghcr.io/pytorch/pytorch-nightly:2.4.0.dev20240604-cuda11.8-cudnn8-runtime",
        "vllm/vllm-openai:nightly",
        "vllm/vllm-openai:nightly-0123abc@sha256:00",
        "localhost:5000/vllm/vllm-openai:nightly",
        "lmsysorg/sglang:dev-cu13",
        "rocm/vllm-dev:base",
        "ghcr.io/huggingface/text-generation-inference:main",
    ],
)
def test_nightly_images(ref: str) -> None:
    assert classify_image(ref) is Channel.IMAGE


@pytest.mark.parametrize(
    "ref",
    [
        "vllm/vllm-openai:latest",
        "vllm/vllm-openai:v0.11.0",
        "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel",
        "nvcr.io/nvidia/pytorch:24.09-py3",
        "nvcr.io/nvidia/pytorch-nightly:1",
        "mycompany/report:nightly",
        "pytorch/manylinux-builder:nightly",
        "ghcr.io/huggingface/text-generation-inference:3.0",
        "python:3.12-slim",
        "",
    ],
)
def test_other_images(ref: str) -> None:
    assert classify_image(ref) is None


def test_the_tables_agree() -> None:
    assert set(REPOSITORIES.values()) | set(FORKED.values()) <= PACKAGES
    for name in PACKAGES:
        assert package_of(name) == name
        assert any(part.decode() in name for part in INSTALLED), f"the gate would miss {name}"
        assert matters(Kind.REQUIREMENTS, f"{name}==1\n".encode())
    assert not matters(Kind.REQUIREMENTS, b"numpy==2\nrequests\n")


@given(
    st.sampled_from(["torch", "Torch[x]", "vllm", "git+https://github.com/pytorch/ao", "peft @ "]),
    st.text("=<>!~., ;()@#[]0123456789devrc+gitabf-_/:*\\'\"\n\t", max_size=30),
)
def test_places_lie_inside_and_mends_settle(head: str, tail: str) -> None:
    text = head + tail
    for read in (read_requirement, read_conda):
        found = read(text)
        if found is None:
            continue
        assert 0 <= found.start <= found.end <= len(text)
        if found.mend is not None:
            assert 0 <= found.mend.start <= found.mend.end <= len(text)
            again = read(mended(text, found) or "")
            assert again is None or again.mend is None or again.channel is not found.channel
