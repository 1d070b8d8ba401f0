"""The jump on real dumps with the real cuda-gdb, from coordinates and from findings."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.case import open_files
from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import GpuDumpTarget
from ladder_backends.model.finding import CodeLocation, Finding, FindingKind, LaneAnswer, Side
from ladder_backends.model.focus import Dim3, Focus
from ladder_backends.model.grid import LaneState
from ladder_backends.model.provenance import Provenance
from ladder_backends.recording import ReplayTransport, read_recording
from ladder_backends.session.alternatives import host_frame
from ladder_backends.session.jump import asked_by, jump
from ladder_backends.session.jump_json import jump_exit_code, jump_json
from ladder_backends.session.live_wish import wish_of
from ladder_demos.catalogue import find_demo

pytestmark = pytest.mark.cuda_gdb

Open = Callable[[str], Coroutine[Any, Any, CudaGdbDebugger]]


@pytest.fixture
async def opened(cuda_gdb: Path) -> AsyncIterator[Open]:
    """Opens a demo's dump in a cuda-gdb that is ended afterwards."""
    made: list[CudaGdbDebugger] = []

    async def open_demo(name: str) -> CudaGdbDebugger:
        files = open_files([find_demo(name).path])
        assert files.dump is not None
        debugger = CudaGdbDebugger()
        made.append(debugger)
        await debugger.open(GpuDumpTarget(files.dump, files.executable))
        return debugger

    yield open_demo
    for debugger in made:
        await debugger.close()


def lane(block: Dim3, thread: Dim3) -> Focus:
    return Focus.of(block=block, thread=thread)


def finding(thread: Dim3 | None = (240, 0, 0), **changes: Any) -> Finding:
    block = (3, 0, 0) if thread else None
    values: dict[str, Any] = {
        "index": 0,
        "kind": FindingKind.OOB,
        "kernel": "vadd(const float *, const float *, float *, int)",
        "src_file": "vector_add_oob.cu",
        "line": 10,
        "block": block,
        "thread": thread,
        "sides": (Side("read", block=block, thread=thread),) if thread else (),
        "host_frames": (CodeLocation("cuMemFree"), CodeLocation("main", "vector_add_oob.cu", 20)),
        "lane": LaneAnswer.EXACT if thread else LaneAnswer.NONE,
    }
    return Finding(**{**values, **changes})


@pytest.mark.parametrize(("thread", "i"), [(232, "1000"), (240, "1008"), (255, "1023")])
async def test_a_finding_reaches_its_lane(opened: Open, thread: int, i: str) -> None:
    debugger = await opened("vector-add")
    found = finding((thread, 0, 0))
    outcome = await jump(debugger, asked_by(found), finding=found)
    assert outcome.exact
    assert outcome.reason == ""
    assert outcome.frame is not None
    assert str(outcome.frame.place) == "vector_add_oob.cu:10"
    assert {each.name: each.value for each in outcome.variables}["i"] == i
    assert outcome.warp is not None
    assert len(outcome.warp.lanes) == 32
    assert sum(each.state is LaneState.ACTIVE for each in outcome.warp.lanes) == 24
    assert outcome.warp.lanes[thread % 32].thread == (thread, 0, 0)
    assert outcome.kernel is not None
    assert outcome.kernel.name == "vadd"
    assert 0 < outcome.seconds < 5


async def test_json_names_what_was_asked_and_reached(opened: Open) -> None:
    outcome = await jump(await opened("vector-add"), lane((3, 0, 0), (240, 0, 0)))
    shape = json.loads(json.dumps(jump_json(outcome)))
    assert next(iter(shape)) == "format"
    assert shape["format"] == 1
    assert shape["asked"] == {"block": [3, 0, 0], "thread": [240, 0, 0]}
    reached = {"kernel": 0, "grid": 1, "block": [3, 0, 0], "thread": [240, 0, 0]}
    assert shape["reached"] == {**reached, "device": 0, "sm": 126, "warp": 7, "lane": 16}
    assert (shape["frame"]["function"], shape["frame"]["file"], shape["frame"]["line"]) == (
        "vadd",
        "vector_add_oob.cu",
        10,
    )
    assert {"name": "i", "value": "1008", "type": "int", "argument": False} in shape["locals"]
    assert len(shape["lanes"]) == 32
    assert shape["lanes"][16]["thread"] == [240, 0, 0]
    assert shape["lanes"][0] == {"lane": 0, "state": "absent", "thread": None, "pc": None, "exception": None}
    assert (shape["source"], shape["reason"]) == ("engine", None)
    assert jump_exit_code(outcome) == 0


async def test_a_thread_that_is_not_held(opened: Open) -> None:
    debugger = await opened("vector-add")
    found = finding((5, 0, 0))
    outcome = await jump(debugger, asked_by(found), finding=found)
    assert outcome.reached is None
    assert outcome.reason == (
        "the dump does not hold thread (5,0,0) of block (3,0,0), only its threads (232,0,0) to (255,0,0)"
    )
    nearest, source, host = outcome.alternatives
    assert nearest.focus == Focus.of(kernel=0, block=(3, 0, 0), thread=(232, 0, 0))
    assert nearest.label == "thread (232,0,0) of the same block"
    assert (source.file, source.line) == ("vector_add_oob.cu", 10)
    assert host.label == "host call vector_add_oob.cu:20 in main"
    assert jump_exit_code(outcome) == 1
    assert jump_json(outcome)["reached"] is None
    assert nearest.focus is not None
    assert (await jump(debugger, nearest.focus)).exact


async def test_a_thread_alone_is_one_of_the_block_it_stands_in(opened: Open) -> None:
    debugger = await opened("vector-add")
    assert (await jump(debugger, Focus.of(thread=(240, 0, 0)))).exact
    outcome = await jump(debugger, Focus.of(thread=(3, 0, 0)))
    assert outcome.reason == (
        "the dump does not hold thread (3,0,0) of block (3,0,0), only its threads (232,0,0) to (255,0,0)"
    )
    assert outcome.alternatives[0].focus == Focus.of(kernel=0, block=(3, 0, 0), thread=(232, 0, 0))


async def test_a_lane_of_the_same_warp_is_the_nearest(opened: Open) -> None:
    outcome = await jump(await opened("vector-add"), lane((3, 0, 0), (225, 0, 0)))
    assert outcome.alternatives[0].label == "thread (232,0,0) of the same warp"


async def test_a_block_that_is_not_held(opened: Open) -> None:
    outcome = await jump(await opened("vector-add"), lane((1, 0, 0), (5, 0, 0)))
    assert outcome.reason == "the dump does not hold block (1,0,0) of vadd, only block (3,0,0)"
    assert outcome.alternatives[0].label == "block (3,0,0), the nearest that is held"
    assert outcome.alternatives[0].focus == Focus.of(kernel=0, block=(3, 0, 0), thread=(232, 0, 0))


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (lane((4, 0, 0), (0, 0, 0)), "block (4,0,0) is outside the grid of vadd, of (4,1,1) blocks"),
        (lane((3, 0, 0), (256, 0, 0)), "thread (256,0,0) is outside a block of vadd, of (256,1,1) threads"),
        (lane((3, 0, 0), (0, 1, 0)), "thread (0,1,0) is outside a block of vadd, of (256,1,1) threads"),
        (Focus.of(kernel=7, block=(3, 0, 0)), "the dump holds no kernel 7"),
    ],
)
async def test_what_cannot_exist(opened: Open, asked: Focus, reason: str) -> None:
    outcome = await jump(await opened("vector-add"), asked)
    assert (outcome.reached, outcome.reason) == (None, reason)


async def test_a_finding_of_another_kernel(opened: Open) -> None:
    debugger = await opened("vector-add")
    found = finding(kernel="void ns::scale<float>(float *)")
    before = await debugger.focus()
    outcome = await jump(debugger, asked_by(found), finding=found)
    assert outcome.reached is None
    assert outcome.reason == "the finding is in kernel scale, and the dump holds vadd: it is of another launch"
    assert outcome.alternatives[0].label == "source line vector_add_oob.cu:10"
    assert await debugger.focus() == before


async def test_a_finding_whose_stack_ends_in_what_asserts_names_no_kernel(opened: Open) -> None:
    debugger = await opened("vector-add")
    found = finding(kernel="__assertfail")
    outcome = await jump(debugger, asked_by(found), finding=found)
    assert outcome.reached is not None, outcome.reason
    assert outcome.reason == ""


async def test_a_finding_without_a_lane(opened: Open) -> None:
    found = finding(
        None, kind=FindingKind.RACE_ANALYSIS, why="an analysis names no lane; use --racecheck-report hazard"
    )
    outcome = await jump(await opened("vector-add"), asked_by(found), finding=found)
    assert outcome.reached is None
    assert outcome.reason == "an analysis names no lane; use --racecheck-report hazard"
    assert outcome.alternatives[0].label == "source line vector_add_oob.cu:10"


def test_a_hazard_has_two_sides() -> None:
    sides = (Side("write", block=(0, 0, 0), thread=(1, 0, 0)), Side("read", block=(0, 0, 0), thread=(2, 0, 0)))
    found = finding((1, 0, 0), block=(0, 0, 0), sides=sides)
    assert asked_by(found) == lane((0, 0, 0), (1, 0, 0))
    assert asked_by(found, 1) == lane((0, 0, 0), (2, 0, 0))
    assert asked_by(found, 2) == Focus()


async def test_line_information_only_has_a_note(opened: Open) -> None:
    outcome = await jump(await opened("vector-add-lineinfo"), lane((3, 0, 0), (240, 0, 0)))
    assert outcome.exact
    assert outcome.variables == ()
    assert "rebuild with -G" in outcome.note
    assert jump_json(outcome)["note"] == outcome.note


async def test_without_coordinates_it_stands_where_the_engine_does(opened: Open) -> None:
    outcome = await jump(await opened("hang"), Focus())
    assert outcome.exact
    assert outcome.reached is not None
    assert outcome.reached["block"] == (0, 0, 0)
    assert jump_json(outcome)["asked"] == {"block": None, "thread": None}


async def test_both_blocks_of_a_hang(opened: Open) -> None:
    debugger = await opened("hang")
    for block in (0, 1):
        outcome = await jump(debugger, lane((block, 0, 0), (33, 0, 0)))
        assert outcome.exact
        assert [warp.index for warp in outcome.warps] == [0, 1]
        assert outcome.warp is not None
        assert outcome.warp.index == 1


async def test_a_packed_dump_of_the_driver(cuda_gdb: Path) -> None:
    packed = Path(__file__).parent.parent / "dumps" / "exception-misaligned.nvcudmp.xz"
    debugger = CudaGdbDebugger()
    await debugger.open(GpuDumpTarget(packed))
    outcome = await jump(debugger, lane((0, 0, 0), (31, 0, 0)))
    await debugger.close()
    assert outcome.exact
    assert {entry["exception"] for entry in jump_json(outcome)["lanes"]} == {"Warp Misaligned Address"}


@pytest.mark.parametrize(
    "kernel", ["", "vadd", "_Z4vaddPKfS0_Pfi", "void vadd<float>(float const*, int) [clone .k]"]
)
async def test_every_spelling_of_the_kernel(opened: Open, kernel: str) -> None:
    found = finding(kernel=kernel)
    assert (await jump(await opened("vector-add"), asked_by(found), finding=found)).exact


async def test_a_recording_tells_what_it_lacks_from_what_the_dump_lacks(tmp_path: Path) -> None:
    demo = open_files([find_demo("vector-add").path])
    assert demo.dump is not None
    held = read_recording(demo.recordings[0])
    debugger = CudaGdbDebugger(lambda command: ReplayTransport(held), provenance=Provenance.RECORDING)
    await debugger.open(GpuDumpTarget(tmp_path / demo.dump.name, demo.executable))
    told = await jump(debugger, lane((3, 0, 0), (240, 0, 0)))
    assert told.exact
    assert jump_json(told)["source"] == "recording"
    not_held = await jump(debugger, lane((3, 0, 0), (5, 0, 0)))
    assert not_held.reason.startswith("the dump does not hold thread (5,0,0) of block (3,0,0)")
    assert not_held.alternatives[0].focus is not None
    assert (await jump(debugger, not_held.alternatives[0].focus)).exact
    elsewhere = await jump(debugger, lane((1, 0, 0), (5, 0, 0)))
    assert elsewhere.reason == "the dump does not hold block (1,0,0) of vadd, only block (3,0,0)"
    assert elsewhere.alternatives[0].focus is not None
    assert (await jump(debugger, elsewhere.alternatives[0].focus)).exact
    unasked = await jump(debugger, Focus.of(kernel=0, block=(3, 0, 0)))
    assert unasked.reached is None
    assert unasked.reason == "kernel 0 block (3,0,0) is not in this recording"
    await debugger.close()


FRAMES = (
    CodeLocation("cuLaunchKernel", module="libcuda.so.1"),
    CodeLocation("cudaError cudaLaunchKernel<char>(char const*)", "cuda_runtime.h", 216),
    CodeLocation("vadd(float const*, float const*, float*, int)", "/src/vector_add_oob.cu", 8),
    CodeLocation("main", "/src/vector_add_oob.cu", 19),
    CodeLocation("__libc_start_main", module="libc.so.6"),
)


@pytest.mark.parametrize(
    ("frames", "line"),
    [
        (FRAMES, "main:19"),
        ((FRAMES[0], CodeLocation("cudaMalloc", "cuda_runtime.h", 879)), "cudaMalloc:879"),
        (
            (
                *FRAMES[:2],
                CodeLocation("launch", "driver.cpp", 8369, module="driver.so"),
                CodeLocation("__call__", "/usr/lib/python3.12/site-packages/triton/backends/driver.py", 713),
                CodeLocation("<module>", "/home/me/triton_oob.py", 17),
            ),
            "<module>:17",
        ),
        ((CodeLocation("cuMemFree"),), ""),
    ],
)
def test_the_users_own_call_on_the_host(frames: tuple[CodeLocation, ...], line: str) -> None:
    host = host_frame(finding(host_frames=frames))
    assert (f"{host.function}:{host.line}" if host is not None else "") == line


def test_an_assertion_is_looked_for_in_any_kernel() -> None:
    found = finding(kernel="__assertfail", src_file="", line=None, sides=())
    assert wish_of(found, asked_by(found)).kernel == ""
    assert wish_of(finding(), asked_by(finding())).kernel.startswith("vadd(")
