"""Run ecolint as `python -m ecolint`."""

import sys

from ecolint.cli import main

if __name__ == "__main__":
    sys.exit(main())
