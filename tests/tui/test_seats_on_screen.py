"""Two sessions of a rung: which one is on screen is said, and a key shows the other."""

from __future__ import annotations

from typing import Any

from ladder_backends.debugger.contract import Capability
from ladder_backends.errors import EngineMissing
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Place
from ladder_backends.session.carrying import Carried
from ladder_backends.session.seat import Seat
from ladder_backends.session.state import DebugState, Notice, Run


def live(run: Run = Run.STOPPED, detail: str = "breakpoint 1") -> DebugState:
    return DebugState(
        rung="cuda-gdb",
        seat=Seat.LIVE,
        title="vector_add_oob",
        run=run,
        run_detail=detail,
        since=100.0,
        capabilities=Capability.RUN_CONTROL | Capability.DEVICE_FOCUS | Capability.CONSOLE,
        focus=Focus.of(thread=1),
    )


def beside(gpu_dump: Any) -> Any:
    gpu_dump.sessions["cuda-gdb"].state.seat = Seat.DUMP
    gpu_dump.add_aside(live())
    gpu_dump.state.rung = "cuda-gdb"
    return gpu_dump


async def test_the_bar_and_the_titles_say_which_one_is_on_screen(gpu_dump: Any, show: Any) -> None:
    async with show(beside(gpu_dump)) as view:
        last = view.text().splitlines()[-1]
        assert "● dump" in last
        assert "` live vector_add_oob" in last
        assert "vector_add_oob.cu (dump)" in view.text()
        assert "Variables (dump)" in view.text()
        assert "Findings (" not in view.text()
        await view.press("grave_accent")
        last = view.text().splitlines()[-1]
        assert "■ breakpoint 1 · live" in last
        assert "` dump vector_add_oob" in last
        assert "Variables (live)" in view.text()
        assert "(dump)" not in view.text()
        await view.press("grave_accent")
        assert "Variables (dump)" in view.text()


async def test_a_click_on_the_bar_shows_the_other(gpu_dump: Any, show: Any) -> None:
    async with show(beside(gpu_dump)) as view:
        last = view.text().splitlines()[-1]
        await view.click("#status-bar", last.index("live"), 0)
        assert gpu_dump.active.state.seat is Seat.LIVE


async def test_in_a_narrow_terminal_it_is_one_word(gpu_dump: Any, show: Any) -> None:
    async with show(beside(gpu_dump), (80, 24)) as view:
        assert "` live  " in view.text().splitlines()[-1] + "  "
        assert "vector_add_oob" not in view.text().splitlines()[-1]


async def test_one_session_alone_says_so(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        assert "`" not in view.text().splitlines()[-1]
        await view.press("grave_accent")
        assert "no other session is open on this rung" in view.text()


async def test_what_the_other_one_said_before_is_not_said_again(gpu_dump: Any, show: Any) -> None:
    beside(gpu_dump).aside["cuda-gdb"].state.notice = Notice("the live one said this")
    async with show(gpu_dump) as view:
        await view.press("grave_accent")
        assert "the live one said this" in view.text()
        await view.press("grave_accent", "grave_accent")
        assert "the live one said this" not in view.text()


async def test_closing_asks_where_a_program_is_held(gpu_dump: Any, show: Any) -> None:
    async with show(beside(gpu_dump)) as view:
        view.app.workspace.action_close_seat()
        await view.settle()
        assert gpu_dump.asked[-1] == ("close_seat", "cuda-gdb", Seat.DUMP)
        await view.press("grave_accent")
        view.app.workspace.action_close_seat()
        await view.settle()
        assert "Close vector_add_oob?" in view.text()
        await view.press("n")
        assert gpu_dump.asked.count(("close_seat", "cuda-gdb", Seat.LIVE)) == 0
        view.app.workspace.action_close_seat()
        await view.settle()
        await view.press("c")
        assert gpu_dump.asked[-1] == ("close_seat", "cuda-gdb", Seat.LIVE)


async def test_leaving_asks_for_the_one_that_is_not_on_screen_too(gpu_dump: Any, show: Any) -> None:
    async with show(beside(gpu_dump)) as view:
        await view.press("q")
        assert view.app.is_running
        assert "Leave? vector_add_oob" in view.text()


async def test_a_rung_with_nothing_open_takes_over_the_program(segfault: Any, show: Any) -> None:
    place = Place("segfault.c", 10, "/src/segfault.c")
    segfault.carried = Carried("segfault", settings=True, breakpoints=3, watches=1, place=place)
    async with show(segfault) as view:
        await view.press("3")
        assert segfault.asked[-1] == ("carry_to", "cuda-gdb")
        words = "c runs segfault here; settings, 3 breakpoints and 1 watched expression carried over"
        assert words in view.text()


async def test_the_key_opens_the_program_of_a_dump_that_is_alone(gpu_dump: Any, show: Any) -> None:
    gpu_dump.sessions["cuda-gdb"].state.seat = Seat.DUMP
    gpu_dump.carried = Carried("vector_add_oob", settings=False, breakpoints=0, watches=0)
    async with show(gpu_dump) as view:
        await view.press("3", "grave_accent")
        assert gpu_dump.asked[-1] == ("carry_to", "cuda-gdb")
        assert "c runs vector_add_oob here" in view.text()


async def test_where_it_cannot_be_opened_that_is_said(segfault: Any, show: Any, monkeypatch: Any) -> None:
    async def refuse(rung: str) -> None:
        raise EngineMissing("segfault cannot be opened on rung 3", "cuda-gdb is not on PATH")

    monkeypatch.setattr(segfault, "carry_to", refuse)
    async with show(segfault) as view:
        await view.press("3")
        assert "segfault cannot be opened on rung 3: cuda-gdb is not on PATH" in view.text()


def test_what_is_carried_is_told_in_words() -> None:
    assert Carried("x", settings=False, breakpoints=1, watches=0).words == "1 breakpoint carried over"
    assert Carried("x", settings=True, breakpoints=2, watches=0).words == "settings and 2 breakpoints carried over"
    assert Carried("x", settings=False, breakpoints=0, watches=0).words == ""
