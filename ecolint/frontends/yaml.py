"""The YAML front-end: documents into trees with places, templates survived.

Built from libyaml's events by way of PyYAML, not its composer: events keep the marks of keys
and quotes, never construct a tag, cost a tenth, and leave the depth to us.
"""

import re
from typing import Any

from ecolint.document import Document, View, whole
from ecolint.facts import Fact, Facts, Unanalysed
from ecolint.frontends.mapping import PLACEHOLDER, Anchored, Entry, Form, Node, Source, Syntax

MAX_DEPTH = 500
MAX_TEXT = 16_000_000
_DOCUMENT = re.compile(r"^---(?=[ \t\r\n]|$)|^\.\.\.[ \t]*$", re.MULTILINE)
_SCHEMA = re.compile(r"^kind:[ \t]*[\"']?CustomResourceDefinition\b", re.MULTILINE)
_TEMPLATE = re.compile(r"\{\{|\{%|\{#")
_TAG_LINE = re.compile(
    r"^[ \t]*(?:\{\{-?[ \t]*(?:/\*.*?\*/|(?:if|else|end|range|with|define|template|include|block"
    r"|toYaml|tpl|fail|printf|\$\w+[ \t]*:?=)\b[^}]*)-?\}\}|\{%.*?%\}|\{#.*?#\})[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_TAG = re.compile(r"\$?\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_BLOCK = re.compile(
    r"\{[{%]-?[ \t]*(?:(?P<open>if|with|range|define|block|for)\b.*?|(?P<close>end\w*)[ \t]*)"
    r"-?[%}]\}",
    re.DOTALL,
)
_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*\s+)*")
_STRING_TAG = "tag:yaml.org,2002:str"
_CORE_TAGS = {
    _STRING_TAG,
    *(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null")),
}

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUTHS = {
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][\d_]*)")
_FLOAT = re.compile(r"[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?")


def read(document: Document) -> Facts:
    """The facts of a YAML file.

    A document inside it that is no YAML is told as not analysed, unless it is a template.
    """
    from ecolint.frontends import conda, configs

    if conda.claims(document):
        return conda.read(document)
    view = whole(document)
    source, failures = parse(view)
    return Facts([*configs.recognise(document, source), *failures])


def parse(view: View) -> tuple[Source, list[Fact]]:
    """The trees of all documents that hold a word of ours, and the notes about broken ones."""
    from ecolint.document import Kind
    from ecolint.gate import matters

    failures: list[Fact] = []
    text = view.text
    template = bool(_TEMPLATE.search(text))
    if template:
        text = _without_templates(text)
    source = Source(view, Syntax.YAML, text)
    if len(text) > MAX_TEXT:
        note = f"a YAML file of {len(text) // 1_000_000} MB"
        return source, [Unanalysed(view.span(0, 0), note, "exclude it, or split it up")]
    for start, end in _documents(text):
        part = text[start:end]
        if not part.strip() or _SCHEMA.search(part):
            continue
        if len(part) < len(text) and not matters(Kind.YAML, part.encode("utf-8", "replace")):
            continue
        failure = _Builder(source, part, start).build()
        if failure is not None and not template:
            failures.append(failure)
    return source, failures


def _documents(text: str) -> list[tuple[int, int]]:
    """The stretches between `---` and `...`; all of it where directives rule the tags."""
    if text.startswith("%"):
        return [(0, len(text))]
    found: list[tuple[int, int]] = []
    start = 0
    for mark in _DOCUMENT.finditer(text):
        found.append((start, mark.start()))
        start = mark.end()
    found.append((start, len(text)))
    return found


def _without_templates(text: str) -> str:
    """The same text, as long, with template lines blank and expressions as variables."""

    def blank(found: re.Match[str]) -> str:
        return _blank(found.group())

    def variable(found: re.Match[str]) -> str:
        written = found.group()
        if "\n" in written or not written.startswith(("{{", "${{")):
            return blank(found)
        return PLACEHOLDER + "_" * (len(written) - len(PLACEHOLDER))

    for start, end in _conditional(text):
        inner = text[start:end]
        inner = _blank(inner) if "\n" in inner else PLACEHOLDER + "_" * (end - start - 4)
        text = text[:start] + inner + text[end:]
    return _TAG.sub(variable, _TAG_LINE.sub(blank, text))


def _blank(text: str) -> str:
    """As many blanks, line ends kept."""
    return re.sub(r"[^\r\n]", " ", text)


def _conditional(text: str) -> list[tuple[int, int]]:
    """The stretches that a template writes only if something holds, whole documents aside.

    What stands in them may never come to be, so nothing is said about it.
    """
    found: list[tuple[int, int]] = []
    stack: list[tuple[str, int, int]] = []
    for tag in _BLOCK.finditer(text):
        if tag.group("open"):
            stack.append((tag.group("open"), tag.start(), tag.end()))
        elif stack:
            kind, start, behind = stack.pop()
            body = text[behind : tag.start()]
            top = "\n" in body and re.search(r"^[^\s{#]", body, re.MULTILINE)
            if kind == "if" and not top:
                found.append((start, tag.end()))
    return found


class _Builder:
    """Makes one document's tree from its events."""

    def __init__(self, source: Source, text: str, base: int) -> None:
        self._source = source
        self._text = text
        self._base = base
        self._anchors: dict[str, Node] = {}
        self._readers: dict[int, int] = {}
        self._open: list[Node] = []
        self._keys: list[Node | None] = []
        self._roots: list[Node] = []
        self._last = base  # where the last token ended

    def build(self) -> Unanalysed | None:
        """Add the document's root to the source; a note where reading stopped."""
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        failure: Unanalysed | None = None
        try:
            for event in yaml.parse(self._text, Loader=loader):
                failure = self._take(event)
                if failure is not None:
                    break
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            failure = self._note(mark.index if mark is not None else 0, error.problem)
        except (yaml.YAMLError, UnicodeError) as error:
            failure = self._note(
                getattr(error, "position", 0) or 0, "a character that YAML forbids"
            )
        self._source.roots += self._roots
        self._share()
        return failure

    def _note(self, index: object, problem: str | None) -> Unanalysed:
        at = index if isinstance(index, int) else 0
        at = self._base + min(max(at, 0), len(self._text))
        line = self._source.view.document.locate(self._source.view.at(at)).row
        reason = f"not valid YAML in line {line}: {problem or 'it ends too early'}"
        return Unanalysed(self._source.view.span(at, at), reason, "mend that line")

    def _take(self, event: Any) -> Unanalysed | None:
        name = type(event).__name__
        if name == "ScalarEvent":
            self._attach(self._scalar(event), event.anchor)
        elif name in ("MappingStartEvent", "SequenceStartEvent"):
            if len(self._open) >= MAX_DEPTH:
                return self._note(event.start_mark.index, f"nested more than {MAX_DEPTH} deep")
            form = Form.MAPPING if name == "MappingStartEvent" else Form.LIST
            begin = self._behind_properties(event)
            node = Node(form, begin, begin, flow=bool(event.flow_style))
            self._attach(node, event.anchor)
            self._open.append(node)
            self._keys.append(None)
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            self._close(event)
        elif name == "AliasEvent":
            self._last = self._base + event.end_mark.index
            self._attach(self._alias(event), None)
        return None

    def _behind_properties(self, event: Any) -> int:
        """Where the value itself starts, its anchor and tag passed over."""
        start = event.start_mark.index
        if event.anchor is None and event.tag is None:
            return self._base + int(start)
        found = _PROPERTIES.match(self._text, start)
        return self._base + int(found.end() if found else start)

    def _scalar(self, event: Any) -> Node:
        self._source.nodes += 1
        begin, end = self._behind_properties(event), self._base + event.end_mark.index
        style = event.style or ""
        text = str(event.value)
        value: Any = text
        known = True
        if event.tag is not None:
            known = event.tag in _CORE_TAGS
            value = text if event.tag == _STRING_TAG else typed(text)
        elif not style and event.implicit[0]:
            value = typed(text)
        if begin > end:
            begin = end
        if style in ("|", ">"):
            # The mark stands behind blank lines that belong to nobody.
            body = self._text[begin - self._base : end - self._base]
            end = begin + len(body.rstrip())
        self._last = end
        return Node(Form.SCALAR, begin, end, value, text, style, known)

    def _alias(self, event: Any) -> Node:
        begin, end = self._base + event.start_mark.index, self._base + event.end_mark.index
        target = self._anchors.get(event.anchor)
        if target is None or target in self._open:
            return Node(Form.SCALAR, begin, end, None, "", known=False, aliased=True)
        if target.form is Form.SCALAR:
            return Node(
                Form.SCALAR, begin, end, target.value, target.text, "", target.known, aliased=True
            )
        self._readers[id(target)] = self._readers.get(id(target), 0) + 1
        return target

    def _attach(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            self._roots.append(node)
            return
        parent = self._open[-1]
        if parent.form is Form.LIST:
            parent.items.append(node)
            return
        key = self._keys[-1]
        if key is None:
            self._keys[-1] = node
            return
        self._keys[-1] = None
        if key.text == "<<" and not key.style and node.form is not Form.SCALAR:
            self._merge(parent, node)
            return
        entry = Entry(key.text, key.start, key.end, node, parent)
        if node.aliased or node.start < key.end:
            entry.tail = self._last
        if node.holder is None:
            node.holder = entry
        # The entries of a merge stand first, so that the mapping's own win.
        parent.entries.append(entry)

    def _merge(self, parent: Node, node: Node) -> None:
        bases = [node] if node.form is Form.MAPPING else reversed(node.items)
        merged = {entry.key: entry for base in bases for entry in base.entries}
        self._source.nodes += len(merged)
        parent.entries[:0] = merged.values()

    def _close(self, event: Any) -> None:
        node = self._open.pop()
        self._keys.pop()
        self._source.nodes += 1
        if node.flow:
            self._last = self._base + event.end_mark.index
        node.end = self._last

    def _share(self) -> None:
        for name, node in self._anchors.items():
            aliases = self._readers.get(id(node), 0)
            if aliases and node.form is not Form.SCALAR:
                holder = node.holder
                key = holder.key if holder is not None else name
                own = 0 if key.startswith(("x-", ".", "_")) else 1
                self._source.shared.append(Anchored(node.start, node.end, aliases + own))


def typed(text: str) -> Any:
    """A plain scalar's value by YAML 1.1, as PyYAML's readers have it."""
    if text in _NULLS:
        return None
    if text in _TRUTHS:
        return _TRUTHS[text]
    try:
        if _INTEGER.fullmatch(text):
            return int(text.replace("_", ""))
        if _FLOAT.fullmatch(text):
            return float(text.replace("_", ""))
    except ValueError:
        return text
    return text
