"""The kinds of file that ecolint reads, told by their names alone.

On the path of every start, so it imports nothing but `enum`.
"""

import os
from enum import Enum

# Larger files are reported, not read: no hand writes them.
MAX_BYTES = 50_000_000


class Kind(str, Enum):
    """What a file is written in; it decides the front-end."""

    PYTHON = "python"
    NOTEBOOK = "notebook"
    YAML = "yaml"
    JSON = "json"
    TOML = "toml"
    REQUIREMENTS = "requirements"
    DOCKERFILE = "dockerfile"
    SHELL = "shell"
    BATCH = "batch"
    MAKEFILE = "makefile"
    DOTENV = "dotenv"
    PROCFILE = "procfile"
    SYSTEMD = "systemd"
    PBTXT = "pbtxt"
    MODELFILE = "modelfile"
    INI = "ini"
    TERRAFORM = "terraform"
    CONDA_LOCK = "lock"


_BY_NAME = {
    "cmd_flags.txt": Kind.SHELL,
    "conda-lock.yml": Kind.CONDA_LOCK,
    "conda-lock.yaml": Kind.CONDA_LOCK,
    "pixi.lock": Kind.CONDA_LOCK,
    "pdm.lock": Kind.TOML,
    "poetry.lock": Kind.TOML,
    "uv.lock": Kind.TOML,
    "pipfile": Kind.TOML,
    "pipfile.lock": Kind.JSON,
    "dockerfile": Kind.DOCKERFILE,
    "containerfile": Kind.DOCKERFILE,
    "makefile": Kind.MAKEFILE,
    "gnumakefile": Kind.MAKEFILE,
    "procfile": Kind.PROCFILE,
    "modelfile": Kind.MODELFILE,
    ".env": Kind.DOTENV,
    ".envrc": Kind.SHELL,
}
_BY_SUFFIX = {
    "py": Kind.PYTHON, "pyi": Kind.PYTHON, "pyw": Kind.PYTHON,
    "ipynb": Kind.NOTEBOOK,
    "yaml": Kind.YAML, "yml": Kind.YAML,
    "json": Kind.JSON, "jsonc": Kind.JSON, "jsonl": Kind.JSON,
    "toml": Kind.TOML,
    "dockerfile": Kind.DOCKERFILE, "containerfile": Kind.DOCKERFILE,
    "sh": Kind.SHELL, "bash": Kind.SHELL, "zsh": Kind.SHELL, "ksh": Kind.SHELL,
    "sbatch": Kind.SHELL, "slurm": Kind.SHELL,
    "bat": Kind.BATCH, "cmd": Kind.BATCH, "ps1": Kind.BATCH, "psm1": Kind.BATCH,
    "mk": Kind.MAKEFILE,
    "service": Kind.SYSTEMD, "container": Kind.SYSTEMD,
    "env": Kind.DOTENV,
    "pbtxt": Kind.PBTXT,
    "modelfile": Kind.MODELFILE,
    "ini": Kind.INI, "cfg": Kind.INI,
    "tf": Kind.TERRAFORM, "tofu": Kind.TERRAFORM,
}  # fmt: skip
_PREFIXED = (
    ("dockerfile.", Kind.DOCKERFILE),
    ("containerfile.", Kind.DOCKERFILE),
    ("makefile.", Kind.MAKEFILE),
    ("procfile.", Kind.PROCFILE),
    ("modelfile.", Kind.MODELFILE),
    (".env.", Kind.DOTENV),
)
_PINNED = ("requirements", "constraints")
_SHEBANGS = (
    (b"python", Kind.PYTHON),
    (b"bash", Kind.SHELL),
    (b"zsh", Kind.SHELL),
    (b"ksh", Kind.SHELL),
    (b"sh", Kind.SHELL),
)


def kind_of(path: str) -> Kind | None:
    """The kind of file that a name promises; None for those that ecolint doesn't read."""
    folder, name = os.path.split(path)
    name = name.lower()
    stem, _, suffix = name.rpartition(".")
    if not stem:
        suffix = ""
    kind = _BY_NAME.get(name)
    if kind is not None:
        return kind
    if suffix in ("txt", "in", "lock") and _pins(name, folder):
        return Kind.REQUIREMENTS
    kind = _BY_SUFFIX.get(suffix)
    if kind is not None:
        return kind
    return next((kind for prefix, kind in _PREFIXED if name.startswith(prefix)), None)


def _pins(name: str, folder: str) -> bool:
    """Whether a text file lists packages: `dev-requirements.in`, `requirements/base.txt`."""
    if any(word in name for word in _PINNED):
        return True
    return os.path.basename(folder).lower().startswith(_PINNED)


def kind_of_shebang(first_line: bytes) -> Kind | None:
    """The kind of file whose first line is `#!/usr/bin/env python3` or the like."""
    if not first_line.startswith(b"#!"):
        return None
    words = first_line[2:].split()
    names = [word.rsplit(b"/", 1)[-1] for word in words if not word.startswith(b"-")]
    if names and names[0] == b"env":
        names = [name for name in names[1:] if b"=" not in name]
    if not names:
        return None
    if names[0] == b"uv":  # `#!/usr/bin/env -S uv run --script`
        return Kind.PYTHON
    program = names[0].rstrip(b"0123456789.")
    return next((kind for name, kind in _SHEBANGS if program == name), None)
