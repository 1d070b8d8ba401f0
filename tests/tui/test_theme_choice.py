from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ladder_tui.app import LadderApp
from ladder_tui.theming import user_theme_dir


async def test_a_theme_that_does_not_load_gives_way_to_the_default_with_a_notice(segfault: Any, show: Any) -> None:
    async with show(segfault, theme="nowhere") as view:
        assert "no theme is called 'nowhere'" in view.text()
        assert view.app.palette.source.name == "dark"


async def test_a_theme_is_chosen_while_the_console_runs(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        before = view.text()
        view.app.use_theme("light")
        await view.settle()
        assert view.app.workspace.panes["source"].palette.source.name == "light"
        assert view.text() == before


async def test_a_theme_is_drawn_as_it_is_saved(
    segfault: Any, make_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = user_theme_dir()
    folder.mkdir(parents=True)
    file = folder / "mine.toml"
    file.write_text('inherits = "dark"\n')
    reloaded = asyncio.Event()
    reload_theme = LadderApp.reload_theme

    def reload(app: LadderApp) -> None:
        reload_theme(app)
        reloaded.set()

    monkeypatch.setattr(LadderApp, "reload_theme", reload)
    app = make_app(segfault, theme="mine")

    async def save(text: str) -> None:
        reloaded.clear()
        file.write_text(text)
        async with asyncio.timeout(20):
            await reloaded.wait()

    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        # The watcher takes a moment to look; what is written before that is no change to it.
        await asyncio.sleep(0.3)
        await save('inherits = "dark"\n[colors]\nblue = "#0000ff"\n')
        assert app.palette.color("blue") == "#0000ff"
        await save('inherits = "dark"\n[styles]\nfalt = {}\n')
        assert "falt" in app.workspace.notice_line.notice.text
        assert app.palette.color("blue") == "#0000ff"
        app.workers.cancel_group(app, "themes")
