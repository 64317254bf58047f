"""Comments that silence findings, and those among them that silence nothing.

`# noqa`, `# noqa: ECO101`, `# ecolint: ignore[ECO101] reason`, `# ecolint: ignore-file`, in
the comment syntax of each kind of file. A comment counts on any line that the finding
touches, and alone on the line above.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from ecolint.comments import Region, Stretch, read_regions
from ecolint.diagnostics import Applicability, Diagnostic, Edit
from ecolint.document import Document
from ecolint.rule import Finding

UNUSED = "ECO900"
_MARKS = re.compile(r"noqa|ecolint:", re.IGNORECASE)
_DIRECTIVE = re.compile(
    r"(?:\#+|//|/\*|;|::|\brem\b)[ \t]*"
    r"(?:(?P<noqa>noqa)(?![\w-])(?:[ \t]*:[ \t]*(?P<list>(?:[A-Za-z][\w-]*[,\s]*)+))?"
    r"|ecolint:[ \t]*ignore(?P<file>-file)?(?![\w-])(?:\[(?P<codes>[^\]\r\n]*)\])?)",
    re.IGNORECASE,
)
_NEXT_COMMENT = re.compile(r"[ \t]+(?:\#|//)|[ \t]*\*/")
_TOKEN = re.compile(r"[^\s,]+")
_CODE = re.compile(r"[A-Z]+[0-9]+", re.IGNORECASE)


class Reach(Enum):
    """How far a comment silences."""

    NOQA = "noqa"
    LINE = "ignore"
    FILE = "ignore-file"


@dataclass(frozen=True, slots=True)
class Token:
    """A code or a rule's name in a comment's list, and where it stands in its region."""

    text: str
    start: int
    end: int

    def names(self, code: str, name: str) -> bool:
        """Whether it means a rule: by code, by the beginning of its code, or by name."""
        return code.startswith(self.text.upper()) or self.text.lower() == name


@dataclass(slots=True)
class Directive:
    """One comment that silences, from `start` to `end` in its region.

    `codes` is None where it names no rule and so means all. `used` holds those that have
    silenced something (`None` for a comment without a list).
    """

    region: Region
    comment: Stretch
    reach: Reach
    start: int
    end: int
    directive_end: int
    codes: tuple[Token, ...] | None
    used: set[Token | None] = field(default_factory=set)

    @property
    def text(self) -> str:
        """The comment as written, with its reason."""
        return self.region.text[self.start : self.end].strip()

    def silences(self, diagnostic: Diagnostic) -> bool:
        """Whether it speaks of the finding's rule; remembers that it was needed."""
        if self.codes is None:
            self.used.add(None)
            return True
        named = [t for t in self.codes if t.names(diagnostic.code, diagnostic.name)]
        self.used.update(named)
        return bool(named)

    def covers(self, rows: range) -> bool:
        """Whether it stands on one of the rows, or alone above them."""
        row = self.comment.last
        if row in rows:
            return True
        while row in self.region.alone and row < rows.start:
            row += 1
        return row == rows.start and self.comment.last in self.region.alone


@dataclass(frozen=True, slots=True)
class Judged:
    """The findings, silenced ones marked, and the comments that were of no use."""

    diagnostics: list[Diagnostic]
    unused: list[Finding]


def suppress(
    document: Document,
    diagnostics: Sequence[Diagnostic],
    rules: Mapping[str, str],
    runs: Callable[[str], bool],
) -> Judged:
    """Mark the findings that comments silence.

    `rules` maps the code of every rule to its name; `runs` tells whether a rule could have
    spoken in this file, without which a comment about it can't be called useless.
    """
    if not _MARKS.search(document.text):
        return Judged(list(diagnostics), [])
    directives = list(read_directives(document, rules))
    judged = [_judge(one, directives) for one in diagnostics]
    return Judged(judged, list(_unused(directives, rules, runs)))


def read_directives(document: Document, rules: Mapping[str, str]) -> Iterator[Directive]:
    """The comments of a document that silence findings."""
    for region in read_regions(document):
        for comment in region.comments:
            yield from _directives_of(region, comment, rules)


def _directives_of(
    region: Region, comment: Stretch, rules: Mapping[str, str]
) -> Iterator[Directive]:
    for found in _DIRECTIVE.finditer(region.text, comment.start, comment.end):
        codes: tuple[Token, ...] | None
        stop = found.end()
        if found["noqa"]:
            reach = Reach.NOQA
            codes = tuple(_leading_codes(region, found.span("list"), rules)) or None
            stop = codes[-1].end if codes else found.end("noqa")
        else:
            reach = Reach.FILE if found["file"] else Reach.LINE
            has_list = found["codes"] is not None
            codes = tuple(_tokens(region, found.span("codes"))) if has_list else None
        following = _NEXT_COMMENT.search(region.text, stop, comment.end)
        end = following.start() if following else comment.end
        yield Directive(region, comment, reach, found.start(), end, stop, codes)


def _tokens(region: Region, span: tuple[int, int]) -> Iterator[Token]:
    for found in _TOKEN.finditer(region.text, *span):
        yield Token(found.group(), found.start(), found.end())


def _leading_codes(
    region: Region, span: tuple[int, int], rules: Mapping[str, str]
) -> Iterator[Token]:
    """The codes and rule names that `noqa:` is followed by, up to the first other word."""
    if span[0] < 0:
        return
    for token in _tokens(region, span):
        if not _CODE.fullmatch(token.text) and token.text.lower() not in rules.values():
            return
        yield token


def _judge(diagnostic: Diagnostic, directives: Sequence[Directive]) -> Diagnostic:
    """The finding, marked with the first comment that silences it; all of them are used."""
    cell = diagnostic.location.cell
    silencer: Directive | None = None
    rows: range | None = None
    for directive in directives:
        if directive.reach is not Reach.FILE:
            if directive.region.cell != cell:
                continue
            if rows is None:
                region = directive.region
                rows = region.rows_of(diagnostic.location, diagnostic.end_location)
            if not directive.covers(rows):
                continue
        if directive.silences(diagnostic):
            silencer = silencer or directive
    return diagnostic if silencer is None else replace(diagnostic, suppressed=silencer.text)


def _unused(
    directives: Sequence[Directive], rules: Mapping[str, str], runs: Callable[[str], bool]
) -> Iterator[Finding]:
    if not runs(UNUSED) or any(_silences_all(one) for one in directives):
        return
    for directive in directives:
        if directive.codes is None:
            if directive.reach is not Reach.NOQA and not directive.used and all(map(runs, rules)):
                yield _finding(directive, ())
            continue
        if any(token.names(UNUSED, rules.get(UNUSED, "")) for token in directive.codes):
            continue
        useless = [t for t in directive.codes if _is_useless(t, directive, rules, runs)]
        if useless or not directive.codes:
            yield _finding(directive, useless)


def _silences_all(directive: Directive) -> bool:
    """Whether it silences the whole file, after which no other comment is worth a word."""
    return directive.reach is Reach.FILE and directive.codes is None and bool(directive.used)


def _is_useless(
    token: Token, directive: Directive, rules: Mapping[str, str], runs: Callable[[str], bool]
) -> bool:
    if token in directive.used:
        return False
    meant = [code for code, name in rules.items() if token.names(code, name)]
    if not meant:
        # In a noqa list it may be another tool's; between our brackets it is a slip.
        return directive.reach is not Reach.NOQA
    return all(map(runs, meant))


def _finding(directive: Directive, useless: Sequence[Token]) -> Finding:
    """The note on a comment of which these tokens, or all if none is given, do nothing."""
    region, codes = directive.region, directive.codes or ()
    if len(useless) == len(codes):
        edit = _removal(directive)
        written = region.text[directive.start : directive.directive_end].strip()
        return Finding(
            region.span(directive.start, directive.directive_end),
            f"`{written}` silences nothing",
            edits=None if edit is None else (edit,),
            fix="remove the comment",
            applicability=Applicability.SAFE,
        )
    names = ", ".join(f"`{token.text}`" for token in useless)
    left = [token.text for token in codes if token not in useless]
    comma = region.text[codes[0].end : codes[1].start]
    return Finding(
        region.span(useless[0].start, useless[-1].end),
        f"{names} in this comment silences nothing",
        edits=(region.edit(codes[0].start, codes[-1].end, comma.join(left)),),
        fix=f"remove {names} from the comment",
        applicability=Applicability.SAFE,
    )


def _removal(directive: Directive) -> Edit | None:
    """The edit that takes a directive out of the file; other words in its comment stay."""
    region, comment, text = directive.region, directive.comment, directive.region.text
    start, end = directive.start, directive.end
    if directive.reach is Reach.NOQA:
        rest = text[directive.directive_end : comment.end]
        if rest.strip() and not rest.lstrip().startswith("#"):  # a remark, not our reason
            lead = re.compile(r"[^\w\s]+[ \t]*").match(text, start)
            after_lead = lead.end() if lead else start
            words = len(rest) - len(rest.lstrip(" \t,:"))
            return region.edit(after_lead, directive.directive_end + words, "")
    if text[comment.start :].startswith(("/*", "<#")):
        closing = text[end : comment.end].strip()
        if start != comment.start or closing not in ("*/", "#>"):
            return None
        end = comment.end
    elif end < comment.end:  # another comment follows: it moves to this one's place
        following = text[end : comment.end]
        return region.edit(start, end + len(following) - len(following.lstrip()), "")
    row = comment.first
    row_start, row_end = region.row_bounds(row)
    if not text[row_start:start].strip() and end == row_end and region.cell is None:
        return region.edit(row_start, region.after_row(row), "")
    while start > row_start and text[start - 1] in " \t":
        start -= 1
    return region.edit(start, end, "")
