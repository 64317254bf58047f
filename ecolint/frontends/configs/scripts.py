"""Shell text in configuration files: steps of pipelines, set-up commands, scripts of packages."""

from ecolint.facts import Role
from ecolint.frontends.configs import FAMILIES, pipelines
from ecolint.frontends.configs.containers import variables
from ecolint.frontends.configs.reading import Reading
from ecolint.frontends.mapping import Form, Node, Place
from ecolint.frontends.scalartext import script_view
from ecolint.shell import Scope, read_script

_NAMED = frozenset({"scripts"})


def read(place: Place, reading: Reading) -> None:
    """The facts of every script that a mapping holds."""
    pipeline = pipelines.is_pipeline(reading.document.path, place.root())
    if pipeline and pipelines.is_optional(place):
        return
    role = pipelines.role(place) if pipeline else Role.INFERENCE
    outer = {
        name: setting
        for around in reversed([*place.outwards()])
        for name, setting in variables(place.source, around.node).items()
    }
    for name in FAMILIES["scripts"] & place.node.names.keys():
        scripts = _scripts(place.node.names[name].value, name in _NAMED)
        scope = Scope("\n".join(script.text for script in scripts))
        for script in scripts:
            view = script_view(place.source, script)
            reading.facts += read_script(view, role, scope=scope, env=outer)


def _scripts(value: Node, named: bool) -> list[Node]:
    """The scalars that are scripts: one, a list of them, or a table of named ones."""
    if value.form is Form.SCALAR:
        found = [value]
    elif value.form is Form.LIST:
        found = [item for item in value.items if item.form is Form.SCALAR]
        for item in value.items:
            inner = item.scalar("command", "cmd") if item.form is Form.MAPPING else None
            found += [inner] if inner is not None else []
    else:
        found = [entry.value for entry in value.entries if named]
    return [node for node in found if node.form is Form.SCALAR and node.known and node.text]
