"""The Triton front-end: `config.pbtxt`, a protobuf in text form.

Read by pattern: protobuf's own text parser needs Triton's schema, and drops positions.
"""

import re

from ecolint.diagnostics import Edit, Span
from ecolint.dialects.engines import TRITON
from ecolint.document import Document
from ecolint.facts import Change, Facts, Role, Serving, Set, Setting, State, Via

_TOKEN = re.compile(r"#[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_BACKEND = re.compile(r"^\s*(?:backend|platform)\s*:\s*[\"']([^\"']+)[\"']", re.MULTILINE)
_BATCH = re.compile(r"^[ \t]*max_batch_size[ \t]*:[ \t]*(\d+)", re.MULTILINE)
_DECOUPLED = re.compile(r"\bdecoupled\s*:\s*[Tt]rue")
_ON_CPU = re.compile(r"\bkind\s*:\s*KIND_CPU\b")
# Backends that run a language model one batch at a time; vLLM's schedules by itself.
_LANGUAGE_BACKENDS = ("python", "tensorrtllm", "fastertransformer")


class _BatchSize:
    """Replaces the number behind `max_batch_size`."""

    def __init__(self, place: Span) -> None:
        self._place = place

    def edits(self, *changes: Change) -> tuple[Edit, ...] | None:
        """The new number; None for any other change."""
        edits: list[Edit] = []
        for change in changes:
            if not (isinstance(change, Set) and change.option == "concurrency"):
                return None
            edits.append(Edit(self._place, str(change.value)))
        return tuple(edits)


def read(document: Document) -> Facts:
    """How many requests a Triton model takes at once, where it may be a language model.

    A size of 0 means that the model takes no batches at all, which decoupled backends want.
    """
    text = _TOKEN.sub(
        lambda found: found.group() if found.group()[0] != "#" else " " * len(found.group()),
        document.text,
    )
    backend = _BACKEND.search(text)
    size = _BATCH.search(text)
    if backend is None or size is None or backend.group(1) not in _LANGUAGE_BACKENDS:
        return Facts()
    number = int(size.group(1)) if len(size.group(1)) < 10 else 0
    if number == 0 or _DECOUPLED.search(text) or _ON_CPU.search(text):
        return Facts()
    place = Span(size.start(1), size.end(1))
    start = size.start() + len(size.group()) - len(size.group().lstrip())
    concurrency = Setting(
        State.KNOWN,
        number,
        Span(start, size.end()),
        Via.LITERAL,
        "max_batch_size",
        (),
        Span(start, start + len("max_batch_size")),
        place,
    )
    return Facts(
        [
            Serving(
                Span(start, size.end()),
                TRITON.name,
                f"Triton's {backend.group(1)} backend",
                concurrency=concurrency,
                role=Role.SERVICE,
                editor=_BatchSize(place),
            )
        ]
    )
