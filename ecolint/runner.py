"""A run: find the files, pass them through the gate, and analyse those that matter.

One file never stops the others. Nothing heavy is imported before a file passes the gate,
which most runs on most commits never see happen.
"""

import gc
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ecolint import gate
from ecolint.action import Action
from ecolint.discovery import SettingsOf, Source, discover, display_path, is_excluded
from ecolint.kinds import MAX_BYTES, Kind, kind_of

if TYPE_CHECKING:
    from ecolint.analysis import Outcome
    from ecolint.cache import Cache, Entry
    from ecolint.diagnostics import Diagnostic

# From here on a better gate repays its import, and a pool its processes (both measured).
_MANY_FILES = 300
_MANY_HITS = 40
_CHUNK = 1 << 20
# Words split over two chunks are found as long as chunks overlap by more than a word.
_OVERLAP = 64
# So many bytes are gated in the time that reading a cache takes (measured).
_WORTH_SAVING = 4_000_000
_COLLECT_AFTER = 100_000


class Result(NamedTuple):
    """What a run came to. `failed` tells that something could not be done (exit status 2).

    `fixed` are the findings mended (silenced, with `--add-noqa`), `suppressed` those that
    comments silence; `diff` is what fixes would change, for `--diff`.
    """

    diagnostics: "tuple[Diagnostic, ...]" = ()
    suppressed: "tuple[Diagnostic, ...]" = ()
    fixed: "tuple[Diagnostic, ...]" = ()
    diff: str = ""
    files: int = 0
    failed: bool = False


class _Console:
    """Prints the lines that go to stderr, and remembers whether one of them was a failure."""

    __slots__ = ("failed",)

    def __init__(self) -> None:
        self.failed = False

    def __call__(self, text: str, *, fatal: bool = True) -> None:
        from ecolint.output.terminal import neutralise

        self.failed = self.failed or fatal
        print(f"ecolint: {neutralise(text)}", file=sys.stderr)


def run(
    paths: Sequence[str],
    hierarchy: SettingsOf,
    action: Action = Action.CHECK,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Check files and folders.

    `progress` is told how many of how many files that matter are done. What stands in the way
    is printed on stderr, a line each.

    Raises:
        SettingsError: a configuration file can't be used.
        RuleError: a rule can't be loaded.
    """
    console = _Console()
    sources = list(discover(paths, hierarchy, console))
    if len(sources) > _MANY_FILES:
        gate.sharpen()
    memory = _Memory(action, sources)
    known: list[Diagnostic] = []
    hits: list[Source] = []
    for source in sources:
        found = _find(source, memory, console)
        if found is None:
            hits.append(source)
        else:
            known += found
    outcomes = list(_analyse_all(hits, sources, action, progress)) if hits else []
    for outcome in outcomes:
        _report(outcome, console)
        if action is Action.CHECK and not outcome.failures:
            memory.remember(outcome.path, outcome.diagnostics)
    memory.save()
    return _result(known, outcomes, len(sources), console.failed)


def run_text(
    raw: bytes, path: str, hierarchy: SettingsOf, action: Action = Action.CHECK
) -> tuple[Result, bytes]:
    """Check text that is in no file (stdin) as if it were at `path`.

    Returns the result, and what the text becomes by its fixes.
    """
    console = _Console()
    settings = hierarchy.of_folder(os.path.dirname(path) or ".")
    source = Source(path, kind_of(path) or Kind.PYTHON, settings, named=True)
    left_out = settings.force_exclude and is_excluded(path, settings)
    if left_out or not _may_matter(source, raw):
        return Result(files=1), raw
    from ecolint.analysis import analyse
    from ecolint.project import Project

    outcome = analyse(raw, source, Project.from_settings(settings), action)
    _report(outcome, console)
    after = raw if outcome.after is None else outcome.after
    return _result([], [outcome], 1, console.failed), after


class _Memory:
    """The caches of a run, one a set of settings, and what is still to be put into them."""

    __slots__ = ("_action", "_caches", "_pending", "_sources", "_stamp", "_worthwhile")

    def __init__(self, action: Action, sources: Sequence[Source]) -> None:
        self._action = action
        self._sources = sources
        self._stamp: str | None = None
        self._caches: dict[int, Cache | None] = {}
        self._pending: dict[str, tuple[Cache, os.stat_result, str]] = {}
        self._worthwhile = 0

    def cache_of(self, source: Source) -> "Cache | None":
        """The cache for a file; None where its settings want none."""
        key = id(source.settings)
        if key not in self._caches:
            cache = None
            if source.settings.cache:
                from ecolint.cache import Cache

                cache = Cache(source.settings)
            self._caches[key] = cache
        return self._caches[key]

    def digest_of(self, raw: bytes) -> str:
        """What tells a file's content from any other, amid the files that tell about it."""
        from ecolint.cache import digest_of

        return f"{digest_of(raw)}{self._around()}"

    def holds(self, entry: "Entry", status: os.stat_result) -> bool:
        """Whether neither a file nor what tells about it has changed."""
        if entry.stamp != (status.st_mtime_ns, status.st_size):
            return False
        return not entry.digest or entry.digest.endswith(self._around())

    def _around(self) -> str:
        if self._stamp is None:
            from ecolint.candidates import stamp

            self._stamp = f":{stamp(self._sources)}"
        return self._stamp

    def usable(self, entry: "Entry") -> "list[Diagnostic] | None":
        """The findings of an entry; to change a file takes more than remembering them."""
        if not entry.findings:
            return []
        if self._action is not Action.CHECK:
            return None
        from ecolint.cache import findings_of

        return findings_of(entry)

    def expect(self, source: Source, status: os.stat_result, digest: str) -> None:
        """Note what a file was like before it is analysed."""
        cache = self.cache_of(source)
        if cache is not None:
            self._pending[source.path] = (cache, status, digest)

    def remember(self, path: str, diagnostics: "list[Diagnostic]") -> None:
        """Keep what came of a file that was expected."""
        if path in self._pending:
            cache, status, digest = self._pending.pop(path)
            cache.remember(path, status, digest, diagnostics)
            self._worthwhile += _WORTH_SAVING

    def remember_clean(self, source: Source, status: os.stat_result) -> None:
        """Keep that the gate stopped a file."""
        cache = self.cache_of(source)
        if cache is not None:
            cache.remember(source.path, status, "", [])
            self._worthwhile += status.st_size

    def save(self) -> None:
        """Write the caches, unless doing the work again is quicker than reading them."""
        if self._worthwhile >= _WORTH_SAVING:
            for cache in self._caches.values():
                if cache is not None:
                    cache.save()


def _find(source: Source, memory: _Memory, console: _Console) -> "list[Diagnostic] | None":
    """The findings of a file as far as they are known without analysis; None asks for it."""
    try:
        status = os.stat(source.path)
        if not stat.S_ISREG(status.st_mode):
            return []
        cache = memory.cache_of(source)
        entry = cache.find(source.path) if cache is not None else None
        if entry is not None and memory.holds(entry, status):
            found = memory.usable(entry)
            if found is not None:
                return found
        if status.st_size > MAX_BYTES:
            return None if _large_may_matter(source) else []
        with open(source.path, "rb") as file:
            raw = file.read()
    except FileNotFoundError:
        console(f"{display_path(source.path)}: gone before it was read", fatal=False)
        return []
    except OSError as error:
        console(f"{display_path(source.path)}: {error.strerror or error}; left out")
        return []
    if not _may_matter(source, raw):
        memory.remember_clean(source, status)
        return []
    if cache is None:
        return None
    digest = memory.digest_of(raw)
    memory.expect(source, status, digest)
    same = entry is not None and entry.digest == digest
    found = memory.usable(entry) if same and entry is not None else None
    if found is not None:
        memory.remember(source.path, found)
    return found


def _may_matter(source: Source, raw: bytes) -> bool:
    """Whether to analyse a file: it may hold facts, or it was named and is no text."""
    words = raw
    if b"\0" in raw[:_CHUNK]:  # UTF-16 and UTF-32 are ASCII between zero bytes
        words = raw.replace(b"\0", b"")
    if gate.matters(source.kind, words):
        return True
    return source.named and not _is_text(raw)


def _is_text(raw: bytes) -> bool:
    """Whether it is plainly text; what isn't may still be, in another encoding."""
    try:
        return "\0" not in raw.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _large_may_matter(source: Source) -> bool:
    """Whether a file that is too large to read may hold facts, judged by its first part.

    Every chunk is looked at together with the first one, which is where imports stand.
    """
    with open(source.path, "rb") as file:
        first = chunk = file.read(_CHUNK)
        read, before = len(chunk), b""
        while chunk:
            if _may_matter(source._replace(named=False), first + b"\n" + before + chunk):
                return True
            before = chunk[-_OVERLAP:]
            chunk = file.read(_CHUNK) if read < MAX_BYTES else b""
            read += len(chunk)
    return False


def _analyse_all(
    hits: Sequence[Source],
    sources: Sequence[Source],
    action: Action,
    progress: Callable[[int, int], None] | None,
) -> "Iterator[Outcome]":
    """Analyse the files that matter, in this process or in several."""
    from ecolint.analysis import analyse_file
    from ecolint.project import Project
    from ecolint.registry import load_rules
    from ecolint.surroundings import gather

    load_rules()  # a plug-in that is broken stops the run before any work
    projects: dict[int, Project] = {}
    surroundings = gather(sources)
    for source in hits:
        if id(source.settings) not in projects:
            projects[id(source.settings)] = Project.from_settings(source.settings, surroundings)
    tasks = [(source, projects[id(source.settings)], action) for source in hits]
    jobs = _jobs(hits)
    if jobs > 1:
        from ecolint.pool import in_parallel

        outcomes = in_parallel(tasks, jobs)
    else:
        outcomes = (analyse_file(*task) for task in tasks)
    collected = _collect_less()
    try:
        for done, outcome in enumerate(outcomes, 1):
            if progress is not None:
                progress(done, len(tasks))
            yield outcome
    finally:
        gc.set_threshold(*collected)
        gc.unfreeze()


def _collect_less() -> tuple[int, int, int]:
    """Let the collector run rarely, which saves a sixth of the time (measured).

    Trees are large and have no cycles, so it finds next to nothing. Returns the former setting.
    """
    former = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER, *former[1:])
    return former


def _jobs(hits: Sequence[Source]) -> int:
    """How many processes to use: as many as pay off, unless told."""
    asked = hits[0].settings.jobs
    if asked:
        return min(asked, len(hits))
    if len(hits) < _MANY_HITS:
        return 1
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def _report(outcome: "Outcome", console: _Console) -> None:
    for remark in outcome.remarks:
        console(remark, fatal=False)
    for failure in outcome.failures:
        console(failure)


def _result(
    known: "Sequence[Diagnostic]", outcomes: "Sequence[Outcome]", files: int, failed: bool
) -> Result:
    """All findings of a run, in order."""
    outcomes = sorted(outcomes, key=lambda one: one.path)
    everything = [*known, *(found for one in outcomes for found in one.diagnostics)]
    everything.sort(key=lambda one: one.order)
    return Result(
        diagnostics=tuple(one for one in everything if one.suppressed is None),
        suppressed=tuple(one for one in everything if one.suppressed is not None),
        fixed=tuple(found for one in outcomes for found in one.fixed),
        diff="".join(one.diff for one in outcomes),
        files=files,
        failed=failed,
    )
