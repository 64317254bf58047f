"""Saved checkpoints: transformers' config.json and generation_config.json, diffusers' too.

A checkpoint that was saved quantised is loaded so, whatever the code says; so its file may
be given another threshold, but the quantisation can't be taken out of it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ecolint.assemble import bitsandbytes, torchao_scheme
from ecolint.dialects import Scheme, Wrapper
from ecolint.dialects import python_calls as calls
from ecolint.dialects.bitsandbytes import CONFIG_OPTIONS, WRAPPERS
from ecolint.dialects.configs import SAVED_METHODS
from ecolint.facts import (
    Compilation,
    CompileState,
    ModelLoad,
    Quantization,
    Role,
    Setting,
    State,
    Via,
)
from ecolint.frontends.configs.reading import Reading
from ecolint.frontends.entryedits import EntryEditor
from ecolint.frontends.mapping import (
    Entry,
    Form,
    Node,
    Place,
    setting,
    settings,
    text_setting,
    true_or_false,
)

# Not `temperature` or `top_k`: clients of remote models and retrievers have those, and caches.
_GENERATION_KEYS = frozenset(
    {"max_new_tokens", "do_sample", "num_beams", "repetition_penalty", "eos_token_id",
     "bos_token_id", "pad_token_id", "transformers_version", "no_repeat_ngram_size"}
)  # fmt: skip
_SHAPE_KEYS = frozenset(
    {"hidden_size", "num_hidden_layers", "vocab_size", "architectures", "model_type", "n_embd",
     "torch_dtype", "num_attention_heads"}
)  # fmt: skip
# Their feed-forward block has two matrices and not three.
_UNGATED = frozenset(
    {"gpt2", "gpt_neo", "gpt_neox", "gptj", "opt", "bloom", "falcon", "phi", "codegen", "mpt",
     "starcoder2", "gpt_bigcode", "bert", "roberta", "stablelm_epoch", "persimmon", "RefinedWeb"}
)  # fmt: skip
_MODALITY_BY_TYPE = {
    "mamba": "ssm", "mamba2": "ssm", "falcon_mamba": "ssm", "rwkv": "ssm", "bert": "encoder",
    "roberta": "encoder", "distilbert": "encoder", "whisper": "audio", "clip": "vision-encoder",
}  # fmt: skip
_BILLION = 1e9


def read(place: Place, reading: Reading) -> None:
    """The facts of a saved configuration of a model or of its generation."""
    node = place.node
    if not _is_saved(place, reading):
        return
    role = reading.role(place)
    off = node.get("disable_compile")
    if off is not None:
        written = true_or_false(setting(place, off))
        if written.is_(True) and written.span is not None:
            editor = EntryEditor(place.source, {"compile_off": (off,), "disable_compile": (off,)})
            reading.facts.append(
                Compilation(written.span, CompileState.DISABLED, off.key, role, editor)
            )
    holder = node.get("quantization_config", "compression_config")
    quantization = _quantization(place, holder, role) if holder is not None else None
    cache_entry = node.get("use_cache")
    cache = true_or_false(setting(place, cache_entry)) if cache_entry is not None else Setting()
    if holder is not None and holder.value.form is Form.MAPPING:
        reading.take(holder.value)
    if quantization is None and not cache.is_(False):
        return
    reading.take(node)
    if quantization is not None:
        reading.facts.append(quantization)
    first = quantization.span if quantization is not None else cache.span
    assert first is not None
    dtype = node.get("dtype", "torch_dtype")
    edited = {
        field: (entry,)
        for field, entry in (("use_cache", cache_entry), ("dtype", dtype))
        if entry is not None
    }
    reading.facts.append(
        ModelLoad(
            first if not cache.is_(False) or cache.span is None else cache.span,
            "transformers",
            "transformers",
            model=_saved_name(place, reading),
            quantization=quantization,
            dtype=text_setting(setting(place, dtype)) if dtype is not None else Setting(),
            use_cache=cache,
            params_b=_size(place),
            modality=_modality(node),
            generates=True,
            role=role,
            editor=EntryEditor(place.source, edited),
        )
    )


def _is_saved(place: Place, reading: Reading) -> bool:
    """Whether a mapping is a model's or a generation's configuration, not an app's."""
    names = place.node.names.keys()
    if reading.name == "generation_config.json" and place.up is None:
        return True
    if reading.name == "config.json" and place.up is None:
        return bool({"quantization_config", "transformers_version"} & names | _SHAPE_KEYS & names)
    if "_class_name" in names or ("architectures" in names or "model_type" in names):
        return bool(_SHAPE_KEYS & names) or "_class_name" in names
    if not {"use_cache", "disable_compile"} & names:
        return False
    return bool(_GENERATION_KEYS & names) or len(_SHAPE_KEYS & names) >= 2


def _saved_name(place: Place, reading: Reading) -> Setting[str]:
    entry = place.node.get("_name_or_path", "name_or_path")
    if entry is not None and entry.value.text not in ("", ".", "./"):
        return text_setting(setting(place, entry))
    return reading.model(place)


def _modality(node: Node) -> str:
    if "_class_name" in node.names:
        return "diffusion"
    architectures = node.get("architectures")
    for item in architectures.value.items if architectures is not None else ():
        for mark, kind in calls.MODALITIES:
            if mark in item.text:
                return kind
    return _MODALITY_BY_TYPE.get(node.string("model_type"), "")


# --- quantisation ---------------------------------------------------------------------------


def _quantization(place: Place, holder: Entry, role: Role) -> Quantization | None:
    if holder.value.form is not Form.MAPPING:
        return None
    inner = place.below(holder)
    node = holder.value
    method = node.string("quant_method").lower()
    if method == "torchao" or (not method and "quant_type" in node.names):
        return torchao(inner, role)
    if method in SAVED_METHODS:
        entry = node.names["quant_method"]
        written = setting(inner, entry)
        named = replace(written, value=SAVED_METHODS[method])
        span = written.span or place.source.view.span(node.start, node.start)
        return Quantization(span, "transformers", entry.key, named, role=role)
    wrapper = WRAPPERS["diffusers" if "_class_name" in place.node.names else "transformers"]
    return saved_bitsandbytes(inner, wrapper, role, holder.key)


def saved_bitsandbytes(
    place: Place, wrapper: Wrapper, role: Role, spelled: str
) -> Quantization | None:
    """The bitsandbytes quantisation that a saved `quantization_config` holds."""
    options = settings(place)
    entries = dict(place.node.names)
    for name in ("load_in_8bit", "load_in_4bit"):
        if name in options:
            options[name] = true_or_false(options[name])
        elif f"_{name}" in options:
            options[name] = true_or_false(options[f"_{name}"])
            entries[name] = entries[f"_{name}"]
    on = next((n for n in CONFIG_OPTIONS[:2] if n in options and options[n].is_(True)), None)
    if on is None:
        return None
    span = options[on].span
    if span is None:
        return None
    names: Mapping[str, str] = {
        "threshold": "llm_int8_threshold",
        "compute_dtype": "bnb_4bit_compute_dtype",
        "quant_type": "bnb_4bit_quant_type",
    }
    fields = {field: (entries[name],) for field, name in names.items() if name in entries}
    return bitsandbytes(
        options,
        wrapper,
        span=span,
        spelled=spelled,
        editor=EntryEditor(place.source, fields, names, entries[on]),
        role=role,
    )


def torchao(place: Place, role: Role) -> Quantization | None:
    """The torchao scheme that a saved or written configuration names."""
    entry = place.node.get("quant_type", "scheme", "config", "torchao_config")
    if entry is None:
        return None
    found = _torchao_name(entry.value)
    if found is None:
        return None
    named, scheme = found
    span = place.source.view.span(named.start, named.end)
    written: Setting[Any] = Setting(
        State.KNOWN, scheme.method, span, Via.LITERAL, entry.key, literal=span
    )
    return Quantization(span, "torchao", named.text, written, role=role)


def _torchao_name(node: Node, depth: int = 4) -> tuple[Node, Scheme] | None:
    """The scalar that names a scheme: a short name, or `_type` some levels down."""
    if node.form is Form.SCALAR:
        callee = calls.find(node.text) if node.text.isidentifier() else None
        if callee is not None and callee.makes is calls.Makes.TORCHAO_CONFIG:
            return node, Scheme(callee.method)
        scheme = torchao_scheme(node.text)
        return None if scheme is None else (node, scheme)
    if depth == 0 or node.form is not Form.MAPPING:
        return None
    for name in ("_type", "default", "_data", "quant_type"):
        entry = node.names.get(name)
        found = _torchao_name(entry.value, depth - 1) if entry is not None else None
        if found is not None:
            return found
    return None


# --- size --------------------------------------------------------------------------------------


def _size(place: Place) -> Setting[float]:
    node = place.node
    inner = node.child("text_config", "llm_config") or node
    size = params_from_config(inner)
    if size is None:
        return Setting()
    entry = inner.get("hidden_size", "n_embd", "d_model")
    span = place.source.view.span(entry.key_start, entry.value.end) if entry is not None else None
    return Setting(State.KNOWN, size, span, Via.IMPLIED, entry.key if entry is not None else "")


def params_from_config(node: Node) -> float | None:
    """The parameters of a decoder, in billions, from its dimensions; None if they are missing.

    Embeddings, attention with grouped keys, and the feed-forward block of every layer (all
    experts counted); biases and norms, well below 1 %, are left out.
    """
    hidden = _number(node, "hidden_size", "n_embd", "d_model", "n_embed")
    layers = _number(node, "num_hidden_layers", "n_layer", "n_layers", "num_layers")
    vocabulary = _number(node, "vocab_size")
    if not hidden or not layers or not vocabulary:
        return None
    heads = _number(node, "num_attention_heads", "n_head", "n_heads") or 1
    kv_heads = _number(node, "num_key_value_heads", "num_kv_heads") or heads
    head_width = _number(node, "head_dim") or hidden // heads
    attention = 2 * hidden * heads * head_width + 2 * hidden * kv_heads * head_width
    width = _number(node, "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size")
    matrices = 2 if node.string("model_type") in _UNGATED else 3
    block = matrices * hidden * (width or 4 * hidden)
    experts = _number(node, "num_local_experts", "num_experts", "n_routed_experts")
    if experts:
        narrow = _number(node, "moe_intermediate_size") or width or 4 * hidden
        block = matrices * hidden * narrow * experts
    tied = node.scalar("tie_word_embeddings")
    separate = 1 if tied is not None and tied.value is True else 2
    if tied is None and matrices == 2:
        separate = 1
    return (separate * vocabulary * hidden + layers * (attention + block)) / _BILLION


def _number(node: Node, *names: str) -> int:
    scalar = node.scalar(*names)
    return scalar.value if scalar is not None and type(scalar.value) is int else 0
