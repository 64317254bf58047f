"""The Dockerfile front-end: images, installed packages, and what a container starts.

Our own reader of instructions: dockerfile-parse tells the lines of an instruction but not
where its words stand, and it knows no heredocs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ecolint.commands import read_argv, read_container
from ecolint.dialects.launchers import COMPILE_SWITCHES
from ecolint.document import Document, View, whole
from ecolint.environment import read_compile_switches, variable
from ecolint.facts import Fact, Facts, Role, Setting
from ecolint.images import image_facts
from ecolint.shell import Scope, Syntax, read_python, read_script
from ecolint.shellscope import UNKNOWN, Piece, word_of
from ecolint.shellwords import WordReader
from ecolint.words import Word

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+")
_SKIPPED = re.compile(r"[ \t\r]*(?:#[^\n]*)?(?:\n|$)")
_CONTINUED = re.compile(r"\\[ \t\r]*$")
_HEREDOC = re.compile(r"<<-?[ \t]*([\"']?)([A-Za-z_]\w*)\1")
_OPTION = re.compile(r"--[a-z-]+(?:=(?:\"[^\"]*\"|[^\s\"]+))*\s*(?:\\\r?\n\s*)*")
_PAIR = re.compile(r"([A-Za-z_]\w*)=")
_STRING = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|#[^\n]*\n|(\])")
_ESCAPE = re.compile(r"\A(?:#[^\n]*\n)*?#[ \t]*escape[ \t]*=[ \t]*`", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Instruction:
    """A keyword, and the stretch of the view that its arguments take, heredocs included."""

    keyword: str
    start: int
    end: int


@dataclass(slots=True)
class _Stage:
    image: str = ""
    env: dict[str, Setting[Any]] = field(default_factory=dict)
    entry: "_Start | None" = None
    command: "_Start | None" = None
    inherited: bool = True
    touched: bool = False


@dataclass(frozen=True, slots=True)
class _Start:
    """CMD or ENTRYPOINT: the words of its exec form, or the stretch of its shell form."""

    words: tuple[Word, ...]
    start: int = 0
    end: int = 0
    shell: bool = False


def read(document: Document) -> Facts:
    """The facts of a Dockerfile."""
    return Facts(_Reader(whole(document)).read())


class _Reader:
    def __init__(self, view: View) -> None:
        self._view = view
        self._text = view.text
        self._scope = Scope(view.text)
        self._global: dict[str, tuple[tuple[Piece, ...], ...]] = {}
        self._stages: dict[str, _Stage] = {}
        self._stage: _Stage | None = None
        self._facts: list[Fact] = []

    def read(self) -> list[Fact]:
        if _ESCAPE.match(self._text):
            return []  # a Windows image, whose continuations are backticks
        for instruction in _instructions(self._text):
            keyword = instruction.keyword
            if keyword == "FROM":
                self._from(instruction)
            elif keyword == "ARG":
                self._argument(instruction)
            elif keyword == "ENV" and self._stage is not None:
                self._environment(instruction, self._stage)
            elif keyword == "RUN":
                self._run(instruction)
            elif keyword in ("COPY", "ADD"):
                self._copy(instruction)
            elif keyword in ("CMD", "ENTRYPOINT") and self._stage is not None:
                self._start(instruction, self._stage)
        self._finish()
        # Stages built upon another repeat what that one sets.
        unique = {(type(fact), fact.span): fact for fact in reversed(self._facts)}
        return list(reversed(unique.values()))

    def _reader(self, instruction: _Instruction) -> WordReader:
        return WordReader(
            self._view, self._scope, Syntax.DOCKERFILE, instruction.start, instruction.end
        )

    def _words(self, instruction: _Instruction) -> list[Word]:
        """The words of an instruction that is no shell command."""
        reader = self._reader(instruction)
        words: list[Word] = []
        while reader.at < reader.end:
            before = reader.at
            if self._text[before].isspace():
                reader.at += 1
            elif not (self._text[before] == "\\" and reader.continuation()):
                words.extend(reader.read())
                reader.at = max(reader.at, before + 1)
        return words

    def _from(self, instruction: _Instruction) -> None:
        self._finish()
        words = [word for word in self._words(instruction) if not word.text.startswith("--")]
        if not words:
            return
        base = self._stages.get(words[0].text.lower())
        if base is not None:
            stage = _Stage(base.image, dict(base.env), base.entry, base.command)
        else:
            self._facts += image_facts(words[0], Role.INFERENCE)
            stage = _Stage(words[0].text)
        if len(words) >= 3 and words[1].text.lower() == "as":
            self._stages[words[2].text.lower()] = stage
        self._stage = stage

    def _argument(self, instruction: _Instruction) -> None:
        reader = self._reader(instruction)
        while reader.at < reader.end:
            before = reader.at
            found = re.compile(r"([A-Za-z_]\w*)(=)?").match(self._text, before, reader.end)
            if found:
                reader.at = found.end()
                name = found.group(1)
                if found.group(2):
                    fields = reader.fields() or ((),)
                    self._scope.assign(name, fields[:1])
                    if self._stage is None:
                        self._global[name] = fields[:1]
                elif name in self._global:
                    self._scope.assign(name, self._global[name])
                else:
                    self._scope.assign(name, UNKNOWN)
            reader.at = max(reader.at, before + 1)

    def _environment(self, instruction: _Instruction, stage: _Stage) -> None:
        reader = self._reader(instruction)
        text = self._text
        first = re.compile(r"([A-Za-z_]\w*)[ \t]+").match(text, reader.at, reader.end)
        if first:
            # The old form: one name, and all of the rest is its value.
            reader.at = first.end()
            self._variable(stage, first.group(1), instruction.start, reader)
            return
        while reader.at < reader.end:
            before = reader.at
            found = _PAIR.match(text, before, reader.end)
            if found:
                reader.at = found.end()
                self._variable(stage, found.group(1), before, reader)
            elif not (text[before] == "\\" and reader.continuation()):
                reader.at = before + 1

    def _variable(self, stage: _Stage, name: str, start: int, reader: WordReader) -> None:
        begin = reader.at
        fields = reader.fields() or ((),)
        word = word_of(fields[0], self._view, begin, reader.at)
        self._scope.assign(name, fields[:1])
        key = self._view.span(start, start + len(name))
        setting = variable(name, word, self._view.span(start, reader.at), key)
        stage.env[name] = setting
        stage.touched = True
        self._facts += read_compile_switches({name: setting}, Role.INFERENCE)

    def _run(self, instruction: _Instruction) -> None:
        start = self._behind_options(instruction)
        env = self._stage.env if self._stage else {}
        exec_form = self._exec_form(start, instruction.end)
        if exec_form:
            self._facts += read_argv(exec_form, Role.INFERENCE, env)
            return
        self._scope.enter("subshell")
        self._facts += read_script(
            self._view,
            Role.INFERENCE,
            syntax=Syntax.DOCKERFILE,
            scope=self._scope,
            env=env,
            start=start,
            end=instruction.end,
        )
        while self._scope.innermost:
            self._scope.leave()

    def _copy(self, instruction: _Instruction) -> None:
        """A file written out in the Dockerfile: `COPY <<EOF /app/main.py`."""
        found = _HEREDOC.search(self._text, instruction.start, instruction.end)
        if found is None:
            return
        line_end = self._text.find("\n", found.end(), instruction.end)
        if line_end < 0:
            return
        target = self._text[found.end() : line_end].strip()
        body_end = self._text.rfind("\n", line_end, instruction.end)
        body = self._view.part(line_end + 1, max(body_end + 1, line_end + 1))
        if target.endswith(".py"):
            self._facts += read_python(body)
        elif target.endswith((".sh", ".bash")):
            self._facts += read_script(body, Role.INFERENCE)

    def _start(self, instruction: _Instruction, stage: _Stage) -> None:
        words = self._exec_form(instruction.start, instruction.end)
        start = _Start(tuple(words), instruction.start, instruction.end, not words)
        stage.touched = True
        if instruction.keyword == "CMD":
            stage.command = start
            stage.inherited = False
        else:
            # A new entry point empties the command that the base image brought.
            stage.entry = start
            if stage.inherited:
                stage.command = None

    def _behind_options(self, instruction: _Instruction) -> int:
        at = instruction.start
        while found := _OPTION.match(self._text, at, instruction.end):
            at = found.end()
        return at

    def _exec_form(self, start: int, end: int) -> list[Word]:
        """The strings of `["a", "b"]`; none where this is the shell form."""
        if not self._text.startswith("[", start):
            return []
        words: list[Word] = []
        for found in _STRING.finditer(self._text, start + 1, end):
            if found.group(2):
                return words
            if found.group(1) is None:
                continue
            raw = found.group(1)
            exact = "\\" not in raw
            text = raw if exact else re.sub(r"\\(.)", r"\1", raw)
            inner = found.start(1) if exact else -1
            words.append(Word(text, self._view, found.start(), found.end(), True, inner, exact))
        return []

    def _finish(self) -> None:
        """Read what the stage that ends here starts."""
        stage, self._stage = self._stage, None
        if stage is None or not stage.touched:
            return
        shell = next((each for each in (stage.entry, stage.command) if each and each.shell), None)
        if shell is not None:
            self._facts += read_script(
                self._view,
                Role.INFERENCE,
                syntax=Syntax.DOCKERFILE,
                scope=self._scope,
                env=stage.env,
                start=shell.start,
                end=shell.end,
            )
            return
        entry = stage.entry.words if stage.entry else ()
        command = stage.command.words if stage.command else ()
        env = {name: each for name, each in stage.env.items() if name not in COMPILE_SWITCHES}
        self._facts += read_container(entry, command, env, stage.image, Role.INFERENCE)


def _instructions(text: str) -> Iterator[_Instruction]:
    """The instructions in order; a line that is none is passed over."""
    at = 0
    while at < len(text):
        skipped = _SKIPPED.match(text, at)
        if skipped and skipped.end() > at:
            at = skipped.end()
            continue
        end = _logical_end(text, at)
        found = _INSTRUCTION.match(text, at, end)
        if found:
            keyword = found.group(1).upper()
            start = found.end()
            if keyword == "ONBUILD":
                inner = _INSTRUCTION.match(text, start, end)
                keyword, start = (inner.group(1).upper(), inner.end()) if inner else ("", start)
            if keyword in ("RUN", "COPY", "ADD"):
                end = _behind_heredocs(text, start, end)
            yield _Instruction(keyword, start, end)
        at = max(end, at + 1)


def _logical_end(text: str, at: int) -> int:
    """Where the line that starts at `at` ends, its continuations and their comments included."""
    while True:
        newline = text.find("\n", at)
        end = len(text) if newline < 0 else newline
        if newline < 0 or not _CONTINUED.search(text[at:end]):
            return end
        at = newline + 1
        while (skipped := _SKIPPED.match(text, at)) and skipped.end() > at:
            at = skipped.end()
        if at >= len(text):
            return len(text)


def _behind_heredocs(text: str, start: int, end: int) -> int:
    for found in _HEREDOC.finditer(text, start, end):
        last = re.compile(rf"^\t*{found.group(2)}[ \t\r]*$", re.MULTILINE).search(text, end)
        if last:
            end = last.end()
    return end
