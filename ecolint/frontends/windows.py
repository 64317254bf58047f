"""The front-end of Windows' shells: batch files, and PowerShell as far as it is alike.

Our own reader: both quote and continue unlike any POSIX shell, and no parser of either is
published for Python.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from ecolint.commands import read_argv
from ecolint.document import Document, View, whole
from ecolint.environment import read_compile_switches, read_environment, variable
from ecolint.facts import Fact, Facts, Role, Setting
from ecolint.outcomes import Outcome, opposite
from ecolint.shellscope import UNKNOWN, Field, Piece, Scope, word_of
from ecolint.words import Word


@dataclass(frozen=True, slots=True)
class _Shell:
    """How one of the shells writes things."""

    escape: str
    comment: re.Pattern[str]
    quotes: str
    expansion: re.Pattern[str]
    assignment: re.Pattern[str]
    breaks: str


_BATCH = _Shell(
    escape="^",
    comment=re.compile(r"@?(?:rem\b|::)[^\n]*", re.IGNORECASE),
    quotes='"',
    expansion=re.compile(r"%(\w+)%|!(\w+)!|%~?\w*[*\d]|%%\w"),
    assignment=re.compile(
        r"@?set[ \t]+(?P<quote>\"?)(?P<env>)(?P<name>\w+)=(?P<value>[^\"&|\r\n]*)\"?", re.IGNORECASE
    ),
    breaks="&|()",
)
_POWERSHELL = _Shell(
    escape="`",
    comment=re.compile(r"#[^\n]*"),
    quotes="\"'",
    expansion=re.compile(r"\$\{?(?:env:)?(\w+)\}?|\$\("),
    assignment=re.compile(
        r"\$(?P<env>env:)?(?P<name>\w+)[ \t]*=[ \t]*(?P<quote>[\"'])(?P<value>[^\"'\r\n]*)[\"']",
        re.IGNORECASE,
    ),
    breaks="&|;(){}",
)
_BLANK = re.compile(r"[ \t\r]+")
_PLAIN = re.compile(r"[^\s\"'&|();{}^`%!$]+")
_CONDITION = re.compile(
    r"@?if[ \t]+(?:/i[ \t]+)?(?P<negated>not[ \t]+)?"
    r"(?:(?P<asked>exist|defined|errorlevel)[ \t]+(?P<operand>\"[^\"\n]*\"|\S+)"
    r"|(?P<left>\"[^\"\n]*\"|[^\s=]+)[ \t]*(?P<sign>==|equ\b|neq\b)[ \t]*"
    r"(?P<right>\"[^\"\n]*\"|[^\s(]+))[ \t]*",
    re.IGNORECASE,
)
_POWERSHELL_IF = re.compile(r"(?:else)?if[ \t]*(?=\()", re.IGNORECASE)
_EQUAL = re.compile(r"\(\s*\$(?:env:)?(\w+)\s+-(eq|ne)\s+([\"'])([^\"'$]*)\3\s*\)", re.IGNORECASE)
_ELSE = re.compile(r"\s*else(?:(?=if\b)|\b[ \t]*)", re.IGNORECASE)
# What these hold is the machine's or the last command's affair.
_GIVEN = frozenset(
    {"LASTEXITCODE", "ISWINDOWS", "ISLINUX", "ISMACOS", "PSVERSIONTABLE", "PSSCRIPTROOT", "NULL",
     "TRUE", "FALSE", "OS", "PROCESSOR_ARCHITECTURE", "ERRORLEVEL", "CD"}
)  # fmt: skip
_LOOK_AHEAD = 4_000_000
_CLOSERS = {"(": ")", "{": "}"}
_LEADING = re.compile(r"@?(?:start[ \t]+(?:\"[^\"\n]*\"[ \t]+)?(?:/\w+[ \t]+)*)?", re.IGNORECASE)


def read(document: Document) -> Facts:
    """The facts of a batch file, or of a PowerShell script by its name."""
    powershell = document.path.lower().endswith((".ps1", ".psm1"))
    view = whole(document)
    return Facts(_Reader(view, _POWERSHELL if powershell else _BATCH).read())


class _Reader:
    def __init__(self, view: View, shell: _Shell) -> None:
        self._view = view
        self._text = view.text
        self._shell = shell
        self._scope = Scope("")
        names = (found.groups() for found in shell.expansion.finditer(view.text))
        self._uses = Counter(name.upper() for groups in names for name in groups if name)
        if shell is _POWERSHELL:  # where `$NAME = …` looks like a use of it
            sets = shell.assignment.finditer(view.text)
            self._uses.subtract(found.group("name").upper() for found in sets)
        self._env: dict[str, Setting[Any]] = {}
        self._facts: list[Fact] = []
        self._at = 0
        self._ahead = 0

    def read(self) -> list[Fact]:
        while self._at < len(self._text):
            before = self._at
            self._command()
            self._at = max(self._at, before + 1)
        return self._facts + read_environment(self._env, Role.INFERENCE)

    def _command(self) -> None:
        """Read one command, or what stands between two."""
        text, shell = self._text, self._shell
        if blank := re.compile(r"[\s&|(){};]+").match(text, self._at):
            self._at = blank.end()
            return
        if comment := shell.comment.match(text, self._at):
            self._at = comment.end()
            return
        if found := shell.assignment.match(text, self._at):
            self._assign(found)
            return
        if shell is _BATCH:
            if condition := _CONDITION.match(text, self._at):
                self._at = condition.end()
                self._choose(condition.group(), self._asked(condition))
                return
            leading = _LEADING.match(text, self._at)
            self._at = leading.end() if leading else self._at
        elif condition := _POWERSHELL_IF.match(text, self._at):
            start = condition.end()
            self._at = self._behind_block(start)
            asked = text[start : self._at]
            self._choose(asked, self._compared(asked))
            return
        words = self._words()
        if words:
            self._facts += read_argv(words, Role.INFERENCE, self._env)

    # --- conditions ----------------------------------------------------------------------

    def _choose(self, asked: str, outcome: Outcome) -> None:
        """Pass the block or command here, unless it runs or sets what was asked for."""
        if outcome in (Outcome.TRUE, Outcome.OPEN):
            return
        names = {name.upper() for name in re.findall(r"\w+", asked)}
        while True:
            start = self._at
            behind = self._behind_block(start)
            sets = self._shell.assignment.finditer(self._text, start, behind)
            if any(found.group("name").upper() in names for found in sets):
                return
            following = _ELSE.match(self._text, behind)
            self._at = following.end() if following else behind
            if following is None or outcome is Outcome.FALSE:
                return
            if condition := _CONDITION.match(self._text, self._at):
                self._at = condition.end()
            elif condition := _POWERSHELL_IF.match(self._text, self._at):
                self._at = self._behind_block(condition.end())

    def _behind_block(self, at: int) -> int:
        """Behind the bracketed block at `at`, or behind the line where there is none.

        Only so much is looked ahead in one file; blocks beyond that are taken to be empty.
        """
        text = self._text
        if self._ahead > _LOOK_AHEAD:
            return at
        opening = re.compile(r"\s*([({])|").match(text, at)
        if opening is None or not opening.group(1):
            newline = text.find("\n", at)
            return len(text) if newline < 0 else newline
        depth = 0
        pattern = re.compile(r"\"[^\"\n]*\"|[(){}]")
        pair = (opening.group(1), _CLOSERS[opening.group(1)])
        for found in pattern.finditer(text, opening.end() - 1):
            depth += (found.group() == pair[0]) - (found.group() == pair[1])
            if depth == 0:
                self._ahead += found.end() - at
                return found.end()
        self._ahead += len(text) - at
        return len(text)

    def _asked(self, found: re.Match[str]) -> Outcome:
        """How a batch file's condition turns out."""
        kind = (found.group("asked") or "").lower()
        if kind == "defined":
            set_here = self._scope.get(self._key(found.group("operand"))) is not None
            outcome = Outcome.TRUE if set_here else Outcome.OPTIONAL
        elif kind:
            outcome = Outcome.OPEN
        else:
            sides = [self._value(*found.span(side)) for side in ("left", "right")]
            if None in sides:
                outcome = Outcome.OPTIONAL
            else:
                same = sides[0] == sides[1]
                outcome = Outcome.TRUE if same else Outcome.FALSE
            if found.group("sign").lower() == "neq":
                outcome = opposite(outcome)
        return opposite(outcome) if found.group("negated") else outcome

    def _value(self, start: int, end: int) -> str | None:
        pieces: list[Piece] = []
        self._expand(start, end, pieces)
        if not all(piece.known for piece in pieces):
            return None
        return "".join(piece.text for piece in pieces).strip('"').lower()

    def _compared(self, asked: str) -> Outcome:
        """How the bracketed condition of PowerShell turns out."""
        names = [found.group(1) or "" for found in self._shell.expansion.finditer(asked)]
        unknown = [name for name in names if name and name.upper() not in _GIVEN]
        if re.search(r"\b(?:Test-Path|Get-\w+)\b", asked, re.IGNORECASE):
            return Outcome.OPEN
        if any(self._scope.get(self._key(name)) is None for name in unknown):
            return Outcome.OPTIONAL
        found = _EQUAL.fullmatch(asked)
        value = self._scope.get(self._key(found.group(1))) if found else None
        if found is None or value is None or not all(piece.known for piece in value[0]):
            return Outcome.OPEN
        same = "".join(piece.text for piece in value[0]).lower() == found.group(4).lower()
        return Outcome.TRUE if same == (found.group(2).lower() == "eq") else Outcome.FALSE

    def _assign(self, found: re.Match[str]) -> None:
        name = found.group("name")
        start, end = found.span("value")
        pieces: list[Piece] = []
        self._expand(start, end, pieces)
        self._at = found.end()
        known = all(piece.known for piece in pieces)
        self._scope.assign(self._key(name), (tuple(pieces),) if known else UNKNOWN)
        if self._shell is _POWERSHELL and not found.group("env"):
            return
        word = word_of(tuple(pieces), self._view, start, end)
        span = self._view.span(found.start(), found.end())
        setting = variable(name, word, span)
        self._env[name] = setting
        self._facts += read_compile_switches({name: setting}, Role.INFERENCE)

    def _key(self, name: str) -> str:
        return name.upper()  # neither shell tells cases apart

    def _expand(self, start: int, end: int, pieces: list[Piece]) -> None:
        """Add a stretch of text to the pieces, its variables put in."""
        at = start
        for found in self._shell.expansion.finditer(self._text, start, end):
            if found.start() > at:
                pieces.append(Piece(self._text[at : found.start()], at))
            at = found.end()
            name = next((group for group in found.groups() if group), "")
            value = self._scope.get(self._key(name)) if name else None
            if value is None or len(value) != 1:
                pieces.append(Piece("", -1, False))
            elif self._uses[self._key(name)] > 1:
                # Changing the value would change it for its other readers too.
                pieces.extend(Piece(piece.text, -1, piece.known) for piece in value[0])
            else:
                pieces.extend(value[0])
        if at < end:
            pieces.append(Piece(self._text[at:end], at))

    def _words(self) -> list[Word]:
        words: list[Word] = []
        while self._at < len(self._text):
            char = self._text[self._at]
            if blank := _BLANK.match(self._text, self._at):
                self._at = blank.end()
            elif char == "\n" or char in self._shell.breaks:
                break
            elif char == self._shell.escape and self._continued():
                pass
            elif char == "#" and self._shell is _POWERSHELL:
                break
            else:
                words.extend(self._word())
        return words

    def _continued(self) -> bool:
        found = re.compile(r"[\^`][ \t]*\r?\n").match(self._text, self._at)
        if found is None:
            return False
        self._at = found.end()
        return True

    def _word(self) -> list[Word]:
        start = self._at
        pieces: list[Piece] = []
        shell = self._shell
        while self._at < len(self._text):
            char = self._text[self._at]
            at = self._at
            if char.isspace() or char in shell.breaks:
                break
            if char in shell.quotes:
                close = self._text.find(char, at + 1)
                newline = self._text.find("\n", at + 1)
                closed = close >= 0 and not 0 <= newline < close
                if not closed:
                    close = len(self._text) if newline < 0 else newline
                if char == "'":
                    pieces.append(Piece(self._text[at + 1 : close], at + 1))
                else:
                    self._expand(at + 1, close, pieces)
                self._at = close + closed
            elif char == shell.escape:
                if self._continued():
                    break
                pieces.append(Piece(self._text[at + 1 : at + 2], at + 1))
                self._at = min(at + 2, len(self._text))
            elif expansion := shell.expansion.match(self._text, at):
                self._expand(at, expansion.end(), pieces)
                self._at = expansion.end()
            else:
                plain = _PLAIN.match(self._text, at)
                end = plain.end() if plain else at + 1
                pieces.append(Piece(self._text[at:end], at))
                self._at = end
        return self._fields(tuple(pieces), start)

    def _fields(self, pieces: Field, start: int) -> list[Word]:
        """The words of the pieces: a variable may hold several."""
        word = word_of(pieces, self._view, start, self._at)
        quoted = any(mark in self._text[start : self._at] for mark in self._shell.quotes)
        if quoted or not word.known or not re.search(r"\s", word.text):
            return [word]
        return [_part(word, found.start(), found.end()) for found in re.finditer(r"\S+", word.text)]


def _part(word: Word, start: int, end: int) -> Word:
    """One of the words that a variable holds."""
    text = word.text[start:end]
    if not word.exact:
        return replace(word, text=text)
    at = word.inner
    return Word(text, word.view, at + start, at + end, True, at + start)
