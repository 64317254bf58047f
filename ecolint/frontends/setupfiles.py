"""Packages in setup.cfg and setup.py, for projects that have no pyproject.toml yet.

configparser keeps no places, and setup.py is a program: only requirements that it writes out
as strings, in the lists that setuptools reads, are taken.
"""

import ast
import re
from collections.abc import Iterator

from ecolint.document import Document, View, whole
from ecolint.facts import Facts, Package, Role
from ecolint.frontends.requirements import add_line
from ecolint.installation import Installation, role_of
from ecolint.toolchain import read_requirement
from ecolint.words import Word

_SECTION = re.compile(r"^\[([^\]\n]+)\]", re.MULTILINE)
_KEY = re.compile(r"^([A-Za-z0-9][\w.-]*)[ \t]*[=:][ \t]*", re.MULTILINE)
_LISTS = frozenset({"install_requires", "setup_requires", "tests_require"})


def read(document: Document) -> Facts:
    """The package facts of setup.cfg or setup.py; no facts in any other file."""
    name = re.split(r"[/\\]", document.path)[-1]
    if name == "setup.cfg":
        return Facts([*read_setup_cfg(whole(document))])
    return Facts([*read_setup_py(whole(document))] if name == "setup.py" else [])


def read_setup_cfg(view: View) -> list[Package]:
    """The package facts of setup.cfg's options and extras."""
    text = view.text
    found: list[Package] = []
    main = Installation(apart=True)
    for section, end in _stretches(_SECTION, text, 0, len(text)):
        named = section.group(1).strip()
        if named not in ("options", "options.extras_require"):
            continue
        for key, stop in _stretches(_KEY, text, section.end(), end):
            name = key.group(1)
            if named == "options" and name not in _LISTS:
                continue
            role = role_of(name) if named != "options" or name != "tests_require" else Role.TEST
            installation = main if role is Role.INFERENCE else Installation(role, apart=True)
            _read_lines(installation, view, key.end(), stop)
            if installation is not main:
                found += installation.packages()
    return [*main.packages(), *found]


def _stretches(
    pattern: re.Pattern[str], text: str, start: int, end: int
) -> Iterator[tuple[re.Match[str], int]]:
    """Each match, and where the next one starts."""
    found = list(pattern.finditer(text, start, end))
    yield from zip(found, [*(each.start() for each in found[1:]), end], strict=False)


def _read_lines(installation: Installation, view: View, start: int, end: int) -> None:
    for line in re.finditer(r"[^\n]+", view.text[start:end]):
        add_line(installation, view, start + line.start(), start + line.end())


def read_setup_py(view: View) -> list[Package]:
    """The package facts of the lists that a program gives to `setup()`."""
    try:
        tree = ast.parse(view.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    lines = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", view.text))]
    main, development = Installation(apart=True), Installation(Role.TEST, apart=True)
    for text, role in _requirements(tree):
        word = _word(view, lines, text)
        (development if role is Role.TEST else main).ask(word, read_requirement(word.text))
    return [*main.packages(), *development.packages()]


def _requirements(tree: ast.Module) -> Iterator[tuple[ast.Constant, Role]]:
    """The strings in the lists of requirements, and what each is for."""
    assigned = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(tree):
        named = getattr(call, "func", None)
        if getattr(named, "id", getattr(named, "attr", "")) != "setup":
            continue
        assert isinstance(call, ast.Call)
        for keyword in call.keywords:
            value = _behind(keyword.value, assigned)
            if keyword.arg in _LISTS:
                role = Role.TEST if keyword.arg == "tests_require" else Role.INFERENCE
                yield from ((text, role) for text in _strings(value))
            elif keyword.arg == "extras_require" and isinstance(value, ast.Dict):
                for key, listed in zip(value.keys, value.values, strict=True):
                    extra = key.value if isinstance(key, ast.Constant) else ""
                    inner = _behind(listed, assigned)
                    yield from ((text, role_of(str(extra))) for text in _strings(inner))


def _behind(node: ast.expr, assigned: dict[str, ast.expr]) -> ast.expr:
    return assigned.get(node.id, node) if isinstance(node, ast.Name) else node


def _strings(node: ast.expr) -> Iterator[ast.Constant]:
    if isinstance(node, (ast.List, ast.Tuple)):
        for item in node.elts:
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                yield item


def _word(view: View, lines: list[int], node: ast.Constant) -> Word:
    """A string as a word; `ast` counts columns in bytes of UTF-8."""
    start = _offset(view, lines, node.lineno, node.col_offset)
    end = _offset(view, lines, node.end_lineno or 1, node.end_col_offset or 0)
    exact = view.text[start + 1 : end - 1] == node.value
    return Word(str(node.value), view, start, end, True, start + 1 if exact else -1, exact)


def _offset(view: View, lines: list[int], line: int, column: int) -> int:
    start = lines[line - 1]
    return start + len(view.text[start : start + column].encode()[:column].decode(errors="ignore"))
