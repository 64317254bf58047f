"""From the calls that configure a quantiser to the quantisation that they ask for."""

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from ecolint import assemble
from ecolint.dialects import Scheme, Wrapper
from ecolint.dialects import python_calls as calls
from ecolint.dialects.bitsandbytes import WRAPPERS
from ecolint.dialects.python_calls import Callee, Makes
from ecolint.facts import Drop, Method, Quantization, Role, Setting, State, Via
from ecolint.frontends.python import evidence, options
from ecolint.frontends.python.editing import CallEditor, TextEditor
from ecolint.frontends.python.options import Given, Options
from ecolint.frontends.python.program import Place, dotted
from ecolint.frontends.python.values import Const, Made, Table, Where

if TYPE_CHECKING:
    from ecolint.frontends.python.recognise import Recogniser

_BNB_NAMES = {
    "threshold": "llm_int8_threshold",
    "compute_dtype": "bnb_4bit_compute_dtype",
    "quant_type": "bnb_4bit_quant_type",
    "double_quant": "bnb_4bit_use_double_quant",
}
_NOT_REMOVED: Setting[str] = Setting()
_NF4: dict[str, tuple[Method, float | None]] = {
    "nf4": (Method.NF4, None), "nf4-dq": (Method.NF4, None), "fp4": (Method.FP4, None),
    "fp4-dq": (Method.FP4, None), "int8": (Method.INT8, 6.0),
}  # fmt: skip
QUANTIZATION_KEYS = ("quantization_config", "bnb_quantization_config")


class Quantizer:
    """Reads quantisation settings for a recogniser; each configuration is one fact."""

    def __init__(self, host: "Recogniser") -> None:
        """Remember the recogniser, whose facts grow here."""
        self.host = host
        self._made: dict[int, Quantization | None] = {}
        self._building: set[int] = set()
        self._passed_to_loads = self._configurations_of_loads()

    def quantization(self, call: cst.Call, where: Where) -> Quantization | None:
        """The quantisation that a configuration call makes; the same fact each time."""
        key = id(call)
        if key not in self._made and key not in self._building:
            self._building.add(key)
            found = self.host.identify(call, where)
            fact = self._configured(found[0], call, where) if found else None
            self._made[key] = fact
            if fact is not None:
                self.host.facts.append(fact)
        return self._made.get(key)

    def _configured(self, callee: Callee, call: cst.Call, where: Where) -> Quantization | None:
        given = options.of_call(self.host.resolver, call, where, callee.positional)
        options.later(self.host.resolver, call, given)
        for name in callee.nested:
            inner = options.nested(self.host.resolver, given, name, where)
            given.given.update(inner.given)
            given.given.pop(name, None)
            given.open |= inner.open
        if callee.makes is Makes.BNB_LAYER:
            return self._layer(call, given)
        if callee.makes is Makes.BNB_CONFIG:
            return self.bitsandbytes(call, given, WRAPPERS[callee.library], dotted(call.func))
        if callee.makes is Makes.TORCHAO_HOLDER:
            return self._torchao(call, given.get("quant_type"), where)
        if callee.makes is Makes.NAMED_BACKEND:
            return self._named_backend(callee, call, given, where)
        if callee.makes is Makes.OTHER_CONFIG:
            span = self.host.span(call.func)
            method = Setting(State.KNOWN, callee.method, span)
            return Quantization(
                span, "transformers", dotted(call.func), method, role=self.host.role
            )
        return None

    def bitsandbytes(
        self,
        call: cst.Call,
        given: Options,
        wrapper: Wrapper,
        spelled: str,
        removed: "Setting[str]" = _NOT_REMOVED,
    ) -> Quantization | None:
        """The quantisation of a call with options under the names of transformers."""
        settings = {name: self.host.setting(name, g) for name, g in given.given.items()}
        if given.open and "llm_int8_threshold" not in settings:
            settings["llm_int8_threshold"] = Setting(State.UNKNOWN, name="llm_int8_threshold")
        flag = next((n for n in ("load_in_8bit", "load_in_4bit") if n in given.given), "")
        return assemble.bitsandbytes(
            settings,
            wrapper,
            span=self.host.span(call.func),
            spelled=spelled.rpartition(".")[2] or flag,
            editor=CallEditor(self.host.program, call, given, _BNB_NAMES, anchor=flag),
            role=self.host.role,
            removed=removed,
        )

    def _layer(self, call: cst.Call, given: Options) -> Quantization | None:
        threshold = self.host.setting("threshold", given.get("threshold"))
        if not isinstance(threshold.value, (int, float)) or not threshold.value:
            return None
        span = self.host.span(call.func)
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
            role=self.host.role,
            editor=CallEditor(self.host.program, call, given, {"threshold": "threshold"}),
        )

    def _torchao(self, call: cst.Call, given: Given | None, where: Where) -> Quantization | None:
        scheme = self._torchao_scheme(given) if given is not None else None
        if given is None or scheme is None:
            return None
        loaded = call in self._passed_to_loads
        if scheme.method is Method.TORCHAO_INT and not loaded:
            return None  # saved or handed on: whoever runs it may well compile it
        span = self.host.span(given.value)
        return Quantization(
            self.host.span(call.func),
            "torchao",
            self.host.program.source(given.value),
            Setting(State.KNOWN, scheme.method, span, Via.LITERAL, dotted(call.func)),
            compiled=self.host.compiled.setting(""),
            role=self.host.role,
        )

    def _torchao_scheme(self, given: Given) -> Scheme | None:
        """What torchao configuration a value is: an object, a function or a short name."""
        schemes: set[Scheme | None] = set()
        for value in given.values:
            if isinstance(value, Const) and isinstance(value.value, str):
                schemes.add(assemble.torchao_scheme(value.value))
                continue
            target = (
                value.target
                if isinstance(value, Made)
                else self.host.resolver.functions.target(value)
            )
            callee = calls.find(target) if target else None
            known = callee is not None and callee.makes is Makes.TORCHAO_CONFIG
            schemes.add(Scheme(callee.method) if callee is not None and known else None)
        return schemes.pop() if len(schemes) == 1 else None

    def quantize_in_place(self, call: cst.Call, place: Place) -> None:
        """Note what `quantize_(model, config)` does to a model."""
        given = options.of_call(
            self.host.resolver, call, self.host.resolver.where(place), ("model", "config")
        )
        config, model = given.get("config"), given.get("model")
        scheme = self._torchao_scheme(config) if config is not None else None
        if config is None or scheme is None:
            return
        root = evidence.root_name(model.value if model is not None else None)
        if scheme.method is Method.TORCHAO_INT and not self._runs(model, root):
            return
        role = self.host.role
        if model is not None and any(
            isinstance(v, Made) and v.target.startswith("torch.nn.") for v in model.values
        ):
            role = Role.BENCHMARK  # a single layer is measured, not served
        span = self.host.span(config.value)
        self.host.facts.append(
            Quantization(
                self.host.span(call.func),
                "torchao",
                self.host.program.source(config.value),
                Setting(State.KNOWN, scheme.method, span, Via.LITERAL, "quantize_"),
                compiled=self.host.compiled.setting(root),
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
        return bool(root) and f"{root}.generate(" in self.host.program.view.text

    def _named_backend(
        self, callee: Callee, call: cst.Call, given: Options, where: Where
    ) -> Quantization | None:
        if callee.library == "lightning":
            name = given.get("mode", "quantize")
            written = self.host.setting("mode" if "mode" in given.given else "quantize", name)
            if not isinstance(written.value, str):
                return None
            found = _NF4.get(written.value.removeprefix("bnb."))
            if found is None or "training" in written.value:
                return None
            return assemble.scheme(
                written, Scheme(*found), "lightning", spelled=dotted(call.func), role=self.host.role
            )
        backend = self.host.setting("quant_backend", given.get("quant_backend"))
        inner = options.nested(self.host.resolver, given, "quant_kwargs", where)
        if backend.value in ("bitsandbytes_8bit", "bitsandbytes_4bit"):
            flag = f"load_in_{str(backend.value)[-4:]}"
            settings = {n: self.host.setting(n, g) for n, g in inner.given.items()}
            settings.setdefault(flag, replace(backend, value=True))
            return assemble.bitsandbytes(
                settings, WRAPPERS["diffusers"], span=self.host.span(call.func),
                spelled=str(backend.value), role=self.host.role,
                editor=CallEditor(self.host.program, call, inner, _BNB_NAMES, anchor=flag),
            )  # fmt: skip
        return self._torchao(call, inner.get("quant_type"), where)

    def from_config(self, config: Given, where: Where) -> Quantization | None:
        """The quantisation of a load whose `quantization_config` is given."""
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
            given = options.of_table(self.host.resolver, table, where)
            holder = table.node if isinstance(table.node, cst.Call) else cst.Call(cst.Name("dict"))
            span = self.host.span(table.node)
            settings = {n: self.host.setting(n, g) for n, g in given.given.items()}
            if given.open and "llm_int8_threshold" not in settings:
                settings["llm_int8_threshold"] = Setting(State.UNKNOWN)
            flag = next((n for n in ("load_in_8bit", "load_in_4bit") if n in given.given), "")
            fact = assemble.bitsandbytes(
                settings, WRAPPERS["transformers"], span=span, spelled="quantization_config",
                editor=CallEditor(self.host.program, holder, given, _BNB_NAMES, anchor=flag),
                role=self.host.role,
            )  # fmt: skip
            self._made[key] = fact
            if fact is not None:
                self.host.facts.append(fact)
        return self._made[key]

    def prequantised(self, given: Given | None, model: "Setting[str]") -> Quantization | None:
        """The quantisation that a repository's name says it was saved with."""
        saved = assemble.saved_in_4_bit(str(model.value))
        if given is None or not saved:
            return None
        editor = None
        if isinstance(given.value, cst.SimpleString):
            source = self.host.program.source(given.value)
            bare = assemble.PREQUANTISED.sub("", str(model.value))
            text = source.replace(str(model.value), bare)
            editor = TextEditor(self.host.program, given.value, {Drop("quantization"): text})
        span = model.span or self.host.span(given.value)
        fact = Quantization(
            span, "transformers", str(model.value),
            Setting(State.KNOWN, Method.NF4, span, Via.IMPLIED, str(model.value)),
            compute_dtype=assemble.default("bfloat16"), quant_type=assemble.default("nf4"),
            role=self.host.role,
        )  # fmt: skip
        if editor is not None:
            fact = replace(fact, editor=editor)
        self.host.facts.append(fact)
        return fact

    def _configurations_of_loads(self) -> set[cst.Call]:
        """The calls whose results some load in this file is given as its configuration."""
        found: set[cst.Call] = set()
        for place in self.host.program.calls:
            call = place.node
            assert isinstance(call, cst.Call)
            for arg in call.args:
                if arg.keyword is not None and arg.keyword.value in QUANTIZATION_KEYS:
                    values = self.host.resolver.value(arg.value, self.host.resolver.where(place))
                    found.update(v.call for v in values if isinstance(v, Made))
        return found
