"""What .gitignore files leave out. Imported only where there is such a file."""

import re
from collections.abc import Callable
from typing import NamedTuple

from pathspec import GitIgnoreSpec

_NAMED_GROUP = re.compile(r"\(\?P<\w+>")


class Ignores(NamedTuple):
    """The patterns of one .gitignore; those of the folders above hold where it is silent.

    `may_match` is one quick test that most paths fail, since few are ignored.
    """

    folder: str
    spec: GitIgnoreSpec
    may_match: Callable[[str], object]
    above: "Ignores | None"

    def cover(self, path: str, *, folder: bool = False) -> bool:
        """Whether an absolute path with forward slashes is ignored; its parents are not."""
        below = path[len(self.folder) + 1 :] + ("/" if folder else "")
        if self.may_match(below) is not None:
            verdict = self.spec.check_file(below).include
            if verdict is not None:
                return verdict
        return self.above is not None and self.above.cover(path, folder=folder)


def read_ignores(path: str, folder: str, above: Ignores | None) -> Ignores | None:
    """Read a .gitignore that speaks of `folder`; one that can't be read changes nothing."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            spec = GitIgnoreSpec.from_lines(file)
    except (OSError, ValueError):
        return above
    regexes = [getattr(pattern, "regex", None) for pattern in spec.patterns]
    sources = [_NAMED_GROUP.sub("(?:", regex.pattern) for regex in regexes if regex is not None]
    if not sources:
        return above
    joined = "|".join(sources)
    return Ignores(folder, spec, re.compile(joined).match, above)
