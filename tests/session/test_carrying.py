"""One program, carried from rung to rung with its settings, breakpoints and watches; back again loses nothing."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from ladder_backends import rungs
from ladder_backends.debugger import CoreTarget, LaunchTarget, StepKind, registry
from ladder_backends.errors import EngineMissing, TargetInvalid
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.breakpoint import BindingState
from ladder_backends.model.launch import ForkMode, LaunchSettings
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import NOT_STARTED, Run
from ladder_demos.catalogue import find_demo

OTHER = "second"


class SecondGdb(GdbDebugger):
    """Real gdb on a rung of its own, as a debugger of another package."""

    name = OTHER
    rung = OTHER


@pytest.fixture
async def ladder(monkeypatch, gdb) -> AsyncIterator[Ladder]:
    load = registry.load_debugger
    for module in ("debugger.registry", "session.engines", "session.ladder"):
        monkeypatch.setattr(
            f"ladder_backends.{module}.load_debugger", lambda name: SecondGdb if name == OTHER else load(name)
        )
    rungs.add({OTHER: rungs.added_rung(OTHER, OTHER)})
    ladder = Ladder()
    yield ladder
    await ladder.close()
    rungs.add({})


def locations(session) -> list[str]:
    return sorted(binding.intent.location for binding in session.state.breakpoints)


def core_of(program: Path, core: Path) -> CoreTarget:
    command = ["gdb", "-nx", "-batch", "-ex", "run", "-ex", f"generate-core-file {core}", str(program)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return CoreTarget(core, program)


async def until(true) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def standing(ladder: Ladder, program: Path, **options):
    session = await ladder.open_target(LaunchTarget(program, **options), run=False)
    await session.set_breakpoint("main")
    await session.resume(StepKind.RUN)
    await session.at_rest()
    return session


async def test_the_program_goes_along_as_it_was_started(ladder, compiled, tmp_path) -> None:
    first = await standing(
        ladder, compiled("steps"), arguments=("a b", "c"), environment={"X": "1"}, directory=tmp_path
    )
    await first.values.watch("1 + 1")
    stands = first.state.place
    ladder.switch_rung(OTHER)
    assert ladder.active is None
    carried = await ladder.carry_to(OTHER)
    assert carried is not None
    assert carried.words == "settings, 1 breakpoint and 1 watched expression carried over"
    assert carried.place == stands
    second = ladder.active
    assert second is not None
    assert second is not first
    assert second.target == replace(first.target)
    assert (second.state.run, second.state.run_detail) == (Run.EXITED, NOT_STARTED)
    assert [one.state for one in second.state.breakpoints] == [BindingState.SET]
    await second.resume(StepKind.CONTINUE)
    await second.at_rest()
    assert second.state.run is Run.STOPPED
    # The first stands where it stood.
    assert first.state.run is Run.STOPPED
    assert first.state.place == stands


async def test_what_changes_on_one_rung_is_so_on_the_other_and_back(ladder, compiled) -> None:
    first = await standing(ladder, compiled("steps"))
    ladder.switch_rung(OTHER)
    await ladder.carry_to(OTHER)
    second = ladder.active
    await second.set_breakpoint("steps.c:19")
    await second.toggle_breakpoint("main")
    await second.values.watch("argc")
    assert locations(second) != locations(first)
    ladder.switch_rung("gdb")
    await until(lambda: locations(first) == locations(second) and "argc" in first.state.values.watches)
    assert [(one.state, one.why) for one in first.state.breakpoints] == [(BindingState.SET, "")]
    assert all(one.number for one in first.state.breakpoints)
    binding = first.state.breakpoints[0]
    await first.enable_breakpoint(binding, False)
    ladder.switch_rung(OTHER)
    await until(lambda: not second.state.breakpoints[0].intent.enabled)
    assert len(second.state.breakpoints) == len(first.state.breakpoints) == 1


async def test_settings_that_change_go_along_too(ladder, compiled) -> None:
    first = await standing(ladder, compiled("steps"))
    ladder.switch_rung(OTHER)
    await ladder.carry_to(OTHER)
    second = ladder.active
    ladder.switch_rung("gdb")
    await asyncio.sleep(0.1)
    await first.control.configure(LaunchSettings(arguments=("new",)), ForkMode.PARENT)
    ladder.switch_rung(OTHER)
    await until(lambda: second.control.state.settings.arguments == ("new",))
    ladder.switch_rung("gdb")
    await asyncio.sleep(0.1)
    # What did not change there does not come back.
    assert first.control.state.settings.arguments == ("new",)
    assert "start settings carried over" in [notice.text for notice in second.state.notices]
    target = ladder.program_at_hand()
    assert target is not None
    assert target.arguments == ("new",)


async def test_a_core_shows_what_is_wanted_and_that_it_has_none(ladder, compiled, tmp_path) -> None:
    program = compiled("segfault")
    dump = await ladder.open_target(core_of(program, tmp_path / "core"))
    carried = await ladder.carry_to("gdb")
    assert carried is not None
    live = ladder.active
    assert live.target == LaunchTarget(program)
    await live.set_breakpoint("main")
    assert ladder.next_seat()
    await until(lambda: locations(dump) == ["main"])
    assert dump.state.breakpoints[0].state is BindingState.UNSUPPORTED
    assert dump.state.breakpoints[0].why
    assert ladder.next_seat()
    await asyncio.sleep(0.1)
    assert live.state.breakpoints[0].state is BindingState.SET


async def test_nothing_is_offered_where_something_live_is_open_or_nothing_is_at_hand(ladder, compiled) -> None:
    assert ladder.program_at_hand() is None
    assert await ladder.carry_to("gdb") is None
    session = await standing(ladder, compiled("steps"))
    assert await ladder.carry_to("gdb") is None
    assert await ladder.carry_to("sanitizer") is None
    assert await ladder.carry_to("ranks") is None
    assert ladder.active is session


async def test_a_rung_that_cannot_take_it_is_left_as_it_was(ladder, compiled, monkeypatch) -> None:
    first = await standing(ladder, compiled("steps"))

    async def refuse(debugger, target) -> None:
        raise TargetInvalid("it cannot", "", "")

    monkeypatch.setattr(SecondGdb, "open", refuse)
    ladder.switch_rung(OTHER)
    with pytest.raises(TargetInvalid, match="it cannot"):
        await ladder.carry_to(OTHER)
    assert ladder.seats.session(OTHER, Seat.LIVE) is None
    assert first.state.run is Run.STOPPED
    monkeypatch.setattr(ladder.engines, "missing", lambda name: "it is not on PATH")
    with pytest.raises(EngineMissing, match="steps cannot be opened on rung 6"):
        await ladder.carry_to(OTHER)


async def test_the_program_of_a_case_is_at_hand(ladder) -> None:
    await ladder.open_files((find_demo("vector-add").path,))
    target = ladder.program_at_hand()
    assert target is not None
    assert target.program.name == "vector_add_oob"
    assert ladder.carrying.offer("cuda-gdb") == target


async def test_the_lane_of_the_dump_is_at_hand(ladder, cuda_gdb, compiled) -> None:
    await ladder.open_files((find_demo("vector-add").path,))
    outcome = await ladder.jump(ladder.state.report.findings[8])
    ladder.switch_rung("gdb")
    assert ladder.carrying.lane_at_hand() == outcome.asked


async def test_a_key_pressed_twice_opens_it_once_and_who_goes_on_is_left_alone(ladder, compiled) -> None:
    first = await standing(ladder, compiled("steps"))
    ladder.switch_rung(OTHER)
    answers = await asyncio.gather(ladder.carry_to(OTHER), ladder.carry_to(OTHER))
    assert [answer is not None for answer in answers] == [True, False]
    assert len(list(ladder.every_session())) == 2
    await ladder.close_seat(OTHER, Seat.LIVE)
    carrying = asyncio.get_running_loop().create_task(ladder.carry_to(OTHER))
    await asyncio.sleep(0)
    ladder.switch_rung("gdb")
    assert await carrying is None
    assert list(ladder.every_session()) == [first]
    assert ladder.state.rung == "gdb"
