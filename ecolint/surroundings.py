"""What a project's configuration says about all of its files: its GPU and its pinned packages.

Python that loads a model rarely names the card; a node selector, a machine type or a lock
file beside it does. Evidence nearer to a file outweighs evidence further away, a lock file
outweighs a requirement, and evidence that disagrees is told and left open.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ecolint import frontends, gate
from ecolint.candidates import MOST, candidates
from ecolint.catalog import Gpu, find_gpu, gpu_for_label
from ecolint.discovery import Source, display_path, project_root, role_of_path
from ecolint.document import Document, UnreadableError, decode
from ecolint.facts import Channel, Facts, Hardware, Package, Role
from ecolint.kinds import Kind
from ecolint.rule import Known

_PACKAGING = frozenset({Kind.TOML, Kind.REQUIREMENTS, Kind.INI, Kind.CONDA_LOCK})
_CARD_WORDS = (
    b"nvidia.com/gpu", b"accelerator", b"nstance_type", b"nstance-type", b"nstanceType",
    b"machine_type", b"machine-type", b"gpu_type", b"gpu-type", b"vm_size", b"gres=gpu",
)  # fmt: skip
_LOCKS = (".lock", "pylock.toml", "conda-lock.yml", "conda-lock.yaml")
_LARGEST = 8_000_000
_UNTOLD = frozenset({Role.TEST, Role.DOCUMENTATION, Role.BENCHMARK})


class Clue(NamedTuple):
    """A value, where it stands, the folder and project it speaks for, whether a lock says it."""

    value: str
    place: str
    folder: str
    root: str
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All evidence of a run, to be asked for one file at a time."""

    gpus: tuple[Clue, ...] = ()
    pins: dict[str, tuple[Clue, ...]] = field(default_factory=dict)

    def gpu(self, path: str) -> tuple[Known | None, str | None]:
        """The card that the nearest evidence names for a file, or why it is left open."""
        near = _nearest(self.gpus, path)
        first: dict[str, Clue] = {}
        for clue in near:
            first.setdefault(clue.value, clue)
        if len(first) > 1:
            told = " and ".join(f"{clue.place} names {name}" for name, clue in first.items())
            return None, told
        for name, clue in first.items():
            return Known(name, clue.place), None
        return None, None

    def stack(self, path: str) -> dict[str, Known]:
        """The versions that the nearest pins give; a package they disagree on is left out."""
        found: dict[str, Known] = {}
        for package, clues in self.pins.items():
            near = _nearest(clues, path)
            near = [clue for clue in near if clue.locked] or near
            if len({clue.value for clue in near}) == 1:
                found[package] = Known(near[0].value, near[0].place)
        return found


def _nearest(clues: Iterable[Clue], path: str) -> list[Clue]:
    """The clues of a file's own project whose folders share most with the file's."""
    here = os.path.dirname(os.path.abspath(path))
    scored = [
        (len(os.path.commonpath([here, clue.folder])), clue)
        for clue in clues
        if here == clue.root or here.startswith(clue.root.rstrip(os.sep) + os.sep)
    ]
    best = max((score for score, _ in scored), default=0)
    return [clue for score, clue in scored if score == best]


def gather(sources: Sequence[Source]) -> Surroundings:
    """Read what the candidates say; a file that can't be read says nothing."""
    gpus: list[Clue] = []
    pins: dict[str, list[Clue]] = {}
    read = 0
    for source in candidates(sources):
        document = _open(source)
        if document is None or read >= MOST:
            continue
        read += 1
        try:
            facts = frontends.read(document)
        except Exception:  # it is told about when the file itself is linted
            continue
        _note(document, facts, source, gpus, pins)
    return Surroundings(tuple(gpus), {name: tuple(clues) for name, clues in pins.items()})


def _open(source: Source) -> Document | None:
    try:
        if os.path.getsize(source.path) > _LARGEST:
            return None
        with open(source.path, "rb") as file:
            raw = file.read()
        packaging = source.kind in _PACKAGING or source.kind in (Kind.DOCKERFILE, Kind.YAML)
        telling = any(word in raw for word in _CARD_WORDS)
        if not telling and not (packaging and gate.lists_packages(raw)):
            return None
        return decode(raw, source.path, source.kind)
    except (OSError, UnreadableError):
        return None


def _note(
    document: Document,
    facts: Facts,
    source: Source,
    gpus: list[Clue],
    pins: dict[str, list[Clue]],
) -> None:
    root = os.path.abspath(project_root(source.path, source.settings))
    role = role_of_path(document.path, root)
    folder = os.path.dirname(os.path.abspath(document.path))
    for fact in facts.items:
        if not isinstance(fact, (Hardware, Package)) or {role, fact.role} & _UNTOLD:
            continue
        place = f"{display_path(document.path)}:{document.locate(fact.span.start).row}"
        if isinstance(fact, Hardware):
            gpu = resolve(fact)
            if gpu is not None:
                gpus.append(Clue(gpu.name, place, folder, root))
        elif fact.version is not None and fact.channel is Channel.STABLE:
            name = fact.name.lower().replace("_", "-")
            locked = source.path.endswith(_LOCKS)
            pins.setdefault(name, []).append(Clue(fact.version, place, folder, root, locked))


def resolve(hardware: Hardware) -> Gpu | None:
    """The card that a file asks for; None for one it names unclearly, or a slice of one."""
    gpu = gpu_for_label(hardware.kind, hardware.gpu) if hardware.kind else None
    gpu = gpu or find_gpu(hardware.gpu)
    return None if gpu is None or gpu.sliced else gpu
