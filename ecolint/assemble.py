"""Options under their own names in, facts out: the one place that knows what they mean.

Python keywords, YAML keys, flags and environment variables all end here, so a load means
the same wherever it is written. Front-ends say what is set; the dialect tables say how.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from ecolint.diagnostics import Span
from ecolint.dialects import Engine, Option, Scheme, Wrapper
from ecolint.dialects.bitsandbytes import ACCEPTED_BESIDES, CONFIG_OPTIONS
from ecolint.facts import (
    READ_ONLY,
    Editor,
    Fact,
    Method,
    Misspelling,
    ModelLoad,
    Quantization,
    Role,
    Serving,
    Setting,
    State,
    Via,
)

Options = Mapping[str, Setting[Any]]
_ABSENT: Setting[Any] = Setting()
# How repositories that bitsandbytes quantised are named.
PREQUANTISED = re.compile(r"-(unsloth-)?bnb-(4|8)bit$", re.IGNORECASE)


def default(value: Any, name: str = "") -> Setting[Any]:
    """A library's own default, as a known setting without a place."""
    return Setting(State.KNOWN, value, None, Via.DEFAULT, name)


def bitsandbytes(
    options: Options,
    wrapper: Wrapper,
    *,
    span: Span,
    spelled: str,
    editor: Editor = READ_ONLY,
    role: Role = Role.INFERENCE,
    removed: Setting[str] = _ABSENT,
) -> Quantization | None:
    """The quantisation that bitsandbytes options ask for; None where they ask for none.

    Args:
        options: settings under transformers' names (`load_in_8bit`, `llm_int8_threshold`, …).
        wrapper: the library that passes them on, for what it does with those left out.
        span: where the configuration stands as a whole.
        spelled: how the author calls it, for messages.
        editor: how to change it.
        role: what the surrounding code is for.
        removed: the loading keyword that newer versions refuse, where one carries it.
    """
    eight = options.get("load_in_8bit", _ABSENT)
    four = options.get("load_in_4bit", _ABSENT)
    misspellings = _misspellings(options, wrapper)
    if eight.is_(True) and four.is_(True) and four.span is not None:
        misspellings += (Misspelling(four.span, four.name, None, "conflict"),)
    threshold: Setting[float] = _ABSENT
    quant_type = options.get("bnb_4bit_quant_type", _ABSENT)
    if eight.is_(True):
        method = _method(eight, Method.INT8)
        threshold = _threshold(options.get("llm_int8_threshold", _ABSENT), wrapper)
    elif four.is_(True):
        if quant_type.absent and wrapper.quant_type:
            quant_type = default(wrapper.quant_type)
        # An unresolved type is one of the two, and both cost about the same.
        method = _method(four, Method.FP4 if quant_type.is_("fp4") else Method.NF4)
    else:
        return None
    compute = options.get("bnb_4bit_compute_dtype", _ABSENT)
    if compute.absent and wrapper.compute_dtype and method.value is not Method.INT8:
        compute = default(wrapper.compute_dtype)
    return Quantization(
        span,
        wrapper.name,
        spelled,
        method,
        threshold=threshold,
        threshold_settable=wrapper.settable,
        compute_dtype=compute,
        quant_type=quant_type,
        double_quant=options.get("bnb_4bit_use_double_quant", _ABSENT),
        misspellings=misspellings,
        removed=removed,
        role=role,
        editor=editor,
    )


def scheme(
    written: Setting[Any],
    meaning: Scheme,
    library: str,
    *,
    spelled: str,
    span: Span | None = None,
    editor: Editor = READ_ONLY,
    role: Role = Role.INFERENCE,
) -> Quantization:
    """The quantisation that one named scheme (`--quantize bitsandbytes`) stands for."""
    place = written.span or span or Span(0, 0)
    threshold = _ABSENT if meaning.threshold is None else default(meaning.threshold)
    return Quantization(
        place,
        library,
        spelled,
        _method(written, meaning.method),
        threshold=threshold,
        threshold_settable=False,
        role=role,
        editor=editor,
    )


def serving(
    engine: Engine,
    options: Options,
    *,
    span: Span,
    spelled: str,
    editor: Editor = READ_ONLY,
    role: Role = Role.SERVICE,
) -> list[Fact]:
    """The facts of an engine that is set up with these options (snake_case names).

    A `Serving` always; a `Quantization` and a `ModelLoad` as far as the options name them.
    """
    read: dict[str, Setting[Any]] = {}
    quantization: Quantization | None = None
    unknown_quantization = False
    for name, written in options.items():
        option = engine.options.get(name)
        if option is None:
            continue
        if option.field in ("quantization", "torchao"):
            meaning = _meaning(engine, option, written)
            unknown_quantization |= written.unknown
            if meaning is not None:
                quantization = scheme(
                    written, meaning, engine.name, spelled=written.name, editor=editor, role=role
                )
        elif option.field not in read or read[option.field].absent:
            read[option.field] = _translate(option, written)
    load_format = read.get("load_format", _ABSENT)
    if quantization is None and load_format.is_("bitsandbytes"):
        quantization = scheme(
            load_format,
            Scheme(Method.NF4),
            engine.name,
            spelled=load_format.name,
            editor=editor,
            role=role,
        )
    compiled = read.get("compiled", _ABSENT)
    if quantization is not None and not compiled.absent:
        quantization = replace(quantization, compiled=compiled)
    facts: list[Fact] = []
    model = read.get("model", _ABSENT)
    if quantization is None and model.known and saved_in_4_bit(str(model.value)):
        quantization = scheme(
            model, Scheme(Method.NF4), engine.name, spelled=str(model.value), role=role
        )
    if quantization is not None:
        facts.append(quantization)
    facts.append(
        Serving(
            span,
            engine.name,
            spelled,
            model=model,
            concurrency=read.get("concurrency", _ABSENT),
            eager=read.get("eager", _ABSENT),
            prefix_cache=read.get("prefix_cache", _ABSENT),
            prefix_cache_default=engine.prefix_cache_default,
            kv_dtype=read.get("kv_dtype", _ABSENT),
            dtype=read.get("dtype", _ABSENT),
            context=read.get("context", _ABSENT),
            quantization=quantization,
            role=role,
            editor=editor,
        )
    )
    if not model.absent or quantization is not None:
        facts.append(
            ModelLoad(
                model.span or span,
                engine.name,
                engine.name,
                model=model,
                quantization=quantization,
                quantization_unknown=unknown_quantization,
                dtype=read.get("dtype", _ABSENT),
                context=read.get("context", _ABSENT),
                batch=read.get("concurrency", _ABSENT),
                generates=True,
                role=role,
                editor=editor,
            )
        )
    return facts


def saved_in_4_bit(model: str) -> bool:
    """Whether a repository's name says that bitsandbytes quantised it to 4 bits."""
    found = PREQUANTISED.search(model)
    return found is not None and found.group(2) == "4"


def _meaning(engine: Engine, option: Option, written: Setting[Any]) -> Scheme | None:
    if not written.known or not isinstance(written.value, str):
        return None
    if option.field == "torchao":
        return torchao_scheme(written.value)
    return engine.schemes.get(written.value.lower())


def torchao_scheme(text: str) -> Scheme | None:
    """What torchao's short names (`fp8wo`, `float8dq_e4m3`, `int4wo-128`) stand for."""
    name = text.lower().replace("-", "_")
    if name.startswith(("fp8wo", "float8wo", "float8_weight_only")):
        return Scheme(Method.FP8_WEIGHT_ONLY)
    if name.startswith(("fp8dq", "float8dq", "float8_dynamic", "float8_static")):
        return Scheme(Method.FP8_DYNAMIC)
    if name.startswith(("int8", "int4", "uint", "fpx")):
        return Scheme(Method.TORCHAO_INT)
    return None


def _translate(option: Option, written: Setting[Any]) -> Setting[Any]:
    """The setting of the fact's field: values translated, negations turned round."""
    if not written.known:
        return written
    value = written.value
    if option.field == "eager" and isinstance(value, Mapping):
        value = any(value.get(key) in (0, "0", "NONE") for key in ("mode", "level")) or (
            value.get("cudagraph_mode") == "NONE"
        )
    elif option.values:
        value = option.values.get(value, False if option.field == "eager" else value)
    if option.inverted and isinstance(value, bool):
        value = not value
    return replace(written, value=value)


def _method(written: Setting[Any], method: Method) -> Setting[Method]:
    return Setting(State.KNOWN, method, written.span, written.via, written.name)


def _threshold(written: Setting[Any], wrapper: Wrapper) -> Setting[float]:
    if written.absent or (written.known and written.value is None):
        return default(wrapper.threshold, written.name)
    if not written.known or not isinstance(written.value, (int, float)):
        return Setting(State.UNKNOWN, None, written.span, written.via, written.name)
    return replace(written, value=float(written.value))


def _misspellings(options: Options, wrapper: Wrapper) -> tuple[Misspelling, ...]:
    found: list[Misspelling] = []
    threshold = options.get("llm_int8_threshold", _ABSENT)
    if (
        wrapper.float_threshold
        and threshold.literal is not None
        and threshold.via is Via.LITERAL
        and type(threshold.value) is int
    ):
        found.append(
            Misspelling(threshold.literal, str(threshold.value), f"{threshold.value}.0", "type")
        )
    if wrapper.ignores_unknown:
        for name, written in options.items():
            if name in CONFIG_OPTIONS or name in ACCEPTED_BESIDES or written.key is None:
                continue
            near = get_close_matches(name, CONFIG_OPTIONS, 1, 0.8)
            if near:
                found.append(Misspelling(written.key, name, near[0], "ignored"))
    return tuple(found)
