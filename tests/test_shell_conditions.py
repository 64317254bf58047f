"""Which commands of a script run: what known variables rule out, and what unknown ones decide."""

import time

import pytest
from facts_of import read

from ecolint.document import Document, Kind, whole
from ecolint.facts import Package
from ecolint.shell import split


def running(text: str) -> str:
    """The one-letter commands of a script that run by themselves."""
    found = split(whole(Document("script.sh", Kind.SHELL, text)))
    letters = (each for each in found if each.words and each.words[0].text in {*"wxyz"})
    return "".join(each.words[0].text for each in letters if each.runs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('if [ -n "$A" ]; then x; else y; fi; z', "z"),
        ('A=1\nif [ "$A" = 1 ]; then x; else y; fi', "x"),
        ('A=1\nif [ "$A" != 1 ]; then x; elif [ "$A" = 1 ]; then z; else y; fi', "z"),
        ('A=1\nif [ -n "$B" ]; then x; elif [ "$A" = 1 ]; then y; fi', ""),
        ('A=1; if ! [ "$A" = 1 ]; then x; fi; y', "y"),
        ("if [ -f a ]; then x; else y; fi", "xy"),
        ('if [ -d "$A" ]; then x; fi', "x"),
        ('[ "$A" = 1 ] && x || y; z', "z"),
        ("A=stable; [[ $A == stab* ]] && x", "x"),
        ("A=stable; [[ $A == 'stab*' ]] && x", ""),
        ('[[ -n "$A" && $B != x ]] && x', ""),
        ('[[ "$(uname -m)" == x86_64 ]] && x', "x"),
        ('A=b; case "$A" in a) x;; b|c) y;; *) z;; esac; w', "yw"),
        ("case $1 in a) x;; *) y;; esac; z", "z"),
        ("N=3; (( N > 2 )) && x; (( N > 5 )) && y; (( M > 1 )) && z", "x"),
        ("A=true; if $A; then x; else y; fi; if ! $A; then z; fi", "x"),
        ("$PIP install b && x", "x"),
        ('if echo "$A" | grep -q n; then x; fi', ""),
        ('echo "$A" | tee b && x', "x"),
        ('echo "$A" && x', "x"),
        ('A=0; if [ "$A" -eq 1 -o "$B" = 2 ]; then x; fi', ""),
        ('A=0; if [ "$A" -ne 1 -a "$A" -lt 2 ]; then x; fi', "x"),
        ("if [ $# -eq 0 ]; then x; fi; y", "xy"),
        ('while [ "$A" ]; do x; done; y', "xy"),
        ('test -n "$A" || { x; y; }; z', "z"),
        ('( [ "$A" ] && x ); y', "y"),
        ("if true; then x; fi; if false; then y; fi", "x"),
        ('A=1; if [ "$A" = 1 ]; then\n if [ "$Q" ]; then\n x\n fi\n y\nfi', "y"),
        ("fi; done; esac; x; else y", "xy"),
    ],
)
def test_what_runs(text: str, expected: str) -> None:
    assert running(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('if [ "$A" ]; then E=--pre; fi; p $E', None),
        ('if [ -z "$A" ]; then A=1; fi; p $A', "1"),
        ('[ -z "$A" ] && A=1; p $A', "1"),
        ('[ "$B" = 1 ] && A=nightly; p $A', None),
        ('A=stable; [ "$B" = 1 ] && A=nightly; p $A', None),
        ('B=0; if [ "$B" = 1 ]; then A=nightly; else A=stable; fi; p $A', "stable"),
        ('A=nightly; B=0; if [ "$B" = 0 ]; then A=stable; fi; p $A', "stable"),
        ('A=stable; B=0; [ "$B" = 1 ] && A=nightly; p $A', "stable"),
    ],
)
def test_what_variables_hold_behind_a_condition(text: str, expected: str | None) -> None:
    found = split(whole(Document("script.sh", Kind.SHELL, text)))
    word = next(each for each in found if each.words and each.words[0].text == "p").words[1]
    assert (word.text if word.known else None) == expected


NIGHTLY = "pip install --pre torch --index-url https://download.pytorch.org/whl/nightly/cu128"


@pytest.mark.parametrize(
    ("text", "kind", "reported"),
    [
        (
            "FROM python:3.12\nARG TYPE=stable\n"
            f'RUN if [ "$TYPE" = "nightly" ]; then \\\n  {NIGHTLY} ; \\\nfi\n',
            Kind.DOCKERFILE,
            False,
        ),
        (
            "FROM python:3.12\nARG TYPE=nightly\n"
            f'RUN if [ "$TYPE" = "nightly" ]; then \\\n  {NIGHTLY} ; \\\nfi\n',
            Kind.DOCKERFILE,
            True,
        ),
        (f'FROM a\nARG TYPE\nRUN [ -z "$TYPE" ] || {NIGHTLY}\n', Kind.DOCKERFILE, False),
        (f'CHANNEL ?= stable\nall:\n\t[ "$(CHANNEL)" = x ] && {NIGHTLY}\n', Kind.MAKEFILE, False),
        (f"ifeq ($(NIGHTLY),1)\nall:\n\t{NIGHTLY}\nendif\n", Kind.MAKEFILE, False),
        (f"NIGHTLY := 1\nifeq ($(NIGHTLY),1)\nall:\n\t{NIGHTLY}\nendif\n", Kind.MAKEFILE, True),
        (f'N = 1\nifneq "$(N)" "1"\nall:\n\t{NIGHTLY}\nendif\n', Kind.MAKEFILE, False),
        (f"ifdef NIGHTLY\nall:\n\t{NIGHTLY}\nelse\nb:\n\tx\nendif\n", Kind.MAKEFILE, False),
        (
            f"steps:\n  - run: |\n      if [ \"${{{{ inputs.n }}}}\" = 'true' ]; then\n"
            f"        {NIGHTLY}\n      fi\n",
            Kind.YAML,
            False,
        ),
        (f"steps:\n  - run: |\n      if command -v pip; then {NIGHTLY}; fi\n", Kind.YAML, True),
    ],
)
def test_files_that_hold_scripts(text: str, kind: Kind, reported: bool) -> None:
    _, facts = read(text, kind)
    assert any(each.channel.value == "nightly index" for each in facts.of(Package)) is reported


@pytest.mark.parametrize(
    "text",
    [
        "[[ " + "( " * 20_000 + "vllm" + " )" * 20_000 + " ]]",
        "[ " + "! " * 20_000 + "vllm ]",
        'if [ "$A" = 1 ]; then\nvllm serve m\n' * 5_000,
        '[ "$A" ] && B=1\n' * 5_000 + "vllm serve m",
        "case $A in\na) " * 2_000 + "vllm serve m",
        "ifeq ($(A),1)\nB = vllm\n" * 5_000,
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.parametrize("kind", [Kind.SHELL, Kind.MAKEFILE, Kind.BATCH])
def test_hostile_conditions_cost_little(text: str, kind: Kind) -> None:
    start = time.perf_counter()
    read(text, kind)
    assert time.perf_counter() - start < 5
