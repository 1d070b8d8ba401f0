"""Memory that several simulated processes reach: a file of runs for each."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ladder_backends.gpu_calls.words import Stuff
from ladder_backends.simulator.memory import Run, Runs


@contextmanager
def held(state: Path, name: str) -> Iterator[tuple[Runs, Callable[[Runs], None]]]:
    """A file of runs, while no other process changes it."""
    with open(state / name, "a+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        runs = [
            Run(start, stop, Stuff(*stuff), origin)
            for start, stop, stuff, origin in json.loads(file.read() or "[]")
        ]

        def save(new: Runs) -> None:
            file.seek(0)
            file.truncate()
            json.dump(new, file)
            file.flush()

        yield runs, save
