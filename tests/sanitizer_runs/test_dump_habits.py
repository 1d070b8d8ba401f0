"""A tool that names lanes and writes no dump is not asked for one again, and that is said once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ladder_backends.case import open_files
from ladder_backends.sanitizer import dump_habits
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.session.ladder import Ladder
from ladder_demos.catalogue import find_demo

SAID = "synccheck wrote no GPU core dump"


@pytest.fixture(autouse=True)
def driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The driver's version is told by a file."""
    told = tmp_path / "driver"
    told.write_text("580.159.03\n")
    monkeypatch.setattr(dump_habits, "_DRIVER", told)


@pytest.fixture
def barrier() -> Path:
    """A report of synccheck that names lanes."""
    return open_files([find_demo("barrier").path]).reports[0]


@pytest.fixture
def notices(ladder: Ladder) -> list[str]:
    told: list[str] = []
    ladder.subscribe(lambda change: told.append(ladder.state.notice.text) if ladder.state.notice else None)
    return told


def distinct(told: list[str]) -> list[str]:
    return [text for text in dict.fromkeys(told) if SAID in text]


async def run(ladder: Ladder, plan: Plan) -> list[str]:
    await ladder.sanitizer.start(plan)
    await ladder.sanitizer.ended()
    return list(ladder.sanitizer.state.commands[0])


async def test_it_is_said_once_and_not_asked_for_again(
    ladder: Ladder,
    stand_in: Any,
    greeter: Path,
    logs: Path,
    barrier: Path,
    notices: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in(synccheck={"log": barrier})
    first = await run(ladder, Plan(greeter, tools=("synccheck",)))
    assert "--generate-coredump" in first
    assert len(distinct(notices)) == 1
    assert "with driver 580.159.03" in distinct(notices)[0]
    second = await run(ladder, Plan(greeter, tools=("synccheck",)))
    assert "--generate-coredump" not in second
    assert "--coredump-name" not in second
    assert len(distinct(notices)) == 1
    # Another tool, and another driver, are asked.
    stand_in(synccheck={"log": barrier}, memcheck={"log": logs / "memcheck-oob.log"})
    assert "--generate-coredump" in await run(ladder, Plan(greeter))
    monkeypatch.setattr(dump_habits, "driver_version", lambda: "595.10")
    assert "--generate-coredump" in await run(ladder, Plan(greeter, tools=("synccheck",)))


async def test_nothing_is_learnt_from_a_run_without_lanes(
    ladder: Ladder, stand_in: Any, greeter: Path, tmp_path: Path, notices: list[str]
) -> None:
    clean = tmp_path / "clean.log"
    clean.write_text("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n")
    stand_in(synccheck={"log": clean})
    for _ in range(2):
        assert "--generate-coredump" in await run(ladder, Plan(greeter, tools=("synccheck",)))
    assert not distinct(notices)


async def test_nothing_is_learnt_from_a_dump_that_came(
    ladder: Ladder, stand_in: Any, greeter: Path, logs: Path, vector_add: Any
) -> None:
    stand_in(memcheck={"log": logs / "memcheck-oob.log", "dump": vector_add.dump})
    for _ in range(2):
        assert "--generate-coredump" in await run(ladder, Plan(greeter))


async def test_a_jump_without_a_dump_names_what_is_left(
    ladder: Ladder, stand_in: Any, greeter: Path, barrier: Path
) -> None:
    stand_in(synccheck={"log": barrier})
    await run(ladder, Plan(greeter, tools=("synccheck",)))
    report = ladder.state.report
    assert report is not None
    outcome = await ladder.jump(report.findings[0])
    assert "synccheck wrote none" in outcome.reason
    assert "--generate-coredump" not in outcome.reason
