"""The `.env` front-end: environment variables without a program.

Only names that decide by themselves are read: bitsandbytes' own options, the switches that
turn compilation off, and Text Generation Inference's pair of MODEL_ID and QUANTIZE.
"""

import re
from typing import Any

from ecolint.commands import read_container
from ecolint.dialects.engines import TGI
from ecolint.document import Document, whole
from ecolint.environment import variable
from ecolint.facts import Facts, Role, Setting
from ecolint.shell import Scope, Syntax
from ecolint.shellscope import Piece, word_of
from ecolint.shellwords import WordReader

_LINE = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.]*)[ \t]*=[ \t]*", re.MULTILINE)


def read(document: Document) -> Facts:
    """The facts of a file of environment variables."""
    view = whole(document)
    scope = Scope(view.text)
    env: dict[str, Setting[Any]] = {}
    for found in _LINE.finditer(view.text):
        end = view.text.find("\n", found.end())
        end = len(view.text) if end < 0 else end
        reader = WordReader(view, scope, Syntax.SHELL, found.end(), end)
        fields = reader.fields() or ((Piece(""),),)
        name = found.group(1)
        scope.assign(name, fields[:1])
        word = word_of(fields[0], view, found.end(), reader.at)
        key = view.span(found.start(1), found.end(1))
        env[name] = variable(name, word, view.span(found.start(1), reader.at), key)
    quantize = env.get("QUANTIZE", Setting())
    served = "MODEL_ID" in env and quantize.known and quantize.value in TGI.schemes
    image = TGI.images[0] if served else ""
    return Facts(read_container((), (), env, image, Role.INFERENCE))
