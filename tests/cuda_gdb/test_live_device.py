"""Live on a GPU as a real cuda-gdb 13.0 told it on an H200, through the debugger and a headless session."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import AttachTarget, LaunchTarget, StepKind
from ladder_backends.debugger.facets import LaunchStops
from ladder_backends.errors import CommandFailed
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent, BreakpointKind
from ladder_backends.model.events import Event, TargetStopped
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import FrameKind
from ladder_backends.model.provenance import Provenance
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Run

from .stand_in import StandIn

LANE = Focus.of(kernel=0, block=(3, 0, 0), thread=(240, 0, 0))


@dataclass
class Live:
    """A session and what stands in for its engine."""

    session: DebugSession
    engine: StandIn
    events: list[Event]

    @property
    def debugger(self) -> CudaGdbDebugger:
        debugger = self.session.debugger
        assert isinstance(debugger, CudaGdbDebugger)
        return debugger

    @property
    def state(self):
        return self.session.state

    async def go(self, kind: StepKind) -> None:
        await self.session.resume(kind)
        async with asyncio.timeout(5):
            await self.session.at_rest()

    async def until(self, so: Callable[[], bool]) -> None:
        """Wait until something is so."""
        for _ in range(1_000):
            if so():
                return
            await asyncio.sleep(0.005)
        pytest.fail("it never came")

    def notices(self) -> list[str]:
        return [notice.text for notice in self.state.notices]

    def values(self) -> dict[str, str]:
        return {each.name: each.value for each in self.state.variables.variables}

    async def set(self, location: str, **options) -> BreakpointBinding:
        return await self.debugger.set_breakpoint(
            BreakpointIntent(len(self.state.breakpoints) + 1, location, **options)
        )


@pytest.fixture
async def live(compiled) -> AsyncIterator[Callable]:
    """Opens a session whose engine says what a transcript holds; the program on disk is any."""
    made: list[Live] = []

    async def opened(name: str, target=None) -> Live:
        engine = StandIn(name)
        debugger = CudaGdbDebugger(engine)
        session = DebugSession(debugger)
        one = Live(session, engine, [])
        take = session._take
        debugger.listen(lambda event: (one.events.append(event), take(event))[1])
        made.append(one)
        await session.open(target or LaunchTarget(compiled("steps")), run=False)
        return one

    yield opened
    for one in made:
        await one.session.close()


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


# -- faults


async def test_an_exception_shows_where_it_was_raised(live) -> None:
    one = await live("live-misaligned")
    await one.go(StepKind.RUN)
    assert one.state.run_detail == (
        "Warp Misaligned Address at misaligned.cu:8; the lane stands past it, on line 9"
    )
    assert one.state.fault
    assert one.state.place.line == 8
    assert one.state.place.fullname.endswith("/misaligned.cu")
    assert one.state.frames.frames[0].place.line == 9
    one.session.look_again()
    await one.session.at_rest()
    assert one.state.place.line == 8


async def test_an_exception_whose_record_does_not_tell_where(live) -> None:
    """Beside a command line of its own, the machine interface is told less: as it is driven here."""
    one = await live("live-misaligned")
    told = one.engine.lines_of("-exec-run")
    bare = [re.sub(r'exception_name=.*?line="8",', "", line) for line in told]
    assert bare != told
    one.engine.answer("-exec-run", *bare)
    await one.go(StepKind.RUN)
    assert one.state.run_detail == (
        "Warp Misaligned Address at misaligned.cu:8; the lane stands past it, on line 9"
    )
    assert one.state.place.line == 8
    (stop,) = [event for event in one.events if isinstance(event, TargetStopped)]
    assert stop.origin == one.state.place


async def test_an_exception_on_the_line_it_stands_on(live) -> None:
    one = await live("live-illegal")
    await one.go(StepKind.RUN)
    assert one.state.run_detail == "Warp Illegal Address at illegal_address.cu:14"


async def test_an_assertion_shows_the_frame_with_source(live) -> None:
    one = await live("live-assert")
    await one.go(StepKind.RUN)
    assert one.state.run_detail == "Warp Assert"
    assert (one.state.selected_frame, one.state.place.line) == (1, 9)
    # Whatever is asked about the host, the engine is in that frame behind it.
    asked = len(one.engine.sent)
    await one.debugger.frames(0, 10)
    sent = one.engine.sent[asked:]
    about_host = next(at for at, each in enumerate(sent) if "--thread" in each)
    assert sent[about_host + 1] == "-stack-select-frame 1"
    assert b"Assertion `row >= 0" in b"".join(one.state.program)
    await one.go(StepKind.CONTINUE)
    assert one.state.run_detail == "exited normally"


@pytest.mark.parametrize(
    ("said", "signal", "words"),
    [
        (
            "Cuda API error detected: cuMemcpyHtoD_v2 returned (0x1)",
            'signal-name="SIGTRAP",signal-meaning="Trace/breakpoint trap"',
            "cuMemcpyHtoD_v2 returned error 1",
        ),
        (
            "",
            'signal-name="CUDA API ERROR",signal-meaning="Cuda Runtime API error detected: cudaMemcpy returned'
            ' cudaErrorInvalidValue(CUresult=1): invalid argument"',
            "cudaMemcpy returned cudaErrorInvalidValue: invalid argument",
        ),
    ],
)
async def test_a_failing_call_of_the_driver_is_named(live, said: str, signal: str, words: str) -> None:
    one = await live("live-hang")
    one.engine.answer(
        "-exec-run",
        '=thread-group-started,id="i1",pid="1"',
        '=thread-created,id="1",group-id="i1"',
        "^running",
        '*running,thread-id="all"',
        f'~"{said}\\n"',
        f'*stopped,reason="signal-received",{signal},'
        'frame={addr="0x1",func="cuMemcpyHtoD_v2",args=[],from="/lib/libcuda.so.1"},thread-id="1",'
        'stopped-threads="all"',
    )
    await one.go(StepKind.RUN)
    assert (one.state.run_detail, one.state.fault) == (words, True)


@pytest.mark.parametrize(
    ("line", "cause", "remedy"),
    [
        (
            "fatal: CUDBG_ERROR_NO_DEVICE_AVAILABLE (39). No CUDA capable device was found.",
            "there is no GPU that can be debugged here",
            "the gdb rung shows its host side",
        ),
        (
            "fatal:  One or more CUDA devices cannot be used for debugging (error code = "
            "CUDBG_ERROR_INCOMPATIBLE_API(0x13)",
            "this cuda-gdb and this driver do not fit together",
            "use the cuda-gdb of the driver's CUDA version",
        ),
        ("fatal: something new", "cuda-gdb gave up: something new", "the gdb rung shows its host side"),
    ],
)
async def test_an_engine_that_gives_up_says_why(live, line: str, cause: str, remedy: str) -> None:
    one = await live("live-hang")
    one.engine.answer(
        "-exec-run",
        '=thread-group-started,id="i1",pid="1"',
        '=thread-created,id="1",group-id="i1"',
        "^running",
        '*running,thread-id="all"',
        '~"[Detaching after fork from child process 2]\\n"',
        f'&"{line}\\n"',
    )
    await one.go(StepKind.RUN)
    assert (one.state.run, one.state.run_detail) == (Run.EXITED, cause)
    assert remedy in "\n".join(one.notices())


async def test_an_engine_that_gives_up_in_its_command_line(live) -> None:
    one = await live("live-hang")
    one.engine.answer(
        "-exec-run",
        '=thread-group-started,id="i1",pid="1"',
        '=thread-created,id="1",group-id="i1"',
        "^running",
        '*running,thread-id="all"',
    )
    await one.session.resume(StepKind.RUN)
    await one.until(lambda: one.state.run is Run.RUNNING)
    one.engine.write("[Detaching after fork from child process 2]\r\nfatal: CUDBG_ERROR_NO_DEV")
    one.engine.write("ICE_AVAILABLE (39). No CUDA capable device was found.\r\n")
    await one.session.at_rest()
    assert (one.state.run, one.state.run_detail) == (Run.EXITED, "there is no GPU that can be debugged here")
    one.engine.say('&"fatal: CUDBG_ERROR_NO_DEVICE_AVAILABLE (39). No CUDA capable device was found.\\n"')
    await asyncio.sleep(0.01)
    assert len([each for each in one.notices() if "no GPU that can be debugged" in each]) == 1


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
