"""What a hook costs on a commit: `ecolint check` on five files against `python -c pass`.

Paired and interleaved, so that a busy machine slows both alike; prints medians and ratios.

    python -m benchmarks.startup [--runs 20]
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLEAN = '''"""A module without language models."""

import json
from pathlib import Path


def load(path: Path, batch_size: int = 32) -> list[dict[str, object]]:
    """Read records in batches."""
    rows = json.loads(path.read_text())
    return [row for start in range(0, len(rows), batch_size) for row in rows[start : start + batch_size]]
'''
TRIGGER = """from transformers import AutoModelForCausalLM, BitsAndBytesConfig

config = BitsAndBytesConfig(load_in_8bit=True)
model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.1", quantization_config=config)
"""


def seconds(command: list[str], folder: str) -> float:
    """How long a command takes, in seconds."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=False, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs: int = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        for number in range(5):
            Path(folder, f"clean{number}.py").write_text(CLEAN)
            text = TRIGGER if number == 0 else CLEAN
            Path(folder, f"mixed{number}.py").write_text(text)
        base = [sys.executable, "-c", "pass"]
        tool = [sys.executable, "-m", "ecolint", "check", "--isolated", "--no-cache", "-q"]
        cases = {
            "5 files without LLM code": [*tool, *(f"clean{n}.py" for n in range(5))],
            "5 files, one with a finding": [*tool, *(f"mixed{n}.py" for n in range(5))],
        }
        print(f"{'command':32} {'median ms':>10} {'x python -c pass':>17}")
        for name, command in cases.items():
            pairs = [(seconds(base, folder), seconds(command, folder)) for _ in range(runs)]
            ratio = statistics.median(mine / theirs for theirs, mine in pairs)
            print(f"{name:32} {statistics.median(m for _, m in pairs) * 1000:10.1f} {ratio:17.2f}")


if __name__ == "__main__":
    main()
