"""What a second Ctrl-C offers goes away when the target stops after all."""

from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger.target import AttachTarget, LaunchTarget
from ladder_backends.session.state import Change, Run

OFFERS = "Ctrl-C came twice"


@pytest.mark.parametrize("ends", [Run.STOPPED, Run.EXITED, Run.DEAD])
async def test_it_closes_when_the_target_stops(segfault: Any, show: Any, ends: Run) -> None:
    debug = segfault.active.state
    debug.run = Run.RUNNING
    async with show(segfault) as view:
        await view.press("ctrl+c", "ctrl+c")
        segfault.active.tell(Change.PROGRAM | Change.RUN)
        await view.settle()
        assert OFFERS in view.text()
        debug.run = ends
        segfault.active.tell(Change.RUN)
        await view.settle()
        assert OFFERS not in view.text()
        assert view.app.screen is view.app.workspace


async def test_what_was_asked_for_at_rest_and_another_question_stay(segfault: Any, show: Any) -> None:
    debug = segfault.active.state
    async with show(segfault) as view:
        await view.press("ctrl+c", "ctrl+c")
        segfault.active.tell(Change.RUN)
        await view.settle()
        assert OFFERS in view.text()
        await view.press("escape")
        debug.run, debug.since = Run.RUNNING, 102.0
        segfault.active.tell(Change.RUN)
        await view.press("ctrl+c", "ctrl+c", "escape", "q")
        debug.run = Run.STOPPED
        segfault.active.tell(Change.RUN)
        await view.settle()
        assert "Leave?" in view.text()


@pytest.mark.parametrize("run", [Run.RUNNING, Run.STOPPED, Run.EXITED])
@pytest.mark.parametrize("launched", [True, False])
async def test_it_says_what_becomes_of_this_program(segfault: Any, show: Any, run: Run, launched: bool) -> None:
    session = segfault.active
    session.target = LaunchTarget(Path("/src/segfault")) if launched else AttachTarget(4711)
    session.state.title, session.state.run = "segfault" if launched else "process 4711", run
    async with show(segfault, (80, 24)) as view:
        await view.press("ctrl+c", "ctrl+c")
        text = view.text()
        assert OFFERS in text
        alive = run is not Run.EXITED
        assert ("segfault ends with it" in text) == (alive and launched)
        assert ("Leaving ends segfault." in text) == (alive and launched)
        assert ("process 4711 lives on" in text) == (alive and not launched)
        assert ("Process 4711 lives on." in text) == (alive and not launched)
