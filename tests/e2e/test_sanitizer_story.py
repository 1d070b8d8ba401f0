"""A run of the sanitizer in a terminal, from the command to a value in the lane of a finding."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

TESTS = Path(__file__).parents[1]


@pytest.fixture
def stand_in(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Variables with which the stand-in of the sanitizer's tests replays what it is told."""

    def tell(**run: Any) -> dict[str, str]:
        tool = tmp_path / "compute-sanitizer"
        script = TESTS / "sanitizer_runs/stand_in/compute-sanitizer"
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
        tool.chmod(0o755)
        told = tmp_path / "stand-in.json"
        log = TESTS / "sanitizer/reports/logs/memcheck-oob.log"
        told.write_text(json.dumps({"memcheck": {"log": log, **run}}, default=str))
        return {"LADDER_SANITIZER": str(tool), "STAND_IN": str(told)}

    return tell


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_from_the_command_into_a_lane(
    terminal: Any, cuda_gdb: Path, vector_add: Any, stand_in: Any, columns: int, rows: int
) -> None:
    screen = terminal(columns, rows)
    variables = stand_in(dump=vector_add.dump, skip_program=True, delay=0.02)
    screen.start("sanitize", "--", vector_add.executable, **variables)
    screen.wait("▶ memcheck")
    screen.wait("memcheck: 24 found")
    screen.press("Enter")
    screen.wait(lambda lines: any(re.search(r"\bi\s+1000\b", line) for line in lines))


def test_leaving_asks_and_ends_the_run_with_its_program(terminal: Any, stand_in: Any, tmp_path: Path) -> None:
    program = tmp_path / "spins"
    program.write_text("#!/bin/sh\necho begins\nexec sleep 600\n")
    program.chmod(0o755)
    screen = terminal(100, 30)
    screen.start("sanitize", "--", program, **stand_in())
    screen.wait("24 found")
    run = {pid for pid, words in screen.processes().items() if "sleep 600" in words or "stand_in" in words}
    screen.press("q")
    screen.wait("Leave? the sanitizer's memcheck")
    screen.press("q")
    assert screen.exit_code() == 0
    assert len(run) >= 2
    assert screen.all_dead(run)
