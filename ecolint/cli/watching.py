"""`ecolint check --watch`: check again whenever a file changes."""

import os
import sys
import time
from collections.abc import Callable, Iterable

from ecolint.settings import SettingsError

_CLEAR = "\x1b[2J\x1b[H"


def watch(paths: list[str], ignored: Iterable[str], check: Callable[[], int]) -> int:
    """Check now, and after every change below `paths`, until interrupted.

    `ignored` are folders that a check itself writes to.

    Raises:
        SettingsError: watchfiles is not installed, or a path is missing.
    """
    try:
        from watchfiles import Change, DefaultFilter
        from watchfiles import watch as changes_below
    except ImportError:
        raise SettingsError(
            "--watch needs watchfiles; run `pip install 'ecolint[watch]'`"
        ) from None
    for path in paths:
        if not os.path.exists(path):
            raise SettingsError(f"{path}: no such file or folder")
    own = tuple(os.path.abspath(folder) + os.sep for folder in ignored)
    usual = DefaultFilter()

    def matters(change: Change, path: str) -> bool:
        return usual(change, path) and not path.startswith(own)

    _check_again(check)
    for _ in changes_below(*paths, watch_filter=matters, raise_interrupt=False):
        _check_again(check)
    return 0


def _check_again(check: Callable[[], int]) -> None:
    if sys.stdout.isatty():
        sys.stdout.write(_CLEAR)
    print(f"[{time.strftime('%H:%M:%S')}] Checking …", file=sys.stderr)
    try:
        check()
    except SettingsError as error:  # half-written settings are mended by the next save
        print(f"ecolint: {error}", file=sys.stderr)
    sys.stdout.flush()
    print("Watching for changes; Ctrl-C stops.", file=sys.stderr)
