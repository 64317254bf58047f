"""From what a generating call is made, and how many prompts it carries."""

import re

import libcst as cst

from ecolint.dialects.python_handlers import (
    HANDLER_BASES,
    HANDLER_FUNCTIONS,
    HANDLER_METHODS,
    MAPPERS,
    REGISTRARS,
    ROUTE,
)
from ecolint.facts import Prompts, Where
from ecolint.frontends.python.program import (
    Binding,
    Frame,
    Function,
    Place,
    Program,
    all_params,
    dotted,
)
from ecolint.frontends.python.resolve import Resolver
from ecolint.frontends.python.values import Const, Items

_BATCHING = re.compile(
    r"\bserve\.batch\b|batchable\s*=\s*True|max_batch_size\s*=\s*([2-9]|\d\d)|batcher|micro_?batch"
    r"|@batched\b|dynamic_batching",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"(?:^|_)(prompts|texts|inputs_list|questions|queries|sentences|batch|batches|chunks?|conversations"
    r"|documents|docs|instances|samples|examples|rows|lines)$",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"(?:^|_)(prompt|text|question|query|message|messages|sentence|instruction|chat|conversation|content"
    r"|input_text|user_input|q|line|msg)$",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"batch|chunk|loader|slices|grouped|range\(", re.IGNORECASE)
_PASS = frozenset({"to", "cuda", "input_ids", "get", "strip", "format", "pin_memory"})


class Surroundings:
    """Answers for one program; call graph and handlers are worked out once."""

    def __init__(self, program: Program, resolver: Resolver) -> None:
        """Remember the program."""
        self.program = program
        self.resolver = resolver
        # Only what was kept for the sites: a batcher elsewhere batches something else.
        self.batches = bool(_BATCHING.search(program.text))
        self._handed_over: dict[object, list[Place]] | None = None

    def where(self, place: Place) -> Where:
        """The way in which a call is reached, through at most three functions of the file."""
        return self._reached(place.frame, 3)

    def _reached(self, frame: Frame, depth: int) -> Where:
        for part in frame.chain():
            if part.kind == "for" and not self._grouped(part):
                return Where.LOOP
            if part.kind == "while":
                return Where.LOOP
            if part.kind == "function" and isinstance(part.node, cst.FunctionDef):
                return self._function(part.node, depth)
            if part.kind == "function" and isinstance(part.node, cst.Lambda) and depth:
                for use in self._handed_to(part.node):
                    if self._handed(use, depth - 1) is not Where.FUNCTION:
                        return self._handed(use, depth - 1)
        return Where.SCRIPT

    def _function(self, function: cst.FunctionDef, depth: int) -> Where:
        if self.is_handler(function):
            return Where.HANDLER
        if depth:
            callers = self.resolver.functions.callers(function.name.value)
            found = {self._reached(call.frame, depth - 1) for call in callers}
            found |= {self._handed(use, depth - 1) for use in self._handed_to(function)}
            for kind in (Where.HANDLER, Where.LOOP):
                if kind in found:
                    return kind
        return Where.FUNCTION

    def _handed_to(self, function: Function) -> list[Place]:
        """The calls that are given a function to call (`map`, `submit`, `add_api_route`)."""
        if self._handed_over is None:
            self._handed_over = {}
            for place in self.program.calls:
                assert isinstance(place.node, cst.Call)
                for arg in place.node.args:
                    if isinstance(arg.value, cst.Lambda):
                        self._handed_over.setdefault(arg.value, []).append(place)
                    elif name := dotted(arg.value).rpartition(".")[2]:
                        self._handed_over.setdefault(name, []).append(place)
        key = function.name.value if isinstance(function, cst.FunctionDef) else function
        return self._handed_over.get(key, [])

    def _handed(self, use: Place, depth: int) -> Where:
        """How often the function that a call is given gets called."""
        assert isinstance(use.node, cst.Call)
        tail = _tail(use.node.func)
        if tail in REGISTRARS:
            return Where.HANDLER
        if tail in MAPPERS:
            return Where.FUNCTION if _in_batches(use.node) else Where.LOOP
        return self._reached(use.frame, depth)

    def is_handler(self, function: cst.FunctionDef) -> bool:
        """Whether a server calls this function, once a request."""
        for decorator in function.decorators:
            if ROUTE.search(self.program.source(decorator.decorator)):
                return True
        owner = self.program.owners.get(function)
        if owner is None:
            return function.name.value in HANDLER_FUNCTIONS
        bases = " ".join(self.program.source(base.value) for base in owner.bases)
        marks = " ".join(self.program.source(d.decorator) for d in owner.decorators)
        name = function.name.value
        if re.search(r"serve\.deployment|bentoml\.service", marks) and name == "__call__":
            return True
        if re.search(r"Servicer\b", bases):
            return len(function.params.params) > 2  # self, request, context
        return bool(HANDLER_BASES.search(bases)) and name in HANDLER_METHODS

    def _grouped(self, frame: Frame) -> bool:
        """Whether a loop goes over batches rather than over single prompts."""
        node = frame.node
        if isinstance(node, cst.For):
            text = f"{self.program.source(node.target)} in {self.program.source(node.iter)}"
            return bool(_GROUPED.search(text))
        clause = getattr(node, "for_in", None)
        return clause is not None and bool(_GROUPED.search(self.program.source(clause.iter)))

    # --- how many prompts -----------------------------------------------------------------

    def prompts(self, call: cst.Call, place: Place) -> Prompts:
        """How many prompts a generating call carries, from its first or `**` argument."""
        for arg in call.args:
            if arg.star == "*":
                return Prompts.UNKNOWN
            name = arg.keyword.value if arg.keyword is not None else ""
            if not name or name in ("input_ids", "inputs", "prompts", "prompt", "text_inputs"):
                return self._count(arg.value, place, 6)
        return Prompts.UNKNOWN

    def _count(self, node: cst.BaseExpression, place: Place, depth: int) -> Prompts:
        if depth == 0:
            return Prompts.UNKNOWN
        if isinstance(node, (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)):
            return Prompts.ONE
        if isinstance(node, cst.BinaryOperation):
            if isinstance(node.operator, cst.Multiply) and isinstance(node.left, cst.List):
                return Prompts.MANY
            sides = {self._count(s, place, depth - 1) for s in (node.left, node.right)}
            return Prompts.ONE if sides == {Prompts.ONE} else Prompts.UNKNOWN
        if isinstance(node, cst.List):
            return self._listed(node, place, depth)
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return Prompts.MANY
        if isinstance(node, cst.Name):
            return self._named(node, place, depth)
        if isinstance(node, cst.Attribute):
            if node.attr.value in _PASS:
                return self._count(node.value, place, depth - 1)
            return _by_name(node.attr.value)
        if isinstance(node, cst.Subscript):
            return self._item(node, place, depth)
        if isinstance(node, cst.Call):
            return self._called(node, place, depth)
        return Prompts.UNKNOWN

    def _listed(self, node: cst.List, place: Place, depth: int) -> Prompts:
        if any(isinstance(e, cst.StarredElement) for e in node.elements):
            return Prompts.UNKNOWN
        if node.elements and all(isinstance(e.value, cst.Dict) for e in node.elements):
            return Prompts.ONE  # the messages of one conversation
        if len(node.elements) == 1:
            return self._count(node.elements[0].value, place, depth - 1)
        return Prompts.MANY if node.elements else Prompts.UNKNOWN

    def _item(self, node: cst.Subscript, place: Place, depth: int) -> Prompts:
        index = node.slice[0].slice if node.slice else None
        if isinstance(index, cst.Slice):
            return Prompts.MANY
        if isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString):
            key = str(index.value.evaluated_value)
            if key in ("input_ids", "attention_mask"):
                return self._count(node.value, place, depth - 1)
            return _by_name(key)
        return Prompts.UNKNOWN

    def _called(self, node: cst.Call, place: Place, depth: int) -> Prompts:
        tail = dotted(node.func).rpartition(".")[2]
        if isinstance(node.func, cst.Attribute):
            tail = node.func.attr.value
            if tail in _PASS:
                if tail == "get" and node.args:
                    key = node.args[0].value
                    if isinstance(key, cst.SimpleString):
                        return _by_name(str(key.evaluated_value))
                return self._count(node.func.value, place, depth - 1)
        if tail in ("stack", "cat", "pad", "collate", "list"):
            return Prompts.UNKNOWN
        first = next((a.value for a in node.args if not a.star), None)
        # tokenizer(text), apply_chat_template(messages), build_prompt(question): one in, one out
        return self._count(first, place, depth - 1) if first is not None else Prompts.UNKNOWN

    def _named(self, node: cst.Name, place: Place, depth: int) -> Prompts:
        binding = self._binding(node.value, place)
        if binding is None:
            return _by_name(node.value)
        if binding.kind == "loop":
            for frame in place.frame.chain():
                if frame.kind == "for" and frame is binding.frame:
                    return Prompts.MANY if self._grouped(frame) else Prompts.ONE
            return Prompts.UNKNOWN
        if binding.kind == "param":
            return self._param(binding)
        if binding.kind == "assign" and isinstance(binding.value, cst.BaseExpression):
            values = self.resolver.value(node, self.resolver.where(place))
            if all(isinstance(v, Items) and len(v.items) > 1 for v in values):
                first = values[0]
                inner = first.items[0] if isinstance(first, Items) else ()
                if all(isinstance(v, Const) and isinstance(v.value, str) for v in inner):
                    return Prompts.MANY
            inside = Place(binding.value, binding.frame, binding.order, None)
            told = self._count(binding.value, inside, depth - 1)
            one = told is Prompts.UNKNOWN and _ONE.search(node.value)
            return Prompts.ONE if one else told
        return Prompts.UNKNOWN

    def _binding(self, name: str, place: Place) -> Binding | None:
        scope = place.frame.scope
        while True:
            found = [b for b in scope.bindings.get(name, ()) if b.order < place.order]
            if found:
                return found[-1]
            if scope.parent is None:
                return None
            scope = scope.parent

    def _param(self, binding: Binding) -> Prompts:
        function = binding.frame.node
        if isinstance(function, cst.Lambda):
            mapped = any(self._handed(u, 0) is Where.LOOP for u in self._handed_to(function))
            by_name = _by_name(binding.name)
            return Prompts.ONE if mapped and by_name is Prompts.UNKNOWN else by_name
        if not isinstance(function, cst.FunctionDef):
            return Prompts.UNKNOWN
        param = next(p for p in all_params(function.params) if p.name.value == binding.name)
        if param.annotation is not None:
            written = self.program.source(param.annotation.annotation)
            if re.search(r"\b(list|List|Sequence|Iterable|tuple|Tuple)\b", written):
                return Prompts.ONE if _ONE.search(binding.name) else Prompts.MANY
            if written in ("str", "Annotated[str, Form()]"):
                return Prompts.ONE
        return _by_name(binding.name)


def _tail(func: cst.BaseExpression) -> str:
    return func.attr.value if isinstance(func, cst.Attribute) else dotted(func)


def _in_batches(call: cst.Call) -> bool:
    """Whether a map hands over many items at once (`datasets.map(f, batched=True)`)."""
    return any(
        arg.keyword is not None
        and arg.keyword.value in ("batched", "batch_size", "batch_format")
        and dotted(arg.value) != "False"
        for arg in call.args
    )


def _by_name(name: str) -> Prompts:
    if _MANY.search(name):
        return Prompts.MANY
    return Prompts.ONE if _ONE.search(name) else Prompts.UNKNOWN
