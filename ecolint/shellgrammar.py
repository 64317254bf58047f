"""The commands of a shell text: what runs, with which words and which environment.

The reader knows the grammar only as far as it decides where a command starts and whether
its variables are certain. It never fails: what it can't make out gives unknown words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ecolint.document import View
from ecolint.outcomes import Outcome, opposite
from ecolint.shellcommand import Assignment, Command, Exports, read_heredoc
from ecolint.shellconditions import (
    Reach,
    Token,
    judge_arithmetic,
    judge_command,
    judge_pattern,
    judge_test,
)
from ecolint.shellscope import UNKNOWN, Field, Piece, Scope, Value, word_of
from ecolint.shellwords import MAX_NESTING, Syntax, WordReader, closing
from ecolint.words import Word


@dataclass(slots=True)
class _Draft:
    words: list[Word] = field(default_factory=list)
    assigned: list[Assignment] = field(default_factory=list)
    environment: tuple[Assignment, ...] = ()
    written: list[str] = field(default_factory=list)
    heredoc: View | None = None
    literal: bool = True
    fed: bool = False
    runs: bool = True

    @property
    def empty(self) -> bool:
        return not (self.words or self.assigned or self.written or self.fed)


@dataclass(frozen=True, slots=True)
class _Pending:
    draft: _Draft
    delimiter: str
    strip_tabs: bool
    literal: bool


_BLANK = re.compile(r"[ \t\f\v]+")
_COMMENT = re.compile(r"#[^\n]*")
_OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;|&]")
_REDIRECTION = re.compile(r"(?:\d+|&|\{\w+\})?(<<<|<<-|<<|<&|<>|>>|>\||>&|[<>])(?!\()")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^]\n]*\])?(\+?)=")
_DECLARING = frozenset({"export", "declare", "typeset", "local", "readonly"})
_PATTERN = re.compile(r"(?:[^)'\"\n]|'[^'\n]*'|\"[^\"\n]*\")*\)?")
_IF = re.compile(r"\b(?:el)?if\b")
_CASE = re.compile(r"\bcase\b")
_LIST = re.compile(r"[;\n]")
_VARIABLE = re.compile(r"\$[({]?([A-Za-z_]\w*)")
_TEST_SIGN = re.compile(r"&&|\|\||[()<>]")
_CONDITION_SIZE = 400
_PASSED = frozenset({"!", "time", "coproc", "do"})
_ALTERNATIVES = frozenset({"then", "elif", "else"})
_OPENING_WORDS = {"if": "if", "while": "loop", "until": "loop"}
_CLOSING_WORDS = {"fi": ("if",), "done": ("loop",), "esac": ("case",), "}": ("group", "function")}


def split(
    view: View,
    *,
    syntax: Syntax = Syntax.SHELL,
    scope: Scope | None = None,
    start: int = 0,
    end: int | None = None,
) -> Iterator[Command]:
    """The commands of a shell text in the order they are written, bodies of blocks included.

    Args:
        view: the text.
        syntax: whose rules for comments and variables hold.
        scope: variables known before; those that the text sets are added.
        start: where the commands begin in the view.
        end: where they end; the view's end if None.
    """
    splitter = _Splitter(view, syntax, scope or Scope(view.text), start, end)
    yield from splitter.commands()


class _Splitter:
    def __init__(
        self,
        view: View,
        syntax: Syntax,
        scope: Scope,
        start: int,
        end: int | None,
        depth: int = 0,
    ) -> None:
        self._view = view
        self._text = view.text
        self._scope = scope
        self._syntax = syntax
        self._words = WordReader(view, scope, syntax, start, end)
        self._draft = _Draft()
        self._line: list[_Draft] = []
        self._pending: list[_Pending] = []
        self._exports = Exports()
        self._reach = Reach()
        self._judged: Outcome | None = None
        self._negated = False
        self._unrun = 0
        self._subject: Word | None = None
        self._function_next = False
        self._pattern_next = False
        self._depth = depth

    def commands(self) -> Iterator[Command]:
        reader = self._words
        while reader.at < reader.end:
            before = reader.at
            self._step()
            if self._line and not self._pending:
                yield from self._finished()
            reader.at = max(reader.at, before + 1)
        self._flush()
        yield from self._finished()
        yield from self._substitutions()

    def _finished(self) -> Iterator[Command]:
        for draft in self._line:
            yield Command(
                tuple(draft.words),
                tuple(draft.assigned),
                draft.environment,
                tuple(draft.written),
                draft.heredoc,
                draft.literal,
                draft.runs,
            )
        self._line.clear()

    def _substitutions(self) -> Iterator[Command]:
        """The commands inside `$(…)`, which run wherever the word that holds them does."""
        if self._depth >= MAX_NESTING:
            return
        for start, end in self._words.commands:
            inner = _Splitter(self._view, self._syntax, self._scope, start, end, self._depth + 1)
            yield from inner.commands()

    def _step(self) -> None:
        reader, text = self._words, self._text
        at = reader.at
        char = text[at]
        if self._pattern_next:
            self._case_pattern()
        elif blank := _BLANK.match(text, at, reader.end):
            reader.at = blank.end()
        elif char == "\\" and reader.continuation():
            pass
        elif char == "#":
            comment = _COMMENT.match(text, at, reader.end)
            reader.at = comment.end() if comment else at + 1
        elif char in "\r\n":
            reader.at += 1
            if char == "\n":
                self._flush()
                self._reach.follow("")
                self._read_heredocs()
        elif redirection := _REDIRECTION.match(text, at, reader.end):
            self._redirect(redirection)
        elif operator := _OPERATOR.match(text, at, reader.end):
            self._operator(operator)
        elif char == "(":
            self._open()
        elif char == ")":
            reader.at += 1
            self._flush()
            if self._scope.innermost == "subshell":
                self._leave()
        elif char in "<>":
            reader.at = closing(text, min(at + 1, reader.end - 1), reader.end)
            self._draft.words.append(Word("", self._view, at, reader.at, False, -1, False))
        else:
            self._word()

    def _operator(self, operator: re.Match[str]) -> None:
        self._words.at = operator.end()
        sign = operator.group()
        piped = sign in ("|", "|&")
        self._flush(piped=piped)
        if not piped:
            self._reach.follow(sign)
        if (sign.startswith(";;") or sign == ";&") and self._scope.innermost == "case":
            self._branch()
            self._pattern_next = True

    def _open(self) -> None:
        reader, text = self._words, self._text
        empty = re.compile(r"\([ \t]*\)").match(text, reader.at, reader.end)
        if empty and len(self._draft.words) == 1:
            reader.at = empty.end()
            self._draft = _Draft()
            self._function_next = True
        elif text.startswith("((", reader.at) and not self._draft.words:
            start = reader.at
            reader.at = closing(text, start, reader.end)
            self._judged = judge_arithmetic(text[start : reader.at], self._scope)
        else:
            reader.at += 1
            self._flush()
            self._enter("function" if self._function_next else "subshell")
            self._function_next = False

    # --- words ---------------------------------------------------------------------------

    def _word(self) -> None:
        reader = self._words
        start = reader.at
        declaring = bool(self._draft.words) and self._draft.words[0].text in _DECLARING
        if (not self._draft.words or declaring) and self._assignment(declaring):
            return
        words = reader.read()
        if reader.at == start:
            reader.at += 1
            return
        if not self._draft.words and not self._draft.assigned and len(words) == 1:
            written = self._text[start : reader.at]
            if self._keyword(written):
                return
        self._draft.words.extend(words)

    def _assignment(self, declaring: bool) -> bool:
        reader = self._words
        found = _ASSIGNMENT.match(self._text, reader.at, reader.end)
        if found is None:
            return False
        name, index, plus = found.groups()
        start = reader.at
        reader.at = found.end()
        exported = declaring and self._marks_export()
        if self._text.startswith("(", reader.at) and not index:
            items = self._array()
            self._give(name, items, plus)
            self._draft.assigned.append(
                Assignment(name, word_of(UNKNOWN[0], self._view, start, reader.at), start, start)
            )
            return True
        begin = reader.at
        value = self._scalar()
        if index:
            self._scope.assign(name, UNKNOWN)
        elif plus and self._reach.step is not Outcome.FALSE:
            self._scope.join(name, value, unsure=self._reach.step is not Outcome.TRUE)
        elif not plus:
            self._give(name, (value,), plus)
        word = word_of(value, self._view, begin, reader.at)
        self._draft.assigned.append(Assignment(name, word, start, reader.at, exported))
        return True

    def _give(self, name: str, value: Value, plus: str) -> None:
        """Assign to a variable, or append to it, as far as that surely happens."""
        step = self._reach.step
        unsure = step is not Outcome.TRUE
        if step is Outcome.FALSE:
            return
        if plus:
            self._scope.extend(name, value, unsure=unsure)
            return
        if step is Outcome.OPTIONAL and name not in self._tested(_LIST):
            value = UNKNOWN
        self._scope.assign(name, value, unsure=unsure)

    def _marks_export(self) -> bool:
        first = self._draft.words[0].text
        flags = "".join(word.text for word in self._draft.words[1:])
        return first == "export" or (flags.startswith("-") and "x" in flags)

    def _scalar(self) -> Field:
        """The value of an assignment: one field, since the shell doesn't split there."""
        fields = self._words.fields()
        joined: list[Piece] = []
        for index, pieces in enumerate(fields):
            if index:
                joined.append(Piece(" "))
            joined.extend(pieces)
        return tuple(joined)

    def _array(self) -> Value:
        reader = self._words
        reader.at += 1
        items: list[Field] = []
        while reader.at < reader.end:
            before = reader.at
            char = self._text[before]
            if char == ")":
                reader.at += 1
                break
            if char == "#":
                comment = _COMMENT.match(self._text, before, reader.end)
                reader.at = comment.end() if comment else before + 1
            elif char.isspace():
                reader.at += 1
            elif not (char == "\\" and reader.continuation()):
                items.extend(reader.fields())
                reader.at = max(reader.at, before + 1)
        return tuple(items)

    # --- grammar -------------------------------------------------------------------------

    def _keyword(self, word: str) -> bool:
        """Act on a reserved word in command position; False for any other word."""
        innermost = self._scope.innermost
        if word in _PASSED:
            self._negated ^= word == "!"
        elif word in _ALTERNATIVES:
            if innermost == "if":
                self._alternative(word)
        elif word in _OPENING_WORDS:
            self._enter(_OPENING_WORDS[word])
        elif word in ("for", "select"):
            self._enter("loop")
            self._loop_header()
        elif word == "case":
            self._case_header()
        elif word == "{":
            self._enter("function" if self._function_next else "group")
            self._function_next = False
        elif word in _CLOSING_WORDS:
            if innermost in _CLOSING_WORDS[word]:
                self._leave()
        elif word == "function":
            self._skip_blanks()
            self._words.fields()
            self._function_next = True
            empty = re.compile(r"[ \t]*\([ \t]*\)").match(self._text, self._words.at)
            if empty:
                self._words.at = empty.end()
        elif word == "[[":
            self._bracketed_test()
        else:
            return False
        return True

    def _alternative(self, word: str) -> None:
        if word != "then":
            self._branch()
        if word == "then":
            self._scope.condition(self._tested(_IF), self._reach.choose())
        elif word == "else":
            self._scope.condition(frozenset(), self._reach.choose(Outcome.TRUE))

    def _enter(self, kind: str) -> None:
        self._scope.enter(kind)
        self._reach.enter()

    def _branch(self) -> None:
        self._scope.branch()
        self._reach.reject()

    def _leave(self) -> None:
        self._scope.leave()
        self._reach.leave()

    def _tested(self, opening: re.Pattern[str]) -> frozenset[str]:
        """The variables of the condition that ends here; the last `opening` begins it."""
        before = self._text[max(self._words.at - _CONDITION_SIZE, 0) : self._words.at]
        start = max((found.end() for found in opening.finditer(before)), default=0)
        return frozenset(_VARIABLE.findall(before, start))

    def _bracketed_test(self) -> None:
        reader = self._words
        found = re.compile(r"\s\]\]").search(self._text, reader.at, reader.end)
        close = found.start() if found else reader.end
        tokens: list[Token] = []
        while reader.at < close:
            before = reader.at
            self._skip_blanks()
            sign = _TEST_SIGN.match(self._text, reader.at, close)
            if sign:
                tokens.append(sign.group())
                reader.at = sign.end()
            else:
                tokens.extend(reader.read() if reader.at < close else ())
                reader.at = max(reader.at, before + 1)
        reader.at = max(found.end() if found else reader.end, reader.at)
        self._judged = judge_test(tokens, self._syntax)

    def _loop_header(self) -> None:
        reader = self._words
        self._skip_blanks()
        if self._text.startswith("((", reader.at):
            reader.at = closing(self._text, reader.at, reader.end)
            return
        header = re.compile(r"(\w+)\s+in\b").match(self._text, reader.at, reader.end)
        if header is None:
            return
        reader.at = header.end()
        fields: list[Field] = []
        while reader.at < reader.end:
            self._skip_blanks()
            before = reader.at
            fields.extend(reader.fields())
            if reader.at == before:
                break
        self._scope.assign(header.group(1), tuple(fields) if len(fields) == 1 else UNKNOWN)

    def _case_header(self) -> None:
        reader = self._words
        header = re.compile(r"[ \t]*[^\n;]*?\sin\b").match(self._text, reader.at, reader.end)
        self._enter("case")
        self._subject = None
        if header:
            self._skip_blanks()
            words = reader.read()
            self._subject = words[0] if len(words) == 1 else None
            reader.at = header.end()
            self._pattern_next = True

    def _case_pattern(self) -> None:
        reader = self._words
        start = re.compile(r"(?:\s|#[^\n]*\n)*").match(self._text, reader.at, reader.end)
        reader.at = start.end() if start else reader.at
        self._pattern_next = False
        if re.compile(r"esac\b").match(self._text, reader.at, reader.end):
            return
        if pattern := _PATTERN.match(self._text, reader.at, reader.end):
            reader.at = pattern.end()
            written = pattern.group().strip("() \t")
            subject = self._subject
            judged = judge_pattern(subject, written, self._syntax) if subject else Outcome.OPEN
            self._scope.condition(self._tested(_CASE), self._reach.choose(judged))

    def _skip_blanks(self) -> None:
        reader = self._words
        while True:
            blank = _BLANK.match(self._text, reader.at, reader.end)
            if blank:
                reader.at = blank.end()
            elif not (self._text.startswith("\\", reader.at) and reader.continuation()):
                return

    # --- redirections --------------------------------------------------------------------

    def _redirect(self, found: re.Match[str]) -> None:
        reader = self._words
        sign = found.group(1)
        reader.at = found.end()
        self._skip_blanks()
        start = reader.at
        target = reader.read()
        text = target[0].text if target else ""
        if sign in ("<<", "<<-"):
            written = self._text[start : reader.at]
            literal = any(mark in written for mark in "'\"\\")
            self._draft.fed = True
            self._pending.append(_Pending(self._draft, text, sign == "<<-", literal))
        elif sign in (">", ">>", ">|"):
            self._draft.written.append(text)

    def _read_heredocs(self) -> None:
        reader = self._words
        for pending in self._pending:
            start = reader.at
            body, reader.at = read_heredoc(
                self._view, start, reader.end, pending.delimiter, strip_tabs=pending.strip_tabs
            )
            pending.draft.heredoc = body
            pending.draft.literal = pending.literal
        self._pending.clear()

    def _flush(self, *, piped: bool = False) -> None:
        draft, self._draft = self._draft, _Draft()
        judged, self._judged = self._judged, None
        if draft.empty and judged is None:
            return
        draft.runs = self._reach.runs
        judged = judged or judge_command(draft.words, self._syntax)
        judged = opposite(judged) if self._negated else judged
        self._reach.passed(draft.words, judged, self._syntax, piped=piped)
        self._negated = piped and self._negated
        if draft.empty:
            return
        first = draft.words[0].text if draft.words else ""
        if first == "unset" and draft.runs:
            for word in draft.words[1:]:
                self._scope.forget(word.text)
        if draft.runs:
            self._exports.note(draft.words, draft.assigned, self._scope, self._view)
        draft.environment = self._exports.environment
        self._line.append(draft)
        if not draft.runs:
            del self._words.commands[self._unrun :]
        self._unrun = len(self._words.commands)
