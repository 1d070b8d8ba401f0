"""Stops of a live cuda-gdb, as recorded on an H200, as input of a session's state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.errors import MalformedRecord
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import AsyncRecord, Record, StreamRecord
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import DebugState

RECORDINGS = Path(__file__).parents[1] / "mi" / "recordings"


def received(name: str) -> list[Record]:
    records: list[Record] = []
    for line in (RECORDINGS / f"{name}.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["d"] == "<":
            try:
                records.append(parse(row["s"].encode()))
            except MalformedRecord:
                continue
    return records


async def states(name: str) -> list[DebugState]:
    """The state after each stop of a recording; no engine answers questions, so all comes from the records."""
    found = []
    debugger = CudaGdbDebugger()
    session = DebugSession(debugger)
    for record in received(name):
        if isinstance(record, AsyncRecord | StreamRecord):
            debugger.events.read(record)
        if isinstance(record, AsyncRecord) and (record.kind, record.cls) == ("*", "stopped"):
            await session.at_rest()
            state = session.state
            found.append(DebugState(state.rung, run=state.run, run_detail=state.run_detail, focus=state.focus,
                                    frames=state.frames, place=state.place, fault=state.fault))  # fmt: skip
    return found


async def test_a_stop_in_a_kernel_has_a_place_in_the_grid() -> None:
    stops = await states("oob-launch-then-condition")
    assert [state.run_detail for state in stops] == ["vadd was launched", "breakpoint 1"]
    lane = stops[-1]
    assert lane.focus is not None
    assert lane.focus.dim3("block") == (3, 0, 0)
    assert lane.focus.dim3("thread") == (232, 0, 0)
    assert lane.focus.index("lane") == 8
    assert lane.place is not None
    assert (lane.place.file.rsplit("/", 1)[-1], lane.place.line) == ("vector_add_oob.cu", 10)
    assert "vadd" in lane.frames.frames[0].function
    ended = (await states("oob-breakpoint-and-focus"))[-1]
    assert (ended.run_detail, ended.focus, ended.frames.frames) == ("exited normally", None, ())


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("misaligned-exception", "Warp Misaligned Address at uninit.cu:11"),
        ("torch-device-assert", "Warp Assert"),
        ("host-segfault-under-cuda-gdb", "SIGSEGV, Segmentation fault"),
    ],
)
async def test_faults_are_told_in_the_engines_words(name: str, detail: str) -> None:
    faults = [state for state in await states(name) if state.fault]
    assert faults
    assert faults[0].run_detail == detail


async def test_a_host_stop_has_no_lane() -> None:
    (stop, *_) = await states("host-segfault-under-cuda-gdb")
    assert stop.focus is None
    assert stop.frames.frames[0].function == "compute_total"


async def test_an_interrupted_kernel_is_no_fault() -> None:
    stops = await states("hang-interrupt")
    assert any(state.focus is not None and "block" in state.focus for state in stops)
    assert not any(state.fault for state in stops)
