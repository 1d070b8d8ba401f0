"""A dialog of a few fields: text, switches, choices.

    form = FormScreen(
        "Run settings",
        (TextField("arguments", "Arguments", "-n 3"), Toggle("main", "Stop at main"),
         Select("fork", "At a fork", (("parent", "follow the parent"), ("child", "follow the child")))),
        palette,
        check=lambda values: ("arguments", "a quote is not closed") if values["arguments"] == "'" else None,
    )
    app.push_screen(form, lambda values: ... if values is not None else ...)

Tab and the arrows move between fields, Enter accepts, Esc cancels (None). What `check` complains of is shown in the
form, which stays; `check` runs on the event loop and must be quick.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import TypeAlias

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from ladder_backends.text import clean_line
from ladder_tui.screens.dialog import Dialog
from ladder_tui.theming import Depth, Palette
from ladder_tui.widgets.form_fields import Field
from ladder_tui.widgets.row import Cell, Row, cell_at, compose, cut, printable, size_of, width_of

FormValues: TypeAlias = dict[str, "str | bool"]
"""Value of each field by its name."""

Check: TypeAlias = Callable[[FormValues], "tuple[str, str] | None"]
"""Says which field is wrong, by its name, and why; None where all is well."""

_WIDEST = 76
_MOST_LINES = 4
_ACCEPT, _CANCEL = "accept", "cancel"


class FormBody(Widget, can_focus=True):
    """Question, fields, message and keys, as lines.

    Attributes:
        cursor: The field that has the keys.
        message: What is wrong, or an empty string.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = "FormBody { width: auto; height: auto; }"

    def __init__(self, question: str, why: str, fields: tuple[Field, ...], palette: Palette) -> None:
        super().__init__()
        self.question = question
        self.why = why
        self.fields = fields
        self.palette = palette
        self.cursor = 0
        self.message = ""

    # Layout ----------------------------------------------------------------------------------------------------

    @property
    def _label_width(self) -> int:
        widest = max((size_of(printable(field.label)) for field in self.fields), default=0)
        return min(widest, max(8, self.size.width // 3))

    @property
    def _value_column(self) -> int:
        return 4 + self._label_width + 2

    @property
    def _value_room(self) -> int:
        return max(6, self.size.width - self._value_column - 2)

    def get_content_width(self, container: object, viewport: object) -> int:
        """As wide as is good to read, within the screen."""
        return max(10, min(_WIDEST, self.app.size.width - 2))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """One line each, within the screen."""
        return min(
            len(self.fields) + len(self._head(True)) + len(self._foot(True)), max(3, self.app.size.height - 2)
        )

    def _head(self, roomy: bool) -> list[Row]:
        rows = [Row((Cell("  "), Cell(self.question, "strong")))]
        if not roomy:
            return rows
        lines = textwrap.wrap(printable(self.why), max(8, self.get_content_width(None, None) - 4))
        rows += [Row((Cell("  "), Cell(line, "muted"))) for line in lines]
        return [self._rule, *rows, Row()]

    def _foot(self, roomy: bool) -> list[Row]:
        note = self.fields[self.cursor].note if self.fields else ""
        said, style = (self.message, "error") if self.message else (note, "muted")
        room = max(8, self.get_content_width(None, None) - 4)
        lines = textwrap.wrap(printable(said), room, max_lines=_MOST_LINES if roomy else 1, placeholder="…") or [""]
        keys = Row(
            (
                Cell("  "),
                Cell("⏎", "key", _ACCEPT),
                Cell(" accept", "text", _ACCEPT),
                Cell("   "),
                Cell("Esc", "key", _CANCEL),
                Cell(" cancel", "text", _CANCEL),
                Cell("   "),
                Cell("Tab", "key"),
                Cell(" next", "muted"),
            )
        )
        rows = [*(Row((Cell("  "), Cell(line, style))) for line in lines), keys]
        return [Row(), *rows, self._rule] if roomy else rows

    @property
    def _rule(self) -> Row:
        plain = self.palette.depth is not Depth.FULL
        return Row((Cell("━" * self.size.width, "rule-focus"),)) if plain else Row()

    def rows(self) -> list[tuple[Row, int | None]]:
        """The lines that fit, each with the index of its field."""
        height = self.size.height
        for roomy in (True, False):
            head, foot = self._head(roomy), self._foot(roomy)
            room = height - len(head) - len(foot)
            if room >= len(self.fields):
                break
        if room < 1:
            # Not even one field has a line beside the rest: the field is what matters.
            head, foot, room = [], [], max(1, height)
        start = max(0, min(self.cursor - room // 2, len(self.fields) - room))
        shown = range(start, min(len(self.fields), start + room))
        lines: list[tuple[Row, int | None]] = [(row, None) for row in head]
        lines += [(self._field_row(index), index) for index in shown]
        return [*lines, *((row, None) for row in foot)]

    def _field_row(self, index: int) -> Row:
        field, focused = self.fields[index], index == self.cursor
        width = self._label_width
        label = cut(printable(field.label), width)
        cells = [
            Cell("  "),
            Cell("▸ " if focused else "  ", "focus"),
            Cell(label + " " * (width - size_of(label) + 2), "strong" if focused else "muted"),
        ]
        value = field.cells(self._value_room, focused)
        return Row((*cells, *value, Cell(" " * max(0, self._value_room - width_of(value)), value[-1].style)))

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines on the raised surface."""
        width, height = self.size
        lines = [compose(row, width, self.palette.on_surface) for row, _ in self.rows()[:height]]
        lines += [Strip([Segment(" " * width, self.palette.surface)], width)] * (height - len(lines))
        return [line.crop(crop.x, crop.right) for line in lines[crop.y : crop.bottom]]

    # Keys and mouse --------------------------------------------------------------------------------------------

    def move(self, by: int) -> None:
        """Give the keys to another field, round the ends."""
        self.cursor = (self.cursor + by) % len(self.fields)
        self.refresh(layout=True)

    def complain(self, name: str, message: str) -> None:
        """Show what is wrong, and go to the field."""
        self.message = clean_line(message)
        self.cursor = next((index for index, field in enumerate(self.fields) if field.name == name), self.cursor)
        self.refresh(layout=True)

    def edits(self, key: str) -> bool:
        """Whether a key edits the line, as it stands now."""
        return self.fields[self.cursor].edits(key)

    def press(self, key: str, character: str | None) -> None:
        """A key for the field that has them."""
        if self.fields[self.cursor].press(key, character):
            self.message = ""
            self.refresh(layout=True)

    def paste(self, text: str) -> None:
        """Pasted text for the field that has the keys: its first line."""
        first, _, rest = text.strip("\r\n").replace("\r", "\n").partition("\n")
        if self.fields[self.cursor].paste(clean_line(first)):
            self.message = "only the first line was taken" if rest.strip() else ""
            self.refresh(layout=True)

    def click_at(self, x: int, y: int) -> str:
        """Take a click; returns `accept`, `cancel`, or an empty string where it was for a field or for nothing."""
        rows = self.rows()
        if not 0 <= y < len(rows):
            return ""
        row, index = rows[y]
        if index is None:
            cell = cell_at(row, x, self.size.width)
            return cell.target if cell is not None and isinstance(cell.target, str) else ""
        before, self.cursor = self.cursor, index
        if x >= self._value_column:
            field = self.fields[index]
            if before != index:
                # Drawn from its beginning until now, as without the keys.
                field.cells(self._value_room, True)
            field.click(x - self._value_column, self._value_room)
            self.message = ""
        self.refresh(layout=True)
        return ""


class FormScreen(Dialog, ModalScreen["FormValues | None"]):
    """Asks for a few values; None where it is left without accepting.

    Args:
        question: What the form is for, in a few words.
        fields: At least one.
        palette: Of the application.
        why: One more line, muted.
        check: Looks at the values before they are accepted.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = "FormScreen { align: center middle; background: $background 50%; }"

    def __init__(
        self, question: str, fields: Sequence[Field], palette: Palette, *, why: str = "", check: Check | None = None
    ) -> None:
        super().__init__()
        self._body = FormBody(cut(question, 200), why, tuple(fields), palette)
        self._check = check

    def compose(self) -> ComposeResult:
        """The form alone."""
        yield self._body

    def values(self) -> FormValues:
        """What the fields hold now."""
        return {field.name: field.value for field in self._body.fields}

    def accept(self) -> None:
        """Give the values, unless something is wrong with them."""
        values = self.values()
        complaint = self._check(values) if self._check is not None else None
        if complaint is None:
            self.dismiss(values)
        else:
            self._body.complain(*complaint)

    def edits(self, key: str) -> bool:
        """Whether a key edits the text of the field that has the keys, as it stands now."""
        return self._body.edits(key)

    def on_key(self, event: events.Key) -> None:
        """Enter accepts, Esc cancels, Tab and the arrows move; the rest is the field's."""
        event.stop()
        event.prevent_default()
        if event.key == "enter":
            self.accept()
        elif event.key in ("escape", "ctrl+g"):
            self.dismiss(None)
        elif event.key in ("tab", "down", "ctrl+n"):
            self._body.move(1)
        elif event.key in ("shift+tab", "up"):
            self._body.move(-1)
        else:
            self._body.press(event.key, event.character)

    def on_paste(self, event: events.Paste) -> None:
        """Text for the field."""
        event.stop()
        self._body.paste(event.text)

    def on_click(self, event: events.Click) -> None:
        """A click on a field goes there and acts; on a key of the last line, it is that key."""
        if event.widget is not self._body:
            return
        event.stop()
        wish = self._body.click_at(event.x, event.y)
        if wish == _ACCEPT:
            self.accept()
        elif wish == _CANCEL:
            self.dismiss(None)
