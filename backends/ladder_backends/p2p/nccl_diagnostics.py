"""What NCCL says of the paths itself: its active diagnostics, from version 2.31 on.

The report goes to standard output of the process with rank 0, each line behind a prefix; a line that begins with
`[INFO]` tells of something that failed. It is a witness beside the sums: it fails nothing by itself.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ladder_backends.text import clean_line

_PREFIX = "NCCL DIAG"
_MOST_LINES = 20
_MOST_BYTES = 1 << 20


@contextmanager
def standard_output() -> Iterator[list[str]]:
    """Collect what libraries write to descriptor 1 meanwhile; the diagnostics' lines are in the list at the end.

    If this process is killed meanwhile, they are lost: the file has no name.
    """
    found: list[str] = []
    kept = os.dup(1)
    try:
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), 1)
            try:
                yield found
            finally:
                os.dup2(kept, 1)
                file.seek(0)
                found += lines(file.read(_MOST_BYTES).decode("utf-8", "replace"))
    finally:
        os.close(kept)


def lines(output: str) -> list[str]:
    """The lines of a report, without their prefix."""
    told = [clean_line(line) for line in output.splitlines() if line.startswith(_PREFIX)]
    return [line.removeprefix(_PREFIX).strip() for line in told][:_MOST_LINES]


def complaint(report: list[str]) -> str:
    """The first thing that a report finds wrong with P2P; empty where there is none."""
    return next((line for line in report if line.startswith("[INFO]") and "p2p" in line.lower()), "")
