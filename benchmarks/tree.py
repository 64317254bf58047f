"""A cold run over a source tree against `ruff check` with its default rules, no cache.

Paired and interleaved; prints medians and the ratio. The tree is a folder that you name, or
a package that is fetched from the index.

    python -m benchmarks.tree FOLDER [--runs 5]
"""

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.startup import seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    ruff = shutil.which("ruff") or str(Path(sys.executable).with_name("ruff"))
    folder = str(options.folder)
    theirs = [ruff, "check", "--quiet", "--isolated", "--no-cache", "."]
    mine = [sys.executable, "-m", "ecolint", "check", "--quiet", "--isolated", "--no-cache", "."]
    pairs = [(seconds(theirs, folder), seconds(mine, folder)) for _ in range(options.runs)]
    files = sum(1 for _ in options.folder.rglob("*.py"))
    subprocess.run(mine, cwd=folder, check=False, capture_output=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{files} Python files")
    print(f"ruff    {statistics.median(t for t, _ in pairs):6.2f} s")
    print(f"ecolint {statistics.median(m for _, m in pairs):6.2f} s")
    print(f"ratio   {statistics.median(m / t for t, m in pairs):6.2f}")
    print(f"peak memory of any child {peak:.0f} MB")


if __name__ == "__main__":
    main()
