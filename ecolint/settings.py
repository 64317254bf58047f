"""The settings of a run, and which of them hold for a file.

The nearest configuration file wins, whole: nothing is merged from folders above unless
`extend` says so. Flags are laid over whatever was found. This module is on the path of
every start, so reading TOML lives in `ecolint.configfile` and is imported for a file that
has settings, never before.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

CANDIDATES = (".ecolint.toml", "ecolint.toml", "pyproject.toml")
ALL = "ALL"
DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".ecolint_cache", ".eggs", ".git", ".git-rewrite", ".hg",
    ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d", ".pyenv", ".pytest_cache",
    ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode", "__pycache__", "__pypackages__",
    "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
)  # fmt: skip


class SettingsError(Exception):
    """A configuration or a flag that can't be used; its text is the line to print."""


class Settings(NamedTuple):
    """What a run was told. A NamedTuple, because a dataclass would cost the start 11 ms.

    `select`, `ignore`, `fixable` and their like hold code prefixes or ALL. `per_file_ignores`
    pairs a glob with such prefixes. `jobs` 0 means as many as pay off. `root` is the folder
    that globs are relative to; `source` the file that the settings were read from.
    """

    select: tuple[str, ...] = (ALL,)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    include_tests: bool = False
    show_green: bool = False
    ignore_noqa: bool = False
    fix: bool = False
    unsafe_fixes: bool = False
    fixable: tuple[str, ...] = (ALL,)
    unfixable: tuple[str, ...] = ()
    output_format: str = "text"
    gpu: str | None = None
    model: str | None = None
    stack: Mapping[str, str] = {}
    region: str | None = None
    measurements: str | None = None
    budget: Mapping[str, float] = {}
    jobs: int = 0
    cache: bool = True
    cache_dir: str | None = None
    required_version: str | None = None
    root: str = "."
    source: str | None = None


def specificity(selector: str, code: str, name: str) -> int:
    """How closely a selector names a rule: 0 for ALL, more for longer prefixes, -1 not at all."""
    if selector == ALL:
        return 0
    if selector == name:
        return len(code)
    return len(selector) if code.startswith(selector) else -1


def matches(selectors: tuple[str, ...], code: str, name: str) -> bool:
    """Whether any of the selectors names the rule."""
    return any(specificity(selector, code, name) >= 0 for selector in selectors)


def selects(settings: Settings, code: str, name: str) -> bool:
    """Whether a rule is on: the most specific selector wins, `ignore` wins a draw."""
    chosen = (*settings.select, *settings.extend_select)
    on = max((specificity(selector, code, name) for selector in chosen), default=-1)
    off = max((specificity(selector, code, name) for selector in settings.ignore), default=-1)
    return on > off


def may_fix(settings: Settings, code: str, name: str) -> bool:
    """Whether a rule's fixes may be applied (`fixable` and `unfixable`)."""
    on = max((specificity(s, code, name) for s in settings.fixable), default=-1)
    off = max((specificity(s, code, name) for s in settings.unfixable), default=-1)
    return on > off


def overlay(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Lay one source of settings over another, as `extend` and flags do.

    `select` starts the selection afresh; without it `ignore` and `extend_select` add to what
    is there, and take back what they cover: the later source has the last word.
    """
    changes = dict(changes)
    for name in ("extend_exclude",):
        if name in changes:
            changes[name] = getattr(settings, name) + changes[name]
    for name in ("stack", "budget"):
        if name in changes:
            changes[name] = {**getattr(settings, name), **changes[name]}
    if "select" in changes:
        changes = {"ignore": (), "extend_select": (), **changes}
    else:
        added, removed = changes.get("extend_select", ()), changes.get("ignore", ())
        changes["select"] = _without(settings.select, removed)
        changes["extend_select"] = (*_without(settings.extend_select, removed), *added)
        changes["ignore"] = (*_without(settings.ignore, added), *removed)
    return settings._replace(**changes)


def _without(selectors: tuple[str, ...], newer: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        old for old in selectors if not any(new == ALL or old.startswith(new) for new in newer)
    )


class Hierarchy:
    """The settings of every folder of a run, each configuration file read once.

    `changes` come from flags; with `isolated` no file is looked for; `given` is the one file
    that --config names, which then holds everywhere.
    """

    __slots__ = ("_base", "_changes", "_known")

    def __init__(
        self, changes: Mapping[str, Any], *, isolated: bool = False, given: str | None = None
    ) -> None:
        self._changes = changes
        self._known: dict[str, Settings] = {}
        self._base: Settings | None = None
        here = Settings(root=os.getcwd())
        if given is not None:
            self._base = self._finish(_read(given)._replace(root=here.root))
        elif isolated:
            self._base = self._finish(here)

    def of_folder(self, folder: str) -> Settings:
        """The settings for the files of a folder.

        Raises:
            SettingsError: the nearest configuration file can't be used.
        """
        if self._base is not None:
            return self._base
        folder = os.path.abspath(folder)
        found = self._known.get(folder)
        if found is None:
            found = self._known[folder] = self._look(folder)
        return found

    def of_file(self, path: str) -> Settings:
        """The settings for a file."""
        return self.of_folder(os.path.dirname(path) or ".")

    def _look(self, folder: str) -> Settings:
        source = find_in(folder)
        if source is not None:
            return self._finish(_read(source))
        parent = os.path.dirname(folder)
        if parent != folder:
            return self.of_folder(parent)
        return self._finish(Settings(root=os.getcwd()))

    def _finish(self, settings: Settings) -> Settings:
        return overlay(settings, self._changes) if self._changes else settings


def find_in(folder: str) -> str | None:
    """The configuration file of a folder; a pyproject.toml counts only if it speaks to us."""
    for name in CANDIDATES:
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            continue
        if name != "pyproject.toml" or _speaks_to_us(path):
            return path
    return None


def _speaks_to_us(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError:
        return False
    if b"tool.ecolint" not in raw and not (b"[tool]" in raw and b"ecolint" in raw):
        return False
    from ecolint.configfile import has_table

    return has_table(raw, path)


def _read(path: str) -> Settings:
    from ecolint.configfile import read

    return read(path)
