"""Tests import their shared helpers as plain modules."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# The first example of a run pays for importing LibCST, which no deadline should count.
settings.register_profile("ecolint", deadline=None)
settings.load_profile("ecolint")
