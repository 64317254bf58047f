"""`ecolint data`: look at the rows behind every figure, and hold them to physics."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ecolint.cli import CLEAN, COMMANDS, FAILED, FOUND
from ecolint.energy.dataset import TABLES, cite, read_table
from ecolint.selectors import did_you_mean

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    Line = Mapping[str, str]

_NAMES = {"grids": "grid", "gpu-patterns": "gpu_patterns"}
_KNOWN = tuple(sorted({*(table for table in TABLES if table not in _NAMES.values()), *_NAMES}))
# The columns that a terminal shows; csv and json have them all.
_SHOWN = {
    "measurements": "id gpu model precision batch throughput_tok_s energy_j_per_1k power_w grade",
    "serving": "id gpu model precision batch throughput_tok_s energy_j_per_1k power_w",
    "sessions": "session gpu engine engine_version torch bitsandbytes date basis grade",
    "models": "model kind params_b active_params_b layers kv_heads head_dim context",
    "gpus": "gpu name architecture compute_capability vram_gb bandwidth_gb_s tdp_w status",
    "gpu_patterns": "id pattern gpu slice status",
    "grid": "region name g_per_kwh year usd_per_kwh price_year price_status",
    "pue": "provider name pue year status",
    "equivalences": "id name value unit use status",
    "crossovers": "id architecture gpu size_b beyond_b kind",
    "parameters": "id value unit fitted_on",
}
_WIDEST = 48


class FilterError(ValueError):
    """A filter that names no column; one line, with the mend."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "data",
        help=COMMANDS["data"],
        description="Show a table of the dataset, or check every row against physics.",
        epilog="Filters: gpu=rtx4090d, precision=nf4, batch>=8, or a word found in any column.",
        allow_abbrev=False,
    )
    parser.add_argument("table", nargs="?", metavar="TABLE", help=f"{', '.join(_KNOWN)}, or check")
    parser.add_argument("--filter", action="append", default=[], metavar="COLUMN=VALUE")
    parser.add_argument(
        "--format", "--output-format", choices=("table", "csv", "json"), default="table"
    )


def run(args: argparse.Namespace) -> int:
    """Show a table, list the tables, or check them."""
    if args.table is None:
        return _list_tables()
    if args.table == "check":
        return _check(args.format)
    name = _NAMES.get(args.table, args.table)
    if name not in TABLES:
        return _fail(f"unknown table {args.table!r}{did_you_mean(args.table, (*_KNOWN, 'check'))}")
    try:
        lines = select(read_table(name), args.filter)
    except FilterError as error:
        return _fail(str(error))
    _PRINTERS[args.format](name, lines)
    return CLEAN


def select(lines: Sequence[Line], filters: Sequence[str]) -> list[Line]:
    """Return the lines that pass every filter. Raises FilterError."""
    tests = [_test(one, tuple(lines[0]) if lines else ()) for one in filters]
    return [line for line in lines if all(test(line) for test in tests)]


def _test(text: str, columns: tuple[str, ...]) -> Callable[[Line], bool]:
    for sign in (">=", "<=", "!=", "=", ">", "<"):
        column, found, wanted = text.partition(sign)
        if found:
            break
    else:
        word = text.lower()
        return lambda line: any(word in cell.lower() for cell in line.values())
    column, wanted = column.strip(), wanted.strip()
    if column not in columns:
        hint = did_you_mean(column, columns) or f"; the columns are {', '.join(columns)}"
        raise FilterError(f"--filter {text}: no column {column!r}{hint}")
    if sign in ("=", "!="):
        return lambda line: (line[column].lower() == wanted.lower()) == (sign == "=")
    bound = _number(text, wanted)
    return lambda line: bool(line[column]) and _compares(line[column], sign, bound)


def _compares(cell: str, sign: str, bound: float) -> bool:
    try:
        value = float(cell)
    except ValueError:
        return False
    return {
        ">": value > bound,
        "<": value < bound,
        ">=": value >= bound,
        "<=": value <= bound,
    }[sign]


def _number(text: str, wanted: str) -> float:
    try:
        return float(wanted)
    except ValueError:
        raise FilterError(f"--filter {text}: {wanted!r} is no number; write one") from None


def _list_tables() -> int:
    for name in _KNOWN:
        lines = read_table(_NAMES.get(name, name))
        print(f"{name:<13} {len(lines):>5} lines")
    print(f"\n{cite()}.")
    return CLEAN


def _check(form: str) -> int:
    from ecolint.energy.checking import check_rows
    from ecolint.energy.dataset import rows, serving_rows

    found = check_rows()
    if form == "json":
        import json

        print(json.dumps([{"row": one.row, "law": one.law} for one in found], indent=2))
    else:
        for one in found:
            print(f"{one.row}: {one.law}")
        every = (*rows(), *serving_rows())
        used = sum(row.usable for row in every)
        print(f"{used} rows in use, {len(found)} violations; {len(every) - used} kept, never used")
    return FOUND if found else CLEAN


def _print_table(name: str, lines: Sequence[Line]) -> None:
    columns = _SHOWN[name].split()
    cells = [columns, *([_cut(line[column]) for column in columns] for line in lines)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(columns))]
    for row in cells:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def _cut(cell: str) -> str:
    return cell if len(cell) <= _WIDEST else cell[: _WIDEST - 1] + "…"


def _print_csv(name: str, lines: Sequence[Line]) -> None:
    import csv

    writer = csv.DictWriter(sys.stdout, list(read_table(name)[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)


def _print_json(name: str, lines: Sequence[Line]) -> None:
    import json

    print(json.dumps([dict(line) for line in lines], indent=2, ensure_ascii=False))


_PRINTERS: dict[str, Callable[[str, Sequence[Line]], None]] = {
    "table": _print_table,
    "csv": _print_csv,
    "json": _print_json,
}


def _fail(message: str) -> int:
    print(f"ecolint: {message}", file=sys.stderr)
    return FAILED
