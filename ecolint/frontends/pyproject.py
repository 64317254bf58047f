"""The front-end of pyproject.toml, and of uv.toml and pixi.toml, which are parts of it.

Reads the project's own requirements and those of uv, Poetry, PDM, Hatch, Rye and pixi, with
the indexes that they declare. An index that nothing is taken from is not in force.
"""

import re

from ecolint.document import Document, View, whole
from ecolint.facts import Fact, Facts, Package, Role
from ecolint.frontends.mapping import Form, Node
from ecolint.frontends.tables import Tables, without_entry
from ecolint.frontends.tomlsettings import parse
from ecolint.installation import Edits, Installation, role_of
from ecolint.toolchain import classify_index, package_of, read_requirement

_COMMAND = re.compile(r"\b(?:pip3?|uv|conda|mamba|pipx)\s+(?:pip\s+)?(?:install|add)\b")
_INDEX_VARIABLES = frozenset(
    {
        "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_INDEX", "UV_INDEX_URL",
        "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS",
    }
)  # fmt: skip


def read(document: Document) -> Facts:
    """The facts of a project's description; text that is no TOML is told as not analysed."""
    source, failures = parse(whole(document))
    facts: list[Fact] = [*failures]
    for root in source.roots:
        name = re.split(r"[/\\]", document.path)[-1]
        tool = "" if name == "pyproject.toml" else name.partition(".")[0]
        facts += read_project(source.view, root, tool)
        facts += _commands(source.view, root)
    return Facts(facts)


def read_project(view: View, root: Node, tool: str = "") -> list[Package]:
    """The package facts of a project's tables; `tool` names the one whose own file this is."""
    tables = Tables.of(view)
    tools = root.child("tool") or Node(Form.MAPPING, 0, 0)
    found: list[Package] = []
    if not tool:
        _read_standard(tables, root)
        _read_poetry(tables, tools.child("poetry"))
        _read_pdm(tables, tools.child("pdm"))
        _read_rye(tables, tools.child("rye"))
        found += _read_hatch(tables, tools.child("hatch"))
    _read_uv(tables, root if tool == "uv" else tools.child("uv"))
    _read_pixi(tables, root if tool == "pixi" else tools.child("pixi"))
    tables.settle()
    return [*tables.main.packages(), *tables.development.packages(), *found]


def _list(node: Node | None, *names: str) -> Node | None:
    entry = node.get(*names) if node is not None else None
    return entry.value if entry is not None and entry.value.form is Form.LIST else None


def _value(node: Node | None, *names: str) -> Node | None:
    entry = node.get(*names) if node is not None else None
    return entry.value if entry is not None else None


def _tables(node: Node | None, *names: str) -> list[Node]:
    """The tables of `[[name]]`."""
    listed = _list(node, *names)
    return [item for item in listed.items if item.form is Form.MAPPING] if listed else []


def _groups(tables: Tables, node: Node | None) -> None:
    """Lists of requirements by the name of their group."""
    for entry in node.entries if node is not None else ():
        if entry.value.form is Form.LIST:
            tables.requirements(entry.value, role_of(entry.key))


def _read_standard(tables: Tables, root: Node) -> None:
    project = root.child("project")
    tables.requirements(_list(root, "dependencies"), Role.INFERENCE)  # a script's own header
    tables.requirements(_list(project, "dependencies"), Role.INFERENCE)
    _groups(tables, project.child("optional_dependencies") if project else None)
    _groups(tables, root.child("dependency_groups"))
    tables.requirements(_list(root.child("build_system"), "requires"), Role.TEST)


def _read_uv(tables: Tables, uv: Node | None) -> None:
    if uv is None:
        return
    tables.requirements(_list(uv, "dev_dependencies"), Role.TEST)
    for name in ("constraint_dependencies", "override_dependencies"):
        tables.requirements(_list(uv, name), Role.INFERENCE)
    sources = uv.child("sources")
    for entry in sources.entries if sources is not None else ():
        several = entry.value.form is Form.LIST
        for table in entry.value.items if several else [entry.value]:
            if table.form is not Form.MAPPING:
                continue
            removal = None if several else without_entry(tables.view, entry)

            def removed(_: str | None, edits: Edits = removal) -> Edits:
                return edits

            index = table.scalar("index")
            canonical = package_of(entry.key)
            if index is not None:
                tables.users.setdefault(index.text, set())
                if canonical is not None:
                    tables.users[index.text].add(canonical)
            elif canonical is not None:
                tables.source(entry.key, table, Role.INFERENCE, removed)
    for index_table in _tables(uv, "index"):
        explicit = _value(index_table, "explicit")
        everyone = explicit is None or explicit.value is not True
        tables.index(index_table.string("name"), index_table.scalar("url"), everyone=everyone)
    for part in (uv, uv.child("pip")):
        for name in ("index_url", "extra_index_url", "find_links"):
            tables.indexes_in(_value(part, name))
        allowed = part.get("prerelease") if part is not None else None
        if allowed is not None and allowed.value.text == "allow":
            tables.switch(allowed, "if-necessary-or-explicit")


def _read_poetry(tables: Tables, poetry: Node | None) -> None:
    if poetry is None:
        return
    tables.packages(poetry.child("dependencies"), Role.INFERENCE)
    tables.packages(poetry.child("dev_dependencies"), Role.TEST)
    groups = poetry.child("group")
    for entry in groups.entries if groups is not None else ():
        if entry.value.form is Form.MAPPING:
            tables.packages(entry.value.child("dependencies"), role_of(entry.key))
    for source in _tables(poetry, "source"):
        everyone = source.string("priority") != "explicit"
        tables.index(source.string("name"), source.scalar("url"), everyone=everyone)


def _read_pdm(tables: Tables, pdm: Node | None) -> None:
    if pdm is None:
        return
    groups = pdm.child("dev_dependencies")
    for entry in groups.entries if groups is not None else ():
        tables.requirements(entry.value, Role.TEST)
    for source in _tables(pdm, "source"):
        only = _list(source, "include_packages")
        name = source.string("name")
        if only is not None:
            served = {package_of(item.text.strip("*")) for item in only.items}
            tables.users.setdefault(name, set()).update(served - {None})  # type: ignore[arg-type]
        tables.index(name, source.scalar("url"), everyone=only is None)
    resolution = pdm.child("resolution")
    allowed = resolution.get("allow_prereleases") if resolution is not None else None
    if allowed is not None and allowed.value.value is True:
        tables.switch(allowed, "false")


def _read_rye(tables: Tables, rye: Node | None) -> None:
    tables.requirements(_list(rye, "dev_dependencies"), Role.TEST)
    for source in _tables(rye, "sources"):
        tables.index(source.string("name"), source.scalar("url"), everyone=True)


def _read_hatch(tables: Tables, hatch: Node | None) -> list[Package]:
    """Hatch's environments, each an installation of its own."""
    environments = hatch.child("envs") if hatch is not None else None
    found: list[Package] = []
    for entry in environments.entries if environments is not None else ():
        if entry.value.form is not Form.MAPPING:
            continue
        one = Installation(role_of(entry.key), apart=True, elsewhere=True)
        for name in ("dependencies", "extra_dependencies"):
            listed = _list(entry.value, name)
            for item in listed.items if listed is not None else ():
                if item.form is Form.SCALAR:
                    one.ask(tables.word(item), read_requirement(item.text))
        variables = entry.value.child("env_vars")
        for each in variables.entries if variables is not None else ():
            if each.key in _INDEX_VARIABLES and each.value.form is Form.SCALAR:
                one.route(tables.word(each.value), classify_index(each.value.text))
        found += one.packages()
    return found


def _read_pixi(tables: Tables, pixi: Node | None) -> None:
    if pixi is None:
        return
    for name in ("workspace", "project"):
        tables.channels(_list(pixi.child(name), "channels"))
    features = pixi.child("feature")
    parts = [(pixi, Role.INFERENCE)]
    parts += [
        (entry.value, role_of(entry.key))
        for entry in (features.entries if features is not None else ())
        if entry.value.form is Form.MAPPING
    ]
    for part, role in parts:
        tables.channels(_list(part, "channels"))
        for name in ("dependencies", "pypi_dependencies"):
            tables.packages(part.child(name), role)
        options = part.child("pypi_options")
        for name in ("index_url", "extra_index_urls", "find_links"):
            tables.indexes_in(_value(options, name))


def _commands(view: View, root: Node) -> list[Fact]:
    """Installing commands in the scripts of task runners."""
    found: list[Fact] = []
    stack = [root]
    while stack:
        node = stack.pop()
        stack += [entry.value for entry in node.entries] + node.items
        plain = node.form is Form.SCALAR and len(node.style) == 1
        if plain and _COMMAND.search(node.text):
            inner = view.part(node.start + 1, node.end - 1)
            if inner.text == node.text:
                from ecolint.shell import read_script

                found += read_script(inner, Role.INFERENCE)
    return found
