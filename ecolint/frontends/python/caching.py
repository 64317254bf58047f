"""Where a program switches the KV cache off, and whether anything is generated without it."""

import re
from typing import TYPE_CHECKING

import libcst as cst

from ecolint.facts import Fact, Generation, Where
from ecolint.frontends.python import builtin_calls, evidence, options
from ecolint.frontends.python.declared import argument
from ecolint.frontends.python.editing import CallEditor
from ecolint.frontends.python.options import Given, Options
from ecolint.frontends.python.program import Assignment, Place, dotted
from ecolint.frontends.python.values import Table

if TYPE_CHECKING:
    from ecolint.frontends.python.recognise import Recogniser

_NAMES = {"use_cache": "use_cache"}


def read(recogniser: "Recogniser") -> list[Fact]:
    """The `Generation` facts of a cache that is off without the generating call saying so."""
    found: list[Fact] = []
    for place in recogniser.program.calls:
        call = place.node
        assert isinstance(call, cst.Call)
        name = dotted(call.func)
        if name.endswith(_CONFIGS):
            found.extend(_configured(recogniser, call, place))
        elif name.endswith("Thread"):
            found.extend(_threaded(recogniser, call, place))
    return [*found, *_attribute_cache(recogniser), *_decode_loops(recogniser)]


_CONFIGS = ("GenerationConfig", "Config.from_pretrained")


def _configured(recogniser: "Recogniser", call: cst.Call, place: Place) -> list[Fact]:
    """A configuration without a cache, made for generation or in a program that generates."""
    given = options.of_call(recogniser.resolver, call, recogniser.resolver.where(place))
    options.later(recogniser.resolver, call, given)
    if dotted(call.func).endswith("Config.from_pretrained"):
        own = given.given.get("use_cache")
        if own is None or not isinstance(own.holder, cst.Arg) or not _generates(recogniser):
            return []  # assigned later: `_attribute_cache` knows in which order
    return _off(recogniser, call, place, given, dotted(call.func))


def _threaded(recogniser: "Recogniser", call: cst.Call, place: Place) -> list[Fact]:
    """`Thread(target=model.generate, kwargs=…)`, as streaming is written."""
    target, kwargs = argument(call, "target", 1), argument(call, "kwargs", 4)
    if target is None or kwargs is None or not dotted(target.value).endswith(".generate"):
        return []
    where = recogniser.resolver.where(place)
    given = Options({})
    for value in recogniser.resolver.value(kwargs.value, where):
        if isinstance(value, Table):
            given.given.update(options.of_table(recogniser.resolver, value, where).given)
    return _off(recogniser, call, place, given, dotted(target.value))


def _off(
    recogniser: "Recogniser", call: cst.Call, place: Place, given: Options, spelled: str
) -> list[Fact]:
    cache = recogniser.setting("use_cache", given.get("use_cache"))
    if not cache.is_(False) or not recogniser.alive(place):
        return []
    return [
        Generation(
            recogniser.span(call.func), "transformers", spelled,
            use_cache=cache, role=recogniser.role,  # type: ignore[arg-type]
            editor=CallEditor(recogniser.program, call, given, _NAMES),
        )
    ]  # fmt: skip


def _generates(recogniser: "Recogniser") -> bool:
    return ".generate(" in recogniser.program.view.text


def _attribute_cache(recogniser: "Recogniser") -> list[Fact]:
    """`model.config.use_cache = False` that is still in force when something generates."""
    program = recogniser.program
    last: dict[str, Assignment] = {}
    updated = (change for change, _ in builtin_calls.updates(recogniser.resolver))
    for assignment in (*program.attributes, *updated):
        base = dotted(assignment.base)
        # An encoder's configuration is copied from its decoder's, and has no cache to use.
        wanted = (
            assignment.key == "use_cache"
            and base.endswith(("config", "cfg"))
            and not base.rpartition(".")[2].startswith("encoder")
        )
        if wanted and recogniser.resolver.branches.live(assignment.place.frame) is not False:
            last[evidence.root_name(assignment.base)] = assignment
    found: list[Fact] = []
    for assignment in last.values():
        given = Given(
            recogniser.resolver.value(
                assignment.value, recogniser.resolver.where(assignment.place)
            ),
            assignment.value,
            assignment.place.node,
            assignment.place.node,
        )
        written = recogniser.setting(f"{dotted(assignment.base)}.use_cache", given)
        if written.is_(False) and _generates_after(recogniser, assignment):
            found.append(
                Generation(
                    recogniser.span(assignment.place.node), "transformers", written.name,
                    use_cache=written, role=recogniser.role,  # type: ignore[arg-type]
                    editor=CallEditor(
                        program, cst.Call(cst.Name("x")), Options({"use_cache": given}),
                        {"use_cache": "use_cache"},
                    ),
                )
            )  # fmt: skip
    return found


def _generates_after(recogniser: "Recogniser", assignment: Assignment) -> bool:
    here = assignment.place.frame.function()
    for place in recogniser.program.calls:
        call = place.node
        assert isinstance(call, cst.Call)
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "generate":
            continue
        if argument(call, "use_cache") is not None:
            continue
        if place.frame.function() is not here or place.order > assignment.place.order:
            return True
    return False


def _decode_loops(recogniser: "Recogniser") -> list[Fact]:
    """A loop that calls the forward pass on a growing prompt and never keeps the cache."""
    found: list[Fact] = []
    for place in recogniser.program.calls:
        call = place.node
        assert isinstance(call, cst.Call)
        loop = next((f for f in place.frame.chain() if f.kind in ("for", "while")), None)
        if loop is None or loop.node is None or not call.args:
            continue
        if not evidence.is_model(recogniser.resolver, call.func, place):
            continue
        if argument(call, "past_key_values") or argument(call, "labels"):
            continue
        ids = call.args[0].value
        source = recogniser.program.source(loop.node)
        name = dotted(ids)
        if name and re.search(rf"\b{re.escape(name)}\s*=\s*torch\.(cat|hstack|concat)\(", source):
            found.append(
                Generation(
                    recogniser.span(call.func), "transformers", dotted(call.func),
                    where=Where.LOOP, handwritten=True, role=recogniser.role,
                )
            )  # fmt: skip
    return found
