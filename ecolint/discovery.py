"""Which files to read: those named, and those below the folders named.

Follows ruff's habits: a file that is named is read whatever the excludes say, unless
`force-exclude`; links to folders are not followed, so no loop can catch the walk.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ecolint.kinds import Kind, kind_of, kind_of_shebang
from ecolint.settings import Settings

if TYPE_CHECKING:
    from ecolint.facts import Role
    from ecolint.gitignore import Ignores

_TESTS = frozenset(
    {
        "test", "tests", "testing", "unittests", "unit_tests", "unit-tests", "integration_tests",
        "integration-tests", "e2e", "__tests__", "testdata", "test_data",
    }
)  # fmt: skip
_DOCUMENTATION = frozenset({"doc", "docs", "docs_src", "documentation"})
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", "PKG-INFO")
_BENCHMARKS = frozenset({"benchmark", "benchmarks", "bench", "benches"})


class SettingsOf(Protocol):
    """Tells the settings of a folder; `ecolint.settings.Hierarchy` is one."""

    def of_folder(self, folder: str) -> Settings:
        """The settings for the files of a folder."""
        ...


class Complain(Protocol):
    """Is told, in one line, what stands in the way; `fatal` where files stay unread for it."""

    def __call__(self, text: str, *, fatal: bool = True) -> None:
        """Say it."""
        ...


class Source(NamedTuple):
    """A file to read. `named` tells that the user gave this very path."""

    path: str
    kind: Kind
    settings: Settings
    named: bool = False


def discover(paths: Sequence[str], hierarchy: SettingsOf, complain: Complain) -> Iterator[Source]:
    """The files that `paths` mean, each once, folder by folder in sorted order.

    `complain` is told of each path that does not exist or can't be entered, in one line.
    """
    seen: set[str] = set()
    for path in paths:
        for source in _of_path(path, hierarchy, complain):
            key = os.path.abspath(source.path)
            if key not in seen:
                seen.add(key)
                yield source


def _of_path(path: str, hierarchy: SettingsOf, complain: Complain) -> Iterator[Source]:
    if os.path.isdir(path):
        settings = hierarchy.of_folder(path)
        if not (settings.force_exclude and is_excluded(path, settings)):
            yield from _walk(path, hierarchy, complain)
    elif os.path.isfile(path):
        settings = hierarchy.of_folder(os.path.dirname(path) or ".")
        if settings.force_exclude and is_excluded(path, settings):
            return
        kind = kind_of(path) or _kind_by_content(path)
        if kind is None:
            complain(f"{display_path(path)}: not a kind of file that ecolint reads", fatal=False)
        else:
            yield Source(path, kind, settings, named=True)
    elif os.path.islink(path):
        complain(f"{display_path(path)}: a link to nothing; mend or remove it")
    elif os.path.exists(path):
        complain(f"{display_path(path)}: neither a file nor a folder")
    else:
        complain(f"{display_path(path)}: no such file or folder")


def _kind_by_content(path: str) -> Kind | None:
    if "." in os.path.basename(path):
        return None
    try:
        with open(path, "rb") as file:
            return kind_of_shebang(file.readline(256))
    except OSError:
        return None


def _walk(top: str, hierarchy: SettingsOf, complain: Complain) -> Iterator[Source]:
    ignores: Ignores | None = None
    if hierarchy.of_folder(top).respect_gitignore:
        ignores = _ignores_above(top)
    pending = [(top, os.path.abspath(top).replace(os.sep, "/"), ignores)]
    while pending:
        folder, full, ignores = pending.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            complain(f"{display_path(folder)}: {error.strerror or error}; left out")
            continue
        settings = hierarchy.of_folder(folder)
        excluded = _excluder(settings)
        if settings.respect_gitignore:
            ignores = _ignores_of(folder, full, entries, ignores)
        folders = []
        for entry in entries:
            name = f"{full}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if not excluded(name) and not (ignores and ignores.cover(name, folder=True)):
                    folders.append((_join(folder, entry.name), name, ignores))
                continue
            kind = kind_of(name)
            if kind is None or excluded(name) or (ignores and ignores.cover(name)):
                continue
            if _is_file(entry):
                yield Source(_join(folder, entry.name), kind, settings)
        pending += reversed(folders)


def _join(folder: str, name: str) -> str:
    return name if folder == "." else os.path.join(folder, name)


def _is_file(entry: "os.DirEntry[str]") -> bool:
    """Whether it is a regular file, perhaps behind a link: no pipe, device or dead link."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _excluder(settings: Settings) -> Callable[[str], bool]:
    from ecolint.globs import matcher

    return matcher((*settings.exclude, *settings.extend_exclude), os.path.abspath(settings.root))


def is_excluded(path: str, settings: Settings) -> bool:
    """Whether a path, or a folder between it and the settings' root, is excluded."""
    excluded = _excluder(settings)
    root = os.path.abspath(settings.root)
    full = os.path.abspath(path)
    while full != root:
        if excluded(full.replace(os.sep, "/")):
            return True
        above = os.path.dirname(full)
        if above == full:
            return False
        full = above
    return False


def _ignores_above(top: str) -> "Ignores | None":
    """What the .gitignore files above a folder say, up to the root of its repository."""
    full = os.path.abspath(top)
    root = repository_of(full)
    if root is None:
        return None
    candidates = [(root, os.path.join(root, ".git", "info", "exclude"))]
    folder = root
    for part in full[len(root) :].split(os.sep):
        folder = os.path.join(folder, part) if part else folder
        if folder != full:
            candidates.append((folder, os.path.join(folder, ".gitignore")))
    found: Ignores | None = None
    for folder, path in candidates:
        if os.path.isfile(path):
            from ecolint.gitignore import read_ignores

            found = read_ignores(path, folder.replace(os.sep, "/"), found)
    return found


def _ignores_of(
    folder: str, full: str, entries: "list[os.DirEntry[str]]", above: "Ignores | None"
) -> "Ignores | None":
    """What holds in a folder: its own .gitignore before those above."""
    if not any(entry.name == ".gitignore" for entry in entries):
        return above
    from ecolint.gitignore import read_ignores

    return read_ignores(os.path.join(folder, ".gitignore"), full, above)


def repository_of(folder: str) -> str | None:
    """The nearest folder at or above an absolute one that holds `.git`; None outside git."""
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def display_path(path: str) -> str:
    """A path as people are shown it: relative where it lies below the working directory."""
    here = os.getcwd().rstrip(os.sep) + os.sep
    full = os.path.abspath(path)
    return (full[len(here) :] if full.startswith(here) else full).replace(os.sep, "/")


def role_of_path(path: str, root: str) -> "Role | None":
    """What a file's place below `root` says about its role.

    Folders above `root` don't count: a checkout may live in a folder called tests.
    """
    from ecolint.facts import Role

    full, root = os.path.abspath(path), os.path.abspath(root).rstrip(os.sep) + os.sep
    below = full[len(root) :] if full.startswith(root) else os.path.basename(full)
    *folders, name = below.lower().replace(os.sep, "/").split("/")
    stem = name.partition(".")[0]
    if (
        not _TESTS.isdisjoint(folders)
        or stem == "conftest"
        or stem.startswith("test_")
        or stem.endswith(("_test", "_tests"))
    ):
        return Role.TEST
    if not _DOCUMENTATION.isdisjoint(folders):
        return Role.DOCUMENTATION
    if not _BENCHMARKS.isdisjoint(folders) or stem.startswith(("benchmark_", "bench_")):
        return Role.BENCHMARK
    return None


def project_root(path: str, settings: Settings) -> str:
    """The folder below which a file's place tells its role.

    The deepest of the working directory, the folder of the configuration file and the root
    of the file's repository; for a file outside all of them, the nearest folder that looks
    like a project's, else the one that holds it.
    """
    full = os.path.abspath(path)
    folder = os.path.dirname(full)
    roots = [os.getcwd(), repository_of(folder)]
    if settings.source is not None:
        roots.append(os.path.abspath(settings.root))
    above = [r for r in roots if r is not None and r != os.sep and _is_below(full, r)]
    return max(above, key=len, default="") or _packaged(folder) or folder


def _packaged(folder: str) -> str | None:
    """The nearest folder from here upwards that holds a Python project's own file."""
    while True:
        if any(os.path.exists(os.path.join(folder, name)) for name in _PROJECT_FILES):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _is_below(full: str, root: str) -> bool:
    return full.startswith(root.rstrip(os.sep) + os.sep)
