"""JSON with positions, comments allowed.

Our own scanner because no JSON parser keeps where a value stands: `json` reports only
errors, and the YAML composer rejects legal JSON (tabs, `\\/`) and hides where the
characters of an escaped string are. It never recurses, so nesting costs memory, not a crash.
"""

import json
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

# One token: a string (possibly huge: notebook outputs), punctuation, a bare word, or space.
_TOKEN = re.compile(
    r"[ \t\r\n\ufeff]+|(?P<comment>//[^\r\n]*|/\*.*?\*/|\#[^\r\n]*)"
    r'|(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>[{}\[\],:])|(?P<word>[^\s{}\[\],:"/]+)',
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u.{4}|.)")
MAX_DEPTH = 2_000


class JSONError(ValueError):
    """The text is no JSON; `offset` is where reading stopped."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(slots=True)
class Node:
    """A value and the characters that it stands in (`end` exclusive).

    `kind` is "object", "array", "string" or "scalar"; objects fill `members`, arrays `items`.
    """

    kind: str
    start: int
    end: int
    text: str
    members: list[tuple["Node", "Node"]] = field(default_factory=list)
    items: list["Node"] = field(default_factory=list)

    @property
    def value(self) -> object:
        """The Python value of a string or scalar; None for anything else or malformed."""
        if self.kind not in ("string", "scalar"):
            return None
        try:
            return json.loads(self.text[self.start : self.end])
        except ValueError:
            return None

    def get(self, key: str) -> "Node | None":
        """The value under `key`; the last one wins, as in every JSON reader."""
        found = None
        for name, value in self.members:
            if name.value == key:
                found = value
        return found

    def walk(self) -> Iterator["Node"]:
        """This node and all below it, in document order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            below = [value for _, value in node.members] or node.items
            stack.extend(reversed(below))


def parse(text: str, *, comments: bool = False) -> Node:
    """Read one JSON document.

    Trailing commas are accepted together with comments, as editors that write JSONC do.

    Raises:
        JSONError: the text is malformed, or nested more than `MAX_DEPTH` deep.
    """
    return _Reader(text, comments).read()


class _Reader:
    def __init__(self, text: str, comments: bool) -> None:
        self._text = text
        self._comments = comments
        self._at = 0

    def _next(self) -> tuple[str, int, int]:
        """The next token as (kind, start, end); kind "" at the end of the text."""
        while self._at < len(self._text):
            match = _TOKEN.match(self._text, self._at)
            if match is None:
                raise JSONError("unexpected character", self._at)
            self._at = match.end()
            kind = match.lastgroup
            if kind == "comment":
                if not self._comments:
                    raise JSONError("a comment, which JSON does not allow", match.start())
            elif kind is not None:
                mark = self._text[match.start()] if kind == "mark" else kind
                return mark, match.start(), match.end()
        return "", self._at, self._at

    def read(self) -> Node:
        stack: list[Node] = []
        pending: list[Node | None] = []  # the key that waits for its value, one a level
        expect_value = True
        root: Node | None = None
        while True:
            kind, start, end = self._next()
            if root is not None and not stack:
                if kind:
                    raise JSONError("text after the end of the value", start)
                return root
            if kind == "":
                raise JSONError("the text ends too early", start)
            if kind in ("}", "]"):
                self._close(stack, pending, kind, start, end, expect_value)
                expect_value = False
            elif kind == ",":
                if not stack or expect_value:
                    raise JSONError("a comma too many", start)
                expect_value = True
            elif stack and stack[-1].kind == "object" and pending[-1] is None:
                if kind != "string" or not expect_value:
                    raise JSONError("a key in double quotes was expected", start)
                pending[-1] = Node("string", start, end, self._text)
                if self._next()[0] != ":":
                    raise JSONError("a colon was expected", end)
            elif kind == ":" or not expect_value:
                raise JSONError("a comma was expected", start)
            else:
                node = self._value(kind, start, end)
                self._attach(stack, pending, node)
                root = root or node
                if node.kind in ("object", "array"):
                    if len(stack) >= MAX_DEPTH:
                        raise JSONError(f"nested more than {MAX_DEPTH} deep", start)
                    stack.append(node)
                    pending.append(None)
                    expect_value = True
                else:
                    expect_value = False

    def _value(self, kind: str, start: int, end: int) -> Node:
        if kind == "{":
            return Node("object", start, end, self._text)
        if kind == "[":
            return Node("array", start, end, self._text)
        return Node("string" if kind == "string" else "scalar", start, end, self._text)

    @staticmethod
    def _attach(stack: list[Node], pending: list[Node | None], node: Node) -> None:
        if not stack:
            return
        parent = stack[-1]
        key = pending[-1]
        if parent.kind == "array":
            parent.items.append(node)
        elif key is not None:
            parent.members.append((key, node))
            pending[-1] = None

    def _close(
        self,
        stack: list[Node],
        pending: list[Node | None],
        kind: str,
        start: int,
        end: int,
        expect_value: bool,
    ) -> None:
        wanted = {"}": "object", "]": "array"}[kind]
        if not stack or stack[-1].kind != wanted or pending[-1] is not None:
            raise JSONError("a bracket that closes nothing", start)
        node = stack[-1]
        if expect_value and (node.members or node.items) and not self._comments:
            raise JSONError("a comma too many", start)
        node.end = end
        stack.pop()
        pending.pop()


def unescape(node: Node) -> tuple[str, "array[int]"]:
    """The text of a string node, and for each character the offset where it stands.

    The array has one more entry than the text: the offset of the closing quote.
    """
    source = node.text
    begin, end = node.start + 1, node.end - 1
    offsets = array("q")
    if "\\" not in source[begin:end]:
        offsets.extend(range(begin, end + 1))
        return source[begin:end], offsets
    parts: list[str] = []
    at = begin
    for match in _ESCAPE.finditer(source, begin, end):
        parts.append(source[at : match.start()])
        offsets.extend(range(at, match.start()))
        try:
            parts.append(json.loads(f'"{match.group()}"'))
        except ValueError as error:
            raise JSONError("a broken escape", match.start()) from error
        offsets.extend([match.start()] * len(parts[-1]))
        at = match.end()
    parts.append(source[at:end])
    offsets.extend(range(at, end + 1))
    return "".join(parts), offsets
