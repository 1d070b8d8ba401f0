"""`:` goes to the console: typed there again it is nothing, and Esc leads back."""

from typing import Any


async def test_a_colon_on_an_empty_line_is_swallowed(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("colon", "colon", "colon", *"p q", "colon", *"x", "enter")
        assert gpu_dump.active.deeds == [("console", "p q:x")]


async def test_q_is_text_there_and_the_hints_say_how_to_leave(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        await view.press("colon")
        assert "Esc leave" in view.text()
        await view.press("q", "enter")
        assert gpu_dump.active.deeds == [("console", "q")]
        await view.press("escape")
        assert "Esc leave" not in view.text()


async def test_at_80_columns_too(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        await view.press("colon")
        assert "Esc leave" in view.text().splitlines()[-1] or "Esc leave" in view.text()
