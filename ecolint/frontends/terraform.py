"""The Terraform front-end: GPU machines, and the scripts that they start with.

Read by pattern: python-hcl2 tells the lines of a block but not where a value stands, and
builds a tree for whole files of which one attribute matters.
"""

import re
from collections.abc import Mapping

from ecolint.diagnostics import Span
from ecolint.dialects.machines import MACHINE_ATTRIBUTES, kind_of_machine
from ecolint.document import Document, View, whole
from ecolint.facts import Fact, Facts, Hardware, Role
from ecolint.shell import read_script

_TOKEN = re.compile(
    r"#[^\n]*|//[^\n]*|/\*.*?\*/"
    r"|(?P<heredoc><<-?\s*(?P<end>\w+)[^\n]*\n)"
    r"|(?P<attribute>\b(?P<name>[a-z_]+)[ \t]*[=:][ \t]*(?P<value>\[[^][{}]*\]|[^\n#{}]*))"
    r"|\"(?:[^\"\\\n]|\\.)*\"",
    re.DOTALL,
)
_STRING = re.compile(r"\"([^\"\\\n]*)\"")
_REFERENCE = re.compile(r"\s*(?:var|local)\.(\w+)\s*$")
_VARIABLE = re.compile(r"\bvariable\s+\"(\w+)\"\s*\{[^{}]*?\bdefault\s*=\s*\"([^\"\\\n]*)\"")
_LOCAL = re.compile(r"^\s*(\w+)\s*=\s*\"([^\"\\\n]*)\"\s*$", re.MULTILINE)


def read(document: Document) -> Facts:
    """The GPU machines of a Terraform file, and the facts of its start-up scripts."""
    view = whole(document)
    text = view.text
    facts: list[Fact] = []
    defaults = _defaults(text)
    at = 0
    while found := _TOKEN.search(text, at):
        at = max(found.end(), at + 1)
        if found.group("heredoc"):
            at = _read_heredoc(view, found, facts)
        elif found.group("attribute") and found.group("name") in MACHINE_ATTRIBUTES:
            facts += _machines(defaults, found)
        elif found.group("attribute") and "<<" in found.group("value"):
            at = found.start("value") + found.group("value").index("<<")
    return Facts(facts)


def _read_heredoc(view: View, found: re.Match[str], facts: list[Fact]) -> int:
    """Read a heredoc that is a script; gives the place behind it."""
    last = re.compile(rf"^[ \t]*{found.group('end')}[ \t\r]*$", re.MULTILINE)
    end = last.search(view.text, found.end())
    if end is None:
        return found.end()
    body = view.part(found.end(), end.start())
    if body.text.lstrip().startswith("#!") and "sh" in body.text.lstrip().partition("\n")[0]:
        facts += read_script(body, Role.INFERENCE)
    return end.end()


def _machines(defaults: Mapping[str, tuple[str, Span]], found: re.Match[str]) -> list[Fact]:
    start = found.start("value")
    value = found.group("value")
    if reference := _REFERENCE.match(value):
        given = defaults.get(reference.group(1))
        return [] if given is None else _hardware(given[0], given[1])
    whole_strings = _STRING.sub("", value).strip()
    if whole_strings.strip("[], \t\r\n"):
        return []  # an expression, whose outcome we can't tell
    facts: list[Fact] = []
    for string in _STRING.finditer(value):
        span = Span(start + string.start(1), start + string.end(1))
        facts += _hardware(string.group(1), span)
    return facts


def _defaults(text: str) -> dict[str, tuple[str, Span]]:
    """The defaults of variables, and the texts that locals may be."""
    return {
        found.group(1): (found.group(2), Span(found.start(2), found.end(2)))
        for pattern in (_LOCAL, _VARIABLE)
        for found in pattern.finditer(text)
    }


def _hardware(label: str, span: Span) -> list[Fact]:
    kind = kind_of_machine(label)
    return [] if kind is None else [Hardware(span, label, kind)]
