"""Where a program stands on a GPU, as a real cuda-gdb 13.0 told it on an H200."""

from __future__ import annotations

from ladder_backends.debugger import StepKind
from ladder_backends.model.breakpoint import BindingState
from ladder_backends.model.events import TargetStopped
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import FrameKind
from ladder_backends.session.state import Run

from .live_session import LANE

# -- stops, focus, both stacks


async def test_a_stop_in_a_kernel_shows_the_lane_and_who_launched_it(live) -> None:
    one = await live("live-oob")
    assert (await one.set("vadd")).state is BindingState.PENDING
    await one.go(StepKind.RUN)
    state = one.state
    assert (state.run, state.run_detail) == (Run.STOPPED, "breakpoint 1")
    assert state.focus.describe("kernel", "block", "thread", "sm") == "kernel 0 block (0,0,0) thread (0,0,0) sm 128"
    frames = state.frames.frames
    assert [frame.level for frame in frames] == list(range(len(frames)))
    assert [frame.kind for frame in frames[:2]] == [FrameKind.DEVICE, FrameKind.NATIVE]
    main = next(frame for frame in frames if frame.function == "main")
    assert str(main.place) == "vector_add_oob.cu:21"
    assert [frame.level for frame in frames if frame.launcher] == [1]
    assert one.values() == {
        "i": "<optimized out>",
        "a": "0x7ffdd3e00000",
        "b": "0x7ffdd3e01000",
        "c": "0x7ffdd3e02000",
        "n": "1000",
    }
    # Nothing but the question about its stack has named a thread of the host.
    named = {command.split(" --thread")[0] for command in one.engine.sent if "--thread" in command}
    assert named == {"-stack-list-frames"}
    assert one.engine.asked("-thread-select") == []


async def test_a_frame_of_the_host_is_asked_about_without_leaving_the_lane(live) -> None:
    one = await live("live-oob")
    await one.go(StepKind.RUN)
    one.engine.answer(
        "-stack-list-variables --thread 1 --frame 9 --simple-values",
        '^done,variables=[{name="n",type="const int",value="1000"}]',
    )
    level = next(frame.level for frame in one.state.frames.frames if frame.function == "main")
    one.engine.answer(
        f"-stack-list-variables --thread 1 --frame {level - 1} --simple-values",
        '^done,variables=[{name="n",type="const int",value="1000"}]',
    )
    await one.session.select_frame(level)
    assert one.values() == {"n": "1000"}
    assert one.state.place.line == 21
    assert one.engine.asked("-stack-select-frame") == []
    assert one.debugger.standing.on_device
    # A step from there is the lane's.
    await one.go(StepKind.NEXT)
    assert one.engine.asked("-exec-") == ["-exec-run", "-exec-next"]


async def test_a_lane_that_a_question_about_the_host_lost_is_found_again(live) -> None:
    one = await live("live-oob")
    await one.go(StepKind.RUN)
    await one.session.switch(LANE)
    await one.session.at_rest()
    level = next(frame.level for frame in one.state.frames.frames if frame.function == "main")
    one.engine.answer("-cuda-focus-query kernel grid block thread device sm warp lane", "^done")
    switches = len(one.engine.asked("-cuda-focus-switch"))
    await one.session.select_frame(level)
    assert one.engine.asked("-cuda-focus-switch")[switches:] == [
        "-cuda-focus-switch kernel 0 block (3,0,0) thread (240,0,0)"
    ]
    assert one.debugger.standing.on_device


async def test_the_stop_event_tells_that_the_frame_is_on_the_device(live) -> None:
    one = await live("live-oob")
    await one.go(StepKind.RUN)
    (stop,) = [event for event in one.events if isinstance(event, TargetStopped)]
    assert stop.frame is not None
    assert stop.frame.kind is FrameKind.DEVICE
    assert not stop.fault


async def test_facets_follow_where_it_stands(live) -> None:
    one = await live("live-oob")
    host = one.debugger.code
    assert host is not None
    await one.go(StepKind.RUN)
    assert one.debugger.code is not host
    on_device = one.debugger.values
    await one.session.threads.focus(1)
    assert one.debugger.code is host
    assert one.debugger.values is not on_device
    assert one.state.focus == Focus.of(thread=1)


async def test_a_visit_to_the_host_is_told_and_led_back(live) -> None:
    one = await live("live-oob")
    await one.go(StepKind.RUN)
    await one.session.switch(LANE)
    await one.session.at_rest()
    await one.session.threads.focus(1)
    await one.session.at_rest()
    assert one.state.device.left is not None
    assert one.state.device.left.satisfies(LANE)
    assert "block (3,0,0) thread (240,0,0)" in one.notices()[-1]
    assert [frame.kind for frame in one.state.frames.frames] == [FrameKind.NATIVE] * len(one.state.frames.frames)
    assert await one.session.device.return_to_lane()
    await one.session.at_rest()
    assert one.state.focus.satisfies(LANE)
    assert one.state.device.left is None
    assert not await one.session.device.return_to_lane()


async def test_a_lane_that_has_gone_meanwhile_is_said(live) -> None:
    one = await live("live-grid")
    await one.go(StepKind.RUN)
    before = one.state.focus
    gone = Focus.of(block=(200, 900, 0), thread=(0, 0, 0))
    one.engine.answer(
        "-cuda-focus-switch block (200,900,0) thread (0,0,0)",
        '^error,msg="Invalid coordinates requested. CUDA focus unchanged."',
    )
    assert await one.session.switch(gone) is None
    assert "is not on the device now" in one.state.reason
    assert one.state.focus == before


async def test_a_focus_typed_in_the_console_is_followed(live) -> None:
    one = await live("live-oob")
    await one.go(StepKind.RUN)
    await one.go(StepKind.CONTINUE)
    one.engine.answer(
        "-cuda-focus-query kernel grid block thread device sm warp lane",
        '^done,CudaFocus={device="0",sm="126",warp="7",lane="17",kernel="0",grid="1",blockIdx="(3,0,0)",'
        'threadIdx="(241,0,0)"}',
    )
    await one.session.console("cuda block 3 thread 241")
    await one.session.at_rest()
    assert one.state.focus["thread"] == (241, 0, 0)


async def test_a_thread_typed_in_the_console_is_followed(live) -> None:
    one = await live("live-oob")
    await one.go(StepKind.RUN)
    await one.go(StepKind.CONTINUE)
    lane = one.state.focus
    one.engine.answer("-cuda-focus-query kernel grid block thread device sm warp lane", "^done")
    await one.session.console("thread 1")
    await one.session.at_rest()
    assert one.state.focus == Focus.of(thread=1)
    assert one.debugger.lane_left == lane


async def test_steps_and_the_end(live) -> None:
    one = await live("live-oob")
    await one.go(StepKind.RUN)
    for kind in (StepKind.NEXT, StepKind.STEP_INSTRUCTION, StepKind.NEXT_INSTRUCTION, StepKind.UNTIL):
        await one.go(kind)
        assert one.state.run is Run.STOPPED
    assert one.engine.asked("-exec-next")[0] == "-exec-next"
    await one.session.resume(StepKind.FINISH)
    await one.session.at_rest()
    assert "the kernel itself is the outermost frame" in one.notices()[-1]
    await one.go(StepKind.CONTINUE)
    assert (one.state.run, one.state.run_detail) == (Run.EXITED, "exited normally")
    assert one.state.focus is None
    assert b"done" in b"".join(one.state.program)


async def test_launch_parameters_and_warps(live) -> None:
    one = await live("live-grid")
    await one.go(StepKind.RUN)
    (kernel,) = one.state.grid.kernels
    assert (kernel.name, kernel.grid_dim) == ("tile", (250, 1000, 1))
    assert dict(kernel.arguments) == {"out": "0x7ffdaa000000", "w": "8000", "h": "8000"}
    assert sum(blocks.count for blocks in one.state.grid.blocks) > 100
    asked = len(one.engine.asked("-cuda-info-kernels"))
    await one.debugger.kernels()
    assert len(one.engine.asked("-cuda-info-kernels")) == asked + 1


async def test_a_grid_that_nobody_sees_is_not_asked_for(live) -> None:
    one = await live("live-grid")
    one.session.show_rows(frames=5, variables=5, grid=False)
    await one.go(StepKind.RUN)
    assert one.engine.asked("-cuda-info") == []
    one.session.show_rows(frames=5, variables=5, grid=True)
    await one.session.at_rest()
    assert one.state.grid.kernels


async def test_a_look_at_the_threads_leaves_the_lane_alone(live) -> None:
    one = await live("live-oob")
    await one.go(StepKind.RUN)
    threads = await one.debugger.threads.list()
    assert [thread.id for thread in threads][:2] == [1, 2]
    assert one.engine.sent[-1].startswith("-cuda-focus-query")
    one.debugger.selected_frame = 2
    await one.debugger.threads.stacks([1], 4)
    assert one.engine.sent[-1] == "-stack-select-frame 2"
    assert one.debugger.standing.on_device
