"""Requirements, constraints, conda environments and setuptools' files."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages_of import line_of, mended, packages, pins, unreleased

from ecolint.facts import Role, Set

INDEX = "https://download.pytorch.org/whl"
NIGHTLY = f"{INDEX}/nightly/cu128"


def test_an_index_and_its_switch_are_one_cause() -> None:
    text = f"# runtime\n--extra-index-url {NIGHTLY}\n--pre\ntorch\ntorchao\ntransformers==4.50.0\n"
    assert unreleased(text, "requirements.txt") == [("torch", "NIGHTLY", NIGHTLY)]
    assert pins(text, "requirements.txt") == {"transformers": "4.50.0"}
    assert mended(text, "requirements.txt") == (
        f"# runtime\n--extra-index-url {INDEX}/cu128\ntorch\ntorchao\ntransformers==4.50.0\n"
    )


def test_dated_pins_are_causes_of_their_own_and_hashes_forbid_a_mend() -> None:
    text = (
        "transformers>=4.48\n"
        'torch==2.8.0.dev20250613+cu128 ; sys_platform == "linux" \\\n'
        "    --hash=sha256:00\n"
        "torchao==0.17.0.dev20260316+cu128  # keep\n"
    )
    found = [p for p in packages(text, "requirements-gpu.txt") if p.channel.name != "STABLE"]
    assert [line_of(text, "requirements-gpu.txt", p) for p in found] == [2, 4]
    assert found[0].editor.edits(Set("channel", "stable")) is None
    assert mended(text, "requirements-gpu.txt") == text.replace("==0.17.0.dev20260316+cu128", "")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (f"--pre  # why\n-i {NIGHTLY}\ntorch", f"# why\n-i {INDEX}/cu128\ntorch"),
        (f"--pre\r\n--index-url={NIGHTLY}\r\ntorch\r\n", f"--index-url={INDEX}/cu128\r\ntorch\r\n"),
        ("torch\n--pre", "torch"),
        ("--extra-index-url https://wheels.vllm.ai/nightly\nvllm\n", "vllm\n"),
        ("-e git+https://github.com/pytorch/ao#egg=torchao\n", "torchao\n"),
        ("-egit+https://github.com/pytorch/ao#egg=torchao  # c\n", "torchao  # c\n"),
        ("transformers @ git+https://github.com/huggingface/transformers ; extra == 'x'\n",
         "transformers ; extra == 'x'\n"),
        ("vllm @ git+https://github.com/vllm-project/vllm@v0.6.3\n", "vllm==0.6.3\n"),
        (f"torch @ {NIGHTLY}/torch-2.9.0.dev1-cp311-cp311-linux_x86_64.whl\n", "torch\n"),
        (f"-i {NIGHTLY} --pre\ntorch\n", f"-i {NIGHTLY} --pre\ntorch\n"),
    ],
)  # fmt: skip
def test_mends_change_only_what_they_must(text: str, after: str) -> None:
    assert unreleased(text, "requirements.txt") != []
    assert mended(text, "requirements.txt") == after


@pytest.mark.parametrize(
    "text",
    [
        "tf-nightly==2.19.0.dev20250101\nsphinx-nightly-theme>=1\nblack==24.1a1\ntorch==2.5.1\n",
        "torch==2.5.0a0+b465a5843b.nv24.09\ntorchvision==0.20.0a0\n",
        f"--extra-index-url {INDEX}/cu126\ntorch\n",
        f"# --extra-index-url {NIGHTLY}\ntorch\n",
        f"--extra-index-url {NIGHTLY}\ntorch==2.6.0\n",
        "-r base.txt\n-c constraints.txt\nuvicorn==0.30.1\n",
        "--pre\nnumpy\ntorch==2.6.0\n",
        "--pre\nsglang[all]\ntransformers\n",
        "",
    ],
)
def test_silence(text: str) -> None:
    assert unreleased(text, "requirements.txt") == []


def test_an_index_counts_for_what_another_file_asks() -> None:
    text = f"--extra-index-url {NIGHTLY}\n-r base.txt\ntorch==2.6.0\n"
    assert unreleased(text, "requirements.txt") == [("torch", "NIGHTLY", NIGHTLY)]


def test_what_is_only_for_development_is_told_as_such() -> None:
    text = "torch==2.9.0.dev20250801\n"
    for path, role in (
        ("requirements.txt", Role.INFERENCE),
        ("requirements-dev.txt", Role.TEST),
        ("requirements/test.txt", Role.TEST),
        ("devices-requirements.txt", Role.INFERENCE),
    ):
        assert [p.role for p in packages(text, path)] == [role], path


def test_hostile_files_cost_little() -> None:
    started = time.perf_counter()
    for text in ("a" * 2_000_000, "\\" * 500_000, "torch" + "[" * 500_000, "--pre\n" * 50_000):
        assert unreleased(text, "requirements.txt") == []
    assert time.perf_counter() - started < 10


@given(
    st.lists(
        st.sampled_from(
            [
                "torch", "torch==2.6.0", "torch==2.9.0.dev20250801+cu128", "--pre", "", "# c",
                f"--extra-index-url {NIGHTLY}", f"-i {NIGHTLY}  # c", "-r other.txt", "numpy \\",
                "-e git+https://github.com/pytorch/ao#egg=torchao", "vllm ; python_version > '3'",
            ]
        ),
        max_size=8,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)  # fmt: skip
def test_mends_settle_and_keep_all_other_lines(lines: list[str], newline: str, ended: bool) -> None:
    text = newline.join(lines) + (newline if ended else "")
    after = mended(text, "requirements.txt")
    assert all(name != "NIGHTLY" for _, name, _ in unreleased(after, "requirements.txt"))
    kept = ("# c", "-r other.txt", "torch==2.6.0", "numpy \\", "vllm ;")
    for line in kept:
        assert after.count(line) == text.count(line)
    if newline == "\r\n":
        assert after.count("\n") == after.count("\r\n")


# --- conda environments ----------------------------------------------------------------


def test_the_list_for_pip_holds_lines_of_a_requirements_file() -> None:
    text = (
        "name: serve\nchannels: [conda-forge]\ndependencies:\n  - python=3.11\n  - pip:\n"
        f"    - --pre\n    - --extra-index-url {NIGHTLY}\n    - torch\n    - vllm==0.6.3\n"
    )
    assert unreleased(text, "environment.yaml") == [("torch", "NIGHTLY", NIGHTLY)]
    assert pins(text, "environment.yaml") == {"vllm": "0.6.3"}
    after = text.replace("    - --pre\n", "").replace("nightly/", "")
    assert mended(text, "environment.yaml") == after


def test_conda_channels_and_packages() -> None:
    text = (
        "name: x\nchannels:\n  - pytorch-nightly  # c\n  - conda-forge\ndependencies:\n"
        "  - pytorch\n  - 'transformers==4.50.0'\n"
    )
    assert unreleased(text, "env.yml") == [("torch", "NIGHTLY", "pytorch-nightly")]
    assert mended(text, "env.yml") == text.replace("pytorch-nightly", "pytorch")
    flow = text.replace("\n  - pytorch-nightly  # c\n  - conda-forge", " [pytorch-nightly, x]")
    assert mended(flow, "env.yml") == flow.replace("pytorch-nightly", "pytorch")
    assert unreleased(text.replace("-nightly", ""), "env.yml") == []


def test_other_files_with_dependencies_are_no_environments() -> None:
    chart = "name: vllm\ndependencies:\n  - name: pytorch-nightly\n    version: 1.0\n"
    assert packages(chart, "Chart.yaml") == []


# --- setuptools ------------------------------------------------------------------------


def test_setup_cfg() -> None:
    text = (
        "[metadata]\nname = x\n[options]\ninstall_requires =\n    torch==2.9.0.dev20250801  # c\n"
        "    transformers==4.50.0\npython_requires = >=3.10\n[options.extras_require]\n"
        "dev = torchao==0.17.0.dev20260316\n[other]\ninstall_requires = vllm==1.0.dev1\n"
    )
    found = packages(text, "setup.cfg")
    assert {(p.name, p.channel.name, p.role) for p in found} == {
        ("transformers", "STABLE", Role.INFERENCE),
        ("torch", "DEVELOPMENT", Role.INFERENCE),
        ("torchao", "DEVELOPMENT", Role.TEST),
    }
    assert mended(text, "setup.cfg") == text.replace("==2.9.0.dev20250801", "").replace(
        "==0.17.0.dev20260316", ""
    )
    assert packages(text, "tox.ini") == []
    assert packages("torch\n[options]\n", "setup.cfg") == []


def test_setup_py() -> None:
    text = (
        "# é git+https://github.com/ is how sources are told\nfrom setuptools import setup\n"
        'REQUIRES = ["torch==2.6.0", "vllm @ git+https://github.com/vllm-project/vllm"]\n'
        'setup(install_requires=REQUIRES, extras_require={"é": ["peft==0.1"], "dev": ["hqq==1"]})\n'
        'other(install_requires=["diffusers==1.0.dev1"])\n'
    )
    found = packages(text, "setup.py")
    assert {(p.name, p.version, p.role) for p in found} == {
        ("torch", "2.6.0", Role.INFERENCE),
        ("peft", "0.1", Role.INFERENCE),
        ("hqq", "1", Role.TEST),
        ("vllm", None, Role.INFERENCE),
    }
    assert packages("torch = (\n# git+https://github.com/", "setup.py") == []
    after = text.replace(" @ git+https://github.com/vllm-project/vllm", "")
    assert mended(text, "setup.py") == after
