"""Models loaded with bitsandbytes because a key says so: frameworks' files and own settings."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ecolint.assemble import bitsandbytes, scheme
from ecolint.dialects import Scheme, Wrapper
from ecolint.dialects.bitsandbytes import CONFIG_OPTIONS, WRAPPERS
from ecolint.dialects.configs import ENGINE_KEYS, NAMED_SCHEMES, modality_of
from ecolint.dialects.launchers import FACTORY_METHODS, OTHER_DEVICES, OWN_SCRIPT
from ecolint.embedded import EmbeddedEditor, read_pairs
from ecolint.facts import Editor, ModelLoad, Quantization, Role, Setting, State, Via
from ecolint.frontends.configs.huggingface import torchao
from ecolint.frontends.configs.reading import Reading
from ecolint.frontends.entryedits import EntryEditor
from ecolint.frontends.mapping import (
    Entry,
    Form,
    Place,
    setting,
    settings,
    snake,
    text_setting,
    true_or_false,
)
from ecolint.frontends.scalartext import word
from ecolint.launching import BNB_FIELDS

_FLAGS = CONFIG_OPTIONS[:2]
_SECTION = re.compile(r"quant|bnb|bitsandbytes|model_kwargs|load_kwargs|from_pretrained|model_args")
_WEBUI_FILE = re.compile(r"(?:^|[/\\])config(?:-user)?\.yaml$")
# Arguments of from_pretrained: a mapping that holds one is handed to it as it is.
_LOADING = frozenset(
    {"device_map", "torch_dtype", "attn_implementation", "low_cpu_mem_usage", "quant_method",
     "hf_model_class"}
)  # fmt: skip
# Runtimes with an option of the same name.
_OTHER_RUNTIMES = re.compile(r"openvino|onnx|ipex|neural|mlx|llama[._-]?cpp|gguf|ctranslate2")
_BACKEND_KEYS = ("backend", "quant_backend", "library", "quantizer", "quantization_backend")
_AXOLOTL = frozenset({"adapter", "sequence_len", "micro_batch_size", "datasets", "flash_attention"})
_NAMES: Mapping[str, str] = {
    "threshold": "llm_int8_threshold",
    "compute_dtype": "bnb_4bit_compute_dtype",
    "quant_type": "bnb_4bit_quant_type",
    "double_quant": "bnb_4bit_use_double_quant",
}


def read(place: Place, reading: Reading) -> None:
    """The facts of a load that a mapping describes."""
    names = place.node.names
    if "quantization_bit" in names:
        _llama_factory(place, reading)
    elif "model_args" in names and names["model_args"].value.form is Form.SCALAR:
        _lm_eval(place, reading)
    elif any(name in names for name in _FLAGS):
        _bitsandbytes(place, reading)
    elif "quant_type" in names and place.node.string("quant_method", *_BACKEND_KEYS) == "torchao":
        quantization = torchao(place, reading.role(place))
        if quantization is not None:
            _load(place, reading, quantization, quantization.editor, "transformers")
    else:
        _named(place, reading)


# --- bitsandbytes' own options ------------------------------------------------------------------


def _bitsandbytes(place: Place, reading: Reading) -> None:
    options = _options(place)
    role, wrapper = _wrapper(place, reading)
    if wrapper is None:
        return
    entries = place.node.names
    on = next((name for name in _FLAGS if options.get(name, Setting()).is_(True)), None)
    if on is None:
        return
    inner = place.node.child("bnb_config_kwargs")
    if inner is not None:
        below = place.below(entries["bnb_config_kwargs"])
        options |= {name: each for name, each in settings(below).items() if name in CONFIG_OPTIONS}
        reading.take(inner)
    known = {name: each for name, each in options.items() if name.startswith(_OPTION_STARTS)}
    editor = _editor(place, wrapper, entries, on)
    span = options[on].span or place.source.view.span(entries[on].key_start, entries[on].end)
    quantization = bitsandbytes(
        known, wrapper, span=span, spelled=entries[on].key, editor=editor, role=role
    )
    if quantization is not None:
        _load(place, reading, quantization, editor, wrapper.name)


_OPTION_STARTS = ("load_in_", "llm_int8", "bnb_4bit", "llm_int", "bnb_")


def _options(place: Place) -> dict[str, Setting[Any]]:
    options = settings(place)
    for name in (*_FLAGS, "bnb_4bit_use_double_quant"):
        if name in options:
            options[name] = true_or_false(options[name])
    return options


def _editor(place: Place, wrapper: Wrapper, entries: Mapping[str, Entry], on: str) -> EntryEditor:
    """The editor of one load: sections that are handed on lose the options, settings turn off."""
    fields: dict[str, list[Entry]] = {}
    for field, options in BNB_FIELDS.items():
        given = [entries[name] for name in options if name in entries]
        if given:
            fields[field] = given
    fields["quantization"] = [
        *fields.get("quantization", ()),
        *(entries[n] for n in ("quant_method", *_BACKEND_KEYS) if _is_bitsandbytes(entries.get(n))),
    ]
    whole = _SECTION.search(place.key) is not None and place.key != "model_args"
    switched = frozenset() if whole else frozenset({"quantization"})
    return EntryEditor(
        place.source, fields, _NAMES if wrapper.settable else {}, entries[on], switched
    )


def _is_bitsandbytes(entry: Entry | None) -> bool:
    return entry is not None and entry.value.text in ("bitsandbytes", "bnb")


def _wrapper(place: Place, reading: Reading) -> tuple[Role, Wrapper | None]:
    """Whose options these are, and what for; no wrapper where nothing says that it is a load."""
    role = reading.role(place)
    names = place.node.names.keys()
    device = _nearest(place, "device", "device_map")
    if device.is_(*OTHER_DEVICES) or _runs_elsewhere(place):
        return role, None
    if "base_model" in names and _AXOLOTL & names:
        return Role.TRAINING, WRAPPERS["axolotl"]
    if place.key == "model_args":
        return Role.EVALUATION, WRAPPERS["lm-eval"]
    if "loader" in names or (_WEBUI_FILE.search(reading.document.path) and _matches(place)):
        return Role.SERVICE, WRAPPERS["text-generation-webui"]
    if any("_class_name" in outer.node.names for outer in place.outwards()):
        return role, WRAPPERS["diffusers"]
    companions = (_LOADING & names) or any(
        name.startswith(("llm_int8", "bnb_4bit")) for name in names
    )
    backend = place.node.string(*_BACKEND_KEYS) in ("bitsandbytes", "bnb")
    if companions or backend or (_SECTION.search(place.key) and place.up is not None):
        return role, WRAPPERS["transformers"]
    if reading.model(place).absent:
        return role, None
    return role, OWN_SCRIPT.wrapper


def _runs_elsewhere(place: Place) -> bool:
    """Whether the settings name a runtime that has nothing to do with bitsandbytes."""
    return any(
        _OTHER_RUNTIMES.search(outer.node.string(key).lower())
        for outer in place.outwards()
        for key in (*ENGINE_KEYS, "name", "loader")
    )


def _nearest(place: Place, *names: str) -> Setting[str]:
    """A text that a mapping, or the closest one around it that does, gives."""
    for outer in place.outwards():
        entry = outer.node.get(*names)
        if entry is not None and entry.value.form is Form.SCALAR:
            return text_setting(setting(outer, entry))
    return Setting()


def _matches(place: Place) -> bool:
    """Whether the mapping stands under a pattern of model names, as in the web UI's file."""
    return place.entry is not None and place.entry.key.endswith("$")


def _load(
    place: Place, reading: Reading, quantization: Quantization, editor: Editor, library: str
) -> None:
    model = reading.model(place)
    if model.absent and _matches(place) and place.entry is not None:
        name = re.sub(r"[.*$^\\]+$", "", place.entry.key)
        span = place.source.view.span(place.entry.key_start, place.entry.key_end)
        model = Setting(State.KNOWN, name, span, Via.RESOLVED, "")
    reading.facts += [
        quantization,
        ModelLoad(
            quantization.span,
            library,
            "transformers",
            model=model,
            quantization=quantization,
            dtype=_nearest(place, "dtype", "torch_dtype"),
            device=_nearest(place, "device", "device_map"),
            modality="diffusion" if library == "diffusers" else _modality(model),
            generates=True,
            role=quantization.role,
            editor=editor,
        ),
    ]


def _modality(model: Setting[str]) -> str:
    return modality_of(str(model.value)) if model.known else ""


# --- frameworks ------------------------------------------------------------------


def _llama_factory(place: Place, reading: Reading) -> None:
    """`quantization_bit: 8`, which bitsandbytes carries out unless another method is named."""
    node = place.node
    entry = node.names["quantization_bit"]
    bits = setting(place, entry)
    if isinstance(bits.value, str) and bits.value.isdigit():
        bits = replace(bits, value=int(bits.value))
    backend = node.string("infer_backend").lower()
    if backend not in ("", "huggingface", "hf") or not bits.known:
        return
    role = reading.role(place)
    method = node.string("quantization_method").lower()
    names = ("quantization_bit", "quantization_method", "quantization_type", "double_quantization")
    editor = EntryEditor(
        place.source, {"quantization": [node.names[name] for name in names if name in node.names]}
    )
    if method in FACTORY_METHODS:
        found: Quantization | None = scheme(
            bits, Scheme(FACTORY_METHODS[method]), "llamafactory", spelled=entry.key,
            editor=editor, role=role,
        )  # fmt: skip
    elif method in ("", "bnb", "bitsandbytes") and bits.is_(4, 8):
        options = {f"load_in_{bits.value}bit": replace(bits, value=True)}
        kind = node.string("quantization_type")
        if kind in ("fp4", "nf4"):
            options["bnb_4bit_quant_type"] = setting(place, node.names["quantization_type"])
        span = bits.span or place.source.view.span(entry.key_start, entry.end)
        found = bitsandbytes(
            options, WRAPPERS["llamafactory"], span=span, spelled=entry.key, editor=editor,
            role=role,
        )  # fmt: skip
    else:
        return
    if found is not None:
        _load(place, reading, found, editor, "llamafactory")


def _lm_eval(place: Place, reading: Reading) -> None:
    """lm-eval's `model_args: pretrained=…,load_in_8bit=True`; a report of results is none."""
    node = place.node
    if "results" in place.root().names or "git_hash" in place.root().names:
        return
    if not node.string("model").startswith(("hf", "huggingface")) and "model" in node.names:
        return
    items = read_pairs([word(place.source, node.names["model_args"].value)])
    options = {item.key: item.setting() for item in items}
    for name in _FLAGS:
        if name in options:
            options[name] = true_or_false(options[name])
    span = next((options[n].span for n in _FLAGS if options.get(n, Setting()).is_(True)), None)
    if span is None:
        return
    editor = EmbeddedEditor(tuple(items), BNB_FIELDS)
    quantization = bitsandbytes(
        options, WRAPPERS["lm-eval"], span=span, spelled="model_args", editor=editor,
        role=Role.EVALUATION,
    )  # fmt: skip
    if quantization is None:
        return
    model = text_setting(options.get("pretrained", Setting()))
    reading.facts += [
        quantization,
        ModelLoad(
            model.span or span, "lm-eval", "transformers", model=model, quantization=quantization,
            generates=True, role=Role.EVALUATION, editor=editor,
        ),
    ]  # fmt: skip


def _named(place: Place, reading: Reading) -> None:
    """`quantization: bnb-8bit` and the like beside a model."""
    entry = place.node.get("quantization", "quantize", "quantization_method", "quant_type")
    if entry is None or entry.value.form is not Form.SCALAR:
        return
    meaning = NAMED_SCHEMES.get(snake(entry.value.text))
    if meaning is None or reading.model(place).absent:
        return
    editor = EntryEditor(place.source, {"quantization": (entry,)})
    quantization = scheme(
        setting(place, entry), meaning, "transformers", spelled=entry.key, editor=editor,
        role=reading.role(place),
    )  # fmt: skip
    _load(place, reading, quantization, editor, "transformers")
