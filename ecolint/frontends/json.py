"""The JSON front-end: plain, with comments, or one value a line."""

import re
from functools import cache

from ecolint.diagnostics import Span
from ecolint.document import Document, View, whole
from ecolint.facts import Fact, Facts, Unanalysed
from ecolint.frontends import configs
from ecolint.frontends.mapping import Entry, Form, Node, Source, Syntax
from ecolint.jsontext import JSONError, unescape
from ecolint.jsontext import Node as Written
from ecolint.jsontext import parse as parse_json

_LINES = (".jsonl", ".ndjson", ".jsonlines")
_TEMPLATE = re.compile(r"\{\{|\{%")
# In a file of data only the most telling keys count.
_LARGE = 1_000_000
_TELLING = re.compile(
    r'"(?:_?load_in_[48]bit|quantization_config|quantization_bit|quantize|quantization|use_cache'
    r"|batch_size|max_batch_size|max_num_seqs|enforce_eager|enable_prefix_caching|disable_compile"
    r"|disable_cuda_graph|disable_radix_cache|max_running_requests|max_ongoing_requests"
    r'|QUANTIZE|HF_MODEL_QUANTIZE|LOAD_IN_[48]BIT)"\s*:'
)


@cache
def _any_key() -> re.Pattern[str]:
    """Finds a key that some family of settings wants to see, in any spelling."""
    names = {name for keys in configs.FAMILIES.values() for name in keys}
    spelled = "|".join(re.escape(name).replace("_", "[-_]?") for name in sorted(names))
    return re.compile(rf'"_?(?:{spelled})"\s*:', re.IGNORECASE)


def _holds_key(text: str) -> bool:
    pattern = _any_key() if len(text) <= _LARGE else _TELLING
    return pattern.search(text) is not None


def read(document: Document) -> Facts:
    """The facts of a JSON file; text that is no JSON is told as not analysed."""
    if document.path.lower().endswith("pipfile.lock"):
        from ecolint.frontends import lockfiles

        return lockfiles.read(document)
    view = whole(document)
    if not _holds_key(view.text):
        return Facts()
    source, failures = parse(view, document.path)
    return Facts([*configs.recognise(document, source), *failures])


def parse(view: View, path: str) -> tuple[Source, list[Fact]]:
    """The trees of a JSON text, and the note about what is none."""
    source = Source(view, Syntax.JSON, view.text)
    if path.lower().endswith(_LINES):
        return source, _lines(source)
    try:
        # Comments are tried at once: what is JSON without them is JSON with them.
        source.roots.append(_tree(source, parse_json(view.text, comments=True)))
    except JSONError as error:
        if "after the end" in str(error) and "\n" in view.text.strip():
            failures = _lines(source)
            if source.roots:
                return source, failures
        return source, _failure(view, error, 0)
    return source, []


def _lines(source: Source) -> list[Fact]:
    """Read each line that holds a key of ours as a value of its own."""
    failures: list[Fact] = []
    text = source.view.text
    for line in re.finditer(r"[^\r\n]+", text):
        if not _TELLING.search(line.group()):
            continue
        try:
            source.roots.append(_tree(source, parse_json(line.group()), line.start()))
        except JSONError as error:
            failures = failures or _failure(source.view, error, line.start())
    return failures


def _failure(view: View, error: JSONError, base: int) -> list[Fact]:
    if _TEMPLATE.search(view.text):
        return []
    at = view.at(min(base + error.offset, len(view.text)))
    line = view.document.locate(at).row
    return [Unanalysed(Span(at, at), f"not valid JSON in line {line}: {error}", "mend that line")]


def _tree(source: Source, root: Written, base: int = 0) -> Node:
    """The same tree in the shape that all syntaxes share."""
    top = _node(root, base)
    stack = [(root, top)]
    while stack:
        written, node = stack.pop()
        source.nodes += 1
        for name, value in written.members:
            child = _node(value, base)
            key = unescape(name)[0]
            entry = Entry(key, name.start + base, name.end + base, child, node)
            child.holder = entry
            node.entries.append(entry)
            stack.append((value, child))
        for item in written.items:
            child = _node(item, base)
            node.items.append(child)
            stack.append((item, child))
    return top


def _node(written: Written, base: int) -> Node:
    start, end = written.start + base, written.end + base
    if written.kind == "object":
        return Node(Form.MAPPING, start, end, flow=True)
    if written.kind == "array":
        return Node(Form.LIST, start, end, flow=True)
    if written.kind == "string":
        text = unescape(written)[0]
        return Node(Form.SCALAR, start, end, text, text, '"')
    text = written.text[written.start : written.end]
    known = written.value is not None or text == "null"
    return Node(Form.SCALAR, start, end, written.value, text, "", known)
