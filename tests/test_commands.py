"""Command lines: which program, which options, where they stand, and how they are changed."""

import pytest
from facts_of import apply, read
from hypothesis import given
from hypothesis import strategies as st

from ecolint.commands import read_argv
from ecolint.diagnostics import Span
from ecolint.document import Document, Kind, whole
from ecolint.facts import (
    Change,
    Compilation,
    Drop,
    Fact,
    Method,
    ModelLoad,
    Quantization,
    Role,
    Serving,
    Set,
)
from ecolint.words import Word


def one(text: str, kind: type[Fact]) -> Fact:
    _, facts = read(text, Kind.SHELL)
    (found,) = facts.of(kind)
    return found


def serving(text: str) -> Serving:
    found = one(text, Serving)
    assert isinstance(found, Serving)
    return found


def quantization(text: str) -> Quantization:
    found = one(text, Quantization)
    assert isinstance(found, Quantization)
    return found


def changed(text: str, fact: Serving | Quantization | ModelLoad, *changes: Change) -> str:
    return apply(text, fact.editor.edits(*changes))


def at(text: str, span: Span | None) -> str:
    assert span is not None
    return text[span.start : span.end]


@pytest.mark.parametrize(
    ("command", "engine"),
    [
        ("vllm serve m {}", "vllm"),
        ("python -m vllm.entrypoints.openai.api_server --model m {}", "vllm"),
        ("/opt/venv/bin/python3.11 -u -m vllm.entrypoints.api_server --model m {}", "vllm"),
        ("$PYTHON -m vllm.entrypoints.openai.api_server --model m {}", "vllm"),
        ("exec nohup env A=1 vllm serve m {} > log 2>&1 &", "vllm"),
        ("CUDA_VISIBLE_DEVICES=0 sudo -E vllm serve m {}", "vllm"),
        ("conda run -n llm --no-capture-output vllm serve m {}", "vllm"),
        ("uv run --with vllm vllm serve m {}", "vllm"),
        ("uvx --from vllm vllm serve m {}", "vllm"),
        ("poetry run vllm serve m {}", "vllm"),
        ("timeout 60 vllm serve m {}", "vllm"),
        ("srun -n 1 --gres=gpu:1 vllm serve m {}", "vllm"),
        ("numactl -N 0 -m 0 -- vllm serve m {}", "vllm"),
        ("docker run --rm -it --gpus all -p 80:80 -e A=b vllm/vllm-openai:v0.8.5 --model m {}",
         "vllm"),
        ("podman run -d --name x docker.io/vllm/vllm-openai m {}", "vllm"),
        ("docker run --entrypoint vllm company/image serve m {}", "vllm"),
    ],
)  # fmt: skip
def test_one_option_however_the_program_is_started(command: str, engine: str) -> None:
    text = command.format("--max-num-seqs 1")
    found = serving(text)
    assert (found.engine, found.role) == (engine, Role.SERVICE)
    assert found.concurrency.is_(1)
    assert found.model.is_("m")
    assert at(text, found.concurrency.span) == "--max-num-seqs 1"
    assert changed(text, found, Set("concurrency", 8)) == command.format("--max-num-seqs 8")


@pytest.mark.parametrize(
    "flag",
    ["--max-num-seqs 1", "--max-num-seqs=1", "--max_num_seqs=1", '--max-num-seqs="1"',
     "--max-num-seqs '1'", "--max-num-seqs \\\n  1"],
)  # fmt: skip
def test_spellings_of_one_option(flag: str) -> None:
    text = f"vllm serve m {flag} --port 80\n"
    found = serving(text)
    assert found.concurrency.is_(1)
    assert changed(text, found, Set("concurrency", 8)) == text.replace("1", "8")
    assert changed(text, found, Drop("concurrency")) == "vllm serve m --port 80\n"


@pytest.mark.parametrize(
    ("command", "engine", "concurrency"),
    [
        ("python -m sglang.launch_server --model-path m --max-running-requests 1", "sglang", 1),
        ("sglang serve --model-path m --max-running-requests 1", "sglang", 1),
        ("text-generation-launcher --model-id m --max-concurrent-requests 1", "tgi", 1),
        ("lmdeploy serve api_server m --max-batch-size 1", "lmdeploy", 1),
        ("trtllm-serve m --max_batch_size 1", "tensorrt-llm", 1),
        ("trtllm-serve serve m --max_batch_size 1", "tensorrt-llm", 1),
        ("vllm serve m --max-num-seqs 1 --max-num-seqs 64", "vllm", 64),
        ("CMD='vllm serve m --max-num-seqs 1'\neval \"$CMD\"", "vllm", 1),
        ('CMD="vllm serve m"\nCMD+=" --max-num-seqs ${SEQS:-1}"\nexec $CMD', "vllm", 1),
        ('CMD=(vllm serve m)\nCMD+=(--max-num-seqs 1)\n"${CMD[@]}"', "vllm", 1),
        ("tmux new -d -s llm 'vllm serve m --max-num-seqs 1'", "vllm", 1),
        ("eval vllm serve m --max-num-seqs 1", "vllm", 1),
    ],
)
def test_engines(command: str, engine: str, concurrency: int) -> None:
    found = serving(command)
    assert found.engine == engine
    assert found.concurrency.is_(concurrency)
    assert found.model.is_("m")


@pytest.mark.parametrize(
    ("flags", "eager"),
    [
        ("--enforce-eager", True),
        ("--enforce-eager --port 80", True),
        ("-O0", True),
        ("-O 0", True),
        ("--optimization-level 0", True),
        ("""--compilation-config '{"mode": 0}'""", True),
        ("""--compilation-config='{"level": 0}'""", True),
        ("""--compilation-config '{"cudagraph_mode": "NONE"}'""", True),
        ("--compilation-config.mode 0", True),
        ("-cc.mode=0", True),
        ("-O3", False),
        ("-O3 --enforce-eager", True),
        ("""--compilation-config '{"mode": 3}'""", False),
        ("--no-enforce-eager", False),
    ],
)
def test_eager_mode(flags: str, eager: bool) -> None:
    text = f"vllm serve m {flags}"
    found = serving(text)
    assert found.eager.is_(eager)
    if eager:
        kept = "".join(f" {flag}" for flag in ("--port 80", "-O3") if flag in flags)
        assert changed(text, found, Drop("eager")) == f"vllm serve m{kept}"
    else:
        assert found.editor.edits(Drop("eager")) is None or flags == "--no-enforce-eager"


def test_a_switch_with_a_variable_as_its_value_is_unknown() -> None:
    assert serving("vllm serve m --enforce-eager $EAGER").eager.unknown
    assert serving('vllm serve m --enforce-eager "$EXTRA_ARGS"').eager.is_(True)


def test_two_ways_to_eager_mode_go_together() -> None:
    text = "vllm serve m --enforce-eager --dtype auto -O0"
    assert changed(text, serving(text), Drop("eager")) == "vllm serve m --dtype auto"


def test_json_that_says_more_is_left_alone() -> None:
    found = serving("""vllm serve m --compilation-config '{"mode": 0, "x": 1}'""")
    assert found.eager.is_(True)
    assert found.editor.edits(Drop("eager")) is None


def test_prefix_cache_and_its_default_by_version() -> None:
    text = "vllm serve m --no-enable-prefix-caching --port 80"
    found = serving(text)
    assert found.prefix_cache.is_(False)
    assert found.prefix_cache_default
    assert changed(text, found, Drop("prefix_cache")) == "vllm serve m --port 80"
    assert changed(text, found, Set("prefix_cache", True)) == "vllm serve m --port 80"
    old = serving("docker run vllm/vllm-openai:v0.6.3 --model m --no-enable-prefix-caching")
    assert not old.prefix_cache_default
    radix = serving("python -m sglang.launch_server --model-path m --disable-radix-cache")
    assert radix.prefix_cache.is_(False)


@pytest.mark.parametrize(
    ("command", "library", "method"),
    [
        ("vllm serve m --quantization bitsandbytes", "vllm", Method.NF4),
        ("vllm serve m -q fp8", "vllm", Method.FP8),
        ("vllm serve m --load-format bitsandbytes", "vllm", Method.NF4),
        ("text-generation-launcher --model-id m --quantize bitsandbytes", "tgi", Method.INT8),
        ("text-generation-launcher --model-id m --quantize bitsandbytes-nf4", "tgi", Method.NF4),
        ("QUANTIZE=bitsandbytes text-generation-launcher", "tgi", Method.INT8),
        ("export QUANTIZE=bitsandbytes-fp4\ntext-generation-launcher", "tgi", Method.FP4),
        ("docker run -e QUANTIZE=bitsandbytes ghcr.io/huggingface/text-generation-inference",
         "tgi", Method.INT8),
        ("docker run -e HF_MODEL_ID=m -e HF_MODEL_QUANTIZE=bitsandbytes 1.dkr.ecr/x", "tgi",
         Method.INT8),
        ("python -m sglang.launch_server --model m --torchao-config fp8wo", "sglang",
         Method.FP8_WEIGHT_ONLY),
        ("litgpt chat m --quantize bnb.int8", "lightning", Method.INT8),
        ("litgpt serve m --quantize bnb.nf4-dq", "lightning", Method.NF4),
        ("transformers serve --quantization bnb-8bit", "transformers-serve", Method.INT8),
        ("transformers chat m --load_in_4bit", "transformers-serve", Method.NF4),
        ("llamafactory-cli api a.yaml --quantization_bit 8", "llamafactory", Method.INT8),
        ("llamafactory-cli chat a.yaml quantization_bit=4", "llamafactory", Method.NF4),
        ("llamafactory-cli api a.yaml quantization_bit=4 quantization_method=hqq", "llamafactory",
         Method.HQQ),
        ("lm_eval --model hf --model_args pretrained=m,load_in_8bit=True", "lm-eval", Method.INT8),
        ("lm-eval run -m hf --model_args pretrained=m load_in_8bit=True", "lm-eval", Method.INT8),
        ("accelerate launch -m lm_eval --model hf --model_args pretrained=m,load_in_8bit=True",
         "lm-eval", Method.INT8),
        ("lm_eval --model vllm --model_args pretrained=m,quantization=bitsandbytes", "vllm",
         Method.NF4),
        ("python server.py --listen --load-in-8bit", "text-generation-webui", Method.INT8),
        ("python server.py --api --load-in-4bit --quant_type fp4", "text-generation-webui",
         Method.FP4),
        ("python app.py --load_in_8bit", "transformers", Method.INT8),
        ("python app.py --load-in-8bit true", "transformers", Method.INT8),
        ("torchrun --nproc_per_node 2 app.py --load_in_4bit=True", "transformers", Method.NF4),
        ("accelerate launch --num_processes 1 app.py --load_in_8bit", "transformers", Method.INT8),
        ("python -m app.server --load_in_8bit", "transformers", Method.INT8),
        ("./app.py --load_in_8bit", "transformers", Method.INT8),
        ("uv run app.py --load_in_8bit", "transformers", Method.INT8),
        ("export LOAD_IN_8BIT=true\npython app.py", "transformers", Method.INT8),
        ("LOAD_IN_4BIT=1 python app.py", "transformers", Method.NF4),
    ],
)  # fmt: skip
def test_quantisations(command: str, library: str, method: Method) -> None:
    found = quantization(command)
    assert (found.library, found.method.value) == (library, method)
    if method is Method.INT8:
        assert found.threshold.is_(6.0)


@pytest.mark.parametrize(
    "command",
    [
        "vllm serve m --quantization $QUANT",
        "docker run vllm/vllm-openai:v0.30.1 --model m --quantization bitsandbytes",
        "python -m fastchat.serve.model_worker --model-path m --load-8bit",
        "python app.py --load_in_8bit false",
        "python app.py --load_in_8bit=$FLAG",
        "python app.py --no_load_in_8bit",
        "python train.py --load_in_8bit",
        "python finetune_lora.py --load_in_4bit",
        "accelerate launch -m axolotl.cli.train a.yml --load_in_4bit",
        "python app.py --load_in_4bit --num_train_epochs 3",
        "python app.py --load_in_4bit --use_peft --lora_r 8",
        "trl sft --load_in_4bit --use_peft",
        "LOAD_IN_4BIT=1 python train_qlora.py",
        "llamafactory-cli train a.yaml --quantization_bit 8",
        "llamafactory-cli api a.yaml infer_backend=vllm quantization_bit=8",
        "lm_eval --model hf --model_args pretrained=m,load_in_8bit=False",
        "lm_eval --model gguf --model_args base_url=x,load_in_8bit=True",
        "litgpt finetune m --quantize bnb.int8-training",
        "QUANTIZE=bitsandbytes python app.py",
        "LOAD_IN_8BIT=false python app.py",
        "grep -r load_in_8bit . --include '*.py'",
        "git commit -m 'vllm serve --quantization bitsandbytes'",
        "lmdeploy serve api_server m --quant-policy 8",
        "vllm serve m --kv-cache-dtype fp8",
    ],
)
def test_no_quantisation_without_evidence(command: str) -> None:
    _, facts = read(command, Kind.SHELL)
    assert not facts.of(Quantization)


@pytest.mark.parametrize(
    ("command", "role"),
    [
        ("lm_eval --model hf --model_args pretrained=m,load_in_8bit=True", Role.EVALUATION),
        ("python run_eval.py --load_in_8bit", Role.EVALUATION),
        ("python benchmark.py --load_in_8bit", Role.BENCHMARK),
        ("python test_model.py --load_in_8bit", Role.TEST),
        ("python app.py --load_in_8bit", Role.INFERENCE),
        ("litgpt chat m --quantize bnb.int8", Role.INTERACTIVE),
        ("python server.py --listen --load-in-8bit", Role.SERVICE),
    ],
)
def test_roles(command: str, role: Role) -> None:
    assert quantization(command).role is role


def test_a_role_given_by_the_file_stays() -> None:
    view = whole(Document("s", Kind.SHELL, "vllm serve m"))
    words = [Word("vllm", view, 0, 4), Word("serve", view, 5, 10), Word("m", view, 11, 12)]
    (found, _) = read_argv(words, Role.TEST)
    assert found.role is Role.TEST


def test_options_inside_model_args() -> None:
    text = "lm_eval --model hf --model_args pretrained=m,load_in_8bit=True,trust=True -b 1"
    found = quantization(text)
    assert found.threshold_settable
    assert at(text, found.method.span) == "load_in_8bit=True"
    assert ",load_in_8bit=True,llm_int8_threshold=0.0,trust=True" in changed(
        text, found, Set("threshold", 0.0)
    )
    assert "pretrained=m,trust=True -b" in changed(text, found, Drop("quantization"))
    first = text.replace("pretrained=m,load_in_8bit=True,", "load_in_8bit=True,pretrained=m,")
    assert "--model_args pretrained=m,trust" in changed(
        first, quantization(first), Drop("quantization")
    )
    set_already = text.replace("8bit=True", "8bit=True,llm_int8_threshold=6.0")
    assert "8bit=True,llm_int8_threshold=0.0,trust" in changed(
        set_already, quantization(set_already), Set("threshold", 0.0)
    )
    load = one(text, ModelLoad)
    assert isinstance(load, ModelLoad)
    assert load.batch.is_(1)
    assert load.model.is_("m")
    assert changed(text, load, Set("batch", "auto")).endswith(",trust=True -b auto")


def test_options_inside_hf_overrides() -> None:
    text = (
        "vllm serve m --quantization bitsandbytes --hf-overrides "
        """'{"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": true}}'\n"""
    )
    found = quantization(text)
    assert found.method.is_(Method.INT8)
    assert found.threshold.is_(6.0)
    assert '"load_in_8bit": true, "llm_int8_threshold": 0.0}}' in changed(
        text, found, Set("threshold", 0.0)
    )
    assert changed(text, found, Drop("quantization")) == "vllm serve m\n"
    whole_reading = serving(text).quantization
    assert whole_reading is not None
    assert whole_reading.method.is_(Method.INT8)


def test_overrides_that_say_more_are_kept() -> None:
    text = (
        "vllm serve m -q bitsandbytes --hf-overrides "
        """'{"rope_theta": 1, "quantization_config": {"load_in_8bit": true}}'\n"""
    )
    assert quantization(text).editor.edits(Drop("quantization")) is None
    assert serving(text).editor.edits(Drop("quantization")) is None
    assert "llm_int8_threshold" in changed(text, quantization(text), Set("threshold", 0.0))
    plain = text.replace(', "quantization_config": {"load_in_8bit": true}', "")
    assert quantization(plain).method.is_(Method.NF4)
    assert changed(plain, quantization(plain), Drop("quantization")) == plain.replace(
        " -q bitsandbytes", ""
    )


def test_a_shell_in_double_quotes_takes_no_bare_quotes() -> None:
    text = (
        'bash -c "vllm serve m --hf-overrides '
        """'{\\"quantization_config\\": {\\"load_in_8bit\\": true}}'" """
    )
    assert quantization(text).editor.edits(Set("threshold", 0.0)) is None


def test_dropping_a_quantisation_takes_what_only_served_it() -> None:
    text = "vllm serve m --quantization bitsandbytes --load-format bitsandbytes --port 1"
    assert changed(text, quantization(text), Drop("quantization")) == "vllm serve m --port 1"
    apart = "vllm serve m -q bitsandbytes --port 1 --load-format=bitsandbytes"
    assert changed(apart, quantization(apart), Drop("quantization")) == "vllm serve m --port 1"
    other = "vllm serve m -q awq --load-format auto"
    assert changed(other, quantization(other), Drop("quantization")) == (
        "vllm serve m --load-format auto"
    )


def test_environment_variables_are_switched_in_place() -> None:
    text = "export TORCH_COMPILE_DISABLE=1\npython app.py\nTORCHDYNAMO_DISABLE=0 python b.py\n"
    found = one(text, Compilation)
    assert isinstance(found, Compilation)
    assert at(text, found.span) == "TORCH_COMPILE_DISABLE=1"
    assert "DISABLE=0\npython" in apply(text, found.editor.edits(Drop("compile_off")))
    flag = "LOAD_IN_8BIT=True python app.py"
    assert changed(flag, quantization(flag), Drop("quantization")).startswith("LOAD_IN_8BIT=False")


# --- properties ------------------------------------------------------------------------------

_FLAGS = st.lists(
    st.sampled_from(
        ["--port 80", "--enforce-eager", "--max-num-seqs 1", "--dtype auto", "-O0",
         "--no-enable-prefix-caching", "--quantization bitsandbytes", "--served-model-name 'a b'"]
    ),
    max_size=8,
    unique=True,
)  # fmt: skip
_GAPS = st.sampled_from([" ", "  ", " \\\n    ", " \\\r\n\t"])


@given(_FLAGS, _GAPS)
def test_dropping_a_flag_leaves_the_others_as_they_were(flags: list[str], gap: str) -> None:
    text = gap.join(["vllm serve m", *flags]) + "\n"
    found = serving(text)
    for option, gone in (
        ("eager", ("--enforce-eager", "-O0")),
        ("prefix_cache", ("--no-enable-prefix-caching",)),
        ("quantization", ("--quantization bitsandbytes",)),
        ("concurrency", ("--max-num-seqs 1",)),
    ):
        edits = found.editor.edits(Drop(option))
        if not set(flags) & set(gone):
            assert edits is None
            continue
        kept = [flag for flag in flags if flag not in gone]
        after = apply(text, edits)
        assert after == gap.join(["vllm serve m", *kept]) + "\n"
        assert serving(after).editor.edits(Drop(option)) is None
