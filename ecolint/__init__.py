"""Find and fix wasted GPU energy in LLM inference code and configuration."""

import os

__version__ = "0.1.0"

# A wheel has rules/ and data/ inside this package; a checkout has them beside it.
# Extending the package's search path makes the two look alike.
_PACKAGE = os.path.dirname(os.path.abspath(__file__))
if not os.path.isdir(os.path.join(_PACKAGE, "rules")):
    __path__.append(os.path.dirname(_PACKAGE))
