"""Edits of Python source: only the tokens that must change, comments and layout kept."""

import re
from collections.abc import Mapping, Sequence

import libcst as cst

from ecolint.diagnostics import Edit
from ecolint.facts import (
    Change,
    Drop,
    KeepResult,
    Modernise,
    Respell,
    Set,
)
from ecolint.frontends.python.options import Given, Options
from ecolint.frontends.python.program import Program, dotted

_CONFIG = "BitsAndBytesConfig"
BNB_OPTIONS = re.compile(r"^(load_in_[48]bit|llm_int8_\w+|bnb_4bit_\w+)$")


def literal(value: object, like: str = "") -> str:
    """A value as Python source; strings with the quotes that `like` uses."""
    if isinstance(value, str):
        quote = like[-1:] if like[-1:] in ("'", '"') else '"'
        return f"{quote}{value}{quote}"
    return repr(value)


class CallEditor:
    """Changes the options of one call, wherever each of them was given.

    Args:
        program: the program that holds the call.
        call: the call that an added option goes to.
        options: what it is given now.
        names: fact field → option name, as this callee spells it.
        anchor: the option after which a new one is put.
        floor: text for `Drop("quantization")`: what takes its place, so that a model does not
            load in float32 once its quantisation is gone.
    """

    def __init__(
        self,
        program: Program,
        call: cst.Call,
        options: Options,
        names: Mapping[str, str],
        anchor: str = "",
        floor: str = "",
    ) -> None:
        """Remember the call; nothing is computed until a rule asks."""
        self.program = program
        self.call = call
        self.options = options
        self.names = names
        self.anchor = anchor
        self.floor = floor

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """See `ecolint.facts.Editor`."""
        found: list[Edit] = []
        for change in changes:
            made = self._one(change)
            if made is None:
                return None
            found.extend(made)
        return tuple(found)

    def _one(self, change: Change) -> list[Edit] | None:
        if isinstance(change, Respell):
            edit = Edit(change.span, change.text)
            return [edit] if self.program.view.writable else None
        if isinstance(change, Set):
            name = self.names.get(change.option)
            return self._set(name, change.value) if name is not None else None
        if isinstance(change, Drop):
            if change.option == "quantization":
                return self._unquantise()
            return self._drop(self.names.get(change.option, change.option))
        if isinstance(change, Modernise):
            return self._modernise(dict(change.options))
        if isinstance(change, KeepResult):
            return self._keep_result()
        return None

    # --- setting -----------------------------------------------------------------------

    def _set(self, name: str, value: object) -> list[Edit] | None:
        given = self.options.given.get(name)
        if given is None:
            return self._insert(name, literal(value))
        text = literal(value, self.program.source(given.value))
        return self._replace(given.value, text)

    def _replace(self, node: cst.CSTNode, text: str) -> list[Edit] | None:
        start, end = self.program.span(node)
        edit = self.program.view.edit(start, end, text)
        return [edit] if edit else None

    def _insert(self, name: str, text: str) -> list[Edit] | None:
        anchor = self.options.given.get(self.anchor)
        if anchor is None:
            anchor = next(reversed(self.options.given.values()), None)
        if anchor is None:
            # Nothing but positional arguments; a keyword may follow any of them.
            last = self.call.args[-1] if self.call.args else None
            return self._after(last, f"{name}={text}") if last is not None else None
        if isinstance(anchor.holder, cst.DictElement):
            quote = self.program.source(anchor.holder.key)[-1:]
            if quote not in "'\"":
                return None
            return self._after(anchor.holder, f"{quote}{name}{quote}: {text}")
        holder = anchor.holder
        if not isinstance(holder, cst.Arg):
            # Given by a field or an item elsewhere: say it at the call itself.
            if not self.call.args or self.options.open:
                return None
            holder = self.call.args[-1]
        return self._after(holder, f"{name}={text}")

    def _after(self, holder: "cst.Arg | cst.DictElement", text: str) -> list[Edit] | None:
        """Put an argument or entry behind another, on a line of its own where it has one."""
        view = self.program.view
        start, _ = self.program.span(_first(holder))
        _, end = self.program.span(holder.value)
        end = _past_parentheses(view.text, holder.value, end)
        head = _line_start(view.text, start)
        indent = view.text[head:start]
        tail = re.compile(r"[ \t]*(,?)[ \t]*(#[^\r\n]*)?(\r\n|\r|\n)").match(view.text, end)
        if indent.strip() or tail is None:
            edit = view.edit(end, end, f", {text}")
            return [edit] if edit else None
        comma = "" if tail.group(1) else ","
        edits = [view.edit(end, end, comma)] if comma else []
        edits.append(view.edit(tail.end(), tail.end(), f"{indent}{text},\n"))
        return None if None in edits else [edit for edit in edits if edit]

    # --- removing ----------------------------------------------------------------------

    def _drop(self, name: str) -> list[Edit] | None:
        given = self.options.given.get(name)
        return self._remove(given) if given is not None else None

    def _remove(self, given: Given) -> list[Edit] | None:
        """Take an argument or entry out with its comma, and its line where it had one."""
        stretch = self._stretch(given)
        return self._cut(*stretch) if stretch is not None else None

    def _stretch(self, given: Given) -> tuple[int, int] | None:
        """Where an argument or entry begins and ends; None where it is neither."""
        holder = given.holder
        if not isinstance(holder, (cst.Arg, cst.DictElement)):
            return None
        start, _ = self.program.span(_first(holder))
        _, end = self.program.span(holder.value)
        return start, _past_parentheses(self.program.view.text, holder.value, end)

    def _cut(self, start: int, end: int) -> list[Edit] | None:
        view = self.program.view
        text = view.text
        after = re.compile(r"\s*,").match(text, end)
        line = _line_start(text, start)
        stop = after.end() if after else end
        rest = re.compile(r"[ \t]*(\r\n|\r|\n)").match(text, stop)
        if not text[line:start].strip() and rest and text[line - 1 : line] in ("\n", "\r"):
            begin, stop = line, rest.end()
        elif after is not None:
            begin = start
            stop = re.compile(r"[ \t]*").match(text, after.end()).end()  # type: ignore[union-attr]
            if text[stop : stop + 1] in (")", "}", "]"):
                begin, stop = _before_comma(text, start), after.end() - 1
                stop = end if text[begin:start].lstrip().startswith(",") else after.end()
        else:
            begin, stop = _before_comma(text, start), end
        edit = view.edit(begin, stop, "")
        return [edit] if edit else None

    def _remove_all(self, given: Sequence[Given]) -> list[Edit] | None:
        """Take several arguments out at once; neighbours would claim the same comma."""
        runs: list[tuple[int, int]] = []
        for one in given:
            stretch = self._stretch(one)
            if stretch is None:
                return None
            runs.append(stretch)
        runs.sort()
        merged = runs[:1]
        for start, end in runs[1:]:
            if not self.program.view.text[merged[-1][1] : start].strip(", \t\r\n"):
                merged[-1] = (merged[-1][0], end)
            else:
                merged.append((start, end))
        cuts = [self._cut(*run) for run in merged]
        return None if None in cuts else [edit for cut in cuts for edit in cut or ()]

    def _unquantise(self) -> list[Edit] | None:
        """Load in 16 bit: drop what quantises, and see that the dtype is not float32."""
        names = [n for n in self.options.given if BNB_OPTIONS.match(n)]
        names += [n for n in self.names.get("quantization", "").split() if n]
        present = [n for n in dict.fromkeys(names) if n in self.options.given]
        if not present:
            return None
        edits: list[Edit] = []
        neighbours = [self.options.given[n] for n in present]
        if not self.floor and len(neighbours) > 1:
            return self._remove_all(neighbours)
        floor = self.floor
        if any(n in self.options.given for n in ("dtype", "torch_dtype")):
            floor = ""
        for name in present:
            given = self.options.given[name]
            if floor and isinstance(given.holder, cst.Arg) and given.key is not None:
                start, _ = self.program.span(given.key)
                _, end = self.program.span(given.value)
                edit = self.program.view.edit(
                    start, _past_parentheses(self.program.view.text, given.value, end), floor
                )
                made = [edit] if edit else None
                floor = ""
            else:
                made = self._remove(given)
            if made is None:
                return None
            edits.extend(made)
        return None if floor else edits

    # --- modernising -------------------------------------------------------------------

    def _modernise(self, extra: dict[str, object]) -> list[Edit] | None:
        """`load_in_8bit=True` on a load → `quantization_config=BitsAndBytesConfig(…)`."""
        moved = [
            (n, g)
            for n, g in self.options.given.items()
            if BNB_OPTIONS.match(n) and isinstance(g.holder, (cst.Arg, cst.DictElement))
        ]
        flags = [(n, g) for n, g in moved if n.startswith("load_in_")]
        if not flags or "quantization_config" in self.options.given:
            return None
        name, edits = self._config_name()
        if edits is None:
            return None
        spelled = {self.names.get(field, field): value for field, value in extra.items()}
        condition = ""
        inner: list[str] = []
        for option, given in moved:
            source = self.program.source(given.value)
            if option.startswith("load_in_") and source != "True":
                if source in ("False", "None"):
                    continue
                if len(flags) > 1 or not _is_simple(given.value):
                    return None
                condition, source = f" if {source} else None", "True"
            if option in spelled:
                source = literal(spelled.pop(option))
            inner.append(f"{option}={source}")
        inner += [f"{option}={literal(value)}" for option, value in spelled.items()]
        config = f"{name}({', '.join(inner)}){condition}"
        first = next(g for n, g in flags if self.program.source(g.value) not in ("False", "None"))
        holder = first.holder
        start, _ = self.program.span(_first(holder))
        _, end = self.program.span(first.value)
        if isinstance(holder, cst.DictElement):
            quote = self.program.source(holder.key)[-1:]
            text = f"{quote}quantization_config{quote}: {config}"
        else:
            text = f"quantization_config={config}"
        edit = self.program.view.edit(start, end, text)
        if edit is None:
            return None
        edits.append(edit)
        for _, given in moved:
            if given is not first:
                removed = self._remove(given)
                if removed is None:
                    return None
                edits.extend(removed)
        return edits

    def _config_name(self) -> tuple[str, list[Edit] | None]:
        """How BitsAndBytesConfig is called here, and the import that it may need."""
        bindings = self.program.root.bindings
        for name, group in bindings.items():
            if any(b.target == f"transformers.{_CONFIG}" for b in group):
                return name, []
        for name, group in bindings.items():
            if any(b.target == "transformers" for b in group):
                return f"{name}.{_CONFIG}", []
        if "transformers" in self.program.root.stars:
            return _CONFIG, []
        return _CONFIG, self._import()

    def _import(self) -> list[Edit] | None:
        view = self.program.view
        statements = [
            (line, part)
            for line in self.program.module.body
            if isinstance(line, cst.SimpleStatementLine)
            for part in line.body
        ]
        for _, part in statements:
            if (
                isinstance(part, cst.ImportFrom)
                and dotted(part.module) == "transformers"
                and not part.relative
                and not isinstance(part.names, cst.ImportStar)
            ):
                return self._extend_import(part.names)
        new = f"from transformers import {_CONFIG}\n"
        after: cst.CSTNode | None = None
        before: cst.CSTNode | None = None
        for line, part in statements:
            module = _imported(part)
            if module is None:
                if before is None and after is None and _is_docstring(part):
                    after = line
                continue
            if module == "__future__" or module < "transformers" or after is None:
                after = line
            elif before is None:
                before = line
        if after is not None:
            _, end = self.program.span(after)
            at = _next_line(view.text, end)
            if at is None:
                edit = view.edit(end, end, f"\n{new.rstrip()}")
                return [edit] if edit else None
        elif self.program.module.body:
            at = self.program.span(self.program.module.body[0])[0]
        else:
            return None
        edit = view.edit(at, at, new)
        return [edit] if edit else None

    def _extend_import(self, names: Sequence[cst.ImportAlias]) -> list[Edit] | None:
        view = self.program.view
        following = next(
            (n for n in names if _import_order(dotted(n.name)) > _import_order(_CONFIG)), None
        )
        if following is not None:
            start, _ = self.program.span(following)
            head = view.text[_line_start(view.text, start) : start]
            alone = not head.strip() and len(names) > 1
            edit = view.edit(start, start, f"{_CONFIG},\n{head}" if alone else f"{_CONFIG}, ")
            return [edit] if edit else None
        last = names[-1]
        start, end = self.program.span(last.name, last.asname or last.name)
        head = view.text[_line_start(view.text, start) : start]
        alone = not head.strip() and bool(head)
        edit = view.edit(end, end, f",\n{head}{_CONFIG}" if alone else f", {_CONFIG}")
        return [edit] if edit else None

    def _keep_result(self) -> list[Edit] | None:
        """`torch.compile(model)` as a statement → `model = torch.compile(model)`."""
        target = next((a.value for a in self.call.args if a.keyword is None and not a.star), None)
        if not isinstance(target, (cst.Name, cst.Attribute)) or not dotted(target):
            return None
        start, _ = self.program.span(self.call)
        edit = self.program.view.edit(start, start, f"{dotted(target)} = ")
        return [edit] if edit else None


class TextEditor:
    """Replaces one expression (an id, a literal) by ready-made text, by option name."""

    def __init__(self, program: Program, node: cst.CSTNode, texts: Mapping[Change, str]) -> None:
        """`texts` maps each change that is possible here to the new source of `node`."""
        self.program = program
        self.node = node
        self.texts = texts

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """See `ecolint.facts.Editor`."""
        start, end = self.program.span(self.node)
        found = []
        for change in changes:
            text = self.texts.get(change)
            edit = self.program.view.edit(start, end, text) if text is not None else None
            if edit is None:
                return None
            found.append(edit)
        return tuple(found)


def _first(holder: cst.CSTNode) -> cst.CSTNode:
    if isinstance(holder, cst.Arg):
        return holder.keyword or holder.value
    return holder.key if isinstance(holder, cst.DictElement) else holder


def _is_simple(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call))


def _past_parentheses(text: str, node: cst.BaseExpression, end: int) -> int:
    """The end of an expression with the parentheses around it, which its position leaves out."""
    for _ in getattr(node, "rpar", ()):
        closing = re.compile(r"\s*\)").match(text, end)
        end = closing.end() if closing else end
    return end


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _next_line(text: str, at: int) -> int | None:
    found = re.compile(r"[^\r\n]*(\r\n|\r|\n)").match(text, at)
    return found.end() if found else None


def _before_comma(text: str, start: int) -> int:
    """The start of the comma (and space) before an argument; the argument itself if none."""
    found = re.search(r",\s*$", text[:start])
    return found.start() if found else start


def _imported(part: cst.CSTNode) -> str | None:
    if isinstance(part, cst.ImportFrom):
        return "." if part.relative else dotted(part.module)
    if isinstance(part, cst.Import):
        return dotted(part.names[0].name)
    return None


def _is_docstring(part: cst.CSTNode) -> bool:
    return isinstance(part, cst.Expr) and isinstance(
        part.value, (cst.SimpleString, cst.ConcatenatedString)
    )


def _import_order(name: str) -> tuple[int, str]:
    """isort's order inside a from-import: constants, classes, then the rest."""
    if name.isupper() and len(name) > 1:
        return (0, name)
    return (1, name) if name[:1].isupper() else (2, name)
