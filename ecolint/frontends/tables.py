"""Packages as tables give them: one name, and a version, a repository or an address beside it.

Poetry, uv, Pipenv and pixi spell this alike: `torch = {git = "…", branch = "main"}`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ecolint.document import View
from ecolint.facts import Channel, Role
from ecolint.frontends.mapping import Entry, Form, Node
from ecolint.installation import Edits, Installation, Switch, join, remove_line
from ecolint.toolchain import (
    classify_channel,
    classify_index,
    package_of,
    read_constraint,
    read_requirement,
)
from ecolint.words import Word

# What only says where the source is, so that it goes together with it.
_OF_SOURCE = frozenset(
    {"git", "branch", "rev", "tag", "ref", "url", "subdirectory", "develop", "editable"}
)


@dataclass(slots=True)
class Tables:
    """What the tables of one file install: for use, and for development only.

    `indexes` are the named indexes with whether they serve every package; `users` tells who
    is taken from which. `settle` must come last, when both are complete.
    """

    view: View
    main: Installation
    development: Installation
    indexes: list[tuple[str, Node, bool]] = field(default_factory=list)
    users: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, view: View) -> "Tables":
        """Nothing yet, for the file behind a view."""
        return cls(view, Installation(apart=True), Installation(Role.TEST, apart=True))

    def of_role(self, role: Role) -> Installation:
        """Where packages for that role are gathered."""
        return self.development if role is Role.TEST else self.main

    def word(self, node: Node) -> Word:
        """A scalar as a word; exact where its characters are written as they are."""
        view, width = self.view, len(node.style)
        inner, end = node.start + width, node.end - width
        exact = view.text[inner:end] == node.text
        return Word(node.text, view, node.start, node.end, True, inner if exact else -1, exact)

    def requirements(self, node: Node | None, role: Role) -> None:
        """Add a list of requirement strings."""
        for item in node.items if node is not None else ():
            if item.form is Form.SCALAR:
                word = self.word(item)
                self.of_role(role).ask(word, read_requirement(word.text))

    def packages(self, node: Node | None, role: Role) -> None:
        """Add a table of packages, names to versions or tables."""
        for entry in node.entries if node is not None else ():
            self.package(entry.key, entry.value, role)

    def package(self, name: str, value: Node, role: Role) -> None:
        """Add one package by name."""
        canonical = package_of(name)
        if canonical is None:
            return
        if value.form is Form.LIST:
            for item in value.items:
                self.package(name, item, role)
        elif value.form is Form.SCALAR:
            word = self.word(value)
            self.of_role(role).ask(word, read_constraint(name, word.text))
        elif not self.source(name, value, role, lambda to: _released(self.view, value, to)):
            self._table(name, canonical, value, role)

    def _table(self, name: str, canonical: str, table: Node, role: Role) -> None:
        installation = self.of_role(role)
        version = table.scalar("version")
        if version is not None:
            word = self.word(version)
            installation.ask(word, read_constraint(name, word.text))
        index = table.scalar("source", "index")
        if index is not None:
            self.users.setdefault(index.text, set()).add(canonical)
        channel = table.scalar("channel")
        if channel is not None:
            self.main.route(self.word(channel), classify_channel(channel.text))
        allowed = table.get("allow_prereleases")
        if allowed is not None and allowed.value.value is True:
            self.switch(allowed, "false", canonical, role)

    def source(
        self, name: str, table: Node, role: Role, release: Callable[[str | None], Edits]
    ) -> bool:
        """Add a package taken from a repository or an address; False if it is from neither.

        `release` makes the edits that take it from an index, in that version or in any.
        """
        node = table.scalar("git", "url")
        if node is None:
            return False
        address = node.text
        if table.scalar("git") is node:
            revision = table.string("rev", "tag", "ref")
            branch = table.string("branch")
            ref = revision or (f"refs/heads/{branch}" if branch else "")
            address = "git+" + address.removeprefix("git+") + (f"@{ref}" if ref else "")
        found = read_requirement(f"{name} @ {address}")
        if found is None:
            return True
        pinned = found.version if found.channel is Channel.PINNED_SOURCE else None
        stable = release(pinned) if found.mend is not None else None
        word = self.word(node)
        placed = replace(found, start=0, end=len(word.text), mend=None)
        self.of_role(role).place(word, placed, stable)
        return True

    def switch(
        self, entry: Entry, off: str, package: str = "", role: Role = Role.INFERENCE
    ) -> None:
        """Add an entry that lets unreleased versions in; `off` is its value that does not."""
        node = entry.value
        view = self.view
        stable = join([view.edit(node.start + len(node.style), node.end - len(node.style), off)])
        span = view.span(entry.key_start, node.end)
        self.of_role(role).allow(Switch(span, entry.key, stable, package))

    def index(self, name: str, address: Node | None, *, everyone: bool) -> None:
        """Add an index; `everyone` tells that any package may come from it."""
        if address is not None and address.form is Form.SCALAR:
            self.indexes.append((name, address, everyone))

    def indexes_in(self, node: Node | None) -> None:
        """Add an index address, or a list of them, that any package may come from."""
        if node is None:
            return
        for item in node.items if node.form is Form.LIST else [node]:
            inner = item.scalar("url") if item.form is Form.MAPPING else item
            self.index("", inner, everyone=True)

    def channels(self, node: Node | None) -> None:
        """Add a list of conda channels."""
        for item in node.items if node is not None else ():
            inner = item.scalar("channel") if item.form is Form.MAPPING else item
            if inner is not None and inner.form is Form.SCALAR:
                self.main.route(self.word(inner), classify_channel(inner.text))

    def settle(self) -> None:
        """Give the indexes to those who are served by them."""
        for name, address, everyone in self.indexes:
            served = frozenset(self.users.get(name, ())) if name else frozenset()
            if everyone or served:
                word = self.word(address)
                serves = frozenset() if everyone else served
                only_there = not everyone and served <= self.development.names - self.main.names
                installation = self.development if only_there else self.main
                installation.route(word, classify_index(word.text), None, serves)


def _released(view: View, table: Node, version: str | None) -> Edits:
    """The edit that makes `torch = {git = "…"}` into `torch = "*"`; None for other tables."""
    if not table.flow or any(entry.key not in _OF_SOURCE for entry in table.entries):
        return None
    return join([view.edit(table.start, table.end, f'"=={version}"' if version else '"*"')])


def without_entry(view: View, entry: Entry) -> Edits:
    """The edit that removes an entry with its line; None where it shares the line."""
    text = view.text
    begin = text.rfind("\n", 0, entry.key_start) + 1
    stop = text.find("\n", entry.value.end)
    rest = text[entry.value.end : stop if stop >= 0 else len(text)]
    if text[begin : entry.key_start].strip() or rest.strip():
        return None
    return remove_line(view, entry.key_start, entry.value.end)
