"""Which branches of a program run by default.

A branch whose condition the file decides is taken or not; one that the file leaves open may
be a user's choice of precision, and then what stands in it is not what runs."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from ecolint.frontends.python.program import Frame, dotted
from ecolint.frontends.python.values import (
    Environment,
    Method,
    Unknown,
    Value,
    Where,
    plain,
    same,
    truth,
)

if TYPE_CHECKING:
    from ecolint.frontends.python.resolve import Resolver


# A condition that mentions one of these is a user's choice of precision, not a fact about
# the machine: what stands behind it runs only for those who ask for it.
CHOICE = re.compile(
    r"8[-_]?bit|4[-_]?bit|int8|int4|\bbits?\b|bits\b|quant|nf4|fp4|fp8|float8|low_?vram|bnb"
    r"|precision|bitsandbytes|load_in|\bq(4|8)\b|torchao|compress"
    r"|vram|gpu_?mem|total_memory|mem_get_info|free_mem|memory_allocated|get_device_properties",
    re.IGNORECASE,
)

# What runs after one of these runs only where memory was short.
_SHORTAGE = re.compile(r"OutOfMemory|MemoryError|\boom\b", re.IGNORECASE)


class Branches:
    """Judges conditions and the frames that they guard."""

    def __init__(self, resolver: "Resolver") -> None:
        """Remember the resolver; indexes are built when first needed."""
        self.resolver = resolver
        self._live: dict[Frame, bool | None] = {}

    def live(self, frame: Frame, env: Environment | None = None) -> bool | None:
        """Whether the branches around a place are taken: no, yes, or only perhaps (None)."""
        if env is None and frame in self._live:
            return self._live[frame]
        result: bool | None = True
        for part in frame.chain():
            taken = self._taken(part, env)
            if taken is False:
                result = False
                break
            if taken is None:
                result = None
        if env is None:
            self._live[frame] = result
        return result

    def doubts(self, frame: Frame) -> Iterable[cst.CSTNode]:
        """The conditions around a place that the file leaves open."""
        for part in frame.chain():
            if self._taken(part, None) is None:
                if part.test is not None:
                    yield part.test
                elif isinstance(part.node, cst.Match):
                    yield part.node.subject

    def opted(self, frame: Frame) -> bool:
        """Whether a place is reached only if a user chooses this very precision."""
        source = self.resolver.program.source
        short = any(
            part.kind == "except"
            and isinstance(part.node, cst.ExceptHandler)
            and part.node.type is not None
            and _SHORTAGE.search(source(part.node.type))
            for part in frame.chain()
        )
        return short or any(CHOICE.search(source(test)) for test in self.doubts(frame))

    def _taken(self, frame: Frame, env: Environment | None) -> bool | None:
        outer = Where(frame.parent or frame, frame.order, env)
        if frame.kind == "if" and frame.test is not None:
            verdict = self.test(frame.test, outer)
            return None if verdict is None else verdict is frame.truth
        if frame.kind == "case" and frame.case is not None and isinstance(frame.node, cst.Match):
            return self._case(frame.node, frame.case, outer)
        return True

    def test(self, node: cst.BaseExpression, where: Where) -> bool | None:
        """Whether a condition holds; None when the file leaves it open."""
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            inner = self.test(node.expression, where)
            return None if inner is None else not inner
        if isinstance(node, cst.BooleanOperation):
            left, right = self.test(node.left, where), self.test(node.right, where)
            decisive = isinstance(node.operator, cst.Or)
            if decisive in (left, right):
                return decisive
            return None if None in (left, right) else not decisive
        if isinstance(node, cst.Comparison) and dotted(node.left) == "__name__":
            return True
        verdicts = {truth(value) for value in self.resolver.value(node, where)}
        return verdicts.pop() if len(verdicts) == 1 else None

    def _case(self, match: cst.Match, wanted: cst.MatchCase, where: Where) -> bool | None:
        subjects = self.resolver.value(match.subject, where)
        if any(isinstance(s, (Unknown, Method)) for s in subjects):
            return None
        hits = set()
        for subject in subjects:
            for case in match.cases:
                fits = self._pattern(case.pattern, subject, where)
                if fits is None or case.guard is not None:
                    return None
                if fits:
                    hits.add(case is wanted)
                    break
            else:
                hits.add(False)
        return hits.pop() if len(hits) == 1 else (None if hits else False)

    def _pattern(self, pattern: cst.MatchPattern, subject: Value, where: Where) -> bool | None:
        if isinstance(pattern, cst.MatchOr):
            verdicts = [self._pattern(e.pattern, subject, where) for e in pattern.patterns]
            return True if True in verdicts else (None if None in verdicts else False)
        if isinstance(pattern, cst.MatchAs):
            return (
                True if pattern.pattern is None else self._pattern(pattern.pattern, subject, where)
            )
        if isinstance(pattern, cst.MatchSingleton):
            return plain(subject) is _singleton(pattern.value)
        if isinstance(pattern, cst.MatchValue):
            return same(self.resolver.value(pattern.value, where), (subject,))
        return None


def _singleton(node: cst.Name) -> object:
    return {"True": True, "False": False, "None": None}.get(node.value)
