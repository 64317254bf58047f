"""bitsandbytes through the libraries that wrap it: option names and defaults.

Sources: transformers 4.31-5.24 utils/quantization_config.py, diffusers 0.42 quantizers,
accelerate 1.15 utils/dataclasses.py, unsloth 2026.10 models/loader.py, litgpt 0.5 with
lightning_fabric 2.6 plugins/precision/bitsandbytes.py, bitsandbytes 0.37-0.50 nn/modules.py.
"""

from ecolint.dialects import Wrapper

WRAPPERS = {
    wrapper.name: wrapper
    for wrapper in (
        Wrapper("transformers", float_threshold=True, ignores_unknown=True),
        Wrapper("diffusers", float_threshold=True, ignores_unknown=True),
        Wrapper("accelerate", compute_dtype="float16"),
        Wrapper("unsloth", quant_type="nf4", compute_dtype=None),
        Wrapper("trl", quant_type="nf4", compute_dtype=None),
        Wrapper("axolotl", quant_type="nf4", compute_dtype=None),
        Wrapper("llamafactory", quant_type="nf4", compute_dtype=None, settable=False),
        Wrapper("lm-eval", compute_dtype=None),
        Wrapper("text-generation-webui", quant_type="nf4", compute_dtype=None, settable=False),
        Wrapper("lightning", quant_type="nf4", compute_dtype=None, settable=False),
        Wrapper("transformers-serve", quant_type="nf4", compute_dtype=None, settable=False),
        # Raw layers: the outlier path is off unless a threshold is given.
        Wrapper("bitsandbytes", threshold=0.0, compute_dtype=None),
    )
}

# Options of BitsAndBytesConfig; any other keyword is ignored with an info log.
CONFIG_OPTIONS = (
    "load_in_8bit",
    "load_in_4bit",
    "llm_int8_threshold",
    "llm_int8_skip_modules",
    "llm_int8_enable_fp32_cpu_offload",
    "llm_int8_has_fp16_weight",
    "bnb_4bit_compute_dtype",
    "bnb_4bit_quant_type",
    "bnb_4bit_use_double_quant",
    "bnb_4bit_quant_storage",
)
ACCEPTED_BESIDES = ("quant_method", "_load_in_8bit", "_load_in_4bit", "modules_to_not_convert")
