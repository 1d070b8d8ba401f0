"""Values of a recorded session: what it does not hold is said calmly, and nothing of it can be changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ladder_backends.session.ladder import Ladder
from ladder_demos.catalogue import find_demo
from ladder_tui._textual_compat import screen_lines
from ladder_tui.app import LadderApp
from ladder_tui.config import Settings

SEGFAULT = Path(__file__).parent / "recordings" / "segfault.jsonl"


async def test_values_of_a_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LADDER_GDB", "/not/installed")
    ladder = Ladder()
    await ladder.open_files((SEGFAULT, find_demo("segfault").path))
    app: Any = LadderApp(ladder, Settings(), clock=lambda: 103.0)
    async with app.run_test(size=(120, 40)) as pilot:

        async def press(*keys: str) -> str:
            await pilot.press(*keys)
            for _ in range(20):
                await pilot.pause()
            return "\n".join(screen_lines(app.screen))

        await press("w", "v")
        shown = await press("e", *"total+1", "enter")
        assert "= total+1" in shown
        assert "not in this recording" in shown
        shown = await press("end", "t")
        assert "not in this recording" in shown
        shown = await press("equals_sign")
        assert "stays as it is: a recording cannot be changed" in shown
        shown = await press("w", "s", "v")
        assert "not in this recording" in shown
        assert "Traceback" not in shown
    session = ladder.active
    assert session is not None
    assert not [notice for notice in session.state.notices if notice.severity == "error"]
