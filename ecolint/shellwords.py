"""Words of a shell: quotes taken off, variables put in, and where each character stands.

Our own reader. bashlex is GPL and refuses arrays and `[[`; tree-sitter-bash gives a tree
but leaves quoting and expansion, which are the work here, to its caller. Comments between
the continued lines of a Dockerfile and `$(NAME)` of a Makefile are beyond both.
"""

import re
from dataclasses import dataclass, field
from enum import Enum

from ecolint.document import View
from ecolint.shellscope import Field, Piece, Scope, Value, word_of
from ecolint.words import Word

MAX_NESTING = 8


class Syntax(Enum):
    """Whose commands these are; it decides comments and variables."""

    SHELL = "shell"
    DOCKERFILE = "dockerfile"
    MAKE = "makefile"


@dataclass(slots=True)
class _Fields:
    """The fields that one word of source expands to, while it is being read."""

    done: list[Field] = field(default_factory=list)
    current: list[Piece] | None = None

    def add(self, text: str, at: int, known: bool = True) -> None:
        if self.current is None:
            self.current = []
        if text or not known:
            self.current.append(Piece(text, at, known))

    def put(self, pieces: Field) -> None:
        self.current = [*(self.current or ()), *pieces]

    def cut(self) -> None:
        if self.current is not None:
            self.done.append(tuple(self.current))
            self.current = None

    def put_split(self, pieces: Field) -> None:
        """Add what an unquoted expansion gives: white space separates fields."""
        for piece in pieces:
            if not piece.known:
                self.put((piece,))
                continue
            for found in re.finditer(r"\s+|\S+", piece.text):
                if found.group().isspace():
                    self.cut()
                else:
                    at = piece.at if piece.at < 0 else piece.at + found.start()
                    self.put((Piece(found.group(), at),))

    def put_all(self, value: Value) -> None:
        """Add the elements of an array, the first joining what stands before."""
        for index, pieces in enumerate(value):
            if index:
                self.cut()
            self.put(pieces)


_PLAIN = re.compile(r"[^\s;&|()<>'\"$`\\]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_BRACED = re.compile(r"([A-Za-z_]\w*)(\[[@*]\])?(:?[-=+?])?", re.DOTALL)
_SPECIAL = frozenset("0123456789@*#?!$-<^%+")
_DELIMITER = re.compile(r"\s|[;&|()<>]")


class WordReader:
    """Reads words off a text; `at` is where it stands.

    `commands` collects the stretches of command substitutions, for their own reading.
    """

    def __init__(
        self, view: View, scope: Scope, syntax: Syntax, at: int = 0, end: int | None = None
    ) -> None:
        self.view = view
        self.text = view.text
        self.scope = scope
        scope.attach(view)
        self.syntax = syntax
        self.at = at
        self.end = len(view.text) if end is None else end
        self.commands: list[tuple[int, int]] = []
        self._nesting = 0

    def read(self) -> list[Word]:
        """The words that the source word here expands to; moves behind it."""
        start = self.at
        fields = self.fields()
        if len(fields) == 1:
            return [word_of(fields[0], self.view, start, self.at)]
        words = []
        for pieces in fields:
            word = word_of(pieces, self.view, start, self.at)
            if word.exact:
                at = word.inner
                word = word_of(pieces, self.view, at, at + len(word.text))
            words.append(word)
        return words

    def fields(self) -> Value:
        """The fields of the source word here; moves behind it."""
        fields = _Fields()
        text = self.text
        while self.at < self.end:
            char = text[self.at]
            plain = _PLAIN.match(text, self.at, self.end)
            if plain:
                fields.add(plain.group(), self.at)
                self.at = plain.end()
            elif char == "'":
                self._single(fields)
            elif char == '"':
                self.at += 1
                self._double(fields)
            elif char == "\\":
                if not self._escape(fields):
                    break
            elif char in "$`":
                self._dollar(fields, quoted=False)
            else:
                break
        fields.cut()
        return tuple(fields.done)

    def skip_comment_lines(self) -> None:
        """Pass the comment and empty lines that a Dockerfile allows in a continued command."""
        lines = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)+")
        found = lines.match(self.text, self.at, self.end)
        if found:
            self.at = found.end()

    def continuation(self) -> bool:
        """Pass a backslash and line end, if they stand here."""
        found = re.compile(r"\\[ \t]*\r?\n" if self.syntax is Syntax.DOCKERFILE else r"\\\r?\n")
        match = found.match(self.text, self.at, self.end)
        if match is None:
            return False
        self.at = match.end()
        if self.syntax is Syntax.DOCKERFILE:
            self.skip_comment_lines()
        return True

    def _escape(self, fields: _Fields) -> bool:
        if self.continuation():
            # A word may go on behind it, but only when no white space follows.
            return fields.current is not None and self.at < self.end
        if self.at + 1 < self.end:
            fields.add(self.text[self.at + 1], self.at + 1)
        self.at += 2
        self.at = min(self.at, self.end)
        return True

    def _single(self, fields: _Fields) -> None:
        close = self.text.find("'", self.at + 1, self.end)
        if close < 0:
            fields.add("", -1, False)
            self.at = self.end
            return
        fields.add(self.text[self.at + 1 : close], self.at + 1)
        self.at = close + 1

    def _double(self, fields: _Fields) -> None:
        """Read up to the closing quote; `at` stands behind the opening one."""
        fields.add("", -1)
        text = self.text
        while self.at < self.end:
            plain = _IN_DOUBLE.match(text, self.at, self.end)
            if plain:
                fields.add(plain.group(), self.at)
                self.at = plain.end()
                continue
            char = text[self.at]
            if char == '"':
                self.at += 1
                return
            if char == "\\":
                if self.continuation():
                    continue
                escaped = text[self.at + 1 : self.at + 2]
                keep = escaped not in ('"', "\\", "$", "`")
                fields.add(("\\" if keep else "") + escaped, self.at + (0 if keep else 1))
                self.at = min(self.at + 2, self.end)
            else:
                self._dollar(fields, quoted=True)
        fields.add("", -1, False)

    def _dollar(self, fields: _Fields, quoted: bool) -> None:
        """Read an expansion; `at` stands on its `$` or backtick."""
        text, at = self.text, self.at
        if self.syntax is Syntax.MAKE and text[at] == "$":
            if text.startswith("$$", at):
                self.at = at = at + 1
            elif self._make_variable(fields, quoted):
                return
        following = text[at + 1 : at + 2]
        if text[at] == "`" or following == "(":
            self._substitution(fields)
        elif following == "{":
            self._braced(fields, quoted)
        elif following == "'" and not quoted:
            self.at += 1
            self._single(fields)
            if fields.current and "\\" in fields.current[-1].text:
                fields.current[-1] = Piece("", -1, False)
        elif following == '"' and not quoted:
            self.at += 2
            self._double(fields)
        elif name := _NAME.match(text, at + 1, self.end):
            self.at = name.end()
            self._expand(fields, name.group(), "", quoted)
        elif following and following in _SPECIAL:
            self.at = at + 2
            fields.add("", -1, False)
        else:
            fields.add("$", at)
            self.at = at + 1

    def _make_variable(self, fields: _Fields, quoted: bool) -> bool:
        found = re.compile(r"\$[({]([\w.-]+)[)}]").match(self.text, self.at, self.end)
        if found is None:
            if self.text[self.at + 1 : self.at + 2] in ("(", "{"):
                close = self._closing(self.at + 1)
                fields.add("", -1, False)
                self.at = close
                return True
            return False
        self.at = found.end()
        value = self.scope.get(found.group(1))
        if value is not None and len(value) > 1:
            # Make pastes text: the fields of a value are those of the command.
            self._expand(fields, found.group(1), "[*]" if quoted else "[@]", quoted)
        else:
            self._expand(fields, found.group(1), "", quoted)
        return True

    def _expand(self, fields: _Fields, name: str, array: str, quoted: bool) -> None:
        value = self.scope.get(name)
        if value is None:
            fields.add("", -1, False)
        elif array == "[@]" or (array and not quoted):
            fields.put_all(value)
        elif array:
            joined = [piece for pieces in value for piece in (*pieces, Piece(" "))][:-1]
            fields.put(tuple(joined))
        elif value:
            whole = value[0]
            if not quoted and any(re.search(r"\s", piece.text) for piece in whole):
                fields.put_split(whole)
            elif self.scope.used_once(name):
                fields.put(whole)
            else:
                # Changing the value here would change it elsewhere too.
                fields.put(tuple(Piece(piece.text, -1, piece.known) for piece in whole))

    def _braced(self, fields: _Fields, quoted: bool) -> None:
        start = self.at + 2
        close = self._closing(self.at + 1)
        found = _BRACED.match(self.text, start, close - 1)
        self.at = close
        if found is None or self.text[close - 1] != "}":
            fields.add("", -1, False)
            return
        name, array, operator = found.group(1), found.group(2) or "", found.group(3)
        if operator is None:
            if found.end() == close - 1:
                self._expand(fields, name, array, quoted)
            else:
                fields.add("", -1, False)
            return
        value = self.scope.get(name)
        sign = operator[-1]
        if value is not None and sign in "-=?":
            self._expand(fields, name, array, quoted)
        elif value is not None and sign == "+":
            self._word_within(fields, found.end(), close - 1, quoted)
        elif sign in "-=":
            self._word_within(fields, found.end(), close - 1, quoted)
            if sign == "=" and fields.current is not None:
                self.scope.assign(name, (tuple(fields.current),))
        else:
            fields.add("", -1, False)

    def _word_within(self, fields: _Fields, start: int, end: int, quoted: bool) -> None:
        """Read the default of `${NAME:-…}`, which may hold expansions itself."""
        if self._nesting >= MAX_NESTING:
            fields.add("", -1, False)
            return
        outer_at, outer_end = self.at, self.end
        self.at, self.end = start, end
        self._nesting += 1
        inner = _Fields()
        while self.at < self.end:
            before = self.at
            if self.text[self.at] == '"':
                self.at += 1
                self._double(inner)
            elif self.text[self.at] in "$`":
                self._dollar(inner, quoted=True)
            elif self.text[self.at] == "'" and not quoted:
                self._single(inner)
            else:
                plain = re.compile(r"[^\"'$`]+|'").match(self.text, self.at, self.end)
                inner.add(plain.group() if plain else "", self.at)
                self.at = plain.end() if plain else self.at + 1
            self.at = max(self.at, before + 1)
        inner.cut()
        self._nesting -= 1
        self.at, self.end = outer_at, outer_end
        for pieces in inner.done:
            if quoted:
                fields.put(pieces)
            else:
                fields.put_split(pieces)

    def _substitution(self, fields: _Fields) -> None:
        start = self.at
        if self.text[start] == "`":
            close = self.text.find("`", start + 1, self.end)
            close = self.end if close < 0 else close
            self.commands.append((start + 1, close))
            self.at = min(close + 1, self.end)
        else:
            close = self._closing(start + 1)
            if not self.text.startswith("((", start + 1):
                self.commands.append((start + 2, max(close - 1, start + 2)))
            self.at = close
        fields.add("", -1, False)

    def _closing(self, at: int) -> int:
        """The place behind the bracket that closes the one at `at`; the end if none does."""
        return closing(self.text, at, self.end)


_CLOSERS = {"(": ")", "{": "}"}
_NEXT = {
    "(": re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|[()]", re.DOTALL),
    "{": re.compile(r"\\.|\"(?:[^\"\\]|\\.)*\"|[{}]", re.DOTALL),
}


def closing(text: str, at: int, end: int) -> int:
    """The place behind the bracket that closes the one at `at`; `end` if none does."""
    opener = text[at]
    depth = 0
    for found in _NEXT[opener].finditer(text, at, end):
        if found.group() == opener:
            depth += 1
        elif found.group() == _CLOSERS[opener]:
            depth -= 1
            if depth == 0:
                return found.end()
    return end


def word_view(word: Word) -> View:
    """What a word says as text of its own, for a reader of shell or Python."""
    if word.exact and word.inner >= 0:
        return word.view.part(word.inner, word.inner + len(word.text))
    reader = WordReader(word.view, Scope(""), Syntax.SHELL, word.start)
    pieces = [piece for field in reader.fields() for piece in field]
    if reader.at == word.end and "".join(piece.text for piece in pieces) == word.text:
        offsets = [word.view.at(piece.at + n) for piece in pieces for n in range(len(piece.text))]
        offsets.append(offsets[-1] + 1 if offsets else word.view.at(word.end))
        writable = word.view.writable
    else:
        # Expansions stand between text and source: all of it is told at the whole word.
        offsets = [word.view.at(word.start)] * len(word.text) + [word.view.at(word.end)]
        writable = False
    return View(word.view.document, word.text, 0, offsets, writable=writable)
