"""Where LibCST's nodes stand, worked out a statement at a time.

LibCST finds positions by printing the whole tree, which costs twice its parse. A site needs
those of its own statement only, and where that begins is known from the parser that found it.
"""

from collections.abc import Mapping
from typing import Any, cast

import libcst as cst
from libcst._position import CodeRange
from libcst.metadata import MetadataWrapper, PositionProvider
from libcst.metadata.position_provider import PositionProvidingCodegenState


class Positions:
    """The positions of one module's nodes.

    Args:
        module: the tree.
        starts: the first line of each of its top-level statements (of their decorators), as
            another parser counts them; when they do not match the tree it is printed whole.
    """

    def __init__(self, module: cst.Module, starts: tuple[int, ...]) -> None:
        """Match statements and lines; nothing is printed yet."""
        self._module = module
        self._known: dict[cst.CSTNode, CodeRange] = {}
        self._owner: dict[cst.CSTNode, int] = {}
        self._pending = _lines(module, starts)
        if self._pending is None:
            self._print_whole()

    def of(self, node: cst.CSTNode) -> CodeRange:
        """The range of a node of the module."""
        found = self._known.get(node)
        if found is None:
            self._print(self._statement(node))
            found = self._known[node]
        return found

    def _print_whole(self) -> None:
        wrapper = MetadataWrapper(self._module, unsafe_skip_copy=True)
        found: Mapping[cst.CSTNode, Any] = wrapper.resolve(PositionProvider)
        self._known.update(dict(found))

    def note(self, node: cst.CSTNode, index: int) -> None:
        """Remember in which top-level statement a node stands."""
        self._owner[node] = index

    def _statement(self, node: cst.CSTNode) -> int:
        """The index of the top-level statement that holds a node."""
        found = self._owner.get(node)
        if found is not None:
            return found
        for index, statement in enumerate(self._module.body):
            stack: list[cst.CSTNode] = [statement]
            while stack:
                current = stack.pop()
                self._owner[current] = index
                stack.extend(current.children)
            if node in self._owner:
                break
        return self._owner[node]

    def _print(self, index: int) -> None:
        assert self._pending is not None
        provider = PositionProvider()
        state = PositionProvidingCodegenState(
            default_indent=self._module.default_indent,
            default_newline=self._module.default_newline,
            provider=provider,
        )
        state.line = self._pending[index]
        self._module.body[index]._codegen(state)
        self._known.update(dict(cast(Mapping[cst.CSTNode, Any], provider._computed)))


def _lines(module: cst.Module, starts: tuple[int, ...]) -> list[int] | None:
    """The line at which printing each statement begins; None where the two parsers differ."""
    found: list[int] = []
    at = 0
    for statement in module.body:
        if at >= len(starts):
            return None
        leading = getattr(statement, "leading_lines", ())
        found.append(starts[at] - len(leading))
        at += len(statement.body) if isinstance(statement, cst.SimpleStatementLine) else 1
    return found if at == len(starts) else None
