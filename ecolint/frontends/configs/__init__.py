"""What configuration files say: one module a family of keys, asked where its keys occur."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from ecolint.document import Document
from ecolint.facts import READ_ONLY, Fact, ModelLoad, Quantization, Serving
from ecolint.frontends.configs.reading import Reading
from ecolint.frontends.mapping import Anchored, Place, Source, walk

# module → keys (snake_case) of a mapping that it wants to see, the most telling family first
FAMILIES: dict[str, frozenset[str]] = {
    "embedded_files": frozenset({"serve_config_v2", "runtime_env_yaml", "data", "string_data"}),
    "huggingface": frozenset(
        {"architectures", "model_type", "use_cache", "disable_compile", "_class_name"}
    ),
    "engines": frozenset(
        {"max_num_seqs", "enforce_eager", "enable_prefix_caching", "no_enable_prefix_caching",
         "compilation_config", "optimization_level", "max_running_requests", "disable_cuda_graph",
         "disable_radix_cache", "torchao_config", "quantize", "quantization", "load_format",
         "eager_mode", "max_concurrent_requests", "cuda_graphs", "max_batch_size", "extra_args",
         "gpu_memory_utilization", "vllm_max_num_seqs", "vllm_enforce_eager",
         "max_rolling_batch_size", "max_model_len", "mem_fraction_static"}
    ),
    "batching": frozenset(
        {"batcher", "max_ongoing_requests", "max_concurrent_queries", "batching", "traffic",
         "max_batch_delay", "batch_size", "inference_batch_size", "generation_batch_size",
         "max_batch_size", "generate_batch_size"}
    ),
    "loads": frozenset(
        {"load_in_8bit", "load_in_4bit", "quantization_bit", "model_args", "quantization",
         "quantize", "quant_method", "quant_type"}
    ),
    "containers": frozenset(
        {"image", "image_uri", "image_name", "command", "args", "entrypoint", "env", "environment",
         "env_vars", "environment_variables", "container_env", "remote_env", "envs", "model_format",
         "docker_args"}
    ),
    "scripts": frozenset(
        {"run", "script", "before_script", "after_script", "setup", "cmds", "commands", "bash",
         "scripts", "on_create_command", "post_create_command", "post_start_command",
         "update_content_command", "post_attach_command", "user_data", "startup_script",
         "start_command", "install_command", "build_command", "init_script", "inline_script",
         "inline"}
    ),
    "packages": frozenset(
        {"python_packages", "pip", "pip_packages", "packages"}
    ),
    "hardware": frozenset(
        {"node_selector", "labels", "match_expressions", "requirements", "accelerators",
         "accelerator_type", "accelerator", "instance_type", "instance_types", "machine_type",
         "vm_size", "gpu_type", "gpu_types", "gpu_type_id", "gpu_type_ids", "gpu", "node_type",
         "machine", "sku"}
    ),
}  # fmt: skip
# Families that read the same options, of which one reading is enough.
_OPTIONS = frozenset({"huggingface", "engines", "batching", "loads"})


# Documents that describe an interface: their values are examples.
_DESCRIPTIONS = frozenset({"openapi", "swagger", "asyncapi"})


def recognise(document: Document, source: Source) -> list[Fact]:
    """The facts of a parsed file; what aliases repeat is told once."""
    source.roots = [root for root in source.roots if _DESCRIPTIONS.isdisjoint(root.names)]
    reading = Reading(document, source)
    readers: dict[str, Callable[[Place, Reading], None]] = {}
    for place in walk(source):
        names = place.node.names.keys()
        for family, keys in FAMILIES.items():
            if names.isdisjoint(keys):
                continue
            if family in _OPTIONS and id(place.node) in reading.taken:
                continue
            if family not in readers:
                readers[family] = import_module(f"ecolint.frontends.configs.{family}").read
            readers[family](place, reading)
    return _settled(reading.facts, source.shared)


def _settled(facts: list[Fact], shared: list[Anchored]) -> list[Fact]:
    """Each fact of one place once; those that not all readers of an alias share can't be edited."""
    kept: dict[tuple[type, int, int], Fact] = {}
    seen: dict[tuple[type, int, int], int] = {}
    for fact in facts:
        key = (type(fact), fact.span.start, fact.span.end)
        seen[key] = seen.get(key, 0) + 1
        old = kept.get(key)
        if old is None or (_names_model(fact) and not _names_model(old)):
            kept[key] = fact
    same = {id(fact): kept[type(fact), fact.span.start, fact.span.end] for fact in facts}
    frozen: dict[int, Fact] = {}
    for key, fact in kept.items():
        stuck = any(
            block.start <= key[1] < block.end and seen[key] < block.readers for block in shared
        )
        if stuck and isinstance(fact, (Quantization, ModelLoad, Serving)):
            frozen[id(fact)] = replace(fact, editor=READ_ONLY)
        else:
            frozen[id(fact)] = fact
    settled: list[Fact] = []
    for fact in frozen.values():
        if isinstance(fact, (ModelLoad, Serving)) and fact.quantization is not None:
            first = same.get(id(fact.quantization), fact.quantization)
            final = frozen.get(id(first), first)
            if final is not fact.quantization and isinstance(final, Quantization):
                settled.append(replace(fact, quantization=final))
                continue
        settled.append(fact)
    return settled


def _names_model(fact: Fact) -> bool:
    return isinstance(fact, (ModelLoad, Serving)) and fact.model.known
