"""Frames of a library without symbols, and where in its file they stand."""

from __future__ import annotations

import subprocess

import pytest

from ladder_backends.debugger import CoreTarget, LaunchTarget, StepKind
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import TargetStopped


@pytest.fixture
def closed(compiled, tmp_path):
    """A program that is called back from a stripped library."""
    library = tmp_path / "libclosed.so"
    source = compiled.source("closed")
    subprocess.run(["gcc", "-O1", "-fPIC", "-shared", "-s", "-o", str(library), str(source)], check=True)
    program = tmp_path / "uses_closed"
    source = compiled.source("uses_closed")
    subprocess.run(
        ["gcc", "-g", "-O0", "-o", str(program), str(source), str(library), f"-Wl,-rpath,{tmp_path}"], check=True
    )
    return program


def listing(library) -> str:
    command = ["objdump", "-d", str(library)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


async def stopped_inside(watched, program):
    await watched.debugger.open(LaunchTarget(program))
    await watched.debugger.set_breakpoint(BreakpointIntent(1, "back"))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    return await watched.debugger.frames(0, 10)


async def test_a_frame_without_a_symbol_has_module_and_offset(watched, closed) -> None:
    window = await stopped_inside(watched, closed)
    inner = window.frames[1]
    assert inner.function == "??"
    name, _, offset = inner.image_offset.partition("+")
    assert name == "libclosed.so"
    assert f"\n    {int(offset, 16):x}:" in listing(closed.parent / "libclosed.so")
    assert not window.frames[0].image_offset
    assert not window.frames[2].image_offset


async def test_mappings_are_read_once_and_only_for_such_frames(watched, closed, compiled) -> None:
    asked: list[str] = []
    told = watched.debugger.cli_text

    async def noted(text, **named):
        asked.append(text)
        return await told(text, **named)

    watched.debugger.cli_text = noted
    await stopped_inside(watched, closed)
    assert asked.count("info proc mappings") == 1
    await watched.debugger.frames(0, 10)
    await watched.debugger.frames(0, 1)
    assert asked.count("info proc mappings") == 1


async def test_of_a_core_too(watched, closed, tmp_path) -> None:
    await stopped_inside(watched, closed)
    core = tmp_path / "core.closed"
    await watched.debugger.console(f"generate-core-file {core}")
    await watched.until_console("Saved corefile")
    other = GdbDebugger()
    other.listen(lambda event: None)
    try:
        await other.open(CoreTarget(core, closed))
        window = await other.frames(0, 10)
        assert window.frames[1].image_offset.startswith("libclosed.so+0x1")
    finally:
        await other.close()


async def test_code_that_was_made_at_run_time_is_in_no_file(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("made_code")))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    frame = (await watched.debugger.frames(0, 10)).frames[0]
    assert (frame.function, frame.image_offset) == ("??", "")
