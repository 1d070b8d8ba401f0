"""Make what the README shows anew: the table of keys from the registry, the screenshot from the shipped recording.

`python tests/packaging/write_readme.py`
"""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change
from ladder_demos.catalogue import find_demo
from ladder_tui.actions import key_table
from ladder_tui.app import LadderApp
from ladder_tui.config import Settings

README = Path(__file__).resolve().parents[2] / "README.md"
SCREENSHOT = Path(__file__).with_name("vector-add.svg")
SIZE = (120, 34)

_KEYS = re.compile(r"(?<=<!-- keys -->\n).*?(?=<!-- /keys -->)", re.DOTALL)
_SECONDS = 0.1


def with_keys(text: str) -> str:
    """README's text with the table of keys made anew."""
    return _KEYS.sub(lambda _: f"\n{key_table()}\n".replace("\n\n\n", "\n\n"), text)


async def screenshot() -> str:
    """The demo after Enter on its first finding, as SVG; cuda-gdb's answers come from the shipped recording."""
    os.environ["LADDER_CUDA_GDB"] = "/not/installed"
    ladder = Ladder()
    app = LadderApp(ladder, Settings(), opening=lambda one: one.open_files((find_demo("vector-add").path,)))
    async with app.run_test(size=SIZE) as pilot:
        while ladder.state.report is None:
            # What is opened begins some time after the first paint.
            await pilot.pause(0.01)
        await _settled(app)
        await pilot.press("enter")
        await _settled(app)
        session = ladder.sessions["cuda-gdb"]
        assert session.state.focus is not None, ladder.state.notice
        session.state.jump_seconds = _SECONDS
        session.tell(Change.RUN | Change.FOCUS)
        await pilot.pause()
        drawing = app.export_screenshot(title="ladder-tui demo vector-add")
    drawing = re.sub(r"terminal-\d+", "terminal-0", drawing)
    return "\n".join(line.rstrip() for line in drawing.splitlines()) + "\n"


async def _settled(app: LadderApp) -> None:
    await app.workers.wait_for_complete()
    while app.tasks:
        await asyncio.wait(app.tasks)
    for session in app.ladder.sessions.values():
        if session.target is not None:
            await session.at_rest()


if __name__ == "__main__":
    os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
    os.environ.pop("NO_COLOR", None)
    README.write_text(with_keys(README.read_text("utf-8")), "utf-8")
    SCREENSHOT.write_text(asyncio.run(screenshot()), "utf-8")
