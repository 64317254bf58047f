"""Under which torch each torchao release loads its compiled kernels; elsewhere it skips them.

Source: the guard in `torchao/__init__.py` of the wheels 0.13.0 to 0.18.0, which logs "Skipping
import of cpp extensions due to incompatible torch version", and pytorch/ao#2919. The guard of
0.14.0 lets no release of torch pass; the table names 2.8.0 for it, so that pair is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from ecolint.energy.stack import release

_NEWEST = (9999, 0, 0)


@dataclass(frozen=True, slots=True)
class KernelPair:
    """A torchao release, by the numbers that decide, and the torch it was built for.

    Its kernels load from `lowest` to `highest`, both included. `torch` names the version that
    it was built for, and `advised` tells whether to point anyone to that pair.
    """

    torchao: tuple[int, ...]
    lowest: tuple[int, int, int]
    highest: tuple[int, int, int]
    torch: str
    advised: bool = True


_PAIRS = (
    KernelPair((0, 13), (0, 0, 0), (2, 8, 99), "2.8.0"),
    KernelPair((0, 14, 0), (2, 8, 0), (2, 8, 0), "2.8.0", advised=False),
    KernelPair((0, 14, 1), (2, 9, 0), (2, 9, 0), "2.9.0"),
    KernelPair((0, 15), (2, 9, 1), (2, 9, 1), "2.9.1"),
    KernelPair((0, 16), (2, 10, 0), (2, 10, 0), "2.10.0"),
    KernelPair((0, 17), (2, 11, 0), _NEWEST, "2.11.0 or newer"),
    KernelPair((0, 18), (2, 11, 0), _NEWEST, "2.11.0 or newer"),
)


def kernel_pair(torchao: str) -> KernelPair | None:
    """Return what is known of a torchao release, None where nothing is."""
    found = release(torchao)
    if found is None:
        return None
    return next((one for one in _PAIRS if found[: len(one.torchao)] == one.torchao), None)


def loads_kernels(pair: KernelPair, torch: str) -> bool:
    """Return whether the release loads its kernels under a torch; true for an odd version."""
    given = release(torch)
    return given is None or pair.lowest <= given <= pair.highest


def matching_torchao(torch: str) -> str | None:
    """Return the newest known torchao that was built for a torch, None if none was."""
    given = release(torch)
    for pair in reversed(_PAIRS):
        newer = pair.highest == _NEWEST and given is not None and given >= pair.lowest
        if pair.advised and (newer or given == release(pair.torch)):
            return ".".join(map(str, (*pair.torchao, 0)[:3]))
    return None
