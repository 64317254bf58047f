"""Remembers what came of each file, so that an unchanged one need not even be opened.

One JSON file for each set of settings, in a folder that tools and git leave alone. JSON
because a cache may come with a checkout: pickle would run what it says, marshal may crash.
A cache that is broken, or another version's, counts as none.
"""

import os
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ecolint import __version__
from ecolint.settings import Settings

if TYPE_CHECKING:
    from ecolint.diagnostics import Diagnostic

FOLDER = ".ecolint_cache"
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by ecolint; see bford.info/cachedir\n"
_NO_MATTER = frozenset(
    {
        "exclude", "extend_exclude", "force_exclude", "respect_gitignore", "fix", "unsafe_fixes",
        "fixable", "unfixable", "output_format", "jobs", "cache", "cache_dir", "source",
        "required_version", "region", "budget",
    }
)  # fmt: skip
# Two writes this close may share a time stamp on coarse file systems.
_RACY_NS = 2_000_000_000
_KEPT = 8


class Entry(NamedTuple):
    """What is known of a file: its stamp, the digest of its content, and its findings.

    `stamp` is (modification time in ns, size); `digest` is empty for a file that the gate
    stopped, which is as quick to do again.
    """

    stamp: tuple[int, int]
    digest: str
    findings: list[dict[str, Any]]


class Cache:
    """The remembered files of one set of settings; read when it is first asked."""

    __slots__ = ("_changed", "_entries", "_folder", "_settings")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        top = settings.cache_dir or os.path.join(os.path.abspath(settings.root), FOLDER)
        self._folder = os.path.join(top, __version__)
        self._entries: dict[str, Entry] | None = None
        self._changed = False

    def find(self, path: str) -> Entry | None:
        """What is remembered of a file, whether or not it still holds."""
        return self._all().get(os.path.abspath(path))

    def remember(
        self, path: str, status: os.stat_result, digest: str, findings: "list[Diagnostic]"
    ) -> None:
        """Remember what came of a file; `status` is from before it was read."""
        fresh = time.time_ns() - status.st_mtime_ns < _RACY_NS
        stamp = (0, status.st_size) if fresh else stamp_of(status)
        entry = Entry(stamp, digest, [_plain(one) for one in findings])
        key = os.path.abspath(path)
        if self._all().get(key) != entry:
            self._all()[key] = entry
            self._changed = True

    def save(self) -> None:
        """Write the cache, if anything is new; a folder that can't be written to is no error."""
        if not self._changed:
            return
        import json

        fingerprint = _fingerprint(self._settings)
        entries = {
            key: [*entry.stamp, entry.digest, entry.findings]
            for key, entry in self._all().items()
            if os.path.exists(key)
        }
        content = json.dumps([fingerprint, _plugins(), entries], separators=(",", ":"))
        try:
            os.makedirs(self._folder, exist_ok=True)
            _mark(os.path.dirname(self._folder))
            _write(self._file(fingerprint), content)
            _prune(self._folder)
        except OSError:
            return

    def _all(self) -> dict[str, Entry]:
        if self._entries is None:
            self._entries = {}
            if os.path.isdir(self._folder):
                fingerprint = _fingerprint(self._settings)
                self._entries = _load(self._file(fingerprint), fingerprint)
        return self._entries

    def _file(self, fingerprint: str) -> str:
        from binascii import crc32

        return os.path.join(
            self._folder, f"{crc32(fingerprint.encode('utf-8', 'replace')):08x}.json"
        )


def stamp_of(status: os.stat_result) -> tuple[int, int]:
    """When a file was changed last, and its size."""
    return status.st_mtime_ns, status.st_size


def digest_of(raw: bytes) -> str:
    """What tells a file's content from any other."""
    from hashlib import blake2b

    return blake2b(raw, digest_size=16).hexdigest()


def findings_of(entry: Entry) -> "list[Diagnostic] | None":
    """The findings of an entry; None if they are not what this version writes."""
    from ecolint.diagnosticjson import from_plain

    try:
        return [from_plain(one) for one in entry.findings]
    except (KeyError, TypeError, ValueError):
        return None


def _plain(diagnostic: "Diagnostic") -> dict[str, Any]:
    from ecolint.diagnosticjson import to_plain

    return to_plain(diagnostic)


def _load(path: str, fingerprint: str) -> dict[str, Entry]:
    import json

    try:
        with open(path, encoding="utf-8") as file:
            written, plugins, entries = json.load(file)
        if written != fingerprint or any(_stamp(one[0]) != one for one in plugins):
            return {}
        return {
            key: Entry((int(changed), int(size)), str(digest), list(findings))
            for key, (changed, size, digest, findings) in entries.items()
        }
    except (OSError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
        return {}


def _fingerprint(settings: Settings) -> str:
    """Everything besides the files themselves that findings depend on."""
    relevant = {name: value for name, value in settings._asdict().items() if name not in _NO_MATTER}
    sites = [one for one in sys.path if one.endswith(("site-packages", "dist-packages"))]
    parts: list[Any] = [__version__, sys.version, os.getcwd(), relevant]
    # A plug-in that comes or goes changes the time of the folder that it is installed in.
    parts += [_stamp(site) for site in sites]
    parts.append(_stamp(settings.measurements) if settings.measurements else None)
    return repr([*parts, *_own_stamps()])


def _own_stamps() -> list[Any]:
    """The stamps of our code, rules and data, so that editing any of them starts afresh."""
    import ecolint

    pending = [ecolint.__path__[0]]
    beside = [os.path.join(top, name) for top in ecolint.__path__[1:] for name in ("rules", "data")]
    pending += [folder for folder in beside if os.path.isdir(folder)]
    stamps = []
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    pending += [entry.path] if entry.name != "__pycache__" else []
                elif entry.name.endswith((".py", ".csv")):
                    stamps.append((entry.name, *stamp_of(entry.stat())))
    return sorted(stamps)


def _plugins() -> list[list[Any]]:
    """The stamps of the modules whose rules are not ours, as far as rules were needed."""
    if "ecolint.registry" not in sys.modules:
        return []
    from ecolint.registry import load_rules

    names = [one.module for one in load_rules() if not one.module.startswith("ecolint.rules.")]
    files = [getattr(sys.modules.get(name), "__file__", None) for name in names]
    return [_stamp(file) for file in files if file]


def _stamp(path: str) -> list[Any]:
    try:
        return [path, *stamp_of(os.stat(path))]
    except OSError:
        return [path, 0, 0]


def _mark(folder: str) -> None:
    """Tell backup tools (CACHEDIR.TAG) and git to leave the folder alone."""
    for name, content in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            _write(path, content)


def _write(path: str, content: str) -> None:
    """Write a file that other runs may be reading: they see the old one or the new one."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _prune(folder: str) -> None:
    """Keep the caches used last; every change of settings or version leaves one behind."""
    with os.scandir(folder) as entries:
        files = sorted(entries, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
    for entry in files[_KEPT:]:
        os.unlink(entry.path)
