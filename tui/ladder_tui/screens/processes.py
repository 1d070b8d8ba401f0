"""The list of running processes to attach to: what is typed filters it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from ladder_backends.errors import LadderError
from ladder_backends.model.process import RunningProcess
from ladder_backends.session.state import Notice
from ladder_backends.text import clean_line
from ladder_tui.screens.dialog import Dialog
from ladder_tui.screens.process_rows import Order, detail_rows, heading_row, matching, ordered, process_row
from ladder_tui.widgets.line_editor import LineEditor
from ladder_tui.widgets.line_view import Hit, LineView, Title
from ladder_tui.widgets.notice_line import NoticeLine
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_tui.theming import Palette

REFRESH = 2.0
"""Seconds between two looks at the processes."""

_ENDED = "it has ended"


class Reader(Protocol):
    """Where the list comes from; called on a thread of its own."""

    @property
    def knows_gpus(self) -> bool:
        """GPU use can be told."""

    def read(self) -> tuple[RunningProcess, ...]:
        """Every process that could be debugged."""

    def close(self) -> None:
        """Let go of what was opened for it."""


def _key(process: RunningProcess) -> tuple[int, float]:
    """What tells a process from a later one of the same id."""
    return process.pid, process.started


class ProcessRows(LineView):
    """The list itself; letters filter, arrows move."""

    TAKES_TEXT = True
    BINDINGS: ClassVar = []

    def __init__(self, choose: Callable[[RunningProcess], None], *, palette: Palette) -> None:
        super().__init__(id="processes", palette=palette)
        self._choose = choose
        self._editor = LineEditor()
        self._all: tuple[RunningProcess, ...] | None = None
        self._shown: list[RunningProcess] = []
        self._selected: RunningProcess | None = None
        self.order = Order.NEWEST
        self.gpus = False
        self.moved: Callable[[], None] = lambda: None
        self.pressed: Callable[[], None] = lambda: None

    def take(self, processes: tuple[RunningProcess, ...], *, gpus: bool) -> None:
        """Show another reading; the selected process stays selected, also where it has ended meanwhile."""
        self._all, self.gpus = processes, gpus
        self._lay_out()

    @property
    def selected(self) -> RunningProcess | None:
        """The process under the cursor."""
        return self._shown[self.cursor] if self.cursor < len(self._shown) else None

    def _lay_out(self) -> None:
        everyone, kept = self._all or (), self._selected
        gone = kept is not None and all(_key(each) != _key(kept) for each in everyone)
        if kept is not None and gone:
            # Another process must not slide under the key that is about to be pressed.
            everyone = (*everyone, kept)
        self._shown = ordered(matching(everyone, self._editor.text), self.order, os.geteuid())
        places = {_key(process): number for number, process in enumerate(self._shown)}
        place = places.get(_key(kept)) if kept is not None else None
        if kept is not None and place is not None:
            self.cursor = place
            if gone:
                self._shown[place] = replace(kept, state="X", obstacle=_ENDED, remedy="")
            else:
                self._selected = self._shown[place]
        else:
            self.cursor = max(0, min(self.cursor, len(self._shown) - 1))
            self._remember()
        self.update()
        self.moved()

    def _remember(self) -> None:
        if self.selected is None or self._selected is None or _key(self.selected) != _key(self._selected):
            self._selected = self.selected

    # What is drawn ---------------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """One row a process; nothing before the first reading."""
        return len(self._shown)

    def heading(self) -> Row | None:
        """Names of the columns, where there is something below them."""
        return heading_row(gpus=self.gpus) if self._shown else None

    def row(self, index: int) -> Row:
        """A process."""
        return process_row(self._shown[index], time.time(), gpus=self.gpus)

    def title(self) -> Title:
        """What was typed, how many match, and the keys."""
        text = self._editor.text
        state = (Cell(f" {text}", "input"), Cell("▏", "focus")) if text else (Cell(" type to filter", "muted"),)
        count = f"{len(self._shown)} · {self.order}  "
        keys = (Cell("Tab", "key"), Cell(" sorts  ", "muted"), Cell("Esc", "key"), Cell(" back", "muted"))
        return Title("Attach", state, (Cell(count, "muted"), *keys))

    def empty_text(self) -> str:
        """Why there are no rows."""
        if self._all is None:
            return "looking …"
        return f"no process matches {self._editor.text!r}; Esc shows all" if self._editor.text else "no processes"

    # Keys ------------------------------------------------------------------------------------------------------

    def edits(self, key: str) -> bool:
        """Whether a key edits the line, as it stands now."""
        return self._editor.edits(key)

    def on_key(self, event: events.Key) -> None:
        """Move, choose, sort, or edit what filters; Esc and Ctrl-C go further where there is nothing to clear."""
        self.pressed()
        moves = {"up": -1, "down": 1, "pageup": 1 - self.body_height, "pagedown": self.body_height - 1}
        moves |= {"home": -self.row_count, "end": self.row_count}
        editing = self._editor.text and event.key in ("home", "end")
        if event.key in moves and not editing:
            self.move_cursor(self.cursor + moves[event.key])
        elif event.key == "enter":
            if self.selected is not None:
                self._choose(self.selected)
        elif event.key in ("tab", "shift+tab"):
            self.order = self.order.following
            self._lay_out()
        elif event.key in ("escape", "ctrl+g") and self._editor.text:
            self._editor.set("")
            self._lay_out()
        elif event.key in ("escape", "ctrl+g", "ctrl+c") or not self._editor.press(event.key, event.character):
            return
        else:
            self._selected = None
            self.cursor = 0
            self._lay_out()
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """The first line of what is pasted filters."""
        event.stop()
        self._editor.insert(clean_line(event.text.split("\n", 1)[0]))
        self._lay_out()

    def cursor_moved(self) -> None:
        """The details follow."""
        self._remember()
        self.moved()

    def activate(self, hit: Hit) -> None:
        """A click chooses."""
        if isinstance(hit.target, RunningProcess):
            self._choose(hit.target)


class ProcessDetail(LineView, can_focus=False):
    """Two lines about the selected process."""

    HAS_TITLE = False
    HAS_CURSOR = False
    DEFAULT_CSS = "ProcessDetail { width: 1fr; height: 2; }"

    def __init__(self, *, palette: Palette) -> None:
        super().__init__(id="process-detail", palette=palette)
        self.process: RunningProcess | None = None

    @property
    def row_count(self) -> int:
        """Two."""
        return 2

    def row(self, index: int) -> Row:
        """Why not and what to do, or state and folder."""
        return detail_rows(self.process)[index]


class ProcessScreen(Dialog, Screen[int]):
    """Returns the process to attach to, or None.

    Args:
        palette: Styles.
        reader: Where the list comes from; the kernel's own if left out.
        check: Looks at a process before it is returned; raises where it cannot be attached to. Called on a thread.
    """

    BLANK = True
    ALLOW_SELECT = False
    AUTO_FOCUS: ClassVar[str | None] = None
    DEFAULT_CSS = """
    ProcessScreen { layers: base notice; layout: vertical; overflow: hidden hidden; background: $background; }
    """

    def __init__(
        self,
        palette: Palette,
        *,
        reader: Reader | None = None,
        check: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__()
        self._palette = palette
        self._reader = reader
        self._check = check or _check
        self._reading: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        """The list, what is known of the selected process, a line for notices."""
        self.list = ProcessRows(self._choose, palette=self._palette)
        self.list.moved, self.list.pressed = self._moved, self._pressed
        self.detail = ProcessDetail(palette=self._palette)
        self.notice_line = NoticeLine(palette=self._palette)
        yield self.list
        yield self.detail
        yield self.notice_line

    def on_mount(self) -> None:
        """Read now and every few seconds."""
        self.set_focus(self.list)
        self._reading = asyncio.get_running_loop().create_task(self._keep_reading())

    def on_unmount(self) -> None:
        """Read no more."""
        for task in (self._reading, self._checking):
            if task is not None:
                task.cancel()

    async def _keep_reading(self) -> None:
        if self._reader is None:
            from ladder_backends.processes import ProcessList

            self._reader = ProcessList()
        reader = self._reader
        try:
            while True:
                began = time.monotonic()
                self.list.take(await asyncio.to_thread(reader.read), gpus=reader.knows_gpus)
                # Where there are so many that reading takes long, it is done more rarely.
                await asyncio.sleep(max(REFRESH, 5 * (time.monotonic() - began)))
        finally:
            reader.close()

    def _moved(self) -> None:
        self.detail.process = self.list.selected
        self.detail.update()

    def say(self, text: str, severity: str = "information") -> None:
        """Show one line until the next key."""
        self.notice_line.show(Notice(text, severity))

    def _choose(self, process: RunningProcess) -> None:
        if process.obstacle == _ENDED:
            self.say(f"cannot attach to {process.pid}: {_ENDED}", "warning")
        elif self._checking is None or self._checking.done():
            self._checking = asyncio.get_running_loop().create_task(self._take(process.pid))

    async def _take(self, pid: int) -> None:
        try:
            await asyncio.to_thread(self._check, pid)
        except LadderError as error:
            self.say(error.line(), "warning")
        else:
            self.dismiss(pid)

    def on_key(self, event: events.Key) -> None:
        """Esc leaves."""
        if event.key in ("escape", "ctrl+g"):
            event.stop()
            self.dismiss(None)

    def _pressed(self) -> None:
        """What was said before is read."""
        self.notice_line.hide()


def _check(pid: int) -> None:
    from ladder_backends.gdb.process_check import check_process

    check_process(pid, on_screen=True)
