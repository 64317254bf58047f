"""From calls to facts: what each call that we know makes of its options."""

import re
from dataclasses import replace

import libcst as cst

from ecolint import assemble
from ecolint.diagnostics import Edit, Span
from ecolint.dialects import Scheme, Wrapper
from ecolint.dialects import python_calls as calls
from ecolint.dialects.bitsandbytes import WRAPPERS
from ecolint.dialects.engines import ENGINES
from ecolint.dialects.python_calls import Callee, Makes
from ecolint.facts import (
    Change,
    Drop,
    Editor,
    Fact,
    Hardware,
    Method,
    ModelLoad,
    Quantization,
    Role,
    Set,
    Setting,
    State,
    Via,
)
from ecolint.frontends.python import evidence, generation, options, purpose, tokens
from ecolint.frontends.python.editing import BNB_OPTIONS, CallEditor, TextEditor
from ecolint.frontends.python.options import Given, Options
from ecolint.frontends.python.program import Place, Program, dotted
from ecolint.frontends.python.resolve import Resolver
from ecolint.frontends.python.values import (
    Const,
    LocalClass,
    Made,
    Partial,
    Ref,
    Table,
    Unknown,
    Value,
    Where,
)
from ecolint.frontends.python.values import (
    Method as Attribute,
)

_BNB_NAMES = {
    "threshold": "llm_int8_threshold",
    "compute_dtype": "bnb_4bit_compute_dtype",
    "quant_type": "bnb_4bit_quant_type",
    "double_quant": "bnb_4bit_use_double_quant",
}
_NOT_REMOVED: Setting[str] = Setting()
_DRAFT = re.compile(r"draft|assistant", re.IGNORECASE)
_REMOVED_IN = frozenset({"transformers", "langchain", "llama-index", "haystack"})
_GENERATING = frozenset({"langchain", "llama-index", "haystack"})
_QUANTIZATION_KEYS = ("quantization_config", "bnb_quantization_config")
_NF4: dict[str, tuple[Method, float | None]] = {
    "nf4": (Method.NF4, None), "nf4-dq": (Method.NF4, None), "fp4": (Method.FP4, None),
    "fp4-dq": (Method.FP4, None), "int8": (Method.INT8, 6.0),
}  # fmt: skip


class Recogniser:
    """Turns one program into facts."""

    def __init__(self, program: Program, role: purpose.Purpose) -> None:
        """Prepare; `read` does the work."""
        self.program = program
        self.resolver = Resolver(program)
        self.purpose = role
        self.surroundings = generation.Surroundings(program, self.resolver)
        self.compiled = evidence.compiled(self.resolver)
        self._made: dict[int, Quantization | None] = {}
        self._building: set[int] = set()
        self._passed_to_loads = self._configurations_of_loads()
        self.facts: list[Fact] = []
        self.loads: dict[int, ModelLoad] = {}
        self.assistants = evidence.assistants(program)

    def read(self) -> list[Fact]:
        """All facts of the program, configurations before what uses them."""
        for place in self.program.calls:
            if not self.alive(place):
                continue
            call = place.node
            assert isinstance(call, cst.Call)
            found = self.identify(call, self.resolver.where(place))
            if found is not None:
                self._dispatch(found[0], found[1], call, place)
            self._hardware(call, place)
        self.facts.extend(tokens.read(self))
        return self.facts

    def _configurations_of_loads(self) -> set[cst.Call]:
        """The calls whose results some load in this file is given as its configuration."""
        found: set[cst.Call] = set()
        for place in self.program.calls:
            call = place.node
            assert isinstance(call, cst.Call)
            for arg in call.args:
                if arg.keyword is not None and arg.keyword.value in _QUANTIZATION_KEYS:
                    values = self.resolver.value(arg.value, self.resolver.where(place))
                    found.update(v.call for v in values if isinstance(v, Made))
        return found

    def alive(self, place: Place) -> bool:
        """Whether a place runs by default: not in a branch that nobody has asked for."""
        live = self.resolver.branches.live(place.frame)
        return live is True or (live is None and not self.resolver.branches.opted(place.frame))

    def identify(self, call: cst.Call, where: Where) -> tuple[Callee, str] | None:
        """The known callee of a call, and its dotted name."""
        for value in self.resolver.value(call.func, where):
            target = self.target(value, call, where)
            if target:
                callee = calls.find(target)
                if callee is not None:
                    return callee, target
        return None

    def target(self, value: Value, call: cst.Call, where: Where) -> str:
        """The dotted name that a callee stands for; local code has none."""
        if isinstance(value, Ref) and value.name == "functools.partial" and call.args:
            inner = self.resolver.value(call.args[0].value, where)
            return next(
                (self.resolver.functions.target(v) for v in inner if isinstance(v, Ref)), ""
            )
        if isinstance(value, (Ref, Partial)):
            return self.resolver.functions.target(value)
        if isinstance(value, Attribute) and not isinstance(value.receiver, Made):
            return f"?.{dotted(call.func) or value.attribute}"
        if isinstance(value, LocalClass):
            for base in value.node.bases:
                if dotted(base.value).rpartition(".")[2] == "LitAPI":
                    return "litserve.LitServer"
            return ""
        if isinstance(value, Unknown) and isinstance(call.func, cst.Attribute):
            name = dotted(call.func)
            return (
                f"?.{name or call.func.attr.value}"
                if call.func.attr.value == "from_pretrained"
                else ""
            )
        return ""

    def _dispatch(self, callee: Callee, target: str, call: cst.Call, place: Place) -> None:
        makes = callee.makes
        if makes in (
            Makes.BNB_CONFIG, Makes.BNB_LAYER, Makes.NAMED_BACKEND, Makes.TORCHAO_HOLDER,
        ):  # fmt: skip
            self.quantization(call, self.resolver.where(place))
        elif makes is Makes.QUANTIZE:
            self._quantize_in_place(call, place)
        elif makes in (Makes.LOAD, Makes.PIPELINE):
            self._load(callee, target, call, place)
        elif makes in (Makes.ENGINE, Makes.BATCHER):
            self._engine(callee, call, place)

    def setting(self, name: str, given: Given | None) -> "Setting[object]":
        """An option as a setting."""
        return options.setting(self.program, name, given)

    def span(self, node: cst.CSTNode) -> Span:
        """The document span of a node."""
        return self.program.view.span(*self.program.span(node))

    @property
    def role(self) -> Role:
        """What the program is for."""
        return self.purpose.role

    # --- quantisation --------------------------------------------------------------------

    def quantization(self, call: cst.Call, where: Where) -> Quantization | None:
        """The quantisation that a configuration call makes; the same fact each time."""
        key = id(call)
        if key not in self._made and key not in self._building:
            self._building.add(key)
            found = self.identify(call, where)
            fact = self._configured(found[0], call, where) if found else None
            self._made[key] = fact
            if fact is not None:
                self.facts.append(fact)
        return self._made.get(key)

    def _configured(self, callee: Callee, call: cst.Call, where: Where) -> Quantization | None:
        given = options.of_call(self.resolver, call, where, callee.positional)
        options.later(self.resolver, call, given)
        for name in callee.nested:
            inner = options.nested(self.resolver, given, name, where)
            given.given.update(inner.given)
            given.given.pop(name, None)
            given.open |= inner.open
        if callee.makes is Makes.BNB_LAYER:
            return self._layer(call, given)
        if callee.makes is Makes.BNB_CONFIG:
            return self._bitsandbytes(call, given, WRAPPERS[callee.library], dotted(call.func))
        if callee.makes is Makes.TORCHAO_HOLDER:
            return self._torchao(call, given.get("quant_type"), where)
        if callee.makes is Makes.NAMED_BACKEND:
            return self._named_backend(callee, call, given, where)
        if callee.makes is Makes.OTHER_CONFIG:
            span = self.span(call.func)
            method = Setting(State.KNOWN, callee.method, span)
            return Quantization(span, "transformers", dotted(call.func), method, role=self.role)
        return None

    def _bitsandbytes(
        self,
        call: cst.Call,
        given: Options,
        wrapper: Wrapper,
        spelled: str,
        removed: "Setting[str]" = _NOT_REMOVED,
    ) -> Quantization | None:
        settings = {name: self.setting(name, g) for name, g in given.given.items()}
        if given.open and "llm_int8_threshold" not in settings:
            settings["llm_int8_threshold"] = Setting(State.UNKNOWN, name="llm_int8_threshold")
        flag = next((n for n in ("load_in_8bit", "load_in_4bit") if n in given.given), "")
        return assemble.bitsandbytes(
            settings,
            wrapper,
            span=self.span(call.func),
            spelled=spelled.rpartition(".")[2] or flag,
            editor=CallEditor(self.program, call, given, _BNB_NAMES, anchor=flag),
            role=self.role,
            removed=removed,
        )

    def _layer(self, call: cst.Call, given: Options) -> Quantization | None:
        threshold = self.setting("threshold", given.get("threshold"))
        if not isinstance(threshold.value, (int, float)) or not threshold.value:
            return None
        span = self.span(call.func)
        number = Setting(
            State.KNOWN, float(threshold.value), threshold.span, threshold.via, "threshold",
            key=threshold.key, literal=threshold.literal,
        )  # fmt: skip
        return Quantization(
            span,
            "bitsandbytes",
            dotted(call.func),
            Setting(State.KNOWN, Method.INT8, threshold.span or span, Via.IMPLIED, "threshold"),
            threshold=number,
            role=self.role,
            editor=CallEditor(self.program, call, given, {"threshold": "threshold"}),
        )

    def _torchao(self, call: cst.Call, given: Given | None, where: Where) -> Quantization | None:
        scheme = self._torchao_scheme(given) if given is not None else None
        if given is None or scheme is None:
            return None
        loaded = call in self._passed_to_loads
        if scheme.method is Method.TORCHAO_INT and not loaded:
            return None  # saved or handed on: whoever runs it may well compile it
        span = self.span(given.value)
        return Quantization(
            self.span(call.func),
            "torchao",
            self.program.source(given.value),
            Setting(State.KNOWN, scheme.method, span, Via.LITERAL, dotted(call.func)),
            compiled=self.compiled.setting(""),
            role=self.role,
        )

    def _torchao_scheme(self, given: Given) -> Scheme | None:
        """What torchao configuration a value is: an object, a function or a short name."""
        schemes: set[Scheme | None] = set()
        for value in given.values:
            if isinstance(value, Const) and isinstance(value.value, str):
                schemes.add(assemble.torchao_scheme(value.value))
                continue
            target = (
                value.target if isinstance(value, Made) else self.resolver.functions.target(value)
            )
            callee = calls.find(target) if target else None
            known = callee is not None and callee.makes is Makes.TORCHAO_CONFIG
            schemes.add(Scheme(callee.method) if callee is not None and known else None)
        return schemes.pop() if len(schemes) == 1 else None

    def _quantize_in_place(self, call: cst.Call, place: Place) -> None:
        given = options.of_call(
            self.resolver, call, self.resolver.where(place), ("model", "config")
        )
        config, model = given.get("config"), given.get("model")
        scheme = self._torchao_scheme(config) if config is not None else None
        if config is None or scheme is None:
            return
        root = evidence.root_name(model.value if model is not None else None)
        if scheme.method is Method.TORCHAO_INT and not self._runs(model, root):
            return
        role = self.role
        if model is not None and any(
            isinstance(v, Made) and v.target.startswith("torch.nn.") for v in model.values
        ):
            role = Role.BENCHMARK  # a single layer is measured, not served
        span = self.span(config.value)
        self.facts.append(
            Quantization(
                self.span(call.func),
                "torchao",
                self.program.source(config.value),
                Setting(State.KNOWN, scheme.method, span, Via.LITERAL, "quantize_"),
                compiled=self.compiled.setting(root),
                applied=True,
                role=role,
            )
        )

    def _runs(self, model: Given | None, root: str) -> bool:
        """Whether a model is loaded or run in this file, and not just prepared for others."""
        if model is None:
            return False
        if any(isinstance(v, Made) and v.target.endswith("from_pretrained") for v in model.values):
            return True
        return bool(root) and f"{root}.generate(" in self.program.view.text

    def _named_backend(
        self, callee: Callee, call: cst.Call, given: Options, where: Where
    ) -> Quantization | None:
        if callee.library == "lightning":
            name = given.get("mode", "quantize")
            written = self.setting("mode" if "mode" in given.given else "quantize", name)
            if not isinstance(written.value, str):
                return None
            found = _NF4.get(written.value.removeprefix("bnb."))
            if found is None or "training" in written.value:
                return None
            return assemble.scheme(
                written, Scheme(*found), "lightning", spelled=dotted(call.func), role=self.role
            )
        backend = self.setting("quant_backend", given.get("quant_backend"))
        inner = options.nested(self.resolver, given, "quant_kwargs", where)
        if backend.value in ("bitsandbytes_8bit", "bitsandbytes_4bit"):
            flag = f"load_in_{str(backend.value)[-4:]}"
            settings = {n: self.setting(n, g) for n, g in inner.given.items()}
            settings.setdefault(flag, replace(backend, value=True))
            return assemble.bitsandbytes(
                settings, WRAPPERS["diffusers"], span=self.span(call.func),
                spelled=str(backend.value), role=self.role,
                editor=CallEditor(self.program, call, inner, _BNB_NAMES, anchor=flag),
            )  # fmt: skip
        return self._torchao(call, inner.get("quant_type"), where)

    # --- loads ---------------------------------------------------------------------------

    def _load(self, callee: Callee, target: str, call: cst.Call, place: Place) -> None:
        owner = target.split(".")[-2] if target.endswith("from_pretrained") else ""
        if owner.endswith(calls.NOT_MODELS) or target.split(".")[0] in calls.OTHER_LOADERS:
            return
        where = self.resolver.where(place)
        given = self.given(callee, call, where)
        library = callee.library
        implied = self._implied(callee, given, call)
        quantization = self._quantization_of(callee, call, given, where, implied)
        engine = (
            "vllm" if self.setting("", given.get("fast_inference")).is_(True) else "transformers"
        )
        model = self.model(callee, given, call)
        if quantization is None and model.known:
            quantization = self._prequantised(given.get(*callee.model), model)
        names = {
            "quantization": " ".join(_QUANTIZATION_KEYS),
            "dtype": "torch_dtype",
            "use_cache": "use_cache",
        }
        name = self.name_of(call)
        floor = '"torch_dtype": "auto"' if not _is_argument(given) else 'torch_dtype="auto"'
        load = ModelLoad(
            self.span(call.func),
            library,
            engine,
            model=model,
            quantization=quantization,
            quantization_unknown=any(
                options.is_open_value(given.get(k)) for k in _QUANTIZATION_KEYS
            ),
            dtype=self.text("torch_dtype", given.get("dtype", "torch_dtype")),
            device=self.text("device_map", given.get("device_map", "device")),
            use_cache=self.setting("use_cache", given.get("use_cache")),  # type: ignore[arg-type]
            compiled=self.compiled.setting(name),
            modality=callee.modality or calls.modality(owner),
            generates=".generate(" in self.program.view.text
            or callee.makes is Makes.PIPELINE
            or callee.library in _GENERATING,
            draft=bool(_DRAFT.search(name)) or name in self.assistants,
            role=self.role,
            editor=self._load_editor(callee, call, given, names, floor, quantization, model),
        )
        self.loads[id(call)] = load
        self.facts.append(load)

    def _load_editor(
        self,
        callee: Callee,
        call: cst.Call,
        given: Options,
        names: dict[str, str],
        floor: str,
        quantization: Quantization | None,
        model: "Setting[str]",
    ) -> Editor:
        if callee.library == "unsloth" and quantization is not None:
            flag = "load_in_4bit"
            editor = CallEditor(self.program, call, given, {flag: flag}, anchor="")
            return _Redirect(editor, Set(flag, False))
        if quantization is not None and isinstance(quantization.editor, TextEditor):
            return quantization.editor
        return CallEditor(self.program, call, given, names, anchor="", floor=floor)

    def given(self, callee: Callee, call: cst.Call, where: Where) -> Options:
        """All options of a loading call: its own, a partial's, and those in nested dicts."""
        skip = 0
        found = Options({})
        for value in self.resolver.value(call.func, where):
            if isinstance(value, Partial):
                found = options.of_call(
                    self.resolver, value.call, value.where, callee.positional, 1
                )
            elif isinstance(value, Ref) and value.name == "functools.partial":
                skip = 1
        own = options.of_call(self.resolver, call, where, callee.positional, skip)
        found.given.update(own.given)
        found.open |= own.open
        for name in callee.nested:
            inner = options.nested(self.resolver, found, name, where)
            for key, value_ in inner.given.items():
                found.given.setdefault(key, value_)
        return found

    def _implied(self, callee: Callee, given: Options, call: cst.Call) -> "Setting[object] | None":
        """What a library quantises to when nobody says otherwise (Unsloth)."""
        if not callee.implied or given.open or "load_in_4bit" in given.given:
            return None
        for other in ("load_in_8bit", "load_in_16bit", "full_finetuning", "load_in_fp8"):
            found = given.given.get(other)
            if found is not None and not self.setting(other, found).is_(False):
                return None
        return Setting(State.KNOWN, True, self.span(call.func), Via.IMPLIED, "load_in_4bit")

    def _quantization_of(
        self,
        callee: Callee,
        call: cst.Call,
        given: Options,
        where: Where,
        implied: "Setting[object] | None",
    ) -> Quantization | None:
        config = given.get(*_QUANTIZATION_KEYS)
        if config is not None:
            return self._from_config(config, where)
        direct = Options({n: g for n, g in given.given.items() if BNB_OPTIONS.match(n)}, given.open)
        wrapper = WRAPPERS.get(callee.library, WRAPPERS["transformers"])
        if implied is not None:
            fact = assemble.bitsandbytes(
                {"load_in_4bit": implied}, wrapper, span=self.span(call.func),
                spelled="FastLanguageModel", role=self.role,
            )  # fmt: skip
            if fact is not None:
                self.facts.append(fact)
            return fact
        flags = [n for n in ("load_in_8bit", "load_in_4bit") if n in direct.given]
        if not flags:
            return None
        direct.open = False
        removed: Setting[str] = Setting()
        if callee.library in _REMOVED_IN:
            on = next((f for f in flags if self.setting(f, direct.given[f]).is_(True)), flags[0])
            span, _, _ = options.spans(self.program, direct.given[on])
            removed = Setting(State.KNOWN, on, span, Via.LITERAL, on)
        fact = self._bitsandbytes(call, direct, wrapper, "", removed)
        if fact is not None:
            self.facts.append(fact)
        return fact

    def _from_config(self, config: Given, where: Where) -> Quantization | None:
        for value in config.values:
            if isinstance(value, Made):
                fact = self.quantization(value.call, value.where)
                if fact is not None:
                    return fact
            elif isinstance(value, Table):
                return self._from_table(value, where)
        return None

    def _from_table(self, table: Table, where: Where) -> Quantization | None:
        key = id(table.node)
        if key not in self._made:
            given = options.of_table(self.resolver, table, where)
            holder = table.node if isinstance(table.node, cst.Call) else cst.Call(cst.Name("dict"))
            span = self.span(table.node)
            settings = {n: self.setting(n, g) for n, g in given.given.items()}
            if given.open and "llm_int8_threshold" not in settings:
                settings["llm_int8_threshold"] = Setting(State.UNKNOWN)
            flag = next((n for n in ("load_in_8bit", "load_in_4bit") if n in given.given), "")
            fact = assemble.bitsandbytes(
                settings, WRAPPERS["transformers"], span=span, spelled="quantization_config",
                editor=CallEditor(self.program, holder, given, _BNB_NAMES, anchor=flag),
                role=self.role,
            )  # fmt: skip
            self._made[key] = fact
            if fact is not None:
                self.facts.append(fact)
        return self._made[key]

    def _prequantised(self, given: Given | None, model: "Setting[str]") -> Quantization | None:
        """The quantisation that a repository's name says it was saved with."""
        saved = assemble.saved_in_4_bit(str(model.value))
        if given is None or not saved:
            return None
        editor = None
        if isinstance(given.value, cst.SimpleString):
            source = self.program.source(given.value)
            bare = assemble.PREQUANTISED.sub("", str(model.value))
            text = source.replace(str(model.value), bare)
            editor = TextEditor(self.program, given.value, {Drop("quantization"): text})
        span = model.span or self.span(given.value)
        fact = Quantization(
            span, "transformers", str(model.value),
            Setting(State.KNOWN, Method.NF4, span, Via.IMPLIED, str(model.value)),
            compute_dtype=assemble.default("bfloat16"), quant_type=assemble.default("nf4"),
            role=self.role,
        )  # fmt: skip
        if editor is not None:
            fact = replace(fact, editor=editor)
        self.facts.append(fact)
        return fact

    def model(self, callee: Callee, given: Options, call: cst.Call) -> "Setting[str]":
        """The model's id, where the call or the tuple around it names one."""
        found = given.get(*callee.model)
        if found is None:
            sibling = self._sibling(call)
            found = sibling if sibling is not None else found
        return self.text("model", found)

    def text(self, name: str, given: Given | None) -> "Setting[str]":
        """A setting that must be text; anything else is unknown."""
        written = self.setting(name, given)
        if written.known and not isinstance(written.value, str):
            return Setting(State.UNKNOWN, None, written.span, written.via, name)
        return written  # type: ignore[return-value]

    def _sibling(self, call: cst.Call) -> Given | None:
        """The id beside a loader in a registry: `("org/model-1B", partial(load, …))`."""
        for node, place in self.program.places.items():
            if not isinstance(node, cst.Tuple):
                continue
            members = [e.value for e in node.elements]
            if call not in members:
                continue
            texts = [m for m in members if isinstance(m, cst.SimpleString)]
            if len(texts) == 1 and "/" in str(texts[0].evaluated_value):
                values = self.resolver.value(texts[0], self.resolver.where(place))
                return Given(values, texts[0], None, texts[0])
        return None

    def name_of(self, call: cst.Call) -> str:
        """The name that a call's result is bound to; empty where none is."""
        for scope in self.program.scopes.values():
            for name, bindings in scope.bindings.items():
                if any(b.value is call for b in bindings):
                    return name
        for assignment in self.program.attributes:
            if assignment.value is call:
                return f"{dotted(assignment.base)}.{assignment.key}"
        return ""

    # --- engines and hardware --------------------------------------------------------------

    def _engine(self, callee: Callee, call: cst.Call, place: Place) -> None:
        engine = ENGINES[callee.library]
        given = self.given(callee, call, self.resolver.where(place))
        options.later(self.resolver, call, given)
        batcher = callee.makes is Makes.BATCHER or callee.library == "litserve"
        if batcher and not any(n in engine.options for n in given.given):
            return
        settings = {name: self.setting(name, g) for name, g in given.given.items()}
        names: dict[str, str] = {}
        quantising: list[str] = []
        for name in given.given:
            option = engine.options.get(name)
            if option is not None:
                names.setdefault(option.field, name)
                if option.field in ("quantization", "load_format", "torchao"):
                    quantising.append(name)
        names["quantization"] = " ".join(quantising)
        role = self.role if self.role is not Role.INFERENCE else Role.SERVICE
        self.facts.extend(
            assemble.serving(
                engine,
                settings,
                span=self.span(call.func),
                spelled=dotted(call.func),
                editor=CallEditor(self.program, call, given, names),
                role=role,
            )
        )

    def _hardware(self, call: cst.Call, place: Place) -> None:
        """`@app.function(gpu="T4")` of Modal, `accelerator_type="A10G"` of Ray."""
        tail = dotted(call.func).rpartition(".")[2]
        for keyword, kind, tails in _HARDWARE:
            if tail not in tails:
                continue
            for arg in call.args:
                if arg.keyword is None or arg.keyword.value != keyword:
                    continue
                for value in self.resolver.value(arg.value, self.resolver.where(place)):
                    if isinstance(value, Const) and isinstance(value.value, str):
                        name, _, count = value.value.partition(":")
                        self.facts.append(
                            Hardware(self.span(arg.value), name, kind,
                                     int(count) if count.isdigit() else 1, self.role)
                        )  # fmt: skip


_HARDWARE = (
    ("gpu", "modal_gpu", frozenset({"function", "cls"})),
    ("accelerator_type", "ray_accelerator_type", frozenset({"LLMConfig"})),
)


class _Redirect:
    """An editor for a place where dropping the quantisation means setting an option."""

    def __init__(self, editor: CallEditor, instead: Set) -> None:
        self._editor = editor
        self._instead = instead

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """Every wished change becomes the one that this library understands."""
        return self._editor.edits(self._instead) if changes else None


def _is_argument(given: Options) -> bool:
    found = given.get(*_QUANTIZATION_KEYS, "load_in_4bit", "load_in_8bit")
    return found is None or isinstance(found.holder, cst.Arg)
