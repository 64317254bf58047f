"""Shared by tests: the packages that a snippet installs, and the snippet after their mends."""

from facts_of import apply

from ecolint import frontends
from ecolint.document import Document, decode
from ecolint.facts import Channel, Package, Set
from ecolint.kinds import kind_of


def packages(text: str, path: str) -> list[Package]:
    """The package facts of a file of that name."""
    kind = kind_of(path)
    assert kind is not None, path
    return list(frontends.read(decode(text.encode(), path, kind)).of(Package))


def unreleased(text: str, path: str) -> list[tuple[str, str, str]]:
    """Name, channel's name and marked text of every package that is no release."""
    return [
        (package.name, package.channel.name, marked(text, package))
        for package in packages(text, path)
        if package.channel is not Channel.STABLE
    ]


def pins(text: str, path: str) -> dict[str, str | None]:
    """The versions of the released packages."""
    return {p.name: p.version for p in packages(text, path) if p.channel is Channel.STABLE}


def marked(text: str, package: Package) -> str:
    """The characters that a finding points at."""
    return text[package.span.start : package.span.end]


def mended(text: str, path: str) -> str:
    """The text once every package that can be is a release, one mend at a time."""
    for _ in range(20):
        found = [p for p in packages(text, path) if p.channel is not Channel.STABLE]
        edits = [e for p in found if (e := p.editor.edits(Set("channel", "stable")))]
        if not edits:
            return text
        text = apply(text, edits[0])
    raise AssertionError("the mends don't settle")


def line_of(text: str, path: str, package: Package) -> int:
    """The line that a finding is told for."""
    kind = kind_of(path)
    assert kind is not None
    return Document(path, kind, text).locate(package.span.start).row
