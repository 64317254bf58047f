"""What other files of a project tell about one: the card and the pins, the nearest first."""

from pathlib import Path

import pytest

from ecolint.diagnostics import Diagnostic
from ecolint.runner import Result, run
from ecolint.settings import Settings, SettingsError

LOAD = """from transformers import AutoModelForCausalLM, BitsAndBytesConfig
c = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
m = AutoModelForCausalLM.from_pretrained("microsoft/Phi-3-mini-4k-instruct", quantization_config=c)
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector:
    nvidia.com/gpu.product: %s
  containers:
    - name: chat
      image: example/chat:1
"""


class Everywhere:
    """The same settings for every folder."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def of_folder(self, folder: str) -> Settings:
        """The settings."""
        return self.settings


def check(folder: Path, *paths: str, cache: bool = False, gpu: str | None = None) -> Result:
    """Check a project as its user would, from its folder."""
    settings = Settings(cache=cache, root=str(folder), gpu=gpu, jobs=1)
    return run(paths or (".",), Everywhere(settings))


def below_crossover(result: Result) -> Diagnostic:
    """The one finding of ECO102."""
    (found,) = [one for one in result.diagnostics if one.code == "ECO102"]
    return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a load of 3.8B in 4 bit, which only the card can judge."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'chat'\nversion = '1'\n")
    (tmp_path / "serve.py").write_text(LOAD)
    (tmp_path / "k8s").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_evidence_the_card_is_asked_for(project: Path) -> None:
    found = below_crossover(check(project))
    assert found.gpu is None
    assert found.severity.value == "gray"


def test_a_node_selector_tells_the_card_and_the_finding_tells_from_where(project: Path) -> None:
    (project / "k8s/pod.yaml").write_text(POD % "NVIDIA-GeForce-RTX-4090")
    found = below_crossover(check(project))
    assert found.gpu == "RTX 4090"
    assert "(gpu: RTX 4090, from k8s/pod.yaml:6)" in found.message


def test_it_tells_even_when_only_the_program_is_checked(project: Path) -> None:
    (project / "k8s/pod.yaml").write_text(POD % "NVIDIA-GeForce-RTX-4090")
    assert below_crossover(check(project, "serve.py")).gpu == "RTX 4090"


def test_cards_that_disagree_are_told_and_left_open(project: Path) -> None:
    (project / "k8s/a.yaml").write_text(POD % "NVIDIA-GeForce-RTX-4090")
    (project / "k8s/b.yaml").write_text(POD % "Tesla-T4")
    found = below_crossover(check(project))
    assert found.gpu is None
    assert "k8s/a.yaml:6 names RTX 4090 and k8s/b.yaml:6 names" in found.message


def test_the_nearest_evidence_wins(project: Path) -> None:
    for name, card in (("one", "NVIDIA-GeForce-RTX-4090"), ("two", "Tesla-T4")):
        (project / name).mkdir()
        (project / name / "pod.yaml").write_text(POD % card)
        (project / name / "serve.py").write_text(LOAD)
    found = {one.filename: one for one in check(project, "one", "two").diagnostics
             if one.code == "ECO102"}  # fmt: skip
    assert found["one/serve.py"].gpu == "RTX 4090"
    assert "two/serve.py" not in found, "on a T4, 3.8B is above the crossover"


def test_flags_win(project: Path) -> None:
    (project / "k8s/pod.yaml").write_text(POD % "Tesla-T4")
    assert below_crossover(check(project, gpu="RTX 4090")).gpu == "RTX 4090"


def test_evidence_in_tests_counts_for_nothing(project: Path) -> None:
    (project / "tests").mkdir()
    (project / "tests/pod.yaml").write_text(POD % "NVIDIA-GeForce-RTX-4090")
    assert below_crossover(check(project)).gpu is None


def test_a_pin_elsewhere_decides_about_a_removed_keyword(project: Path) -> None:
    (project / "serve.py").write_text(
        "from transformers import AutoModelForCausalLM\n"
        "m = AutoModelForCausalLM.from_pretrained('org/m-7b', load_in_8bit=True)\n"
    )
    codes = {one.code for one in check(project).diagnostics}
    assert "ECO701" in codes
    (project / "requirements.txt").write_text("transformers==4.37.2\n")
    codes = {one.code for one in check(project).diagnostics}
    assert "ECO701" not in codes


def test_a_lock_file_outweighs_a_requirement(project: Path) -> None:
    (project / "serve.py").write_text(
        "from transformers import AutoModelForCausalLM\n"
        "m = AutoModelForCausalLM.from_pretrained('org/m-7b', load_in_8bit=True)\n"
    )
    (project / "requirements.txt").write_text("transformers==5.1.0\n")
    (project / "uv.lock").write_text(
        'version = 1\n\n[[package]]\nname = "transformers"\nversion = "4.37.2"\n'
        'source = { registry = "https://pypi.org/simple" }\n'
    )
    assert "ECO701" not in {one.code for one in check(project).diagnostics}


def test_remembered_findings_hang_on_what_tells_about_them(project: Path) -> None:
    import os

    (project / "k8s/pod.yaml").write_text(POD % "NVIDIA-GeForce-RTX-4090")
    for path in (project / "serve.py", project / "k8s/pod.yaml"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert below_crossover(check(project, cache=True)).gpu == "RTX 4090"
    assert below_crossover(check(project, cache=True)).gpu == "RTX 4090"
    (project / "k8s/pod.yaml").unlink()
    assert below_crossover(check(project, cache=True)).gpu is None


def test_a_sites_own_measurements_win(project: Path) -> None:
    (project / "serve.py").write_text(
        "from transformers import AutoModelForCausalLM, BitsAndBytesConfig\n"
        "c = BitsAndBytesConfig(load_in_8bit=True)\n"
        "m = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2-7B', quantization_config=c)\n"
    )
    (project / "own.csv").write_text(
        "gpu,model,precision,throughput_tok_s,energy_j_per_1k,power_w\n"
        "rtx4090,Qwen/Qwen2-7B,fp16,60,5000,300\n"
        "rtx4090,Qwen/Qwen2-7B,int8,30,8000,240\n"
    )
    settings = Settings(
        cache=False, root=str(project), gpu="RTX 4090", measurements="own.csv", jobs=1
    )
    result = run((".",), Everywhere(settings))
    (found,) = [one for one in result.diagnostics if one.code == "ECO101"]
    assert found.evidence is not None
    assert found.evidence.rows == ("own.csv:3", "own.csv:2")
    assert found.evidence.energy_vs_fp16_pct == pytest.approx(60.0)


def test_measurements_that_cannot_be_used_are_told(project: Path) -> None:
    (project / "own.csv").write_text("nonsense\n")
    settings = Settings(cache=False, root=str(project), measurements="own.csv", jobs=1)
    with pytest.raises(SettingsError, match=r"own\.csv"):
        run((".",), Everywhere(settings))
