"""Turn a loop of single calls into one call with the whole list.

`for p in prompts: use(llm.generate(p, s)[0])` becomes
`for output in llm.generate(prompts, s): use(output)`; comprehensions likewise. Only where
the loop variable serves nothing but the call, and the call's one result is taken by `[0]`.
"""

import re

import libcst as cst

from ecolint.diagnostics import Edit
from ecolint.facts import BatchCalls, Change
from ecolint.frontends.python.editing import CallEditor
from ecolint.frontends.python.program import Place, Program

_FIRST = re.compile(r"\[\s*0\s*\]")
_NAMES = ("output", "result", "answer", "generated")


class LoopEditor:
    """The editor of a generating call; what is no `BatchCalls` goes to the call's own."""

    def __init__(self, program: Program, call: cst.Call, place: Place, inner: CallEditor) -> None:
        """Remember the call and the way to it."""
        self.program = program
        self.call = call
        self.place = place
        self.inner = inner

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """See `ecolint.facts.Editor`."""
        if changes == (BatchCalls(),):
            return self._batch()
        return self.inner.edits(*changes)

    def _batch(self) -> tuple[Edit, ...] | None:
        loop = next((f.node for f in self.place.frame.chain() if f.kind in ("for", "while")), None)
        found = self._parts(loop)
        if found is None or not self.call.args:
            return None
        target, items, body = found
        first = self.call.args[0]
        if first.star or not isinstance(first.value, cst.Name) or first.value.value != target.value:
            return None
        uses = re.findall(rf"\b{re.escape(target.value)}\b", self.program.source(body))
        name = next((n for n in _NAMES if not re.search(rf"\b{n}\b", self.program.text)), None)
        start, end = self.program.span(self.call)
        text = self.program.view.text
        taken = _FIRST.match(text, end)
        if len(uses) != 1 or name is None or taken is None:
            return None
        at, after = self.program.span(first.value)
        listed = text[start:at] + self.program.source(items) + text[after:end]
        view = self.program.view
        made = (
            view.edit(*self.program.span(target), name),
            view.edit(*self.program.span(items), listed),
            view.edit(start, taken.end(), name),
        )
        edits = tuple(edit for edit in made if edit is not None)
        return edits if len(edits) == len(made) else None

    @staticmethod
    def _parts(
        loop: cst.CSTNode | None,
    ) -> tuple[cst.Name, cst.BaseExpression, cst.CSTNode] | None:
        """A loop's variable, what it goes over, and its body; None for any other shape."""
        if isinstance(loop, cst.For):
            plain = loop.asynchronous is None and loop.orelse is None
            if plain and isinstance(loop.target, cst.Name):
                return loop.target, loop.iter, loop.body
        elif isinstance(loop, (cst.ListComp, cst.GeneratorExp, cst.SetComp)):
            clause = loop.for_in
            plain = not clause.ifs and clause.inner_for_in is None and clause.asynchronous is None
            if plain and isinstance(clause.target, cst.Name):
                return clause.target, clause.iter, loop.elt
        return None
