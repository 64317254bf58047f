"""Is an edited file still what it was? Asked before anything is written.

Each check compares with the file as it was: text that never parsed proves nothing when it
doesn't parse afterwards either.
"""

from collections.abc import Callable

from ecolint import jsontext
from ecolint.document import Document, Kind


def problem_with(document: Document, text: str) -> str | None:
    """Why `text` may not take the place of the document's text; None if it may."""
    check = _CHECKS.get(document.kind)
    if check is None:
        return None
    problem = check(document, text)
    if document.kind is Kind.NOTEBOOK:
        return problem
    parsed = check(document, document.text) is None
    if problem is None and parsed and document.kind in _TREES:
        return _elsewhere(document, text)
    return problem if parsed else None


_TREES = frozenset({Kind.YAML, Kind.JSON, Kind.TOML})


def _elsewhere(document: Document, text: str) -> str | None:
    """Whether the result would mean something else on lines that no edit touches."""
    from ecolint.drift import drift

    if document.path.lower().endswith(".jsonl"):
        return None
    try:
        key = drift(document.kind, document.text, text)
    except (ValueError, RecursionError):
        return None
    return f"the result would change {key}, which no edit touches" if key else None


def _python(_: Document, text: str) -> str | None:
    import ast
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError) as error:
            import libcst as cst

            try:  # another Python's syntax may still be fine
                cst.parse_module(text)
            except cst.ParserSyntaxError:
                return f"the result is no Python: {error}"
        except (RecursionError, MemoryError):
            return "the result is nested too deeply to check"
    return None


def _json(document: Document, text: str) -> str | None:
    if document.path.lower().endswith(".jsonl"):
        parts = [line for line in text.splitlines() if line.strip()]
    else:
        parts = [text]
    try:
        for part in parts:
            jsontext.parse(part, comments=True)
    except jsontext.JSONError as error:
        return f"the result is no JSON: {error}"
    return None


def _toml(_: Document, text: str) -> str | None:
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return f"the result is no TOML: {error}"
    return None


def _yaml(_: Document, text: str) -> str | None:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for _tree in yaml.compose_all(text, Loader=loader):
            pass
    except (yaml.YAMLError, RecursionError) as error:
        return f"the result is no YAML: {str(error).splitlines()[0]}"
    return None


def _notebook(document: Document, text: str) -> str | None:
    try:
        after = _frame(text)
    except (jsontext.JSONError, ValueError) as error:
        return f"the result is no notebook: {error}"
    if after != _frame(document.text):
        return "the result changes more of the notebook than its sources"
    return None


def _frame(text: str) -> list[str]:
    """All of a notebook but the sources of its code cells, and the form of each source."""
    root = jsontext.parse(text)
    parts: list[str] = []
    at = 0
    for source in _sources(root):
        if any(item.kind != "string" for item in source.items):
            raise ValueError("a source that is no text")
        for string in source.items or [source]:
            jsontext.unescape(string)
        parts += [text[at : source.start], source.kind]
        at = source.end
    return [*parts, text[at:]]


def _sources(root: jsontext.Node) -> list[jsontext.Node]:
    cells = root.get("cells")
    lists = [cells] if cells is not None else []
    sheets = root.get("worksheets")
    for sheet in sheets.items if sheets is not None else []:
        inner = sheet.get("cells")
        if inner is not None:
            lists.append(inner)
    found = [
        source
        for one in lists
        for cell in one.items
        if (kind := cell.get("cell_type")) is not None and kind.value == "code"
        for source in (cell.get("source"), cell.get("input"))
        if source is not None
    ]
    return sorted(found, key=lambda node: node.start)


_CHECKS: dict[Kind, Callable[[Document, str], str | None]] = {
    Kind.PYTHON: _python,
    Kind.JSON: _json,
    Kind.TOML: _toml,
    Kind.YAML: _yaml,
    Kind.CONDA_LOCK: _yaml,
    Kind.NOTEBOOK: _notebook,
}
