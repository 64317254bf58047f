"""The shell front-end: scripts of POSIX shells, and text-generation-webui's file of flags."""

import re

from ecolint.dialects.launchers import WEBUI
from ecolint.document import Document, View, whole
from ecolint.facts import Fact, Facts, Hardware, Role
from ecolint.launching import Launch, read_launch
from ecolint.shell import read_script
from ecolint.words import Word

_SLURM_GPU = re.compile(
    r"^#SBATCH\b[^\n]*--(?:gres=gpu:|gpus(?:-per-\w+)?=)([A-Za-z][\w.-]*)(?::(\d{1,4}))?",
    re.MULTILINE,
)
# What a script installs that runs a project's tests is for the tests.
_TESTS = re.compile(
    r"^[ \t]*(?:(?:uv|poetry|pdm|hatch) run |python\d? -m )?(?:pytest|tox|nox|unittest|ctest)\b",
    re.MULTILINE,
)
_FLAG_FILE = "CMD_FLAGS.txt"
_FLAG_WORD = re.compile(r"#[^\n]*|(\S+)")


def read(document: Document) -> Facts:
    """The facts of a shell script.

    Raises:
        UnreadableError: the text is larger than any script.
    """
    view = whole(document)
    name = re.split(r"[/\\]", document.path)[-1]
    if name == _FLAG_FILE:
        return _read_flag_file(view)
    role = Role.TEST if _TESTS.search(view.text) else Role.INFERENCE
    return Facts([*_read_batch_header(view), *read_script(view, role)])


def _read_batch_header(view: View) -> list[Fact]:
    """The GPUs that a Slurm header asks for by name (`#SBATCH --gres=gpu:a100:2`)."""
    return [
        Hardware(view.span(*found.span(1)), found.group(1), "", int(found.group(2) or 1))
        for found in _SLURM_GPU.finditer(view.text)
    ]


def _read_flag_file(view: View) -> Facts:
    """The flags that text-generation-webui starts with, written without a command."""
    words = [
        Word(found.group(1), view, found.start(1), found.end(1), True, found.start(1))
        for found in _FLAG_WORD.finditer(view.text)
        if found.group(1)
    ]
    if not words:
        return Facts()
    span = view.span(words[0].start, words[0].end)
    return Facts(read_launch(Launch(WEBUI, words, 0, span, Role.SERVICE, {})))
