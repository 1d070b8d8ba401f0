"""`python -m ladder_tui`: the command, where its script is not on PATH."""

import sys

from ladder_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
