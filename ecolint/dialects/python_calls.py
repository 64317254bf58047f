"""Python calls that configure inference: who makes what, and how the arguments are named.

Sources: transformers 4.22-5.24, diffusers 0.42, accelerate 1.15, peft, optimum, torchao
0.4-0.18, bitsandbytes 0.37-0.50, sentence-transformers 6.2, langchain-huggingface 1.2,
llama-index, haystack, unsloth 2026.10, trl 1.16, vllm 0.6-0.33, sglang 0.4-0.5.23,
lmdeploy 0.18, tensorrt-llm, litgpt 0.5, litserve 0.2, ray 2.60, bentoml 1.4, modal, as read
in their packages.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as attribute
from enum import Enum

from ecolint.dialects.bitsandbytes import CONFIG_OPTIONS
from ecolint.facts import Method


class Makes(Enum):
    """What a call gives."""

    BNB_CONFIG = "a bitsandbytes configuration"
    BNB_LAYER = "a bitsandbytes layer"
    TORCHAO_CONFIG = "a torchao configuration"
    TORCHAO_HOLDER = "a transformers configuration that holds a torchao one"
    OTHER_CONFIG = "another quantiser's configuration"
    NAMED_BACKEND = "a configuration that names its backend"
    QUANTIZE = "a model quantised in place"
    LOAD = "a model"
    PIPELINE = "a pipeline"
    ENGINE = "a serving engine"
    GENERATION_CONFIG = "a generation configuration"
    COMPILE = "a compiled model"
    BATCHER = "a batching decorator or API"
    HARDWARE = "a GPU request"


@dataclass(frozen=True, slots=True)
class Callee:
    """A function or class we know.

    Args:
        names: the last part of the dotted name, or the last two joined by a dot.
        roots: packages it may come from; empty means any, and also no import at all.
        makes: what a call gives.
        positional: names of the leading parameters.
        library: the dialect that reads its options.
        nested: options that hold a dict of further options.
        model: options that hold the model's id.
        method: the scheme it stands for, for quantiser configurations.
        implied: options that the library sets when the author does not.
        modality: what the loaded model works on.
    """

    names: tuple[str, ...]
    roots: tuple[str, ...]
    makes: Makes
    positional: tuple[str, ...] = ()
    library: str = "transformers"
    nested: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    method: Method = Method.NONE
    implied: Mapping[str, object] = attribute(default_factory=dict)
    modality: str = ""


_MODEL = ("pretrained_model_name_or_path", "model_name", "model_id", "model", "base_model")
_LINEAR8 = ("in_features", "out_features", "bias", "has_fp16_weights", "threshold")

CALLEES: tuple[Callee, ...] = (
    # configurations
    Callee(("BitsAndBytesConfig",), (), Makes.BNB_CONFIG, CONFIG_OPTIONS),
    Callee(("BitsAndBytesConfig.from_dict",), (), Makes.BNB_CONFIG, ("config_dict",),
           nested=("config_dict",)),
    Callee(("BitsAndBytesConfig",), ("diffusers",), Makes.BNB_CONFIG, CONFIG_OPTIONS, "diffusers"),
    Callee(("BnbQuantizationConfig",), (), Makes.BNB_CONFIG, CONFIG_OPTIONS, "accelerate"),
    Callee(("Linear8bitLt",), (), Makes.BNB_LAYER, _LINEAR8, "bitsandbytes"),
    Callee(("PipelineQuantizationConfig",), (), Makes.NAMED_BACKEND,
           ("quant_backend", "quant_kwargs", "components_to_quantize"), "diffusers"),
    Callee(("BitsandbytesPrecision",), (), Makes.NAMED_BACKEND, ("mode",), "lightning"),
    Callee(("GPTQConfig",), (), Makes.OTHER_CONFIG, method=Method.GPTQ),
    Callee(("AwqConfig",), (), Makes.OTHER_CONFIG, method=Method.AWQ),
    Callee(("HqqConfig",), (), Makes.OTHER_CONFIG, method=Method.HQQ),
    Callee(("FineGrainedFP8Config", "FbgemmFp8Config"), (), Makes.OTHER_CONFIG,
           method=Method.FP8),
    Callee(("QuantoConfig", "EetqConfig", "AqlmConfig", "HiggsConfig", "CompressedTensorsConfig",
            "Mxfp4Config", "VptqConfig", "GGUFQuantizationConfig", "AutoRoundConfig"),
           (), Makes.OTHER_CONFIG, method=Method.OTHER),
    # torchao
    Callee(("Float8WeightOnlyConfig", "float8_weight_only"), (), Makes.TORCHAO_CONFIG,
           library="torchao", method=Method.FP8_WEIGHT_ONLY),
    Callee(("Float8DynamicActivationFloat8WeightConfig", "Float8StaticActivationFloat8WeightConfig",
            "Float8DynamicActivationFloat8SemiSparseWeightConfig",
            "float8_dynamic_activation_float8_weight", "float8_static_activation_float8_weight"),
           (), Makes.TORCHAO_CONFIG, library="torchao", method=Method.FP8_DYNAMIC),
    Callee(("Int8WeightOnlyConfig", "Int8DynamicActivationInt8WeightConfig",
            "Int4WeightOnlyConfig", "Int8DynamicActivationIntxWeightConfig",
            "IntxWeightOnlyConfig", "Int8StaticActivationInt8WeightConfig",
            "UIntXWeightOnlyConfig", "Int8DynamicActivationInt4WeightConfig",
            "int8_weight_only", "int4_weight_only", "int8_dynamic_activation_int8_weight",
            "int8_dynamic_activation_int4_weight", "uintx_weight_only"),
           (), Makes.TORCHAO_CONFIG, library="torchao", method=Method.TORCHAO_INT),
    Callee(("TorchAoConfig",), (), Makes.TORCHAO_HOLDER, ("quant_type",), "torchao"),
    Callee(("quantize_",), (), Makes.QUANTIZE, ("model", "config"), "torchao"),
    # loads
    Callee(("FastLanguageModel.from_pretrained", "FastModel.from_pretrained",
            "FastVisionModel.from_pretrained", "FastLlamaModel.from_pretrained",
            "FastMistralModel.from_pretrained", "FastQwen2Model.from_pretrained"),
           ("unsloth", "?"), Makes.LOAD, ("model_name", "max_seq_length", "dtype", "load_in_4bit"),
           "unsloth", model=_MODEL, implied={"load_in_4bit": True}, modality="causal"),
    Callee(("from_pretrained",), (), Makes.LOAD, ("pretrained_model_name_or_path",),
           nested=("model_kwargs",), model=_MODEL),
    Callee(("PeftModel.from_pretrained", "PeftModelForCausalLM.from_pretrained"), (), Makes.LOAD,
           ("model", "model_id"), "peft", model=("model_id",)),
    Callee(("from_pretrained",), ("diffusers",), Makes.LOAD, ("pretrained_model_name_or_path",),
           "diffusers", model=_MODEL, modality="diffusion"),
    Callee(("SentenceTransformer", "CrossEncoder"), ("sentence_transformers",), Makes.LOAD,
           ("model_name_or_path",), nested=("model_kwargs",), model=("model_name_or_path",),
           modality="encoder"),
    Callee(("HuggingFaceEmbeddings", "HuggingFaceEmbedding", "HuggingFaceInstructEmbeddings",
            "HuggingFaceBgeEmbeddings"), (), Makes.LOAD, (), nested=("model_kwargs",),
           model=("model_name",), modality="encoder"),
    Callee(("HuggingFacePipeline.from_model_id",), (), Makes.LOAD, ("model_id", "task"),
           "langchain", nested=("model_kwargs", "pipeline_kwargs"), model=("model_id",),
           modality="causal"),
    Callee(("HuggingFaceLLM",), (), Makes.LOAD, (), "llama-index",
           nested=("model_kwargs", "generate_kwargs"),
           model=("model_name",), modality="causal"),
    Callee(("HuggingFaceLocalGenerator", "HuggingFaceLocalChatGenerator"), (), Makes.LOAD,
           ("model",), "haystack",
           nested=("huggingface_pipeline_kwargs", "model_kwargs", "generation_kwargs"),
           model=("model",),
           modality="causal"),
    Callee(("HFLM",), (), Makes.LOAD, ("pretrained",), "lm-eval", model=("pretrained",),
           modality="causal"),
    Callee(("load_and_quantize_model",), (), Makes.LOAD, ("model",), "accelerate",
           model=("weights_location",)),
    Callee(("pipeline",), ("transformers", "optimum", "?"), Makes.PIPELINE,
           ("task", "model", "config", "tokenizer"), nested=("model_kwargs", "generate_kwargs"),
           model=("model",)),
    # engines
    Callee(("LLM", "AsyncLLM", "EngineArgs", "AsyncEngineArgs", "LLM.from_engine_args"),
           ("vllm",), Makes.ENGINE, ("model",), "vllm"),
    Callee(("EngineArgs", "AsyncEngineArgs"), (), Makes.ENGINE, ("model",), "vllm"),
    Callee(("VLLM", "VLLMOpenAI", "Vllm"),
           ("langchain", "langchain_community", "llama_index"), Makes.ENGINE, (), "vllm",
           nested=("vllm_kwargs",)),
    Callee(("LLMConfig",), ("ray",), Makes.ENGINE, (), "vllm",
           nested=("engine_kwargs", "model_loading_config")),
    Callee(("Engine", "Runtime", "ServerArgs"), ("sglang",), Makes.ENGINE, (), "sglang"),
    Callee(("PytorchEngineConfig", "TurbomindEngineConfig"), (), Makes.ENGINE, (), "lmdeploy"),
    Callee(("LLM",), ("tensorrt_llm",), Makes.ENGINE, ("model",), "tensorrt-llm"),
    Callee(("LLM.load",), ("litgpt",), Makes.NAMED_BACKEND, ("model",), "lightning"),
    Callee(("LitServer",), ("litserve",), Makes.ENGINE, ("lit_api",), "litserve"),
    # batching
    Callee(("batch",), ("ray", "serve"), Makes.BATCHER, (), "ray-serve"),
    Callee(("deployment",), ("ray", "serve"), Makes.BATCHER, (), "ray-serve"),
    Callee(("api",), ("bentoml",), Makes.BATCHER, (), "bentoml"),
    # compilation and generation
    Callee(("compile",), ("torch",), Makes.COMPILE, ("model",), "torch"),
    Callee(("GenerationConfig",), (), Makes.GENERATION_CONFIG, ()),
)  # fmt: skip

# Classes whose from_pretrained loads no weights onto the GPU.
NOT_MODELS = (
    "Tokenizer", "TokenizerFast", "Processor", "Config", "FeatureExtractor", "ImageProcessor",
    "Scheduler", "Hub",
)  # fmt: skip

# Packages whose loaders take the same options and do something else with them.
OTHER_LOADERS = frozenset(
    {
        "bigdl", "ipex_llm", "mlx", "mlx_lm", "mlx_vlm", "unsloth_zoo", "optimum", "openvino",
        "intel_extension_for_transformers", "neural_compressor", "ctransformers", "paddlenlp",
        "mindnlp", "gptqmodel", "onnxruntime_genai", "exllamav2", "fairseq", "spacy",
    }
)  # fmt: skip

# What a model class works on, by how its name ends or begins; the first that fits.
MODALITIES = (
    ("ForSpeechSeq2Seq", "audio"), ("ForCTC", "audio"), ("ForAudioClassification", "audio"),
    ("Whisper", "audio"), ("Blip", "vision"), ("Pix2Struct", "vision"),
    ("VisionEncoderDecoder", "vision"), ("TrOCR", "vision"), ("MusicGen", "audio"),
    ("Bark", "audio"), ("SpeechT5", "audio"), ("ForSequenceClassification", "encoder"),
    ("ForTokenClassification", "encoder"), ("ForMaskedLM", "encoder"),
    ("ForQuestionAnswering", "encoder"), ("ForImageClassification", "vision-encoder"),
    ("ForObjectDetection", "vision-encoder"), ("ForSemanticSegmentation", "vision-encoder"),
    ("SentenceTransformer", "encoder"), ("Bert", "encoder"), ("Roberta", "encoder"),
    ("T5Encoder", "encoder"), ("CLIP", "vision-encoder"), ("Mamba", "ssm"), ("Rwkv", "ssm"),
    ("Transformer2DModel", "diffusion"), ("UNet", "diffusion"), ("DiffusionPipeline", "diffusion"),
    ("ForCausalLM", "causal"), ("LMHeadModel", "causal"), ("ForSeq2SeqLM", "causal"),
    ("ForConditionalGeneration", "causal"), ("ForVision2Seq", "causal"),
    ("ForImageTextToText", "causal"), ("WithValueHead", "causal"),
)  # fmt: skip

TEXT_TASKS = frozenset(
    {"text-generation", "text2text-generation", "summarization", "translation", "conversational",
     "image-text-to-text"}
)  # fmt: skip


def _index() -> dict[str, tuple[Callee, ...]]:
    found: dict[str, list[Callee]] = {}
    for callee in CALLEES:
        for name in callee.names:
            found.setdefault(name, []).append(callee)
    return {name: tuple(sorted(group, key=lambda c: not c.roots)) for name, group in found.items()}


BY_NAME = _index()


def modality(owner: str) -> str:
    """What a model class works on, by its name; empty when that says nothing."""
    return next((kind for mark, kind in MODALITIES if mark in owner), "")


def find(target: str) -> Callee | None:
    """The callee of a dotted name, most specific first; None when we know none.

    A name that nothing imports has the root `?`; a relative import starts with a dot.
    """
    parts = target.split(".")
    root = parts[0] or "."
    inner = {part for part in parts if part}
    for width in (2, 1):
        for callee in BY_NAME.get(".".join(parts[-width:]), ()):
            if (
                not callee.roots
                or root in callee.roots
                or (inner & set(callee.roots) and root != "?")
            ):
                return callee
            if root == "?" and "?" in callee.roots:
                return callee
    return None
