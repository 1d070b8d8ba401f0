"""One line for typing, over the status bar: search, places, conditions, expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.widget import Widget

from ladder_backends.text import clean_line
from ladder_tui.widgets.line_editor import EDITOR_KEYS, LineEditor
from ladder_tui.widgets.line_view import LineView
from ladder_tui.widgets.row import Cell, Row, width_of

if TYPE_CHECKING:
    from ladder_tui.theming import Palette


class Prompt(LineView):
    """Asks for a line of text; Enter gives it to who asked, Esc gives it to nobody."""

    HAS_TITLE = False
    HAS_CURSOR = False
    TAKES_TEXT = True
    BINDINGS: ClassVar = []
    DEFAULT_CSS = "Prompt { layer: notice; dock: bottom; width: 1fr; height: 1; display: none; }"

    def __init__(self, *, palette: Palette) -> None:
        super().__init__(id="prompt", palette=palette)
        self._editor = LineEditor()
        self._label = ""
        self._placeholder = ""
        self._offered = False
        self._give: Callable[[str], None] | None = None
        self._at_end: Callable[[], None] | None = None
        self._back: Widget | None = None

    @property
    def row_count(self) -> int:
        """One line."""
        return 1

    def row(self, index: int) -> Row:
        """Label, text with the cursor in it, or what could be typed."""
        text, at = self._editor.text, self._editor.position
        label = Cell(f" {self._label} ", "prompt")
        if self._offered:
            # What else could be typed is told beside it: it is not seen otherwise.
            return Row((label, Cell(text, "rung-active"), Cell(f"  {self._placeholder}".rstrip(), "muted")))
        if not text:
            return Row(
                (label, Cell(self._placeholder[:1] or " ", "rung-active"), Cell(self._placeholder[1:], "muted"))
            )
        # A long line is shown round its cursor.
        room = max(8, self.body_width - width_of([label]) - 2)
        start = max(0, at - room + 1)
        under = text[at : at + 1] or " "
        after = text[at + 1 : start + room]
        return Row((label, Cell(text[start:at], "input"), Cell(under, "rung-active"), Cell(after, "input")))

    def ask(
        self,
        label: str,
        give: Callable[[str], None],
        *,
        initial: str = "",
        placeholder: str = "",
        typed_over: bool = False,
        at_end: Callable[[], None] | None = None,
    ) -> None:
        """Show the line and take the focus.

        Args:
            label: What is asked for.
            give: Called with the text when Enter is pressed.
            initial: Text to start from.
            placeholder: What to write, shown while nothing is, or behind an `initial` that is typed over.
            typed_over: The first character that is typed takes the place of `initial`; an editor's key keeps it.
            at_end: Called for Ctrl-D on an empty line, as a shell takes it; the line goes away.
        """
        self._label, self._give, self._placeholder, self._at_end = label, give, placeholder, at_end
        self._offered = typed_over and bool(initial)
        self._editor.set(initial)
        self._back = self.screen.focused
        self.display = True
        self.repaint()
        self.take_focus()

    def close(self) -> None:
        """Take the line away without giving anything; the keys go where they were."""
        self._give = None
        self.display = False
        if self._back is not None and self._back.is_attached:
            self.screen.set_focus(self._back, scroll_visible=False)
        self._back = None

    def edits(self, key: str) -> bool:
        """Whether a key edits the line, as it stands now."""
        return self._editor.edits(key)

    def take_escape(self) -> bool:
        """Leave: what comes behind Esc is typed elsewhere."""
        self.on_key(events.Key("escape", "\x1b"))
        return True

    def on_key(self, event: events.Key) -> None:
        """Text, an editor's keys, Enter and Esc; nothing goes further."""
        event.stop()
        event.prevent_default()
        if not self.display:
            # Typed ahead, before the line was given: it is meant for the view that has the keys now.
            self.app.post_message(events.Key(event.key, event.character))
            return
        if event.key == "enter":
            give, text = self._give, self._editor.text
            self.close()
            if give is not None:
                give(text)
        elif event.key == "ctrl+d" and self._at_end is not None and not self._editor.text:
            at_end = self._at_end
            self.close()
            at_end()
        elif event.key in ("escape", "ctrl+g", "ctrl+c"):
            self.close()
        else:
            self._take_offer(typed=event.key not in EDITOR_KEYS and event.is_printable)
            self._editor.press(event.key, event.character)
            self.update()

    def on_paste(self, event: events.Paste) -> None:
        """The first line of what is pasted."""
        event.stop()
        self._take_offer(typed=True)
        self._editor.insert(clean_line(event.text.split("\n", 1)[0]))
        self.update()

    def _take_offer(self, *, typed: bool) -> None:
        if self._offered and typed:
            self._editor.set("")
        self._offered = False
