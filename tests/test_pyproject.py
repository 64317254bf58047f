"""pyproject.toml by each of its tools, Pipfile, pixi.toml, and the headers of scripts."""

import pytest
from packages_of import mended, packages, pins, unreleased

from ecolint.document import Document, Kind, decode
from ecolint.facts import Role, Unanalysed
from ecolint.frontends import read

INDEX = "https://download.pytorch.org/whl"
NIGHTLY = f"{INDEX}/nightly/cu128"
PROJECT = "pyproject.toml"


def test_requirements_of_a_project() -> None:
    text = """\
[project]
name = "answers"
dependencies = [
  "torch==2.9.0.dev20250801",  # the new kernels
  'transformers==4.50.0',
  "vllm @ git+https://github.com/vllm-project/vllm.git@main",
]
[project.optional-dependencies]
gpu = ["bitsandbytes==0.48.1"]
test = ["peft==0.1.0.dev0"]
[dependency-groups]
dev = ["torchao==0.17.0.dev20260316", { include-group = "lint" }]
"""
    assert unreleased(text, PROJECT) == [
        ("vllm", "SOURCE", "git+https://github.com/vllm-project/vllm.git@main"),
        ("torch", "DEVELOPMENT", "==2.9.0.dev20250801"),
        ("peft", "DEVELOPMENT", "==0.1.0.dev0"),
        ("torchao", "DEVELOPMENT", "==0.17.0.dev20260316"),
    ]
    assert pins(text, PROJECT) == {"transformers": "4.50.0", "bitsandbytes": "0.48.1"}
    tests = {p.name for p in packages(text, PROJECT) if p.role is Role.TEST}
    assert tests == {"peft", "torchao"}
    after = mended(text, PROJECT)
    assert '  "torch",  # the new kernels\n' in after
    assert '  "vllm",\n' in after


UV = f"""\
[project]
dependencies = ["torch>=2.6"]

[tool.uv]
prerelease = "allow"  # for torch

[[tool.uv.index]]
name = "pytorch-nightly"
url = "{NIGHTLY}"
explicit = true

[tool.uv.sources]
torch = [{{ index = "pytorch-nightly", marker = "sys_platform == 'linux'" }}]
"""


def test_uv_index_in_use() -> None:
    assert unreleased(UV, PROJECT) == [("torch", "NIGHTLY", NIGHTLY)]
    after = UV.replace('"allow"', '"if-necessary-or-explicit"').replace("nightly/", "")
    assert mended(UV, PROJECT) == after


@pytest.mark.parametrize(
    "text",
    [
        UV.replace('torch = [{ index = "pytorch-nightly"', 'torch = [{ index = "other"').replace(
            'prerelease = "allow"', ""
        ),
        UV.replace("torch>=2.6", "torch==2.6.0"),
        UV.replace("torch = [", "numpy = [").replace('prerelease = "allow"', ""),
        UV.replace("nightly/", "").replace('prerelease = "allow"', ""),
        '[project]\ndependencies = ["sglang", "torch"]\n[tool.uv]\nprerelease = "allow"\n',
        '[project]\ndependencies = ["torch"]\n[tool.uv]\nprerelease = "if-necessary"\n',
        "# torch nightly\n[project]\nname = 'x'\n",
    ],
)
def test_uv_silence(text: str) -> None:
    assert unreleased(text, PROJECT) == []


def test_uv_index_that_serves_all() -> None:
    text = UV.replace("explicit = true\n", "").partition("[tool.uv.sources]")[0]
    assert unreleased(text, PROJECT) == [("torch", "NIGHTLY", NIGHTLY)]
    for key in ("index-url", "extra-index-url", "find-links"):
        listed = f'["{NIGHTLY}"]' if key != "index-url" else f'"{NIGHTLY}"'
        short = f'[project]\ndependencies = ["torch"]\n[tool.uv]\n{key} = {listed}\n'
        assert unreleased(short, PROJECT) == [("torch", "NIGHTLY", NIGHTLY)]
        own = f"{key} = {listed}\n# torch\n"
        assert unreleased(own, "uv.toml") == [("torch", "NIGHTLY", NIGHTLY)]


def test_uv_prerelease_alone() -> None:
    text = '[project]\ndependencies = ["transformers>=4"]\n[tool.uv]\nprerelease = "allow"\n'
    assert unreleased(text, PROJECT) == [("transformers", "CANDIDATE", 'prerelease = "allow"')]
    assert mended(text, PROJECT).endswith('prerelease = "if-necessary-or-explicit"\n')


def test_uv_sources_from_repositories() -> None:
    repository = "https://github.com/bitsandbytes-foundation/bitsandbytes.git"
    text = (
        '[project]\ndependencies = ["bitsandbytes", "vllm"]\n[tool.uv.sources]\n'
        f'bitsandbytes = {{ git = "{repository}", branch = "main" }}\n'
        'vllm = { git = "https://github.com/vllm-project/vllm", tag = "v0.6.3" }  # fixed\n'
        'transformers = { path = "../transformers" }\n'
    )
    assert unreleased(text, PROJECT) == [
        ("bitsandbytes", "SOURCE", repository),
        ("vllm", "PINNED_SOURCE", "https://github.com/vllm-project/vllm"),
    ]
    kept = [line for line in text.splitlines(keepends=True) if "bitsandbytes =" not in line]
    assert mended(text, PROJECT) == "".join(kept)


def test_poetry() -> None:
    text = f"""\
[tool.poetry.dependencies]
python = "^3.11"
torch = {{ version = ">=2.8.0.dev20250601", source = "edge", allow-prereleases = true }}
transformers = {{ git = "https://github.com/huggingface/transformers.git", rev = "v4.50.0" }}
accelerate = "1.2.0"
peft = "^0.14"
[tool.poetry.group.dev.dependencies]
vllm = "0.9.0.dev1"
[[tool.poetry.source]]
name = "edge"
url = "{INDEX}/nightly/cu126"
priority = "explicit"
"""
    assert unreleased(text, PROJECT) == [
        (
            "transformers",
            "PINNED_SOURCE",
            "https://github.com/huggingface/transformers.git",
        ),
        ("torch", "NIGHTLY", f"{INDEX}/nightly/cu126"),
        ("vllm", "DEVELOPMENT", "0.9.0.dev1"),
    ]
    assert pins(text, PROJECT) == {"accelerate": "1.2.0"}
    after = mended(text, PROJECT)
    assert 'torch = { version = "*", source = "edge", allow-prereleases = false }\n' in after
    assert 'transformers = "==4.50.0"\n' in after
    assert f'url = "{INDEX}/cu126"\n' in after
    assert 'vllm = "*"\n' in after
    assert unreleased(text.replace('source = "edge", ', ""), PROJECT)[1][1] == "DEVELOPMENT"


def test_poetry_wheel_by_address() -> None:
    wheel = f"{INDEX}/nightly/rocm6.4/torch-2.8.0.dev20250517%2Brocm6.4-cp312-cp312-linux.whl"
    text = (
        '[tool.poetry.dependencies]\n# torch = { version = "2.8.0.dev20250517" }\n'
        f'torch = {{ url = "{wheel}" }}\n'
    )
    assert unreleased(text, PROJECT) == [("torch", "NIGHTLY", wheel)]
    assert mended(text, PROJECT) == text.partition("torch = { url")[0] + 'torch = "*"\n'


def test_pdm_rye_and_hatch() -> None:
    pdm = f"""\
[project]
dependencies = ["torch"]
[tool.pdm.resolution]
allow-prereleases = true
[[tool.pdm.source]]
name = "edge"
url = "{NIGHTLY}"
include_packages = ["torch*"]
"""
    assert unreleased(pdm, PROJECT) == [("torch", "NIGHTLY", NIGHTLY)]
    assert mended(pdm, PROJECT) == pdm.replace("nightly/", "").replace("= true", "= false")
    rye = f'[project]\ndependencies = ["torch"]\n[[tool.rye.sources]]\nurl = "{NIGHTLY}"\n'
    assert unreleased(rye, PROJECT) == [("torch", "NIGHTLY", NIGHTLY)]
    hatch = f"""\
[tool.hatch.envs.default]
dependencies = ["torchao"]
[tool.hatch.envs.default.env-vars]
PIP_EXTRA_INDEX_URL = "{NIGHTLY}"
[tool.hatch.envs.test]
dependencies = ["vllm==0.9.0.dev1"]
[tool.hatch.envs.serve.scripts]
prepare = "pip install --pre torch --index-url {INDEX}/nightly/cpu"
"""
    assert unreleased(hatch, PROJECT) == [
        ("torchao", "NIGHTLY", NIGHTLY),
        ("vllm", "DEVELOPMENT", "==0.9.0.dev1"),
        ("torch", "NIGHTLY", f"{INDEX}/nightly/cpu"),
    ]


def test_pixi() -> None:
    text = """\
[workspace]
channels = ["pytorch-nightly", "conda-forge"]
[dependencies]
pytorch = "*"
[pypi-dependencies]
transformers = "==4.50.0"
"""
    assert unreleased(text, "pixi.toml") == [("torch", "NIGHTLY", "pytorch-nightly")]
    assert pins(text, "pixi.toml") == {"transformers": "4.50.0"}
    assert mended(text, "pixi.toml") == text.replace("pytorch-nightly", "pytorch")
    inside = text.replace("[", "[tool.pixi.", 1).replace("[dep", "[tool.pixi.dep")
    assert unreleased(inside, PROJECT) == [("torch", "NIGHTLY", "pytorch-nightly")]


PIPFILE = f"""\
[[source]]
url = "https://pypi.org/simple"
name = "pypi"
[[source]]
url = "{NIGHTLY}"
name = "edge"
[packages]
torch = {{version = "*", index = "edge"}}
vllm = {{git = "https://github.com/vllm-project/vllm", ref = "main"}}
transformers = "==4.50.0"
[dev-packages]
peft = "==0.1.0.dev1"
[pipenv]
allow_prereleases = true
"""


def test_pipfile() -> None:
    assert unreleased(PIPFILE, "Pipfile") == [
        ("vllm", "SOURCE", "https://github.com/vllm-project/vllm"),
        ("torch", "NIGHTLY", NIGHTLY),
        ("peft", "DEVELOPMENT", "==0.1.0.dev1"),
    ]
    assert pins(PIPFILE, "Pipfile") == {"transformers": "4.50.0"}
    after = mended(PIPFILE, "Pipfile")
    assert 'vllm = "*"\n' in after
    assert after.endswith("allow_prereleases = false\n")
    unused = PIPFILE.replace(', index = "edge"', "").replace("= true", "= false")
    assert ("torch", "NIGHTLY", NIGHTLY) not in unreleased(unused, "Pipfile")


def test_toml_that_is_broken_or_none_of_ours() -> None:
    broken = decode(b'[project\ndependencies = ["torch"]\n', PROJECT, Kind.TOML)
    notes = read(broken).of(Unanalysed)
    assert len(notes) == 1
    assert "line 1" in notes[0].reason
    assert read(decode(b"[project\n", PROJECT, Kind.TOML)).items == []
    assert packages('[dependencies]\ntorch = "0.1.0-dev"\n', "Cargo.toml") == []


# --- headers of scripts ------------------------------------------------------------------

SCRIPT = f"""\
#!/usr/bin/env -S uv run
# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "torch",
#   "transformers==4.50.0",
# ]
#
# [tool.uv]
# prerelease = "allow"
# [[tool.uv.index]]
# url = "{NIGHTLY}"
# [tool.uv.sources]
# vllm = {{ git = "https://github.com/vllm-project/vllm" }}
# ///
import torch
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_header_of_a_script(newline: str) -> None:
    text = SCRIPT.replace("\n", newline)
    assert unreleased(text, "serve.py") == [
        ("vllm", "SOURCE", "https://github.com/vllm-project/vllm"),
        ("torch", "NIGHTLY", NIGHTLY),
    ]
    assert pins(text, "serve.py") == {"transformers": "4.50.0"}
    after = SCRIPT.replace("nightly/", "").replace('"allow"', '"if-necessary-or-explicit"')
    after = "".join(line for line in after.splitlines(keepends=True) if "# vllm" not in line)
    assert mended(text, "serve.py") == after.replace("\n", newline)


def test_comments_that_are_no_header() -> None:
    for text in (
        SCRIPT.replace("# ///\n", ""),
        SCRIPT.replace("/// script", "/// other"),
        SCRIPT.replace("# dependencies", "dependencies"),
    ):
        document = Document("serve.py", Kind.PYTHON, text)
        from ecolint.frontends.pep723 import read as read_header

        assert read_header(document).items == []
