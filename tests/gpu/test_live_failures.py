"""Kernels that fail, hang, are attached to and dumped, live on hardware."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ladder_backends.debugger import AttachTarget, GpuDumpTarget, LaunchTarget, StepKind
from ladder_backends.debugger.facets import ApiFailures, LaunchStops
from ladder_backends.errors import CommandFailed
from ladder_backends.images import read_gpu_dump
from ladder_backends.model.focus import Focus
from ladder_backends.model.stop_reasons import KERNEL_ENTRY
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import Run

from .live_session import LIMIT, Build, Live, in_vadd

# -- faults


async def test_an_illegal_address_shows_the_faulting_line(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("illegal_address"))
    detail = await live.go(StepKind.RUN)
    assert detail.startswith("Warp Illegal Address at illegal_address.cu:14"), live.told()
    assert live.state.fault
    assert live.state.place is not None
    assert live.state.place.line == 14


async def test_a_misaligned_access_stands_past_its_line(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("misaligned"))
    detail = await live.go(StepKind.RUN)
    assert detail.startswith("Warp Misaligned Address at misaligned.cu:8"), live.told()
    assert live.state.place is not None
    assert live.state.place.line == 8
    assert live.state.place.fullname.endswith("misaligned.cu")


async def test_an_assertion_shows_the_frame_with_source(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("device_assert"))
    detail = await live.go(StepKind.RUN)
    assert detail.startswith("Warp Assert"), live.told()
    assert live.state.place is not None, live.told()
    assert live.state.place.line == 9
    assert live.state.selected_frame == 1
    assert "row" in live.values(), live.told()
    assert b"Assertion" in b"".join(live.state.program)
    await live.go(StepKind.CONTINUE)
    assert live.state.run is Run.EXITED, live.told()


@pytest.mark.parametrize("failures", [ApiFailures.STOP, ApiFailures.STOP_ALL])
async def test_a_failing_call_of_the_driver(live: Live, cuda_program: Build, failures: ApiFailures) -> None:
    await live.load(cuda_program("two_kernels"))
    assert live.debugger.device_stops is not None
    await live.debugger.device_stops.at_failure(failures)
    detail = await live.go(StepKind.RUN)
    assert detail.startswith("cudaMemcpy returned cudaErrorInvalidValue"), live.told()
    assert live.state.fault
    assert any(frame.function == "main" for frame in live.state.frames.frames), live.told()


async def test_device_output_is_the_programs(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("clusters"))
    await live.go(StepKind.RUN)
    assert live.state.run_detail == "exited normally", live.told()
    assert b"of its cluster got" in b"".join(live.state.program)


async def test_clusters(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("clusters"))
    await live.set("clusters.cu:13")
    await live.go(StepKind.RUN)
    assert live.state.focus is not None
    assert live.state.focus.dim3("cluster") is not None, live.told()
    (kernel,) = await live.debugger.kernels()
    assert kernel.cluster_dim == (4, 1, 1), kernel
    blocks = await live.debugger.blocks(0)
    last = blocks[-1].last
    await live.session.switch(Focus.of(block=last, thread=(1, 0, 0)))
    assert live.state.focus["block"] == last, live.told()
    assert live.state.focus["cluster"] == (last[0] // 4, 0, 0), live.told()


# -- attach, dumps, second debugger


async def test_attach_to_a_hung_kernel_and_let_it_go(live: Live, cuda_program: Build) -> None:
    program = await asyncio.create_subprocess_exec(cuda_program("hang"), stdout=asyncio.subprocess.PIPE)
    assert program.stdout is not None
    try:
        assert b"launched" in await program.stdout.readline()
        with live.timed("attach until shown"):
            await live.session.open(AttachTarget(program.pid))
            await live.session.at_rest()
        assert live.state.run is Run.STOPPED, live.told()
        assert live.state.focus is not None
        assert "block" in live.state.focus, live.told()
        assert live.state.frames.frames[0].function.startswith("spin")
        assert not live.state.fault
        assert any(frame.function == "main" for frame in live.state.frames.frames), live.told()
        await live.session.control.detach()
        assert live.state.run_detail.startswith("detached"), live.told()
        await asyncio.sleep(0.3)
        assert program.returncode is None
    finally:
        if program.returncode is None:
            program.kill()
        await program.wait()


@pytest.mark.parametrize("lightweight", [False, True])
async def test_dump_a_hung_kernel(live: Live, cuda_program: Build, tmp_path: Path, lightweight: bool) -> None:
    await live.load(cuda_program("hang"))
    await live.session.resume(StepKind.RUN)
    await live.until(lambda: b"launched" in b"".join(live.state.program))
    await asyncio.sleep(0.3)
    await live.session.interrupt()
    await live.session.at_rest()
    assert live.debugger.gpu_dumps is not None
    path = tmp_path / "hang.nvcudmp"
    with live.timed("dump"):
        try:
            await live.debugger.gpu_dumps.write(path, lightweight=lightweight)
        except CommandFailed as refused:
            pytest.skip(f"this cuda-gdb: {refused.line()}")
    print(f"{path.stat().st_size} bytes, lightweight={lightweight}")
    assert [kernel.name for kernel in (await asyncio.to_thread(read_gpu_dump, path)).kernels]
    # The target stands as before.
    assert live.state.run is Run.STOPPED
    focus = await live.debugger.focus()
    assert focus is not None
    assert "block" in focus, live.told()
    await live.session.control.kill()


async def test_a_second_debugger_is_told_of_the_first(live: Live, cuda_program: Build) -> None:
    await in_vadd(live, cuda_program)
    other = Live("second-debugger")
    try:
        await other.load(cuda_program("vector_add_oob"))
        await other.set("vector_add_oob.cu:10")
        await other.go(StepKind.RUN)
        # Newer ones share a device, older ones say who has it.
        used = any("already using device" in one.text for one in other.state.notices)
        assert other.state.run is Run.STOPPED or used, other.told()
    finally:
        await other.session.close()


async def test_api_and_launch_settings_hold_for_a_restart(live: Live, cuda_program: Build) -> None:
    await in_vadd(live, cuda_program)
    assert live.debugger.device_stops is not None
    await live.session.device.choose_launches(LaunchStops.APPLICATION)
    await live.session.device.choose_failures(ApiFailures.STOP)
    await live.session.restart()
    await live.session.at_rest()
    assert live.debugger.device_stops.launches is LaunchStops.APPLICATION
    assert live.state.run_detail.endswith("was launched"), live.told()
    assert KERNEL_ENTRY == "kernel-entry"


async def test_a_look_at_the_threads_leaves_lane_and_frame_alone(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("device_assert"))
    await live.go(StepKind.RUN)
    assert live.state.selected_frame == 1, live.told()
    # What the call has overwritten is not what it was; it stays the same, though, in the same frame.
    before = (await live.session.evaluate("row")).value
    assert before, live.told()
    assert live.debugger.threads is not None
    threads = await live.debugger.threads.list()
    stacks = await live.debugger.threads.stacks([thread.id for thread in threads], 8)
    assert len(stacks) == len(threads)
    assert (await live.session.evaluate("row")).value == before, live.told()
    focus = await live.debugger.focus()
    assert focus is not None
    assert focus["thread"] == (21, 0, 0), live.told()


@pytest.mark.parametrize("flags", [("-lineinfo",), ("-O2",)])
async def test_a_kernel_without_debug_information(live: Live, cuda_program: Build, flags: tuple[str, ...]) -> None:
    await live.load(cuda_program("vector_add_oob", *flags))
    assert live.debugger.device_stops is not None
    await live.debugger.device_stops.at_launch(LaunchStops.APPLICATION)
    await live.go(StepKind.RUN)
    assert live.state.focus is not None, live.told()
    assert "block" in live.state.focus, live.told()
    print(f"{flags}: {live.state.place} {live.state.variables.variables} {live.state.variables.note!r}")
    await live.go(StepKind.NEXT_INSTRUCTION)
    assert live.state.run is Run.STOPPED, live.told()


async def test_a_program_that_sees_no_device_ends_calmly(live: Live, cuda_program: Build) -> None:
    target = LaunchTarget(cuda_program("vector_add_oob"), environment={"CUDA_VISIBLE_DEVICES": "-1"})
    await live.session.open(target, run=False)
    await live.go(StepKind.RUN)
    assert live.state.run is Run.EXITED, live.told()


async def test_the_ladder_opens_kernels_live_and_their_dump_beside(cuda_program: Build, tmp_path: Path) -> None:
    ladder = Ladder()
    program = cuda_program("hang")
    try:
        session = await ladder.open_target(LaunchTarget(program))
        assert session.state.rung == "cuda-gdb"
        for _ in range(400):
            if b"launched" in b"".join(session.state.program):
                break
            await asyncio.sleep(0.05)
        await session.interrupt()
        async with asyncio.timeout(LIMIT):
            await session.at_rest()
        path = tmp_path / "hang.nvcudmp"
        assert await session.device.dump(path), [one.text for one in session.state.notices]
        dump = await ladder.open_target(GpuDumpTarget(path, program))
        async with asyncio.timeout(LIMIT):
            await dump.at_rest()
        assert (dump.state.run, session.state.run) == (Run.DUMP, Run.STOPPED)
        assert dump.state.frames.frames[0].function.startswith("spin")
        assert dump.state.focus is not None
        assert ladder.switch_seat("cuda-gdb", Seat.LIVE)
        # The live one steps on as before.
        await session.resume(StepKind.STEP_INSTRUCTION)
        async with asyncio.timeout(LIMIT):
            await session.at_rest()
        assert session.state.run is Run.STOPPED
        await session.control.kill()
    finally:
        await ladder.close()
