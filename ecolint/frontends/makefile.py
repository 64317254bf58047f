"""The Makefile front-end: recipes as shell commands, with the file's plain variables.

Our own reader: no parser of Makefiles keeps positions, and of make's language only recipes
and assignments of text matter here.
"""

import re
from typing import Any

from ecolint.document import Document, whole
from ecolint.environment import read_compile_switches, read_environment, variable
from ecolint.facts import Facts, Role, Setting
from ecolint.outcomes import Outcome, opposite
from ecolint.shell import Scope, Syntax, read_script
from ecolint.shellconditions import Reach, Token, judge_test
from ecolint.shellscope import UNKNOWN, Field, word_of
from ecolint.shellwords import WordReader

_ASSIGNMENT = re.compile(
    r"(?P<words>(?:[ ]*(?:export|override)[ \t]+)*)[ ]*(?P<name>[\w.-]+)[ \t]*"
    r"(?P<sign>:::=|::=|:=|\?=|\+=|!=|=)[ \t]*"
)
_PREFIX = re.compile(r"[ \t]*[@+-]*[ \t]*")
_CONDITION = re.compile(r"[ ]*((?:else[ \t]+)?ifn?(?:eq|def)\b|else\b|endif\b)[ \t]*")
_SIDES = re.compile(
    r"\([ \t]*((?:\$\([^()]*\)|[^,()])*?)[ \t]*,[ \t]*((?:\$\([^()]*\)|[^()])*?)[ \t]*\)"
    r"|[\"']([^\"']*)[\"'][ \t]+[\"']([^\"']*)[\"']"
)
_BLOCK = re.compile(r"[ ]*(define|endef)\b")


def read(document: Document) -> Facts:
    """The facts of a Makefile."""
    view = whole(document)
    text = view.text
    scope = Scope(text)
    env: dict[str, Setting[Any]] = {}
    recipes: list[tuple[int, int]] = []
    reach = Reach()
    named: set[str] = set()
    within_define = False
    at = 0
    while at < len(text):
        end = _line_end(text, at)
        if block := _BLOCK.match(text, at):
            within_define = block.group(1) == "define"
        elif condition := _CONDITION.match(text, at, end):
            reader = WordReader(view, scope, Syntax.MAKE, condition.end(), end)
            named |= _choose(reach, condition.group(1), reader)
        elif text[at] == "\t":
            prefix = _PREFIX.match(text, at)
            if reach.runs:
                recipes.append((prefix.end() if prefix else at, end))
        elif not within_define and (found := _ASSIGNMENT.match(text, at, end)):
            if reach.outcome is Outcome.FALSE:
                pass
            elif reach.runs or found.group("name") in named:
                _assign(WordReader(view, scope, Syntax.MAKE, found.end(), end), found, env)
            else:
                scope.assign(found.group("name"), UNKNOWN)
        at = max(end, at + 1)
    # Make expands a recipe when it runs, after all assignments of the file.
    facts = Facts(
        read_compile_switches(env, Role.INFERENCE) + read_environment(env, Role.INFERENCE)
    )
    for start, end in recipes:
        scope.enter("subshell")
        facts.items += read_script(
            view, Role.INFERENCE, syntax=Syntax.MAKE, scope=scope, env=env, start=start, end=end
        )
        while scope.innermost:
            scope.leave()
    return facts


def _choose(reach: Reach, word: str, reader: WordReader) -> set[str]:
    """Follow a conditional directive; the variables that its condition names."""
    if word == "endif":
        reach.leave()
        return set()
    if word.startswith("else"):
        reach.reject()
    else:
        reach.enter()
    operator = word.removeprefix("else").strip()
    written = reader.text[reader.at : reader.end]
    if not operator:
        outcome = Outcome.TRUE
    elif operator in ("ifdef", "ifndef"):
        value = reader.scope.get(written.split("#")[0].strip())
        outcome = Outcome.TRUE if value and value != UNKNOWN else Outcome.OPTIONAL
    else:
        outcome = _compare(reader)
    reach.choose(opposite(outcome) if operator.startswith("ifn") else outcome)
    return set(re.findall(r"[A-Za-z_][\w.-]*", written))


def _compare(reader: WordReader) -> Outcome:
    """How `(a,b)` or `"a" "b"` turns out."""
    found = _SIDES.match(reader.text, reader.at, reader.end)
    if found is None:
        return Outcome.OPEN
    group = 1 if found.group(1) is not None else 3
    sides: list[Token] = []
    for start, end in (found.span(group), found.span(group + 1)):
        side = WordReader(reader.view, reader.scope, Syntax.MAKE, start, end)
        fields = side.fields() or ((),)
        sides.append(word_of(fields[0], reader.view, start, end))
    return judge_test([sides[0], "=", sides[1]], Syntax.MAKE)


def _line_end(text: str, at: int) -> int:
    """Behind the logical line that starts at `at`: continued lines belong to it."""
    while True:
        newline = text.find("\n", at)
        if newline < 0:
            return len(text)
        if not text[at:newline].rstrip("\r").endswith("\\"):
            return newline + 1
        at = newline + 1


def _assign(reader: WordReader, found: re.Match[str], env: dict[str, Setting[Any]]) -> None:
    name, sign = found.group("name"), found.group("sign")
    scope = reader.scope
    begin = reader.at
    fields: list[Field] = []
    last = begin
    while reader.at < reader.end and reader.text[reader.at] != "#":
        before = reader.at
        if reader.text[before].isspace():
            reader.at += 1
        elif not (reader.text[before] == "\\" and reader.continuation()):
            fields.extend(reader.fields())
            reader.at = max(reader.at, before + 1)
            last = reader.at
    if sign == "!=":
        scope.assign(name, UNKNOWN)
    elif sign == "+=":
        scope.extend(name, tuple(fields))
    elif sign != "?=" or scope.get(name) is None:
        scope.assign(name, tuple(fields) or ((),))
    if "export" in found.group("words") and len(fields) == 1:
        word = word_of(fields[0], reader.view, begin, last)
        env[name] = variable(name, word, reader.view.span(found.start("name"), last))
