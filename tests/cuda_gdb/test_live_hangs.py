"""Kernels that hang, their dumps, and choices that hold, as a real cuda-gdb 13.0 told of them on an H200."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import AttachTarget, LaunchTarget, StepKind
from ladder_backends.debugger.facets import LaunchStops
from ladder_backends.errors import CommandFailed
from ladder_backends.model.provenance import Provenance
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Run

from .stand_in import StandIn


async def test_a_second_debugger_is_told_of_the_first(live) -> None:
    one = await live("live-hang")
    one.engine.answer("-exec-run", '^error,msg="An instance of cuda-gdb(pid 4711) is already using device 0."')
    await one.session.resume(StepKind.RUN)
    await one.session.at_rest()
    assert "process 4711, another cuda-gdb, is already using device 0" in one.notices()[-1]
    assert "CUDA_VISIBLE_DEVICES" in one.notices()[-1]


# -- what takes long, attaching, dumps


async def test_an_endless_step_runs_until_it_is_interrupted(live) -> None:
    one = await live("live-hang")
    await one.session.resume(StepKind.RUN)
    await one.until(lambda: one.state.run is Run.RUNNING)
    await one.session.interrupt()
    await one.session.at_rest()
    assert (one.state.run, one.state.run_detail) == (Run.STOPPED, "interrupted")
    await one.session.resume(StepKind.NEXT)
    await one.until(lambda: one.state.run is Run.RUNNING)
    await one.session.resume(StepKind.NEXT)
    assert one.notices()[-1] == "the program is running — interrupt it first"
    await one.session.interrupt()
    await one.session.at_rest()
    assert one.state.run is Run.STOPPED
    assert "SIGINT" not in one.engine.sent


async def test_attaching_to_a_hung_kernel(live, compiled) -> None:
    process = await asyncio.create_subprocess_exec(compiled("spin"))
    try:
        engine_says = StandIn("live-hang-attach")
        asked = next(each.asked for each in engine_says._exchanges if each.asked.startswith("-target-attach"))
        debugger = CudaGdbDebugger(engine_says)
        session = DebugSession(debugger)
        lines = [
            line
            for kind, line in engine_says._find(asked).lines
            if kind == "<"  # type: ignore[union-attr]
        ]
        engine_says.answer(f"-target-attach {process.pid}", *lines)
        await session.open(AttachTarget(process.pid))
        await session.at_rest()
        state = session.state
        assert (state.run, state.run_detail, state.fault) == (Run.STOPPED, "attached", False)
        assert state.focus is not None
        assert state.focus["block"] == (0, 0, 0)
        assert state.frames.frames[0].function.startswith("spin")
        assert debugger.stopping_took is not None
        stops = [each for each in state.notices if "stands; stopping it took" in each.text]
        assert len(stops) == 1
        await session.close()
    finally:
        process.kill()
        await process.wait()


async def test_a_dump_of_a_hung_kernel(live, tmp_path: Path) -> None:
    one = await live("live-hang")
    path = tmp_path / "hang.nvcudmp"
    assert not await one.session.device.dump(path)
    await one.session.resume(StepKind.RUN)
    await one.until(lambda: one.state.run is Run.RUNNING)
    assert not await one.session.device.dump(path)
    assert "interrupt it first" in one.notices()[-1]
    await one.session.interrupt()
    await one.session.at_rest()
    one.engine.answer(
        '-interpreter-exec console "help generate-core-file"',
        '~"Usage: generate-core-file [--cuda-lightweight] [--no-cpu] [--cuda-core-file gpu_filename]\\n"',
        "^done",
    )
    path.parent.mkdir(exist_ok=True)
    write = f'-interpreter-exec console "generate-core-file --no-cpu --cuda-lightweight --cuda-core-file {path}"'
    one.engine.answer(write, "^done")
    assert not await one.session.device.dump(path, lightweight=True)
    assert "has written no hang.nvcudmp" in one.notices()[-1]
    assert write in one.engine.sent
    path.write_bytes(b"x")
    assert not await one.session.device.dump(path)
    assert "is there already" in one.notices()[-1]


async def test_choices_hold_and_are_followed(live) -> None:
    one = await live("live-hang")
    await one.session.device.choose_launches(LaunchStops.APPLICATION)
    one.engine.say('=cmd-param-changed,param="print elements",value="7"')
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert one.state.device.launches is LaunchStops.APPLICATION
    one.engine.say('=cmd-param-changed,param="cuda break_on_launch",value="all"')
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert one.state.device.launches is LaunchStops.ALL
    one.engine.answer("-gdb-set cuda break_on_launch system", '^error,msg="no"')
    await one.session.device.choose_launches(LaunchStops.SYSTEM)
    assert one.state.device.launches is LaunchStops.ALL
    assert one.notices()[-1] == "no"


async def test_choices_hold_for_another_engine(live) -> None:
    one = await live("live-hang")
    await one.session.device.choose_launches(LaunchStops.APPLICATION)
    other = StandIn("live-hang")
    # Some setting is told of while it starts.
    other.answer("-file-exec-and-symbols", "^done")
    starting = '=cmd-param-changed,param="print elements",value="200"'
    for command in ("-gdb-set print elements 200", "-gdb-set cuda api_failures ignore", "-break-list"):
        other.answer(command, starting, "^done")
    one.session._replacement = lambda: CudaGdbDebugger(other)
    await one.session.restart()
    assert "-gdb-set cuda break_on_launch application" in other.sent
    assert one.state.device.launches is LaunchStops.APPLICATION


async def test_a_shared_gpu_is_warned_of(live, compiled, monkeypatch) -> None:
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", "/tmp/mps")
    one = await live("live-hang")
    assert "share the GPU by MPS cannot be debugged" in "\n".join(one.notices())
    without = LaunchTarget(compiled("steps"), environment={"CUDA_MPS_PIPE_DIRECTORY": None})
    other = await live("live-hang", without)
    assert "MPS" not in "\n".join(other.notices())


async def test_provenance_is_the_engines(live) -> None:
    one = await live("live-oob")
    await one.go(StepKind.RUN)
    assert {frame.provenance for frame in one.state.frames.frames} == {Provenance.ENGINE}
    with pytest.raises(CommandFailed):
        await one.debugger.evaluate("nothing_like_it")
