"""Keys for a living GPU: a dump, stops at launches and failing calls, a breakpoint for one lane, both stacks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger.contract import Capability
from ladder_backends.debugger.facets import ApiFailures, LaunchStops
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.frame import Frame, FrameKind, FrameWindow, Place
from ladder_backends.session.device_state import DeviceState
from ladder_backends.session.state import Run
from ladder_tui.actions import ACTIONS, why_not
from ladder_tui.panes.breakpoint_rows import breakpoint_mark, options_of


class DeviceDouble:
    """Stands where a `SessionDevice` stands, and notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.written = True

    async def dump(self, path: Path, *, lightweight: bool) -> bool:
        self.asked.append(("dump", path, lightweight))
        return self.written

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        async def ask(*arguments: Any) -> None:
            self.asked.append((name, *arguments))

        return ask


@pytest.fixture
def device(segfault: Any) -> DeviceDouble:
    session = segfault.active
    session.state.capabilities = ~Capability.NONE
    session.device = DeviceDouble()
    return session.device


async def test_a_dump_asks_for_its_file_and_opens(segfault: Any, device: DeviceDouble, show: Any) -> None:
    opened: list[Any] = []

    async def open_target(target: Any) -> None:
        opened.append(target)

    segfault.open_target = open_target
    async with show(segfault) as view:
        await view.press("C")
        assert "Dump the GPU" in view.text()
        assert "compute_total-" in view.text()
        await view.press("escape")
        assert device.asked == []
        await view.press("C", "ctrl+u", "k", "tab", "space", "enter")
        assert device.asked == [("dump", Path("k"), True)]
        assert "k is written" in view.text()
        await view.press("o")
        assert [target.dump for target in opened] == [Path("k")]


async def test_a_dump_that_was_not_written_is_not_offered(segfault: Any, device: DeviceDouble, show: Any) -> None:
    device.written = False
    async with show(segfault) as view:
        await view.press("C", "enter")
        assert len(device.asked) == 1
        assert "is written" not in view.text()


async def test_launches_and_failures_are_chosen(segfault: Any, device: DeviceDouble, show: Any) -> None:
    async with show(segfault) as view:
        view.app.workspace.action_launches()
        await view.pilot.pause()
        assert "run through kernel launches (now)" in view.text()
        await view.press("a")
        view.app.workspace.action_failures()
        await view.pilot.pause()
        await view.press("s")
        view.app.workspace.action_back_to_lane()
        await view.pilot.pause()
        assert device.asked == [
            ("choose_launches", LaunchStops.APPLICATION),
            ("choose_failures", ApiFailures.STOP),
            ("return_to_lane",),
        ]


@pytest.mark.parametrize("name", ["gpu.dump", "gpu.launches", "gpu.failures", "gpu.back"])
def test_without_a_gpu_it_is_said(segfault: Any, name: str) -> None:
    action = next(each for each in ACTIONS if each.id == name)
    state = segfault.active.state
    assert why_not(action, segfault.state, state) == "no program runs on a GPU here"
    state.capabilities = Capability.DEVICE_FOCUS
    state.run = Run.DUMP
    assert why_not(action, segfault.state, state)


async def test_a_breakpoint_for_one_lane(segfault: Any, device: DeviceDouble, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("B")
        assert "Thread in it" in view.text()
        await view.press(*["tab"] * 8, *"3,0", "tab", *"24x", "enter")
        assert "a place in the grid is x,y,z" in view.text()
        await view.press("backspace", *"0", "enter")
        intent = next(asked[1] for asked in segfault.active.asked if asked[0] == "place_breakpoint")
        assert (intent.block, intent.lane) == ((3, 0, 0), (240, 0, 0))


async def test_a_breakpoint_of_the_host_has_no_lane(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("B")
        assert "Thread in it" not in view.text()


def test_a_lane_is_named_in_the_list(segfault: Any) -> None:
    binding = segfault.active.state.breakpoints[0]
    intent = BreakpointIntent(1, "k.cu:10", block=(3, 0, 0), lane=(240, 0, 0))
    lane = replace(binding, intent=intent)
    assert options_of(lane) == ["block (3,0,0)", "thread (240,0,0)"]
    assert breakpoint_mark(lane).text != breakpoint_mark(binding).text


async def test_the_stack_says_who_launched_the_kernel(segfault: Any, show: Any) -> None:
    state = segfault.active.state
    place = Place("k.cu", 10)
    state.frames = FrameWindow(
        (
            Frame(0, "kernel", place, kind=FrameKind.DEVICE),
            Frame(1, "??", None, "0x1", "/lib/libcuda.so.1", launcher=True),
            Frame(2, "main", Place("k.cu", 30)),
        )
    )
    async with show(segfault) as view:
        await view.press("w", "s")
        rows = [line for line in view.text().splitlines() if "launched by" in line]
        assert len(rows) == 1


def test_choices_begin_as_the_engine_begins() -> None:
    assert DeviceState() == DeviceState(LaunchStops.NONE, ApiFailures.IGNORE, None, "")
