"""The systemd front-end: services and Podman's containers, with the environment they get.

Our own reader: `configparser` keeps no places, joins continued lines and drops repeated keys,
which units are made of.
"""

import re
from typing import Any

from ecolint.commands import image_facts, read_container
from ecolint.document import Document, View, whole
from ecolint.environment import read_compile_switches, read_environment, variable
from ecolint.facts import Fact, Facts, Role, Setting
from ecolint.shell import Scope, Syntax, read_script
from ecolint.shellwords import WordReader
from ecolint.words import Word

_ENTRY = re.compile(r"^(\w+)[ \t]*=[ \t]*((?:[^\n\\]|\\\r?\n|\\[^\r\n])*)", re.MULTILINE)
_STARTS = ("ExecStart", "ExecStartPre", "ExecStartPost")
# Marks before a program's path change how systemd runs it, not what.
_MARKS = re.compile(r"[-@:+!|]*")
_NAME = re.compile(r"([A-Za-z_]\w*)=")


def read(document: Document) -> Facts:
    """The facts of a unit file."""
    view = whole(document)
    entries = [(found.group(1), *found.span(2)) for found in _ENTRY.finditer(view.text)]
    env: dict[str, Setting[Any]] = {}
    for key, start, end in entries:
        if key == "Environment":
            env |= _variables(view, start, end)
    facts = read_compile_switches(env, Role.SERVICE)
    container = _container(view, entries, env)
    if container is not None:
        return Facts(facts + container)
    for key, start, end in entries:
        if key in _STARTS:
            marks = _MARKS.match(view.text, start, end)
            begin = marks.end() if marks else start
            scope = Scope(view.text)
            facts += read_script(view, Role.SERVICE, scope=scope, env=env, start=begin, end=end)
    return Facts(facts + read_environment(env, Role.SERVICE))


def _container(
    view: View, entries: list[tuple[str, int, int]], env: dict[str, Setting[Any]]
) -> list[Fact] | None:
    """What a Quadlet runs: `Exec` are arguments of the image; None where no image is named."""
    images = [_words(view, start, end) for key, start, end in entries if key == "Image"]
    if not images or not images[-1]:
        return None
    image = images[-1][0]
    said: dict[str, list[Word]] = {"Entrypoint": [], "Exec": []}
    for key, start, end in entries:
        if key in said:
            said[key] = _words(view, start, end)
    started = read_container(said["Entrypoint"], said["Exec"], env, image.text, Role.SERVICE)
    return image_facts(image, Role.SERVICE) + started


def _variables(view: View, start: int, end: int) -> dict[str, Setting[Any]]:
    found: dict[str, Setting[Any]] = {}
    for word in _words(view, start, end):
        name = _NAME.match(word.text)
        if name is None or not word.exact:
            continue
        value = Word(
            word.text[name.end() :], view, word.inner + name.end(), word.inner + len(word.text),
            word.known, word.inner + name.end(),
        )  # fmt: skip
        span = view.span(word.inner, word.inner + len(word.text))
        key = view.span(word.inner, word.inner + len(name.group(1)))
        found[name.group(1)] = variable(name.group(1), value, span, key)
    return found


def _words(view: View, start: int, end: int) -> list[Word]:
    """The words of a value, which systemd splits and quotes much as a shell does."""
    reader = WordReader(view, Scope(view.text), Syntax.SHELL, start, end)
    words: list[Word] = []
    while reader.at < reader.end:
        before = reader.at
        if view.text[before].isspace():
            reader.at += 1
        elif not reader.continuation():
            words.extend(reader.read())
            reader.at = max(reader.at, before + 1)
    return words
