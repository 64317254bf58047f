"""Lock files: the versions that a project really gets, and what they tell of their origin."""

import time

import pytest
from packages_of import line_of, packages, pins, unreleased

from ecolint.document import Document, Kind, UnreadableError
from ecolint.facts import Role, Set
from ecolint.frontends.lockfiles import read

NIGHTLY = "https://download.pytorch.org/whl/nightly/cu128"

UV = f"""\
version = 1

[[package]]
name = "app"
version = "0.1.0.dev1"
source = {{ virtual = "." }}
dependencies = [
    {{ name = "torch" }},
]

[[package]]
name = "bitsandbytes"
version = "0.48.1"
source = {{ registry = "https://pypi.org/simple" }}

[[package]]
name = "torch"
version = "2.9.0.dev20250801+cu128"
source = {{ registry = "{NIGHTLY}" }}
wheels = [
    {{ url = "{NIGHTLY}/torch-2.9.0.dev20250801%2Bcu128-cp311-cp311-manylinux_2_28_x86_64.whl" }},
]

[[package]]
name = "torchao"
version = "0.14.0.dev20250801+cu128"
source = {{ registry = "{NIGHTLY}" }}

[[package]]
name = "transformers"
version = "4.57.0.dev0"
source = {{ git = "https://github.com/huggingface/transformers?rev=main#0123456789" }}

[[package]]
name = "vllm"
version = "0.1.dev1"
source = {{ editable = "." }}
"""


def test_uv_tells_one_index_once() -> None:
    assert unreleased(UV, "uv.lock") == [
        ("torch", "NIGHTLY", "2.9.0.dev20250801+cu128"),
        ("transformers", "PINNED_SOURCE", "4.57.0.dev0"),
    ]
    assert pins(UV, "uv.lock") == {"bitsandbytes": "0.48.1"}
    torch = next(p for p in packages(UV, "uv.lock") if p.name == "torch")
    assert line_of(UV, "uv.lock", torch) == 18
    assert torch.source == NIGHTLY
    assert torch.editor.edits(Set("channel", "stable")) is None


def test_crlf_changes_nothing() -> None:
    windows = UV.replace("\n", "\r\n")
    assert [p[:2] for p in unreleased(windows, "uv.lock")] == [
        ("torch", "NIGHTLY"),
        ("transformers", "PINNED_SOURCE"),
    ]


def test_poetry_and_pdm_tell_sources_in_tables_of_their_own() -> None:
    text = f"""\
[[package]]
name = "torch"
version = "2.9.0.dev20250801+cu128"
groups = ["main"]
files = []

[package.source]
type = "legacy"
url = "{NIGHTLY}"
reference = "edge"

[[package]]
name = "vllm"
version = "0.9.2.dev12+gabc1234"
groups = ["main"]

[package.source]
type = "git"
url = "https://github.com/vllm-project/vllm"
reference = "main"

[[package]]
name = "peft"
version = "0.14.0"
groups = ["dev"]

[[package]]
name = "accelerate"
version = "1.2.0.dev0"
"""
    assert unreleased(text, "poetry.lock") == [
        ("torch", "NIGHTLY", "2.9.0.dev20250801+cu128"),
        ("vllm", "PINNED_SOURCE", "0.9.2.dev12+gabc1234"),
        ("accelerate", "DEVELOPMENT", "1.2.0.dev0"),
    ]
    roles = {p.name: p.role for p in packages(text, "pdm.lock")}
    assert roles["peft"] is Role.TEST
    assert roles["torch"] is Role.INFERENCE


def test_pylock() -> None:
    text = """\
lock-version = "1.0"
[[packages]]
name = "torch"
version = "2.6.0+cu124"
index = "https://download.pytorch.org/whl/cu124"
[[packages.wheels]]
name = "torch-2.9.0.dev1-cp311-cp311-linux_x86_64.whl"
[[packages]]
name = "peft"
[packages.vcs]
type = "git"
url = "https://github.com/huggingface/peft"
"""
    assert pins(text, "pylock.toml") == {"torch": "2.6.0+cu124"}
    assert unreleased(text, "pylock.toml") == [
        ("peft", "PINNED_SOURCE", "https://github.com/huggingface/peft")
    ]


def test_conda_lock_and_pixi() -> None:
    conda = """\
version: 1
package:
- name: pytorch
  version: 2.5.0.dev20240801
  manager: conda
  url: https://conda.anaconda.org/pytorch-nightly/linux-64/pytorch-2.5.0.dev20240801-py3.tar.bz2
  category: main
- name: torchvision
  version: 0.20.0.dev20240801
  manager: conda
  url: https://conda.anaconda.org/pytorch-nightly/linux-64/torchvision-0.20.0.dev1-py3.tar.bz2
- name: vllm
  version: 0.6.3
  manager: pip
  url: https://example.org/vllm-0.6.3.whl
"""
    assert unreleased(conda, "conda-lock.yml") == [("torch", "NIGHTLY", "2.5.0.dev20240801")]
    assert pins(conda, "conda-lock.yml") == {"vllm": "0.6.3"}
    pixi = """\
version: 6
packages:
- conda: https://conda.anaconda.org/conda-forge/linux-64/pytorch-2.5.1-cuda126_py312.conda
  sha256: 00
- pypi: https://example.org/transformers-4.50.0-py3-none-any.whl
  name: transformers
  version: 4.50.0
"""
    assert pins(pixi, "pixi.lock") == {"torch": "2.5.1", "transformers": "4.50.0"}


def test_pipfile_lock() -> None:
    text = f"""\
{{
  "_meta": {{"sources": [{{"name": "edge", "url": "{NIGHTLY}"}}]}},
  "default": {{
    "torch": {{"index": "edge", "version": "==2.9.0.dev20250801+cu128"}},
    "vllm": {{"git": "https://github.com/vllm-project/vllm.git", "ref": "0123456789"}}
  }},
  "develop": {{"transformers": {{"version": "==4.50.0"}}, "numpy": {{"version": "==2"}}}}
}}
"""
    assert unreleased(text, "Pipfile.lock") == [
        ("torch", "NIGHTLY", "==2.9.0.dev20250801+cu128"),
        ("vllm", "PINNED_SOURCE", "https://github.com/vllm-project/vllm.git"),
    ]
    assert pins(text, "Pipfile.lock") == {"transformers": "4.50.0"}


def test_what_is_no_lock_file() -> None:
    with pytest.raises(UnreadableError) as caught:
        read(Document("Pipfile.lock", Kind.JSON, '{\n"default": {"torch": \n'))
    assert caught.value.line == 3
    assert read(Document("conda-lock.yml", Kind.CONDA_LOCK, "torch\n- name\n")).items == []
    assert packages('[[package]]\nname = "torch"\n', "uv.lock") == []


def test_large_locks_are_quick() -> None:
    many = "".join(
        f'[[package]]\nname = "p{n}"\nversion = "1"\nwheels = [\n    {{ url = "x{n}" }},\n]\n'
        for n in range(20_000)
    )
    started = time.perf_counter()
    assert pins(many + '[[package]]\nname = "torch"\nversion = "2.6.0"\n', "uv.lock") == {
        "torch": "2.6.0"
    }
    assert time.perf_counter() - started < 5
