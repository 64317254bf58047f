"""Count the tokens in an amount of text: the published rules, and what was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ecolint.energy.dataset import read_table
from ecolint.energy.question import QuestionError

LANGUAGES = {"zh": "Chinese", "en": "English", "code": "Markdown and code"}
UNITS = {"characters": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}
# UTF-8 takes three bytes for a Chinese character.
_BYTES_A_CHARACTER = {"zh": 3.0, "en": 1.0, "code": 1.0}


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens by the published rule, or by a vocabulary, and the range over vocabularies.

    `steps` shows the conversion in words; `rows` name the lines of equivalences.csv.
    """

    tokens: float
    low: float
    high: float
    steps: tuple[str, ...]
    rows: tuple[str, ...]


def count_tokens(
    amount: float, unit: str = "characters", language: str = "en", vocabulary: str | None = None
) -> TokenCount:
    """Return the tokens of an amount of text. Raises QuestionError.

    `unit` is one of UNITS (bytes of UTF-8 text in thousands, or characters), `language` one
    of LANGUAGES, `vocabulary` a measured one ("qwen", "deepseek", "cl100k").
    """
    if language not in LANGUAGES:
        raise QuestionError(f"unknown language {language!r}; use {', '.join(LANGUAGES)}")
    if unit.lower() not in UNITS:
        raise QuestionError(f"unknown unit {unit!r}; use {', '.join(UNITS)}")
    if not math.isfinite(amount) or amount < 0:
        raise QuestionError(f"an amount of {amount:g} is impossible; the nearest valid value is 0")
    characters = amount * UNITS[unit.lower()]
    if unit.lower() != "characters":
        characters /= _BYTES_A_CHARACTER[language]
    rates = _rates(language)
    chosen = _choose(rates, vocabulary, language)
    rate = rates[chosen]
    return TokenCount(
        tokens=characters / rate,
        low=characters / max(rates.values()),
        high=characters / min(rates.values()),
        steps=(
            f"{amount:g} {unit} = {characters:,.0f} characters",
            f"{characters:,.0f} characters ÷ {rate:g} characters a token ({chosen}) "
            f"= {characters / rate:,.0f} tokens",
        ),
        rows=tuple(f"tokens-{language}-{name}" for name in rates),
    )


def _rates(language: str) -> dict[str, float]:
    """Return characters a token by vocabulary, the published rule first where there is one."""
    start = f"tokens-{language}-"
    return {
        line["id"].removeprefix(start): float(line["value"])
        for line in read_table("equivalences")
        if line["id"].startswith(start)
    }


def _choose(rates: dict[str, float], vocabulary: str | None, language: str) -> str:
    if vocabulary is None:
        return "spec" if "spec" in rates else next(iter(rates))
    if vocabulary.lower() not in rates:
        raise QuestionError(
            f"no vocabulary {vocabulary!r} was measured for {LANGUAGES[language]}; "
            f"use {', '.join(rates)}"
        )
    return vocabulary.lower()
