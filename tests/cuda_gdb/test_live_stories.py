"""What is recorded of live sessions plays back: recorded from a stand-in here, by the recorder on hardware."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from ladder_backends.debugger.contract import StepKind
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Run
from ladder_demos import live_stories
from ladder_demos.live_stories import STORIES, LiveStory, StoryEnded
from ladder_demos.record_on_gpu import neutral_recording, without_folders

from .stand_in import StandIn

TOLD = {
    "step": "live-oob",
    "grid": "live-grid",
    "illegal-address": "live-illegal",
    "assert-live": "live-assert",
    "hang-live": "live-hang",
}

Play = Callable[[Path], Awaitable[DebugSession]]


@pytest.fixture
def record(compiled, tmp_path: Path, monkeypatch) -> Callable[[str], Awaitable[tuple[LiveStory, Path]]]:
    """Tells a story to a stand-in, as far as its transcript goes; returns it and its recording."""
    monkeypatch.setattr(live_stories, "STOP_WITHIN", 1.0)
    monkeypatch.setattr(live_stories, "SPINS", 0.05)

    async def tell(name: str) -> tuple[LiveStory, Path]:
        recording = tmp_path / f"{name}.jsonl"
        story = LiveStory(compiled("steps"), recording, "13.0", StandIn(TOLD[name]))
        with suppress(StoryEnded):
            await STORIES[name].tell(story)
        await story.session.close()
        neutral_recording(recording)
        return story, recording

    return tell


@pytest.fixture
async def play() -> AsyncIterator[Play]:
    """Opens a recording as the console does."""
    ladder = Ladder()

    async def opened(recording: Path) -> DebugSession:
        await ladder.open_files((recording,))
        assert ladder.active is not None
        return ladder.active

    yield opened
    await ladder.close()


async def rest(session: DebugSession) -> str:
    async with asyncio.timeout(5):
        await session.at_rest()
    return f"{session.state.run_detail} {session.state.place or ''}".rstrip()


@pytest.mark.parametrize("name", [name for name in TOLD if name != "hang-live"])
async def test_a_replay_stands_where_the_story_first_stood(name: str, record, play: Play) -> None:
    story, recording = await record(name)
    session = await play(recording)
    assert await rest(session) == story.told[0]
    assert session.state.run is Run.STOPPED
    assert "block" in session.state.focus
    assert session.state.grid.kernels
    assert not [one.text for one in session.state.notices if one.severity == "error"]


@pytest.mark.parametrize("name", ["illegal-address", "assert-live"])
async def test_a_replay_goes_on_as_the_program_did(name: str, record, play: Play) -> None:
    story, recording = await record(name)
    session = await play(recording)
    await rest(session)
    await session.resume(StepKind.CONTINUE)
    assert [await rest(session)] == story.told[1:]


async def test_a_replay_is_stepped_as_the_program_was(record, play: Play) -> None:
    story, recording = await record("step")
    session = await play(recording)
    assert await rest(session) == story.told[0]
    # Between these steps the story went to other lanes: a replay need not.
    asked = live_stories.lane((3, 0, 0), (240, 0, 0))
    reached = await session.switch(asked)
    assert reached is not None
    assert reached.satisfies(asked)


async def test_a_kernel_that_never_ends_is_interrupted_in_its_replay(record, play: Play) -> None:
    story, recording = await record("hang-live")
    assert [line.split()[0] for line in story.told] == ["interrupted", "interrupted"]
    session = await play(recording)
    await asyncio.sleep(0.05)
    assert session.state.run is Run.RUNNING
    await session.interrupt()
    assert (await rest(session)).startswith("interrupted hang.cu:")
    assert session.state.focus is not None


async def test_a_story_ends_where_the_program_does_something_else(compiled, tmp_path: Path) -> None:
    # The transcript is of a program that ends: there is no kernel to stand in.
    story = LiveStory(compiled("steps"), tmp_path / "x.jsonl", "13.0", StandIn("live-oob"))
    with pytest.raises(StoryEnded, match="stands in no kernel"):
        story.in_kernel()
    await story.session.close()


def test_folders_of_a_machine_are_taken_out() -> None:
    assert without_folders(b'fullname="/root/x/a.cu", "/tmp" /work /workshop/tmpfile /src/tmp.cu') == (
        b'fullname="/src/x/a.cu", "/src" /src /workshop/tmpfile /src/tmp.cu'
    )
