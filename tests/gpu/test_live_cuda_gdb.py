"""cuda-gdb live on hardware, through the debugger and a headless session, never by commands typed by hand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from ladder_backends.debugger import StepKind
from ladder_backends.debugger.facets import LaunchStops
from ladder_backends.mi.records import Value
from ladder_backends.model.breakpoint import BindingState, BreakpointKind
from ladder_backends.model.events import TargetStopped
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import FrameKind
from ladder_backends.model.grid import LaneState, volume
from ladder_backends.session.state import Run

from .live_session import LANE, LIMIT, Build, Live, in_vadd

# -- breakpoints in kernels


async def test_a_breakpoint_set_before_the_module_is_loaded_stops_in_the_kernel(
    live: Live, cuda_program: Build
) -> None:
    await in_vadd(live, cuda_program)
    assert live.state.place is not None
    assert (live.state.place.line, live.state.frames.frames[0].kind) == (10, FrameKind.DEVICE)
    binding = live.state.breakpoints[0]
    assert (binding.state, [place.line for place in binding.places]) == (BindingState.SET, [10]), live.told()
    assert binding.hits >= 1
    assert live.values()["n"] == "1000"
    assert live.state.run_detail == f"breakpoint {binding.number}"


async def test_a_kernel_by_its_name(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("vector_add_oob"))
    assert (await live.set("vadd")).state is BindingState.PENDING
    await live.go(StepKind.RUN)
    assert live.state.frames.frames[0].function.startswith("vadd"), live.told()
    assert live.state.frames.frames[0].kind is FrameKind.DEVICE
    assert len(live.state.breakpoints[0].places) == 1, live.state.breakpoints


async def test_a_regular_expression_of_kernels(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("two_kernels"))
    made = await live.set(r"^first\|^second", kind=BreakpointKind.REGEX)
    assert made.state is not BindingState.FAILED, made
    await live.go(StepKind.RUN)
    print(live.state.breakpoints)
    assert live.state.run is Run.STOPPED, live.told()


async def test_a_lane_asked_for_before_the_launch(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("vector_add_oob"))
    made = await live.set("vector_add_oob.cu:10", block=(3, 0, 0), lane=(240, 0, 0))
    assert (made.state, made.why) == (BindingState.PENDING, "waits for the kernel's module")
    await live.go(StepKind.RUN)
    assert live.state.focus is not None
    assert live.state.focus.satisfies(Focus.of(block=(3, 0, 0), thread=(240, 0, 0))), live.told()
    assert live.values()["i"] == "1008", live.told()
    binding = live.state.breakpoints[0]
    assert (binding.state, binding.intent.block, binding.intent.lane) == (
        BindingState.SET,
        (3, 0, 0),
        (240, 0, 0),
    ), live.told()
    assert (binding.intent.condition, binding.intent.enabled) == ("", True)
    stops = live.debugger.device_stops
    assert stops is not None
    assert (await live.debugger.command("-gdb-show cuda break_on_launch")).results["value"] == "none"
    await live.go(StepKind.CONTINUE)
    assert live.state.run_detail == "exited normally", live.told()


async def test_a_condition_on_lanes_before_the_launch(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("vector_add_oob"))
    made = await live.set("vector_add_oob.cu:10", condition="blockIdx.x == 2 && threadIdx.x == 65")
    assert made.state is BindingState.PENDING
    await live.go(StepKind.RUN)
    assert live.state.focus is not None
    assert live.state.focus["block"] == (2, 0, 0), live.told()
    # A warp stops as a whole: the engine stands in one of its lanes.
    assert live.state.breakpoints[0].intent.condition == "blockIdx.x == 2 && threadIdx.x == 65"


async def test_a_lane_breakpoint_is_good_for_a_second_run(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("vector_add_oob"))
    await live.set("vector_add_oob.cu:10", block=(3, 0, 0), lane=(240, 0, 0))
    for _ in range(2):
        await live.go(StepKind.RUN)
        assert live.state.focus is not None, live.told()
        assert live.state.focus["block"] == (3, 0, 0), live.told()


async def test_a_breakpoint_set_while_standing_in_the_kernel(live: Live, cuda_program: Build) -> None:
    await in_vadd(live, cuda_program, line=9)
    made = await live.set("vector_add_oob.cu:10", block=(1, 0, 0), lane=(33, 0, 0))
    assert made.state is BindingState.SET, made
    await live.go(StepKind.CONTINUE)
    assert live.state.focus is not None
    assert live.state.focus["block"] == (1, 0, 0), live.told()


async def test_watchpoints_on_a_device_are_not_promised(live: Live, cuda_program: Build) -> None:
    await in_vadd(live, cuda_program)
    made = await live.set("c[i]", kind=BreakpointKind.WRITE)
    assert made.state is BindingState.UNSUPPORTED
    assert "watchpoints" in made.why


async def test_stop_at_each_launch(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("two_kernels"))
    assert live.debugger.device_stops is not None
    await live.debugger.device_stops.at_launch(LaunchStops.APPLICATION)
    seen = set()
    for kind in (StepKind.RUN, StepKind.CONTINUE):
        detail = await live.go(kind)
        if detail.endswith("was launched"):
            seen |= {kernel.name for kernel in await live.debugger.kernels()}
    # Two that are launched in one breath stand at their entries together: the engine stops once for both.
    assert seen == {"first", "second"}, live.told()


# -- focus, grid, values


async def test_focus_moves_and_says_where_it_came_to(live: Live, cuda_program: Build) -> None:
    await in_vadd(live, cuda_program)
    with live.timed("switch until shown"):
        reached = await live.session.switch(LANE)
        await live.session.at_rest()
    assert reached is not None
    assert reached.satisfies(LANE)
    assert live.values()["i"] == "1008", live.told()
    snapped = await live.session.switch(Focus.of(block=(2, 0, 0)))
    assert snapped is not None
    assert snapped["block"] == (2, 0, 0)
    refused = await live.session.switch(Focus.of(block=(99, 0, 0), thread=(0, 0, 0)))
    assert refused is None
    assert "outside the grid" in live.state.reason, live.told()
    assert live.state.focus == snapped


async def test_a_focus_typed_in_the_console_is_followed(live: Live, cuda_program: Build) -> None:
    await in_vadd(live, cuda_program)
    await live.session.console("cuda block 3 thread 241")
    await live.session.at_rest()
    assert live.state.focus is not None
    assert live.state.focus["thread"] == (241, 0, 0), live.told()
    assert live.values()["i"] == "1009"
    await live.session.console("print i")
    await live.session.at_rest()
    assert "1009" in "\n".join(list(live.state.console)[-4:])


async def test_the_grid(live: Live, cuda_program: Build) -> None:
    await in_vadd(live, cuda_program)
    (kernel,) = await live.debugger.kernels()
    assert (kernel.name, kernel.grid_dim, kernel.block_dim) == ("vadd", (4, 1, 1), (256, 1, 1))
    assert dict(kernel.arguments)["n"] == "1000", kernel
    blocks = await live.debugger.blocks(kernel.number)
    assert sum(each.count for each in blocks) == 4
    assert live.state.grid.kernels == (kernel,)
    assert len(live.state.grid.warps) == 8, live.state.grid.warps
    await live.session.switch(LANE)
    before = await live.debugger.focus()
    elsewhere = await live.debugger.warps(Focus.of(kernel=0, block=(1, 0, 0)))
    assert len(elsewhere) == 8
    assert await live.debugger.focus() == before
    lanes = [lane for warp in elsewhere for lane in warp.lanes if lane.state is not LaneState.ABSENT]
    assert len(lanes) == 256


async def test_both_stacks_of_one_moment(live: Live, cuda_program: Build) -> None:
    await in_vadd(live, cuda_program)
    frames = live.state.frames.frames
    kinds = [frame.kind for frame in frames]
    assert kinds[0] is FrameKind.DEVICE
    assert FrameKind.NATIVE in kinds, live.told()
    main = next((frame for frame in frames if frame.function == "main"), None)
    assert main is not None, live.told()
    assert [frame.level for frame in frames] == list(range(len(frames)))
    await live.session.select_frame(main.level)
    assert live.state.place is not None
    assert live.state.place.file.endswith("vector_add_oob.cu")
    assert live.values()["n"] == "1000", live.told()
    assert (await live.session.evaluate("n + 1")).value == "1001"
    # Nothing of this has moved the engine off the lane.
    focus = await live.debugger.focus()
    assert focus is not None
    assert "block" in focus, live.told()
    await live.session.select_frame(0)
    assert "i" in live.values()


async def test_a_visit_to_a_thread_of_the_host_and_back(live: Live, cuda_program: Build) -> None:
    await in_vadd(live, cuda_program)
    await live.session.switch(LANE)
    assert live.debugger.threads is not None
    threads = await live.debugger.threads.list()
    assert len(threads) >= 2
    await live.session.threads.focus(threads[0].id)
    await live.session.at_rest()
    assert live.state.focus == Focus.of(thread=threads[0].id), live.told()
    assert live.state.frames.frames[0].kind is FrameKind.NATIVE
    left = live.debugger.standing.left
    assert left is not None
    assert left.satisfies(LANE)
    assert live.debugger.registers is not None
    assert await live.session.device.return_to_lane(), live.told()
    await live.session.at_rest()
    assert live.state.focus is not None
    assert live.state.focus.satisfies(LANE), live.told()
    assert live.values()["i"] == "1008"


async def test_disassembly(live: Live, cuda_program: Build) -> None:
    await in_vadd(live, cuda_program)
    with live.timed("first disassembly"):
        first = await live.debugger.disassemble(0, 20)
    with live.timed("second disassembly"):
        await live.debugger.disassemble(0, 20)
    assert any("LD" in one.text or "S2R" in one.text or "MOV" in one.text for one in first), first


# -- steps


async def test_steps_of_a_warp(live: Live, cuda_program: Build) -> None:
    await in_vadd(live, cuda_program, line=9)
    await live.session.switch(LANE)
    await live.go(StepKind.NEXT)
    assert live.state.place is not None
    assert live.state.place.line == 10, live.told()
    before = live.state.frames.frames[0].address
    await live.go(StepKind.STEP_INSTRUCTION)
    await live.go(StepKind.NEXT_INSTRUCTION)
    assert live.state.frames.frames[0].address != before, live.told()
    await live.go(StepKind.STEP)
    await live.go(StepKind.UNTIL)
    await live.session.resume(StepKind.FINISH)
    await live.session.at_rest()
    assert "outermost" in " ".join(one.text for one in live.state.notices), live.told()
    assert live.state.run is Run.STOPPED


async def test_overhead_of_a_step(live: Live, cuda_program: Build) -> None:
    """Our part of a step: from the engine's stop to the end of what is shown, beside the raw command."""
    await in_vadd(live, cuda_program, line=9)
    events = live.debugger.events
    amend = events.amend
    stopped: list[float] = []

    def note(results: Mapping[str, Value], stop: TargetStopped) -> TargetStopped:
        stopped.append(time.perf_counter())
        return amend(results, stop)

    events.amend = note
    for _ in range(3):
        began = time.perf_counter()
        await live.session.resume(StepKind.NEXT_INSTRUCTION)
        await live.session.at_rest()
        engine, ours = stopped[-1] - began, time.perf_counter() - stopped[-1]
        live.times.append(f"nexti: engine {engine * 1e3:.1f} ms, ours {ours * 1e3:.1f} ms")
    assert len(stopped) == 3


async def test_an_endless_step_is_interrupted(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("hang"))
    await live.session.resume(StepKind.RUN)
    await live.until(lambda: b"launched" in b"".join(live.state.program))
    await asyncio.sleep(0.5)
    with live.timed("interrupt"):
        await live.session.interrupt()
        async with asyncio.timeout(LIMIT):
            await live.session.at_rest()
    assert (live.state.run, live.state.run_detail) == (Run.STOPPED, "interrupted"), live.told()
    assert live.state.focus is not None
    assert "block" in live.state.focus
    await live.session.resume(StepKind.NEXT)
    await live.until(lambda: live.state.run is Run.RUNNING)
    await asyncio.sleep(1.0)
    # What is asked meanwhile is refused calmly.
    await live.session.resume(StepKind.NEXT)
    assert "running" in (live.state.notice.text if live.state.notice else "")
    with live.timed("interrupt of a step"):
        await live.session.interrupt()
        async with asyncio.timeout(LIMIT):
            await live.session.at_rest()
    assert live.state.run is Run.STOPPED, live.told()
    assert live.state.place is not None
    await live.session.control.kill()
    assert live.state.run_detail == "killed"


async def test_a_big_grid(live: Live, cuda_program: Build) -> None:
    await live.load(cuda_program("divergent_grid"))
    assert live.debugger.device_stops is not None
    await live.debugger.device_stops.at_launch(LaunchStops.APPLICATION)
    await live.go(StepKind.RUN)
    assert live.state.run_detail == "tile was launched", live.told()
    await live.debugger.device_stops.at_launch(LaunchStops.NONE)
    with live.timed("blocks"):
        blocks = await live.debugger.blocks(0)
    assert sum(each.count for each in blocks) >= 132
    (kernel,) = live.state.grid.kernels
    assert volume(kernel.grid_dim) == 250_000
    refused = await live.session.switch(Focus.of(block=(249, 999, 0), thread=(0, 0, 0)))
    assert refused is None
    assert "not on the device now" in live.state.reason, live.told()
    await live.go(StepKind.NEXT)
    await live.go(StepKind.NEXT)
    first = next(iter(blocks))
    reached = await live.session.switch(Focus.of(block=first.last, thread=(0, 0, 0)))
    assert reached is not None, live.told()
    with live.timed("interrupted step of a warp that waits"):
        await live.session.resume(StepKind.NEXT)
        await asyncio.sleep(0.2)
        await live.session.interrupt()
        async with asyncio.timeout(LIMIT):
            await live.session.at_rest()
    await live.session.control.kill()
