"""Lock files: which version of each package a project really gets.

Their tools write them in one fixed layout and they are large, so blocks are found by their
first line instead of parsing megabytes of TOML and YAML for a handful of packages. Nothing
is edited here: a lock follows from what it locks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from ecolint import jsontext
from ecolint.diagnostics import Span
from ecolint.dialects.packages import TORCH
from ecolint.document import Document, UnreadableError
from ecolint.facts import Channel, Facts, Package, Role
from ecolint.installation import role_of
from ecolint.toolchain import (
    classify_channel,
    classify_index,
    classify_version,
    package_of,
    read_requirement,
)

_TOML_BLOCK = re.compile(r"^\[\[packages?\]\][ \t]*\r?\n", re.MULTILINE)
_FIELD = r"^{name}[ \t]*=[ \t]*[\"']([^\"'\n]*)[\"']"
_NAME = re.compile(_FIELD.format(name="name"), re.MULTILINE)
_VERSION = re.compile(_FIELD.format(name="version"), re.MULTILINE)
# `source = { registry = "…" }` of uv, `url = "…"` of Poetry and PDM, `index`, `vcs` of pylock.
_SOURCE = re.compile(
    r"""^(?:url|git|index|(?:source|vcs|archive)[ \t]*=[ \t]*\{[^}\n]*?\b(?:registry|git|url))
    [ \t]*=[ \t]*["']([^"'\n]*)["']""",
    re.MULTILINE | re.VERBOSE,
)
_OWN = re.compile(
    r"""^(?:source[ \t]*=[ \t]*\{[ \t]*(?:editable|virtual|directory|path)\b
    |type[ \t]*=[ \t]*"directory"|(?:path|directory)[ \t]*=)""",
    re.MULTILINE | re.VERBOSE,
)
_FROM_GIT = re.compile(
    r"""^(?:source[ \t]*=[ \t]*\{[ \t]*git\b|(?:git|vcs)[ \t]*=|type[ \t]*=[ \t]*"git"
    |\[packages\.vcs\])""",
    re.MULTILINE | re.VERBOSE,
)
_GROUPS = re.compile(r"^groups[ \t]*=[ \t]*\[([^\]]*)\]", re.MULTILINE)
_YAML_BLOCK = re.compile(
    r"^[ ]{0,4}- (?=(?:name|version|manager|url|platform|conda|pypi|kind):)", re.MULTILINE
)
_YAML_FIELD = re.compile(
    r"^[ ]*(?:- )?(name|version|url|conda|pypi|category):[ \t]*[\"']?([^\s\"'#]+)", re.MULTILINE
)
_CONDA_FILE = re.compile(r"/([^/]+)-([^/-]+)-[^/-]+\.(?:conda|tar\.bz2)$")


@dataclass(frozen=True, slots=True)
class _Locked:
    """A package of interest: where its version stands, and from where it was taken."""

    name: str
    version: str
    start: int
    end: int
    source: str = ""
    built: bool = False
    role: Role = Role.INFERENCE


def read(document: Document) -> Facts:
    """The facts of a lock file.

    Raises:
        UnreadableError: a Pipfile.lock that is no JSON.
    """
    text = document.text
    if text.lstrip()[:1] == "{":
        locked = list(_read_json(text))
    elif _TOML_BLOCK.search(text):
        locked = list(_read_toml(text))
    else:
        locked = list(_read_yaml(text))
    return Facts([*_packages(locked)])


def _packages(locked: list[_Locked]) -> Iterator[Package]:
    """The facts: what one index or family brought in is one cause, told of PyTorch first."""
    told: set[tuple[Channel, str]] = set()
    for each in sorted(locked, key=lambda one: (one.name != "torch", one.start)):
        address = each.source
        index = classify_index(address)
        if index is None:
            address = _channel(address)
            index = classify_channel(address)
        channel = index.channel if index is not None else classify_version(each.name, each.version)
        if each.built:
            channel = Channel.PINNED_SOURCE
        elif channel is not Channel.STABLE:
            family = "torch" if each.name in TORCH else each.name
            cause = (channel, address[index.start : index.end] if index is not None else family)
            if cause in told:
                continue
            told.add(cause)
        yield Package(
            Span(each.start, each.end), each.name, each.version, each.version or None,
            channel, each.source, each.role,
        )  # fmt: skip


def _channel(source: str) -> str:
    """The conda channel of a file's address."""
    found = re.match(
        r"(https?://conda\.anaconda\.org/.+?)/(?:noarch|(?:linux|osx|win)-\w+)(?:/|$)", source
    )
    return found.group(1) if found else source


def _read_toml(text: str) -> Iterator[_Locked]:
    starts = [found.end() for found in _TOML_BLOCK.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        named = _NAME.search(text, start, end)
        name = package_of(named.group(1)) if named else None
        if name is None:
            continue
        version = _VERSION.search(text, start, end)
        source = _SOURCE.search(text, start, end)
        built = _FROM_GIT.search(text, start, end) is not None
        place = version or (source if built else None)
        if place is None or _OWN.search(text, start, end):
            continue
        groups = _GROUPS.search(text, start, end)
        names = re.findall(r"[\w-]+", groups.group(1)) if groups else []
        unused = bool(names) and all(role_of(group) is Role.TEST for group in names)
        yield _Locked(
            name, version.group(1) if version else "", place.start(1), place.end(1),
            source.group(1) if source else "", built,
            Role.TEST if unused else Role.INFERENCE,
        )  # fmt: skip


def _read_yaml(text: str) -> Iterator[_Locked]:
    """conda-lock.yml and pixi.lock."""
    starts = [found.start() for found in _YAML_BLOCK.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        fields = {
            found.group(1): found for found in reversed([*_YAML_FIELD.finditer(text, start, end)])
        }
        source = next((fields[key] for key in ("url", "conda", "pypi") if key in fields), None)
        address = source.group(2) if source is not None else ""
        file = _CONDA_FILE.search(address) if source is not None else None
        named = fields["name"].group(2) if "name" in fields else file.group(1) if file else ""
        name = package_of(named) if named else None
        if name is None:
            continue
        category = fields["category"].group(2) if "category" in fields else ""
        role = role_of(category)
        if "version" in fields:
            version = fields["version"]
            yield _Locked(
                name, version.group(2), version.start(2), version.end(2), address, role=role
            )
        elif file is not None and source is not None:
            at = source.start(2)
            yield _Locked(
                name, file.group(2), at + file.start(2), at + file.end(2), address, role=role
            )


def _read_json(text: str) -> Iterator[_Locked]:
    """Pipfile.lock."""
    try:
        root = jsontext.parse(text)
    except jsontext.JSONError as error:
        line = text.count("\n", 0, error.offset) + 1
        raise UnreadableError(
            f"not JSON: {error}", "write it again with pipenv lock", line
        ) from None
    addresses = _addresses(root)
    for section, role in (("default", Role.INFERENCE), ("develop", Role.TEST)):
        table = root.get(section)
        for key, entry in table.members if table is not None else ():
            found = _read_entry(str(key.value), entry, addresses)
            if found is not None:
                yield replace(found, role=role)


def _addresses(root: jsontext.Node) -> dict[str, str]:
    """The sources of a Pipfile.lock, name to address."""
    meta = root.get("_meta")
    listed = meta.get("sources") if meta is not None else None
    found: dict[str, str] = {}
    for source in listed.items if listed is not None else ():
        name, url = source.get("name"), source.get("url")
        if name is not None and url is not None:
            found[str(name.value)] = str(url.value)
    return found


def _read_entry(key: str, entry: jsontext.Node, addresses: dict[str, str]) -> _Locked | None:
    name = package_of(key)
    version, index, git = entry.get("version"), entry.get("index"), entry.get("git")
    if name is None:
        return None
    if git is not None:
        ref = entry.get("ref")
        found = read_requirement(f"{key} @ git+{git.value}@{ref.value if ref else ''}".rstrip("@"))
        if found is None:
            return None
        return _Locked(name, found.version or "", git.start + 1, git.end - 1, str(git.value), True)
    if version is None or version.kind != "string":
        return None
    text = str(version.value)
    source = addresses.get(str(index.value), "") if index is not None else ""
    return _Locked(name, text.lstrip("="), version.start + 1, version.end - 1, source)
