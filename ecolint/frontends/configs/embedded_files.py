"""Files inside a file: the data of a ConfigMap, Ray's serve configuration in KubeRay.

Their text is read by the front-end of its own kind, and told where it stands outside.
"""

import re
from typing import Any

from ecolint.commands import read_container
from ecolint.dialects.engines import TGI
from ecolint.environment import variable
from ecolint.facts import Fact, Role, Setting
from ecolint.frontends.configs.containers import object_kind
from ecolint.frontends.configs.reading import Reading
from ecolint.frontends.mapping import Entry, Form, Node, Place, Source
from ecolint.frontends.scalartext import script_view, word
from ecolint.shell import read_python, read_script

_YAML_KEYS = ("serve_config_v2", "runtime_env_yaml")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+$")


def read(place: Place, reading: Reading) -> None:
    """The facts of every file that a mapping holds as text."""
    node = place.node
    for name in _YAML_KEYS:
        text = node.scalar(name)
        if text is not None:
            reading.facts += _read_file("x.yaml", place.source, text, reading)
    if place.up is not None or object_kind(place) not in ("ConfigMap", "Secret"):
        return
    for name in ("data", "string_data"):
        data = node.child(name)
        if data is None or (name == "data" and object_kind(place) == "Secret"):
            continue
        reading.take(data)
        for entry in data.entries:
            if entry.value.form is Form.SCALAR:
                reading.facts += _read_file(entry.key, place.source, entry.value, reading)
        reading.facts += _read_variables(place.source, data.entries)


def _read_file(name: str, source: Source, text: Node, reading: Reading) -> list[Fact]:
    from ecolint.frontends import configs, json, tomlsettings, yaml

    view = script_view(source, text)
    suffix = name.rpartition(".")[2].lower()
    if suffix in ("yaml", "yml"):
        return configs.recognise(reading.document, yaml.parse(view)[0])
    if suffix == "json":
        return configs.recognise(reading.document, json.parse(view, name)[0])
    if suffix == "toml":
        return configs.recognise(reading.document, tomlsettings.parse(view)[0])
    if suffix == "py":
        return read_python(view)
    if suffix in ("sh", "bash"):
        return read_script(view, Role.INFERENCE)
    return []


def _read_variables(source: Source, entries: list[Entry]) -> list[Fact]:
    """The data that a container takes as its environment."""
    env: dict[str, Setting[Any]] = {}
    for entry in entries:
        if _VARIABLE.match(entry.key) and entry.value.form is Form.SCALAR:
            start = min(entry.key_start, entry.value.start)
            span = source.view.span(start, entry.value.end)
            env[entry.key] = variable(entry.key, word(source, entry.value), span)
    quantize = env.get("QUANTIZE", Setting())
    served = "MODEL_ID" in env and quantize.known and quantize.value in TGI.schemes
    return read_container((), (), env, TGI.images[0] if served else "", Role.INFERENCE)
