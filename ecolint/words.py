"""A word of a command line, wherever the command stands.

Shell scripts, Dockerfiles, compose lists, Kubernetes args and subprocess lists all give
their commands as words, so that one model of the launchers reads them all.
"""

from dataclasses import dataclass

from ecolint.diagnostics import Edit, Span
from ecolint.document import View


@dataclass(frozen=True, slots=True)
class Word:
    """One argument: its value after quoting and expansion, and where it is written.

    `start` and `end` are positions in `view` that hold the argument with its quotes; `known`
    is False when an expansion in it could not be resolved, and then `text` holds what could.
    `inner` is where the text without quotes starts; it equals the text character by character
    only while `exact`.
    """

    text: str
    view: View
    start: int
    end: int
    known: bool = True
    inner: int = -1
    exact: bool = True

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """The document span of a part of the text; of the whole argument where not exact."""
        if not self.exact or self.inner < 0:
            return self.view.span(self.start, self.end)
        stop = len(self.text) if end is None else end
        return self.view.span(self.inner + start, self.inner + stop)

    def replace(self, content: str, start: int = 0, end: int | None = None) -> Edit | None:
        """An edit that puts `content` in place of a part of the text; None where it can't."""
        if not self.exact or self.inner < 0:
            return None
        stop = len(self.text) if end is None else end
        return self.view.edit(self.inner + start, self.inner + stop, content)
