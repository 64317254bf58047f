"""One file being read: what it is for, which model a setting belongs to, what was found."""

from ecolint.dialects.configs import (
    BENCHMARK_KEYS,
    EVALUATION_KEYS,
    INFERENCE_SECTIONS,
    KEYS_IN_MODEL_SECTION,
    MODEL_KEYS,
    MODEL_KINDS,
    MODEL_SECTIONS,
    TRAINING_KEYS,
    TRAINING_VALUES,
)
from ecolint.document import Document
from ecolint.facts import Fact, Role, Setting
from ecolint.frontends.mapping import Form, Node, Place, Source, setting, text_setting

_SEARCHED = 5_000
# A section that shapes an adapter makes one; a server only names those that it loads.
_ADAPTERS = frozenset({"lora", "lora_config", "peft", "peft_config", "lora_args"})
_RANKS = frozenset({"r", "rank", "lora_r", "lora_alpha", "alpha", "target_modules"})
_UNSET: Setting[str] = Setting()


class Reading:
    """The facts of one file as they are found."""

    def __init__(self, document: Document, source: Source) -> None:
        """Start with nothing found."""
        self.document = document
        self.source = source
        self.facts: list[Fact] = []
        self.taken: set[int] = set()
        self._roles: dict[int, Role] = {}

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.document.path.replace("\\", "/").rpartition("/")[2]

    def take(self, node: Node | None) -> None:
        """Note that a mapping has been read as part of another one."""
        if node is not None:
            self.taken.add(id(node))

    def role(self, place: Place) -> Role:
        """What the settings at a place are for, by the keys of their section or document."""
        scope = next((p.node for p in place.outwards() if p.key in INFERENCE_SECTIONS), None)
        scope = place.root() if scope is None else scope
        if id(scope) not in self._roles:
            self._roles[id(scope)] = _role(scope)
        return self._roles[id(scope)]

    def model(self, place: Place) -> Setting[str]:
        """The model that a place's settings are about: named there, or in what is around it."""
        for outer in place.outwards():
            found = _named_model(outer)
            if not found.absent:
                return found
        return _UNSET


def _named_model(place: Place) -> Setting[str]:
    node = place.node
    if node.form is not Form.MAPPING:
        return _UNSET
    for name in MODEL_KEYS:
        entry = node.names.get(name)
        if entry is None or entry.value.form is not Form.SCALAR or not entry.value.text:
            continue
        if entry.value.text.lower() not in MODEL_KINDS:
            return text_setting(setting(place, entry))
    if place.key in MODEL_SECTIONS:
        entry = node.get(*KEYS_IN_MODEL_SECTION)
        if entry is not None and entry.value.form is Form.SCALAR and entry.value.text:
            return text_setting(setting(place, entry))
    for name in MODEL_SECTIONS & node.names.keys():
        entry = node.names[name]
        if entry.value.form is Form.MAPPING and entry.value is not node:
            inner = place.below(entry)
            found = entry.value.get(*MODEL_KEYS, *KEYS_IN_MODEL_SECTION)
            if found is not None and found.value.form is Form.SCALAR and found.value.text:
                return text_setting(setting(inner, found))
    return _UNSET


def _role(scope: Node) -> Role:
    role = Role.INFERENCE
    stack = [scope]
    for _ in range(_SEARCHED):
        if not stack:
            break
        node = stack.pop()
        for name, entry in node.names.items():
            if _trains(name, entry.value):
                return Role.TRAINING
            if name in EVALUATION_KEYS:
                role = Role.EVALUATION
            elif name in BENCHMARK_KEYS and role is Role.INFERENCE:
                role = Role.BENCHMARK
            stack.append(entry.value)
        stack.extend(node.items)
    return role


def _trains(name: str, value: Node) -> bool:
    if name in TRAINING_VALUES:
        return value.text.lower() in TRAINING_VALUES[name]
    if name == "datasets" and value.items:
        return value.items[0].get("path") is not None
    if name in _ADAPTERS and value.form is Form.MAPPING:
        return not _RANKS.isdisjoint(value.names.keys())
    if name not in TRAINING_KEYS:
        return False
    return value.form is not Form.SCALAR or value.value not in (False, None, 0, "")
