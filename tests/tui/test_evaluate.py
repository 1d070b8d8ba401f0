"""Expressions: asked for from any pane, shown in Variables."""

from typing import Any

import pytest


@pytest.mark.parametrize(("size", "letter"), [((120, 40), "s"), ((120, 40), "f"), ((50, 14), "f")])
async def test_an_expression_is_asked_for_from_any_pane(
    gpu_dump: Any, show: Any, size: tuple[int, int], letter: str
) -> None:
    async with show(gpu_dump, size) as view:
        await view.press("w", letter, "e", *"n+1", "enter")
        assert gpu_dump.active.deeds == [("evaluate", "n+1")]
        assert "= n+1" in view.text()
        focused = view.app.workspace.focused
        assert focused.id == ("variables" if size[0] < 60 else {"s": "source", "f": "findings"}[letter])


async def test_e_is_text_where_text_is_typed(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("colon", "e")
        assert not view.app.workspace.prompt.display


async def test_without_a_session_it_says_so(empty_ladder: Any, show: Any) -> None:
    async with show(empty_ladder) as view:
        await view.press("e")
        assert "evaluate: nothing is open on this rung" in view.text()
