"""A line over the last rows of the panes: what happened, why, what to do."""

from __future__ import annotations

import textwrap
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events

from ladder_backends.session.state import Notice
from ladder_tui.actions import key_of
from ladder_tui.widgets.line_view import LineView
from ladder_tui.widgets.row import Cell, Row, width_of

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

_FEWEST_LINES = 4
_KEPT = 200
LOOKS = {"information": ("·", "ok"), "warning": ("!", "warn"), "error": ("✗", "fault")}


class NoticeLine(LineView, can_focus=False):
    """Shows the newest notice until a key is pressed, on several lines where it is long: the remedy comes last.

    Keys of which one is waited for stand there too, where the status bar has no room for them.

    Attributes:
        notice: What is shown, or was last.
        said: Notices so far, the newest last, bounded.
    """

    HAS_TITLE = False
    HAS_CURSOR = False
    DEFAULT_CSS = """
    NoticeLine { layer: notice; dock: bottom; width: 1fr; height: 1; margin-bottom: 1; display: none; }
    """

    def __init__(self, *, palette: Palette) -> None:
        super().__init__(id="notice-line", palette=palette)
        self.notice: Notice | None = None
        self.said: deque[Notice] = deque(maxlen=_KEPT)
        self._amended: Notice | None = None
        self._choices: Sequence[tuple[Cell, ...]] = ()
        self._rows: list[Row] = []

    @property
    def row_count(self) -> int:
        """As many lines as the notice takes at this width."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """Glyph and text, or keys."""
        return self._rows[index]

    def show(self, notice: Notice) -> None:
        """Put a notice on the screen, and among those that can be read again."""
        if not self.said or self.said[-1] != notice:
            self.said.append(notice)
        self._put(notice, ())

    def amend(self, notice: Notice) -> None:
        """Show a notice that says more than the one before, and keep it in the place of that."""
        before = self.said[-1] if self.said else None
        if before is not None and (before is self._amended or notice.text.startswith(before.text)):
            self.said.pop()
        self._amended = notice
        self.show(notice)

    def offer(self, choices: Sequence[tuple[Cell, ...]]) -> None:
        """Put keys and what they mean on the screen."""
        self._put(None, choices)

    def _put(self, notice: Notice | None, choices: Sequence[tuple[Cell, ...]]) -> None:
        self.notice, self._choices = notice, choices
        self._lay_out(self.app.size.width)
        self.display = True
        self.repaint()

    def _lay_out(self, width: int) -> None:
        most = max(_FEWEST_LINES, self.app.size.height // 2)
        told = _told(self.notice, width, most) if self.notice is not None else None
        self._rows = told if told is not None else _offered(self._choices, width)
        self.styles.height = max(1, len(self._rows))

    def on_resize(self, event: events.Resize) -> None:
        """Another width takes other lines."""
        self._lay_out(event.size.width)
        self.repaint()

    def hide(self) -> None:
        """Take it away."""
        if self.display:
            self.display = False


def _told(notice: Notice, width: int, most: int) -> list[Row]:
    glyph, style = LOOKS.get(notice.severity, LOOKS["information"])
    lines = textwrap.wrap(
        notice.text, max(8, width - 4), max_lines=most, placeholder=f"… {key_of('messages')} shows all"
    ) or [""]
    return [
        Row((Cell(" " * 3 if number else f" {glyph} ", style), Cell(line, style if style == "fault" else "strong")))
        for number, line in enumerate(lines)
    ]


def _offered(choices: Sequence[tuple[Cell, ...]], width: int) -> list[Row]:
    rows: list[list[Cell]] = []
    for choice in choices:
        if rows and width_of(rows[-1]) + 2 + width_of(choice) < width:
            rows[-1] += [Cell("  "), *choice]
        else:
            rows.append([Cell(" "), *choice])
    return [Row(tuple(row)) for row in rows]
