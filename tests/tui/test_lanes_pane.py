"""An expression over lanes on the screen: the map, what its values share, walking on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from ladder_backends.debugger.facets.lanes import Lanes
from ladder_backends.errors import CommandFailed
from ladder_backends.model.events import TargetRunning, TargetStopped
from ladder_backends.model.focus import Focus
from ladder_backends.model.unit_values import Span, UnitLayout, UnitRow, UnitValue, unit_value
from ladder_backends.session.lane_values import SessionLaneValues
from ladder_backends.session.state import Change, Run


class LanesDouble(Lanes):
    """Lanes whose values a test has written; it notes what it is asked."""

    spans = (Span("warp", "lanes of this warp"), Span("block", "lanes of this block"))

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.value: Callable[[int], tuple[str, str]] = lambda thread: (str(768 + thread), "")
        self.held = range(232, 256)
        self.hold: asyncio.Event | None = None

    async def layouts(self, span: str, known: UnitLayout | None = None) -> AsyncIterator[UnitLayout]:
        warps = (7,) if span == "warp" else (6, 7)
        rows = tuple(
            UnitRow(
                warp,
                "",
                tuple(
                    Focus.of(kernel=0, block=(3, 0, 0), thread=(thread, 0, 0))
                    if thread in self.held or warp == 6
                    else None
                    for thread in range(warp * 32, warp * 32 + 32)
                ),
                768 + warp * 32,
            )
            for warp in warps
        )
        total = sum(unit is not None for row in rows for unit in row.units)
        yield UnitLayout(span, rows=rows, start=len(rows) - 1, total=total)

    async def values(
        self, expression: str, layout: UnitLayout, places: Sequence[int], frame_level: int = 0
    ) -> AsyncIterator[Sequence[UnitValue]]:
        if expression == "bad":
            raise CommandFailed(expression, "the engine stands in no lane any more")
        self.asked.append((expression, layout.span))
        for start in range(0, len(places), 16):
            if start and self.hold is not None:
                await self.hold.wait()
            yield [
                unit_value(place, *self.value(unit["thread"][0]))  # type: ignore[index]
                for place in places[start : start + 16]
                if (unit := layout.unit_at(place)) is not None
            ]


@pytest.fixture
def lanes(gpu_dump: Any) -> LanesDouble:
    """Lanes of the dump's session."""
    session = gpu_dump.sessions["cuda-gdb"]
    session.debugger.lanes = double = LanesDouble()
    session.lane_values = SessionLaneValues(session)
    return double


async def ask(view: Any, expression: str) -> None:
    await view.press("V", *expression, "enter")


def state_of(ladder: Any) -> Any:
    return ladder.sessions["cuda-gdb"].state.lane_values


async def test_an_expression_is_typed_and_drawn(gpu_dump: Any, lanes: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await ask(view, "i")
        text = view.text()
        assert "1000..1023 step 1" in text
        assert "min 1000  max 1023  mean 1011.5" in text
        assert "7 ········▁▁▁▂▂▂▃▃◆▄▄▄▅▅▅▆▆▆▇▇▇███" in text
        assert "▁ 1000  █ 1023  · not held" in text
        assert "Lanes i · warp  lane 16 = 1008" in text
        assert lanes.asked == [("i", "warp")]


async def test_the_variable_under_the_cursor_is_offered(gpu_dump: Any, lanes: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("w", "v", "down", "V", "enter")
        assert lanes.asked == [("n", "warp")]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_it_looks_like_this(gpu_dump: Any, lanes: Any, show: Any, shots: Any, size: tuple[int, int]) -> None:
    lanes.value = lambda thread: ("", "optimized out") if thread == 240 else (str(thread % 5), "")
    async with show(gpu_dump, size) as view:
        await ask(view, "x%5")
        await view.press("space")
        shots.text(view.app, f"lanes-{size[0]}x{size[1]}")


async def test_equal_values_are_named_with_their_lanes(gpu_dump: Any, lanes: Any, show: Any) -> None:
    lanes.value = lambda thread: (
        ("", "optimized out") if thread < 236 else ("nan(0x7fffff)" if thread == 240 else "4", "")
    )
    async with show(gpu_dump) as view:
        await ask(view, "x")
        text = view.text()
        assert "19 × █ 4  lanes 12–15, 17–31" in text or "19 × ▁ 4  lanes 12–15, 17–31" in text
        assert " 4 × ! <optimized out>  lanes 8–11" in text
        assert " 1 × N nan(0x7fffff)  lane 16" in text
        assert "NaN 1  no value 4" in text


async def test_why_nobody_has_a_value_is_said_before_anything_else(gpu_dump: Any, lanes: Any, show: Any) -> None:
    lanes.value = lambda thread: ("", 'No symbol "zz" in current context.')
    async with show(gpu_dump, (80, 24)) as view:
        await ask(view, "zz")
        text = " ".join(view.text().split())
        assert 'no value: No symbol "zz" in' in text
        assert "24 ×" not in text


async def test_arrows_walk_and_enter_goes_there(gpu_dump: Any, lanes: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await ask(view, "i")
        await view.press("right", "right", "left")
        assert "lane 17 = 1009  (241,0,0)" in view.text()
        await view.press("enter")
        assert gpu_dump.asked[-1] == ("jump_to", Focus.of(kernel=0, block=(3, 0, 0), thread=(241, 0, 0)))
        await view.press(*["left"] * 12, "enter")
        assert "lane 5 is not held" in view.text()


async def test_enter_on_a_value_goes_to_its_first_lane(gpu_dump: Any, lanes: Any, show: Any) -> None:
    lanes.value = lambda thread: ("9" if thread == 250 else "4", "")
    async with show(gpu_dump) as view:
        await ask(view, "x")
        await view.press("end", "enter")
        assert gpu_dump.asked[-1] == ("jump_to", Focus.of(kernel=0, block=(3, 0, 0), thread=(250, 0, 0)))


async def test_a_click_on_a_lane_goes_there(gpu_dump: Any, lanes: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await ask(view, "i")
        pane = view.app.workspace.panes["lanes"]
        rows = pane._rows()
        await view.click("#lanes", 2 + rows.label + 20, 1 + rows.first)
        assert gpu_dump.asked[-1] == ("jump_to", Focus.of(kernel=0, block=(3, 0, 0), thread=(244, 0, 0)))


async def test_space_asks_further(gpu_dump: Any, lanes: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await ask(view, "i")
        await view.press("space")
        assert lanes.asked == [("i", "warp"), ("i", "block")]
        assert "Lanes i · block" in view.text()
        assert "960..1023 step 1" in view.text()


async def test_esc_and_ctrl_c_end_the_question(gpu_dump: Any, lanes: Any, show: Any) -> None:
    for key in ("escape", "ctrl+c"):
        lanes.hold = asyncio.Event()
        async with show(gpu_dump) as view:
            await view.pilot.press("V", "i", "enter")
            await view.pilot.pause()
            assert "answered 16 of 24 lanes …" in view.text()
            assert "▁▂" in view.text()
            await view.press(key)
            assert "answered 16 of 24 lanes, cancelled — m goes on" in view.text()
            lanes.hold = None
            await view.press("m")
            assert "24 lanes" in view.text()
            assert "cancelled" not in view.text()


async def test_a_stop_asks_again_only_where_it_is_seen(gpu_dump: Any, lanes: Any, show: Any) -> None:
    session = gpu_dump.sessions["cuda-gdb"]
    async with show(gpu_dump) as view:
        await ask(view, "i")

        async def stop() -> None:
            session.lane_values.take(TargetRunning(0.0))
            session.state.run = Run.RUNNING
            session.tell(Change.RUN)
            await view.settle()
            session.lane_values.take(TargetStopped("", "", None, None, 0.0))
            session.state.run = Run.STOPPED
            session.tell(Change.RUN | Change.FRAMES)
            await view.settle()
            await view.settle()

        lanes.value = lambda thread: (str(thread), "")
        await stop()
        assert lanes.asked == [("i", "warp")] * 2
        assert "232..255 step 1" in view.text()
        await view.press("w", "g")
        await stop()
        assert lanes.asked == [("i", "warp")] * 2
        await view.press("w", "a")
        await view.settle()
        assert lanes.asked == [("i", "warp")] * 3


async def test_while_it_runs_the_values_are_of_the_moment_before(gpu_dump: Any, lanes: Any, show: Any) -> None:
    session = gpu_dump.sessions["cuda-gdb"]
    async with show(gpu_dump) as view:
        await ask(view, "i")
        session.lane_values.take(TargetRunning(0.0))
        session.state.run = Run.RUNNING
        session.tell(Change.RUN)
        await view.settle()
        assert "of the moment before the target ran" in view.text()
        assert "1000..1023 step 1" in view.text()


async def test_why_nobody_answered_is_one_line(gpu_dump: Any, lanes: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await ask(view, "bad")
        assert "the engine stands in no lane any more" in view.text()


async def test_without_lanes_it_says_so(segfault: Any, show: Any) -> None:
    session = segfault.sessions["gdb"]
    session.debugger.lanes = None
    session.lane_values = SessionLaneValues(session)
    async with show(segfault) as view:
        await view.press("V")
        assert "this engine knows no lanes" in view.text()


async def test_hostile_values_are_text(gpu_dump: Any, lanes: Any, show: Any) -> None:
    lanes.value = lambda thread: (f"[bold]{thread}[/] = {{x}}", "")
    async with show(gpu_dump) as view:
        await ask(view, "x")
        assert "[bold]232[/]" in view.text()


async def test_a_variable_shows_its_values_in_the_lanes_beside(gpu_dump: Any, lanes: Any, show: Any) -> None:
    drawn = "····▁▁▂▃▃▄▅▅▆▇▇█"

    def line(view: Any, name: str) -> str:
        return next(line for line in view.text().splitlines() if f" {name}  10" in line)

    async with show(gpu_dump) as view:
        await view.press("w", "v")
        assert drawn not in view.text()
        await ask(view, "i")
        assert line(view, "i").endswith(drawn)
        assert drawn not in line(view, "n")
        session = gpu_dump.sessions["cuda-gdb"]
        session.lane_values.take(TargetRunning(0.0))
        session.tell(Change.LANES)
        await view.settle()
        assert drawn not in line(view, "i")
