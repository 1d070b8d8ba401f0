"""Exceptions, failing calls of the driver and an engine that gives up, as a real cuda-gdb 13.0 told of them."""

from __future__ import annotations

import asyncio
import re

import pytest

from ladder_backends.debugger import StepKind
from ladder_backends.model.events import TargetStopped
from ladder_backends.session.state import Run

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
