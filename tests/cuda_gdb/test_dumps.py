"""The real cuda-gdb on real dumps: which lane, which values, which lanes beside it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ladder_backends.debugger import Capability, FocusRefused, StepKind
from ladder_backends.errors import CommandFailed
from ladder_backends.model.breakpoint import BindingState, BreakpointIntent
from ladder_backends.model.events import ConsoleOutput, EngineNotice, FocusChanged, TargetStopped
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import FrameKind
from ladder_backends.model.grid import LaneState
from ladder_backends.model.provenance import Provenance

from .conftest import Stand, dump_target

pytestmark = pytest.mark.cuda_gdb

Make = Callable[[], Stand]


async def test_out_of_bounds_every_lane_sees_its_own_index(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    for thread in range(232, 256):
        reached = await one.debugger.switch(Focus.of(block=(3, 0, 0), thread=(thread, 0, 0)))
        assert reached["thread"] == (thread, 0, 0)
        assert reached["lane"] == thread % 32
        window = await one.debugger.variables(0, 50)
        values = {variable.name: variable.value for variable in window.variables}
        assert (values["i"], values["n"]) == (str(3 * 256 + thread), "1000")


async def test_opening_tells_where_it_stands(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    (stop,) = one.of(TargetStopped)
    assert isinstance(stop, TargetStopped)
    assert stop.fault
    assert stop.frame is not None
    assert stop.frame.function == "vadd"
    assert str(stop.frame.place) == "vector_add_oob.cu:10"
    assert stop.frame.kind is FrameKind.DEVICE
    assert stop.focus == Focus.of(
        kernel=0, grid=1, block=(3, 0, 0), thread=(232, 0, 0), device=0, sm=126, warp=7, lane=8
    )
    assert one.debugger.capabilities & Capability.DEVICE_FOCUS
    assert not one.debugger.capabilities & Capability.RUN_CONTROL
    assert one.of(EngineNotice) == []


async def test_types_are_those_of_the_source(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    window = await one.debugger.variables(0, 50)
    types = {variable.name: (variable.type, variable.is_argument) for variable in window.variables}
    assert types["i"] == ("int", False)
    assert types["a"] == ("const float *", True)
    assert types["c"] == ("float *", True)
    assert all(variable.provenance is Provenance.ENGINE for variable in window.variables)


async def test_kernel_blocks_and_lanes(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    (kernel,) = await one.debugger.kernels()
    assert (kernel.name, kernel.grid_dim, kernel.block_dim, kernel.status) == (
        "vadd",
        (4, 1, 1),
        (256, 1, 1),
        "Active",
    )
    (blocks,) = await one.debugger.blocks(0)
    assert (blocks.first, blocks.last, blocks.count) == ((3, 0, 0), (3, 0, 0), 1)
    (warp,) = await one.debugger.warps(Focus.of(kernel=0, block=(3, 0, 0)))
    assert (warp.number, warp.index, warp.sm, warp.device) == (7, 7, 126, 0)
    assert [lane.number for lane in warp.lanes] == list(range(32))
    assert [lane.state for lane in warp.lanes[:8]] == [LaneState.ABSENT] * 8
    assert {lane.state for lane in warp.lanes[8:]} == {LaneState.ACTIVE}
    assert [lane.thread for lane in warp.lanes[8:]] == [(thread, 0, 0) for thread in range(232, 256)]
    assert len({lane.pc for lane in warp.lanes[8:]}) == 1
    (run,) = await one.debugger.threads_held((3, 0, 0))
    assert (run.first, run.last, run.count) == ((232, 0, 0), (255, 0, 0), 24)
    assert await one.debugger.threads_held((2, 0, 0)) == ()


async def test_line_information_only_says_so(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add-lineinfo"))
    reached = await one.debugger.switch(Focus.of(block=(3, 0, 0), thread=(240, 0, 0)))
    assert reached["lane"] == 16
    frames = await one.debugger.frames(0, 10)
    assert str(frames.frames[0].place) == "vector_add_oob.cu:10"
    window = await one.debugger.variables(0, 50)
    assert window.variables == ()
    assert window.note == "compiled with -lineinfo only: no locals; rebuild with -G"


async def test_two_warps_of_uninitialised_reads(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("uninit"))
    warps = await one.debugger.warps(Focus.of(block=(0, 0, 0)))
    assert [(warp.index, warp.lanes[0].thread) for warp in warps] == [(0, (0, 0, 0)), (1, (32, 0, 0))]
    assert all(lane.state is LaneState.ACTIVE for warp in warps for lane in warp.lanes)
    threads = [lane.thread for warp in warps for lane in warp.lanes]
    assert threads == [(thread, 0, 0) for thread in range(64)]
    await one.debugger.switch(Focus.of(block=(0, 0, 0), thread=(50, 0, 0)))
    assert (await one.debugger.evaluate("i")).value == "50"


async def test_a_hang_holds_two_blocks(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("hang"))
    (stop,) = one.of(TargetStopped)
    assert isinstance(stop, TargetStopped)
    assert not stop.fault
    assert "asked for" in stop.description
    (blocks,) = await one.debugger.blocks(0)
    assert blocks.count == 2
    here = await one.debugger.focus()
    assert here is not None
    assert here["block"] == (0, 0, 0)
    elsewhere = await one.debugger.warps(Focus.of(kernel=0, block=(1, 0, 0)))
    assert [warp.block for warp in elsewhere] == [(1, 0, 0)] * 2
    assert elsewhere[0].sm != here["sm"]
    assert await one.debugger.focus() == here


async def test_triton_has_lines_and_no_executable(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("triton-oob"))
    reached = await one.debugger.switch(Focus.of(block=(3, 0, 0), thread=(120, 0, 0)))
    assert reached["grid"] == 3
    frames = await one.debugger.frames(0, 10)
    assert frames.frames[0].function == "add"
    assert str(frames.frames[0].place) == "triton_oob.py:5"
    assert "compiled by Triton with lines only: no locals" in (await one.debugger.variables(0, 50)).note


@pytest.mark.parametrize(
    ("name", "fault"), [("misaligned", ""), ("exception-misaligned", "Warp Misaligned Address")]
)
async def test_misaligned_from_sanitizer_and_from_the_driver(stand: Make, name: str, fault: str) -> None:
    one = stand()
    await one.debugger.open(dump_target(name))
    (stop,) = one.of(TargetStopped)
    assert isinstance(stop, TargetStopped)
    assert str(stop.frame.place if stop.frame else "") == "uninit.cu:11"
    assert stop.description.startswith(fault)
    (warp,) = await one.debugger.warps(Focus.of(block=(0, 0, 0)))
    assert [lane.thread for lane in warp.lanes] == [(thread, 0, 0) for thread in range(32)]
    assert {lane.exception for lane in warp.lanes} == {fault}
    assert {lane.state for lane in warp.lanes} == {LaneState.FAULTING if fault else LaneState.ACTIVE}
    variables = {variable.name: variable for variable in (await one.debugger.variables(0, 50)).variables}
    assert variables["p"].type == "char *"
    assert "error" not in variables["p"].value


async def test_a_place_that_is_not_held_is_refused_and_the_focus_stays(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    before = await one.debugger.switch(Focus.of(block=(3, 0, 0), thread=(250, 0, 0)))
    asked = Focus.of(block=(2, 0, 0), thread=(5, 0, 0))
    with pytest.raises(FocusRefused, match=r"does not hold block \(2,0,0\) thread \(5,0,0\)") as refused:
        await one.debugger.switch(asked)
    assert refused.value.asked == asked
    assert await one.debugger.focus() == before


async def test_levels_left_out_snap_to_a_lane_that_is_held(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    reached = await one.debugger.switch(Focus.of(block=(3, 0, 0)))
    assert reached.satisfies(Focus.of(block=(3, 0, 0)))
    reached = await one.debugger.switch(Focus.of(lane=20))
    assert (reached["lane"], reached["thread"]) == (20, (244, 0, 0))


async def test_sass_marks_the_instruction(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    if not one.debugger.capabilities & Capability.DISASSEMBLE:
        pytest.skip("no cuobjdump and nvdisasm here")
    instructions = await one.debugger.disassemble(0, 9)
    frames = await one.debugger.frames(0, 1)
    here = [each for each in instructions if each.address == frames.frames[0].address]
    assert len(instructions) == 9
    assert here[0].text.startswith("LD.E")


async def test_a_dump_does_not_run(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    with pytest.raises(CommandFailed, match="cannot run"):
        await one.debugger.resume(StepKind.CONTINUE)
    binding = await one.debugger.set_breakpoint(BreakpointIntent(1, "vector_add_oob.cu:10"))
    assert binding.state is BindingState.UNSUPPORTED


async def test_a_focus_typed_in_the_console_is_followed(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    await one.debugger.console("cuda thread 250")
    (change,) = one.of(FocusChanged)
    assert isinstance(change, FocusChanged)
    assert change.focus is not None
    assert change.focus["thread"] == (250, 0, 0)
    assert change.frame is not None
    assert (await one.debugger.evaluate("i")).value == "1018"
    written = "".join(event.text for event in one.of(ConsoleOutput) if isinstance(event, ConsoleOutput))
    assert "Switching focus to CUDA kernel 0" in written
    await one.debugger.console("print i")
    assert len(one.of(FocusChanged)) == 1


async def test_a_host_thread_typed_in_the_console_keeps_the_lane(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    before = await one.debugger.focus()
    await one.debugger.console("thread 1")
    assert await one.debugger.focus() == before
    assert {change.focus for change in one.of(FocusChanged) if isinstance(change, FocusChanged)} <= {before}


async def test_the_engine_completes(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    assert "info cuda lanes" in await one.debugger.complete("info cuda ")


async def test_names_with_blanks_and_quotes(stand: Make, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("a 'b' [c]")
    target = dump_target("vector-add")
    dump, executable = folder / "my dump.nvcudmp", folder / 'the "program"'
    dump.symlink_to(target.dump)
    assert target.executable is not None
    executable.symlink_to(target.executable)
    one = stand()
    await one.debugger.open(type(target)(dump, executable))
    reached = await one.debugger.switch(Focus.of(block=(3, 0, 0), thread=(240, 0, 0)))
    assert reached["lane"] == 16
    assert (await one.debugger.evaluate("i")).value == "1008"
