"""Paints a stop in the turn of the loop that brought it, which reaches into Textual's private parts.

Stock Textual composes some turns later, since each widget tells its own queue, then the screen's, then a timer; and
what is composed waits for another thread to write it, while this one goes on. Both are a good part of what a step
costs. With another version of Textual, and wherever more is due than to repaint some cells, the stock way is taken.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import textual
from textual.drivers._writer_thread import WriterThread
from textual.geometry import Region

from ladder_tui._textual_compat import SparingApp, is_known

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen
    from textual.strip import Strip
    from textual.widget import Widget

DirtyLines: TypeAlias = "tuple[Widget, list[tuple[int, Strip]]]"
"""A view, and lines of it with what they show now."""


@lru_cache(maxsize=1)
def _is_usable() -> bool:
    return is_known(Path(textual.__file__).parent)


def paint_now(screen: Screen[Any], dirty: Iterable[DirtyLines] = ()) -> bool:
    """Compose and send what is to be repainted of a screen that lies alone.

    Args:
        screen: The screen.
        dirty: What else is to be repainted; where nothing but that is, and nothing covers it, it is sent as it is.

    Returns:
        Whether that was done; the screen does it in its own time otherwise.
    """
    app = screen.app
    alone = len(app.screen_stack) == 1 and app.screen is screen
    # A change of the layout is the screen's to work out, and a screen that is all dirty paints itself.
    whole = screen._layout_required or screen._scroll_required or screen._repaint_required
    if not _is_usable() or app._batch_count or not alone or whole:
        for view, lines in dirty:
            view.refresh(*_regions(view, lines))
        return False
    stock = [widget for widget in screen._compositor.visible_widgets if widget._repaint_required]
    if not stock and not screen._dirty_widgets and isinstance(app, SparingApp) and app.show_lines(screen, dirty):
        return True
    for view, lines in dirty:
        view.refresh(*_regions(view, lines))
        if not view._repaint_required:
            continue
        if view not in stock and view in screen._compositor.visible_widgets:
            stock.append(view)
    if any(one._layout_required or one._scroll_required or one._refresh_styles_required for one in stock):
        return False
    for widget in stock:
        widget._repaint_required = False
    screen._dirty_widgets.update(widget for widget in stock if widget.display)
    screen._on_timer_update()
    return True


def _regions(view: Widget, lines: Iterable[tuple[int, Strip]]) -> Iterator[Region]:
    width = view.size.width
    return (Region(0, y, width, 1) for y, _ in lines)


def paint_first(app: App[Any]) -> None:
    """Paint what was laid out while the app began: it would wait for the next tick of its screen's clock."""
    screen = app.screen
    if _is_usable() and not app._batch_count and screen.is_mounted:
        screen._on_timer_update()


def write_at_once(app: App[Any]) -> bool:
    """Let what the terminal takes without waiting be written by whoever has composed it.

    Returns:
        Whether that is so from now on. A terminal that cannot be opened once more is left to the thread alone.
    """
    driver = app._driver
    stock = getattr(driver, "_writer_thread", None)
    if not _is_usable() or type(stock) is not WriterThread or not hasattr(stock._file, "buffer"):
        return False
    try:
        # Opened apart: the one that the shell shares with us goes on to block.
        terminal = os.open(f"/proc/self/fd/{stock.fileno()}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return False
    if not os.isatty(terminal):
        os.close(terminal)
        return False
    stock.stop()
    writer = DirectWriter(stock._file, terminal)
    writer.start()
    driver._writer_thread = writer  # type: ignore[union-attr]
    return True


class DirectWriter(WriterThread):
    """Writes at once what the terminal takes without waiting; the thread writes the rest.

    Args:
        file: The terminal as Textual knows it.
        terminal: The same terminal, which does not block; it is closed with the writer.
    """

    def __init__(self, file: Any, terminal: int) -> None:
        super().__init__(file)
        self._terminal = terminal

    def write(self, text: str) -> None:
        """Write text, in order; does not wait for the terminal."""
        chunk = text.encode("utf-8", "replace")
        # The thread waits only where it has written all that it was given.
        if self._queue.not_empty._waiters:  # type: ignore[attr-defined]
            # Where it takes nothing now, or has gone, the thread finds out which.
            with contextlib.suppress(OSError):
                chunk = chunk[os.write(self._terminal, chunk) :]
        if chunk:
            self._queue.put(chunk)  # type: ignore[arg-type]

    def run(self) -> None:
        """Write what the terminal did not take."""
        out, queue = self._file.buffer, self._queue  # type: ignore[attr-defined]
        while (chunk := queue.get()) is not None:
            out.write(chunk)
            if not queue.qsize():
                out.flush()
        out.flush()

    def stop(self) -> None:
        """Write all that is left, then end."""
        super().stop()
        terminal, self._terminal = self._terminal, -1
        if terminal >= 0:
            os.close(terminal)
