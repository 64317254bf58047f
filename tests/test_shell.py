"""Shell text as commands: words, variables, blocks, heredocs, and what hostile text costs."""

import time

import pytest
from facts_of import read
from hypothesis import given
from hypothesis import strategies as st

from ecolint.document import Document, Kind, UnreadableError, whole
from ecolint.facts import Quantization, Role, Serving
from ecolint.shell import Command, Scope, read_script, split


def commands(text: str) -> list[Command]:
    return list(split(whole(Document("script.sh", Kind.SHELL, text))))


def words(text: str) -> list[list[str]]:
    return [[word.text for word in each.words] for each in commands(text) if each.words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vllm serve m", [["vllm", "serve", "m"]]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a \\\n  b \\\r\n  c", [["a", "b", "c"]]),
        ("a b # c\nd #e", [["a", "b"], ["d"]]),
        ("a#b", [["a#b"]]),
        ("a | b && c || d; e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("(a b); { c; }", [["a", "b"], ["c"]]),
        ("a > out 2>&1 < in b &> log", [["a", "b"]]),
        ("if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("while a; do b; done", [["a"], ["b"]]),
        ("for x in 1 2; do b; done; c", [["b"], ["c"]]),
        ("for ((i=0; i<3; i++)); do b; done", [["b"]]),
        ("case $x in\n a|b) c ;;\n (d) e ;& *) f;; esac\ng", [["c"], ["e"], ["f"], ["g"]]),
        ("f() { a; }\nfunction g { b; }", [["a"], ["b"]]),
        ("[[ $a == b && c ]] && d", [["d"]]),
        ("((x = 1)) && d", [["d"]]),
        ("! a; time b", [["a"], ["b"]]),
        ("X=1 Y=2 a b", [["a", "b"]]),
        ("a $'b' $\"c\"", [["a", "b", "c"]]),
        ("a ''", [["a", ""]]),
        ("echo $(b c) `d e`", [["echo", "", ""], ["b", "c"], ["d", "e"]]),
        ('a "b \\"c\\" \\x"', [["a", 'b "c" \\x']]),
    ],
)
def test_commands_and_words(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("A=1\ncmd $A", ["1"]),
        ("A=1\ncmd ${A}x", ["1x"]),
        ("cmd ${A:-1}", ["1"]),
        ("cmd ${A-1}", ["1"]),
        ('cmd "${A:-${B:-2}}"', ["2"]),
        (": ${A:=3}\ncmd $A", ["3"]),
        ("A=1\ncmd ${A:-2} ${A:+4}", ["1", "4"]),
        ("A='x y'\ncmd $A \"$A\"", ["x", "y", "x y"]),
        ("A=(x 'y z')\ncmd ${A[@]}", ["x", "y z"]),
        ('A=(x\n # a note\n y)\nA+=(z)\ncmd "${A[@]}"', ["x", "y", "z"]),
        ("A=x\nA+=y\ncmd $A", ["xy"]),
        ("export A=1 B='2 3'\ncmd $A \"$B\"", ["1", "2 3"]),
        ("for x in only; do cmd $x; done", ["only"]),
        ("if a; then X=1; fi\ncmd $X", ["1"]),
        ("[ -z $X ] && X=1\ncmd $X", ["1"]),
        ("X=1\n{ X=2; }\ncmd $X", ["2"]),
        ("X=1\n(X=2)\ncmd $X", ["1"]),
        ("X=1\nif a; then :; else cmd $X; fi", ["1"]),
    ],
)
def test_variables_that_are_certain(script: str, expected: list[str]) -> None:
    command = next(each for each in commands(script) if each.words[:1] and _is(each, "cmd"))
    assert [word.text for word in command.words[1:]] == expected
    assert all(word.known for word in command.words)


def _is(command: Command, program: str) -> bool:
    return command.words[0].text == program


@pytest.mark.parametrize(
    "script",
    [
        "cmd $A",
        "cmd $1",
        'cmd "$@"',
        "cmd ${A%x}",
        "A=1\ncmd ${A/1/2}",
        "cmd ${#A}",
        "cmd ${!A}",
        "cmd $(date)",
        "cmd $((1 + 1))",
        "A=$(date)\ncmd $A",
        "A=1\nif b; then A=2; fi\ncmd $A",
        "if b; then A=1; else A=2; fi\ncmd $A",
        "case $x in a) A=1;; b) A=2;; esac\ncmd $A",
        "A=1\ntest && A=2\ncmd $A",
        "for x in 1 8; do cmd $x; done",
        "A=1\nwhile b; do A=2; done\ncmd $A",
        "f() { A=1; }\ncmd $A",
        "A=1\nunset A\ncmd $A",
        "cmd $'a\\tb'",
        "cmd 'never closed",
        'cmd "never closed',
    ],
)
def test_variables_that_are_not(script: str) -> None:
    command = next(each for each in commands(script) if each.words and _is(each, "cmd"))
    assert not command.words[1].known


def test_flags_gathered_under_a_condition_keep_what_is_certain() -> None:
    for script in (
        'A=(--a 1)\nif x; then A+=(--b); fi\ncmd "${A[@]}"',
        'A="--a 1"\nif x; then A="$A --b"; fi\ncmd $A',
        'A=(--a 1)\nx && A+=(--b)\ncmd "${A[@]}"',
    ):
        command = commands(script)[-1]
        known = [word.text for word in command.words if word.known]
        assert known == ["cmd", "--a", "1"], script


def test_a_word_knows_where_its_text_stands() -> None:
    text = "A='--max 1'\nB=7\ncmd 'q' \"$B\" $A ${C:-9} x\\ y\n"
    view = whole(Document("s", Kind.SHELL, text))
    command = next(each for each in split(view) if each.words)
    places = {
        word.text: text[word.inner : word.inner + len(word.text)]
        for word in command.words
        if word.exact
    }
    assert places == {t: t for t in ("cmd", "q", "7", "--max", "1", "9")}
    assert text[command.words[2].start : command.words[2].end] == '"$B"'
    assert not command.words[-1].exact


def test_a_variable_read_in_two_places_is_not_changed_through_one() -> None:
    view = whole(Document("s", Kind.SHELL, "N=1\nvllm --a $N --b $N\n"))
    command = next(each for each in split(view) if each.words)
    assert [word.text for word in command.words] == ["vllm", "--a", "1", "--b", "1"]
    assert command.words[2].replace("8") is None


def test_a_variable_of_another_text_has_no_place_here() -> None:
    scope = Scope("")
    first = whole(Document("a", Kind.SHELL, "     N=1\n"))
    second = whole(Document("b", Kind.SHELL, "cmd --max $N\n"))
    assert list(split(first, scope=scope))
    (command,) = split(second, scope=scope)
    assert command.words[2].text == "1"
    assert command.words[2].known
    assert command.words[2].replace("8") is None


def test_environment_and_assignments() -> None:
    found = commands("export A=1\nB=2\nexport B\nC=3 cmd\nset -a\nD=4\nother")
    by_name = {each.words[0].text: each for each in found if each.words}
    assert [a.name for a in by_name["cmd"].assigned] == ["C"]
    assert {a.name: a.value.text for a in by_name["other"].environment} == {
        "A": "1",
        "B": "2",
        "D": "4",
    }


def test_heredoc_body_is_a_view_of_the_file() -> None:
    text = "cat > a.py <<'EOF' && run\nx = 1\nEOF\nafter\n"
    cat, run, after = commands(text)
    assert cat.heredoc is not None
    assert cat.heredoc.text == "x = 1\n"
    assert cat.heredoc.at(0) == text.index("x = 1")
    assert cat.written == ("a.py",)
    assert cat.literal
    assert run.heredoc is None
    assert after.words[0].text == "after"


def test_heredoc_without_its_tabs_keeps_its_places() -> None:
    text = "python - <<-EOF\n\tx = 1\n\tEOF\n"
    (command,) = commands(text)
    assert command.heredoc is not None
    assert command.heredoc.text == "x = 1\n"
    assert text[command.heredoc.at(0)] == "x"
    assert not command.literal


def test_python_in_a_heredoc_is_read_and_edited_in_place() -> None:
    text = (
        "python3 - <<'EOF'\n"
        "from transformers import AutoModelForCausalLM\n"
        'm = AutoModelForCausalLM.from_pretrained("a/b-7B", load_in_8bit=True)\n'
        "EOF\n"
    )
    _, facts = read(text, Kind.SHELL)
    (found,) = facts.of(Quantization)
    assert found.span.start > text.index("EOF")


@pytest.mark.parametrize(
    "text",
    [
        'sh -c "vllm serve m --max-num-seqs 1"',
        "bash -lc 'exec vllm serve m --max-num-seqs 1'",
        'bash -c "vllm serve \\"m\\" --max-num-seqs 1"',
        "bash <<EOF\nvllm serve m --max-num-seqs 1\nEOF",
        "cat > run.sh <<'EOF'\nvllm serve m --max-num-seqs 1\nEOF",
        "$(vllm serve m --max-num-seqs 1)",
        "docker run -d vllm/vllm-openai sh -c 'vllm serve m --max-num-seqs 1'",
    ],
)
def test_shells_within_shells(text: str) -> None:
    _, facts = read(text, Kind.SHELL)
    (serving,) = facts.of(Serving)
    place = serving.concurrency.span
    assert serving.concurrency.is_(1)
    assert place is not None
    assert text[place.start : place.end] == "--max-num-seqs 1"


@pytest.mark.parametrize(
    "text",
    [
        "# vllm serve m --max-num-seqs 1",
        "echo 'vllm serve m --max-num-seqs 1'",
        "echo vllm serve m --max-num-seqs 1",
        "cat > notes.txt <<EOF\nvllm serve m --max-num-seqs 1\nEOF",
        "cat <<EOF\nvllm serve m --max-num-seqs 1\nEOF",
    ],
)
def test_text_that_nobody_runs(text: str) -> None:
    _, facts = read(text, Kind.SHELL)
    assert not facts.items


HOSTILE = {
    "parentheses": "(" * 10_000,
    "closed parentheses": "(" * 10_000 + "x" + ")" * 10_000,
    "substitutions": "$(" * 10_000,
    "quoted substitutions": '"$(' * 10_000,
    "defaults": "${a:-" * 10_000 + "}" * 10_000,
    "backticks": "`" * 9_999,
    "quotes": "'" * 9_999,
    "double quotes": '"' * 9_999,
    "blocks": "if a; then\n" * 10_000,
    "blocks that assign": "".join(f"if a; then\nA{n}=1\n" for n in range(2_000)) + "fi\n" * 2_000,
    "heredocs": "cat <<EOF\n" * 5_000,
    "growing text": "A=xx\n" + 'A="$A$A"\n' * 100 + "vllm serve $A",
    "growing list": "A=(x)\n" + 'A=("${A[@]}" "${A[@]}")\n' * 100 + "vllm serve ${A[@]}",
    "exports": "".join(f"export A{n}=1\n" for n in range(3_000)),
    "cases": "case x in\n" * 10_000,
    "backslashes": "\\" * 200_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_costs_little(name: str) -> None:
    started = time.perf_counter()
    _, facts = read("echo vllm\n" + HOSTILE[name], Kind.SHELL)
    assert time.perf_counter() - started < 10
    assert not any(fact.span.end > len(HOSTILE[name]) + 10 for fact in facts.items)


def test_a_huge_script_is_refused_in_one_line() -> None:
    view = whole(Document("s", Kind.SHELL, "vllm " + "x" * 9_000_000))
    with pytest.raises(UnreadableError) as caught:
        read_script(view, Role.INFERENCE)
    assert "9 MB" in caught.value.reason
    assert "\n" not in caught.value.mend


@given(st.text(alphabet="ab '\"\\$(){}[]<>|&;=#`\n-:@+!", max_size=60))
def test_any_text_is_read_within_its_bounds(text: str) -> None:
    view = whole(Document("s", Kind.SHELL, text))
    for command in split(view):
        for word in command.words:
            assert 0 <= word.start <= word.end <= len(text)
            if word.exact:
                assert text[word.inner : word.inner + len(word.text)] == word.text
