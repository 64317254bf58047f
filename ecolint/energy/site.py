"""Read and write a site's own measurements, which win over ours.

A file of them has one line a configuration, in the columns of COLUMNS: those of
measurements.csv that a site can know, and the stack that the session ran on.
"""

from __future__ import annotations

import csv
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from ecolint.catalog import find_gpu, find_model, suggest_gpu, suggest_model
from ecolint.energy.checking import check_row
from ecolint.energy.dataset import Row, Session, row_of, session_of
from ecolint.energy.matching import alike
from ecolint.energy.question import ENGINES, PRECISIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

STACK = ("engine", "engine_version", "torch", "transformers", "bitsandbytes", "torchao")
MACHINE = ("cuda", "driver", "idle_w", "basis")
COLUMNS = (
    "id",
    "date",
    "gpu",
    "n_gpus",
    "model",
    "precision",
    "batch",
    "input_tokens",
    "output_tokens",
    "throughput_tok_s",
    "energy_j_per_1k",
    "power_w",
    "latency_s",
    "vram_gb",
    "runs",
    "cv_pct",
    *STACK,
    *MACHINE,
    "notes",
)
REQUIRED = ("gpu", "model", "precision")
_NUMBERS = (
    "n_gpus",
    "batch",
    "input_tokens",
    "output_tokens",
    "throughput_tok_s",
    "energy_j_per_1k",
    "power_w",
    "latency_s",
    "vram_gb",
    "runs",
    "cv_pct",
    "idle_w",
)
_BASES = ("gross", "net")


class MeasurementsError(ValueError):
    """A file of measurements that can't be used: one line with file, line and mend."""


def read_rows(path: str) -> tuple[Row, ...]:
    """Return the rows of a site's file. Raises MeasurementsError."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            _check_header(path, reader.fieldnames or ())
            found = [_row(path, reader.line_num, line) for line in reader]
    except OSError as error:
        raise MeasurementsError(f"{path}: {error.strerror or error}; give a csv file") from None
    except (UnicodeDecodeError, csv.Error):
        raise MeasurementsError(f"{path}: not a csv file in UTF-8; save it as one") from None
    return _with_baselines(_unique(path, found))


def append_rows(path: str, lines: list[Mapping[str, str]]) -> None:
    """Add lines to a site's file, which is made if there is none. Raises MeasurementsError.

    Nothing is written unless every line could be read back.
    """
    fresh = not os.path.exists(path) or os.path.getsize(path) == 0
    before = [] if fresh else list(read_rows(path))
    start = len(before) + 2
    _unique(path, before + [_row(path, start + n, line) for n, line in enumerate(lines)])
    try:
        with open(path, "a", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, COLUMNS, lineterminator="\n", extrasaction="ignore")
            if fresh:
                writer.writeheader()
            writer.writerows({name: line.get(name, "") for name in COLUMNS} for line in lines)
    except OSError as error:
        raise MeasurementsError(f"{path}: {error.strerror or error}; choose another file") from None


def _check_header(path: str, names: object) -> None:
    known = list(names) if isinstance(names, list | tuple) else []
    for name in REQUIRED:
        if name not in known:
            raise MeasurementsError(f"{path}:1: no column {name!r}; the columns are {_list()}")
    for name in known:
        if name not in COLUMNS:
            from difflib import get_close_matches

            near = get_close_matches(name, COLUMNS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the columns are {_list()}"
            raise MeasurementsError(f"{path}:1: unknown column {name!r}; {hint}")


def _list() -> str:
    return ", ".join(COLUMNS)


def _row(path: str, number: int, given: Mapping[str, str | None]) -> Row:
    line = {name: (given.get(name) or "").strip() for name in COLUMNS}
    place = f"{path}:{number}"
    for name in _NUMBERS:
        _check_number(place, name, line[name])
    card, model = find_gpu(line["gpu"]), find_model(line["model"])
    if card is None:
        raise MeasurementsError(f"{place}: unknown GPU {line['gpu']!r}{_near(line, 'gpu')}")
    if model is None:
        raise MeasurementsError(f"{place}: unknown model {line['model']!r}{_near(line, 'model')}")
    _check_choice(place, "precision", line["precision"], PRECISIONS)
    _check_choice(place, "engine", line["engine"] or "transformers", ENGINES)
    _check_choice(place, "basis", line["basis"] or "gross", _BASES)
    line["gpu"] = card.key
    if not line["energy_j_per_1k"]:
        if not (line["power_w"] and line["throughput_tok_s"]):
            raise MeasurementsError(
                f"{place}: no energy; give energy_j_per_1k, or power_w and throughput_tok_s"
            )
        joules = 1000 * float(line["power_w"]) / float(line["throughput_tok_s"])
        line["energy_j_per_1k"] = f"{joules:.6g}"
    row = row_of(_filled(line, path, number), _session(line))
    for violation in check_row(row):
        raise MeasurementsError(f"{place}: {violation.law}; check the line")
    return row


def _filled(line: Mapping[str, str], path: str, number: int) -> dict[str, str]:
    own = {
        "id": line["id"] or f"{os.path.basename(path)}:{number}",
        "batch": line["batch"] or "1",
        "n_gpus": line["n_gpus"] or "1",
        "session": "",
        "energy_vs_fp16_pct": "",
        "baseline": "",
        "perplexity": "",
        "perplexity_vs_fp16_pct": "",
        "task": "generation",
        "grade": "A",
        "source": os.path.basename(path),
        "licence": "own",
    }
    return {**line, **own}


def _session(line: Mapping[str, str]) -> Session:
    engine = line["engine"] or "transformers"
    parts = [line["date"], line["gpu"], *(line[name] for name in STACK[1:]), line["driver"]]
    return session_of(
        {
            **line,
            "session": "site/" + "/".join([engine, *(part for part in parts if part)]),
            "engine": engine,
            "basis": line["basis"] or "gross",
            "grade": "A",
            "doi": "",
            "source": "site",
            "licence": "own",
        }
    )


def _unique(path: str, rows: list[Row]) -> list[Row]:
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise MeasurementsError(f"{path}: the id {row.id!r} stands twice; rename one")
        seen.add(row.id)
    return rows


def _with_baselines(rows: list[Row]) -> tuple[Row, ...]:
    """Name each quantised row's 16-bit baseline, where its session has exactly one."""
    paired = []
    for row in rows:
        bases = [
            base
            for base in rows
            if alike(base.precision) == "fp16"
            and (base.session.id, base.model, base.batch, base.output_tokens)
            == (row.session.id, row.model, row.batch, row.output_tokens)
        ]
        quantised = alike(row.precision) != "fp16"
        paired.append(replace(row, baseline=bases[0].id) if quantised and len(bases) == 1 else row)
    return tuple(paired)


def _check_number(place: str, name: str, text: str) -> None:
    if not text:
        return
    try:
        value = float(text)
    except ValueError:
        raise MeasurementsError(f"{place}: {name} {text!r} is no number; write one") from None
    if not 0 <= value < 1e12 or (name in ("batch", "n_gpus", "throughput_tok_s") and value == 0):
        raise MeasurementsError(f"{place}: {name} {text} is impossible; write a positive number")
    if name == "n_gpus" and value != int(value):
        raise MeasurementsError(f"{place}: n_gpus {text} is no whole number; write {round(value)}")


def _check_choice(place: str, name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise MeasurementsError(f"{place}: unknown {name} {value!r}; use {', '.join(known)}")


def _near(line: Mapping[str, str], name: str) -> str:
    near = suggest_gpu(line[name]) if name == "gpu" else suggest_model(line[name])
    return f"; did you mean {near[0]}?" if near else "; see `ecolint data`"
