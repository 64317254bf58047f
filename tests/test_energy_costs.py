"""kWh, money, CO2 and tokens: formulas over rows, with the published defaults."""

from typing import Any

import pytest

from ecolint.energy import QuestionError, count_tokens, find_grid, find_pue, footprint
from ecolint.energy.dataset import read_table


def test_a_million_requests_by_hand() -> None:
    # 256 tokens at 9,555 J per 1,000: the gross row of Mistral-7B in INT8 on an RTX 4090D.
    found = footprint(0.256 * 9555, 1e6, "us", 1.0)
    assert found.kwh == pytest.approx(679.5, abs=0.1)
    assert found.usd == pytest.approx(81.54, abs=0.01)
    assert found.kg_co2 == pytest.approx(265.0, abs=0.1)
    assert found.car_km == pytest.approx(265.0 / 0.2485, rel=0.001)
    assert found.phone_charges == pytest.approx(679.5 / 0.015, rel=0.001)


@pytest.mark.parametrize(
    ("region", "price", "intensity"), [("us", 0.12, 390.0), ("cn", 0.085, 555.0)]
)
def test_the_published_defaults(region: str, price: float, intensity: float) -> None:
    grid = find_grid(region)
    assert (grid.usd_per_kwh, grid.g_per_kwh) == (price, intensity)


def test_pue_multiplies_and_defaults_by_place() -> None:
    assert find_pue("cloud") == 1.1
    assert find_pue("local") == 1.0
    assert find_pue(1.4) == 1.4
    plain, cooled = footprint(1e6, 10, pue=1.0), footprint(1e6, 10, pue=1.1)
    assert cooled.kwh == pytest.approx(1.1 * plain.kwh)


def test_any_region_has_its_own_numbers() -> None:
    france, texas = footprint(1e6, 100, "France"), footprint(1e6, 100, "us-tx")
    assert france.kg_co2 is not None
    assert texas.kg_co2 is not None
    assert france.kg_co2 < texas.kg_co2
    assert texas.grid.usd_per_kwh == 0.0882


def test_a_region_without_a_price_asks_for_one() -> None:
    silent = footprint(1e6, 100, "norway")
    told = footprint(1e6, 100, "norway", usd_per_kwh=0.1)
    assert silent.usd is None
    assert any("give one in $ per kWh" in note for note in silent.notes)
    assert told.usd == pytest.approx(0.1 * told.kwh)


def test_a_host_counts_only_when_its_power_is_given() -> None:
    boards = footprint(1000, 3600, pue=1.0)
    whole = footprint(1000, 3600, pue=1.0, host_w=300, seconds=10)
    assert boards.host_kwh == 0
    assert any("left out" in note for note in boards.notes)
    assert whole.host_kwh == pytest.approx(3.0)
    assert whole.kwh == pytest.approx(boards.kwh + 3.0)
    assert not any("left out" in note for note in whole.notes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"region": "grmany"}, "Germany"),
        ({"region": ""}, "unknown region"),
        ({"pue": 0.9}, "nearest valid one is 1"),
        ({"pue": 9.0}, "nearest valid one is 3"),
        ({"pue": "googel"}, "google"),
        ({"usd_per_kwh": -0.1}, "price -0.1 is impossible"),
        ({"g_per_kwh": float("nan")}, "intensity nan is impossible"),
        ({"requests": -1}, "requests -1 is impossible"),
        ({"energy_j": float("inf")}, "energy inf is impossible"),
        ({"host_w": -5.0}, "host power -5 is impossible"),
    ],
)
def test_bad_input_gets_one_line(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(QuestionError, match=says) as error:
        footprint(**{"energy_j": 1.0, "requests": 1.0, **changes})
    assert "\n" not in str(error.value)


def test_chinese_text_by_the_published_rule_and_as_measured() -> None:
    rule = count_tokens(1e6, "characters", "zh")
    qwen = count_tokens(1e6, "characters", "zh", "Qwen")
    assert rule.tokens == 500_000
    assert qwen.tokens == pytest.approx(1e6 / 1.58)
    assert rule.low == rule.tokens < qwen.tokens < rule.high
    assert "2 characters a token" in rule.steps[1]


def test_a_gigabyte_of_english() -> None:
    assert count_tokens(1, "GB", "en").tokens == 250e6
    assert count_tokens(1, "gb", "code").tokens > 290e6


def test_bytes_of_chinese_are_three_a_character() -> None:
    assert count_tokens(3, "mb", "zh").tokens == pytest.approx(500_000)


def test_token_rows_exist() -> None:
    known = {line["id"] for line in read_table("equivalences")}
    for language in ("zh", "en", "code"):
        assert set(count_tokens(1, language=language).rows) <= known


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((1, "pages"), "unknown unit"),
        ((1, "gb", "fr"), "unknown language"),
        ((-1, "gb"), "impossible"),
        ((1, "gb", "en", "llama9"), "no vocabulary"),
    ],
)
def test_an_uncountable_text(arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(QuestionError, match=says):
        count_tokens(*arguments)
