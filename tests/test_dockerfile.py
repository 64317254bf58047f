"""Dockerfiles: stages, variables, continued commands, heredocs, and what a container starts."""

import time

import pytest
from facts_of import apply, read

from ecolint.diagnostics import Span
from ecolint.document import Document, Kind
from ecolint.facts import (
    Channel,
    Compilation,
    Drop,
    Method,
    ModelLoad,
    Package,
    Quantization,
    Serving,
    Set,
)


def serving(text: str) -> tuple[Document, Serving]:
    document, facts = read(text, Kind.DOCKERFILE)
    (found,) = facts.of(Serving)
    return document, found


def at(document: Document, span: Span | None) -> str:
    assert span is not None
    return document.text[span.start : span.end]


@pytest.mark.parametrize(
    "start",
    [
        'CMD ["vllm", "serve", "m", "--max-num-seqs", "1"]',
        'ENTRYPOINT ["vllm", "serve"]\nCMD ["m", "--max-num-seqs", "1"]',
        'ENTRYPOINT ["vllm", "serve", \\\n  "m", \\\n  # slow but sure\n  "--max-num-seqs", "1"]',
        "CMD vllm serve m --max-num-seqs 1",
        "ENTRYPOINT exec vllm serve m --max-num-seqs 1",
        "CMD vllm serve m \\\n  # slow but sure\n\n  --max-num-seqs 1 \\\n  --port 99",
        'CMD ["sh", "-c", "vllm serve m --max-num-seqs 1"]',
        "cmd vllm serve m --max-num-seqs 1",
        'ENTRYPOINT ["python3", "-m", "vllm.entrypoints.openai.api_server"]\n'
        'CMD ["--model", "m", "--max-num-seqs=1"]',
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_a_container_starts(start: str, newline: str) -> None:
    text = f"FROM python:3.12\n{start}\n".replace("\n", newline)
    document, found = serving(text)
    assert found.concurrency.is_(1)
    assert found.model.is_("m")
    assert at(document, found.concurrency.literal) == "1"
    assert apply(text, found.editor.edits(Set("concurrency", 8))).count("8") == 1


def test_the_image_decides_whose_flags_these_are() -> None:
    text = 'FROM vllm/vllm-openai:v0.6.3\nCMD ["--model", "m", "--no-enable-prefix-caching"]\n'
    _, found = serving(text)
    assert found.engine == "vllm"
    assert not found.prefix_cache_default
    dropped = apply(text, found.editor.edits(Drop("prefix_cache")))
    assert dropped == 'FROM vllm/vllm-openai:v0.6.3\nCMD ["--model", "m"]\n'


def test_variables_of_the_image() -> None:
    text = (
        "ARG TAG=2.4.0\n"
        "FROM ghcr.io/huggingface/text-generation-inference:${TAG}\n"
        "ENV MODEL_ID=a/b-7B \\\n    QUANTIZE=bitsandbytes\n"
    )
    document, facts = read(text, Kind.DOCKERFILE)
    (found,) = facts.of(Quantization)
    assert found.method.is_(Method.INT8)
    assert at(document, found.method.span) == "QUANTIZE=bitsandbytes"
    assert facts.of(ModelLoad)[0].model.is_("a/b-7B")


def test_arguments_and_variables_reach_commands() -> None:
    text = (
        "ARG SEQS=1\nFROM python:3.12\nARG SEQS\nARG MODEL=m\nENV LEN 4096\n"
        "CMD vllm serve $MODEL --max-num-seqs ${SEQS} --max-model-len $LEN\n"
    )
    document, found = serving(text)
    assert found.model.is_("m")
    assert found.concurrency.is_(1)
    assert found.context.is_(4096)
    assert at(document, found.concurrency.literal) == "1"


def test_an_argument_without_a_value_is_unknown() -> None:
    text = "FROM python:3.12\nARG SEQS\nCMD vllm serve m --max-num-seqs ${SEQS}\n"
    assert serving(text)[1].concurrency.unknown


def test_a_stage_built_upon_another_inherits_and_repeats_nothing() -> None:
    text = (
        "FROM vllm/vllm-openai:v0.8.5 AS base\nENV TORCH_COMPILE_DISABLE=1\n"
        'CMD ["--model", "m", "--enforce-eager"]\n'
        "FROM base\nENV A=b\n"
    )
    _, facts = read(text, Kind.DOCKERFILE)
    assert len(facts.of(Serving)) == 1
    assert len(facts.of(Compilation)) == 1


def test_a_new_entry_point_forgets_the_inherited_command() -> None:
    text = (
        'FROM python:3.12 AS base\nCMD ["--max-num-seqs", "1"]\n'
        'FROM base\nENTRYPOINT ["vllm", "serve", "m"]\n'
    )
    assert serving(text)[1].concurrency.absent


@pytest.mark.parametrize(
    "run",
    [
        "RUN pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu128",
        "RUN --mount=type=cache,target=/var/cache/pip \\\n  pip install --pre torch \\\n"
        "  # the index\n\n  --index-url https://download.pytorch.org/whl/nightly/cu128",
        'RUN ["pip", "install", "--pre", "torch", "--index-url", '
        '"https://download.pytorch.org/whl/nightly/cu128"]',
        "RUN <<EOF\npip install --pre torch "
        "--index-url https://download.pytorch.org/whl/nightly/cu128\nEOF",
        "ARG INDEX=https://download.pytorch.org/whl/nightly/cu128\n"
        "RUN python -m pip install --pre torch --index-url ${INDEX}",
        "ENV PIP_INDEX_URL=https://download.pytorch.org/whl/nightly/cu128 PIP_PRE=1\n"
        "RUN apt-get update && pip install torch",
        "RUN uv pip install --prerelease allow torch "
        "--index-url https://download.pytorch.org/whl/nightly/cu128",
        "COPY <<EOF /run.sh\npip install --pre torch "
        "--index-url https://download.pytorch.org/whl/nightly/cu128\nEOF",
    ],
)
def test_nightly_packages(run: str) -> None:
    _, facts = read(f"FROM python:3.12\n{run}\nRUN echo done\n", Kind.DOCKERFILE)
    assert [each.channel for each in facts.of(Package)] == [Channel.NIGHTLY]


@pytest.mark.parametrize(
    "text",
    [
        "FROM python:3.12\nENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu\n"
        "RUN pip install torch==2.6.0\n",
        "FROM nvcr.io/nvidia/pytorch:25.01-py3\n",
        "FROM python:3.12\n# RUN pip install --pre torch "
        "--index-url https://download.pytorch.org/whl/nightly/cu128\n",
        "FROM python:3.12\nLABEL note='pip install whl/nightly'\n",
    ],
)
def test_stable_images_are_silent(text: str) -> None:
    _, facts = read(text, Kind.DOCKERFILE)
    assert all(each.channel is Channel.STABLE for each in facts.of(Package))


def test_a_nightly_base_image() -> None:
    text = "ARG TAG=latest-gpu\nFROM --platform=linux/amd64 pytorch/torchserve-nightly:$TAG as s\n"
    document, facts = read(text, Kind.DOCKERFILE)
    (found,) = facts.of(Package)
    assert found.channel is Channel.IMAGE
    assert at(document, found.span) == "pytorch/torchserve-nightly:$TAG"


@pytest.mark.parametrize(
    ("image", "package", "version"),
    [
        ("vllm/vllm-openai:v0.8.5", "vllm", "0.8.5"),
        ("docker.io/vllm/vllm-openai:v0.8.5.post1", "vllm", "0.8.5.post1"),
        ("pytorch/pytorch:2.5.1-cuda12.1-cudnn9-runtime", "torch", "2.5.1"),
        ("lmsysorg/sglang:v0.5.3-cu129", "sglang", "0.5.3"),
        ("vllm/vllm-openai:latest", None, None),
        ("vllm/vllm-openai", None, None),
        ("pytorch/pytorch:${TAG}", None, None),
        ("python:3.12", None, None),
    ],
)
def test_an_image_pins_a_package(image: str, package: str | None, version: str | None) -> None:
    _, facts = read(f"FROM {image}\n", Kind.DOCKERFILE)
    pinned = {each.name: each.version for each in facts.of(Package)}
    assert pinned == ({} if package is None else {package: version})


def test_python_written_out_in_the_file() -> None:
    text = (
        "FROM python:3.12\nCOPY <<EOF /app/main.py\n"
        "from transformers import AutoModelForCausalLM\n"
        'm = AutoModelForCausalLM.from_pretrained("a/b-7B", load_in_8bit=True)\nEOF\n'
        "RUN python <<EOF\n"
        "from transformers import AutoModelForCausalLM\n"
        'm = AutoModelForCausalLM.from_pretrained("a/b-7B", load_in_4bit=True)\nEOF\n'
    )
    _, facts = read(text, Kind.DOCKERFILE)
    methods = {each.method.value for each in facts.of(Quantization)}
    assert methods == {Method.INT8, Method.FP4}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "FROM",
        "FROM \n",
        "CMD",
        'FROM x\nCMD ["vllm", "serve"',
        "FROM x\nRUN <<EOF\nvllm serve",
        "FROM x\nRUN \\",
        "FROM x\nENV",
        "FROM x\nENV A",
        "FROM x\nONBUILD",
        "FROM a AS a\nFROM a\n",
        "# escape=`\nFROM x\nRUN pip install `\n  torch\n",
        "FROM x\n\0\n",
    ],
)
def test_broken_files_are_read_as_far_as_they_go(text: str) -> None:
    _, facts = read(text.encode(), Kind.DOCKERFILE) if "\0" not in text else (None, None)
    assert facts is None or not facts.of(Serving) or '"serve"' in text


@pytest.mark.parametrize(
    "text",
    [
        "FROM x\nRUN vllm \\\n" + "a \\\n" * 50_000,
        "FROM x\n" + "RUN <<EOF\n" * 2_000,
        "FROM x\nCMD [" + '"a",' * 100_000,
        "FROM x\nENV " + "A=1 " * 30_000,
        "FROM x\nRUN vllm \\\n" + "# c\n" * 100_000,
        "FROM x AS s0\n" + "".join(f"FROM s{n} AS s{n + 1}\nENV A{n}=1\n" for n in range(1_000)),
    ],
)
def test_hostile_files_cost_little(text: str) -> None:
    started = time.perf_counter()
    read(text, Kind.DOCKERFILE)
    assert time.perf_counter() - started < 10
