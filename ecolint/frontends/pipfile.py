"""The front-end of Pipfile: Pipenv's packages, and the sources they come from."""

from ecolint.document import Document, whole
from ecolint.facts import Fact, Facts, Role
from ecolint.frontends.mapping import Form
from ecolint.frontends.tables import Tables
from ecolint.frontends.tomlsettings import parse


def read(document: Document) -> Facts:
    """The facts of a Pipfile; text that is no TOML is told as not analysed.

    The first source serves every package, the others only those that name them.
    """
    source, failures = parse(whole(document))
    facts: list[Fact] = [*failures]
    for root in source.roots:
        tables = Tables.of(source.view)
        listed = root.get("source")
        sources = listed.value.items if listed is not None else []
        for number, each in enumerate(sources):
            if each.form is Form.MAPPING:
                tables.index(each.string("name"), each.scalar("url"), everyone=number == 0)
        tables.packages(root.child("packages"), Role.INFERENCE)
        tables.packages(root.child("dev_packages"), Role.TEST)
        settings = root.child("pipenv")
        allowed = settings.get("allow_prereleases") if settings is not None else None
        if allowed is not None and allowed.value.value is True:
            tables.switch(allowed, "false")
        tables.settle()
        facts += [*tables.main.packages(), *tables.development.packages()]
    return Facts(facts)
