"""How long the command line takes to answer where no screen is shown."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COMMAND = Path(sys.executable).parent / "ladder-tui"
ROUNDS = 15


def rows() -> Iterator[dict[str, Any]]:
    """`--help`, and a report listed, against a Python that does nothing."""
    bare, version, shown = [], [], []
    log = _report()
    for _ in range(ROUNDS):
        bare.append(_milliseconds([sys.executable, "-c", "pass"]))
        version.append(_milliseconds([str(COMMAND), "--help"]))
        shown.append(_milliseconds([str(COMMAND), "findings", str(log)]))
    of = "python -c pass"
    partner = statistics.median(bare)
    yield {"what": "--help", "ours": statistics.median(version), "unit": "ms", "budget": 120.0}
    yield {"what": "--help, of it", "ours": statistics.median(version), "unit": "ms", "partner": partner, "of": of}
    yield {
        "what": "findings of 24",
        "ours": statistics.median(shown),
        "unit": "ms",
        "partner": partner,
        "of": of,
    }


def _report() -> Path:
    from ladder_backends.case import open_files
    from ladder_demos.catalogue import find_demo

    return open_files([find_demo("vector-add").path]).reports[0]


def _milliseconds(words: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return (time.perf_counter() - began) * 1000
