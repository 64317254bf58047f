"""Packages that a configuration installs outside any requirements file: cog, Bento, Ray."""

from ecolint.facts import Role
from ecolint.frontends.configs.reading import Reading
from ecolint.frontends.mapping import Form, Node, Place, Source
from ecolint.frontends.scalartext import word, words
from ecolint.pip import read_install
from ecolint.words import Word

_LISTS = ("python_packages", "pip_packages", "packages", "pip")
_FLAGS = {
    "extra_index_url": "--extra-index-url",
    "index_url": "--index-url",
    "find_links": "--find-links",
}
# Where a list called `packages` or `pip` means Python's.
_HOLDERS = frozenset({"python", "runtime_env", "build", "pip", "environment"})


def read(place: Place, reading: Reading) -> None:
    """The facts of the packages that a mapping lists."""
    node = place.node
    for name in _LISTS:
        entry = node.names.get(name)
        if entry is None or entry.value.form is not Form.LIST:
            continue
        if name in ("packages", "pip") and place.key not in _HOLDERS:
            continue
        found = _command(place.source, node, entry.value)
        reading.facts += read_install(found, Role.INFERENCE)


def _command(source: Source, node: Node, packages: Node) -> list[Word]:
    """The `pip install` that does the same, each word where the file has it."""
    view = source.view
    at = packages.start

    def said(text: str) -> Word:
        return Word(text, view, at, at, True, -1, False)

    command = [said("pip"), said("install")]
    for name, flag in _FLAGS.items():
        entry = node.names.get(name)
        if entry is None:
            continue
        urls = entry.value.items if entry.value.form is Form.LIST else [entry.value]
        for url in urls:
            command += [said(flag), word(source, url)]
    arguments = node.get("pip_args", "pip_install_options")
    if arguments is not None:
        command += words(source, arguments.value)
    for item in packages.items:
        if item.form is Form.SCALAR and item.text:
            command.append(word(source, item))
    return command
