"""Dialects: what an option is called, where, and what it defaults to. Tables only.

A front-end knows syntax and hands over options under their own names; `ecolint.assemble`
reads these tables and makes facts. A new spelling is a line here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as attribute
from types import MappingProxyType

from ecolint.facts import Method

_NOTHING: Mapping[object, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Option:
    """What an option of an engine means.

    `field` is the field of `Serving` (or "model", "quantization", "load_format") that it
    sets; `inverted` tells that true means false there; `values` translates what is written.
    """

    field: str
    inverted: bool = False
    values: Mapping[object, object] = attribute(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class Scheme:
    """What a value of a quantisation option runs.

    `threshold` is LLM.int8()'s threshold that the tool hard-wires; None where it has none.
    """

    method: Method
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """An inference server or engine: its options in snake_case, and its habits."""

    name: str
    options: Mapping[str, Option]
    schemes: Mapping[str, Scheme] = attribute(default_factory=dict)
    prefix_cache_default: bool = False
    batches_itself: bool = True
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A library that hands options to bitsandbytes, and what it does when they are left out.

    `compute_dtype` and `quant_type` are the 4-bit defaults (None: chosen well or elsewhere);
    `float_threshold` tells that an int threshold raises; `settable` that a threshold can be
    given at all; `strict` that unknown options are ignored in silence.
    """

    name: str
    threshold: float = 6.0
    quant_type: str | None = "fp4"
    compute_dtype: str | None = "float32"
    float_threshold: bool = False
    settable: bool = True
    ignores_unknown: bool = False
