"""What .gitignore files leave out. Imported only where there is such a file.

Our own reading of them: a walk must know of each folder whether to enter it, and `pathspec`
answers for files alone (with `*` and `!*/` it would enter none). Tests compare it with git.
"""

import re
from typing import NamedTuple

_BRACKET = re.compile(r"\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]")
_CLASSES = {
    "[:alnum:]": "a-zA-Z0-9", "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9", "[:lower:]": "a-z",
    "[:space:]": r"\s", "[:upper:]": "A-Z", "[:word:]": r"\w", "[:xdigit:]": "0-9a-fA-F",
}  # fmt: skip


class Pattern(NamedTuple):
    """One line: what it matches, and whether it ignores or takes back.

    `bare` patterns, which have no slash, match names at any depth; the others match paths
    from the folder of their file on. Both match one entry, never what lies below it.
    """

    source: str
    bare: bool
    folders_only: bool
    ignores: bool


class Ignores(NamedTuple):
    """The patterns of one .gitignore, last one first; those above hold where it is silent.

    Most entries match nothing, which two joined expressions tell at once.
    """

    folder: str
    patterns: tuple[tuple[Pattern, "re.Pattern[str]"], ...]
    any_bare: "re.Pattern[str]"
    any_path: "re.Pattern[str]"
    above: "Ignores | None"

    def cover(self, path: str, *, folder: bool = False) -> bool:
        """Whether an absolute path with forward slashes is ignored; its parents are not."""
        below = path[len(self.folder) + 1 :]
        name = path.rpartition("/")[2]
        if self.any_bare.fullmatch(name) or self.any_path.fullmatch(below):
            for pattern, expression in self.patterns:
                if pattern.folders_only and not folder:
                    continue
                if expression.fullmatch(name if pattern.bare else below):
                    return pattern.ignores
        return self.above is not None and self.above.cover(path, folder=folder)


def read_ignores(path: str, folder: str, above: Ignores | None) -> Ignores | None:
    """Read a .gitignore that speaks of `folder`; one that can't be read changes nothing."""
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
            lines = file.read().split("\n")
    except OSError:
        return above
    patterns = [pattern for line in reversed(lines) if (pattern := parse(line)) is not None]
    if not patterns:
        return above
    return Ignores(
        folder,
        tuple((pattern, re.compile(pattern.source, re.DOTALL)) for pattern in patterns),
        _any_of([pattern.source for pattern in patterns if pattern.bare]),
        _any_of([pattern.source for pattern in patterns if not pattern.bare]),
        above,
    )


def _any_of(sources: list[str]) -> "re.Pattern[str]":
    # `(?!)` matches nothing, as no pattern does.
    return re.compile("|".join(sources) or "(?!)", re.DOTALL)


def parse(line: str) -> Pattern | None:
    """The pattern of a line; None for a comment, an empty line or one that can't match."""
    text = re.sub(r"(?<!\\)[ \t]+\Z", "", line.removesuffix("\r"))
    if text.startswith("#"):
        return None
    ignores = not text.startswith("!")
    text = text if ignores else text[1:]
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    source = _translate(text.removeprefix("/"))
    try:
        re.compile(source)
    except re.error:
        return None
    return Pattern(f"(?:{source})", "/" not in text, folders_only, ignores)


def _translate(glob: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(glob):
        bracket = _BRACKET.match(glob, at)
        starts_part = at == 0 or glob[at - 1] == "/"
        if starts_part and glob.startswith("**/", at):
            out.append("(?:.*/)?")
            at += 3
        elif starts_part and glob[at:] == "**":
            out.append(".+")
            at += 2
        elif glob[at] == "*":
            out.append("[^/]*")
            at += 1
        elif glob[at] == "?":
            out.append("[^/]")
            at += 1
        elif bracket is not None:
            out.append(_bracket(bracket.group()))
            at = bracket.end()
        else:
            at += glob[at] == "\\"
            out.append(re.escape(glob[at : at + 1]))
            at += 1
    return "".join(out)


def _bracket(written: str) -> str:
    inner = written[1:-1]
    negated = inner.startswith(("!", "^"))
    body = inner[negated:]
    for name, members in _CLASSES.items():
        body = body.replace(name, members)
    body = body.replace("[", "\\[")
    if body.startswith("]"):
        body = "\\" + body
    return f"(?!/)[{'^' if negated else ''}{body}]"
