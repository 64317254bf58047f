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
    Kind.SYSTEMD: "ecolint.frontends.systemd",
    Kind.PBTXT: "ecolint.frontends.pbtxt",
    Kind.MODELFILE: "ecolint.frontends.modelfile",
    Kind.TERRAFORM: "ecolint.frontends.terraform",
    Kind.REQUIREMENTS: "ecolint.frontends.requirements",
    Kind.TOML: "ecolint.frontends.toml",
    Kind.INI: "ecolint.frontends.setupfiles",
    Kind.CONDA_LOCK: "ecolint.frontends.lockfiles",
}


def read(document: Document) -> Facts:
    """Read a document with the front-end of its kind; no facts where none reads that kind.

    Raises:
        UnreadableError: the text is not what its kind says.
    """
    facts = Facts()
    for name in _readers(document):
        facts.items += import_module(name).read(document).items
    return facts


def _readers(document: Document) -> list[str]:
    """The reader of a document's kind, or the ones of what it holds besides or instead."""
    kind, text = document.kind, document.text
    name = document.path.replace("\\", "/").rpartition("/")[2]
    if kind is Kind.JSON and name == "Pipfile.lock":
        return ["ecolint.frontends.lockfiles"]
    if kind is Kind.YAML and "dependencies:" in text:
        from ecolint.frontends import conda

        if conda.claims(document):
            return ["ecolint.frontends.conda"]
    found = [READERS[kind]] if kind in READERS else []
    if kind is Kind.PYTHON and "# /// script" in text:
        found.append("ecolint.frontends.pep723")
    if kind is Kind.PYTHON and name == "setup.py":
        found.append("ecolint.frontends.setupfiles")
    return found
