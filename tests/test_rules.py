"""Every rule on its cases: what it finds, what it leaves alone, and how it mends."""

from collections import defaultdict
from pathlib import Path

import pytest

from ecolint.registry import load_rules
from ecolint.testing import Case, check_case, read_cases

FOLDER = Path(__file__).parent / "rules"
CASES = read_cases(FOLDER)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    check_case(case)


def test_every_rule_has_as_many_clean_cases_as_dirty_ones() -> None:
    counted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for case in CASES:
        counted[case.rule][bool(case.lines)] += 1
    assert counted.keys() == {loaded.rule.code for loaded in load_rules()}
    for code, (clean, dirty) in counted.items():
        assert dirty, code
        assert clean >= dirty, code


def test_the_name_of_a_case_stands_once() -> None:
    names = [str(case) for case in CASES]
    assert len(set(names)) == len(names)
