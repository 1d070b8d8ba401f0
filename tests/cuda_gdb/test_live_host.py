"""A real cuda-gdb on programs without a GPU: whatever holds of a host holds there as under gdb."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.case import open_files
from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.cuda_gdb import attaching as attaching_module
from ladder_backends.debugger import AttachTarget, Capability, LaunchTarget, StepKind
from ladder_backends.debugger.facets import ApiFailures, LaunchStops
from ladder_backends.errors import CommandFailed
from ladder_backends.model.breakpoint import BindingState, BreakpointIntent, BreakpointKind
from ladder_backends.model.focus import Focus
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Run
from ladder_demos.catalogue import find_demo

pytestmark = pytest.mark.cuda_gdb

LIVE = (
    Capability.RUN_CONTROL
    | Capability.BREAKPOINTS
    | Capability.CONSOLE
    | Capability.PROGRAM_TERMINAL
    | Capability.EVALUATE
    | Capability.DISASSEMBLE
    | Capability.DEVICE_FOCUS
    | Capability.THREADS
    | Capability.PROCESS
)


@pytest.fixture
async def session(cuda_gdb: Path) -> AsyncIterator[DebugSession]:
    one = DebugSession(CudaGdbDebugger(), replacement=CudaGdbDebugger)
    yield one
    await one.close()


def kernels(folder: Path) -> Path:
    """A program with a kernel; where there is no GPU it ends before the launch."""
    held = open_files([find_demo("vector-add").path]).executable
    assert held is not None
    program = folder / held.name
    shutil.copyfile(held, program)
    program.chmod(0o755)
    return program


async def started(session: DebugSession, program: Path, *locations: str, **options: Any) -> None:
    await session.open(LaunchTarget(program, **options), run=False)
    for location in locations:
        binding = await session.set_breakpoint(location)
        assert binding is None or binding.state is not BindingState.FAILED
    await session.resume(StepKind.RUN)
    await session.at_rest()


async def go(session: DebugSession, kind: StepKind) -> None:
    await session.resume(kind)
    await session.at_rest()


async def test_run_stop_step_and_end(session: DebugSession, compiled: Any) -> None:
    await started(session, compiled("steps"), "main")
    state = session.state
    assert state.capabilities == LIVE
    assert (state.run, state.focus) == (Run.STOPPED, Focus.of(thread=1))
    line = state.place.line if state.place else 0
    await go(session, StepKind.NEXT)
    assert state.place is not None
    assert state.place.line > line
    assert state.frames.frames[0].function == "main"
    assert state.variables.variables
    while state.run is Run.STOPPED:
        await go(session, StepKind.CONTINUE)
    assert state.run_detail == "exited with code 3"
    assert (state.focus, session.debugger.registers is not None) == (None, True)


async def test_host_facets_answer_on_the_host(session: DebugSession, compiled: Any) -> None:
    await started(session, compiled("steps"), "main")
    debugger = session.debugger
    assert debugger.registers is not None
    assert debugger.memory is not None
    assert debugger.threads is not None
    assert [thread.id for thread in await debugger.threads.list()] == [1]
    assert debugger.code is not None
    assert await debugger.code.counter(0) is not None
    assert (await session.evaluate("1 + 1")).value == "2"
    assert await debugger.kernels() == ()
    assert await debugger.focus() == Focus.of(thread=1)
    assert await debugger.warps(Focus.of(block=(0, 0, 0))) == ()


async def test_a_console_command_is_followed(session: DebugSession, compiled: Any) -> None:
    await started(session, compiled("steps"), "main")
    await session.console("set var $seven = 7")
    assert (await session.evaluate("$seven")).value == "7"
    await session.console("set cuda break_on_launch application")
    assert session.debugger.device_stops is not None
    assert session.debugger.device_stops.launches is LaunchStops.APPLICATION


async def test_settings_of_device_stops(session: DebugSession, compiled: Any) -> None:
    await started(session, compiled("steps"), "main")
    stops = session.debugger.device_stops
    assert stops is not None
    await stops.at_launch(LaunchStops.ALL)
    await stops.at_failure(ApiFailures.STOP)
    debugger = session.debugger
    assert isinstance(debugger, CudaGdbDebugger)
    told = await debugger.command("-gdb-show cuda break_on_launch")
    assert told.results["value"] == "all"
    told = await debugger.command("-gdb-show cuda api_failures")
    assert told.results["value"] == "stop"


async def test_attach_and_detach_leave_the_process_as_it_was(session: DebugSession, compiled: Any) -> None:
    process = await asyncio.create_subprocess_exec(compiled("spin"))
    try:
        await asyncio.sleep(0.2)
        await session.open(AttachTarget(process.pid))
        await session.at_rest()
        assert session.state.run is Run.STOPPED
        assert session.state.focus == Focus.of(thread=1)
        assert session.debugger.stopping_took is not None
        await session.control.detach()
        assert process.returncode is None
        assert session.state.run is Run.EXITED
    finally:
        process.kill()
        await process.wait()


async def test_of_a_big_process_only_what_the_stack_needs_is_read(
    session: DebugSession, compiled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attaching_module, "BIG", 1)
    process = await asyncio.create_subprocess_exec(compiled("spin"))
    try:
        await asyncio.sleep(0.2)
        await session.open(AttachTarget(process.pid))
        await session.at_rest()
        notices = [notice.text for notice in session.state.notices]
        assert any("only those of the launching thread's stack are" in text for text in notices)
        assert any(text.startswith("symbols were read of") for text in notices)
        debugger = session.debugger
        assert isinstance(debugger, CudaGdbDebugger)
        assert (await debugger.command("-gdb-show auto-solib-add")).results["value"] == "on"
        assert "main" in [frame.function for frame in session.state.frames.frames]
    finally:
        await session.control.detach()
        process.kill()
        await process.wait()


async def test_an_interrupt_stops_a_running_program(session: DebugSession, compiled: Any) -> None:
    await session.open(LaunchTarget(compiled("spin")))
    runs = asyncio.Event()
    session.subscribe(lambda _: runs.set() if session.state.run is Run.RUNNING else None)
    await runs.wait()
    await session.interrupt()
    await session.at_rest()
    assert (session.state.run, session.state.run_detail) == (Run.STOPPED, "interrupted")


async def test_breakpoints_in_kernels_wait_for_their_module(session: DebugSession, tmp_path: Path) -> None:
    program = kernels(tmp_path)
    await session.open(LaunchTarget(program), run=False)
    plain = await session.debugger.set_breakpoint(BreakpointIntent(1, "vadd"))
    assert (plain.state, plain.places, plain.locations) == (BindingState.PENDING, (), ())
    lane = BreakpointIntent(2, "vector_add_oob.cu:10", "i > 3", block=(3, 0, 0), lane=(232, 0, 0))
    waiting = await session.debugger.set_breakpoint(lane)
    assert (waiting.state, waiting.intent) == (BindingState.PENDING, lane)
    assert waiting.why == "waits for the kernel's module"
    typed = await session.debugger.set_breakpoint(BreakpointIntent(3, "vadd", "blockIdx.x == 3"))
    assert typed.intent.condition == "blockIdx.x == 3"
    assert [each.intent.id for each in session.state.breakpoints] == [1, 2, 3]
    assert all(each.intent.enabled for each in session.state.breakpoints)
    await session.debugger.enable_breakpoint(waiting, False)
    assert not session.state.breakpoints[1].intent.enabled
    await session.debugger.remove_breakpoint(typed)
    assert [each.intent.id for each in session.state.breakpoints] == [1, 2]


async def test_a_launch_waits_for_lane_breakpoints_and_no_longer(session: DebugSession, tmp_path: Path) -> None:
    program = kernels(tmp_path)
    await session.open(LaunchTarget(program), run=False)
    made = await session.debugger.set_breakpoint(BreakpointIntent(1, "vadd", block=(3, 0, 0)))
    debugger = session.debugger
    assert isinstance(debugger, CudaGdbDebugger)
    await go(session, StepKind.RUN)
    assert (await debugger.command("-gdb-show cuda break_on_launch")).results["value"] == "application"
    await debugger.remove_breakpoint(made)
    await go(session, StepKind.RUN)
    assert (await debugger.command("-gdb-show cuda break_on_launch")).results["value"] == "none"
    assert debugger.device_stops is not None
    assert debugger.device_stops.launches is LaunchStops.NONE


async def test_a_condition_on_the_host_is_set_at_once(session: DebugSession, compiled: Any) -> None:
    await session.open(LaunchTarget(compiled("breaks")), run=False)
    made = await session.debugger.set_breakpoint(BreakpointIntent(1, "main", "1 == 1"))
    assert (made.state, made.intent.condition) == (BindingState.SET, "1 == 1")
    refused = await session.debugger.set_breakpoint(BreakpointIntent(2, "main", "nosuch == 1"))
    assert refused.state is BindingState.FAILED
    watch = await session.debugger.set_breakpoint(BreakpointIntent(3, "nowhere", kind=BreakpointKind.WRITE))
    assert watch.state is BindingState.PENDING


async def test_an_older_engine_says_that_it_cannot_dump(
    session: DebugSession, compiled: Any, tmp_path: Path
) -> None:
    await started(session, compiled("steps"), "main")
    assert session.debugger.gpu_dumps is not None
    with pytest.raises(CommandFailed, match="cannot dump a living GPU") as refused:
        await session.debugger.gpu_dumps.write(tmp_path / "x.nvcudmp")
    assert "CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1" in refused.value.remedy
    (tmp_path / "there").write_text("")
    with pytest.raises(CommandFailed, match="there already"):
        await session.debugger.gpu_dumps.write(tmp_path / "there")


async def test_thirty_megabytes_in_the_console_leave_the_keys_alive(
    session: DebugSession, compiled: Any, tmp_path: Path
) -> None:
    """As much as `info cuda threads` writes in a diverged grid of 250 x 1000 blocks."""
    row = "   0  ({x},{y},0)  (0,0,0)   ({x},{y},0) (31,7,0)  256 0x00007ffddb7a1d50  divergent_grid.cu    28 \n"
    table = tmp_path / "threads.txt"
    count = 300_000
    table.write_text("".join(row.format(x=number % 250, y=number // 250) for number in range(count)))
    await started(session, compiled("steps"), "main")
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.001)
            beats += 1

    beating = asyncio.create_task(beat())
    await session.console(f"shell cat {table}")
    assert (await session.evaluate("1 + 1")).value == "2"
    debugger = session.debugger
    assert isinstance(debugger, CudaGdbDebugger)
    for _ in range(3_000):
        if not debugger.console_works:
            break
        await asyncio.sleep(0.01)
    beating.cancel()
    state = session.state
    assert state.console_dropped + len(state.console) >= count
    assert "249,1199" in "".join(list(state.console)[-4:])
    # The loop came round at least once for each hundred kilobytes or so.
    assert beats > 100
