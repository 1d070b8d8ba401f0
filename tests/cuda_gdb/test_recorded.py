"""A recording of a real cuda-gdb on a real dump stands in for it: the same code, the same lanes, no engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import Capability, FocusRefused, GpuDumpTarget
from ladder_backends.errors import NotRecorded
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.model.events import Event, FocusChanged, TargetStopped
from ladder_backends.model.focus import Focus
from ladder_backends.model.provenance import Provenance
from ladder_backends.recording import Recorder, ReplayTransport, read_recording
from ladder_backends.session.jump import JumpOutcome, jump

from .conftest import dump_target

pytestmark = pytest.mark.cuda_gdb

LANES = [Focus.of(block=(3, 0, 0), thread=(thread, 0, 0)) for thread in range(232, 256)]
NOT_HELD = Focus.of(block=(3, 0, 0), thread=(5, 0, 0))


async def recorded(path: Path) -> dict[Focus, JumpOutcome]:
    """Record every lane, one that is not held, and a line typed into the console."""
    debugger = CudaGdbDebugger(lambda command: Recorder(PtyTransport(command), path))
    await debugger.open(dump_target("vector-add"))
    outcomes = {asked: await jump(debugger, asked) for asked in [*LANES, NOT_HELD]}
    await debugger.console("cuda thread 250")
    await debugger.close()
    return outcomes


async def replayed(path: Path) -> tuple[CudaGdbDebugger, list[Event]]:
    events: list[Event] = []
    held = read_recording(path)
    debugger = CudaGdbDebugger(lambda command: ReplayTransport(held), provenance=Provenance.RECORDING)
    debugger.listen(events.append)
    target = dump_target("vector-add")
    executable = Path("/nowhere") / target.executable.name if target.executable else None
    await debugger.open(GpuDumpTarget(Path("/nowhere") / target.dump.name, executable))
    return debugger, events


async def test_every_lane_in_any_order(cuda_gdb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lanes.jsonl"
    told = await recorded(path)
    monkeypatch.setenv("LADDER_CUDA_GDB", "/nowhere/cuda-gdb")
    monkeypatch.chdir("/")
    debugger, events = await replayed(path)
    assert debugger.provenance is Provenance.RECORDING
    assert debugger.capabilities & Capability.DEVICE_FOCUS
    (stop,) = [event for event in events if isinstance(event, TargetStopped)]
    assert stop.focus is not None
    assert stop.focus["thread"] == (232, 0, 0)
    for asked in [*reversed(LANES), *LANES[::5]]:
        outcome = await jump(debugger, asked)
        assert outcome.exact
        assert outcome.provenance is Provenance.RECORDING
        assert outcome.reached == told[asked].reached
        assert outcome.warp == told[asked].warp
        values = [(variable.name, variable.value, variable.type) for variable in outcome.variables]
        assert values == [(each.name, each.value, each.type) for each in told[asked].variables]
        assert {variable.provenance for variable in outcome.variables} == {Provenance.RECORDING}
        assert outcome.frame == replace(told[asked].frame, provenance=Provenance.RECORDING)  # type: ignore[type-var]
    refused = await jump(debugger, NOT_HELD)
    assert (refused.reached, refused.reason) == (None, told[NOT_HELD].reason)
    await debugger.close()


async def test_what_was_not_recorded_is_said(cuda_gdb: Path, tmp_path: Path) -> None:
    path = tmp_path / "lanes.jsonl"
    await recorded(path)
    debugger, _ = await replayed(path)
    before = await debugger.focus()
    with pytest.raises((NotRecorded, FocusRefused), match="not in this recording"):
        await debugger.switch(Focus.of(block=(3, 0, 0), thread=(6, 0, 0)))
    assert await debugger.focus() == before
    with pytest.raises(NotRecorded):
        await debugger.evaluate("n + 1")
    await debugger.close()


async def test_a_typed_focus_is_followed_in_a_recording_too(cuda_gdb: Path, tmp_path: Path) -> None:
    path = tmp_path / "lanes.jsonl"
    await recorded(path)
    debugger, events = await replayed(path)
    await jump(debugger, NOT_HELD)
    await jump(debugger, LANES[-1])
    await debugger.console("cuda thread 250")
    changes = [event for event in events if isinstance(event, FocusChanged)]
    assert [change.focus["thread"] for change in changes if change.focus] == [(250, 0, 0)]
    await debugger.close()


@pytest.mark.parametrize("thread", [232, 240, 255])
async def test_the_newer_dialect_as_recorded_on_an_h200(thread: int) -> None:
    """cuda-gdb 13.0, recorded by this code on the GPU's own machine; 12.4 is what runs elsewhere."""
    debugger, _ = await replayed(Path(__file__).parent / "recordings" / "vector-add-13.0.jsonl.gz")
    asked = Focus.of(block=(3, 0, 0), thread=(thread, 0, 0))
    outcome = await jump(debugger, asked)
    assert outcome.exact
    assert {variable.name: variable.value for variable in outcome.variables}["i"] == str(768 + thread)
    assert outcome.warp is not None
    assert [lane.number for lane in outcome.warp.lanes if lane.thread is not None] == list(range(8, 32))
    await debugger.close()
