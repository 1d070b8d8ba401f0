"""Esc and the next key, read in one piece: both are meant, unless the two as one key with Alt edit something."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events

from ladder_tui.escapes import behind_escape
from ladder_tui.panes.program_keys import key_bytes
from ladder_tui.screens.form import FormScreen
from ladder_tui.widgets.line_editor import LineEditor


def alt(letter: str) -> events.Key:
    """What Textual makes of Esc and a letter."""
    return events.Key(f"alt+shift+{letter.lower()}" if letter.isupper() else f"alt+{letter}", letter)


def test_which_keys_may_be_two() -> None:
    second = behind_escape(alt("B"))
    assert second is not None
    assert (second.key, second.character) == ("B", "B")
    second = behind_escape(events.Key("alt+backspace", "\x7f"))
    assert second is not None
    assert second.key == "backspace"
    for one in (events.Key("b", "b"), events.Key("alt+left", None), events.Key("escape", "\x1b")):
        assert behind_escape(one) is None


@pytest.mark.parametrize(
    ("text", "position", "key", "edits"),
    [
        ("", 0, "alt+b", False),
        ("x", 1, "alt+b", True),
        ("x", 0, "alt+b", False),
        ("x", 1, "alt+f", False),
        ("x y", 1, "alt+d", True),
        ("x", 1, "alt+backspace", True),
        ("x", 1, "alt+n", False),
    ],
)
def test_what_edits(text: str, position: int, key: str, edits: bool) -> None:
    editor = LineEditor()
    editor.set(text, position)
    assert editor.edits(key) is edits
    assert (editor.text, editor.position) == (text, position)


@pytest.mark.parametrize("opens", ["e", "colon", "slash"])
@pytest.mark.parametrize("typed", ["", "val"])
async def test_a_prompt_is_left_and_the_letter_is_a_command(
    segfault: Any, show: Any, opens: str, typed: str
) -> None:
    async with show(segfault) as view:
        await view.press(opens, *typed)
        # At the end of a line there is nothing that Alt with `f` could move over.
        view.app.post_message(alt("f"))
        await view.settle()
        assert not view.app.workspace.prompt.display
        assert segfault.active.asked[-1] == ("resume", "finish")


async def test_an_editors_key_stays_one_where_it_edits(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("e", *"val")
        view.app.post_message(alt("b"))
        await view.press("x", "enter")
        assert ("evaluate", "xval") in segfault.active.asked


def test_a_program_that_is_typed_to_has_them_as_keys_with_alt() -> None:
    assert key_bytes("alt+b", "b") == b"\x1bb"
    assert key_bytes("alt+backspace", "\x7f") == b"\x1b\x7f"


async def test_capitals_too(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("e")
        view.app.post_message(alt("B"))
        await view.settle()
        assert isinstance(view.app.screen, FormScreen)
        # A field at whose end the cursor stands.
        view.app.post_message(alt("d"))
        await view.settle()
        assert view.app.screen is view.app.workspace
