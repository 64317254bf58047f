"""Installing commands: what they bring in, and the command that brings in releases."""

import pytest
from packages_of import marked, mended, packages, pins, unreleased

from ecolint.document import Document, Kind, whole
from ecolint.facts import Role, Set
from ecolint.pip import read_install
from ecolint.words import Word

INDEX = "https://download.pytorch.org/whl"
NIGHTLY = f"{INDEX}/nightly/cu128"


@pytest.mark.parametrize(
    ("command", "name", "channel", "mark", "after"),
    [
        (f"pip install -q --pre torch torchao --index-url {NIGHTLY}",
         "torch", "NIGHTLY", NIGHTLY, f"pip install -q torch torchao --index-url {INDEX}/cu128"),
        (f"pip3 install --pre torch -i{NIGHTLY}",
         "torch", "NIGHTLY", NIGHTLY, f"pip3 install torch -i{INDEX}/cu128"),
        (f"python3 -m pip install torch --extra-index-url='{NIGHTLY}' --pre",
         "torch", "NIGHTLY", NIGHTLY,
         f"python3 -m pip install torch --extra-index-url='{INDEX}/cu128'"),
        (f"pip install -r requirements.txt --extra-index-url {NIGHTLY}",
         "torch", "NIGHTLY", NIGHTLY,
         f"pip install -r requirements.txt --extra-index-url {INDEX}/cu128"),
        ("pip install vllm --extra-index-url https://wheels.vllm.ai/nightly",
         "vllm", "NIGHTLY", "https://wheels.vllm.ai/nightly", "pip install vllm"),
        (f"pip install --pre torch -f {INDEX}/nightly/cpu/torch_nightly.html",
         "torch", "NIGHTLY", f"{INDEX}/nightly/cpu/torch_nightly.html", "pip install torch"),
        ("pip install 'torch==2.9.0.dev20250801' torchvision==0.24.0.dev20250801 numpy",
         "torch", "DEVELOPMENT", "==2.9.0.dev20250801", "pip install 'torch' torchvision numpy"),
        ("uv pip install --system --prerelease=allow torchao",
         "torchao", "CANDIDATE", "--prerelease=allow", "uv pip install --system torchao"),
        (f"uv add torch --index nightly={NIGHTLY} --prerelease allow",
         "torch", "NIGHTLY", NIGHTLY, f"uv add torch --index nightly={INDEX}/cu128"),
        ("pip install -U git+https://github.com/huggingface/transformers",
         "transformers", "SOURCE", "git+https://github.com/huggingface/transformers",
         "pip install -U transformers"),
        ("pip install -e git+https://github.com/pytorch/ao#egg=torchao",
         "torchao", "SOURCE", "git+https://github.com/pytorch/ao#egg=torchao",
         "pip install torchao"),
        ("conda install -y pytorch torchvision -c pytorch-nightly -c nvidia",
         "torch", "NIGHTLY", "pytorch-nightly",
         "conda install -y pytorch torchvision -c pytorch -c nvidia"),
        ("mamba create -n serve pytorch-nightly::pytorch python=3.11",
         "torch", "NIGHTLY", "pytorch-nightly",
         "mamba create -n serve pytorch::pytorch python=3.11"),
        ("poetry add torch --source pytorch-nightly --allow-prereleases",
         "torch", "NIGHTLY", "pytorch-nightly", "poetry add torch"),
        ("pdm add --prerelease torch", "torch", "CANDIDATE", "--prerelease", "pdm add torch"),
        (f"pipx install vllm --pip-args='--pre --extra-index-url {NIGHTLY}'",
         "torch", "NIGHTLY", NIGHTLY,
         f"pipx install vllm --pip-args='--extra-index-url {INDEX}/cu128'"),
    ],
)  # fmt: skip
def test_one_cause_one_finding_one_mend(
    command: str, name: str, channel: str, mark: str, after: str
) -> None:
    text = command + "\n"
    assert unreleased(text, "install.sh") == [(name, channel, mark)]
    assert mended(text, "install.sh") == after + "\n"


@pytest.mark.parametrize(
    "command",
    [
        f"pip install torch==2.6.0 --index-url {INDEX}/cu124",
        f"pip install torch==2.6.0 --extra-index-url {NIGHTLY}",
        "pip install --pre numpy",
        "pip install --pre torch==2.6.0",
        "uv pip install --prerelease=allow 'sglang[all]>=0.5'",
        "pip install tf-nightly==2.19.0.dev20250101 torchmetrics==1.3.0.dev0",
        f"pip uninstall torch --index-url {NIGHTLY}",
        f"pip download-stats torch {NIGHTLY}",
        "conda install -c nvidia/label/cuda-12.1.0 pytorch==2.5.1",
        "conda create --name vllm python=3.11",
        "pip install torch --prefix git+https://github.com/pytorch/pytorch",
        'pip install "$TORCH" transformers',
        f"# pip install --pre torch --index-url {NIGHTLY}",
        f"echo pip install --pre torch --index-url {NIGHTLY}",
    ],
)
def test_silence(command: str) -> None:
    assert unreleased(command + "\n", "install.sh") == []


def test_pins_feed_the_stack() -> None:
    text = (
        "pip install torch==2.6.0+cu124 transformers==4.50.0 'vllm>=0.6'\n"
        "conda install pytorch==2.5.1 bitsandbytes\n"
    )
    found = packages(text, "install.sh")
    assert [(p.name, p.version) for p in found] == [
        ("torch", "2.6.0+cu124"),
        ("transformers", "4.50.0"),
        ("torch", "2.5.1"),
    ]
    edits = found[0].editor.edits(Set("version", "2.8.0"))
    assert edits is not None
    assert [edit.content for edit in edits] == ["2.8.0"]
    assert text[edits[0].span.start : edits[0].span.end] == "2.6.0"
    assert found[0].editor.edits(Set("role", "x")) is None
    assert found[0].editor.edits(Set("channel", "stable")) is None


def test_a_command_over_several_lines_keeps_its_comments() -> None:
    text = (
        "FROM nvidia/cuda:12.8.0-runtime-ubuntu22.04\n"
        "RUN pip install --no-cache-dir --pre \\\n"
        "        torch \\\n"
        "        # the quantiser\n"
        "        torchao \\\n"
        f"        --index-url {NIGHTLY}\n"
    )
    assert unreleased(text, "Dockerfile") == [("torch", "NIGHTLY", NIGHTLY)]
    after = text.replace(" --pre", "").replace("nightly/", "")
    assert mended(text, "Dockerfile") == after


def test_variables_are_mended_where_they_are_set() -> None:
    text = f"INDEX={NIGHTLY}\npip install --pre torch --index-url $INDEX\n"
    assert unreleased(text, "install.sh") == [("torch", "NIGHTLY", NIGHTLY)]
    assert mended(text, "install.sh") == (
        f"INDEX={INDEX}/cu128\npip install torch --index-url $INDEX\n"
    )
    environment = f"FROM x\nENV PIP_EXTRA_INDEX_URL={NIGHTLY}\nRUN pip install torch\n"
    assert unreleased(environment, "Dockerfile") == [("torch", "NIGHTLY", NIGHTLY)]
    assert mended(environment, "Dockerfile") == environment.replace("nightly/", "")


def test_lists_of_arguments_in_a_program() -> None:
    text = (
        "import subprocess, sys\n"
        "subprocess.check_call([\n"
        '    sys.executable, "-m", "pip", "install", "--pre", "torch", "torchao",\n'
        f'    "--index-url", "{NIGHTLY}",\n'
        "])\n"
    )
    assert unreleased(text, "bootstrap.py") == [("torch", "NIGHTLY", NIGHTLY)]
    assert mended(text, "bootstrap.py") == text.replace(' "--pre",', "").replace("nightly/", "")


def test_what_no_edit_can_reach_is_told_without_a_mend() -> None:
    text = f"FROM x\nENV PIP_PRE=1\nRUN pip install torch --index-url {NIGHTLY}\n"
    found = [p for p in packages(text, "Dockerfile") if p.channel.name == "NIGHTLY"]
    assert [marked(text, p) for p in found] == [NIGHTLY]
    assert found[0].editor.edits(Set("channel", "stable")) is None


def test_words_without_places_and_unknown_ones() -> None:
    view = whole(Document("x", Kind.SHELL, "pip install"))
    words = [
        Word(text, view, 0, 11, known, exact=False)
        for text, known in (
            ("pip", True), ("install", True), ("--pre", True), ("torch", True), ("", False),
            ("--index-url", True), (NIGHTLY, True),
        )
    ]  # fmt: skip
    found = read_install(words, Role.BATCH)
    assert [(p.name, p.channel.name, p.role) for p in found] == [("torch", "NIGHTLY", Role.BATCH)]
    assert found[0].editor.edits(Set("channel", "stable")) is None
    assert read_install([], Role.BATCH) == []
    assert read_install(words[:2], Role.BATCH) == []
    assert pins("pip install\n", "install.sh") == {}
