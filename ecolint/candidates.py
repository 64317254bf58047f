"""Which files of a run may tell something about the others, without opening any of them.

Apart from what reads them, because a run that finds nothing new needs only their stamps.
"""

import os
from binascii import crc32
from collections.abc import Sequence

from ecolint.discovery import Source, project_root
from ecolint.kinds import Kind, kind_of

# Kinds that may name a card or a version for others; programs speak for themselves only.
_TELLING = frozenset(
    {
        Kind.YAML, Kind.JSON, Kind.TOML, Kind.REQUIREMENTS, Kind.DOCKERFILE, Kind.INI,
        Kind.TERRAFORM, Kind.CONDA_LOCK, Kind.SHELL,
    }
)  # fmt: skip
# Where deployments are kept, for runs that are given single files.
_FOLDERS = ("", "deploy", "deployment", "k8s", "kubernetes", "helm", "infra", "terraform", "docker")
MOST = 300


def candidates(sources: Sequence[Source]) -> list[Source]:
    """The files that may tell something: those of the run, and for single files their project's."""
    found = {os.path.abspath(s.path): s for s in sources if s.kind in _TELLING}
    for source in sources:
        if source.named:
            _beside(source, found)
    return list(found.values())


def _beside(source: Source, found: dict[str, Source]) -> None:
    root = os.path.abspath(project_root(source.path, source.settings))
    for name in _FOLDERS:
        try:
            with os.scandir(os.path.join(root, name)) as entries:
                paths = [entry.path for entry in entries if entry.is_file()]
        except OSError:
            continue
        for path in sorted(paths)[:MOST]:
            kind = kind_of(path)
            if kind in _TELLING and path not in found and len(found) < MOST:
                found[path] = Source(path, kind, source.settings, named=False)


def stamp(sources: Sequence[Source]) -> str:
    """What changes when any candidate does; findings that were remembered hang on it."""
    parts: list[object] = []
    for source in candidates(sources):
        try:
            status = os.stat(source.path)
        except OSError:
            continue
        parts.append((source.path, status.st_mtime_ns, status.st_size))
    return f"{crc32(repr(parts).encode('utf-8', 'replace')):08x}" if parts else ""
