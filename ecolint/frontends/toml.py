"""The TOML front-end: packaging files by their names, everything else as settings.

Places come from the scanner in `tomlsettings`, which tomllib's verdict goes before.
"""

import re
from importlib import import_module

from ecolint.document import Document
from ecolint.facts import Facts
from ecolint.gate import lists_packages

# name of the file → module with `read(document) -> Facts`
_PACKAGING = (
    (re.compile(r"pyproject\.toml|uv\.toml|pixi\.toml"), "ecolint.frontends.pyproject"),
    (re.compile(r"pipfile", re.IGNORECASE), "ecolint.frontends.pipfile"),
    (
        re.compile(r"(?:uv|poetry|pdm)\.lock|pylock(?:\.[\w-]+)?\.toml|.*\.lock"),
        "ecolint.frontends.lockfiles",
    ),
    # Other ecosystems' manifests: their `torch` is not ours, and none of them sets options.
    (re.compile(r"Cargo\.toml|netlify\.toml|book\.toml"), None),
)


def read(document: Document) -> Facts:
    """The facts of a TOML file; text that is no TOML is told as not analysed."""
    name = re.split(r"[/\\]", document.path)[-1]
    for pattern, module in _PACKAGING:
        if pattern.fullmatch(name) is None:
            continue
        if module is None or not lists_packages(document.text.encode("utf-8", "replace")):
            return Facts()
        facts: Facts = import_module(module).read(document)
        return facts
    from ecolint.frontends.tomlsettings import read_toml_settings

    return read_toml_settings(document)
