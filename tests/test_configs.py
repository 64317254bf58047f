"""What configuration files configure: one case a kind of file."""

from pathlib import Path
from typing import Any

import pytest
from facts_of import apply

from ecolint import frontends
from ecolint.diagnostics import Span
from ecolint.document import Document, decode
from ecolint.facts import (
    Channel,
    Compilation,
    Drop,
    Facts,
    Hardware,
    Method,
    ModelLoad,
    Package,
    Quantization,
    Role,
    Serving,
    Set,
    Setting,
)
from ecolint.kinds import kind_of


def read(path: str, text: str) -> tuple[Document, Facts]:
    kind = kind_of(path)
    assert kind is not None
    document = decode(text.encode(), path, kind)
    return document, frontends.read(document)


def serving(path: str, text: str) -> Serving:
    _, facts = read(path, text)
    (found,) = facts.of(Serving)
    return found


def load(path: str, text: str) -> ModelLoad:
    _, facts = read(path, text)
    (found,) = facts.of(ModelLoad)
    return found


def said(text: str, span: Span | None) -> str:
    assert span is not None
    return text[span.start : span.end]


def line_of(text: str, setting: Setting[Any]) -> str:
    assert setting.span is not None
    return text.splitlines()[text.count("\n", 0, setting.span.start)].strip()


# --- containers -------------------------------------------------------------------------------

POD = """\
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      nodeSelector:
        nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: cloud.google.com/gke-accelerator, operator: In, values: [nvidia-l4]}
                  - {key: cloud.google.com/gke-accelerator, operator: NotIn, values: [nvidia-t4]}
      containers:
        - name: server
          image: vllm/vllm-openai:v0.9.0
          args:
            - --model
            - $(MODEL)
            - --max-num-seqs
            - "1"
            - --enforce-eager
          env:
            - {name: MODEL, value: Qwen/Qwen2.5-7B-Instruct}
          resources:
            limits:
              nvidia.com/gpu: 2
"""


def test_a_deployment_tells_engine_model_and_gpu() -> None:
    _, facts = read("k8s/deployment.yaml", POD)
    (found,) = facts.of(Serving)
    assert found.engine == "vllm"
    assert found.model.value == "Qwen/Qwen2.5-7B-Instruct"
    assert found.concurrency.is_(1)
    assert found.eager.is_(True)
    cards = {(one.kind, one.gpu, one.count) for one in facts.of(Hardware)}
    assert cards == {
        ("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB", 2),
        ("cloud.google.com/gke-accelerator", "nvidia-l4", 2),
    }


def test_list_items_of_a_pod_are_edited_in_place() -> None:
    found = serving("pod.yaml", POD)
    edited = apply(POD, found.editor.edits(Set("concurrency", 8), Drop("eager")))
    assert edited == POD.replace('- "1"', '- "8"').replace("            - --enforce-eager\n", "")


def test_a_shell_in_a_container_is_read_as_a_script() -> None:
    text = """\
kind: CronJob
spec:
  containers:
    - image: python:3.11
      command: ["/bin/sh", "-c"]
      args:
        - |
          pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu128
          vllm serve a/b-7b \\
            --enforce-eager \\
            --max-num-seqs 1
"""
    _, facts = read("job.yaml", text)
    (found,) = facts.of(Serving)
    assert line_of(text, found.concurrency) == "--max-num-seqs 1"
    edited = apply(text, found.editor.edits(Set("concurrency", 8), Drop("eager")))
    assert edited == text.replace("seqs 1", "seqs 8").replace(
        "            --enforce-eager \\\n", ""
    )
    nightly = [one for one in facts.of(Package) if one.channel is Channel.NIGHTLY]
    assert [one.name for one in nightly] == ["torch"]


def test_the_quantize_variable_of_tgi_is_int8() -> None:
    text = (
        "containers:\n  - image: ghcr.io/huggingface/text-generation-inference:2.4\n    env:\n"
        "      - name: QUANTIZE\n        value: bitsandbytes\n"
        "      - {name: MODEL_ID, value: a/b-7b}\n"
    )
    found = load("pod.yaml", text)
    assert found.quantization is not None
    assert found.quantization.method.is_(Method.INT8)
    assert line_of(text, found.quantization.method) == "value: bitsandbytes"


COMPOSE = """\
services:
  list:
    image: x/own:1
    environment:
      - LOAD_IN_8BIT=true
      - MODEL_NAME=a/b-7b
  string:
    image: lmsysorg/sglang:v0.5.10
    command: >
      python -m sglang.launch_server --model-path ${MODEL:-c/d-7b}
      --max-running-requests 1 --disable-radix-cache
"""


def test_compose_gives_commands_as_strings_and_variables_as_lists() -> None:
    _, facts = read("docker-compose.yml", COMPOSE)
    (engine,) = facts.of(Serving)
    assert (engine.engine, engine.model.value) == ("sglang", "c/d-7b")
    assert engine.prefix_cache.is_(False)
    (quantised,) = facts.of(Quantization)
    assert said(COMPOSE, quantised.method.span) == "LOAD_IN_8BIT=true"
    changed = apply(COMPOSE, engine.editor.edits(Set("concurrency", 8)))
    assert changed == COMPOSE.replace("requests 1 ", "requests 8 ")


def test_kserve_serves_by_format_uri_and_batcher() -> None:
    text = """\
kind: InferenceService
spec:
  predictor:
    batcher: {maxBatchSize: 1}
    model:
      modelFormat: {name: huggingface}
      storageUri: hf://Qwen/Qwen2.5-3B-Instruct
      args: [--max-num-seqs=1]
"""
    _, facts = read("isvc.yaml", text)
    by_engine = {one.engine: one for one in facts.of(Serving)}
    assert by_engine.keys() == {"kserve-batcher", "vllm"}
    assert all(one.concurrency.is_(1) for one in by_engine.values())
    assert by_engine["vllm"].model.value == "Qwen/Qwen2.5-3B-Instruct"


def test_an_llm_inference_service_adds_arguments_by_a_variable() -> None:
    text = """\
kind: LLMInferenceService
spec:
  model: {uri: hf://Qwen/Qwen2.5-7B}
  template:
    containers:
      - name: main
        env:
          - name: VLLM_ADDITIONAL_ARGS
            value: "--enforce-eager --max-num-seqs 1"
"""
    found = serving("llm.yaml", text)
    assert found.model.value == "Qwen/Qwen2.5-7B"
    edited = apply(text, found.editor.edits(Drop("eager")))
    assert edited == text.replace("--enforce-eager ", "")


@pytest.mark.parametrize(
    ("env", "method"),
    [('"HF_MODEL_QUANTIZE": "bitsandbytes"', Method.INT8),
     ('"HF_MODEL_QUANTIZE": "bitsandbytes-nf4"', Method.NF4)],
)  # fmt: skip
def test_sagemaker_environments_are_tgi_s(env: str, method: Method) -> None:
    text = (
        '{"PrimaryContainer": {"Image": "x/huggingface-pytorch-tgi-inference:2.4", '
        f'"Environment": {{"HF_MODEL_ID": "a/b-7b", {env}}}}}, "InstanceType": "ml.g5.xlarge"}}'
    )
    _, facts = read("model.json", text)
    (found,) = facts.of(Quantization)
    assert found.method.is_(method)
    assert [one.gpu for one in facts.of(Hardware)] == ["ml.g5.xlarge"]


def test_djl_options_are_its_engine_s() -> None:
    text = (
        '{"Environment": {"HF_MODEL_ID": "a/b-7b", "OPTION_ROLLING_BATCH": "vllm", '
        '"OPTION_MAX_ROLLING_BATCH_SIZE": "1"}}'
    )
    found = serving("endpoint.json", text)
    assert found.concurrency.is_(1)
    assert found.model.value == "a/b-7b"
    edited = apply(text, found.editor.edits(Set("concurrency", 8)))
    assert edited == text.replace('"1"', '"8"')


def test_amazon_ecs_calls_arguments_a_command() -> None:
    text = (
        '{"containerDefinitions": [{"image": "vllm/vllm-openai:v0.9.0", '
        '"command": ["--model", "a/b-7b", "--max-num-seqs", "1"]}]}'
    )
    assert serving("task.json", text).concurrency.is_(1)


def test_an_endpoint_of_hugging_face_names_its_image_by_url() -> None:
    text = (
        '{"compute": {"accelerator": "gpu", "instanceType": "nvidia-a10g", "instanceSize": "x1"}, '
        '"model": {"image": {"custom": {"url": "ghcr.io/huggingface/text-generation-inference:2", '
        '"env": {"MODEL_ID": "a/b-7b", "QUANTIZE": "bitsandbytes"}}}}}'
    )
    _, facts = read("endpoint.json", text)
    assert facts.of(Quantization)[0].method.is_(Method.INT8)
    assert [one.kind for one in facts.of(Hardware)] == ["hf_endpoints_instance_type"]


CONFIG_MAP = """\
kind: ConfigMap
data:
  LOAD_IN_4BIT: "true"
  MODEL_ID: a/b-1b
  app.yaml: |
    # settings
    model: a/b-7b
    model_kwargs:
      load_in_8bit: true
      device_map: auto
  run.sh: |
    vllm serve a/b-7b \\
    --enforce-eager \\
    --max-num-seqs 1
  notes.txt: |
    load_in_8bit: true
"""


def test_files_inside_a_config_map_are_read_and_edited_in_place() -> None:
    _, facts = read("cm.yaml", CONFIG_MAP)
    eight, four = facts.of(Quantization)
    assert said(CONFIG_MAP, eight.method.span) == "load_in_8bit: true"
    assert four.method.is_(Method.NF4)
    edited = apply(CONFIG_MAP, eight.editor.edits(Set("threshold", 0.0)))
    assert edited == CONFIG_MAP.replace(
        "8bit: true\n      device", "8bit: true\n      llm_int8_threshold: 0.0\n      device"
    )
    edited = apply(CONFIG_MAP, eight.editor.edits(Drop("quantization")))
    assert edited == CONFIG_MAP.replace("      load_in_8bit: true\n", "", 1)
    (script,) = facts.of(Serving)
    edited = apply(CONFIG_MAP, script.editor.edits(Drop("eager")))
    assert edited == CONFIG_MAP.replace("    --enforce-eager \\\n", "")


def test_kuberay_carries_ray_s_configuration_as_text() -> None:
    text = """\
kind: RayService
spec:
  serveConfigV2: |
    applications:
      - args:
          llm_configs:
            - model_loading_config: {model_id: a/b-7b}
              engine_kwargs:
                enforce_eager: true
                max_num_seqs: 1
"""
    found = serving("ray.yaml", text)
    assert (found.model.value, found.concurrency.value) == ("a/b-7b", 1)
    edited = apply(text, found.editor.edits(Drop("eager")))
    assert edited == text.replace("                enforce_eager: true\n", "")


# --- engines ----------------------------------------------------------------------------------

VALUES = """\
servingEngineSpec:
  modelSpec:
    - name: m
      repository: vllm/vllm-openai
      modelURL: mistralai/Mistral-7B-Instruct-v0.2
      vllmConfig:
        enablePrefixCaching: false
        maxNumSeqs: 1          # one at a time
        extraArgs: ["--enforce-eager", "--disable-log-requests"]
"""


def test_helm_values_are_camel_case_and_carry_arguments() -> None:
    found = serving("values.yaml", VALUES)
    assert found.model.value == "mistralai/Mistral-7B-Instruct-v0.2"
    assert found.concurrency.is_(1)
    assert found.eager.is_(True)
    assert found.prefix_cache.is_(False)
    edited = apply(
        VALUES,
        found.editor.edits(Set("concurrency", 8), Drop("eager"), Drop("prefix_cache")),
    )
    assert edited == VALUES.replace("maxNumSeqs: 1 ", "maxNumSeqs: 8 ").replace(
        '"--enforce-eager", ', ""
    ).replace("        enablePrefixCaching: false\n", "")


def test_ray_serve_gives_engine_and_deployment() -> None:
    text = """\
applications:
  - args:
      llm_configs:
        - model_loading_config: {model_id: mine, model_source: a/b-7b}
          accelerator_type: A10G
          engine_kwargs: {enforce_eager: true, max_num_seqs: 1}
          deployment_config: {max_ongoing_requests: 1}
"""
    _, facts = read("serve.yaml", text)
    by_engine = {one.engine: one for one in facts.of(Serving)}
    assert by_engine["vllm"].model.value == "a/b-7b"
    assert by_engine["ray-serve"].concurrency.is_(1)
    assert [(one.gpu, one.kind) for one in facts.of(Hardware)] == [("A10G", "ray_accelerator_type")]


def test_a_deployment_of_ray_without_a_gpu_says_nothing() -> None:
    _, facts = read("serve.yaml", "deployments:\n  - name: x\n    max_ongoing_requests: 1\n")
    assert not facts


def test_vllm_s_own_file_spells_flags_without_dashes() -> None:
    text = "model: a/b-7b\nmax-num-seqs: 1\ncompilation-config: {mode: 0}\n"
    found = serving("vllm.yaml", text)
    assert found.concurrency.is_(1)
    assert found.eager.is_(True)
    assert apply(text, found.editor.edits(Drop("eager"))) == "model: a/b-7b\nmax-num-seqs: 1\n"


def test_an_inverted_option_is_turned_round() -> None:
    text = "engine: sglang\nmodel: a/b-7b\ndisable_radix_cache: true\n"
    found = serving("serve.yaml", text)
    assert found.prefix_cache.is_(False)
    edited = apply(text, found.editor.edits(Set("prefix_cache", True)))
    assert edited == text.replace("true", "false")


def test_options_may_carry_the_engine_s_name() -> None:
    text = "model_name_or_path: a/b-7b\ninfer_backend: vllm\nvllm_enforce_eager: true\n"
    assert serving("infer.yaml", text).eager.is_(True)
    text = "model_name: a/b-7b\nuse_vllm: true\nvllm_enforce_eager: true\n"
    found = serving("app.yaml", text)
    assert found.engine == "vllm"
    edited = apply(text, found.editor.edits(Drop("eager")))
    assert edited == "model_name: a/b-7b\nuse_vllm: true\n"


def test_the_engine_inside_a_trainer_trains() -> None:
    text = "actor_rollout_ref:\n  rollout: {name: vllm, enforce_eager: true, max_num_seqs: 1}\n"
    assert serving("ppo.yaml", text).role is Role.TRAINING


def test_values_for_tgi_are_told_by_its_image() -> None:
    text = (
        "image: {repository: ghcr.io/huggingface/text-generation-inference, tag: 2.4.0}\n"
        "model: a/b-7b\nquantize: bitsandbytes\nreplicaCount: 1\n"
    )
    found = serving("values.yaml", text)
    assert found.engine == "tgi"
    assert found.quantization is not None
    assert found.quantization.method.is_(Method.INT8)
    assert found.concurrency.absent


def test_a_chart_tells_its_gpu_beside_its_engine() -> None:
    text = (
        "image: vllm/vllm-openai:v0.9.0\nmodel: a/b-7b\nmaxNumSeqs: 1\n"
        "nodeSelector: {nvidia.com/gpu.product: Tesla-T4}\nenv: {TORCH_COMPILE_DISABLE: '1'}\n"
    )
    _, facts = read("values.yaml", text)
    assert [one.gpu for one in facts.of(Hardware)] == ["Tesla-T4"]
    assert facts.of(Serving)[0].concurrency.is_(1)
    assert len(facts.of(Compilation)) == 1


def test_one_option_that_others_share_names_no_engine() -> None:
    _, facts = read("x.yaml", "max_batch_size: 1\nmodel: a/b-7b\nquantization: bitsandbytes\n")
    assert not facts


# --- loads --------------------------------------------------------------------------------------


def test_a_load_that_is_handed_on_takes_a_threshold() -> None:
    text = "model: a/b-7b\nmodel_kwargs:\n  load_in_8bit: true  # why\n  device_map: auto\n"
    found = load("app.yaml", text)
    assert found.quantization is not None
    assert found.quantization.threshold_settable
    edited = apply(text, found.quantization.editor.edits(Set("threshold", 0.0)))
    assert edited == text.replace("# why\n", "# why\n  llm_int8_threshold: 0.0\n")
    edited = apply(text, found.editor.edits(Drop("quantization")))
    assert edited == "model: a/b-7b\nmodel_kwargs:\n  device_map: auto\n"


def test_settings_of_an_own_program_are_only_switched_off() -> None:
    text = "model: a/b-7b\nload_in_8bit: yes\n"
    found = load("app.yaml", text)
    assert found.quantization is not None
    assert not found.quantization.threshold_settable
    assert found.quantization.editor.edits(Set("threshold", 0.0)) is None
    edited = apply(text, found.editor.edits(Drop("quantization")))
    assert edited == text.replace("yes", "no")


@pytest.mark.parametrize(
    "text",
    [
        "load_in_8bit: true\n",
        "load_in_8bit: true\nmodel: a/b\ndevice: cpu\n",
        "backend: openvino\nload_in_8bit: true\nmodel: a/b\n",
        "load_in_8bit: maybe\nmodel: a/b\n",
        "optim: adamw_bnb_8bit\nmodel: a/b\n",
    ],
)
def test_what_is_no_load_by_bitsandbytes_says_nothing(text: str) -> None:
    _, facts = read("app.yaml", text)
    assert not facts.of(Quantization)


def test_axolotl_trains() -> None:
    text = "base_model: a/b-7b\nload_in_8bit: true\nadapter: lora\ndatasets:\n  - path: x\n"
    assert load("lora.yml", text).role is Role.TRAINING


def test_llama_factory_infers_unless_it_trains() -> None:
    text = "model_name_or_path: a/b-7b\nquantization_bit: 8\ninfer_backend: huggingface\n"
    found = load("infer.yaml", text)
    assert found.role is Role.INFERENCE
    assert found.quantization is not None
    assert found.quantization.method.is_(Method.INT8)
    assert not found.quantization.threshold_settable
    edited = apply(text, found.editor.edits(Drop("quantization")))
    assert edited == text.replace("quantization_bit: 8\n", "")
    assert load("sft.yaml", text + "stage: sft\ndo_train: true\n").role is Role.TRAINING
    _, facts = read("infer.yaml", text.replace("huggingface", "vllm"))
    assert not facts.of(Quantization)


def test_the_web_ui_keeps_settings_by_a_pattern_of_names() -> None:
    text = "Mistral-7B.*$:\n  loader: Transformers\n  load_in_8bit: true\n"
    found = load("models/config-user.yaml", text)
    assert found.model.value == "Mistral-7B"
    assert found.quantization is not None
    assert found.quantization.library == "text-generation-webui"


def test_litgpt_names_a_mode() -> None:
    text = "checkpoint_dir: checkpoints/mistralai/Mistral-7B-v0.1\nquantize: bnb.int8\n"
    found = load("serve.yaml", text)
    assert found.quantization is not None
    assert found.quantization.method.is_(Method.INT8)


def test_lm_eval_takes_pairs_in_a_string() -> None:
    text = "model: hf\nmodel_args: pretrained=a/b-7b,load_in_8bit=True\ntasks: [mmlu]\n"
    found = load("eval.yaml", text)
    assert found.role is Role.EVALUATION
    assert found.model.value == "a/b-7b"
    assert found.quantization is not None
    edited = apply(text, found.quantization.editor.edits(Set("threshold", 0.0)))
    assert "load_in_8bit=True,llm_int8_threshold=0.0\n" in edited


def test_a_report_of_lm_eval_is_history() -> None:
    text = '{"results": {}, "config": {"model": "hf", "model_args": "load_in_8bit=True"}}'
    _, facts = read("results.json", text)
    assert not facts


def test_a_table_of_toml_names_model_and_quantisation() -> None:
    text = (
        '[model]\nid = "a/b-7b"  # ours\n\n[model.quantization]\nbackend = "bitsandbytes"\n'
        "load_in_8bit = true\n"
    )
    found = load("service.toml", text)
    assert found.model.value == "a/b-7b"
    assert found.quantization is not None
    edited = apply(text, found.quantization.editor.edits(Set("threshold", 0.0)))
    assert edited == text + "llm_int8_threshold = 0.0\n"
    edited = apply(text, found.editor.edits(Drop("quantization")))
    assert edited == '[model]\nid = "a/b-7b"  # ours\n\n'


# --- saved checkpoints --------------------------------------------------------------------

SHAPE = (
    '"architectures": ["Qwen2ForCausalLM"], "hidden_size": 896, "intermediate_size": 4864, '
    '"num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2, '
    '"vocab_size": 151936, "tie_word_embeddings": true'
)


def test_a_checkpoint_keeps_its_quantisation_and_may_change_the_threshold() -> None:
    text = (
        '{"quantization_config": {"_load_in_8bit": true, "llm_int8_threshold": 6.0, '
        f'"bnb_4bit_quant_type": "fp4", "quant_method": "bitsandbytes"}}, {SHAPE}}}'
    )
    found = load("model/config.json", text)
    assert found.quantization is not None
    assert found.quantization.method.is_(Method.INT8)
    assert found.params_b.value == pytest.approx(0.494, abs=0.01)
    assert found.editor.edits(Drop("quantization")) is None
    edited = apply(text, found.quantization.editor.edits(Set("threshold", 0.0)))
    assert edited == text.replace("6.0", "0.0")


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ("4096, 'num_hidden_layers': 32, 'vocab_size': 32000, 'intermediate_size': 11008, "
         "'num_attention_heads': 32", 6.74),
        ("4096, 'num_hidden_layers': 32, 'vocab_size': 32000, 'intermediate_size': 14336, "
         "'num_attention_heads': 32, 'num_key_value_heads': 8, 'num_local_experts': 8", 46.7),
        ("2560, 'num_hidden_layers': 32, 'vocab_size': 51200, 'intermediate_size': 10240, "
         "'num_attention_heads': 32, 'model_type': 'phi', 'tie_word_embeddings': false", 2.78),
    ],
)  # fmt: skip
def test_sizes_come_from_the_dimensions(shape: str, size: float) -> None:
    text = f'{{"hidden_size": {shape}, "use_cache": false}}'.replace("'", '"')
    assert load("config.json", text).params_b.value == pytest.approx(size, rel=0.02)


@pytest.mark.parametrize(
    ("config", "method"),
    [
        ('{"quant_method": "torchao", "quant_type": {"default": '
         '{"_type": "Float8WeightOnlyConfig", "_data": {}}}}', Method.FP8_WEIGHT_ONLY),
        ('{"quant_method": "torchao", "quant_type": "int8_weight_only"}', Method.TORCHAO_INT),
        ('{"quant_method": "gptq", "bits": 4}', Method.GPTQ),
        ('{"quant_method": "fp8"}', Method.FP8),
        ('{"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_quant_type": "nf4"}',
         Method.NF4),
    ],
)  # fmt: skip
def test_a_checkpoint_names_its_quantiser(config: str, method: Method) -> None:
    text = f'{{"quantization_config": {config}, {SHAPE}}}'
    found = load("config.json", text)
    assert found.quantization is not None
    assert found.quantization.method.is_(method)


def test_a_cache_left_off_is_switched_on() -> None:
    text = f'{{\n  {SHAPE},\n  "use_cache": false\n}}\n'
    found = load("config.json", text)
    assert found.generates
    assert found.modality == "causal"
    assert found.use_cache.is_(False)
    edited = apply(text, found.editor.edits(Set("use_cache", True)))
    assert edited == text.replace('"use_cache": false', '"use_cache": true')


def test_generation_settings_switch_off_cache_and_compiler() -> None:
    text = '{\n  "eos_token_id": 2,\n  "disable_compile": true,\n  "use_cache": false\n}\n'
    _, facts = read("generation_config.json", text)
    assert facts.of(ModelLoad)[0].use_cache.is_(False)
    (off,) = facts.of(Compilation)
    edited = apply(text, off.editor.edits(Drop("compile_off")))
    assert edited == text.replace('  "disable_compile": true,\n', "")


@pytest.mark.parametrize(
    "text",
    [
        '{"use_cache": false, "cache_dir": "x"}',
        '{"http": {"use_cache": false, "ttl": 1}}',
        '{"llm": {"use_cache": false, "temperature": 0, "model": "gpt-4"}}',
        '{"retriever": {"use_cache": false, "top_k": 5}}',
    ],
)
def test_other_caches_are_none_of_ours(text: str) -> None:
    _, facts = read("config.json", text)
    assert not facts


# --- services -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "environment: production\nmodel: mistralai/Mistral-7B-v0.1\nbatch_size: 1\n",
        "production: true\nmodel: mistralai/Mistral-7B-v0.1\nbatch_size: 1\n",
        "port: 8000\nmodel: mistralai/Mistral-7B-v0.1\nbatch_size: 1\n",
        "serving:\n  model: mistralai/Mistral-7B-v0.1\n  batch_size: 1\n",
    ],
)
def test_a_service_in_production_that_takes_one_at_a_time(text: str) -> None:
    found = serving("settings.yaml", text)
    assert found.concurrency.is_(1)
    edited = apply(text, found.editor.edits(Set("concurrency", 8)))
    assert edited == text.replace("batch_size: 1", "batch_size: 8")


@pytest.mark.parametrize(
    "text",
    [
        "model: mistralai/Mistral-7B-v0.1\nbatch_size: 1\n",
        "production: true\nmodel: resnet50\nbatch_size: 1\n",
        "production: true\nmodel: google-bert/bert-base-uncased\nbatch_size: 1\n",
        "production: true\nmodel: a/b-7b\nbatch_size: 1\nlearning_rate: 1e-5\n",
        "production: true\nmodel: a/b-7b\nmicro_batch_size: 1\n",
    ],
)
def test_other_batch_sizes_of_one_say_nothing(text: str) -> None:
    _, facts = read("settings.yaml", text)
    assert not facts.of(Serving)


# --- pipelines and machines -----------------------------------------------------------------------

WORKFLOW = """\
name: nightly
on: {schedule: [{cron: "0 3 * * *"}]}
jobs:
  JOB:
    runs-on: ubuntu-latest
    strategy: {matrix: {batch_size: [1, 8], load_in_8bit: [true]}}
    steps:
      - run: |
          pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu128
          COMMAND
"""


@pytest.mark.parametrize(
    ("job", "command", "role"),
    [
        ("release", "python -m build", Role.INFERENCE),
        ("unit-tests", "true", Role.TEST),
        ("release", "pytest -q", Role.TEST),
        ("benchmarks", "true", Role.BENCHMARK),
    ],
)
def test_a_job_is_a_test_by_its_name_or_commands(job: str, command: str, role: Role) -> None:
    text = WORKFLOW.replace("JOB", job).replace("COMMAND", command)
    _, facts = read(".github/workflows/w.yml", text)
    (found,) = facts.items
    assert isinstance(found, Package)
    assert (found.channel, found.role) == (Channel.NIGHTLY, role)


def test_skypilot_names_accelerators_and_runs_a_script() -> None:
    text = (
        "resources:\n  accelerators: {L4: 1, A100: 8}\nrun: |\n  vllm serve a/b-7b \\\n"
        "    --max-num-seqs 1\n"
    )
    _, facts = read("task.yaml", text)
    assert [(one.gpu, one.count) for one in facts.of(Hardware)] == [("L4", 1), ("A100", 8)]
    assert facts.of(Serving)[0].concurrency.is_(1)


@pytest.mark.parametrize(
    ("text", "gpu", "kind"),
    [
        ("resources: {accelerators: 'H100:2'}", "H100", "skypilot_accelerator"),
        ("resources: {instance_type: g5.xlarge}", "g5.xlarge", "aws_instance"),
        ("nodePools: [{machineType: g2-standard-4}]", "g2-standard-4", "gcp_machine"),
        ("resources: {gpu: 'A100:80GB:2'}", "A100", "name"),
        ("resources: {gpu: 1, gpu_type: nvidia-l4}", "nvidia-l4", "bentoml_gpu_type"),
        ("compute: {accelerator: gpu, instanceType: nvidia-a10g, instanceSize: x1}",
         "nvidia-a10g", "hf_endpoints_instance_type"),
    ],
)  # fmt: skip
def test_machines_tell_their_gpu(text: str, gpu: str, kind: str) -> None:
    _, facts = read("machine.yaml", text + "\n")
    assert [(one.gpu, one.kind) for one in facts.of(Hardware)] == [(gpu, kind)]


def test_a_machine_without_a_gpu_says_nothing() -> None:
    _, facts = read("machine.yaml", "instance_type: m5.large\nresources: {gpu: 24GB}\n")
    assert not facts


def test_packages_of_a_bento_come_from_a_nightly_index() -> None:
    text = (
        "python:\n  packages:\n    - torch\n  pip_args: --pre\n"
        "  extra_index_url:\n    - https://download.pytorch.org/whl/nightly/cu128\n"
    )
    _, facts = read("bentofile.yaml", text)
    (found,) = facts.of(Package)
    assert found.channel is Channel.NIGHTLY
    assert "nightly" in said(text, found.span)


def test_every_family_is_a_module() -> None:
    from ecolint.frontends import configs

    folder = Path(configs.__file__).parent
    for family in configs.FAMILIES:
        assert (folder / f"{family}.py").exists()
