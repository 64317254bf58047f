"""`ecolint measure`: sample a GPU while a command generates, and keep the row."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ecolint.cli import CLEAN, COMMANDS, FAILED

if TYPE_CHECKING:
    import argparse

    from ecolint.energy.metering import Reading, Trace

_FILE = "ecolint-measurements.csv"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "measure",
        help=COMMANDS["measure"],
        description=(
            "Sample board power while COMMAND runs. The command prints '::ecolint begin' before "
            "and '::ecolint end tokens=N' after each generation; the rest stays outside."
        ),
        epilog=(
            "Protocol: nothing else on the card; 2-3 warm-up generations before the first mark; "
            "10 generations of 256 tokens, greedy, one fixed prompt; repeat after a restart. "
            "`ecolint measure import FILE` adds the rows of another file."
        ),
        allow_abbrev=False,
    )
    parser.add_argument("words", nargs="*", metavar="-- COMMAND", help="or: import FILE")
    parser.add_argument("--model", help="model id, such as Qwen/Qwen2.5-7B-Instruct")
    parser.add_argument("--precision", default="fp16", help="such as fp16, nf4, int8 (fp16)")
    parser.add_argument("--gpu", help="name of the card (read from the driver)")
    parser.add_argument("--gpu-index", type=int, default=0, metavar="N")
    parser.add_argument("--engine", default="transformers")
    parser.add_argument("--engine-version", default="", metavar="VERSION")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--input-tokens", type=int, metavar="N")
    parser.add_argument("--output-tokens", type=int, metavar="N")
    parser.add_argument("--idle-seconds", type=float, default=10.0, metavar="S")
    parser.add_argument("--trace", metavar="FILE", help="use a recorded power trace, no GPU")
    parser.add_argument("--save-trace", metavar="FILE", help="keep the samples and marks")
    parser.add_argument("--out", default=_FILE, metavar="FILE", help=f"add the row here ({_FILE})")
    parser.add_argument("--note", default="", help="a word on the run")


def run(args: argparse.Namespace) -> int:
    """Measure, or import, and say what was added where."""
    from ecolint.energy.metering import MeteringError
    from ecolint.energy.question import QuestionError
    from ecolint.energy.site import MeasurementsError

    try:
        if args.words[:1] == ["import"] and args.trace is None:
            return _import(args)
        return _measure(args)
    except (MeteringError, MeasurementsError, QuestionError) as error:
        print(f"ecolint: {error}", file=sys.stderr)
        return FAILED


def _import(args: argparse.Namespace) -> int:
    import csv

    from ecolint.energy.metering import MeteringError
    from ecolint.energy.site import append_rows, read_rows

    if len(args.words) != 2:
        raise MeteringError("measure import takes one csv file; see `ecolint measure --help`")
    path = args.words[1]
    rows = read_rows(path)
    with open(path, encoding="utf-8-sig", newline="") as lines:
        append_rows(args.out, list(csv.DictReader(lines)))
    print(f"{len(rows)} rows of {path} added to {args.out}")
    return CLEAN


def _measure(args: argparse.Namespace) -> int:
    from ecolint.energy.metering import MeteringError, read_power, read_trace, write_trace
    from ecolint.energy.question import ask
    from ecolint.energy.site import append_rows

    if not args.model:
        raise MeteringError("--model is needed, so that the row can be found again")
    if args.trace and not args.gpu:
        raise MeteringError("--gpu is needed beside --trace: a trace names no card")
    # A misspelt name must not cost a run.
    ask(args.model, args.gpu or "a100", args.precision, args.engine, args.batch)
    trace, card = (read_trace(args.trace), args.gpu) if args.trace else _record(args)
    if args.save_trace:
        write_trace(args.save_trace, trace)
    reading = read_power(trace)
    append_rows(args.out, [_line(args, card, reading)])
    _say(args, card, reading)
    return CLEAN


def _record(args: argparse.Namespace) -> tuple[Trace, str]:
    from ecolint.energy.metering import MeteringError, open_meter, record

    if not args.words:
        raise MeteringError("give the command to measure after --, or a recorded --trace")
    meter, name = open_meter(args.gpu_index)
    trace, status = record(args.words, meter, idle_s=args.idle_seconds)
    if status:
        raise MeteringError(f"the command ended with status {status}; nothing was written")
    return trace, args.gpu or name


def _line(args: argparse.Namespace, card: str, reading: Reading) -> dict[str, str]:
    from datetime import date

    def text(value: float | None) -> str:
        return "" if value is None else f"{value:.6g}"

    return {
        "date": date.today().isoformat(),
        "gpu": card,
        "model": args.model,
        "precision": args.precision,
        "batch": str(args.batch),
        "input_tokens": text(args.input_tokens),
        "output_tokens": text(args.output_tokens),
        "throughput_tok_s": text(reading.throughput_tok_s),
        "energy_j_per_1k": text(reading.energy_j_per_1k),
        "power_w": text(reading.power_w),
        "idle_w": text(reading.idle_w),
        "basis": "gross",
        "runs": str(reading.runs),
        "cv_pct": text(reading.speed_cv_pct),
        "engine": args.engine,
        "engine_version": args.engine_version,
        "notes": args.note,
        **_versions(),
    }


def _versions() -> dict[str, str]:
    """Return the versions of the libraries that decide, as installed beside ecolint."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in ("torch", "transformers", "bitsandbytes", "torchao"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = ""
    return found


def _say(args: argparse.Namespace, card: str, reading: Reading) -> None:
    print(
        f"{card}, {args.model}, {args.precision}, batch {args.batch}: "
        f"{reading.energy_j_per_1k:,.0f} J per 1k tokens (gross), "
        f"{reading.throughput_tok_s:,.1f} tokens/s, {reading.power_w:.0f} W; "
        f"{reading.runs} generations, added to {args.out}"
    )
    for warning in reading.warnings:
        print(f"ecolint: {warning}", file=sys.stderr)
