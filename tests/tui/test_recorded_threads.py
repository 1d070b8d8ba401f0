"""Threads and stacks of a recorded session: what was not recorded is said calmly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from ladder_backends.session.ladder import Ladder
from ladder_tui._textual_compat import screen_lines
from ladder_tui.app import LadderApp
from ladder_tui.config import Settings

SEGFAULT = Path(__file__).parent / "recordings" / "segfault.jsonl"


async def settled(pilot: Pilot[Any]) -> str:
    app: Any = pilot.app
    while app.tasks:
        await pilot.pause()
    for session in app.ladder.sessions.values():
        await session.at_rest()
        while not session.state.threads.current:
            await pilot.pause()
    await pilot.pause()
    return "\n".join(screen_lines(app.screen))


async def test_threads_that_were_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LADDER_GDB", "/not/installed")
    ladder = Ladder()
    await ladder.open_files((SEGFAULT,))
    app = LadderApp(ladder, Settings(), clock=lambda: 103.0)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("w", "h")
        assert "the threads are not in this recording" in await settled(pilot)
        before = len(ladder.active.state.notices) if ladder.active else 0
        await pilot.press("L", "space", "enter", "m", "w", "t", "end", "slash", *"nowhere", "enter")
        await pilot.pause()
        assert ladder.active is not None
        said = [notice.text for notice in list(ladder.active.state.notices)[before:]]
        assert not [text for text in said if "Traceback" in text or "Error" in text]
        assert len(said) <= 4
