"""Read a model's size, kind and weight format out of its name."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Named:
    """What a name tells; None where it is silent. Sizes in billions of parameters."""

    params_b: float | None
    nominal_b: float | None
    active_b: float | None
    kind: str
    prequantised: str | None


# Two Mixtral sizes carry 83 % of experts times size: attention is shared.
_SHARED_EXPERTS = 0.83
_SMALLEST_B = 0.005

_FORMATS = (
    ("bnb-4bit", r"bnb-4bits?|nf4|bnb-nf4"),
    ("bnb-8bit", r"bnb-8bits?|bnb-int8"),
    ("awq", r"awq"),
    ("gptq", r"gptq"),
    ("gguf", r"gguf|ggml|i?q\d_(?:[0-9k](?:_[sml])?)"),
    ("nvfp4", r"nvfp4|fp4"),
    ("mxfp4", r"mxfp4"),
    ("fp8", r"fp8(?:-dynamic|-block)?|f8"),
    ("mlx", r"mlx"),
    ("exl2", r"exl[23]"),
    ("hqq", r"hqq"),
    ("aqlm", r"aqlm"),
    ("int4", r"w4a16|int4|4bits?"),
    ("int8", r"w8a(?:8|16)|int8|8bits?"),
)
_SUFFIX = re.compile(
    r"[-_.](?:hf|it|instruct|chat|base|pt|preview|awq|gptq|gguf|ggml|fp8|fp8-dynamic|nvfp4|"
    r"mxfp4|fp16|bf16|mlx|exl2|unsloth|unsloth-bnb-4bit|bnb-4bit|bnb-8bit|nf4|int[48]|"
    r"[48]bits?|w4a16|w8a8|w8a16|dynamic|quantized|i?q\d_[0-9k](?:_[sml])?|safetensors|bin)$"
)
_KINDS = (
    (
        "encoder",
        r"bert|roberta|deberta|electra|minilm|mpnet|\bbge\b|\be5\b|\bgte\b|embed|rerank|"
        r"\bt5\b|flan|bart|pegasus|whisper|wav2vec|hubert|\bclip\b|\bvit\b|siglip|dinov?\d?|"
        r"stable-diffusion|\bsdxl?\b|\bflux\b",
    ),
    ("ssm", r"mamba|rwkv|jamba|zamba|falcon-h1|nemotron-h|nemotron-nano-\d+b-v2|\blfm2"),
    ("moe", r"\bmoe\b|mixtral|olmoe|\bdbrx\b|grok"),
)
_EXPERTS = re.compile(r"(?<![\w.])(\d+)x(\d+(?:\.\d+)?)b(?![a-z0-9])")
_ACTIVE = re.compile(r"(?<![a-z0-9])a(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")
_LLAMA4 = re.compile(r"(?<![\w.])(\d+)b-(\d+)e(?![a-z0-9])")
_EFFECTIVE = re.compile(r"(?<![a-z0-9])e(\d+)b(?![a-z0-9])")
_BLOOM = re.compile(r"(?<![a-z0-9.])(\d+)b(\d)(?![a-z0-9])")
_UNDERSCORED = re.compile(r"(?<![a-z0-9._])(\d+)_(\d)b(?![a-z0-9])")
_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)\s?([bm])(?![a-z0-9])")
_DECOY = re.compile(
    r"\d+(?:\.\d+)?-?bits?\b"  # 4bit
    r"|(?<![\d.])\d+k(?![a-z0-9])"  # 128k of context
    r"|(?<![a-z\d.])\d+t(?![a-z0-9])"  # 3T of training tokens
    r"|(?<![a-z])b1\.58"  # ternary weights
    r"|-1m(?=$|[-_.:/])"  # a million tokens of context
)


def candidates(model_id: str) -> list[str]:
    """Return the names that an id, URL or path may mean, likeliest first."""
    text = model_id.strip().strip("\"'").rstrip("/\\")
    if not text or len(text) > 300 or re.search(r"[\s${}<>*|]", text):
        return []
    text = re.sub(r"^[a-z0-9+]+://(?:huggingface\.co/)?", "", text, flags=re.IGNORECASE)
    cached = re.search(r"models--([^/\\]+)", text)
    if cached:
        return [cached[1].replace("--", "/")]
    parts = [part for part in re.split(r"[/\\]", text) if part not in ("", ".", "..", "~")]
    names = [text] if len(parts) == 2 and not re.match(r"[./~\\]", text) else []
    # The last four folders of a path: "models/Qwen2.5-7B-Instruct/checkpoint-500/final".
    return names + list(reversed(parts[-4:]))


def strip_suffixes(name: str) -> str:
    """Return a lower-case name without the endings that don't change the size."""
    while True:
        shorter = _SUFFIX.sub("", name)
        if shorter in ("", name):
            return name
        name = shorter


def parse_name(name: str) -> Named:
    """Read a name; the organisation before a slash only tells the weight format."""
    folded = name.lower()
    bare = folded.rpartition("/")[2]
    size, nominal, active = _size(_DECOY.sub("-", bare))
    kind = _kind(bare)
    if kind == "dense" and active is not None:
        kind = "moe"
    return Named(size, nominal, active, kind, _format(folded))


def _size(text: str) -> tuple[float | None, float | None, float | None]:
    """Return the total, the named and the active size."""
    experts = _EXPERTS.search(text)
    if experts:
        total = int(experts[1]) * float(experts[2])
        return _SHARED_EXPERTS * total, total, None
    if _LLAMA4.search(text):  # the number is the active size; the total is not in the name
        return None, None, None
    effective = _EFFECTIVE.search(text)
    if effective:  # embeddings per layer are left out of the name; the raw size is unknown
        return None, float(effective[1]), None
    sizes = [float(f"{match[1]}.{match[2]}") for match in _BLOOM.finditer(text)]
    sizes += [float(f"{match[1]}.{match[2]}") for match in _UNDERSCORED.finditer(text)]
    text = _UNDERSCORED.sub("-", text)
    sizes += [_billions(match[1], match[2]) for match in _SIZE.finditer(text)]
    sizes = [size for size in sizes if size >= _SMALLEST_B]
    if not sizes:
        return None, None, None
    active = _ACTIVE.search(text)
    if active:
        return max(sizes), max(sizes), _billions(active[1], active[2])
    if len(sizes) > 1 and re.search(r"olmoe|moe", text):
        return max(sizes), max(sizes), min(sizes)
    return max(sizes), max(sizes), None


def _billions(digits: str, unit: str) -> float:
    return float(digits) / (1000 if unit == "m" else 1)


def _kind(bare: str) -> str:
    if _EXPERTS.search(bare) or _LLAMA4.search(bare):
        return "moe"
    for kind, words in _KINDS:
        if re.search(words, bare):
            return kind
    return "dense"


def _format(folded: str) -> str | None:
    for name, words in _FORMATS:
        if re.search(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])", folded):
            return name
    return None
