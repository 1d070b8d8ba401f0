"""A program that waits for input does not look hung: its tab is marked, and how to type to it is said."""

from typing import Any

import pytest

from ladder_backends.session.state import Change, Run
from ladder_tui._textual_compat import screen_lines
from ladder_tui.app import LadderApp
from ladder_tui.config import Settings
from ladder_tui.screens.program_news import QUIET_AFTER


class Clock:
    now = 103.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def running(segfault: Any) -> Any:
    segfault.active.state.run = Run.RUNNING
    return segfault


@pytest.fixture
def app(running: Any, clock: Clock) -> LadderApp:
    return LadderApp(running, Settings(), clock=clock)  # type: ignore[arg-type]


def write(ladder: Any, raw: bytes) -> None:
    ladder.active.state.program.append(raw)
    ladder.active.tell(Change.PROGRAM)


def text(app: LadderApp) -> str:
    app.workspace.tick()
    app.workspace.status_bar.update()
    return "\n".join(screen_lines(app.screen))


async def test_a_question_behind_a_tab(app: LadderApp, running: Any, clock: Clock) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        focused = app.focused
        assert "new" not in text(app)
        write(running, b"name? ")
        await pilot.pause()
        assert "• Program new" in text(app)
        assert "waits for input" not in text(app)
        clock.now += QUIET_AFTER
        app.workspace.tick()
        await pilot.pause()
        assert "waits for input? w p i types to it" in text(app)
        assert app.focused is focused
        await pilot.press("w", "p")
        await pilot.pause()
        assert "Program new" not in text(app)
        assert "waits for input? i types to it" in text(app)
        await pilot.press("i")
        await pilot.pause()
        assert "waits for input" not in text(app)


@pytest.mark.parametrize(
    ("raw", "run"),
    [
        (b"line\r\n", Run.RUNNING),
        (b"line\r\n\x1b[0m", Run.RUNNING),
        (b"50 %\r", Run.RUNNING),
        (b"name? ", Run.STOPPED),
    ],
)
async def test_what_asks_nothing(app: LadderApp, running: Any, clock: Clock, raw: bytes, run: Run) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        write(running, raw)
        running.active.state.run = run
        running.active.tell(Change.RUN)
        clock.now += QUIET_AFTER
        app.workspace.tick()
        await pilot.pause()
        assert "• Program new" in text(app)
        assert "waits for input" not in text(app)


@pytest.mark.parametrize("runs", [(Run.EXITED, Run.RUNNING), (Run.STOPPED, Run.STARTING, Run.RUNNING)])
async def test_the_end_of_a_run_before_asks_nothing(
    app: LadderApp, running: Any, clock: Clock, runs: tuple[Run, ...]
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        write(running, b"bye")
        for run in runs:
            running.active.state.run = run
            running.active.tell(Change.RUN)
        clock.now += QUIET_AFTER
        app.workspace.tick()
        await pilot.pause()
        assert "waits for input" not in text(app)


async def test_output_that_is_seen_is_not_new(app: LadderApp, running: Any) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("w", "p")
        write(running, b"hello\r\n")
        await pilot.press("w", "c")
        await pilot.pause()
        assert "Program new" not in text(app)
