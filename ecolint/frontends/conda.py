"""The front-end of conda's environment files: channels, packages, and the list given to pip."""

import re
from functools import partial

from ecolint.document import Document, whole
from ecolint.facts import Fact, Facts, Package
from ecolint.frontends import yaml
from ecolint.frontends.mapping import Form, Node, Source
from ecolint.frontends.requirements import add_line
from ecolint.frontends.scalartext import word
from ecolint.installation import Edits, Installation, join, remove_line, role_of
from ecolint.toolchain import classify_channel, read_conda

_NAMED = re.compile(r"(?:^|[/\\])(?:conda|environment|env)[\w.-]*\.ya?ml$", re.IGNORECASE)
_DEPENDENCIES = re.compile(r"^dependencies:[ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
_CHANNELS = re.compile(r"^channels:|^[ ]*- pip:", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*-[ \t]+")


def claims(document: Document) -> bool:
    """Whether a YAML file is an environment: its name or its keys say so."""
    text = document.text
    if _DEPENDENCIES.search(text) is None and "\ndependencies: [" not in text:
        return False
    return _CHANNELS.search(text) is not None or _NAMED.search(document.path) is not None


def read(document: Document) -> Facts:
    """The facts of an environment file; text that is no YAML is told as not analysed."""
    source, failures = yaml.parse(whole(document))
    facts: list[Fact] = [*failures]
    name = re.split(r"[/\\]", document.path)[-1]
    for root in source.roots:
        if root.form is Form.MAPPING:
            facts += _read_environment(source, root, name)
    return Facts(facts)


def _read_environment(source: Source, root: Node, name: str) -> list[Package]:
    conda = Installation(role_of(name), apart=True)
    pip = Installation(role_of(name), apart=True)
    for item in _items(root, "channels"):
        if item.form is Form.SCALAR:
            conda.route(word(source, item), classify_channel(item.text))
    for item in _items(root, "dependencies"):
        if item.form is Form.SCALAR:
            conda.ask(word(source, item), read_conda(item.text))
        elif item.form is Form.MAPPING:
            _read_pip(source, pip, _items(item, "pip"))
    return [*conda.packages(), *pip.packages()]


def _items(node: Node, name: str) -> list[Node]:
    entry = node.get(name)
    return entry.value.items if entry is not None else []


def _read_pip(source: Source, pip: Installation, items: list[Node]) -> None:
    """Each item of the list is a line of a requirements file."""
    for number, item in enumerate(items):
        given = word(source, item) if item.form is Form.SCALAR else None
        if given is not None and given.exact and given.known:
            end = given.inner + len(given.text)
            remove = partial(_without, source, items, number)
            add_line(pip, given.view, given.inner, end, remove)


def _without(source: Source, items: list[Node], number: int) -> Edits:
    """The edits that remove one item of a list; None where it can't be."""
    view, item = source.view, items[number]
    text = view.text
    begin = text.rfind("\n", 0, item.start) + 1
    if _ITEM.fullmatch(text, begin, item.start):
        stop = text.find("\n", item.end)
        if text[item.end : stop if stop >= 0 else len(text)].strip():
            return None  # a comment that would go with it
        return remove_line(view, begin, item.end)
    if number + 1 < len(items):
        return join([view.edit(item.start, items[number + 1].start, "")])
    return join([view.edit(items[number - 1].end, item.end, "")]) if number else None
