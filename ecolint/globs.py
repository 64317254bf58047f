"""Globs as ruff understands them, for `exclude` and `per-file-ignores`.

A pattern without a slash means a name at any depth; with one, a path below the folder of the
configuration file. `*` crosses slashes, `**/` may be nothing, `{a,b}` is a choice. Neither
`fnmatch` nor `pathspec` reads patterns this way.
"""

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

_PLAIN_NAME = re.compile(r"[^*?\[{/]+")


@lru_cache(maxsize=256)
def matcher(patterns: tuple[str, ...], root: str) -> Callable[[str], bool]:
    """A test whether any of the globs matches an absolute path with forward slashes."""
    names = frozenset(p for p in patterns if _PLAIN_NAME.fullmatch(p))
    sources = [_source(p, root) for p in patterns if p not in names]
    # `(?!)` matches nothing, as no pattern does.
    search = re.compile("|".join(sources) or "(?!)", re.DOTALL).fullmatch

    def matches(path: str) -> bool:
        return path.rpartition("/")[2] in names or search(path) is not None

    return matches


def matches_any(patterns: Iterable[str], root: str, path: str) -> bool:
    """Whether any of the globs matches a path; `!glob` matches what its glob doesn't."""
    full = os.path.abspath(path).replace(os.sep, "/")
    for pattern in patterns:
        negated = pattern.startswith("!")
        if matcher((pattern[negated:],), root)(full) is not negated:
            return True
    return False


def _source(pattern: str, root: str) -> str:
    pattern = pattern.replace(os.sep, "/").rstrip("/")
    bare = "/" not in pattern
    pattern = pattern.removeprefix("./")
    if bare:
        return "(?:.*/)?" + translate(pattern)
    if os.path.isabs(pattern):
        return translate(pattern)
    return re.escape(root.replace(os.sep, "/").rstrip("/") + "/") + translate(pattern)


def translate(pattern: str) -> str:
    """The regular expression of a glob; one that makes none (`[z-a]`) means its own letters."""
    out: list[str] = []
    choices = at = 0
    while at < len(pattern):
        piece, at, choices = _translate_next(pattern, at, choices)
        out.append(piece)
    source = "".join(out)
    try:
        re.compile(source)
    except re.error:
        return re.escape(pattern)
    return f"(?:{source})"


def _translate_next(pattern: str, at: int, choices: int) -> tuple[str, int, int]:
    """The translation of what stands at `at`, where it ends, and how many `{` are open."""
    character = pattern[at]
    if pattern.startswith("**/", at):
        return "(?:.*/)?", at + 3, choices
    if character == "*":
        return ".*", at + 1, choices
    if character == "?":
        return "[^/]", at + 1, choices
    end = pattern.find("]", at + 2)
    if character == "[" and end > 0:
        inner = pattern[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
        negated = inner.startswith(("!", "^"))
        return f"[{'^' if negated else ''}{inner[negated:]}]", end + 1, choices
    if character == "{" and "}" in pattern[at:]:
        return "(?:", at + 1, choices + 1
    if character == "}" and choices:
        return ")", at + 1, choices - 1
    if character == "," and choices:
        return "|", at + 1, choices
    return re.escape(character), at + 1, choices
