"""Whether a command of a script runs: conditions weighed by what is known of its variables.

A branch that the known variables rule out does not run. One that hangs on a variable nobody
sets is somebody's choice to make, and says nothing about what a project does by itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeAlias

from ecolint.outcomes import Outcome, both, either, opposite
from ecolint.shellscope import Piece, Scope
from ecolint.shellwords import MAX_NESTING, Syntax
from ecolint.words import Word

# A word of a test; the operators of `[[ … ]]` are plain text.
Token: TypeAlias = Word | str

# How many arguments there are is no switch: a container starts with none.
_VARIABLE = re.compile(r"\$(?:[A-Za-z_0-9@*]|\{)")
_MAKE_VARIABLE = re.compile(r"\$[({][\w.-]+[)}]|\$\$(?:[A-Za-z_0-9@*]|\{)")
_NUMERIC = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
_ARITHMETIC = {
    sign: _NUMERIC[name]
    for sign, name in zip(("==", "!=", "<", "<=", ">", ">="), _NUMERIC, strict=True)
}
_COMPARED = re.compile(r"\(\(\s*\$?(\w+)\s*(==|!=|<=|>=|<|>)\s*\$?(\w+)\s*\)\)")
_BINARY = frozenset({"=", "==", "!=", "=~", "<", ">", "-nt", "-ot", "-ef", *_NUMERIC})
_UNARY = re.compile(r"-[a-zA-Z]")
_ENDS = frozenset({"&&", "||", ")"})
_JOINERS = {"-a": "&&", "-o": "||"}
_SEARCHES = frozenset({"grep", "egrep", "fgrep"})
_ECHOES = frozenset({"echo", "printf"})


def judge_command(words: Sequence[Word], syntax: Syntax) -> Outcome:
    """How a command used as a condition turns out."""
    if not words:
        return Outcome.TRUE
    program = words[0].text
    if not words[0].known:
        return _hanging(words[0], syntax) if len(words) == 1 else Outcome.OPEN
    if program in ("true", ":"):
        return Outcome.TRUE
    if program == "false":
        return Outcome.FALSE
    if program in ("[", "test") and len(words) > 1:
        closed = program == "[" and words[-1].text == "]"
        return judge_test(words[1:-1] if closed else words[1:], syntax)
    return Outcome.OPEN


def judge_pipe(words: Sequence[Word], syntax: Syntax) -> Outcome:
    """What hangs on the output that a command feeds to the next one."""
    echoes = bool(words) and words[0].text in _ECHOES
    hanging = echoes and any(_hanging(word, syntax) is Outcome.OPTIONAL for word in words)
    return Outcome.OPTIONAL if hanging else Outcome.OPEN


def judge_test(tokens: Sequence[Token], syntax: Syntax) -> Outcome:
    """How the expression inside `[ … ]` or `[[ … ]]` turns out."""
    return _Test(tokens, syntax).judge()


def judge_arithmetic(written: str, scope: Scope) -> Outcome:
    """How `(( … ))` turns out; only a plain comparison is worked out."""
    found = _COMPARED.fullmatch(written)
    numbers: dict[str, int] = {}
    for name in re.findall(r"(?<![\w.])[A-Za-z_]\w*|\d+", written):
        value = ((Piece(name),),) if name.isdigit() else scope.get(name)
        if value is None or len(value) != 1 or not all(piece.known for piece in value[0]):
            return Outcome.OPTIONAL
        text = "".join(piece.text for piece in value[0])
        if not re.fullmatch(r"\d{1,9}", text):
            return Outcome.OPEN
        numbers[name] = int(text)
    if found is None:
        return Outcome.OPEN
    left, sign, right = found.groups()
    return _said(_ARITHMETIC[sign](numbers[left], numbers[right]))


def judge_pattern(subject: Word, pattern: str, syntax: Syntax) -> Outcome:
    """Whether the subject of a `case` matches a pattern, given as written."""
    if not subject.known:
        return Outcome.TRUE if pattern.strip() == "*" else _hanging(subject, syntax)
    if "$" in pattern or "`" in pattern:
        return Outcome.OPEN
    globs = (re.sub(r"[\"'\\]", "", each.strip()) for each in pattern.split("|"))
    matches = any(fnmatchcase(subject.text, glob) for glob in globs)
    return Outcome.TRUE if matches else Outcome.FALSE


def _hanging(word: Word, syntax: Syntax) -> Outcome:
    """What an unknown word hangs on; TRUE for a known one."""
    if word.known:
        return Outcome.TRUE
    variable = _MAKE_VARIABLE if syntax is Syntax.MAKE else _VARIABLE
    written = word.view.text[word.start : word.end]
    return Outcome.OPTIONAL if variable.search(written) else Outcome.OPEN


def _said(holds: bool) -> Outcome:
    return Outcome.TRUE if holds else Outcome.FALSE


class _Test:
    """Reads a test by its grammar: `||` of `&&` of negations of comparisons."""

    def __init__(self, tokens: Sequence[Token], syntax: Syntax, depth: int = 0) -> None:
        self._tokens = tokens
        self._syntax = syntax
        self._depth = depth
        self._at = 0

    def judge(self) -> Outcome:
        if not self._tokens:
            return Outcome.FALSE
        if self._depth > MAX_NESTING:
            return self._rest()
        found = self._any()
        return found if self._at >= len(self._tokens) else both(found, self._rest())

    def _rest(self) -> Outcome:
        """What is left of a test that was not understood: it may go either way."""
        left = [each for each in self._tokens[self._at :] if isinstance(each, Word)]
        hanging = any(_hanging(word, self._syntax) is Outcome.OPTIONAL for word in left)
        return Outcome.OPTIONAL if hanging else Outcome.OPEN

    def _text(self, offset: int = 0) -> str:
        at = self._at + offset
        if at >= len(self._tokens):
            return ""
        token = self._tokens[at]
        text = token if isinstance(token, str) else token.text
        return _JOINERS.get(text, text)

    def _any(self) -> Outcome:
        found = self._all()
        while self._text() == "||":
            self._at += 1
            found = either(found, self._all())
        return found

    def _all(self) -> Outcome:
        found = self._one()
        while self._text() == "&&":
            self._at += 1
            found = both(found, self._one())
        return found

    def _one(self) -> Outcome:
        turned = False
        while self._text() == "!" and self._at + 1 < len(self._tokens):
            self._at += 1
            turned = not turned
        found = self._comparison()
        return opposite(found) if turned else found

    def _comparison(self) -> Outcome:
        if self._text() == "(":
            end = next(
                (n for n in range(len(self._tokens) - 1, self._at, -1) if self._is(n, ")")),
                len(self._tokens),
            )
            within = self._tokens[self._at + 1 : end]
            inner = _Test(within, self._syntax, self._depth + 1).judge()
            self._at = end + 1
            return inner
        if self._text(1) in _BINARY:
            left, sign, right = (*self._tokens[self._at : self._at + 3], "", "")[:3]
            self._at += 3
            return self._compare(left, sign, right)
        follows = self._at + 1 < len(self._tokens)
        if follows and _UNARY.fullmatch(self._text()) and self._text(1) not in _ENDS:
            option, operand = self._text(), self._tokens[self._at + 1]
            self._at += 2
            return self._check(option, operand)
        operand = self._tokens[self._at] if self._at < len(self._tokens) else ""
        self._at += 1
        return self._check("-n", operand)

    def _is(self, at: int, text: str) -> bool:
        token = self._tokens[at]
        return (token if isinstance(token, str) else token.text) == text

    def _check(self, option: str, operand: Token) -> Outcome:
        if isinstance(operand, str) or option not in ("-n", "-z", "-v"):
            return Outcome.OPEN  # a question to the file system
        if option == "-v":
            return Outcome.OPTIONAL
        hanging = _hanging(operand, self._syntax)
        if hanging is not Outcome.TRUE:
            return hanging
        return _said(bool(operand.text) == (option == "-n"))

    def _compare(self, left: Token, sign: Token, right: Token) -> Outcome:
        if not isinstance(left, Word) or not isinstance(right, Word):
            return Outcome.OPEN
        operator = sign if isinstance(sign, str) else sign.text
        hanging = both(_hanging(left, self._syntax), _hanging(right, self._syntax))
        if hanging is not Outcome.TRUE:
            return hanging
        if operator in _NUMERIC:
            try:
                return _said(_NUMERIC[operator](int(left.text), int(right.text)))
            except ValueError:
                return Outcome.OPEN
        if operator not in ("=", "==", "!="):
            return Outcome.OPEN
        written = right.view.text[right.start : right.end]
        bracketed = any(isinstance(each, str) for each in self._tokens) or operator == "=="
        globs = bracketed and not any(mark in written for mark in "\"'")
        same = fnmatchcase(left.text, right.text) if globs else left.text == right.text
        return _said(same == (operator != "!="))


# --- where a script stands ----------------------------------------------------------------


@dataclass(slots=True)
class _Level:
    """One open block. `within` is whether what stands in it now runs, `link` what led here,
    `fed` what the text hangs on that a pipe brings."""

    within: Outcome
    link: str = ""
    status: Outcome = Outcome.TRUE
    fed: Outcome = Outcome.OPEN
    untaken: Outcome = Outcome.TRUE


class Reach:
    """Follows a script through its blocks and lists, and tells whether the command there runs."""

    def __init__(self) -> None:
        """Begin at the top of a script, where everything runs."""
        self._levels = [_Level(Outcome.TRUE)]

    @property
    def step(self) -> Outcome:
        """Whether the list of commands around goes on here."""
        level = self._levels[-1]
        if level.link == "&&":
            return level.status
        return opposite(level.status) if level.link == "||" else Outcome.TRUE

    @property
    def outcome(self) -> Outcome:
        """Whether the command that stands here runs."""
        return both(self._levels[-1].within, self.step)

    @property
    def runs(self) -> bool:
        """Whether the command here runs by itself, as far as can be told."""
        return self.outcome in (Outcome.TRUE, Outcome.OPEN)

    def passed(
        self, words: Sequence[Word], judged: Outcome, syntax: Syntax, *, piped: bool
    ) -> None:
        """Note the command that stood here; one that is `piped` leaves the decision to the next."""
        level = self._levels[-1]
        if piped:
            level.fed = judge_pipe(words, syntax)
            return
        if level.fed is Outcome.OPTIONAL and words and words[0].text in _SEARCHES:
            judged = level.fed
        level.fed = Outcome.OPEN
        self._ended(judged)

    def _ended(self, outcome: Outcome) -> None:
        level = self._levels[-1]
        if level.link == "&&":
            level.status = both(level.status, outcome)
        elif level.link == "||":
            level.status = either(level.status, outcome)
        else:
            level.status = outcome

    def follow(self, sign: str) -> None:
        """Go on behind `&&`, `||`, `;` or the end of a line."""
        self._levels[-1].link = sign if sign in ("&&", "||") else ""

    def enter(self) -> None:
        """Go into a block; what stands there runs if the block does."""
        self._levels.append(_Level(self.outcome))

    def choose(self, outcome: Outcome | None = None) -> Outcome:
        """Go into the alternative whose condition was just read; how it turned out.

        Without an outcome, the condition is the list of commands before it.
        """
        level = self._levels[-1]
        if outcome is None:
            outcome = level.status
        chosen = both(level.untaken, outcome)
        level.untaken = both(level.untaken, opposite(outcome))
        level.within = both(self._outer(), chosen)
        level.link = ""
        return chosen

    def reject(self) -> None:
        """Leave an alternative; the condition of another may follow."""
        level = self._levels[-1]
        level.within = both(self._outer(), level.untaken)
        level.link = ""

    def leave(self) -> None:
        """Go out of the innermost block."""
        if len(self._levels) > 1:
            self._levels.pop()
            self._ended(Outcome.OPEN)

    def _outer(self) -> Outcome:
        if len(self._levels) < 2:
            return Outcome.TRUE
        inner = self._levels.pop()
        outer = self.outcome
        self._levels.append(inner)
        return outer
