"""Know models and GPUs by the names that people write.

A model's size comes from data/models.csv, else from its name; where neither tells it the
answer is None, for a rule must not fire on a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from ecolint.energy.dataset import number, read_table
from ecolint.modelname import Named, candidates, parse_name, strip_suffixes

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Model:
    """A language model: sizes in billions of parameters, dimensions where known.

    `nominal_b` is the size that the id names, `params_b` the exact one where we have it.
    """

    id: str
    params_b: float
    nominal_b: float
    active_params_b: float
    kind: str  # dense, moe, encoder, ssm
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    context: int | None = None
    prequantised: str | None = None
    exact: bool = False

    @property
    def moe(self) -> bool:
        """Tell whether only a part of the parameters works on a token."""
        return self.kind == "moe"


@dataclass(frozen=True, slots=True)
class Gpu:
    """A card: memory in GB, bandwidth in GB/s, board power in W, FP16 in TFLOPS.

    `sliced` marks a part of a card, whose memory is None where the label does not tell it.
    """

    key: str
    name: str
    vendor: str
    architecture: str
    compute_capability: str
    vram_gb: float | None
    bandwidth_gb_s: float | None
    tdp_w: float | None
    idle_w: float | None
    fp16_tflops: float | None
    bf16: bool | None
    fp8: bool | None
    datacenter: bool
    sliced: bool = False


@cache
def find_model(model_id: str) -> Model | None:
    """Return the model that an id, a local path or a bare size names, None if unknown."""
    names = candidates(model_id)
    for name in names:
        line = _lookup_model(name)
        if line is not None:
            return _model_of(line, name, parse_name(name))
    for name in names:
        named = parse_name(name)
        if named.params_b is not None:
            return Model(
                id=name,
                params_b=named.params_b,
                nominal_b=named.nominal_b or named.params_b,
                active_params_b=named.active_b or named.params_b,
                kind=named.kind,
                prequantised=named.prequantised,
            )
    return None


@cache
def find_gpu(text: str) -> Gpu | None:
    """Return the card that a key, a product name or a driver's name means, None if unknown."""
    text = text.strip()
    if not text or len(text) > 80:
        return None
    key = _lookup_gpu(text)
    if key is None:
        return gpu_for_label("k8s_gpu_product", text.replace(" ", "-"))
    return _sliced(_gpus()[key], text)


def gpu_for_label(kind: str, text: str) -> Gpu | None:
    """Return the card behind a label, an instance type or a provider's name for it.

    `kind` is a pattern kind of data/gpu_patterns.csv ("instance" tries every cloud's
    instance types), or the key of a Kubernetes node label.
    """
    reads_as = {line["pattern"]: line["reads_as"] for line in _patterns("k8s_label_key")}
    kind = reads_as.get(kind, kind)
    if kind == "name":
        return find_gpu(text)
    if kind == "aws_family":
        kind, text = "aws_instance", f"{text}.xlarge"
    clouds = ("aws_instance", "sagemaker_instance", "azure_vm", "gcp_machine")
    for one in clouds if kind == "instance" else (kind,):
        for line in _patterns(one):
            if line["gpu"] and re.search(line["pattern"], text, re.IGNORECASE):
                gpu = _gpus()[line["gpu"]]
                if line["slice"] == "yes":
                    return replace(gpu, vram_gb=None, sliced=True)
                return _sliced(gpu, text)
    return None


def suggest_model(text: str) -> tuple[str, ...]:
    """Return the known model ids nearest to `text`, best first."""
    return _nearest(text, model_names())


def suggest_gpu(text: str) -> tuple[str, ...]:
    """Return the known GPU keys nearest to `text`, best first."""
    spellings = {line["gpu"]: line["gpu"] for line in read_table("gpus")}
    spellings |= {line["name"]: line["gpu"] for line in read_table("gpus")}
    return tuple(dict.fromkeys(spellings[one] for one in _nearest(text, tuple(spellings))))


def model_names() -> tuple[str, ...]:
    """Return the ids of data/models.csv."""
    return tuple(line["model"] for line in read_table("models"))


def gpu_keys() -> tuple[str, ...]:
    """Return the keys of data/gpus.csv."""
    return tuple(_gpus())


def _nearest(text: str, names: tuple[str, ...]) -> tuple[str, ...]:
    from difflib import get_close_matches

    folded = {name.lower(): name for name in names}
    return tuple(folded[one] for one in get_close_matches(text.lower(), folded, n=3, cutoff=0.5))


@cache
def _model_index() -> Mapping[str, Mapping[str, str]]:
    """Index the models by id and bare name, and by name without suffixes.

    A name without suffixes that would stand for two sizes stands for none.
    """
    index: dict[str, Mapping[str, str]] = {}
    short: dict[str, Mapping[str, str]] = {}
    for line in read_table("models"):
        full = line["model"].lower()
        bare = full.rpartition("/")[2]
        index[full] = line
        index.setdefault(bare, line)
        other = short.setdefault(strip_suffixes(bare), line)
        if other["params_b"] != line["params_b"]:
            short[strip_suffixes(bare)] = {**other, "params_b": ""}
    return {name: line for name, line in short.items() if line["params_b"]} | index


def _lookup_model(name: str) -> Mapping[str, str] | None:
    index = _model_index()
    folded = name.lower()
    bare = folded.rpartition("/")[2]
    return index.get(folded) or index.get(bare) or index.get(strip_suffixes(bare))


def _model_of(line: Mapping[str, str], name: str, named: Named) -> Model:
    def whole(column: str) -> int | None:
        return int(line[column]) if line[column] else None

    params = float(line["params_b"])
    return Model(
        id=name if "/" in name else line["model"],
        params_b=params,
        nominal_b=named.nominal_b or params,
        active_params_b=float(line["active_params_b"]),
        kind=line["kind"],
        layers=whole("layers"),
        hidden=whole("hidden"),
        heads=whole("heads"),
        kv_heads=whole("kv_heads"),
        head_dim=whole("head_dim"),
        context=whole("context"),
        prequantised=named.prequantised or line["prequantised"] or None,
        exact=True,
    )


@cache
def _gpus() -> Mapping[str, Gpu]:
    return {line["gpu"]: _gpu_of(line) for line in read_table("gpus")}


def _gpu_of(line: Mapping[str, str]) -> Gpu:
    said = {"yes": True, "no": False, "": None}
    return Gpu(
        key=line["gpu"],
        name=line["name"],
        vendor=line["vendor"],
        architecture=line["architecture"],
        compute_capability=line["compute_capability"],
        vram_gb=number(line["vram_gb"]),
        bandwidth_gb_s=number(line["bandwidth_gb_s"]),
        tdp_w=number(line["tdp_w"]),
        idle_w=number(line["idle_w"]),
        fp16_tflops=number(line["fp16_tflops"]),
        bf16=said[line["bf16"]],
        fp8=said[line["fp8"]],
        datacenter=line["datacenter"] == "yes",
    )


@cache
def _gpu_index() -> Mapping[str, str]:
    index: dict[str, str] = {}
    for line in read_table("gpus"):
        for spelling in (line["gpu"], line["name"], *line["aliases"].split("|")):
            if spelling:
                index[_fold(spelling)] = line["gpu"]
    return index


@cache
def _patterns(kind: str) -> tuple[Mapping[str, str], ...]:
    return tuple(line for line in read_table("gpu_patterns") if line["kind"] == kind)


def _lookup_gpu(text: str) -> str | None:
    index = _gpu_index()
    # "A100:8", "8x H100", "L4 x2" count cards; "-MIG-..." and "-SHARED" name a part of one.
    bare = re.sub(r"(?i)[:x]\s*\d{1,2}$|^\d{1,2}\s*[x*]\s*(?=\D)|-(?:mig-.*|shared)$", "", text)
    unsized = re.sub(r"(?i)[\s_-]+\d+\s*gi?b\b.*$", "", bare)
    for spelling in (bare, unsized):
        folded = _fold(spelling)
        for key in (folded, re.sub(r"^(?:nvidia|geforce|tesla|quadro)+", "", folded)):
            if key in index:
                return index[key]
    return None


def _fold(spelling: str) -> str:
    return re.sub(r"[^a-z0-9]", "", spelling.lower())


def _sliced(gpu: Gpu, text: str) -> Gpu:
    """Return the part of the card that a MIG or shared label leaves, else the card."""
    part = re.search(r"(?i)mig-\d+g\.(\d+)gb", text)
    if part is not None:
        return replace(gpu, vram_gb=float(part[1]), sliced=True)
    if re.search(r"(?i)-shared$", text):
        return replace(gpu, vram_gb=None, sliced=True)
    return gpu
