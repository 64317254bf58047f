"""Continuous integration: which files are pipelines, and what a job of one is for.

A job that only tests or lints deploys nothing, whatever it installs; one that builds or
releases does. A pipeline's name and schedule say nothing: many are called nightly.
"""

import re

from ecolint.facts import Role
from ecolint.frontends.mapping import Form, Node, Place

_PATHS = re.compile(
    r"(?:^|/)(?:\.github/(?:workflows|actions)/.+|\.gitlab-ci(?:\.[\w.-]+)?|\.gitlab/.+"
    r"|azure-pipelines[\w.-]*|\.circleci/config|bitbucket-pipelines|\.travis|appveyor"
    r"|\.buildkite/.+|\.drone|\.woodpecker(?:/.+)?|cloudbuild|Jenkinsfile)\.ya?ml$"
)
_TEST_NAME = re.compile(
    r"(?:^|[\W_])(?:tests?|testing|unit|unittests?|lint|linting|checks?|smoke|ci|qa|pytest|tox"
    r"|coverage|typecheck|mypy|e2e|integration)(?:$|[\W_])",
    re.IGNORECASE,
)
_TEST_COMMAND = re.compile(
    r"(?:^|[\s;&|/])(?:pytest|tox|nox|unittest|ctest|coverage|mypy|ruff|pre-commit|flake8)\b"
)
_CHOSEN = re.compile(r"\b(?:matrix|inputs|env|vars|parameters|github\.event\.inputs)\.\w")
_OWN_VARIABLE = re.compile(r"\$(?!CI_|GITLAB_)[A-Za-z_]")
_BENCHMARK = re.compile(r"bench", re.IGNORECASE)


def is_pipeline(path: str, root: Node) -> bool:
    """Whether a file holds jobs of continuous integration."""
    if _PATHS.search(path.replace("\\", "/")):
        return True
    return root.form is Form.MAPPING and "jobs" in root.names and "on" in root.names


def role(place: Place) -> Role:
    """What the job around a place is for."""
    job = _job(place)
    name = job.key if job.entry is not None else ""
    title = f"{name} {job.node.string('name', 'stage')}"
    if _BENCHMARK.search(title):
        return Role.BENCHMARK
    if _TEST_NAME.search(title) or _TEST_COMMAND.search(" ; ".join(_commands(job.node))):
        return Role.TEST
    workflow = place.root()
    if workflow.form is Form.MAPPING and _TEST_NAME.search(workflow.string("name")):
        return Role.TEST
    return Role.INFERENCE


def is_optional(place: Place) -> bool:
    """Whether a step or its job hangs on an input, the matrix or a variable of one's own."""
    for outer in place.outwards():
        rules = outer.node.get("rules")
        asked = [item.string("if") for item in rules.value.items] if rules is not None else []
        condition = outer.node.scalar("if")
        # What a template writes is out of the way in the text that was parsed.
        text = place.source.view.text[condition.start : condition.end] if condition else ""
        if _CHOSEN.search(text) or (asked and all(_OWN_VARIABLE.search(each) for each in asked)):
            return True
    return False


def _job(place: Place) -> Place:
    chain = [*place.outwards()]
    for inner in chain:
        if inner.up is not None and inner.up.key == "jobs":
            return inner
    named = [inner for inner in chain if inner.entry is not None]
    return named[-1] if named else chain[-1]


def _commands(job: Node) -> list[str]:
    """The commands of a job, its steps included."""
    found: list[str] = []
    stack = [job]
    for _ in range(500):
        if not stack:
            break
        node = stack.pop()
        if node.form is Form.SCALAR:
            found.append(node.text)
        stack += [entry.value for entry in node.entries]
        stack += node.items
    return found
