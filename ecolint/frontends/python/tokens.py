"""Calls that make tokens, and what is said about the compiler and the KV cache."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from ecolint import assemble
from ecolint.dialects import python_calls as calls
from ecolint.dialects.python_calls import Callee, Makes
from ecolint.facts import (
    Compilation,
    CompileState,
    Fact,
    Generation,
    Prompts,
    Role,
    Setting,
    Where,
)
from ecolint.frontends.python import builtin_calls, caching, evidence, options
from ecolint.frontends.python.batching import LoopEditor
from ecolint.frontends.python.editing import CallEditor
from ecolint.frontends.python.options import Options
from ecolint.frontends.python.program import Assignment, Place, dotted
from ecolint.frontends.python.values import Made, plain

if TYPE_CHECKING:
    from ecolint.frontends.python.recognise import Recogniser

_METHODS = frozenset({"generate", "generate_batch", "chat", "stream_generate", "batch_generate"})
_TEXT_MODELS = ("ForCausalLM", "AutoTokenizer", "ForSeq2SeqLM", "text-generation", "LMHeadModel")
_SOUND = frozenset({"torchaudio", "soundfile", "librosa", "sounddevice", "pyaudio"})
_PICTURES = frozenset({"PIL", "cv2", "torchvision", "decord"})
_SELF_BATCHING = {"vllm", "sglang", "lmdeploy", "tensorrt-llm"}
_SWITCHES = ("TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE")
_PRODUCTIVE = (Where.HANDLER, Where.LOOP)
_SERVICE_NAME = re.compile(r"serve|server|worker|consume|handle|daemon|run_batch|process", re.I)


def read(recogniser: "Recogniser") -> list[Fact]:
    """The `Generation` and `Compilation` facts of a program."""
    return [
        *_generations(recogniser),
        *_pipelines(recogniser),
        *caching.read(recogniser),
        *_compilation(recogniser),
        *_bare_server(recogniser),
    ]


# --- generating calls ----------------------------------------------------------------------


def _generations(recogniser: "Recogniser") -> list[Fact]:
    found: list[Fact] = []
    for place in recogniser.program.calls:
        call = place.node
        assert isinstance(call, cst.Call)
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in _METHODS:
            continue
        if not recogniser.alive(place):
            continue
        engine = _engine(recogniser, call, place)
        given = options.of_call(recogniser.resolver, call, recogniser.resolver.where(place))
        cache = recogniser.setting("use_cache", given.get("use_cache"))
        if recogniser.setting("", given.get("max_new_tokens")).is_(1):
            cache = Setting()  # the first token needs none
        if engine is None and not cache.is_(False):
            continue
        found.append(
            Generation(
                recogniser.span(call.func),
                engine or "transformers",
                dotted(call.func) or call.func.attr.value,
                where=recogniser.surroundings.where(place),
                prompts=recogniser.surroundings.prompts(call, place),
                batch=_loader_batch(recogniser, place),
                batches_itself=engine in _SELF_BATCHING,
                batched=recogniser.surroundings.batches
                or place.node in recogniser.program.awaited
                or "request_id" in given.given,  # an engine that streams many requests at once
                use_cache=cache,  # type: ignore[arg-type]
                modality=_modality(recogniser, call.func.value, place),
                role=recogniser.role,
                editor=LoopEditor(
                    recogniser.program,
                    call,
                    place,
                    CallEditor(recogniser.program, call, given, {"use_cache": "use_cache"}),
                ),
            )
        )
    return found


def _engine(recogniser: "Recogniser", call: cst.Call, place: Place) -> str | None:
    """Which engine a `.generate()` runs on; None when it may be anything."""
    assert isinstance(call.func, cst.Attribute)
    names = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    for value in recogniser.resolver.value(call.func.value, recogniser.resolver.where(place)):
        if isinstance(value, Made):
            callee = calls.find(value.target)
            if callee is None:
                continue
            if callee.makes is Makes.ENGINE:
                return callee.library
            if callee.makes in (Makes.LOAD, Makes.PIPELINE):
                return "transformers"
    if "sampling_params" in names:
        return "vllm" if "vllm" in recogniser.program.view.text else None
    roots = {name.partition(".")[0] for name in recogniser.program.imports}
    # Speech and image models generate, too; text is told by its tokenizer or its class.
    spoken = any(mark in recogniser.program.view.text for mark in _TEXT_MODELS)
    if names & {"max_new_tokens", "input_ids"} and spoken:
        return "transformers" if "transformers" in roots else None
    return None


def _modality(recogniser: "Recogniser", receiver: cst.BaseExpression, place: Place) -> str:
    """What the generating model works on: by what it is fed, or by the class that loaded it."""
    roots = {name.partition(".")[0] for name in recogniser.program.imports}
    if roots & _SOUND:
        return "audio"
    if roots & _PICTURES and "Processor" in recogniser.program.view.text:
        return "vision"
    for value in recogniser.resolver.value(receiver, recogniser.resolver.where(place)):
        if isinstance(value, Made) and value.target.endswith(".from_pretrained"):
            return calls.modality(value.target.split(".")[-2])
    return ""


def _loader_batch(recogniser: "Recogniser", place: Place) -> "Setting[int]":
    """The batch size of the DataLoader that a loop around the call goes over."""
    for frame in place.frame.chain():
        if frame.kind != "for" or not isinstance(frame.node, cst.For) or frame.parent is None:
            continue
        where = recogniser.resolver.where(Place(frame.node.iter, frame.parent, place.order))
        node = frame.node.iter
        if isinstance(node, cst.Call) and dotted(node.func).endswith(("tqdm", "enumerate")):
            node = node.args[0].value if node.args else node
        for value in recogniser.resolver.value(node, where):
            if isinstance(value, Made) and value.target.endswith("DataLoader"):
                given = options.of_call(
                    recogniser.resolver, value.call, value.where, ("dataset", "batch_size")
                )
                size = given.get("batch_size")
                if size is None:
                    return assemble.default(1, "batch_size")
                return recogniser.setting("batch_size", size)  # type: ignore[return-value]
    return Setting()


# --- pipelines -------------------------------------------------------------------------------


def _pipelines(recogniser: "Recogniser") -> list[Fact]:
    """One fact a pipeline whose batch size is given; one a call that lists prompts without it."""
    found: list[Fact] = []
    used: dict[int, list[tuple[cst.Call, Place]]] = {}
    for place in recogniser.program.calls:
        call = place.node
        assert isinstance(call, cst.Call)
        for value in recogniser.resolver.value(call.func, recogniser.resolver.where(place)):
            if isinstance(value, Made) and _is_pipeline(recogniser, value):
                used.setdefault(id(value.call), []).append((call, place))
    for place in recogniser.program.calls:
        call = place.node
        assert isinstance(call, cst.Call)
        known = recogniser.identify(call, recogniser.resolver.where(place))
        if known is None or not recogniser.alive(place):
            continue
        if known[0].library == "langchain":
            found.extend(_chained(recogniser, known[0], call, place))
        if known[0].makes is not Makes.PIPELINE:
            continue
        given = recogniser.given(known[0], call, recogniser.resolver.where(place))
        task = recogniser.setting("task", given.get("task"))
        if task.known and task.value not in calls.TEXT_TASKS:
            continue
        found.extend(_pipeline(recogniser, call, given, place, used.get(id(call), [])))
    return found


def _chained(recogniser: "Recogniser", callee: Callee, call: cst.Call, place: Place) -> list[Fact]:
    """The batch size that LangChain lowers for its lists of prompts (its own default is 4)."""
    given = recogniser.given(callee, call, recogniser.resolver.where(place))
    batch = recogniser.setting("batch_size", given.get("batch_size"))
    lists = re.search(r"\.(a?batch|map)\(", recogniser.program.view.text)
    if batch.absent:
        return []
    where = recogniser.surroundings.where(place)
    prompts = Prompts.MANY if lists else Prompts.UNKNOWN
    role = recogniser.role
    return [_pipeline_fact(recogniser, call, call, batch, where, prompts, given, role)]


def _is_pipeline(recogniser: "Recogniser", made: Made) -> bool:
    callee = calls.find(made.target)
    return callee is not None and callee.makes is Makes.PIPELINE


def _pipeline(
    recogniser: "Recogniser",
    call: cst.Call,
    given: Options,
    place: Place,
    uses: list[tuple[cst.Call, Place]],
) -> list[Fact]:
    around = recogniser.surroundings
    ways = [(around.where(p), around.prompts(c, p), c, p) for c, p in uses]
    batch = recogniser.setting("batch_size", given.get("batch_size"))
    facts: list[Fact] = []
    if not batch.absent:
        where = next((w for w, _, _, _ in ways if w in _PRODUCTIVE), around.where(place))
        prompts = ways[0][1] if ways else Prompts.UNKNOWN
        if any(many is Prompts.MANY for _, many, _, _ in ways):
            prompts = Prompts.MANY
        role = recogniser.role
        function = place.frame.function()
        named = function is not None and _SERVICE_NAME.search(function.name.value)
        if role is Role.INFERENCE and named:
            role = Role.SERVICE
        facts.append(_pipeline_fact(recogniser, call, call, batch, where, prompts, given, role))
        return facts
    for where, prompts, use, at in ways:
        inner = options.of_call(recogniser.resolver, use, recogniser.resolver.where(at))
        size = recogniser.setting("batch_size", inner.get("batch_size"))
        if size.absent and not inner.open and not given.open:
            size = assemble.default(1, "batch_size")
        facts.append(
            _pipeline_fact(recogniser, use, use, size, where, prompts, inner, recogniser.role)
        )
    return facts


def _pipeline_fact(
    recogniser: "Recogniser",
    call: cst.Call,
    anchor: cst.Call,
    batch: "Setting[object]",
    where: Where,
    prompts: Prompts,
    given: Options,
    role: Role,
) -> Generation:
    return Generation(
        recogniser.span(anchor.func), "transformers", dotted(anchor.func) or "pipeline",
        where=where, prompts=prompts, batch=batch, role=role,  # type: ignore[arg-type]
        batched=recogniser.surroundings.batches and batch.absent,
        use_cache=recogniser.setting("use_cache", given.get("use_cache")),  # type: ignore[arg-type]
        editor=CallEditor(
            recogniser.program, call, given, {"batch": "batch_size", "use_cache": "use_cache"}
        ),
    )  # fmt: skip


# --- the compiler -----------------------------------------------------------------------------


def _compilation(recogniser: "Recogniser") -> list[Fact]:
    found: list[Fact] = []
    program, resolver = recogniser.program, recogniser.resolver
    for place in program.calls:
        call = place.node
        assert isinstance(call, cst.Call)
        if not recogniser.alive(place):
            continue
        where = resolver.where(place)
        given = options.of_call(resolver, call, where)
        editor = CallEditor(program, call, given, {"compile_off": "disable_compile"})
        off = recogniser.setting("disable_compile", given.get("disable_compile"))
        if off.is_(True) and off.span is not None:
            found.append(
                Compilation(
                    off.span, CompileState.DISABLED, "disable_compile", recogniser.role, editor
                )
            )
        if dotted(call.func) == "torch.compile":
            if evidence.is_discarded(place):
                state, spelled = CompileState.DISCARDED, "torch.compile"
            elif evidence.is_disabled(resolver, call, place):
                name = "backend" if "backend" in given.given else "disable"
                state, spelled = CompileState.DISABLED, f"torch.compile({name}=…)"
                editor = CallEditor(program, call, given, {"compile_off": name})
            else:
                continue
            found.append(
                Compilation(recogniser.span(call.func), state, spelled, recogniser.role, editor)
            )
        elif dotted(call.func).endswith("set_stance") and call.args:
            values = {plain(v) for v in resolver.value(call.args[0].value, where)}
            if values == {"force_eager"}:
                found.append(
                    Compilation(
                        recogniser.span(call.args[0].value), CompileState.DISABLED,
                        "torch.compiler.set_stance", recogniser.role,
                    )
                )  # fmt: skip
    return [*found, *_switched_off(recogniser)]


def _environment(recogniser: "Recogniser") -> Iterator[Assignment]:
    """What the program puts into its own environment, item by item or in one go."""
    updated = (change for change, _ in builtin_calls.updates(recogniser.resolver))
    for item in (*recogniser.program.items, *updated):
        if dotted(item.base).endswith("environ"):
            yield item


def _switched_off(recogniser: "Recogniser") -> list[Fact]:
    found: list[Fact] = []
    resolver = recogniser.resolver
    for item in _environment(recogniser):
        where = resolver.where(item.place)
        keys = (
            {item.key}
            if isinstance(item.key, str)
            else {plain(v) for v in resolver.value(item.key, where)}
        )
        values = {plain(v) for v in resolver.value(item.value, where)}
        always = resolver.branches.live(item.place.frame) is True
        if keys & set(_SWITCHES) and values == {"1"} and always:
            found.append(
                Compilation(
                    recogniser.span(item.place.node), CompileState.DISABLED,
                    str(next(iter(keys))), recogniser.role,
                )
            )  # fmt: skip
    for attribute in recogniser.program.attributes:
        if dotted(attribute.base).endswith("_dynamo.config") and attribute.key == "disable":
            values = {
                plain(v) for v in resolver.value(attribute.value, resolver.where(attribute.place))
            }
            if values == {True} and recogniser.alive(attribute.place):
                found.append(
                    Compilation(
                        recogniser.span(attribute.place.node), CompileState.DISABLED,
                        "torch._dynamo.config.disable", recogniser.role,
                    )
                )  # fmt: skip
    return found


def _bare_server(recogniser: "Recogniser") -> list[Fact]:
    """A long-running 16-bit transformers server with neither a compiler nor a static cache."""
    if not recogniser.purpose.serves or recogniser.role is not Role.SERVICE:
        return []
    handled = any(
        isinstance(place.node, cst.Call)
        and isinstance(place.node.func, cst.Attribute)
        and place.node.func.attr.value == "generate"
        and recogniser.surroundings.where(place) is Where.HANDLER
        and _engine(recogniser, place.node, place) == "transformers"
        for place in recogniser.program.calls
    )
    if not handled:
        return []
    found: list[Fact] = []
    for load in recogniser.loads.values():
        sixteen = load.quantization is None and not load.quantization_unknown
        plain = load.library == load.engine == "transformers" and load.modality in ("causal", "")
        if plain and sixteen and load.compiled.is_(False):
            found.append(Compilation(load.span, CompileState.MISSING, "torch.compile", load.role))
    return found[:1]
