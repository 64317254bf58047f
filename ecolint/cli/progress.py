"""A count of files on a terminal, for runs that last: nobody should wonder whether it hangs."""

import sys
import time
from collections.abc import Callable

_PATIENCE_S = 1.0
_EVERY_S = 0.1


class Progress:
    """Shows on stderr how many files are done, once a second has passed.

    A bar where rich is installed, else a count that overwrites itself. `close` takes it off
    the screen, before findings are printed.
    """

    __slots__ = ("_close", "_next", "_show")

    def __init__(self) -> None:
        self._next = time.monotonic() + _PATIENCE_S
        self._show: Callable[[int, int], None] | None = None
        self._close: Callable[[], None] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Tell how many of how many files are done."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _EVERY_S
        if self._show is None:
            self._show, self._close = _bar(total) or (_count, _wipe)
        self._show(done, total)

    def close(self) -> None:
        """Take the line off the screen."""
        if self._close is not None:
            self._close()
            self._show = self._close = None


def _count(done: int, total: int) -> None:
    sys.stderr.write(f"\rChecking: {done} of {total} files")
    sys.stderr.flush()


def _wipe() -> None:
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


def _bar(total: int) -> tuple[Callable[[int, int], None], Callable[[], None]] | None:
    """How to move and how to end a bar of rich's; None where rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import Progress as Bars
    except ImportError:
        return None
    bars = Bars(console=Console(stderr=True), transient=True)
    task = bars.add_task("Checking", total=total)
    bars.start()
    return (lambda done, _: bars.update(task, completed=done)), bars.stop
