"""Engines configured by keys: vLLM's own files, Ray's engine_kwargs, values of Helm charts."""

from dataclasses import replace
from typing import Any

from ecolint.assemble import serving
from ecolint.dialects import Engine, Option
from ecolint.dialects.configs import (
    ENGINE_ALIASES,
    ENGINE_KEYS,
    ENGINE_NAMES,
    ENGINE_SECTIONS,
    OWN_OPTIONS,
)
from ecolint.dialects.engines import TGI, at_version
from ecolint.dialects.launchers import BY_NAME
from ecolint.facts import Editor, Role, Setting, State
from ecolint.flags import FlagEditor, Given, read_flags
from ecolint.frontends.configs.containers import extra_words, image_word
from ecolint.frontends.configs.reading import Reading
from ecolint.frontends.entryedits import EntryEditor, JoinedEditor
from ecolint.frontends.mapping import (
    Entry,
    Form,
    Place,
    setting,
    text_setting,
    true_or_false,
)
from ecolint.images import image_launcher

_TRUTHS = frozenset({"eager", "prefix_cache"})
_LAUNCHERS = {
    "vllm": "vllm serve",
    "sglang": "sglang.launch_server",
    "tgi": "text-generation-launcher",
}
_MODEL_OPTION = {"vllm": "model", "sglang": "model_path", "tgi": "model_id"}


def read(place: Place, reading: Reading) -> None:
    """The facts of an engine whose options a mapping holds."""
    engine, version = _engine(place, reading)
    if engine is None:
        return
    engine = at_version(engine, version)
    aliases = ENGINE_ALIASES.get(engine.name, {})
    entries: dict[str, Entry] = {}
    for name, entry in place.node.names.items():
        option = name if name in engine.options else aliases.get(name, name)
        if option not in engine.options or option in entries:
            continue
        if engine.options[option].field != "model" or entry.value.form is Form.SCALAR:
            entries[option] = entry
    given = {name: _setting(engine.options[name], place, entry) for name, entry in entries.items()}
    editor: Editor = EntryEditor(
        place.source, _fields(engine, entries, given), inverted=_inverted(engine)
    )
    given, editor = _with_extra(place, engine, given, editor)
    if not any(engine.options[name].field != "model" for name in given):
        return
    role = reading.role(place)
    if not any(engine.options[name].field == "model" for name in given):
        model = reading.model(place)
        if not model.absent and engine.name in _MODEL_OPTION:
            given[_MODEL_OPTION[engine.name]] = model
    first = next((each.span for each in given.values() if each.span is not None), None)
    if first is None:
        return
    reading.take(place.node)
    reading.facts += serving(
        engine,
        given,
        span=first,
        spelled=place.key or engine.name,
        editor=editor,
        role=role if role is not Role.INFERENCE else Role.SERVICE,
    )


def _engine(place: Place, reading: Reading) -> tuple[Engine | None, str | None]:
    """The engine whose options these are, and the version that its image names."""
    image_engine: Engine | None = None
    version: str | None = None
    for outer in place.outwards():
        image = image_word(place.source, outer.node) if outer.node.form is Form.MAPPING else None
        if image is not None and image.text:
            launcher, tag = image_launcher(image.text)
            if launcher is not None:
                image_engine, version = launcher.engine, tag
                break
    for outer in place.outwards():
        if outer.key in ENGINE_SECTIONS:
            return ENGINE_SECTIONS[outer.key], version
        for key in ENGINE_KEYS:
            named = ENGINE_NAMES.get(outer.node.string(key).lower().replace("_", "-"))
            if named is not None:
                return named, version
    if image_engine is not None:
        return image_engine, version
    return _by_options(place, reading), None


def _by_options(place: Place, reading: Reading) -> Engine | None:
    node = place.node
    known = {name for name in node.names if node.names[name].value.form is not Form.MAPPING}
    for engine, own in OWN_OPTIONS:
        if engine is TGI and "quantize" in known:
            value = node.string("quantize")
            return TGI if value in TGI.schemes and value.startswith("bitsandbytes") else None
        count = len(own & known)
        if count >= 2 or (count == 1 and engine is not TGI and not reading.model(place).absent):
            return engine
    return None


def _setting(option: Option, place: Place, entry: Entry) -> Setting[Any]:
    written = setting(place, entry)
    if entry.value.form is Form.LIST:
        return replace(written, state=State.UNKNOWN, value=None)
    if option.field == "model" or option.field in ("dtype", "kv_dtype"):
        return text_setting(written)
    if option.field in _TRUTHS and not option.values and isinstance(written.value, str):
        return true_or_false(written)
    if option.field in ("concurrency", "context") and isinstance(written.value, str):
        if written.value.isdigit():
            return replace(written, value=int(written.value))
        return Setting(name=written.name)
    return written


def _fields(
    engine: Engine, entries: dict[str, Entry], given: dict[str, Setting[Any]]
) -> dict[str, list[Entry]]:
    fields: dict[str, list[Entry]] = {}
    for name, entry in entries.items():
        option = engine.options[name]
        field = option.field
        value = given[name].value
        if field == "torchao":
            field = "quantization"
        elif field == "load_format":
            if value != "bitsandbytes":
                continue
            field = "quantization"
        elif field == "eager" and not _means_eager(option, value):
            continue
        fields.setdefault(field, []).append(entry)
    return fields


def _means_eager(option: Option, value: object) -> bool:
    """Whether an entry asks for eager mode, and for nothing besides."""
    if isinstance(value, dict):
        off = value.get("mode", value.get("level")) == 0 or value.get("cudagraph_mode") == "NONE"
        return off and len(value) == 1
    return bool(option.values.get(value, value is True))


def _inverted(engine: Engine) -> frozenset[str]:
    return frozenset(name for name, option in engine.options.items() if option.inverted)


def _with_extra(
    place: Place, engine: Engine, given: dict[str, Setting[Any]], editor: Editor
) -> tuple[dict[str, Setting[Any]], Editor]:
    """The options with those of a list of further arguments, which win."""
    words = [*extra_words(place.source, place.node)]
    launcher = BY_NAME.get(_LAUNCHERS.get(engine.name, ""))
    if not words or launcher is None:
        return given, editor
    flags, _ = read_flags(words, 0, launcher.aliases)
    fields: dict[str, tuple[Given, ...]] = {}
    merged = dict(given)
    for name, flag in flags.items():
        plain = name.removeprefix("no_")
        if name in engine.options:
            merged[name] = flag.setting()
        elif plain in engine.options:
            name = plain
            merged[plain] = replace(flag.setting(), value=False)
        else:
            continue
        field = engine.options[name].field
        field = "quantization" if field in ("torchao", "load_format") else field
        fields[field] = (*fields.get(field, ()), Given(merged[name], flag))
    return merged, JoinedEditor((FlagEditor(fields, frozenset({"prefix_cache"})), editor))
