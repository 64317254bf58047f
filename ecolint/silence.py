"""Writes comments that silence findings, for `--add-noqa`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ecolint import fixes
from ecolint.comments import Region, read_regions
from ecolint.diagnostics import Applicability, Diagnostic, Edit, Fix
from ecolint.document import Document, Kind
from ecolint.suppress import UNUSED, Reach, read_directives
from ecolint.verify import problem_with

# A comment behind an instruction or a value would become part of it here.
_ABOVE = {
    Kind.DOCKERFILE: "# ",
    Kind.SHELL: "# ",
    Kind.MAKEFILE: "# ",
    Kind.DOTENV: "# ",
    Kind.PROCFILE: "# ",
    Kind.SYSTEMD: "# ",
    Kind.MODELFILE: "# ",
    Kind.INI: "# ",
    Kind.BATCH: "REM ",
}
_BEHIND = {
    Kind.PYTHON: "# ",
    Kind.NOTEBOOK: "# ",
    Kind.YAML: "# ",
    Kind.CONDA_LOCK: "# ",
    Kind.TOML: "# ",
    Kind.REQUIREMENTS: "# ",
    Kind.PBTXT: "# ",
    Kind.TERRAFORM: "# ",
    Kind.JSON: "// ",
}


@dataclass(frozen=True, slots=True)
class Silenced:
    """A text with new comments, the findings that they silence, and those that none can."""

    text: str
    silenced: tuple[Diagnostic, ...]
    left: tuple[Diagnostic, ...]


def add_noqa(
    document: Document, diagnostics: Iterable[Diagnostic], rules: Mapping[str, str]
) -> Silenced:
    """Add `# ecolint: ignore[CODE]` for each finding, or the code to the comment there.

    A finding is left where its kind of file, or its line, can't hold a comment. A comment that
    silences nothing is not silenced in turn.
    """
    wanted = [one for one in diagnostics if one.suppressed is None and one.code != UNUSED]
    commented: list[Diagnostic] = []
    if _takes_comments(document):
        for region, row, group in _by_place(document, wanted):
            edit = _comment(region, row, sorted({one.code for one in group}), rules)
            commented += [_as_fix(one, edit) for one in group]
    fixed = fixes.apply(document, commented, changed_meaning)
    done = {_key(one) for one in fixed.applied}
    return Silenced(
        fixed.text,
        tuple(one for one in wanted if _key(one) in done),
        tuple(one for one in wanted if _key(one) not in done),
    )


def _takes_comments(document: Document) -> bool:
    """JSON has comments only where its readers allow them, which a first one shows."""
    if document.kind is not Kind.JSON:
        return True
    has_some = any(region.comments for region in read_regions(document))
    return has_some or document.path.lower().endswith(".jsonc")


def _key(diagnostic: Diagnostic) -> tuple[str, int, int]:
    return diagnostic.code, diagnostic.span.start, diagnostic.span.end


def _as_fix(diagnostic: Diagnostic, edit: Edit) -> Diagnostic:
    return replace(diagnostic, fix=Fix("silence it", Applicability.SAFE, (edit,)))


def _by_place(
    document: Document, diagnostics: Iterable[Diagnostic]
) -> Iterator[tuple[Region, int, list[Diagnostic]]]:
    """The findings that one comment can serve, with the row of the region it belongs to."""
    regions = {region.cell: region for region in read_regions(document)}
    groups: dict[tuple[int | None, int], list[Diagnostic]] = {}
    for one in diagnostics:
        region = regions.get(one.location.cell)
        row = None if region is None else _row_for(document, region, one)
        if row is not None:
            groups.setdefault((one.location.cell, row), []).append(one)
    for (cell, row), group in groups.items():
        yield regions[cell], row, group


def _row_for(document: Document, region: Region, diagnostic: Diagnostic) -> int | None:
    """The row that a comment on a finding goes behind or above; None where none can."""
    rows = region.rows_of(diagnostic.location, diagnostic.end_location)
    if document.kind in _ABOVE:
        return rows.start
    return next((row for row in rows if _takes_comment(region, row)), None)


def _takes_comment(region: Region, row: int) -> bool:
    """Whether a comment may follow a row: no string goes on, no backslash joins the next."""
    start, end = region.row_bounds(row)
    inside = any(string.first <= row < string.last for string in region.strings)
    return not inside and not region.text[start:end].endswith("\\")


def _comment(region: Region, row: int, codes: Sequence[str], rules: Mapping[str, str]) -> Edit:
    document = region.document
    for directive in read_directives(document, rules):
        same = directive.region.cell == region.cell and directive.reach is Reach.LINE
        if same and directive.codes and directive.covers(range(row, row + 1)):
            at = directive.codes[-1].end
            return region.edit(at, at, "".join(f", {code}" for code in codes))
    words = f"ecolint: ignore[{', '.join(codes)}]"
    start, end = region.row_bounds(row)
    if document.kind not in _ABOVE:
        return region.edit(end, end, f"  {_BEHIND[document.kind]}{words}")
    line = region.text[start:end]
    indent = line[: len(line) - len(line.lstrip())]
    comment = f"{indent}{_ABOVE[document.kind]}{words}{document.newline}"
    return region.edit(start, start, comment)


def changed_meaning(document: Document, text: str) -> str | None:
    """Why a text with new comments is not the same to its readers; None if it is."""
    problem = problem_with(document, text)
    meaning = _MEANINGS.get(document.kind)
    if problem is None and meaning is not None:
        try:
            same = meaning(document.text) == meaning(text)
        except (ValueError, RecursionError):
            same = False
        if not same:
            return "a comment there would become part of a value"
    return problem


def _meaning_of_python(text: str) -> object:
    import ast
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.dump(ast.parse(text))


def _meaning_of_yaml(text: str) -> object:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = list(yaml.parse(text, Loader=loader))
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    return [(type(e), getattr(e, "value", None), getattr(e, "anchor", None)) for e in events]


def _meaning_of_toml(text: str) -> object:
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)


_MEANINGS: dict[Kind, Callable[[str], object]] = {
    Kind.PYTHON: _meaning_of_python,
    Kind.YAML: _meaning_of_yaml,
    Kind.CONDA_LOCK: _meaning_of_yaml,
    Kind.TOML: _meaning_of_toml,
}
