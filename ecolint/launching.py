"""A launcher's options in, facts out: what a recognised command line sets up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ecolint.assemble import bitsandbytes, scheme, serving
from ecolint.diagnostics import Edit, Span
from ecolint.dialects import Engine, Option, Scheme
from ecolint.dialects.bitsandbytes import CONFIG_OPTIONS
from ecolint.dialects.configs import modality_of
from ecolint.dialects.engines import ENGINES, at_version
from ecolint.dialects.launchers import (
    FACTORY_METHODS,
    LITGPT_MODES,
    OTHER_DEVICES,
    OWN_OPTIONS,
    SERVE_QUANTIZATIONS,
    TRAINING_FLAGS,
    Launcher,
    Runs,
)
from ecolint.dialects.machines import MACHINE_FLAGS, kind_of_machine
from ecolint.embedded import EmbeddedEditor, Item, read_json, read_pairs
from ecolint.facts import (
    READ_ONLY,
    Change,
    Drop,
    Editor,
    Fact,
    Hardware,
    ModelLoad,
    Quantization,
    Role,
    Serving,
    Set,
    Setting,
    State,
)
from ecolint.flags import Flag, FlagEditor, Given, read_flags, typed
from ecolint.words import Word

Settings = Mapping[str, Setting[Any]]
_ABSENT: Setting[Any] = Setting()

# Fields of facts, and the bitsandbytes options behind them.
BNB_FIELDS: Mapping[str, tuple[str, ...]] = {
    "quantization": CONFIG_OPTIONS,
    "threshold": ("llm_int8_threshold",),
    "compute_dtype": ("bnb_4bit_compute_dtype",),
    "quant_type": ("bnb_4bit_quant_type",),
    "double_quant": ("bnb_4bit_use_double_quant",),
    "dtype": ("dtype", "torch_dtype"),
}


@dataclass(frozen=True, slots=True)
class Launch:
    """A launcher on a command line: its options start at word `start`."""

    launcher: Launcher
    words: Sequence[Word]
    start: int
    span: Span
    role: Role
    environment: Settings
    version: str | None = None


def read_launch(launch: Launch) -> list[Fact]:
    """The facts of a recognised launcher; none where it is told to leave the GPU alone."""
    flags, _ = _flags(launch)
    device = flags["device"].setting() if "device" in flags else _ABSENT
    if device.is_(*OTHER_DEVICES) or ("cpu" in flags and flags["cpu"].setting().is_(True)):
        return []
    return _READERS[launch.launcher.runs](launch)


def _flags(launch: Launch) -> tuple[dict[str, Flag], list[Word]]:
    return read_flags(launch.words, launch.start, launch.launcher.aliases)


def _positional(word: Word) -> Setting[Any]:
    span = word.view.span(word.start, word.end)
    if not word.known:
        return Setting(State.UNKNOWN, None, span)
    return Setting(State.KNOWN, word.text, span, literal=word.span() if word.exact else None)


# --- engines ------------------------------------------------------------------------------


def _read_engine(launch: Launch) -> list[Fact]:
    flags, bare = _flags(launch)
    engine = launch.launcher.engine
    assert engine is not None
    engine = at_version(engine, launch.version)
    given = _engine_options(engine, flags, launch.environment)
    name = launch.launcher.positional
    if name and bare and not any(engine.options[n].field == "model" for n in given):
        given[name] = Given(_positional(bare[0]))
    if flags.get("backend") and flags["backend"].setting().is_("huggingface"):
        return []
    return engine_facts(launch, engine, given, flags.get("hf_overrides"))


def engine_facts(
    launch: Launch, engine: Engine, given: Mapping[str, Given], overrides: Flag | None = None
) -> list[Fact]:
    """The facts of an engine given these options."""
    fields = _engine_fields(engine, given)
    override = None
    said = overrides.setting() if overrides is not None else _ABSENT
    if isinstance(said.value, Mapping) and "quantization_config" in said.value:
        assert overrides is not None
        alone = len(said.value) == 1
        # What else the checkpoint's configuration is told must not go with it.
        given_here = (*fields.get("quantization", ()), Given(said, overrides))
        fields["quantization"] = given_here if alone else ()
        override = _override(launch, overrides, FlagEditor(fields))
    editor = FlagEditor(fields, frozenset({"prefix_cache"}))
    # One option that asks for eager mode outweighs another that would leave it off.
    eager = fields.get("eager", ())
    ordered = sorted(given.items(), key=lambda pair: pair[1] not in eager)
    facts = serving(
        engine,
        {name: each.setting for name, each in ordered},
        span=launch.span,
        spelled=launch.launcher.spelled,
        editor=editor,
        role=launch.role,
    )
    return facts if override is None else _with_quantization(facts, override)


def _engine_options(
    engine: Engine, flags: Mapping[str, Flag], environment: Settings
) -> dict[str, Given]:
    given: dict[str, Given] = {}
    for name, flag in flags.items():
        plain = name.removeprefix("no_")
        if name in engine.options:
            given[name] = Given(flag.setting(), flag)
        elif plain != name and plain in engine.options:
            given[plain] = Given(replace(flag.setting(), value=False), flag)
    for name in engine.options:
        variable = environment.get(name.upper())
        if variable is not None and name not in given:
            given[name] = Given(typed_setting(variable), None, str(variable.value))
    return given


def _engine_fields(engine: Engine, given: Mapping[str, Given]) -> dict[str, tuple[Given, ...]]:
    fields: dict[str, list[Given]] = {}
    for name, each in given.items():
        option = engine.options[name]
        field = option.field
        if field in ("torchao", "quantization"):
            field = "quantization"
        elif field == "load_format":
            if not each.setting.is_("bitsandbytes"):
                continue
            field = "quantization"
        elif field == "eager" and not _is_eager(option, each.setting.value):
            continue
        fields.setdefault(field, []).append(each)
    if "concurrency" in fields:
        fields["batch"] = fields["concurrency"]  # as the load calls it
    return {name: tuple(items) for name, items in fields.items()}


def _is_eager(option: Option, value: object) -> bool:
    """Whether this flag asks for eager mode, and for nothing besides."""
    if isinstance(value, Mapping):
        off = value.get("mode", value.get("level")) == 0 or value.get("cudagraph_mode") == "NONE"
        return off and len(value) == 1
    return bool(option.values.get(value, value is True))


@dataclass(frozen=True, slots=True)
class _TwofoldEditor:
    """Changes flags, and by the other editor what stands inside one of them."""

    flags: FlagEditor
    inside: EmbeddedEditor

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """The edits of changes that concern one of the two; None for a mixture."""
        outer = [
            isinstance(change, (Drop, Set)) and change.option in self.flags.fields
            for change in changes
        ]
        if any(outer):
            return self.flags.edits(*changes) if all(outer) else None
        return self.inside.edits(*changes)


def _override(launch: Launch, flag: Flag, flags: FlagEditor) -> Quantization | None:
    """The quantisation that `--hf-overrides` puts in place of the checkpoint's."""
    if flag.value is None:
        return None
    items = read_json(flag.value, "quantization_config")
    wrapper = launch.launcher.wrapper
    if not items or wrapper is None:
        return None
    inside = EmbeddedEditor(tuple(items), BNB_FIELDS, json=True)
    return bitsandbytes(
        {item.key: item.setting() for item in items},
        wrapper,
        span=flag.span,
        spelled=flag.written,
        editor=_TwofoldEditor(flags, inside),
        role=launch.role,
    )


def _with_quantization(facts: Sequence[Fact], quantization: Quantization) -> list[Fact]:
    """The same facts with another quantisation in place of the one they hold."""
    kept: list[Fact] = [quantization]
    for fact in facts:
        if isinstance(fact, (Serving, ModelLoad)):
            kept.append(replace(fact, quantization=quantization))
        elif not isinstance(fact, Quantization):
            kept.append(fact)
    return kept


# --- transformers and bitsandbytes ----------------------------------------------------------


def _read_script(launch: Launch) -> list[Fact]:
    """A script whose flags carry bitsandbytes' own names."""
    flags, bare = _flags(launch)
    given = {name: Given(flag.setting(), flag) for name, flag in flags.items()}
    for item in read_pairs(bare):  # Hydra's `model.load_in_8bit=true`
        name = item.key.rpartition(".")[2]
        given.setdefault(name, Given(item.setting(), None, str(item.value).lower()))
    if not (OWN_OPTIONS | {"no_use_cache"}) & given.keys() or TRAINING_FLAGS & given.keys():
        return []
    return _bnb_facts(launch, given)


def _bnb_facts(launch: Launch, given: Mapping[str, Given]) -> list[Fact]:
    wrapper = launch.launcher.wrapper
    assert wrapper is not None
    fields = {
        field: tuple(given[name] for name in names if name in given)
        for field, names in BNB_FIELDS.items()
    }
    off = given.get("no_use_cache")
    if off is not None and off.setting.is_(True):
        given = {**given, "use_cache": replace(off, setting=replace(off.setting, value=False))}
        fields["use_cache"] = (off,)
    editor = FlagEditor({f: g for f, g in fields.items() if g}, frozenset({"use_cache"}))
    options = {name: each.setting for name, each in given.items()}
    if options.get("llm_int8_threshold", _ABSENT).known:
        wrapper = replace(wrapper, settable=True)
    asked = next(
        (options[name] for name in CONFIG_OPTIONS[:2] if options.get(name, _ABSENT).is_(True)),
        _ABSENT,
    )
    quantization = bitsandbytes(
        {name: setting for name, setting in options.items() if name in CONFIG_OPTIONS},
        wrapper,
        span=asked.span or launch.span,
        spelled=asked.name or launch.launcher.spelled,
        editor=editor,
        role=launch.role,
    )
    return load_facts(launch, quantization, options, editor)


def load_facts(
    launch: Launch,
    quantization: Quantization | None,
    options: Settings,
    editor: Editor = READ_ONLY,
) -> list[Fact]:
    """A quantisation, if there is one, and the load of the model it serves."""
    model = options.get("model", _ABSENT)
    if quantization is None and model.absent:
        return []
    load = ModelLoad(
        model.span or (quantization.span if quantization else launch.span),
        launch.launcher.wrapper.name if launch.launcher.wrapper else "transformers",
        "transformers",
        model=model,
        quantization=quantization,
        quantization_unknown=any(
            options.get(name, _ABSENT).unknown
            for name in ("load_in_8bit", "load_in_4bit", "quantize", "quantization")
        ),
        dtype=_text(options.get("dtype", _ABSENT)),
        compiled=options.get("compile", _ABSENT),
        use_cache=options.get("use_cache", _ABSENT),
        batch=options.get("batch_size", _ABSENT),
        modality=modality_of(str(model.value)) if model.known else "",
        generates=True,
        role=launch.role,
        editor=editor,
    )
    return [load] if quantization is None else [quantization, load]


def _text(setting: Setting[Any]) -> Setting[Any]:
    if setting.known and not isinstance(setting.value, str):
        return replace(setting, state=State.UNKNOWN, value=None)
    return setting


def _read_named(
    launch: Launch, option: str, modes: Mapping[str, Mapping[str, object]]
) -> list[Fact]:
    """A server whose one option names a bitsandbytes mode, such as `bnb.nf4-dq`."""
    flags, bare = _flags(launch)
    given = {name: Given(flag.setting(), flag) for name, flag in flags.items()}
    mode = given.get(option)
    if mode is not None and mode.setting.known:
        for name, value in modes.get(str(mode.setting.value), {}).items():
            given[name] = Given(replace(mode.setting, value=value), mode.flag)
    if bare and "model" not in given and launch.launcher.positional:
        given["model"] = Given(_positional(bare[0]))
    return _bnb_facts(launch, given)


def _read_transformers(launch: Launch) -> list[Fact]:
    return _read_named(launch, "quantization", SERVE_QUANTIZATIONS)


def _read_litgpt(launch: Launch) -> list[Fact]:
    return _read_named(launch, "quantize", LITGPT_MODES)


def _read_factory(launch: Launch) -> list[Fact]:
    """LLaMA-Factory: `--quantization_bit 8`, or the same as `quantization_bit=8`."""
    flags, bare = _flags(launch)
    aliases = launch.launcher.aliases
    given = {name: Given(flag.setting(), flag) for name, flag in flags.items()}
    for item in read_pairs(bare):
        given[aliases.get(item.key, item.key)] = Given(item.setting())
    settings = {name: each.setting for name, each in given.items()}
    backend = settings.get("infer_backend", _ABSENT)
    bits = settings.get("quantization_bit", _ABSENT)
    method = settings.get("quantization_method", _ABSENT)
    if (TRAINING_FLAGS | {"stage"}) & given.keys() or (
        not backend.absent and not backend.is_("huggingface", "hf")
    ):
        return []
    if bits.known and method.known and method.value in FACTORY_METHODS:
        other = scheme(bits, Scheme(FACTORY_METHODS[str(method.value)]), "llamafactory",
                       spelled=bits.name, role=launch.role)  # fmt: skip
        return load_facts(launch, other, settings)
    if bits.is_(8, 4) and (method.absent or method.is_("bnb", "bitsandbytes")):
        name = "load_in_8bit" if bits.value == 8 else "load_in_4bit"
        given[name] = Given(replace(bits, value=True), given["quantization_bit"].flag)
    return _bnb_facts(launch, given)


def _read_evaluation(launch: Launch) -> list[Fact]:
    """lm-eval: the model's options are pairs inside `--model_args`."""
    flags, _ = _flags(launch)
    arguments = flags.get("model_args")
    if arguments is None or arguments.value is None:
        return []
    last = arguments.last + 1
    while last < len(launch.words) and "=" in launch.words[last].text.lstrip("-"):
        if launch.words[last].text.startswith("-"):
            break
        last += 1
    items = read_pairs([arguments.value, *launch.words[arguments.last + 1 : last]])
    options: dict[str, Setting[Any]] = {item.key: item.setting() for item in items}
    if "pretrained" in options:
        options["model"] = options["pretrained"]
    kind = flags["model"].setting() if "model" in flags else _ABSENT
    engine = ENGINES.get(str(kind.value)) if kind.known else None
    if engine is not None:
        return _evaluated_engine(launch, engine, items, options)
    if kind.known and not str(kind.value).startswith(("hf", "huggingface")):
        return []
    wrapper = launch.launcher.wrapper
    assert wrapper is not None
    batch = flags.get("batch_size")
    outer = {} if batch is None else {"batch": (Given(batch.setting(), batch),)}
    editor = _TwofoldEditor(FlagEditor(outer), EmbeddedEditor(tuple(items), BNB_FIELDS))
    asked = next((item for item in items if item.key in CONFIG_OPTIONS[:2]), None)
    quantization = bitsandbytes(
        options,
        wrapper,
        span=(asked.setting().span if asked else None) or arguments.span,
        spelled=arguments.written,
        editor=editor,
        role=launch.role,
    )
    if batch is not None and isinstance(batch.setting().value, int):
        options["batch_size"] = batch.setting()
    return load_facts(launch, quantization, options, editor)


def _evaluated_engine(
    launch: Launch, engine: Engine, items: Sequence[Item], options: Settings
) -> list[Fact]:
    known = {name: setting for name, setting in options.items() if name in engine.options}
    fields: dict[str, tuple[str, ...]] = {}
    for name in known:
        field = engine.options[name].field
        fields[field] = (*fields.get(field, ()), name)
    return serving(
        engine,
        known,
        span=launch.span,
        spelled=launch.launcher.spelled,
        editor=EmbeddedEditor(tuple(items), fields),
        role=launch.role,
    )


def _read_nothing(launch: Launch) -> list[Fact]:
    return []


_READERS: Mapping[Runs, Callable[[Launch], list[Fact]]] = {
    Runs.ENGINE: _read_engine,
    Runs.BITSANDBYTES: _read_script,
    Runs.LITGPT: _read_litgpt,
    Runs.TRANSFORMERS_SERVE: _read_transformers,
    Runs.LLAMA_FACTORY: _read_factory,
    Runs.EVALUATION: _read_evaluation,
    Runs.NOTHING: _read_nothing,
}


# --- machines -----------------------------------------------------------------------------


def read_machines(words: Sequence[Word], start: int, role: Role) -> list[Fact]:
    """The GPU machines that a cloud's tool is told to rent."""
    flags, _ = read_flags(words, start, {})
    found: list[Fact] = []
    for name in (each for each in flags if each in MACHINE_FLAGS):
        value = flags[name].value
        if value is None or not value.known:
            continue
        label = value.text.removeprefix("type=").partition(",")[0]
        kind = kind_of_machine(label)
        count = 1
        if name == "gpus":  # SkyPilot's `A100:2`
            kind = "skypilot_accelerator"
            label, _, number = label.partition(":")
            count = int(number) if number.isdigit() and len(number) < 5 else 1
        if kind is not None and label[:1].isalpha():
            found.append(Hardware(value.span(), label, kind, count, role))
    return found


# --- environments -----------------------------------------------------------------------------


def typed_setting(setting: Setting[Any]) -> Setting[Any]:
    """An environment variable's setting with its text read as a value."""
    if setting.known and isinstance(setting.value, str):
        return replace(setting, value=typed(setting.value))
    return setting
