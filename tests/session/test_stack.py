"""Deep stacks of real programs: windows, the outermost frame, searching, and calling that off."""

from __future__ import annotations

import asyncio

import pytest

from ladder_backends.debugger import StepKind
from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.model.frame import Frame, FrameWindow
from ladder_backends.session.follower import OWN_WITHIN
from ladder_backends.session.own_frames import own_frame
from ladder_backends.session.stack import MOST, joined
from ladder_backends.session.state import Run


async def test_fifty_thousand_frames_are_never_counted(start, compiled) -> None:
    told = await start(compiled("deep"))
    frames = told.state.frames
    assert told.state.run_detail.startswith("SIGABRT")
    assert frames.more
    assert len(frames.frames) <= told.session._follower.rows.frames
    asked: list[str] = []
    command = told.session.debugger.command

    async def noted(text, **named):
        asked.append(text)
        return await command(text, **named)

    told.session.debugger.command = noted
    await told.session.stack.further()
    assert not [text for text in asked if "depth" in text]
    assert len(told.state.frames.frames) > len(frames.frames)
    assert told.state.frames.frames[: len(frames.frames)] == frames.frames


async def test_a_stop_in_a_library_tells_of_the_programs_own_frame(told, compiled) -> None:
    told.session.show_rows(frames=1, variables=1)
    await told.session.open(LaunchTarget(compiled("deep")))
    await told.until(lambda: told.state.run is Run.STOPPED)
    await told.session.at_rest()
    assert told.state.run_detail.startswith("SIGABRT")
    assert own_frame(told.state.frames.frames) is not None
    assert len(told.state.frames.frames) <= OWN_WITHIN


async def test_the_outermost_frame_is_reached_with_its_way_in_sight(start, compiled) -> None:
    told = await start(compiled("deep"))
    walked: list[int] = []
    told.session.subscribe(lambda change: walked.append(told.state.walk.level) if told.state.walk else None)
    level = await told.session.stack.outermost()
    assert level is not None
    assert level >= 50_001
    assert told.state.walk is None
    assert len(walked) > 20
    assert walked == sorted(walked)
    frames = told.state.frames
    assert not frames.more
    assert "main" in [frame.function for frame in frames.frames]
    assert 900 < len(frames.frames) <= MOST
    await told.session.stack.nearer()
    assert told.state.frames.start < frames.start
    assert [frame.level for frame in told.state.frames.frames] == list(range(told.state.frames.start, level + 1))
    assert await told.session.stack.outermost() == level
    assert [frame.level for frame in told.state.frames.frames][-1] == level
    assert await told.session.stack.innermost() == 0
    assert told.state.frames.start == 0


async def test_a_search_goes_through_windows_that_were_not_held(start, compiled) -> None:
    told = await start(compiled("deep"))

    def is_main(frame: Frame) -> bool:
        return frame.function == "main"

    level = await told.session.stack.find("main", is_main)
    assert level is not None
    assert level > 50_000
    assert told.state.frames.frames[level - told.state.frames.start].function == "main"
    await told.session.select_frame(level)
    assert told.state.place is not None
    assert told.state.place.file.endswith("deep.c")


async def test_a_search_without_success_says_how_far_it_looked(start, compiled) -> None:
    told = await start(compiled("steps"), "add")
    told.state.frames = await told.session.debugger.frames(0, 1)
    assert await told.session.stack.find("nowhere", lambda frame: False) is None
    assert told.notices()[-1] == "not found in 2 frames: nowhere"


async def test_a_long_way_can_be_called_off_and_leaves_the_window_as_it_was(start, compiled) -> None:
    told = await start(compiled("deep"))
    before = told.state.frames
    way = asyncio.ensure_future(told.session.stack.outermost())
    await told.until(lambda: told.state.walk is not None and told.state.walk.level > 2_000)
    assert told.session.stack.cancel()
    assert await way is None
    assert told.state.walk is None
    assert told.state.frames == before
    assert not told.session.stack.cancel()
    await told.session.select_frame(3)
    assert told.state.selected_frame == 3


async def test_a_long_way_ends_with_the_stack(start, compiled) -> None:
    told = await start(compiled("deep"))
    way = asyncio.ensure_future(told.session.stack.outermost())
    await told.until(lambda: told.state.walk is not None)
    await told.session.resume(StepKind.CONTINUE)
    assert await way is None
    await told.until(lambda: told.state.run is Run.EXITED)
    assert told.state.walk is None


@pytest.mark.parametrize(
    ("held", "read", "start", "count", "more"),
    [
        ((0, 30, True), (30, 30, True), 0, 60, True),
        ((0, 30, True), (20, 30, True), 0, 50, True),
        # What was read lies in what is held: nothing is lost.
        ((0, 64, True), (0, 50, True), 0, 64, True),
        ((40, 64, True), (0, 40, True), 0, 104, True),
        ((0, 30, True), (30, 0, False), 0, 30, False),
        # They do not meet.
        ((0, 30, True), (40_000, 10, True), 40_000, 10, True),
        ((40_000, 10, True), (0, 30, True), 0, 30, True),
        # The far end goes where they get too long together.
        ((0, MOST, True), (MOST, 64, False), 64, MOST, False),
        ((64, MOST, False), (0, 64, True), 0, MOST, True),
    ],
)
def test_windows_that_meet_are_one(
    held: tuple[int, int, bool], read: tuple[int, int, bool], start: int, count: int, more: bool
) -> None:
    def window(start: int, count: int, more: bool) -> FrameWindow:
        return FrameWindow(tuple(Frame(level, "f") for level in range(start, start + count)), start, more=more)

    one = joined(window(*held), window(*read))
    assert (one.start, len(one.frames), one.more) == (start, count, more)
    assert [frame.level for frame in one.frames] == list(range(start, start + count))
