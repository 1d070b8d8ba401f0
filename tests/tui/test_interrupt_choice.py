"""What a second Ctrl-C offers goes away when the target stops after all."""

from typing import Any

import pytest

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
