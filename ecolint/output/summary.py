"""The lines after the findings: how many there are, and what `--fix` would do about them."""

from collections.abc import Sequence

from ecolint.diagnostics import Applicability, Diagnostic, Severity


def summarise(found: Sequence[Diagnostic], fixed: int, unsafe_fixes: bool) -> str:
    """What a run came to, in a line: findings left, fixed and fixable."""
    bad = [one for one in found if one.severity is not Severity.GREEN]
    good = len(found) - len(bad)
    if not bad and not fixed:
        return "All checks passed!" + (f" {count(good, 'good practice')}." if good else "")
    total = count(len(bad) + fixed, "finding")
    first = f"Found {total} ({fixed} fixed, {len(bad)} remaining)." if fixed else f"Found {total}."
    return f"{first}{_fixable(bad, unsafe_fixes)}"


def would_fix(fixed: int) -> str:
    """What `--diff` came to."""
    return f"Would fix {count(fixed, 'finding')}." if fixed else "No fixes available."


def _fixable(bad: Sequence[Diagnostic], unsafe_fixes: bool) -> str:
    safe = _count_of(bad, Applicability.SAFE)
    unsafe = _count_of(bad, Applicability.UNSAFE)
    if unsafe_fixes:
        return f" {safe + unsafe} fixable with --fix." if safe + unsafe else ""
    if safe:
        more = f" ({unsafe} more with --unsafe-fixes)" if unsafe else ""
        return f" {safe} fixable with --fix{more}."
    return f" {unsafe} fixable with --fix --unsafe-fixes." if unsafe else ""


def _count_of(diagnostics: Sequence[Diagnostic], applicability: Applicability) -> int:
    return sum(
        one.fix is not None and one.fix.applicability is applicability for one in diagnostics
    )


def list_fixed(fixed: Sequence[Diagnostic]) -> str:
    """The fixes that were applied, by file and rule, as `--show-fixes` prints them."""
    files: dict[str, dict[tuple[str, str], int]] = {}
    for one in fixed:
        rules = files.setdefault(one.filename, {})
        rules[one.code, one.name] = rules.get((one.code, one.name), 0) + 1
    lines = [f"Fixed {count(len(fixed), 'finding')}:"]
    for filename in sorted(files):
        lines.append(f"- {filename}:")
        lines += [
            f"    {n} × {code} ({name})" for (code, name), n in sorted(files[filename].items())
        ]
    return "\n".join(lines)


def count(number: int, noun: str) -> str:
    """`1 finding`, `2 findings`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
