"""Run ecolint over packages that nobody here wrote and hold it to the verdicts on record.

`verdicts.txt` beside this file has one line a finding:

    package==version path:line code verdict

where the verdict is `right`, `debatable` or `wrong`, judged by reading the code. A finding
without a line must be judged; a line without a finding is gone, for better or for worse.

    python tests/wild/recheck.py             compare, exit 1 on any difference
    python tests/wild/recheck.py --new       print the lines that are missing, unjudged
    python tests/wild/recheck.py vllm axolotl   only these packages
"""

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
VERDICTS = HERE / "verdicts.txt"
PACKAGES = HERE / "packages.txt"


def fetch(requirement: str, kind: str, folder: Path) -> Path:
    """Download and unpack one pinned package, as a source archive ("sdist") or a wheel."""
    target = folder / requirement.replace("==", "-")
    if target.exists():
        return target
    with tempfile.TemporaryDirectory() as scratch:
        only = "--no-binary" if kind == "sdist" else "--only-binary"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", only, ":all:",
                   "--dest", scratch, requirement]  # fmt: skip
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{requirement}: {done.stderr.strip().splitlines()[-1]}")
        archive = next(Path(scratch).iterdir())
        target.mkdir(parents=True)
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                wheel.extractall(target)
        else:
            with tarfile.open(archive) as source_archive:
                source_archive.extractall(target, filter="data")
    return target


def findings(folder: Path) -> set[tuple[str, str]]:
    """(path:line, code) of everything that ecolint says about a folder, gray included."""
    command = [sys.executable, "-m", "ecolint", "check", "--isolated", "--no-cache",
               "--no-respect-gitignore", "--output-format", "json", "."]  # fmt: skip
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise SystemExit(f"{folder.name}: ecolint failed: {done.stderr.strip()[-400:]}")
    found = set()
    for item in json.loads(done.stdout):
        where = item["filename"]
        cell = f"#{item['cell']}" if item["cell"] else ""
        found.add((f"{where}{cell}:{item['location']['row']}", item["code"]))
    return found


def judged() -> dict[tuple[str, str, str], str]:
    """(package, path:line, code) → verdict."""
    lines = VERDICTS.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {(package, place, code): verdict for package, place, code, verdict in rows}


def main() -> int:
    """Compare and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help="only these (default: all on record)")
    parser.add_argument("--new", action="store_true", help="print the missing lines only")
    parser.add_argument("--sources", type=Path, default=Path(".wild"), help="where to unpack")
    options = parser.parse_args()
    lines = PACKAGES.read_text(encoding="utf-8").splitlines()
    wanted = dict(line.split() for line in lines if line.strip())
    if options.packages:
        wanted = {
            one: kind for one, kind in wanted.items() if one.split("==")[0] in options.packages
        }
    verdicts = judged()
    known = {key for key in verdicts if key[0] in wanted}
    found = {
        (package, *finding)
        for package, kind in wanted.items()
        for finding in findings(fetch(package, kind, options.sources))
    }
    for package, place, code in sorted(found - known):
        print(f"{package} {place} {code} {'?' if options.new else 'is not judged'}")
    if options.new:
        return 0
    for package, place, code in sorted(known - found):
        print(f"{package} {place} {code} is gone (was {verdicts[package, place, code]})")
    spoken = [verdicts[key] for key in known]
    wrong = spoken.count("wrong")
    print(f"{len(found)} findings in {len(wanted)} packages; {wrong} judged wrong,"
          f" {spoken.count('debatable')} debatable")  # fmt: skip
    return int(found != known)


if __name__ == "__main__":
    sys.exit(main())
