"""A dump without a kernel, as the sanitizer writes of an assertion: no view shows a lane that is not there."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from ladder_backends.debugger import GpuDumpTarget
from ladder_backends.model.events import EngineNotice, TargetStopped
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.lane_words import in_no_lane
from ladder_tui.panes.source_absence import why_no_source

from .conftest import Stand, dump_target

pytestmark = pytest.mark.cuda_gdb

Make = Callable[[], Stand]


@pytest.fixture
def without_kernels(tmp_path: Path) -> Path:
    """A real dump whose tables of grids and blocks are empty; of warps and lanes it has none."""
    raw = bytearray(dump_target("vector-add").dump.read_bytes())
    (table,) = struct.unpack_from("<Q", raw, 40)
    size, count, names = struct.unpack_from("<3H", raw, 58)
    (names_at,) = struct.unpack_from("<Q", raw, table + names * size + 24)
    for number in range(1, count):
        at = table + number * size
        (offset,) = struct.unpack_from("<I", raw, at)
        name = bytes(raw[names_at + offset : raw.index(0, names_at + offset)])
        if b".cta" in name or b".grid0" in name:
            raw[at : at + size] = bytes(size)
        elif name.startswith((b".cudbg.gridtbl", b".cudbg.ctatbl")):
            struct.pack_into("<Q", raw, at + 32, 0)
    made = tmp_path / "assert.nvcudmp"
    made.write_bytes(raw)
    return made


async def test_it_opens_and_says_how_to_get_one_that_holds_the_kernel(stand: Make, without_kernels: Path) -> None:
    one = stand()
    await one.debugger.open(GpuDumpTarget(without_kernels))
    (notice,) = one.of(EngineNotice)
    assert isinstance(notice, EngineNotice)
    assert "holds no kernel" in notice.text
    assert "CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1" in notice.text
    (stop,) = one.of(TargetStopped)
    assert isinstance(stop, TargetStopped)
    assert stop.focus is None
    assert stop.frame is None
    assert (await one.debugger.frames(0, 8)).frames == ()
    assert (await one.debugger.variables(0, 8)).note == "the dump holds no kernel"
    assert one.debugger.registers is None
    assert one.debugger.memory is None


async def test_panes_tell_of_the_dump_not_of_a_frame(cuda_gdb: Path, without_kernels: Path) -> None:
    ladder = Ladder()
    try:
        session = await ladder.jumps.place()
        await session.open(GpuDumpTarget(without_kernels))
        await session.at_rest()
        assert in_no_lane(session.state) == "the dump holds no kernel"
        assert why_no_source(ladder.state, session.state, None) == "No source: the dump holds no kernel."
    finally:
        await ladder.close()
