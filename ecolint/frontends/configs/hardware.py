"""The GPUs that a configuration asks for: node labels, machine types, accelerators."""

import re
from collections.abc import Iterator

from ecolint.dialects.configs import GPU_LABELS, MACHINE_KEYS
from ecolint.dialects.machines import kind_of_machine
from ecolint.facts import Hardware
from ecolint.frontends.configs.reading import Reading
from ecolint.frontends.mapping import Entry, Form, Node, Place

_COUNTED = re.compile(r"([A-Za-z][\w-]*)(?::([\d.]+))?$")
_RAY = re.compile(r"[A-Z][A-Z\d]*\d[\w-]*$")
_DSTACK = re.compile(r"(?:nvidia:)?([A-Za-z][A-Za-z\d]*)(?::\d+GB)?(?::(\d+))?$")


def read(place: Place, reading: Reading) -> None:
    """The facts of every GPU that a mapping names."""
    node = place.node
    count = _gpu_count(place)
    _labels(place, count, reading)
    for name in MACHINE_KEYS & node.names.keys():
        for value in _scalars(node.names[name]):
            _machine(name, value, count, place, reading)
    if "accelerators" in node.names and ("resources" in place.path() or place.up is None):
        for value, number in _accelerators(node.names["accelerators"]):
            gpu = value.text.partition(":")[0]
            _tell(value, gpu, "skypilot_accelerator", number, place, reading)
    for value in _scalars(node.get("gpu_type_id", "gpu_type_ids")):
        _tell(value, value.text, "runpod_gpu_type_id", count, place, reading)
    if "gpu" in node.names and place.key == "resources":
        _dstack(node.names["gpu"], place, reading)


def _labels(place: Place, count: int, reading: Reading) -> None:
    """Node labels, as a selector or as the expressions of an affinity."""
    node = place.node
    for entry in (node.get("node_selector"), node.get("labels")):
        if entry is not None and entry.value.form is Form.MAPPING:
            for label in entry.value.entries:
                _label(label.key, [label.value], count, place, reading)
    expressions = node.get("match_expressions", "requirements")
    for item in expressions.value.items if expressions is not None else ():
        values = item.get("values")
        if values is not None and item.string("operator") in ("In", ""):
            _label(item.string("key"), values.value.items, count, place, reading)


def _label(key: str, values: list[Node], count: int, place: Place, reading: Reading) -> None:
    if key in GPU_LABELS:
        for value in values:
            if value.form is Form.SCALAR and value.text:
                _tell(value, value.text, key, count, place, reading)


def _machine(name: str, value: Node, count: int, place: Place, reading: Reading) -> None:
    text = value.text
    if name in ("instance_type", "instance_size") and place.key == "compute":
        if text.startswith("nvidia-"):
            _tell(value, text, "hf_endpoints_instance_type", count, place, reading)
        return
    if name == "gpu_type" and text.startswith("nvidia-") and place.key == "resources":
        _tell(value, text, "bentoml_gpu_type", count, place, reading)
        return
    kind = kind_of_machine(text)
    if kind is None and name == "accelerator_type" and _RAY.match(text):
        kind = "ray_accelerator_type"
    if kind is None and name == "gpu_type":
        kind = "name"
    if kind is not None:
        _tell(value, text, kind, count, place, reading)


def _dstack(entry: Entry, place: Place, reading: Reading) -> None:
    node = entry.value
    if node.form is Form.MAPPING:
        for value in _scalars(node.get("name")) if node.get("name") else ():
            number = node.scalar("count")
            count = number.value if number is not None and type(number.value) is int else 1
            _tell(value, value.text, "name", count, place, reading)
        return
    found = _DSTACK.match(node.text)
    if found and node.form is Form.SCALAR and not isinstance(node.value, (int, float)):
        _tell(node, found.group(1), "name", int(found.group(2) or 1), place, reading)


def _scalars(entry: Entry | None) -> Iterator[Node]:
    if entry is None:
        return
    nodes = entry.value.items if entry.value.form is Form.LIST else [entry.value]
    for node in nodes:
        if node.form is Form.SCALAR and node.text:
            yield node


def _accelerators(entry: Entry) -> Iterator[tuple[Node, int]]:
    """SkyPilot's accelerators: one, a list, or a table of names and numbers."""
    if entry.value.form is Form.MAPPING:
        for each in entry.value.entries:
            number = each.value.value
            key = Node(Form.SCALAR, each.key_start, each.key_end, each.key, each.key)
            yield key, number if type(number) is int else 1
    for node in _scalars(entry):
        found = _COUNTED.match(node.text)
        if found:
            yield node, max(int(float(found.group(2) or 1)), 1)


def _gpu_count(place: Place) -> int:
    """How many GPUs the containers of the pod around a place ask for; 1 if it does not say."""
    for outer in place.outwards():
        containers = outer.node.get("containers")
        for spec in (outer.node, *(containers.value.items if containers is not None else ())):
            resources = spec.child("resources")
            limits = resources.child("limits", "requests") if resources is not None else None
            for entry in limits.entries if limits is not None else ():
                if entry.key == "nvidia.com/gpu" and entry.value.text.isdigit():
                    return max(int(entry.value.text[:4]), 1)
        if containers is not None:
            break
    return 1


def _tell(value: Node, text: str, kind: str, count: int, place: Place, reading: Reading) -> None:
    if value.known and text and len(text) < 120 and "$" not in text and "{" not in text:
        span = place.source.view.span(value.start, value.end)
        reading.facts.append(Hardware(span, text, kind, count, reading.role(place)))
