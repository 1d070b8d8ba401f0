"""Runs of the sanitizer: the real one, which finds no GPU here, and a stand-in that replays recorded reports."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change

STAND_IN = Path(__file__).parent / "stand_in" / "compute-sanitizer"
LOGS = Path(__file__).parents[1] / "sanitizer/reports/logs"


@pytest.fixture
def real_sanitizer(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real tool, which the tests' set-up installs."""
    folders = (Path(sys.prefix) / "sanitizer").glob("lib/python*/site-packages/nvidia/cu*/compute-sanitizer")
    tool = next((folder / "compute-sanitizer" for folder in sorted(folders)), None)
    if tool is None:
        pytest.skip("compute-sanitizer is not installed: demos/setup --tests installs it where it can")
    monkeypatch.setenv("LADDER_SANITIZER", str(tool))
    return tool


StandIn = Callable[..., Path]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StandIn:
    """Puts the stand-in in the tool's place: `stand_in(memcheck={"log": path})`; returns where runs are told."""
    # Run by this Python itself: a launcher in its place would look like a program of the run.
    tool = script(tmp_path, "compute-sanitizer", f'exec "{sys.executable}" "{STAND_IN}" "$@"')
    monkeypatch.setenv("LADDER_SANITIZER", str(tool))
    told = tmp_path / "stand-in.json"
    monkeypatch.setenv("STAND_IN", str(told))

    def tell(**runs: dict[str, Any]) -> Path:
        told.write_text(json.dumps(runs, default=str))
        return told

    return tell


@pytest.fixture
def greeter(tmp_path: Path) -> Path:
    """A program that writes a line."""
    return script(tmp_path, "greeter", "echo hello from the program")


def script(folder: Path, name: str, body: str) -> Path:
    """A shell script that can be run."""
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
async def ladder() -> AsyncIterator[Ladder]:
    """A ladder; its run is ended with it."""
    made = Ladder()
    yield made
    await made.close()


@pytest.fixture
def changes(ladder: Ladder) -> list[Change]:
    """What the ladder told of."""
    told: list[Change] = []
    ladder.subscribe(told.append)
    return told


@pytest.fixture
def logs() -> Path:
    """Reports of real runs."""
    return LOGS


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """A program that ends with status 3."""
    return script(tmp_path, "failing", "echo before; exit 3")


@pytest.fixture
def sleeper(tmp_path: Path) -> Path:
    """A program that goes on for long."""
    return script(tmp_path, "sleeper", "echo begins; exec sleep 600")


@pytest.fixture
def launcher(tmp_path: Path) -> Path:
    """Starts what it is given twice, as mpirun does."""
    body = 'shift 2; for rank in 0 1; do OMPI_COMM_WORLD_RANK=$rank "$@" & done; wait'
    return script(tmp_path, "mpirun", body)
