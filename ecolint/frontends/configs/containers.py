"""Containers, however they are declared: Kubernetes, KServe, compose, SageMaker, ECS, charts.

What runs in them is for `ecolint.commands`; this only finds image, entry point, arguments
and environment.
"""

import re
from collections.abc import Iterator
from typing import Any

from ecolint.commands import read_container
from ecolint.diagnostics import Span
from ecolint.dialects.engines import VLLM
from ecolint.environment import read_compile_switches, variable
from ecolint.facts import Fact, Role, Setting, State, Via
from ecolint.flags import FlagEditor, Given, tail
from ecolint.frontends.configs import pipelines
from ecolint.frontends.configs.reading import Reading
from ecolint.frontends.mapping import Entry, Form, Node, Place, Source
from ecolint.frontends.scalartext import script_view, word, words
from ecolint.images import image_facts
from ecolint.launching import typed_setting
from ecolint.shell import read_script
from ecolint.words import Word

_ENV_KEYS = (
    "env", "environment", "env_vars", "environment_variables", "container_env", "remote_env",
    "envs",
)  # fmt: skip
_IMAGE_KEYS = ("image", "image_uri", "image_name", "container_image")
# Variables whose value is a piece of the command line, in llm-d's and KServe's images.
_ARGUMENT_VARIABLES = ("VLLM_ADDITIONAL_ARGS", "VLLM_EXTRA_ARGS", "VLLM_ARGS")
_TEST_PROFILES = frozenset({"debug", "debugging", "test", "tests", "testing", "ci"})
_DJL = "OPTION_"
_K8S_VARIABLE = re.compile(r"(.*?)\$\(([A-Za-z_]\w*)\)$")


def read(place: Place, reading: Reading) -> None:
    """The facts of one container, or of a command without an image."""
    node, source = place.node, place.source
    role = _role(place, reading)
    env = variables(source, node)
    for key in _ENV_KEYS:
        reading.take(node.child(key))
    image = image_word(source, node)
    entry, arguments = _command(place)
    if _is_script(node) and image is None:
        command = node.get("command", "cmd")
        if command is not None and command.value.form is Form.SCALAR and command.value.known:
            reading.facts += read_script(script_view(source, command.value), role, env=env)
            reading.facts += read_compile_switches(env, role)
            return
    written = node.scalar("source")
    if written is not None and written.known and _runs_text(entry):
        reading.facts += read_script(script_view(source, written), role, env=env)
    name = image.text if image is not None else ""
    if image is not None and image.text:
        reading.facts += image_facts(image, role)
    served = _kserve(place)
    if served is not None and not name:
        name = "kserve/huggingfaceserver"
    if object_kind(place) == "LLMInferenceService" and place.key == "containers":
        name = name or VLLM.images[0]
        served = _llm_model(place)
    for key in _ARGUMENT_VARIABLES:
        arguments += _words_of_variable(source, node, key)
    arguments += served or ()
    entry, arguments = _with_variables(entry, env), _with_variables(arguments, env)
    djl = _djl_facts(env, role)
    reading.facts += djl or read_container(entry, arguments, env, name, role)


def variables(source: Source, node: Node) -> dict[str, Setting[Any]]:
    """The environment variables that a mapping sets, as a mapping or as a list."""
    found: dict[str, Setting[Any]] = {}
    for key in _ENV_KEYS:
        entry = node.names.get(key)
        if entry is None:
            continue
        if entry.value.form is Form.MAPPING:
            for each in entry.value.entries:
                if each.value.form is Form.SCALAR and each.value.value is not None:
                    found[each.key] = _variable(source, each.key, each)
        for item in entry.value.items:
            name, setting = _listed_variable(source, item)
            if name:
                found[name] = setting
    return found


def _variable(source: Source, name: str, entry: Entry) -> Setting[Any]:
    value = entry.value
    start = entry.key_start if entry.key_start < value.start else value.start
    if "\n" in source.view.text[start : value.start]:
        start = value.start
    span = source.view.span(start, value.end)
    key = source.view.span(entry.key_start, entry.key_end)
    return variable(name, word(source, value), span, key)


def _listed_variable(source: Source, item: Node) -> tuple[str, Setting[Any]]:
    if item.form is Form.SCALAR:
        name, equals, _ = item.text.partition("=")
        if not equals:
            return "", Setting()
        span = source.view.span(item.start, item.end)
        return name, variable(name, tail(word(source, item), len(name) + 1), span)
    name = item.string("name", "key")
    entry = item.get("value")
    if not name:
        return "", Setting()
    if entry is None or entry.value.form is not Form.SCALAR:
        span = source.view.span(item.start, item.end)
        return name, Setting(State.UNKNOWN, None, span, Via.LITERAL, name)
    span = source.view.span(entry.value.start, entry.value.end)
    key = source.view.span(entry.key_start, entry.key_end)
    return name, variable(name, word(source, entry.value), span, key)


def image_word(source: Source, node: Node) -> Word | None:
    """The image that a mapping names, in one string or as repository and tag."""
    entry = node.get(*_IMAGE_KEYS) or (node.get("url") if "env" in node.names else None)
    if entry is None:
        return None
    value = entry.value
    if value.form is Form.SCALAR:
        return word(source, value) if value.text else None
    repository = value.scalar("repository", "name", "url")
    if repository is None:
        custom = value.child("custom")
        repository = custom.scalar("url") if custom is not None else None
    if repository is None or not repository.known:
        return None
    tag = value.scalar("tag", "new_tag")
    if tag is None or not tag.text or not tag.known:
        return word(source, repository)
    text = f"{repository.text}:{tag.text}"
    return Word(text, source.view, tag.start, tag.end, True, -1, False)


def _command(place: Place) -> tuple[list[Word], list[Word]]:
    """The words of the entry point and of the arguments; compose calls them otherwise."""
    node, source = place.node, place.source

    def said(*names: str) -> list[Word]:
        entry = node.get(*names)
        return words(source, entry.value) if entry is not None else []

    composed = "entrypoint" in node.names or (place.up is not None and place.up.key == "services")
    if composed:
        return said("entrypoint"), said("command")
    command, arguments = said("command"), said("args", "docker_args")
    if command and command[0].text.startswith("-"):
        return [], [*command, *arguments]  # Amazon ECS, whose `command` is the image's CMD
    return command, arguments


def _is_script(node: Node) -> bool:
    command = node.get("command")
    return command is not None and command.value.form is Form.SCALAR and "args" not in node.names


def _runs_text(entry: list[Word]) -> bool:
    """Whether a template's command is a bare shell, which Argo hands the text of `source`."""
    return len(entry) == 1 and entry[0].text.rpartition("/")[2] in ("sh", "bash", "zsh", "ash")


def _words_of_variable(source: Source, node: Node, name: str) -> list[Word]:
    for key in _ENV_KEYS:
        entry = node.names.get(key)
        for item in entry.value.items if entry is not None else ():
            if item.string("name") == name and (value := item.scalar("value")) is not None:
                return words(source, value)
        if entry is not None and entry.value.form is Form.MAPPING:
            inner = next((each for each in entry.value.entries if each.key == name), None)
            if inner is not None:
                return words(source, inner.value)
    return []


def _with_variables(given: list[Word], env: dict[str, Setting[Any]]) -> list[Word]:
    """The same words with Kubernetes' `$(NAME)` at their end put in."""
    done: list[Word] = []
    for each in given:
        written = each.view.text[each.start : each.end].strip("\"'")
        found = _K8S_VARIABLE.fullmatch(written) if not each.known else None
        value = env.get(found.group(2)) if found else None
        if found and value is not None and value.known:
            text = found.group(1) + str(value.value)
            each = Word(text, each.view, each.start, each.end, True, -1, False)
        done.append(each)
    return done


def _kserve(place: Place) -> list[Word] | None:
    """The arguments that KServe adds for a model it serves itself; None if it does not."""
    node, source = place.node, place.source
    kind = node.child("model_format")
    runtime = node.string("runtime")
    if kind is None or (
        kind.string("name") not in ("huggingface", "vllm") and "huggingface" not in runtime
    ):
        return None
    return _model_words(source, "--model_id", node.scalar("storage_uri"))


def _llm_model(place: Place) -> list[Word]:
    """The model of an LLMInferenceService, which its containers are started with."""
    spec = place.root().child("spec")
    model = spec.child("model") if spec is not None else None
    return _model_words(place.source, "--model", model.scalar("uri") if model else None)


def _model_words(source: Source, flag: str, uri: Node | None) -> list[Word]:
    if uri is None or not uri.text.startswith("hf://"):
        return []
    place = (source.view, uri.start, uri.end)
    named = Word(uri.text.removeprefix("hf://"), *place, True, -1, False)
    return [Word(flag, source.view, uri.start, uri.start, True, -1, False), named]


def object_kind(place: Place) -> str:
    """The `kind` of the Kubernetes object that a place lies in."""
    root = place.root()
    return root.string("kind") if root.form is Form.MAPPING else ""


def _djl_facts(env: dict[str, Setting[Any]], role: Role) -> list[Fact]:
    """DJL Serving's large-model image: `OPTION_` and an option of its engine."""
    from ecolint.assemble import serving
    from ecolint.dialects.configs import ENGINE_ALIASES

    options: dict[str, Setting[Any]] = {}
    fields: dict[str, tuple[Given, ...]] = {}
    for name, written in env.items():
        plain = name.removeprefix(_DJL).lower()
        option = ENGINE_ALIASES["vllm"].get(plain, plain)
        if name.startswith(_DJL) and option in VLLM.options:
            options[option] = typed_setting(written)
            given = Given(options[option], None, str(written.value))
            field = VLLM.options[option].field
            fields[field] = (*fields.get(field, ()), given)
    rolling = env.get("OPTION_ROLLING_BATCH", Setting())
    if not options or not (rolling.is_("vllm", "lmi-dist", "auto") or rolling.absent):
        return []
    if "HF_MODEL_ID" in env:
        options["model"] = env["HF_MODEL_ID"]
    span = next((each.span for each in options.values() if each.span), Span(0, 0))
    return serving(
        VLLM,
        options,
        span=span,
        spelled="DJL Serving",
        editor=FlagEditor(fields),
        role=role if role is not Role.INFERENCE else Role.SERVICE,
    )


def _role(place: Place, reading: Reading) -> Role:
    if pipelines.is_pipeline(reading.document.path, place.root()):
        return pipelines.role(place)
    if _is_for_tests(place.node.get("profiles")):
        return Role.TEST
    kind = object_kind(place)
    return Role.BATCH if kind in ("Job", "CronJob") else Role.INFERENCE


def _is_for_tests(profiles: Entry | None) -> bool:
    """Whether compose starts a service only under a profile for debugging or tests."""
    named = profiles.value.items if profiles is not None else ()
    return any(item.text.lower() in _TEST_PROFILES for item in named)


def extra_words(source: Source, node: Node) -> Iterator[Word]:
    """The arguments that a chart passes on behind those it makes itself."""
    for name in ("extra_args", "additional_args", "server_extra_args"):
        entry = node.names.get(name)
        if entry is not None:
            yield from words(source, entry.value)
