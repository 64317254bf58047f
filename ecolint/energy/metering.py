"""Measure a command's energy: sample board power while it runs, sum up its marked windows.

The command prints a mark before and after each generation, on lines of their own:
`::ecolint begin` and `::ecolint end tokens=2560`. Loading and warm-up stay outside. Power
above idle is never subtracted; idle is recorded beside it.
"""

from __future__ import annotations

import csv
import math
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INTERVAL_S = 0.1
IDLE_S = 10.0
# A steady run: less scatter than this between generations, in percent.
MOST_SPEED_CV = 2.0
MOST_POWER_CV = 5.0
_FEWEST_SAMPLES = 3
_MARK = re.compile(r"^::ecolint\s+(begin|end)(?:\s+tokens=(\d+))?\s*$")


class MeteringError(RuntimeError):
    """A measurement that can't be made or used: one line, with the mend."""


class Meter(Protocol):
    """Something that tells board power."""

    def watts(self) -> float:
        """Return the power drawn now, in W."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Board power at a time, in seconds since the recording began."""

    seconds: float
    watts: float


@dataclass(frozen=True, slots=True)
class Window:
    """A marked generation: when it ran and how many tokens it generated."""

    begin: float
    end: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Trace:
    """What a recording holds: samples from the idle time on, and the marked windows."""

    samples: tuple[Sample, ...]
    windows: tuple[Window, ...]
    idle_until: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What a trace says: gross energy in J per 1,000 tokens, mean power, speed, scatter."""

    energy_j_per_1k: float
    power_w: float
    throughput_tok_s: float
    idle_w: float | None
    runs: int
    speed_cv_pct: float
    power_cv_pct: float

    @property
    def warnings(self) -> tuple[str, ...]:
        """Say what makes the reading unsteady, one line each."""
        found = []
        if self.speed_cv_pct > MOST_SPEED_CV:
            found.append(
                f"speed scatters by {self.speed_cv_pct:.1f} %; {MOST_SPEED_CV:g} is steady"
            )
        if self.power_cv_pct > MOST_POWER_CV:
            found.append(
                f"power scatters by {self.power_cv_pct:.1f} %; {MOST_POWER_CV:g} is steady"
            )
        if self.runs < 2:
            found.append("one generation tells no scatter; mark ten of them")
        return tuple(found)


def open_meter(index: int = 0) -> tuple[Meter, str]:
    """Return the meter of an NVIDIA card and its name. Raises MeteringError without one."""
    try:
        import pynvml
    except ImportError:
        raise MeteringError(
            "nvidia-ml-py is not installed, so no GPU can be read: pip install 'ecolint[measure]'"
        ) from None
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        name = pynvml.nvmlDeviceGetName(handle)
    except pynvml.NVMLError as error:
        raise MeteringError(
            f"no NVIDIA GPU {index} can be read ({error}); see nvidia-smi"
        ) from None

    class Board:
        def watts(self) -> float:
            return float(pynvml.nvmlDeviceGetPowerUsage(handle)) / 1000

    return Board(), name if isinstance(name, str) else name.decode()


def record(
    command: Sequence[str],
    meter: Meter,
    *,
    idle_s: float = IDLE_S,
    interval_s: float = INTERVAL_S,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Trace, int]:
    """Run a command while sampling power; return the trace and the command's exit status.

    Its output passes through, marks apart. Raises MeteringError if it can't be started.
    """
    start = clock()
    samples: list[Sample] = []
    stop = threading.Event()

    def sample() -> None:
        while not stop.is_set():
            samples.append(Sample(clock() - start, meter.watts()))
            stop.wait(interval_s)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        time.sleep(idle_s)
        idle_until = clock() - start
        windows, status = _run(command, lambda: clock() - start)
    finally:
        stop.set()
        sampler.join()
    return Trace(tuple(samples), tuple(windows), idle_until), status


def read_trace(path: str) -> Trace:
    """Read a recorded trace: columns seconds, watts, event. Raises MeteringError.

    An event is "idle-until", "begin" or "end tokens=N", on a line with its time.
    """
    samples: list[Sample] = []
    windows: list[Window] = []
    idle_until, begun = 0.0, None
    try:
        with open(path, encoding="utf-8", newline="") as lines:
            for number, line in enumerate(csv.DictReader(lines), start=2):
                try:
                    at = float(line["seconds"])
                    if line["watts"]:
                        samples.append(Sample(at, float(line["watts"])))
                except (KeyError, TypeError, ValueError):
                    raise MeteringError(
                        f"{path}:{number}: write seconds,watts,event with numbers"
                    ) from None
                event = (line.get("event") or "").strip()
                if event == "idle-until":
                    idle_until = at
                elif event == "begin":
                    begun = at
                elif event.startswith("end tokens="):
                    windows.append(_window(path, number, begun, at, event))
                    begun = None
                elif event:
                    raise MeteringError(
                        f"{path}:{number}: unknown event {event!r}; use begin or end"
                    )
    except OSError as error:
        raise MeteringError(f"{path}: {error.strerror or error}; give a recorded trace") from None
    return Trace(tuple(samples), tuple(windows), idle_until)


def write_trace(path: str, trace: Trace) -> None:
    """Write a trace that read_trace reads."""
    events = [(trace.idle_until, "idle-until")] if trace.idle_until else []
    for window in trace.windows:
        events += [(window.begin, "begin"), (window.end, f"end tokens={window.tokens}")]
    lines = [(sample.seconds, f"{sample.watts:.3f}", "") for sample in trace.samples]
    lines += [(seconds, "", event) for seconds, event in events]
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("seconds", "watts", "event"))
        writer.writerows((f"{at:.3f}", watts, event) for at, watts, event in sorted(lines))


def read_power(trace: Trace) -> Reading:
    """Return what a trace says. Raises MeteringError where it says too little."""
    if not trace.windows:
        raise MeteringError(
            "the command marked no generation: print '::ecolint begin' before and "
            "'::ecolint end tokens=N' after each"
        )
    joules = [_joules(trace.samples, window) for window in trace.windows]
    lengths = [window.end - window.begin for window in trace.windows]
    tokens = sum(window.tokens for window in trace.windows)
    idle = [one.watts for one in trace.samples if one.seconds <= trace.idle_until]
    return Reading(
        energy_j_per_1k=1000 * sum(joules) / tokens,
        power_w=sum(joules) / sum(lengths),
        throughput_tok_s=tokens / sum(lengths),
        idle_w=sum(idle) / len(idle) if trace.idle_until and idle else None,
        runs=len(trace.windows),
        speed_cv_pct=_scatter(
            [w.tokens / length for w, length in zip(trace.windows, lengths, strict=True)]
        ),
        power_cv_pct=_scatter([j / length for j, length in zip(joules, lengths, strict=True)]),
    )


def _run(command: Sequence[str], now: Callable[[], float]) -> tuple[list[Window], int]:
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace")
    except OSError as error:
        raise MeteringError(f"{command[0]}: {error.strerror or error}; check the command") from None
    windows: list[Window] = []
    begun: float | None = None
    assert process.stdout is not None
    for line in process.stdout:
        mark = _MARK.match(line)
        if mark is None:
            sys.stdout.write(line)
            sys.stdout.flush()
        elif mark[1] == "begin":
            begun = now()
        elif mark[2] and begun is not None:
            windows.append(Window(begun, now(), int(mark[2])))
            begun = None
    return windows, process.wait()


def _window(path: str, number: int, begun: float | None, at: float, event: str) -> Window:
    tokens = event.partition("=")[2]
    if begun is None or at <= begun or not tokens.isdigit() or not int(tokens):
        raise MeteringError(f"{path}:{number}: {event!r} ends nothing; put a begin before it")
    return Window(begun, at, int(tokens))


def _joules(samples: Sequence[Sample], window: Window) -> float:
    """Integrate power over a window by trapezoids; the ends are read between samples."""
    inside = [one for one in samples if window.begin < one.seconds < window.end]
    if len(inside) < _FEWEST_SAMPLES:
        raise MeteringError(
            f"a generation of {window.end - window.begin:.2f} s holds {len(inside)} power "
            "samples; generate more tokens at once"
        )
    points = [
        Sample(window.begin, _power_at(samples, window.begin)),
        *inside,
        Sample(window.end, _power_at(samples, window.end)),
    ]
    return math.fsum(
        (right.seconds - left.seconds) * (left.watts + right.watts) / 2
        for left, right in pairwise(points)
    )


def _power_at(samples: Sequence[Sample], seconds: float) -> float:
    before = max(
        (s for s in samples if s.seconds <= seconds), key=lambda s: s.seconds, default=None
    )
    after = min((s for s in samples if s.seconds >= seconds), key=lambda s: s.seconds, default=None)
    if before is None or after is None:
        known = before or after
        assert known is not None
        return known.watts
    if after.seconds == before.seconds:
        return before.watts
    part = (seconds - before.seconds) / (after.seconds - before.seconds)
    return before.watts + part * (after.watts - before.watts)


def _scatter(values: Sequence[float]) -> float:
    """Return the standard deviation over the mean, in percent."""
    if len(values) < 2:
        return 0.0
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return 100 * math.sqrt(variance) / mean
