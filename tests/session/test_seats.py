"""A dump and a live program stand side by side on a rung; opening or closing one leaves the other."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ladder_backends.debugger import CoreTarget, GpuDumpTarget, LaunchTarget, StepKind
from ladder_backends.errors import TargetInvalid
from ladder_backends.gdb import GdbDebugger
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.seat import Seat
from ladder_backends.session.seats import seat_title
from ladder_backends.session.state import Change, Run
from ladder_demos.catalogue import find_demo

CASE = find_demo("vector-add").path


class LiveOnTheDumpsRung(GdbDebugger):
    """gdb on the rung of GPU dumps: stands where a cuda-gdb with a device would run the program."""

    rung = "cuda-gdb"


@pytest.fixture
async def ladder() -> AsyncIterator[Ladder]:
    ladder = Ladder()
    yield ladder
    await ladder.close()


@pytest.fixture
def core(compiled, tmp_path: Path, gdb) -> CoreTarget:
    file = tmp_path / "core"
    program = str(compiled("segfault"))
    command = ["gdb", "-nx", "-batch", "-ex", "run", "-ex", f"generate-core-file {file}", program]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return CoreTarget(file, compiled("segfault"))


async def place_live(ladder: Ladder, program: Path):
    session = ladder.seats.place(LiveOnTheDumpsRung(), LiveOnTheDumpsRung, Seat.LIVE)
    await session.open(LaunchTarget(program, stop_at_main=True))
    await session.at_rest()
    return session


async def test_a_live_program_leaves_the_core_and_the_reverse(ladder, core, compiled) -> None:
    dump = await ladder.open_target(core)
    await dump.at_rest()
    live = await ladder.open_target(LaunchTarget(compiled("steps"), stop_at_main=True))
    await live.at_rest()
    assert ladder.active is live
    assert (dump.state.run, live.state.run) == (Run.DUMP, Run.STOPPED)
    assert (dump.state.seat, live.state.seat) == (Seat.DUMP, Seat.LIVE)
    assert ladder.state.debug == {"gdb": live.state}
    assert ladder.state.aside == {"gdb": dump.state}
    assert list(ladder.every_session()) == [live, dump]
    assert ladder.next_seat()
    assert ladder.active is dump
    assert ladder.state.aside == {"gdb": live.state}
    # Both can be asked still.
    await dump.select_frame(1)
    assert dump.state.place.line != 0
    await live.resume(StepKind.NEXT)
    await live.at_rest()
    assert live.state.run is Run.STOPPED
    other = await ladder.open_target(core)
    await other.at_rest()
    # A second core takes the place of the first, not of the program.
    assert list(ladder.every_session()) == [other, live]
    assert live.state.run is Run.STOPPED


async def test_what_is_aside_tells_where_it_stops(ladder, core, compiled) -> None:
    live = await ladder.open_target(LaunchTarget(compiled("segfault")), run=False)
    await (await ladder.open_target(core)).at_rest()
    told: list[Change] = []
    ladder.subscribe(told.append)
    await live.resume(StepKind.RUN)
    await live.at_rest()
    await asyncio.sleep(0.05)
    assert ladder.state.notice is not None
    assert ladder.state.notice.text == "live segfault, which is not on screen: SIGSEGV, Segmentation fault"
    assert ladder.switch_seat("gdb", Seat.LIVE)
    await asyncio.sleep(0.05)
    assert told[-1] & Change.RUNG
    assert ladder.active is live


async def test_closing_one_leaves_the_other(ladder, core, compiled) -> None:
    dump = await ladder.open_target(core)
    live = await ladder.open_target(LaunchTarget(compiled("steps"), stop_at_main=True))
    await live.at_rest()
    await ladder.close_seat("gdb", Seat.LIVE)
    assert list(ladder.every_session()) == [dump]
    assert ladder.active is dump
    assert ladder.state.aside == {}
    assert not ladder.next_seat()
    assert not ladder.switch_seat("gdb", Seat.LIVE)
    await ladder.close_seat("gdb", Seat.LIVE)
    await ladder.close_seat("gdb", Seat.DUMP)
    assert ladder.active is None
    assert ladder.state.debug == {}


async def test_one_that_cannot_be_opened_leaves_the_other(ladder, core, tmp_path) -> None:
    dump = await ladder.open_target(core)
    await dump.at_rest()
    with pytest.raises(TargetInvalid):
        await ladder.open_target(LaunchTarget(tmp_path / "no"))
    assert ladder.next_seat()
    assert ladder.active is dump
    assert dump.state.run is Run.DUMP


async def test_a_jump_goes_into_the_dump_and_live_goes_on(ladder, cuda_gdb, compiled) -> None:
    await ladder.open_files((CASE,))
    findings = ladder.state.report.findings
    assert (await ladder.jump(findings[0])).exact
    dump = ladder.active
    live = await place_live(ladder, compiled("steps"))
    ladder.switch_rung("cuda-gdb")
    assert ladder.active is live
    assert dump.state.run is Run.DUMP
    outcome = await ladder.jump(findings[8])
    assert outcome.exact
    assert ladder.active is dump
    assert dump.state.asked == outcome.asked
    assert live.state.asked is None
    assert live.state.run is Run.STOPPED
    assert ladder.next_seat()
    await live.resume(StepKind.NEXT)
    await live.at_rest()
    assert live.state.run is Run.STOPPED
    assert [seat_title(one.state) for one in ladder.seats.of("cuda-gdb")] == ["live steps", "dump vector_add_oob"]


async def test_a_jump_that_fails_tells_the_dump_only(ladder, cuda_gdb, compiled, vector_add) -> None:
    live = await place_live(ladder, compiled("steps"))
    await ladder.open_files(vector_add.reports)
    outcome = await ladder.jump(ladder.state.report.findings[0])
    assert "there is no GPU core dump" in outcome.reason
    assert live.state.reason == ""
    assert ladder.seats.session("cuda-gdb", Seat.DUMP) is None


async def test_each_seat_has_an_engine_of_its_own(ladder, cuda_gdb, compiled, vector_add) -> None:
    dump = await ladder.open_target(GpuDumpTarget(vector_add.dump, vector_add.executable))
    live = await place_live(ladder, compiled("steps"))
    again = await ladder.open_target(GpuDumpTarget(vector_add.dump, vector_add.executable))
    await again.at_rest()
    assert len({id(session.debugger) for session in (dump, live, again)}) == 3
    assert set(ladder.every_session()) == {again, live}


async def test_the_lanes_of_another_report_are_not_those_of_the_old_dump(ladder, cuda_gdb, vector_add) -> None:
    await ladder.open_files((CASE,))
    assert (await ladder.jump(ladder.state.report.findings[0])).exact
    await ladder.open_files(vector_add.reports)
    outcome = await ladder.jump(ladder.state.report.findings[8])
    assert outcome.reached is None
    assert "there is no GPU core dump to jump into" in outcome.reason
