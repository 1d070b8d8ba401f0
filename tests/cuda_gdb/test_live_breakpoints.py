"""Breakpoints in kernels and stops at launches, as a real cuda-gdb 13.0 told of them on an H200."""

from __future__ import annotations

from ladder_backends.debugger import StepKind
from ladder_backends.debugger.facets import LaunchStops
from ladder_backends.model.breakpoint import BindingState, BreakpointKind
from ladder_backends.model.events import TargetStopped

# -- breakpoints


async def test_a_breakpoint_follows_its_module(live) -> None:
    one = await live("live-oob")
    by_name, by_line = await one.set("vadd"), await one.set("vector_add_oob.cu:10")
    assert (by_name.state, by_line.state) == (BindingState.PENDING, BindingState.PENDING)
    assert by_line.places == ()
    await one.go(StepKind.RUN)
    by_name, by_line = one.state.breakpoints
    assert (by_name.state, by_name.hits, by_name.locations) == (BindingState.SET, 1, ())
    assert [str(place) for place in by_name.places] == ["vector_add_oob.cu:9"]
    assert (by_line.state, [place.line for place in by_line.places]) == (BindingState.SET, [10])


async def test_a_lane_breakpoint_waits_for_a_launch_nobody_sees(live) -> None:
    one = await live("live-grid")
    one.engine.answer(
        '-break-insert -f -d "divergent_grid.cu:28"',
        '^done,bkpt={number="1",type="breakpoint",disp="keep",enabled="n",addr="<PENDING>",'
        'pending="divergent_grid.cu:28",times="0",original-location="divergent_grid.cu:28"}',
    )
    made = await one.set("divergent_grid.cu:28", block=(5, 1, 0), lane=(3, 2, 0))
    assert (made.state, made.why) == (BindingState.PENDING, "waits for the kernel's module")
    assert made.intent.enabled
    one.engine.answer("-exec-continue", "^running", '*running,thread-id="all"')
    await one.session.resume(StepKind.RUN)
    await one.until(lambda: "-exec-continue" in one.engine.sent)
    where = "blockIdx.x == 5 && blockIdx.y == 1 && blockIdx.z == 0"
    lane = "threadIdx.x == 3 && threadIdx.y == 2 && threadIdx.z == 0"
    kinds = ("-gdb-set cuda break", "-break-insert", "-break-condition", "-break-enable", "-exec-")
    said = [each for each in one.engine.sent if each.startswith(kinds)]
    assert said == [
        '-break-insert -f -d "divergent_grid.cu:28"',
        "-gdb-set cuda break_on_launch application",
        "-exec-run",
        f'-break-condition 1 "{where} && {lane}"',
        "-break-enable 1",
        "-gdb-set cuda break_on_launch none",
        "-exec-continue",
    ]
    assert any("each of 2,000,000 warps" in text for text in one.notices())
    # Nobody was told of the stop between.
    assert not [event for event in one.events if isinstance(event, TargetStopped)]
    assert not one.debugger.setting.waiting  # type: ignore[attr-defined]


async def test_one_that_was_deleted_in_the_console_waits_for_no_launch(live) -> None:
    one = await live("live-grid")
    one.engine.answer(
        '-break-insert -f -d "divergent_grid.cu:28"',
        '^done,bkpt={number="1",type="breakpoint",disp="keep",enabled="n",addr="<PENDING>",'
        'pending="divergent_grid.cu:28",times="0",original-location="divergent_grid.cu:28"}',
    )
    await one.set("divergent_grid.cu:28", block=(5, 1, 0))
    one.engine.say('=breakpoint-deleted,id="1"')
    await one.until(lambda: not one.debugger.setting.waiting)  # type: ignore[attr-defined]
    await one.session.resume(StepKind.RUN)
    await one.until(lambda: "-exec-run" in one.engine.sent)
    assert one.engine.asked("-gdb-set cuda break_on_launch application") == []
    assert one.engine.asked("-break-condition") == []
    assert not [text for text in one.notices() if "refused" in text]


async def test_a_launch_that_was_asked_for_is_a_stop(live) -> None:
    one = await live("live-grid")
    await one.session.device.choose_launches(LaunchStops.APPLICATION)
    one.engine.answer(
        '-break-insert -f -d "divergent_grid.cu:28"',
        '^done,bkpt={number="1",type="breakpoint",disp="keep",enabled="n",addr="<PENDING>",'
        'pending="divergent_grid.cu:28",times="0",original-location="divergent_grid.cu:28"}',
    )
    await one.set("divergent_grid.cu:28", block=(5, 1, 0))
    await one.go(StepKind.RUN)
    assert (one.state.run_detail, one.state.fault) == ("tile was launched", False)
    await one.until(lambda: "-break-enable 1" in one.engine.sent)
    assert one.engine.asked("-exec-continue") == []


async def test_a_condition_that_is_wrong_is_said_at_the_launch(live) -> None:
    one = await live("live-grid")
    one.engine.answer(
        '-break-insert -f -d "divergent_grid.cu:28"',
        '^done,bkpt={number="1",type="breakpoint",disp="keep",enabled="n",addr="<PENDING>",'
        'pending="divergent_grid.cu:28",times="0",original-location="divergent_grid.cu:28"}',
    )
    await one.set("divergent_grid.cu:28", condition="threadIdx.x ==")
    one.engine.answer('-break-condition 1 "threadIdx.x =="', '^error,msg="A syntax error in expression, near `\'."')
    one.engine.answer("-exec-continue", "^running", '*running,thread-id="all"')
    await one.session.resume(StepKind.RUN)
    await one.until(lambda: "-exec-continue" in one.engine.sent)
    assert "the condition was refused: A syntax error" in one.notices()[-1]


async def test_no_watchpoints_on_a_device(live) -> None:
    one = await live("live-oob")
    await one.go(StepKind.RUN)
    made = await one.set("c[i]", kind=BreakpointKind.WRITE)
    assert made.state is BindingState.UNSUPPORTED
    assert one.engine.asked("-break-watch") == []
