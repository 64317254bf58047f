"""The notebook front-end: the cells are one program, read in order.

Magics are kept where they are: `!pip` and `%%bash` go to the command reader, `%%writefile`
cells are programs of their own, and what is left is Python with the magics blanked out
character for character, so every place maps back to its cell.
"""

import ast
import re
from array import array
from collections.abc import Iterator

from ecolint import jsontext
from ecolint.document import Cell, Document, Quoting, UnreadableError, View
from ecolint.facts import Fact, Facts, Role, Unanalysed
from ecolint.frontends import python
from ecolint.frontends.python import slicing

_SHELL_MAGICS = frozenset({"bash", "sh", "script", "cmd", "system", "sx"})
_TRANSPARENT = frozenset(
    {"time", "timeit", "capture", "prun", "memit", "mprun", "python", "python3", "debug", "skip"}
)
_MAGIC = re.compile(r"^%%(\w+)([^\n]*)(?:\n|\Z)")
_LINE = re.compile(r"^([ \t]*)([!%?][^\n]*)$|^([ \t]*)([\w.]+\?\??)[ \t]*$", re.MULTILINE)
_ASSIGNED = re.compile(r"^([ \t]*[\w, ]+=[ \t]*)([!%][^\n]*)$", re.MULTILINE)
_INSERTED = re.compile(r"\{\s*([\w.]+)\s*\}|\$(\w+)")
_PYTHON_FILE = re.compile(r"\.pyw?$")
_REQUIREMENTS = re.compile(r"requirements[\w-]*\.txt$")
_SHELL_FILE = re.compile(r"\.(sh|bash)$")


def read(document: Document) -> Facts:
    """The facts of a notebook (nbformat 3 or 4).

    Raises:
        UnreadableError: the file is no notebook.
    """
    views = list(_code_views(document))
    document.cells.clear()
    document.cells.extend(
        Cell(number, view.text, view.offsets)  # type: ignore[arg-type]
        for number, view in views
    )
    facts: list[Fact] = []
    program: list[View] = []
    for _, view in views:
        rest = _special(view, facts)
        if rest is not None:
            program.append(rest)
    facts.extend(_as_program(document, program))
    return Facts(facts)


def _code_views(document: Document) -> Iterator[tuple[int, View]]:
    try:
        root = jsontext.parse(document.text)
    except jsontext.JSONError as error:
        line = document.text.count("\n", 0, error.offset) + 1
        raise UnreadableError(
            f"not a notebook: {error}", "save it again from Jupyter", line
        ) from None
    cells = _cells(root)
    if cells is None:
        raise UnreadableError(
            "not a notebook: it has no list of cells", "save it again from Jupyter"
        )
    for number, cell in enumerate(cells, start=1):
        kind = cell.get("cell_type")
        source = cell.get("source") or cell.get("input")
        if kind is not None and kind.value == "code" and source is not None:
            view = _source(document, source)
            if view is not None:
                yield number, view


def _cells(root: jsontext.Node) -> list[jsontext.Node] | None:
    cells = root.get("cells")
    if cells is not None and cells.kind == "array":
        return cells.items
    sheets = root.get("worksheets")  # nbformat 3
    if sheets is None or sheets.kind != "array":
        return None
    found: list[jsontext.Node] = []
    for sheet in sheets.items:
        inner = sheet.get("cells")
        found.extend(inner.items if inner is not None else [])
    return found


def _source(document: Document, node: jsontext.Node) -> View | None:
    """A cell's source as a view; None where it is neither a string nor a list of them."""
    try:
        if node.kind == "string":
            text, offsets = jsontext.unescape(node)
            return View(document, text, 0, offsets, Quoting.JSON_STRING)
        if node.kind != "array" or any(item.kind != "string" for item in node.items):
            return None
        text, offsets = "", array("q")
        for item in node.items:
            piece, places = jsontext.unescape(item)
            if offsets:
                offsets.pop()
            text += piece
            offsets.extend(places)
    except jsontext.JSONError as error:
        line = document.text.count("\n", 0, error.offset) + 1
        raise UnreadableError("a broken escape in a cell", "save it again", line) from None
    separator = ",\n    "
    if len(node.items) > 1:
        separator = document.text[node.items[0].end : node.items[1].start]
    return View(
        document, text, 0, offsets or array("q", [node.start]), Quoting.JSON_LINES, separator
    )


def _special(view: View, facts: list[Fact]) -> View | None:
    """Read a cell that is not part of the program; None then, else the cell's Python."""
    magic = _MAGIC.match(view.text)
    if magic is None:
        return view
    name, argument = magic.group(1), magic.group(2).strip()
    body = view.part(magic.end(), len(view.text))
    if name == "writefile" or name == "file":
        if _PYTHON_FILE.search(argument):
            facts.extend(_alone(body))
        elif _SHELL_FILE.search(argument):
            facts.extend(_shell(body))
        elif _REQUIREMENTS.search(argument):
            from ecolint.frontends import requirements

            facts.extend(requirements.read_view(body, Role.INFERENCE))
        return None
    if name in _SHELL_MAGICS:
        facts.extend(_shell(body))
        return None
    return body if name in _TRANSPARENT else None


def _alone(view: View) -> list[Fact]:
    try:
        return python.read_view(view)
    except UnreadableError as error:
        return [Unanalysed(view.span(0, 0), error.reason, error.mend)]


def _shell(view: View) -> list[Fact]:
    from ecolint.shell import read_script

    return list(read_script(view, Role.INFERENCE))


def _as_program(document: Document, cells: list[View]) -> list[Fact]:
    """Join the cells' Python into one program and read it, commands beside it."""
    facts: list[Fact] = []
    text = ""
    offsets = array("q")
    known = {"sys.executable": "python"}
    quoting, separator = Quoting.JSON_LINES, ",\n    "
    for cell in cells:
        assert cell.offsets is not None
        body, commands = _without_magics(cell)
        for command in commands:
            facts.extend(_shell(_filled(command, known)))
        if body.strip() and not _parses(body):
            facts.append(
                Unanalysed(
                    cell.span(0, len(cell.text.split("\n", 1)[0])),
                    "this cell is not Python",
                    "mend the cell; the others were read",
                )
            )
            continue
        known.update(_constants(body))
        quoting, separator = cell.quoting, cell.separator
        text += body + "\n"
        offsets.extend(cell.offsets)
    if not text.strip():
        return facts
    offsets.append(offsets[-1])
    view = View(document, text, 0, offsets, quoting, separator)
    return [*facts, *python.read_view(view)]


def _constants(text: str) -> dict[str, str]:
    """The strings and numbers that a cell's top level gives names to."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    return {
        target.id: str(part.value.value)
        for part in tree.body
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Constant)
        for target in part.targets
        if isinstance(target, ast.Name) and isinstance(part.value.value, (str, int, float))
    }


def _filled(command: View, known: dict[str, str]) -> View:
    """A command in which `{NAME}` and `$NAME` of the notebook's Python are filled in."""
    text, offsets, at = "", array("q"), 0
    for match in _INSERTED.finditer(command.text):
        value = known.get(match.group(1) or match.group(2))
        if value is None:
            continue
        text += command.text[at : match.start()] + value
        offsets.extend(command.at(index) for index in range(at, match.start()))
        offsets.extend(command.at(match.start()) for _ in value)
        at = match.end()
    if not at:
        return command
    text += command.text[at:]
    offsets.extend(command.at(index) for index in range(at, len(command.text) + 1))
    return View(
        command.document, text, 0, offsets, command.quoting, command.separator, writable=False
    )


def _without_magics(cell: View) -> tuple[str, list[View]]:
    """The cell's text with magics blanked out, same length, and the commands in them."""
    commands: list[View] = []
    text = cell.text
    spans: list[tuple[int, int]] = []
    for match in (*_LINE.finditer(text), *_ASSIGNED.finditer(text)):
        group = 2 if match.group(2) is not None else 4
        start, end = match.span(group)
        while text[end - 1 : end] == "\\" and end < len(text):
            following = text.find("\n", end + 1)
            end = len(text) if following < 0 else following
        if _inside_string(text, start):
            continue
        spans.append((start, end))
        written = text[start:end]
        if written.startswith("!"):
            commands.append(cell.part(start + len(written) - len(written.lstrip("!")), end))
        elif re.match(r"%\s*(pip|conda|mamba|uv|sh|sx|system)\b", written):
            commands.append(cell.part(start + 1, end))
    for start, end in spans:
        text = text[:start] + _blank(text[start:end]) + text[end:]
    return text, commands


def _blank(written: str) -> str:
    """An expression statement of the same shape: a number, then a comment."""
    lines = written.split("\n")
    first = "0" + "#" * (len(lines[0]) - 1)
    return "\n".join([first, *("#" * len(line) for line in lines[1:])])


def _inside_string(text: str, at: int) -> bool:
    """Whether a line start lies inside a triple-quoted string (a prompt with `%` or `!`)."""
    before = text[:at]
    return any(before.count(quote) % 2 for quote in ('"""', "'''"))


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        # `await` at the top of a cell is fine in Jupyter, and newer syntax may be fine too.
        try:
            slicing.refuse_depth(text)
            python.parse(text)
        except UnreadableError:
            return False
    except (RecursionError, MemoryError):
        return False
    return True
