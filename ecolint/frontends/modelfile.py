"""The Modelfile front-end: which GGUF model Ollama is to serve.

Its quantisations are not those that figures exist for, so the load says only what runs.
"""

import re

from ecolint.diagnostics import Span
from ecolint.document import Document
from ecolint.facts import Facts, ModelLoad, Role, Setting, State, Via

_FROM = re.compile(r"^[ \t]*FROM[ \t]+(\S+)", re.MULTILINE | re.IGNORECASE)
_CONTEXT = re.compile(
    r"^[ \t]*PARAMETER[ \t]+num_ctx[ \t]+(\d{1,9})\b", re.MULTILINE | re.IGNORECASE
)


def read(document: Document) -> Facts:
    """The model that a Modelfile starts from."""
    found = _FROM.search(document.text)
    if found is None:
        return Facts()
    span = Span(found.start(1), found.end(1))
    model = Setting(State.KNOWN, found.group(1), span, Via.LITERAL, "FROM", (), None, span)
    size = _CONTEXT.search(document.text)
    context: Setting[int] = Setting()
    if size is not None:
        place = Span(size.start(), size.end())
        context = Setting(State.KNOWN, int(size.group(1)), place, Via.LITERAL, "num_ctx")
    load = ModelLoad(
        span,
        "ollama",
        "ollama",
        model=model,
        quantization_unknown=True,
        context=context,
        generates=True,
        role=Role.SERVICE,
    )
    return Facts([load])
