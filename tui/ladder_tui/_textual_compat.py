"""Everything that reaches into Textual's private parts, for one Textual version.

Stock updates are sent whole, whatever the terminal shows, start each span at the widget's left edge and end every
segment with a reset. `SparingApp` sends what differs from what the terminal shows, and one colour change where the
look changes, which counts over SSH. With another version of Textual stock updates are sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import textual
from rich.console import Console, RenderableType
from textual import events
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.driver import Driver
from textual.geometry import Region
from textual.keys import _character_to_key
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from ladder_tui._shown import Shown

VERSION = "8.2.8"
"""The version that this was written against and is tested with."""

Answer = TypeVar("Answer")

_STOCK_DRIVER = "textual.drivers.linux_driver"


class SparingApp(App[Answer]):
    """Sends what differs from what the terminal shows, and nothing beside it."""

    _resize_settles = 0.1

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._shown = Shown() if is_known(Path(textual.__file__).parent) else None
        self._uncovered: tuple[object, frozenset[Widget]] = (None, frozenset())

    def get_driver_class(self) -> type[Driver]:
        """What takes up the terminal; stock Textual's reads keys in another thread."""
        stock = super().get_driver_class()
        if stock.__module__ == _STOCK_DRIVER and is_known(Path(textual.__file__).parent):
            from ladder_tui._read_now import DirectDriver

            return DirectDriver
        return stock

    def take_at_once(self, character: str) -> bool:
        """Act on a printable key in the turn of the loop that reads it; False leaves it to the queue."""
        return False

    @property
    def waits_for_messages(self) -> bool:
        """Nothing is under way or waits in the application's own queue: a key that came now would be next."""
        ready: Any = self._message_queue.ready_event
        return bool(ready._waiters) and not ready.is_set() and not self._keymap

    def redraw(self) -> None:
        """Send the whole screen again, whatever the terminal shows."""
        if self._shown is not None:
            self._shown.forget()
        self.screen.refresh()

    async def on_event(self, event: events.Event) -> None:
        """A terminal that was resized, or comes back from elsewhere, shows nobody knows what."""
        if isinstance(event, events.Resize) and self._shown is not None and self._shown.whole:
            self._shown.forget()
            # Where the size is the old one in the end, no layout follows, and nothing is painted.
            self.set_timer(self._resize_settles, self._redraw_forgotten)
        await super().on_event(event)

    def _redraw_forgotten(self) -> None:
        if self._shown is not None and not self._shown.whole:
            self.screen.refresh()

    def show_lines(self, screen: Screen[Any], dirty: Iterable[tuple[Widget, Iterable[tuple[int, Strip]]]]) -> bool:
        """Send lines of views without composing the screen.

        Args:
            screen: On top, with nothing on it to be laid out or repainted.
            dirty: Views, and lines of each with what they show now, from the view's left edge to its right.

        Returns:
            Whether that was done: it is not where something covers a view, or where it is not known what is shown.
        """
        shown, compositor = self._shown, screen._compositor
        goes_out = self._running and not self._closed and not self.is_headless and not self._batch_count
        size = compositor.size
        if shown is None or not shown.whole or not goes_out or size != self.size or compositor._dirty_regions:
            return False
        visible = compositor.visible_widgets
        if self._uncovered[0] is not visible:
            self._uncovered = visible, frozenset(_uncovered(visible))
        lines: list[tuple[int, int, int, Strip]] = []
        for view, changed in dirty:
            if view not in self._uncovered[1]:
                return False
            x, y, width, height = visible[view][0]
            lines += [(x, y + line, x + width, strip) for line, strip in changed if line < height]
        try:
            lines.sort(key=_by_place)
            if sent := shown.of_lines(lines, self.console, size):
                update: Any = _Sequences(sent)
                super()._display(screen, update)
        except BaseException:
            # It has not been written.
            shown.forget()
            raise
        return True

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        shown = self._shown
        goes_out = self._running and not self._closed and not self.is_headless and not self._batch_count
        if shown is None or renderable is None or not goes_out:
            super()._display(screen, renderable)
            return
        update: Any = renderable
        try:
            size = screen._compositor.size
            if isinstance(renderable, ChopsUpdate) and not shown.whole and size == self.size:
                renderable = screen._compositor.render_update(full=True, screen_stack=self._background_screens)
            if isinstance(renderable, ChopsUpdate | LayoutUpdate):
                sent = shown.difference(renderable, self.console, size)
                moved = self._previous_cursor_position != self.screen.outer_size.clamp_offset(self.cursor_position)
                update = _Sequences(sent) if sent or moved else None
            else:
                shown.forget()
            super()._display(screen, update)
        except BaseException:
            # It has not been written.
            shown.forget()
            raise


class _Sequences(CompositorUpdate):
    """What is ready to be written."""

    def __init__(self, text: str) -> None:
        self._text = text

    def render_segments(self, console: Console) -> str:
        """The text."""
        return self._text


def _by_place(line: tuple[int, int, int, Strip]) -> tuple[int, int]:
    return line[1], line[0]


def _uncovered(visible: Mapping[Widget, tuple[Region, Region]]) -> Iterator[Widget]:
    """The views that are seen whole; those on top come first."""
    above: list[Region] = []
    for widget, (region, clip) in visible.items():
        if clip.contains_region(region) and not any(region.overlaps(other) for other in above):
            yield widget
        above.append(region)


def is_known(package: Path) -> bool:
    """Whether the Textual in a folder is the version that this was written for.

    Its own `__version__` imports much to read metadata, which a start-up need not wait for; the folder
    of metadata beside it tells as much. Where there is none of that name, it is asked all the same.
    """
    return (package.parent / f"textual-{VERSION}.dist-info").is_dir() or textual.__version__ == VERSION


def keep_escapes(parser: type[XTermParser] = XTermParser) -> None:
    """Let an Esc live that is read in one piece with the next key, or tell of the two as one key with Alt.

    Stock Textual loses it: of Esc and `:`, which an editor's user types in one go, only `:` would come, and of Esc
    and `b` only `ctrl+left`. What a key with Alt means, whoever has the keys decides.

    Args:
        parser: Turns what the terminal sends into keys.
    """
    stock = parser._sequence_to_key_events
    if getattr(stock, "keeps_escapes", False) or not is_known(Path(textual.__file__).parent):
        return

    def key_events(self: XTermParser, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        second = sequence[1] if len(sequence) == 2 and sequence[0] == "\x1b" else ""
        if second.isdigit() or second == "\t" or (alt and not sequence.isalpha()):
            yield events.Key("escape", "\x1b")
            yield from stock(self, sequence[-1])
        elif second == "\x7f":
            yield events.Key("alt+backspace", second)
        elif second in ("b", "f"):
            yield events.Key(f"alt+{second}", second)
        else:
            yield from stock(self, sequence, alt)

    key_events.keeps_escapes = True  # type: ignore[attr-defined]
    parser._sequence_to_key_events = key_events  # type: ignore[method-assign]


def key_of_character(character: str) -> str:
    """Textual's name of the key that types a character."""
    return _character_to_key(character)


def binds(view: Widget, key: str) -> bool:
    """Whether a view itself binds a key."""
    return key in view._bindings.key_to_bindings


async def act_at_once(view: Widget, key: str) -> bool:
    """Do what a view binds to a key now, rather than after the key has gone to the view and come back.

    Stock Textual looks keys of the workspace up when they arrive and those of a view a round later: of `down`, `b`
    in one burst, `b` would come first.

    Returns:
        Whether the view binds the key.
    """
    if not binds(view, key):
        # Most keys are not a view's, and to ask for the chain of bindings copies them all.
        return False
    for owner, bindings in view.screen._modal_binding_chain:
        if owner is view:
            for binding in bindings.key_to_bindings.get(key, ()):
                if not binding.priority and await view.app.run_action(binding.action, view):
                    return True
    return False


async def act_on_screen(screen: Screen[Any], key: str) -> bool:
    """Do what a screen binds to a key above all, where nothing else has a say in that.

    Stock Textual copies all bindings of all views first. Where keys were chosen anew, or the application binds the
    key itself, it is left to do so.

    Returns:
        Whether that was done.
    """
    app = screen.app
    bindings = screen._bindings.key_to_bindings.get(key)
    if not bindings or app._keymap or key in app._bindings.key_to_bindings or not app.app_focus:
        return False
    for binding in bindings:
        if binding.priority and await app.run_action(binding.action, screen):
            return True
    return False


async def act_above_all(app: App[Any], key: str) -> bool:
    """Do what is bound to a key whatever has the focus; False where nothing is."""
    return await app._check_bindings(key, priority=True)


def was_taken(event: events.Event) -> bool:
    """Whether a handler has stopped an event."""
    return event._stop_propagation


def screen_lines(screen: Screen[Any]) -> list[str]:
    """The text that a screen shows, line by line."""
    return [strip.text for strip in screen._compositor.render_strips()]
