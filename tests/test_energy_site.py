"""A site's own measurements: read, refused in one line, metered from a trace or a command."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ecolint.cli import main
from ecolint.energy import MeasurementsError, crossover, penalty, read_rows
from ecolint.energy.metering import (
    MeteringError,
    Sample,
    Trace,
    Window,
    open_meter,
    read_power,
    read_trace,
    record,
    write_trace,
)
from ecolint.energy.site import COLUMNS, append_rows

HEAD = "gpu,model,precision,throughput_tok_s,energy_j_per_1k,power_w"


def written(folder: Path, *lines: str, head: str = HEAD) -> str:
    path = folder / "site.csv"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return str(path)


def test_a_row_is_read_with_its_session(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "NVIDIA L4,Qwen/Qwen2.5-3B,fp16,35,1857,65,0.50.2",
        head=HEAD + ",bitsandbytes",
    )
    (row,) = read_rows(path)
    assert (row.gpu, row.batch, row.session.own) == ("l4", 1.0, True)
    assert row.session.stack == {"bitsandbytes": "0.50.2"}
    assert row.id == "site.csv:2"


def test_power_over_throughput_is_the_energy(tmp_path: Path) -> None:
    (row,) = read_rows(written(tmp_path, "l4,Qwen/Qwen2.5-3B,fp16,35,,70"))
    assert row.gross_j_per_1k == pytest.approx(2000)


def test_a_quantised_row_finds_its_baseline_and_wins(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "rtx4090,Qwen/Qwen2-7B,fp16,60,5000,300",
        "rtx4090,Qwen/Qwen2-7B,nf4,60,4000,240",
        "rtx4090,Qwen/Qwen2.5-3B,fp16,70,3000,210",
        "rtx4090,Qwen/Qwen2.5-3B,nf4,50,3600,180",
    )
    own = read_rows(path)
    assert own[1].baseline == own[0].id
    found = penalty("nf4", gpu="rtx4090", model="Qwen/Qwen2-7B", site=own)
    assert found is not None
    assert found.pct == pytest.approx(-20.0)
    assert found.rows == ("site.csv:3", "site.csv:2")
    turn = crossover("rtx4090", site=own)
    assert turn.sessions == (own[0].session.id,)
    assert 3.086 < turn.threshold_b < 7.616


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("rtx4900,Qwen/Qwen2-7B,fp16,60,5000,300", r"site.csv:2: unknown GPU.*rtx4090"),
        ("rtx4090,Qwen/Qwen2.5-77,fp16,60,5000,300", r"unknown model.*Qwen/Qwen2.5-7B"),
        ("rtx4090,Qwen/Qwen2-7B,fp61,60,5000,300", "unknown precision"),
        ("rtx4090,Qwen/Qwen2-7B,fp16,60,five,300", "energy_j_per_1k 'five' is no number"),
        ("rtx4090,Qwen/Qwen2-7B,fp16,60,-5,300", "energy_j_per_1k -5 is impossible"),
        ("rtx4090,Qwen/Qwen2-7B,fp16,0,5000,300", "throughput_tok_s 0 is impossible"),
        ("rtx4090,Qwen/Qwen2-7B,fp16,60,,", "no energy; give energy_j_per_1k"),
        ("rtx4090,Qwen/Qwen2-7B,fp16,60,5000,900", "above its limit"),
        ("rtx4090,Qwen/Qwen2-7B,fp16,60,9000,300", "power over throughput"),
        ("rtx4090,Qwen/Qwen2-7B,fp16,200,1500,300", "memory can feed"),
    ],
)
def test_a_line_that_cannot_be_is_named(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(MeasurementsError, match=says) as error:
        read_rows(written(tmp_path, line))
    assert "\n" not in str(error.value)
    assert "site.csv:2" in str(error.value)


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("gpu,model", "no column 'precision'"),
        ("gpu,model,precision,powr_w", "did you mean 'power_w'"),
        ("gpu,model,precision,colour_of_card", "the columns are"),
    ],
)
def test_a_header_that_is_wrong_is_named(tmp_path: Path, head: str, says: str) -> None:
    with pytest.raises(MeasurementsError, match=says):
        read_rows(written(tmp_path, head=head))


def test_ids_stand_once(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "a,rtx4090,Qwen/Qwen2-7B,fp16,60,5000,300",
        "a,rtx4090,Qwen/Qwen2-7B,nf4,60,4000,240",
        head="id," + HEAD,
    )
    with pytest.raises(MeasurementsError, match="'a' stands twice"):
        read_rows(path)


def test_files_that_are_none(tmp_path: Path) -> None:
    binary = tmp_path / "image.csv"
    binary.write_bytes(b"\xff\xfe\x00\x81")
    for path in (tmp_path / "absent.csv", tmp_path, binary):
        with pytest.raises(MeasurementsError, match=str(path)):
            read_rows(str(path))


def test_nothing_is_written_unless_all_could_be_read(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    sound = {
        "gpu": "l4",
        "model": "Qwen/Qwen2.5-3B",
        "precision": "fp16",
        "energy_j_per_1k": "1900",
    }
    append_rows(str(path), [sound])
    before = path.read_text(encoding="utf-8")
    with pytest.raises(MeasurementsError, match="unknown GPU"):
        append_rows(str(path), [sound, {**sound, "gpu": "l9999"}])
    assert path.read_text(encoding="utf-8") == before
    append_rows(str(path), [sound])
    assert len(read_rows(str(path))) == 2
    assert before.splitlines()[0] == ",".join(COLUMNS)


def steady(watts: float = 200.0) -> Trace:
    """Ten idle seconds at 20 W, then two generations of 2 s at `watts`, 300 tokens each."""
    samples = [Sample(n / 10, 20.0) for n in range(101)]
    samples += [Sample(10 + n / 10, watts) for n in range(1, 51)]
    windows = (Window(10.5, 12.5, 300), Window(12.6, 14.6, 300))
    return Trace(tuple(samples), windows, 10.0)


def test_a_trace_is_summed_over_its_windows_only() -> None:
    reading = read_power(steady())
    assert reading.power_w == pytest.approx(200)
    assert reading.throughput_tok_s == pytest.approx(150)
    assert reading.energy_j_per_1k == pytest.approx(1000 * 200 / 150)
    assert reading.idle_w == pytest.approx(20)
    assert (reading.runs, reading.warnings) == (2, ())


def test_power_that_rises_is_integrated() -> None:
    samples = tuple(Sample(n / 10, 10.0 * n) for n in range(21))
    reading = read_power(Trace(samples, (Window(0.55, 1.55, 100),), 0.0))
    assert reading.power_w == pytest.approx(105.0)
    assert reading.idle_w is None
    assert "one generation" in reading.warnings[0]


def test_an_unsteady_run_is_said_to_be() -> None:
    trace = steady()
    uneven = Trace(trace.samples, (trace.windows[0], Window(12.6, 14.6, 200)), 10.0)
    assert any("speed scatters" in one for one in read_power(uneven).warnings)


@pytest.mark.parametrize(
    ("trace", "says"),
    [
        (Trace((Sample(0, 1.0),), (), 0.0), "marked no generation"),
        (Trace((Sample(0, 1.0),), (Window(0, 0.1, 5),), 0.0), "generate more tokens"),
    ],
)
def test_a_trace_that_says_too_little(trace: Trace, says: str) -> None:
    with pytest.raises(MeteringError, match=says):
        read_power(trace)


def test_a_trace_is_kept_and_read_back(tmp_path: Path) -> None:
    path = str(tmp_path / "trace.csv")
    write_trace(path, steady())
    assert read_power(read_trace(path)) == read_power(steady())


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("0.1,ten,\n", "trace.csv:2: write seconds,watts,event"),
        ("0.1,10,start\n", "unknown event 'start'"),
        ("0.1,10,end tokens=5\n", "put a begin before it"),
        ("0.1,10,begin\n0.2,10,end tokens=0\n", "ends nothing"),
    ],
)
def test_a_trace_file_that_is_wrong(tmp_path: Path, body: str, says: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("seconds,watts,event\n" + body, encoding="utf-8")
    with pytest.raises(MeteringError, match=says):
        read_trace(str(path))


class Constant:
    """A card that always draws the same."""

    def watts(self) -> float:
        return 150.0


SCRIPT = """
import time
print("loading")
for _ in range(2):
    print("::ecolint begin", flush=True)
    time.sleep(0.3)
    print("::ecolint end tokens=60", flush=True)
print("done")
"""


def test_a_command_is_sampled_between_its_marks(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", SCRIPT]
    trace, status = record(command, Constant(), idle_s=0.1, interval_s=0.02)
    reading = read_power(trace)
    assert status == 0
    assert [window.tokens for window in trace.windows] == [60, 60]
    assert reading.power_w == pytest.approx(150)
    assert 100 < reading.throughput_tok_s <= 200
    assert capsys.readouterr().out == "loading\ndone\n"


def test_a_command_that_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(MeteringError, match="check the command"):
        record([str(tmp_path / "absent")], Constant(), idle_s=0.0)


class DriverError(Exception):
    """The error of nvidia-ml-py."""


def driver(cards: int) -> SimpleNamespace:
    """What nvidia-ml-py offers on a machine with so many cards."""

    def start() -> None:
        if not cards:
            raise DriverError("Driver Not Loaded")

    def handle(index: int) -> int:
        if index >= cards:
            raise DriverError("Invalid Argument")
        return index

    return SimpleNamespace(
        NVMLError=DriverError,
        nvmlInit=start,
        nvmlDeviceGetHandleByIndex=handle,
        nvmlDeviceGetName=lambda handle: b"NVIDIA L4",
        nvmlDeviceGetPowerUsage=lambda handle: 61_500,
    )


@pytest.mark.parametrize(
    ("library", "index", "says"),
    [
        (None, 0, "nvidia-ml-py is not installed"),
        (driver(0), 0, "no NVIDIA GPU 0 can be read"),
        (driver(1), 3, "no NVIDIA GPU 3 can be read"),
    ],
)
def test_without_a_gpu_one_line_says_so(
    library: SimpleNamespace | None, index: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", library)
    with pytest.raises(MeteringError, match=says) as error:
        open_meter(index)
    assert "\n" not in str(error.value)


def test_a_card_is_read_in_watts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", driver(1))
    meter, name = open_meter()
    assert (meter.watts(), name) == (61.5, "NVIDIA L4")


def test_the_command_adds_a_row_from_a_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, out = str(tmp_path / "trace.csv"), str(tmp_path / "own.csv")
    write_trace(trace, steady())
    words = ["measure", "--trace", trace, "--gpu", "rtx4090", "--model", "Qwen/Qwen2.5-3B"]
    assert main([*words, "--output-tokens", "300", "--out", out]) == 0
    assert "1,333 J per 1k tokens (gross)" in capsys.readouterr().out
    (row,) = read_rows(out)
    assert row.energy_j_per_1k == pytest.approx(1333.33, abs=0.01)
    assert row.session.idle_w == pytest.approx(20)
    assert main(["measure", "import", out, "--out", str(tmp_path / "all.csv")]) == 0
    assert len(read_rows(str(tmp_path / "all.csv"))) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["measure"], "--model is needed"),
        (["measure", "--model", "Qwen/Qwen2.5-3B"], "command to measure"),
        (["measure", "--model", "Qwen/Qwen2.5-33", "--", "true"], "unknown model"),
        (["measure", "--model", "Qwen/Qwen2.5-3B", "--trace", "absent.csv"], "--gpu is needed"),
        (
            ["measure", "--model", "7B", "--gpu", "l4", "--trace", "absent.csv"],
            "absent.csv: No such file",
        ),
        (["measure", "import"], "takes one csv file"),
        (["measure", "import", "absent.csv"], "absent.csv"),
    ],
)
def test_a_command_that_cannot_measure_says_why(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.startswith("ecolint: ")
    assert error.count("\n") == 1
