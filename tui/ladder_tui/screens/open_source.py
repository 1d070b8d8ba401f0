"""The list of source files to look at: what is typed finds them, however roughly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from ladder_backends.model.frame import file_name
from ladder_backends.session.source_names import SourceNames, readable
from ladder_backends.text import clean_line
from ladder_tui.screens.dialog import Dialog
from ladder_tui.widgets.line_editor import LineEditor
from ladder_tui.widgets.line_view import Hit, LineView, Title
from ladder_tui.widgets.row import Cell, Row, cut_front, size_of

if TYPE_CHECKING:
    from ladder_backends.session.ladder import Ladder
    from ladder_tui.theming import Palette

_MOST = 400
"""Names that are listed at once."""
_TICK = 0.5
"""Seconds between two looks at how long the engine works."""


class SourceRows(LineView):
    """The names that match; letters filter, arrows move."""

    TAKES_TEXT = True
    BINDINGS: ClassVar = []

    def __init__(self, choose: Callable[[str], None], *, palette: Palette) -> None:
        super().__init__(id="source-files", palette=palette)
        self._choose = choose
        self.editor = LineEditor()
        self.names: Sequence[str] = ()
        self.count = 0
        self.status = ""
        self.edited: Callable[[], None] = lambda: None

    @property
    def row_count(self) -> int:
        """Names."""
        return len(self.names)

    def row(self, index: int) -> Row:
        """The file's name, and the end of its path."""
        name = self.names[index]
        base = file_name(name)
        folder = name[: len(name) - len(base)]
        room = self.body_width - size_of(base) - 3
        return Row((Cell(base, "file"), Cell("  "), Cell(cut_front(folder, max(0, room)), "muted")), target=name)

    def title(self) -> Title:
        """What was typed, how many match, what is still being read."""
        text = self.editor.text
        state = (Cell(f" {text}", "input"), Cell("▏", "focus")) if text else (Cell(" type to find", "muted"),)
        told = " · ".join(word for word in (str(self.count), self.status) if word)
        keys = (Cell(f"{told}  ", "muted"), Cell("Esc", "key"), Cell(" back", "muted"))
        return Title("Open source", state, keys)

    def empty_text(self) -> str:
        """Why there are none."""
        if self.editor.text:
            return f"no source file matches {self.editor.text!r}; Esc shows all"
        return self.status or "no source files are known"

    def edits(self, key: str) -> bool:
        """Whether a key edits the line, as it stands now."""
        return self.editor.edits(key)

    def on_key(self, event: events.Key) -> None:
        """Move, choose, or edit what is looked for; Esc goes further where there is nothing to clear."""
        moves = {"up": -1, "down": 1, "pageup": 1 - self.body_height, "pagedown": self.body_height - 1}
        if event.key in moves:
            self.move_cursor(self.cursor + moves[event.key])
        elif event.key == "enter":
            if self.cursor < len(self.names):
                self._choose(self.names[self.cursor])
        elif event.key in ("escape", "ctrl+g") and self.editor.text:
            self.editor.set("")
            self.edited()
        elif event.key in ("escape", "ctrl+g", "ctrl+c") or not self.editor.press(event.key, event.character):
            return
        else:
            self.edited()
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """The first line of what is pasted is looked for."""
        event.stop()
        self.editor.insert(clean_line(event.text.split("\n", 1)[0]))
        self.edited()

    def activate(self, hit: Hit) -> None:
        """A click chooses."""
        if isinstance(hit.target, str):
            self._choose(hit.target)


class SourceScreen(Dialog, Screen[str]):
    """Returns the full name of a source file, or None.

    Files on disk are listed at once. The engine's list may take it seconds: it is asked for once a session, told of
    while it is awaited, and given up when the screen is left.
    """

    BLANK = True
    ALLOW_SELECT = False
    AUTO_FOCUS: ClassVar[str | None] = None
    DEFAULT_CSS = "SourceScreen { layout: vertical; overflow: hidden hidden; background: $background; }"

    def __init__(self, ladder: Ladder, names: SourceNames, palette: Palette) -> None:
        super().__init__()
        self._ladder = ladder
        self._names = names
        self._palette = palette
        self._tasks: list[asyncio.Task[None]] = []
        self._matching: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        """The list alone."""
        self.rows = SourceRows(self._choose, palette=self._palette)
        self.rows.edited = self._match
        yield self.rows

    def on_mount(self) -> None:
        """Show what is known; read what is not."""
        self.set_focus(self.rows)
        loop = asyncio.get_running_loop()
        self._tasks.append(loop.create_task(self._read_disk()))
        if not self._names.complete:
            self._tasks.append(loop.create_task(self._read_engine()))
        self._match()

    def on_unmount(self) -> None:
        """Read no more."""
        for task in (*self._tasks, self._matching):
            if task is not None:
                task.cancel()

    async def _read_disk(self) -> None:
        await self._names.add(readable(await self._ladder.source_files()))
        self._match()

    async def _read_engine(self) -> None:
        began = time.monotonic()
        reading = asyncio.ensure_future(self._names.read())
        try:
            while not reading.done():
                await asyncio.wait([reading], timeout=_TICK)
                waited = time.monotonic() - began
                if not reading.done() and waited >= 2 * _TICK:
                    self._tell(f"the engine reads its list, {waited:.0f} s; Esc stops it")
            await reading
        finally:
            reading.cancel()
        self._tell(self._names.note)
        self._match()

    def _tell(self, status: str) -> None:
        self.rows.status = status
        self.rows.update()

    def _match(self) -> None:
        if self._matching is not None:
            self._matching.cancel()
        self._matching = asyncio.get_running_loop().create_task(self._find(self.rows.editor.text))
        self.rows.update()

    async def _find(self, words: str) -> None:
        names, count = await self._names.matching(words, _MOST)
        # The row that was chosen stays chosen while more comes in.
        rows = self.rows
        chosen = rows.names[rows.cursor] if rows.cursor < len(rows.names) and rows.cursor else None
        rows.names, rows.count = names, count
        rows.cursor = names.index(chosen) if chosen in names else 0
        rows.update()

    def _choose(self, name: str) -> None:
        self.dismiss(name)

    def on_key(self, event: events.Key) -> None:
        """Esc leaves."""
        if event.key in ("escape", "ctrl+g"):
            event.stop()
            self.dismiss(None)
