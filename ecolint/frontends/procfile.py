"""The Procfile front-end: one command a line, behind the name of its process."""

import re

from ecolint.document import Document, whole
from ecolint.facts import Facts, Role
from ecolint.shell import Scope, read_script

_PROCESS = re.compile(r"^[ \t]*([\w.-]+):[ \t]*(\S[^\n]*)$", re.MULTILINE)


def read(document: Document) -> Facts:
    """The facts of a Procfile."""
    view = whole(document)
    scope = Scope(view.text)
    facts = Facts()
    for found in _PROCESS.finditer(view.text):
        role = Role.SERVICE if found.group(1) != "release" else Role.INFERENCE
        scope.enter("subshell")
        facts.items += read_script(view, role, scope=scope, start=found.start(2), end=found.end(2))
        while scope.innermost:
            scope.leave()
    return facts
