"""A program on two GPUs under the real cuda-gdb: kernels, focus, breakpoints, hardware and dumps of each device.

What a device is called is cuda-gdb's number, which need not be that of `cudaSetDevice`.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import GpuDumpTarget, LaunchTarget, StepKind
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.finding import FindingKind
from ladder_backends.model.focus import Focus
from ladder_backends.model.grid import Kernel
from ladder_backends.sanitizer import read_report
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.jump import asked_by, jump
from ladder_backends.session.lane_words import device_to_name
from ladder_backends.session.state import Run
from ladder_tui.panes.grid_hardware import hardware_rows
from ladder_tui.panes.grid_rows import grid_rows

PROGRAM = "two_devices"
LINE = f"{PROGRAM}.cu:13"
LIMIT = 60.0


def gpus_here() -> int:
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
    except OSError:
        return 0
    return listed.stdout.count("GPU ")


pytestmark = pytest.mark.skipif(gpus_here() < 2, reason=f"needs two GPUs; {gpus_here()} here")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp(PROGRAM) / PROGRAM
    source = Path(__file__).parent / "programs" / f"{PROGRAM}.cu"
    subprocess.run(["nvcc", "-g", "-G", "-arch=native", "-o", made, source], check=True, timeout=240)
    return made


@pytest.fixture
async def session() -> AsyncIterator[DebugSession]:
    session = DebugSession(CudaGdbDebugger())
    yield session
    await session.close()


async def go(session: DebugSession, kind: StepKind) -> None:
    async with asyncio.timeout(LIMIT):
        await session.resume(kind)
        await session.at_rest()


async def kernels_of(session: DebugSession) -> list[Kernel]:
    await session.machine.device.look_kernels()
    return list(session.state.grid.kernels)


def device(session: DebugSession) -> int:
    focus = session.state.focus
    assert focus is not None, session.state.notices
    found = focus.index("device")
    assert found is not None, focus
    return found


async def stand_at_line(session: DebugSession, program: Path, condition: str = "") -> None:
    """Open, and run to the line in whichever kernel reaches it first."""
    await session.open(LaunchTarget(program), run=False)
    await session.debugger.set_breakpoint(BreakpointIntent(1, LINE, condition=condition))
    await go(session, StepKind.RUN)
    assert session.state.run is Run.STOPPED, session.state.run_detail
    assert session.state.place is not None
    assert session.state.place.line == 13


async def test_kernels_of_both_devices_are_on_the_map(session: DebugSession, program: Path) -> None:
    session.show_rows(frames=5, variables=8, grid=True)
    await stand_at_line(session, program)
    kernels = await kernels_of(session)
    print([(kernel.number, kernel.device, kernel.status) for kernel in kernels])
    assert {kernel.device for kernel in kernels} >= {0, 1}
    rows = grid_rows(session.state, width=76).rows[: len(kernels)]
    assert {row.end[0].text.rpartition(" ")[2] for row in rows} >= {"0", "1"}
    assert device_to_name(session.state) == device(session)


async def test_the_focus_goes_from_device_to_device_and_back(session: DebugSession, program: Path) -> None:
    await stand_at_line(session, program)
    here = device(session)
    first = session.state.focus
    assert first is not None
    other = next(each for each in await kernels_of(session) if each.device != here)
    reached = await session.switch(Focus.of(kernel=other.number, block=(2, 0, 0), thread=(40, 0, 0)))
    assert reached is not None, session.state.reason
    assert reached.satisfies(Focus.of(device=other.device, block=(2, 0, 0), thread=(40, 0, 0)))
    assert (await session.evaluate("i")).value == "168"
    seen = (await session.evaluate("device")).value
    warps = await session.debugger.warps(reached)
    assert {warp.device for warp in warps} == {other.device}
    assert sum(len(warp.lanes) for warp in warps) == 64
    # By the hardware's own number, with nothing else named.
    back = await session.switch(Focus.of(device=here))
    assert back is not None, session.state.reason
    assert back.index("device") == here
    assert (await session.evaluate("device")).value != seen


async def test_a_breakpoint_stops_on_each_device_and_a_condition_on_one(
    session: DebugSession, program: Path
) -> None:
    await stand_at_line(session, program)
    seen = {device(session)}
    for _ in range(40):
        if len(seen) > 1:
            break
        await go(session, StepKind.CONTINUE)
        if session.state.run is not Run.STOPPED:
            break
        seen.add(device(session))
    print(f"the line was reached on devices {sorted(seen)}")
    assert len(seen) > 1


async def test_a_condition_names_the_device_by_an_argument(session: DebugSession, program: Path) -> None:
    await stand_at_line(session, program, "device == 1 && blockIdx.x == 1 && threadIdx.x == 33")
    focus = session.state.focus
    assert focus is not None
    assert focus.satisfies(Focus.of(block=(1, 0, 0), thread=(33, 0, 0)))
    assert (await session.evaluate("device")).value == "1"


async def test_a_condition_on_the_engines_own_number_of_the_device(session: DebugSession, program: Path) -> None:
    await stand_at_line(session, program, "$cuda_focus_device == 1")
    assert device(session) == 1


async def test_the_hardware_of_the_other_device_without_going_there(session: DebugSession, program: Path) -> None:
    await stand_at_line(session, program)
    here = device(session)
    other = next(each.device for each in await kernels_of(session) if each.device != here)
    await session.machine.device.look(other, None)
    hardware = session.state.hardware
    assert len(hardware.devices) >= 2
    assert len({each.bus for each in hardware.devices}) == len(hardware.devices)
    assert hardware.sms, hardware.note
    await session.machine.device.look(other, hardware.sms[0].number)
    assert {warp.device for warp in hardware.warps} == {other}
    rows = [
        row.text()
        for row in hardware_rows(session.state, width=76, cursor_sm=None, cursor_slot=None, cursor_lane=0).rows
    ]
    print("\n".join(rows))
    assert rows[here].startswith(f"◆ device {here}")
    assert rows[other].startswith(f"◇ device {other}")
    assert device(session) == here


async def test_a_step_stays_on_its_device(session: DebugSession, program: Path) -> None:
    await stand_at_line(session, program)
    here = device(session)
    await go(session, StepKind.NEXT)
    assert session.state.run is Run.STOPPED
    if session.state.run_detail.startswith("breakpoint"):
        pytest.skip("another lane reached the breakpoint first")
    assert device(session) == here


async def test_a_jump_names_the_devices_that_are_meant(session: DebugSession, program: Path) -> None:
    await stand_at_line(session, program)
    outcome = await jump(session.debugger, Focus.of(block=(2, 0, 0), thread=(40, 0, 0)))
    print(outcome.reached, outcome.doubt)
    assert outcome.exact
    assert "a report names no device" in outcome.doubt


@pytest.fixture(scope="module")
def sanitized_fault(program: Path) -> Callable[[], tuple[Path, Path]]:
    """Log and dump of the run in which the kernel of GPU 1 reads past its array."""

    def run() -> tuple[Path, Path]:
        log, dump = program.parent / "sanitizer.log", program.parent / "gpu.nvcudmp"
        if not log.exists():
            options = [
                "--strip-paths",
                "no",
                "--log-file",
                log,
                "--generate-coredump",
                "--coredump-behavior",
                "exit",
            ]
            command = ["compute-sanitizer", *options, "--coredump-name", dump, program, "faulty"]
            subprocess.run(command, cwd=program.parent, timeout=240)
        return log, dump

    return run


async def test_the_dump_of_a_fault_on_the_second_device(
    session: DebugSession, program: Path, sanitized_fault: Callable[[], tuple[Path, Path]]
) -> None:
    log, dump = sanitized_fault()
    report = read_report(log)
    finding = next(one for one in report.findings if one.kind is FindingKind.OOB)
    assert dump.exists()
    await session.open(GpuDumpTarget(dump, program))
    kernels = await session.debugger.kernels()
    print([(kernel.number, kernel.device, kernel.name) for kernel in kernels])
    outcome = await jump(session.debugger, asked_by(finding), finding=finding)
    print(outcome.reached, outcome.doubt, outcome.reason)
    assert outcome.exact, outcome.reason
    # The one whose argument says so.
    values = {each.name: each.value for each in outcome.variables}
    assert values["device"] == "1" or outcome.doubt
    assert int(values["i"]) >= 200
