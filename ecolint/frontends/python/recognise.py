"""From calls to facts: what each call that we know makes of its options."""

import re

import libcst as cst

from ecolint import assemble
from ecolint.diagnostics import Edit, Span
from ecolint.dialects import python_calls as calls
from ecolint.dialects.bitsandbytes import WRAPPERS
from ecolint.dialects.engines import ENGINES
from ecolint.dialects.python_calls import Callee, Makes
from ecolint.facts import (
    Change,
    Editor,
    Fact,
    Hardware,
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
from ecolint.frontends.python.quantizing import QUANTIZATION_KEYS, Quantizer
from ecolint.frontends.python.resolve import Resolver
from ecolint.frontends.python.values import (
    Const,
    LocalClass,
    Made,
    Partial,
    Ref,
    Unknown,
    Value,
    Where,
)
from ecolint.frontends.python.values import (
    Method as Attribute,
)

_DRAFT = re.compile(r"draft|assistant", re.IGNORECASE)
_REMOVED_IN = frozenset({"transformers", "langchain", "llama-index", "haystack"})
_GENERATING = frozenset({"langchain", "llama-index", "haystack"})


class Recogniser:
    """Turns one program into facts."""

    def __init__(self, program: Program, role: purpose.Purpose) -> None:
        """Prepare; `read` does the work."""
        self.program = program
        self.resolver = Resolver(program)
        self.purpose = role
        self.surroundings = generation.Surroundings(program, self.resolver)
        self.compiled = evidence.compiled(self.resolver)
        self.quantizer = Quantizer(self)
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

    def alive(self, place: Place) -> bool:
        """Whether a place runs by default: not in a branch that nobody has asked for."""
        live = self.resolver.branches.live(place.frame)
        return live is not False and not self.resolver.branches.opted(place.frame)

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
            self.quantizer.quantization(call, self.resolver.where(place))
        elif makes is Makes.QUANTIZE:
            self.quantizer.quantize_in_place(call, place)
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
            quantization = self.quantizer.prequantised(given.get(*callee.model), model)
        names = {
            "quantization": " ".join(QUANTIZATION_KEYS),
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
                options.is_open_value(given.get(k)) for k in QUANTIZATION_KEYS
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
        config = given.get(*QUANTIZATION_KEYS)
        if config is not None:
            return self.quantizer.from_config(config, where)
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
        fact = self.quantizer.bitsandbytes(call, direct, wrapper, "", removed)
        if fact is not None:
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
    found = given.get(*QUANTIZATION_KEYS, "load_in_4bit", "load_in_8bit")
    return found is None or isinstance(found.holder, cst.Arg)
