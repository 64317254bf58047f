"""Names of GPU machines: which kind of label a text is, by how the clouds build their names.

Sources: AWS, Google Cloud and Azure machine families as in data/gpu_patterns.csv, which
resolves the label; this only tells a GPU machine from any other before it is asked.
"""

import re

_KINDS = (
    (re.compile(r"ml\.(?:p\d|g\d|gr\d)\w*\.\w+$"), "sagemaker_instance"),
    (re.compile(r"(?:p\d|g\d|gr\d)\w*(?:-\w+)?\.\w+$"), "aws_instance"),
    (re.compile(r"Standard_N[CDV]\w*$"), "azure_vm"),
    (re.compile(r"(?:a2|a3|a4|a4x|g2|g4)-[\w-]+$"), "gcp_machine"),
    (re.compile(r"nvidia-[\w-]+$"), "gcp_accelerator_type"),
    (re.compile(r"NVIDIA_[A-Z0-9_]+$"), "vertex_accelerator_enum"),
)

# Cloud tools, and their flags that name a machine or an accelerator.
CLOUD_TOOLS = frozenset({"aws", "gcloud", "az", "eksctl", "sky", "skypilot"})
MACHINE_FLAGS = frozenset(
    {"instance_type", "instance_types", "machine_type", "accelerator", "size", "node_type",
     "node_vm_size", "vm_size", "gpus", "instance"}
)  # fmt: skip

# Terraform's attributes of the same meaning.
MACHINE_ATTRIBUTES = frozenset(
    {"instance_type", "instance_types", "machine_type", "vm_size", "size", "sku", "sku_name",
     "instance_size", "node_type", "worker_machine_type", "ml_instance_type", "type",
     "accelerator_type", "gpu_type"}
)  # fmt: skip


def kind_of_machine(label: str) -> str | None:
    """The kind of label a GPU machine's name is; None for machines without a GPU."""
    return next((kind for pattern, kind in _KINDS if pattern.match(label)), None)
