"""What is known about the project around a file: its GPU, its model, its pinned packages.

What the user states wins over what a file says, and that over what other files say; evidence
that names two GPUs leaves the GPU open, and tells so.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ecolint.catalog import Gpu
from ecolint.discovery import display_path
from ecolint.document import Document
from ecolint.facts import Facts, Hardware, Package
from ecolint.rule import Context, Known
from ecolint.settings import Settings, SettingsError
from ecolint.surroundings import Surroundings, resolve

if TYPE_CHECKING:
    from ecolint.energy.dataset import Row


@dataclass(frozen=True, slots=True)
class Project:
    """What the settings state about every file under them, and what other files tell."""

    gpu: Known | None = None
    model: Known | None = None
    stack: Mapping[str, Known] = field(default_factory=dict)
    surroundings: Surroundings = field(default_factory=Surroundings)
    site: "Sequence[Row]" = ()

    @classmethod
    def from_settings(
        cls, settings: Settings, surroundings: Surroundings | None = None
    ) -> "Project":
        """The project as its settings and flags describe it, amid what other files tell."""
        return cls(
            Known(settings.gpu, "--gpu") if settings.gpu else None,
            Known(settings.model, "--model") if settings.model else None,
            {_fold(name): Known(version, "--stack") for name, version in settings.stack.items()},
            surroundings or Surroundings(),
            _own_rows(settings),
        )

    def context(self, document: Document, facts: Facts) -> Context:
        """What rules may know about a file besides each fact."""
        gpu, conflict = self.gpu, None
        if gpu is None:
            gpu, conflict = _gpu_of(document, facts)
        if gpu is None and conflict is None:
            gpu, conflict = self.surroundings.gpu(document.path)
        stack = {**self.surroundings.stack(document.path), **_stack_of(document, facts)}
        return Context(
            facts=facts,
            gpu=gpu,
            gpu_conflict=conflict,
            model=self.model,
            stack={**stack, **self.stack},
            site=self.site,
            path=document.path,
        )


def _own_rows(settings: Settings) -> "Sequence[Row]":
    """The site's own measurements; a file that can't be used is the user's to mend."""
    if not settings.measurements:
        return ()
    from ecolint.energy import MeasurementsError, read_rows

    try:
        return read_rows(os.path.join(settings.root, settings.measurements))
    except MeasurementsError as error:
        raise SettingsError(str(error)) from None


def _fold(package: str) -> str:
    return package.lower().replace("_", "-")


def _gpu_of(document: Document, facts: Facts) -> tuple[Known | None, str | None]:
    """The one GPU that a file asks for, or why it can't be told which."""
    found: dict[str, tuple[Gpu, Hardware]] = {}
    for hardware in facts.of(Hardware):
        gpu = resolve(hardware)
        if gpu is not None:
            found.setdefault(gpu.key, (gpu, hardware))
    if len(found) > 1:
        names = " and ".join(gpu.name for gpu, _ in found.values())
        return None, f"{display_path(document.path)} names {names}"
    for gpu, hardware in found.values():
        return Known(gpu.name, _place(document, hardware.span.start)), None
    return None, None


def _stack_of(document: Document, facts: Facts) -> dict[str, Known]:
    """The versions that a file pins; a package pinned to two versions is left out."""
    pins: dict[str, dict[str, Package]] = {}
    for package in facts.of(Package):
        if package.version is not None:
            pins.setdefault(_fold(package.name), {}).setdefault(package.version, package)
    return {
        name: Known(version, _place(document, package.span.start))
        for name, versions in pins.items()
        if len(versions) == 1
        for version, package in versions.items()
    }


def _place(document: Document, offset: int) -> str:
    return f"{display_path(document.path)}:{document.locate(offset).row}"
