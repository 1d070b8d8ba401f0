"""The working folder is deleted while the console runs, as by a build that starts afresh."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb import GdbDebugger
from ladder_backends.paths import current_folder, typed_path
from ladder_backends.session.file_watch import _spellings
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Run


@pytest.fixture
def lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder that a test may delete."""
    before = Path.cwd()
    folder = tmp_path / "build"
    folder.mkdir()
    os.chdir(folder)
    yield folder
    os.chdir(before)


def test_it_is_still_known_by_its_name(lost: Path) -> None:
    assert current_folder() == lost
    lost.rmdir()
    assert current_folder() == lost
    assert typed_path("a.out") == lost / "a.out"
    assert _spellings(Path("a.out"))[0] == str(lost / "a.out")
    assert str(lost) in Ladder().sources.roots()


async def test_an_engine_starts_and_runs_in_it(gdb, lost: Path, told, compiled) -> None:
    program = compiled("show_arguments")
    os.rmdir(lost)
    await told.session.open(LaunchTarget(program), run=False)
    await told.go(StepKind.RUN)
    assert "folder </>" in b"".join(told.state.program).decode()
    assert f"{lost} was deleted: the program starts in /" in told.notices()
    # It was made anew: the program runs there, not in what is deleted.
    os.mkdir(lost)
    told.state.program.clear()
    await told.go(StepKind.RUN)
    assert f"folder <{lost}>" in b"".join(told.state.program).decode()


async def test_a_program_that_is_gone_when_its_engine_is_started_again_can_be_tried_again(
    gdb, told, start, compiled, tmp_path: Path
) -> None:
    program = tmp_path / "built"
    shutil.copy(compiled("steps"), program)
    await start(program, "add")
    os.unlink(program)
    await told.session.console("quit")
    await told.until(lambda: told.state.run is Run.DEAD)
    await told.session.resume(StepKind.CONTINUE)
    assert (told.state.run, told.state.run_detail) == (Run.DEAD, "gdb does not run")
    assert "there is no such file" in told.notices()[-1]
    shutil.copy(compiled("steps"), program)
    await told.go(StepKind.CONTINUE)
    assert told.state.run is Run.STOPPED
    assert told.state.frames.frames[0].function == "add"


async def test_a_fault_of_ours_leaves_nothing_that_starts_for_ever(
    told, compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(self: object, target: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(GdbDebugger, "open", fail)
    with pytest.raises(ZeroDivisionError):
        await told.session.open(LaunchTarget(compiled("steps")))
    assert told.state.run is Run.NOTHING
