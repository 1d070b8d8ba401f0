"""One line for typing, over the status bar: search, places, conditions, expressions."""

from __future__ import annotations

from collections.abc import Callable

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static


class Prompt(Horizontal):
    """Asks for a line of text; Enter gives it to who asked, Esc gives it to nobody."""

    BLANK = True
    DEFAULT_CSS = """
    Prompt { layer: notice; dock: bottom; width: 1fr; height: 1; display: none; }
    Prompt Static { width: auto; height: 1; padding: 0 1; color: $primary; text-style: bold; background: $surface; }
    Prompt Input, Prompt Input:focus {
        width: 1fr; height: 1; border: none; padding: 0; background: $surface; color: $foreground;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._give: Callable[[str], None] | None = None

    def compose(self) -> ComposeResult:
        """A label and a field."""
        yield Static("", markup=False)
        field = Input(compact=True, select_on_focus=False)
        field.cursor_blink = False
        yield field

    def ask(self, label: str, give: Callable[[str], None], *, initial: str = "", placeholder: str = "") -> None:
        """Show the line and take the focus.

        Args:
            label: What is asked for.
            give: Called with the text when Enter is pressed.
            initial: Text to start from.
            placeholder: What to write, shown while nothing is.
        """
        self._give = give
        self.query_one(Static).update(Content(label))
        field = self.query_one(Input)
        field.value = initial
        field.placeholder = placeholder
        field.cursor_position = len(initial)
        self.display = True
        # At once: the next keys of a burst must not reach the pane that had the focus.
        self.screen.set_focus(field)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        give, text = self._give, event.value
        self.close()
        if give is not None:
            give(text)

    def close(self) -> None:
        """Take the line away without giving anything."""
        self._give = None
        self.display = False

    def on_key(self, event: events.Key) -> None:
        """Esc and Ctrl-G cancel."""
        if event.key in ("escape", "ctrl+g"):
            event.stop()
            event.prevent_default()
            self.close()
