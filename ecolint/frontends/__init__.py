"""Front-ends: one a kind of file, each turning a document into facts.

Named as text and imported when the first file of their kind passes the gate.
"""

from importlib import import_module

from ecolint.document import Document, Kind
from ecolint.facts import Facts

# kind → module with `read(document) -> Facts`
READERS = {
    Kind.PYTHON: "ecolint.frontends.python",
    Kind.NOTEBOOK: "ecolint.frontends.notebook",
    Kind.YAML: "ecolint.frontends.yaml",
    Kind.JSON: "ecolint.frontends.json",
    Kind.SHELL: "ecolint.frontends.shellscript",
    Kind.BATCH: "ecolint.frontends.windows",
    Kind.DOCKERFILE: "ecolint.frontends.dockerfile",
    Kind.MAKEFILE: "ecolint.frontends.makefile",
    Kind.DOTENV: "ecolint.frontends.dotenv",
    Kind.PROCFILE: "ecolint.frontends.procfile",
    Kind.PBTXT: "ecolint.frontends.pbtxt",
    Kind.MODELFILE: "ecolint.frontends.modelfile",
    Kind.TERRAFORM: "ecolint.frontends.terraform",
    Kind.REQUIREMENTS: "ecolint.frontends.requirements",
    Kind.TOML: "ecolint.frontends.toml",
}


def read(document: Document) -> Facts:
    """Read a document with the front-end of its kind; no facts where none reads that kind.

    Raises:
        UnreadableError: the text is not what its kind says.
    """
    name = READERS.get(document.kind)
    if name is None:
        return Facts()
    facts: Facts = import_module(name).read(document)
    return facts
