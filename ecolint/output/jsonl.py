"""The findings as JSON, one a line, for tools that read while a run goes on."""

from __future__ import annotations

import json
from typing import TextIO

from ecolint.output import Findings, Style
from ecolint.output.json import to_dict


def write(result: Findings, stream: TextIO, style: Style) -> None:
    """Print a line for each finding, each an object of the JSON format's list."""
    for diagnostic in result.diagnostics:
        stream.write(json.dumps(to_dict(diagnostic)) + "\n")
