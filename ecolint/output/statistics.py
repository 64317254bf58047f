"""How often each rule spoke, instead of the findings themselves."""

from __future__ import annotations

from collections import Counter
from typing import TextIO

from ecolint.output import FOR_PEOPLE, Findings, Style
from ecolint.output.concise import applies


def write(result: Findings, stream: TextIO, style: Style, name: str) -> None:
    """Print a line a rule, most frequent first; as JSON where the format is one for machines."""
    rules = Counter((one.code, one.name) for one in result.diagnostics)
    fixable = Counter(one.code for one in result.diagnostics if applies(one, style))
    ranked = sorted(rules.items(), key=lambda item: (-item[1], item[0]))
    if name not in FOR_PEOPLE:
        import json

        table = [
            {"code": code, "name": slug, "count": number, "fixable": fixable[code]}
            for (code, slug), number in ranked
        ]
        if name == "jsonl":
            stream.writelines(json.dumps(line) + "\n" for line in table)
        else:
            stream.write(json.dumps(table, indent=2) + "\n")
        return
    width = len(str(ranked[0][1])) if ranked else 0
    for (code, slug), number in ranked:
        star = "[*]" if fixable[code] == number else "[-]" if fixable[code] else "[ ]"
        stream.write(f"{number:>{width}}\t{code}\t{star} {slug}\n")
