"""An edited document may differ from the old one only where its lines do."""

import pytest

from ecolint.document import decode
from ecolint.drift import drift
from ecolint.kinds import Kind
from ecolint.verify import problem_with

YAML = "a: &x\n  load_in_8bit: true\n  other: 1\nb: *x\nc:\n  - one\n  - two\n"

FINE = {
    "a value is replaced": (Kind.YAML, YAML, YAML.replace("true", "false", 1)),
    "an entry is added": (
        Kind.YAML, YAML, YAML.replace("true\n", "true\n  llm_int8_threshold: 0.0\n", 1),
    ),
    "an entry is removed": (Kind.YAML, YAML, YAML.replace("  other: 1\n", "")),
    "an item is removed": (Kind.YAML, YAML, YAML.replace("  - one\n", "")),
    "JSON on one line": (Kind.JSON, '{"a": 1, "b": [1, 2]}', '{"a": 1, "t": 0.0, "b": [1, 2]}'),
    "TOML": (Kind.TOML, "[q]\na = 1\nb = true\n", "[q]\na = 1\nb = false\n"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "before", "after"), FINE.values(), ids=FINE)
def test_a_change_on_its_own_lines_is_fine(kind: Kind, before: str, after: str) -> None:
    assert drift(kind, before, after) is None
    name = f"file.{kind.value}"
    assert problem_with(decode(before.encode(), name, kind), after) is None


def test_an_anchor_that_reaches_elsewhere_is_seen() -> None:
    before = "base: &q\n  bits: 8\nuse:\n  <<: *q\n  name: m\n"
    after = before.replace("  bits: 8\n", "  bits: 8\n").replace("name: m", "name: m\nother: *q")
    assert drift(Kind.YAML, before, after) is None  # the alias is on the changed line


def test_a_value_that_moves_without_its_line_is_refused() -> None:
    before = "a:\n  b: 1\n  zed: 2\n"
    after = "a:\n  b: 1\nnew:\n  zed: 2\n"
    assert drift(Kind.YAML, before, after) == "a.zed"
    problem = problem_with(decode(before.encode(), "f.yaml", Kind.YAML), after)
    assert problem == "the result would change a.zed, which no edit touches"


def test_aliases_that_multiply_are_not_counted() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    text = "\n".join(lines) + "\n"
    assert drift(Kind.YAML, text, text + "b: 1\n") is None
