"""How many requests run at once, where a batcher or a service's own settings say so."""

import re

from ecolint.assemble import serving
from ecolint.dialects import Engine, Option
from ecolint.dialects.configs import (
    BATCH_KEYS,
    OWN_SERVICE,
    PRODUCTION,
    PRODUCTION_KEYS,
)
from ecolint.dialects.engines import BENTOML, KSERVE_BATCHER, RAY_SERVE, TORCHSERVE
from ecolint.facts import Role, Setting
from ecolint.frontends.configs import pipelines
from ecolint.frontends.configs.reading import Reading
from ecolint.frontends.entryedits import EntryEditor
from ecolint.frontends.mapping import Entry, Form, Node, Place, setting

_PRODUCTION_NAME = re.compile(r"(?:^|[./_-])(?:prod|production|serving|serve|deploy)(?:[./_-]|$)")
_SERVES = frozenset(
    {"port", "host", "workers", "api_key", "endpoint", "max_concurrent_requests", "replicas",
     "request_timeout", "rate_limit", "api"}
)  # fmt: skip
_GENERATES = re.compile(
    r"infer|serv|gener|llm|model|predict|batch|engine|runtime|pipeline|api|deploy|prod|config"
    r"|setting|param|option|backend|text|live|prd"
)
_SERVING_SECTIONS = frozenset({"serving", "serve", "server", "service", "api", "deployment"})
_GPU_KEYS = frozenset(
    {"num_gpus", "accelerator_type", "engine_kwargs", "llm_configs", "model_loading_config",
     "nvidia.com/gpu", "gpu_type", "accelerators"}
)  # fmt: skip
_LANGUAGE_KEYS = frozenset(
    {"max_new_tokens", "max_length", "max_tokens", "model_name", "model_path", "tp_degree",
     "temperature", "max_new_token"}
)  # fmt: skip
_SEARCHED = 3_000


def read(place: Place, reading: Reading) -> None:
    """The facts of the first batcher that a mapping configures."""
    if pipelines.is_pipeline(reading.document.path, place.root()):
        return
    node = place.node
    batcher = node.child("batcher")
    if batcher is not None and (entry := batcher.get("max_batch_size")) is not None:
        _tell(place.below(node.names["batcher"]), entry, KSERVE_BATCHER, reading)
        return
    ongoing = node.get("max_ongoing_requests", "max_concurrent_queries")
    if ongoing is not None:
        if _holds(place.root(), _GPU_KEYS):
            _tell(place, ongoing, RAY_SERVE, reading)
        return
    if _bentoml(place, reading):
        return
    if "max_batch_delay" in node.names and (entry := node.get("batch_size")) is not None:
        if _holds(place.root(), _LANGUAGE_KEYS):
            _tell(place, entry, TORCHSERVE, reading)
        return
    _own_service(place, reading)


def _bentoml(place: Place, reading: Reading) -> bool:
    """`traffic: {concurrency: 1}` of a GPU service, or its runner's `max_batch_size`."""
    node = place.node
    traffic, resources = node.child("traffic"), node.child("resources")
    if traffic is not None and resources is not None and resources.get("gpu", "gpu_type"):
        entry = traffic.get("concurrency")
        if entry is not None:
            engine = Engine(BENTOML.name, {"concurrency": Option("concurrency")})
            _tell(place.below(node.names["traffic"]), entry, engine, reading)
        return True
    batching = node.child("batching")
    if batching is None or batching.get("enabled") is None:
        return False
    entry = batching.get("max_batch_size")
    if entry is not None and _holds(place.root(), _GPU_KEYS | _LANGUAGE_KEYS):
        _tell(place.below(node.names["batching"]), entry, BENTOML, reading)
        reading.take(batching)
    return True


def _own_service(place: Place, reading: Reading) -> None:
    """Settings of a service in production that names its model and its batch size."""
    entry = place.node.get(*BATCH_KEYS)
    if entry is None or type(entry.value.value) is not int:
        return
    model = reading.model(place)
    if place.key and not _GENERATES.search(place.key):
        return  # batches of something else: of log lines, of messages, of rows
    if not model.known or reading.role(place) is not Role.INFERENCE:
        return
    if _produces(place, reading) and _generates(model):
        _tell(place, entry, OWN_SERVICE, reading, model)


def _produces(place: Place, reading: Reading) -> bool:
    """Whether the settings say that they are for production."""
    for outer in place.outwards():
        names = outer.node.names
        if outer.key in _SERVING_SECTIONS or outer.key in PRODUCTION or _SERVES & names.keys():
            return True
        for key in PRODUCTION_KEYS:
            if outer.node.string(key).lower() in PRODUCTION:
                return True
        for key in ("production", "prod", "is_production"):
            node = outer.node.scalar(key)
            if node is not None and node.value is True:
                return True
    return _PRODUCTION_NAME.search(reading.document.path.lower()) is not None


def _generates(model: Setting[str]) -> bool:
    """Whether a model is one that generates text, by its name."""
    from ecolint.catalog import find_model

    found = find_model(str(model.value))
    return found is not None and found.kind != "encoder"


def _holds(root: Node, names: frozenset[str]) -> bool:
    stack = [root]
    for _ in range(_SEARCHED):
        if not stack:
            return False
        node = stack.pop()
        if not names.isdisjoint(node.names.keys()):
            return True
        stack += [entry.value for entry in node.entries if entry.value.form is not Form.SCALAR]
        stack += [item for item in node.items if item.form is not Form.SCALAR]
    return False


def _tell(
    place: Place, entry: Entry, engine: Engine, reading: Reading, model: Setting[str] | None = None
) -> None:
    written = setting(place, entry)
    if written.known and type(written.value) is not int:
        return
    name = next(
        (name for name, each in place.node.names.items() if each is entry),
        next(iter(engine.options)),
    )
    options = {name: written}
    if model is not None and "model" in engine.options:
        options["model"] = model
    role = reading.role(place)
    reading.facts += serving(
        engine,
        options,
        span=written.span or place.source.view.span(entry.key_start, entry.end),
        spelled=entry.key,
        editor=EntryEditor(place.source, {"concurrency": (entry,)}),
        role=role if role is not Role.INFERENCE else Role.SERVICE,
    )
