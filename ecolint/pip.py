"""Commands that install packages: pip, uv, pipx, pipenv, poetry, pdm, and the conda family.

Their options that take a value are listed because a value must not be read as a package.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ecolint.facts import Package, Role
from ecolint.flags import tail
from ecolint.installation import Edits, Installation, Switch, cut_words
from ecolint.toolchain import classify_channel, classify_index, read_conda, read_requirement
from ecolint.words import Word

_PROGRAM = re.compile(r"(?:^|[/\\])(pip|uv|pipx|pipenv|poetry|pdm|conda|mamba|micromamba)"
                      r"[\d.]*(?:\.exe)?$")  # fmt: skip
_CONDAS = frozenset({"conda", "mamba", "micromamba"})
_COMMANDS = {
    "pip": {"install", "download", "wheel"},
    "uv": {"install", "add", "sync", "compile", "lock"},
    "pipx": {"install", "inject"},
    "pipenv": {"install"},
    "poetry": {"add"},
    "pdm": {"add"},
    "conda": {"install", "create", "update"},
    "mamba": {"install", "create", "update"},
    "micromamba": {"install", "create", "update"},
}
# `uv pip install`, `uv tool run`: the word in between says nothing.
_BETWEEN = frozenset({"pip", "tool", "env"})

_INDEXES = frozenset(
    {
        "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index",
        "--default-index", "--pypi-mirror", "--source",
    }
)  # fmt: skip
_CHANNELS = frozenset({"-c", "--channel"})
_FILES = frozenset({"-r", "--requirement", "--requirements", "--group", "--file"})
_EDITABLE = frozenset({"-e", "--editable"})
_WITH = frozenset({"--with", "--from", "--with-editable"})
_WITH_VALUE = frozenset(
    {
        "-C", "-E", "-G", "-L", "-P", "-b", "-c", "-n", "-o", "-p", "-t", "--abi", "--branch",
        "--build-constraint", "--cache-dir", "--cert", "--client-cert", "--config-setting",
        "--config-settings", "--constraint", "--directory", "--exclude-newer", "--exists-action",
        "--extra", "--extras", "--global-option", "--hash", "--implementation",
        "--index-strategy", "--keyring-provider", "--link-mode", "--lockfile", "--log",
        "--marker", "--markers", "--name", "--no-binary", "--no-build-isolation-package",
        "--only-binary", "--optional", "--output-file", "--override", "--overrides",
        "--package", "--platform", "--prefix", "--progress-bar", "--project", "--proxy",
        "--python", "--python-version", "--refresh-package", "--report", "--resolution",
        "--retries", "--rev", "--root", "--script", "--solver", "--src", "--suffix", "--tag",
        "--target", "--timeout", "--torch-backend", "--trusted-host", "--upgrade-package",
        "--upgrade-strategy", "--use-feature",
    }
)  # fmt: skip
_PRE = frozenset({"--pre", "--allow-prereleases"})
_SHORT = "ifrec"


def read_install(words: Sequence[Word], role: Role) -> list[Package]:
    """The package facts of an installing command, given as its words from the program on."""
    start = _program(words)
    found = _PROGRAM.search(words[start].text) if start < len(words) else None
    if found is None:
        return []
    program = found.group(1)
    at = _behind_command(words, start + 1, _COMMANDS[program])
    if at is None:
        return []
    reader = _Reader(words, program, at, Installation(role))
    reader.read()
    return reader.installation.packages()


def _program(words: Sequence[Word]) -> int:
    """The index of the installer: behind `python -m`, where that runs it."""
    if words and _PROGRAM.search(words[0].text):
        return 0
    module = (index + 1 for index, word in enumerate(words[:6]) if word.text == "-m")
    return next(module, len(words))


def _behind_command(words: Sequence[Word], at: int, commands: set[str]) -> int | None:
    while at < len(words):
        text = words[at].text
        if text in commands:
            return at + 1
        if not text.startswith("-") and text not in _BETWEEN:
            return None
        at += 1
    return None


@dataclass(slots=True)
class _Reader:
    words: Sequence[Word]
    program: str
    at: int
    installation: Installation

    def read(self) -> None:
        while self.at < len(self.words):
            word = self.words[self.at]
            if word.known and word.text.startswith("-") and len(word.text) > 1:
                self._option(word)
            else:
                self._requirement(word, ())
                self.at += 1

    def _option(self, word: Word) -> None:
        first = self.at
        name, value = self._split(word)
        takes = self._takes(name)
        if self.program == "pdm" and name == "--prerelease":
            takes, name = False, "--pre"
        if value is None and takes:
            self.at += 1
            value = self.words[self.at] if self.at < len(self.words) else None
        self.at += 1
        removal = cut_words(self.words, first, min(self.at, len(self.words)) - 1)
        if name in _PRE:
            self._switch(word, word, removal)
        elif value is not None:
            self._given(name, first, value, removal)

    def _takes(self, name: str) -> bool:
        if self.program in _CONDAS and name == "-f":
            return False  # `--force` there
        return name in _TAKING or name in ("--prerelease", "--pip-args")

    def _split(self, word: Word) -> tuple[str, Word | None]:
        """An option's name, and its value where both are one word."""
        name, equals, _ = word.text.partition("=")
        if word.text.startswith("--"):
            return name, tail(word, len(name) + 1) if equals else None
        short = word.text[:2]
        if len(word.text) > 2 and word.text[1] in _SHORT and short in _TAKING:
            return short, tail(word, 3 if word.text[2] == "=" else 2)
        return word.text, None

    def _given(self, name: str, first: int, value: Word, removal: Edits) -> None:
        """An option, the word at `first`, with its value."""
        option = self.words[first]
        conda = self.program in _CONDAS
        if not value.known:
            self.installation.elsewhere |= name in _FILES or name in _EDITABLE
        elif conda and name in _CHANNELS:
            self.installation.route(value, classify_channel(value.text), removal)
        elif name == "--source":
            index = classify_channel(value.text)
            if index is not None:  # a name, which stands for an address told elsewhere
                self.installation.route(value, replace(index, mend=None), removal)
        elif name in _INDEXES:
            self.installation.route(value, classify_index(value.text), removal)
        elif name == "--prerelease":
            if value.text == "allow":
                self._switch(option, value, removal)
        elif name == "--pip-args":
            inner = _Reader(tuple(_split_words(value)), "pip", 0, self.installation)
            inner.read()
        elif name in _EDITABLE:
            apart = self.at - first > 1
            self._requirement(value, cut_words(self.words, first, first) if apart else None)
        elif name in _WITH:
            self._requirement(value, ())
        elif name in _FILES:
            self.installation.elsewhere = True

    def _switch(self, option: Word, value: Word, removal: Edits) -> None:
        span = option.view.span(option.start, value.end if value.view is option.view else 0)
        self.installation.allow(Switch(span, "pre-releases allowed", removal))

    def _requirement(self, word: Word, also: Edits) -> None:
        if not word.known:
            self.installation.elsewhere = True
            return
        read = read_conda if self.program in _CONDAS else read_requirement
        requirement = read(word.text)
        if requirement is None and word.text.startswith((".", "/")):
            self.installation.elsewhere = True  # a project with requirements of its own
        self.installation.ask(word, requirement, also)


_TAKING = _INDEXES | _CHANNELS | _FILES | _EDITABLE | _WITH | _WITH_VALUE


def _split_words(word: Word) -> Iterable[Word]:
    """The words inside a quoted argument that is itself a command line."""
    for found in re.finditer(r"[^\s'\"]+", word.text):
        if not word.exact or word.inner < 0:
            yield Word(found.group(), word.view, word.start, word.end, exact=False)
            continue
        start, end = word.inner + found.start(), word.inner + found.end()
        yield Word(found.group(), word.view, start, end, True, start, True)
