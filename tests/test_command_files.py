"""Makefiles, Procfiles, .env files, Windows scripts, Triton, Ollama and Terraform files."""

import time

import pytest
from facts_of import apply

from ecolint import frontends
from ecolint.document import Document, Kind
from ecolint.facts import (
    Compilation,
    Drop,
    Facts,
    Hardware,
    Method,
    ModelLoad,
    Quantization,
    Role,
    Serving,
    Set,
)


def facts_of(kind: Kind, text: str, path: str = "file") -> Facts:
    return frontends.read(Document(path, kind, text))


def serving_of(kind: Kind, text: str, path: str = "file") -> Serving:
    (found,) = facts_of(kind, text, path).of(Serving)
    return found


MAKEFILE = """MODEL ?= a/b-7B
SEQS := 1
FLAGS = --enforce-eager \\
  --no-enable-prefix-caching
FLAGS += --port 80
# vllm serve --max-num-seqs 2
export TORCHDYNAMO_DISABLE = 1

serve: deps ## run vllm serve
\t@CUDA_VISIBLE_DEVICES=$(GPU) vllm serve $(MODEL) --max-num-seqs $(SEQS) \\
\t\t$(FLAGS)
"""


def test_makefile() -> None:
    facts = facts_of(Kind.MAKEFILE, MAKEFILE)
    (found,) = facts.of(Serving)
    assert found.model.is_("a/b-7B")
    assert found.concurrency.is_(1)
    assert found.eager.is_(True)
    assert found.prefix_cache.is_(False)
    eight = apply(MAKEFILE, found.editor.edits(Set("concurrency", 8)))
    assert eight == MAKEFILE.replace("SEQS := 1", "SEQS := 8")
    graphs = apply(MAKEFILE, found.editor.edits(Drop("eager")))
    assert "--enforce-eager" not in graphs
    assert serving_of(Kind.MAKEFILE, graphs).prefix_cache.is_(False)
    assert len(facts.of(Compilation)) == 1


@pytest.mark.parametrize(
    "recipe",
    [
        "vllm serve m --max-num-seqs $(shell nproc)",
        "vllm serve m --max-num-seqs $(UNSET)",
        "N=$$(nproc); vllm serve m --max-num-seqs $$N",
        "vllm serve m --max-num-seqs $@",
    ],
)
def test_makefile_values_that_are_open(recipe: str) -> None:
    assert serving_of(Kind.MAKEFILE, f"x:\n\t{recipe}\n").concurrency.unknown


def test_makefile_shell_variables_keep_one_dollar() -> None:
    found = serving_of(Kind.MAKEFILE, "x:\n\tN=1; vllm serve m --max-num-seqs $$N\n")
    assert found.concurrency.is_(1)


def test_procfile() -> None:
    text = "release: echo\nweb: vllm serve m --max-num-seqs ${SEQS:-1}\n# x: vllm serve n\n"
    found = serving_of(Kind.PROCFILE, text)
    assert found.concurrency.is_(1)
    assert apply(text, found.editor.edits(Set("concurrency", 8))) == text.replace("-1", "-8")


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("MODEL_ID=a/b\nLOAD_IN_8BIT=true\n", Method.INT8),
        ("export LOAD_IN_4BIT='1' # small\n", Method.NF4),
        ("MODEL_ID=a/b\nQUANTIZE=bitsandbytes\n", Method.INT8),
        ("LOAD_IN_8BIT=false\nLOAD_IN_4BIT=True\n", Method.NF4),
    ],
)
def test_dotenv(text: str, method: Method) -> None:
    (found,) = facts_of(Kind.DOTENV, text).of(Quantization)
    assert found.method.is_(method)


@pytest.mark.parametrize(
    "text",
    [
        "LOAD_IN_8BIT=false\n",
        "# LOAD_IN_8BIT=true\n",
        "LOAD_IN_8BIT=${FLAG}\n",
        "LOAD_IN_8BIT=\n",
        "QUANTIZE=bitsandbytes\n",
        "MAX_NUM_SEQS=1\nENFORCE_EAGER=1\n",
        "TORCH_COMPILE_DISABLE=0\n",
        "",
    ],
)
def test_dotenv_without_evidence(text: str) -> None:
    assert not facts_of(Kind.DOTENV, text).items


def test_dotenv_is_switched_in_place() -> None:
    text = 'A=1\r\nLOAD_IN_8BIT="True"\r\n'
    (found,) = facts_of(Kind.DOTENV, text).of(Quantization)
    assert apply(text, found.editor.edits(Drop("quantization"))) == text.replace("True", "False")


BATCH = """@echo off\r
REM vllm serve x --enforce-eager\r
:: vllm serve x --enforce-eager\r
set SEQS=1\r
set "MODEL=a/b-7b"\r
SET TORCH_COMPILE_DISABLE=1\r
call .venv\\Scripts\\activate\r
if not exist out mkdir out\r
if exist "C:\\py" "C:\\py\\python.exe" -m vllm.entrypoints.openai.api_server --model %MODEL% ^\r
   --max-num-seqs %seqs% ^\r
   --enforce-eager\r
"""


def test_batch_file() -> None:
    facts = facts_of(Kind.BATCH, BATCH, "start.bat")
    (found,) = facts.of(Serving)
    assert found.model.is_("a/b-7b")
    assert found.concurrency.is_(1)
    eight = apply(BATCH, found.editor.edits(Set("concurrency", 8)))
    assert eight == BATCH.replace("SEQS=1", "SEQS=8")
    graphs = apply(BATCH, found.editor.edits(Drop("eager")))
    assert graphs == BATCH.replace(" ^\r\n   --enforce-eager", "")
    assert len(facts.of(Compilation)) == 1


def test_batch_file_of_the_web_ui() -> None:
    text = 'start "ui" /b python server.py --listen --load-in-8bit & pause\r\n'
    (found,) = facts_of(Kind.BATCH, text, "start.cmd").of(Quantization)
    assert found.library == "text-generation-webui"
    assert apply(text, found.editor.edits(Drop("quantization"))) == text.replace(
        " --load-in-8bit", ""
    )


def test_batch_file_with_its_flags_in_a_variable() -> None:
    text = 'set "FLAGS=--chat --load-in-8bit"\r\ncall python server.py %FLAGS%\r\n'
    (found,) = facts_of(Kind.BATCH, text, "start.bat").of(Quantization)
    assert found.library == "text-generation-webui"
    assert apply(text, found.editor.edits(Drop("quantization"))) == text.replace(
        " --load-in-8bit", ""
    )
    twice = text + "call python server.py %FLAGS%\r\n"
    for each in facts_of(Kind.BATCH, twice, "start.bat").of(Quantization):
        assert each.editor.edits(Drop("quantization")) is None


def test_powershell() -> None:
    text = (
        '$env:TORCHDYNAMO_DISABLE = "1"\n$seqs = "1"\n# vllm serve x\n'
        "vllm serve a/b-7b `\n  --max-num-seqs $seqs `\n  --enforce-eager\n"
    )
    facts = facts_of(Kind.BATCH, text, "start.ps1")
    (found,) = facts.of(Serving)
    assert found.concurrency.is_(1)
    assert apply(text, found.editor.edits(Set("concurrency", 8))) == text.replace(
        'seqs = "1"', 'seqs = "8"'
    )
    assert apply(text, found.editor.edits(Drop("eager"))) == text.replace(
        " `\n  --enforce-eager", ""
    )
    (switch,) = facts.of(Compilation)
    assert apply(text, switch.editor.edits(Drop("compile_off"))).startswith(
        '$env:TORCHDYNAMO_DISABLE = "0"'
    )


def test_flag_file_of_the_web_ui() -> None:
    text = "--listen --api\n# --load-in-8bit\n--load-in-4bit\n"
    (found,) = facts_of(Kind.SHELL, text, "user_data/CMD_FLAGS.txt").of(Quantization)
    assert found.method.is_(Method.NF4)
    assert not facts_of(Kind.SHELL, "# nothing\n", "CMD_FLAGS.txt").items


def test_slurm_header_names_a_gpu() -> None:
    text = "#!/bin/bash\n#SBATCH --gres=gpu:a100:2\n#SBATCH --gres=gpu:1\n# --gres=gpu:v100\n"
    (found,) = facts_of(Kind.SHELL, text).of(Hardware)
    assert (found.gpu, found.count) == ("a100", 2)


def test_cloud_tools_rent_a_gpu() -> None:
    text = (
        "gcloud compute instances create x --machine-type=g2-standard-4 \\\n"
        "  --accelerator type=nvidia-tesla-t4,count=1\n"
        "aws ec2 run-instances --instance-type g5.xlarge --count 1\n"
        "aws ec2 run-instances --instance-type t3.micro\n"
        "sky launch --gpus A100:2 task.yaml\n"
        "docker run --gpus all x\n"
    )
    found = facts_of(Kind.SHELL, text).of(Hardware)
    assert [(each.gpu, each.kind, each.count) for each in found] == [
        ("g2-standard-4", "gcp_machine", 1),
        ("nvidia-tesla-t4", "gcp_accelerator_type", 1),
        ("g5.xlarge", "aws_instance", 1),
        ("A100", "skypilot_accelerator", 2),
    ]


def test_triton_model_that_takes_one_request() -> None:
    text = 'name: "w"\nbackend: "python"\n# max_batch_size: 4\nmax_batch_size: 1\n'
    found = serving_of(Kind.PBTXT, text)
    assert found.concurrency.is_(1)
    assert found.role is Role.SERVICE
    assert apply(text, found.editor.edits(Set("concurrency", 8))) == text.replace(
        "\nmax_batch_size: 1", "\nmax_batch_size: 8"
    )
    assert found.editor.edits(Drop("concurrency")) is None


@pytest.mark.parametrize(
    "text",
    [
        'backend: "python"\nmax_batch_size: 0\n',
        'backend: "vllm"\nmax_batch_size: 1\n',
        'platform: "onnxruntime_onnx"\nmax_batch_size: 1\n',
        'backend: "python"\nmax_batch_size: 1\nmodel_transaction_policy { decoupled: True }\n',
        'backend: "python"\nmax_batch_size: 1\ninstance_group [{ kind: KIND_CPU }]\n',
        'backend: "python"\n# max_batch_size: 1\n',
        'backend: "python"\n',
    ],
)
def test_triton_models_that_are_as_they_should_be(text: str) -> None:
    assert not facts_of(Kind.PBTXT, text).items


def test_modelfile() -> None:
    text = "# FROM other\nFROM llama3:8b-instruct-q4_K_M\nPARAMETER num_ctx 4096\n"
    (found,) = facts_of(Kind.MODELFILE, text).of(ModelLoad)
    assert found.model.is_("llama3:8b-instruct-q4_K_M")
    assert found.context.is_(4096)
    assert found.quantization_unknown
    assert not facts_of(Kind.MODELFILE, "PARAMETER num_ctx 4096\n").items


TERRAFORM = """variable "machine" {
  type    = string
  default = "g5.xlarge"
}
resource "aws_instance" "llm" {
  instance_type = var.machine # "p4d.24xlarge"
  user_data     = <<-EOF
    #!/bin/bash
    vllm serve m --enforce-eager
  EOF
}
resource "google_compute_instance" "llm" {
  machine_type = "a2-highgpu-1g"
  guest_accelerator {
    type  = "nvidia-tesla-t4"
    count = 1
  }
  // machine_type = "g2-standard-4"
  /* machine_type = "g2-standard-8" */
}
resource "azurerm_linux_virtual_machine" "llm" { size = "Standard_NC24ads_A100_v4" }
resource "aws_eks_node_group" "llm" {
  instance_types = ["g4dn.xlarge", "t3.medium"]
}
resource "aws_instance" "either" {
  instance_type = var.big ? "p5.48xlarge" : "t3.micro"
}
"""


def test_terraform() -> None:
    facts = facts_of(Kind.TERRAFORM, TERRAFORM)
    assert [(each.gpu, each.kind) for each in facts.of(Hardware)] == [
        ("g5.xlarge", "aws_instance"),
        ("a2-highgpu-1g", "gcp_machine"),
        ("nvidia-tesla-t4", "gcp_accelerator_type"),
        ("Standard_NC24ads_A100_v4", "azure_vm"),
        ("g4dn.xlarge", "aws_instance"),
    ]
    first = facts.of(Hardware)[0].span
    assert TERRAFORM[first.start : first.end] == "g5.xlarge"
    (found,) = facts.of(Serving)
    assert found.eager.is_(True)
    graphs = apply(TERRAFORM, found.editor.edits(Drop("eager")))
    assert graphs == TERRAFORM.replace(" --enforce-eager", "")


@pytest.mark.parametrize(
    ("kind", "path", "text"),
    [
        (Kind.MAKEFILE, "Makefile", "A=x\n" + "A += $(A)\n" * 100 + "a:\n\tvllm serve $(A)\n"),
        (Kind.MAKEFILE, "Makefile", "A=" + "x \\\n" * 30_000 + "\na:\n\tvllm serve $(A)\n"),
        (Kind.BATCH, "a.bat", "vllm " + '"' * 30_001),
        (Kind.BATCH, "a.bat", "vllm " + "^" * 200_001),
        (Kind.BATCH, "a.bat", "set A=xx\n" + "set A=%A%%A%\n" * 60 + "vllm serve %A%\n"),
        (Kind.BATCH, "a.ps1", "vllm " + "$(" * 20_000),
        (Kind.TERRAFORM, "a.tf", "instance_type = [" * 10_000),
        (Kind.TERRAFORM, "a.tf", "/*" * 10_000),
        (Kind.PBTXT, "config.pbtxt", '"' * 50_001),
        (Kind.DOTENV, ".env", 'A="' * 30_000),
        (Kind.PROCFILE, "Procfile", "a: vllm serve\n" * 5_000),
    ],
)
def test_hostile_files_cost_little(kind: Kind, path: str, text: str) -> None:
    started = time.perf_counter()
    facts_of(kind, text, path)
    assert time.perf_counter() - started < 10
