"""The Python front-end: source text to facts.

The standard library's parser, ten times quicker than LibCST, decides whether there is a
site at all and which statements bear on it; only those are given to the LibCST visitor.
"""

import ast
import sys
from typing import TYPE_CHECKING

from ecolint.document import Document, UnreadableError, View, whole
from ecolint.facts import Fact, Facts
from ecolint.frontends.python import slicing

if TYPE_CHECKING:
    import libcst as cst

_RECURSION = 8_000


def read(document: Document) -> Facts:
    """The facts of a Python file.

    Raises:
        UnreadableError: neither this Python nor LibCST can parse it.
    """
    return Facts(read_view(whole(document)))


def read_view(view: View) -> list[Fact]:
    """The facts of a Python program, wherever it stands.

    Raises:
        UnreadableError: the text is no Python.
    """
    from ecolint.frontends.python import purpose
    from ecolint.frontends.python.program import Program
    from ecolint.frontends.python.recognise import Recogniser
    from ecolint.frontends.python.shelling import read_commands
    from ecolint.frontends.python.walking import walk

    part = slicing.relevant(view.text)
    if part is None:
        return []
    limit = sys.getrecursionlimit()
    # LibCST visits and prints recursively, a dozen frames for each `elif`.
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        program = walk(Program(view, parse(part.text), part))
        recogniser = Recogniser(program, purpose.of(part))
        return [*recogniser.read(), *read_commands(recogniser)]
    finally:
        sys.setrecursionlimit(limit)


def parse(text: str) -> "cst.Module":
    """The LibCST tree of a program.

    Raises:
        UnreadableError: the text is no Python that LibCST knows.
    """
    import libcst as cst

    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        line = _line_of_error(text) or int(error.raw_line)
        raise UnreadableError(
            f"not Python 3: {error.message.splitlines()[0]}",
            "mend the syntax, or exclude the file",
            line,
        ) from None


def _line_of_error(text: str) -> int | None:
    """The line that Python itself blames, which people are used to; None where it blames none."""
    try:
        compile(text, "", "exec", dont_inherit=True, flags=ast.PyCF_ONLY_AST)
    except SyntaxError as error:
        return error.lineno
    except (ValueError, RecursionError, MemoryError):
        return None
    return None
