"""Esc in Findings shows all again after a search."""

from typing import Any


async def test_esc_takes_the_filter_away_and_keeps_the_row(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("w", "f", "slash", *"zzz", "enter")
        assert "no finding holds “zzz”; Esc shows all again" in view.text()
        await view.press("escape")
        assert "“zzz”" not in view.text()
        await view.press("slash", *"oob", "enter")
        assert "with “oob”" in view.text()
        pane = view.app.workspace.panes["findings"]
        at = pane.row(pane.cursor).target
        await view.press("escape")
        assert "with “oob”" not in view.text()
        assert pane.row(pane.cursor).target == at


async def test_esc_elsewhere_leaves_it(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("w", "f", "slash", *"oob", "enter", "w", "s", "escape")
        assert "with “oob”" in view.text()
