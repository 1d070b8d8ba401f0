"""Runs a job of torch so that each rank records the tensors that it gives to collectives."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from ladder_backends.ranks.launching import LaunchedJob

COLLECTIVES = "collectives"
"""The place of a wish that means them."""

HOOK = Path(__file__).parent / "python_hook"


def record_tensors(command: Sequence[str], folder: Path) -> int:
    """Run a job to its end and record into a folder; returns the launcher's exit status.

    Raises:
        LadderError: It cannot be started.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [str(HOOK), *filter(None, [os.environ.get("PYTHONPATH")])]
    told = [f"PYTHONPATH={os.pathsep.join(paths)}", f"LADDER_TENSORS={folder.absolute()}"]
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        return asyncio.run(LaunchedJob(["env", *told, *command], output, output).run())
    finally:
        os.close(output)
