"""Everything that reaches into Textual's private parts, for one Textual version.

Stock updates start each span at the widget's left edge and end every segment with a reset. `TightCompositor` sends
the span alone and one colour change where the look changes: the same screen for about a third of the bytes, which
counts over SSH. With another version of Textual nothing here is used, and stock updates are sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import textual
from rich.color import ColorSystem
from rich.console import Console
from rich.control import Control
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual._xterm_parser import XTermParser
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.app import App

VERSION = "8.2.8"
"""The version that this was written against and is tested with."""

_RESET = "\x1b[0m"


class _Look(NamedTuple):
    """Parameters of a colour sequence, in three parts."""

    attributes: str
    foreground: str
    background: str


_PLAIN = _Look("", "", "")


def _parameters(style: Style, system: ColorSystem | None) -> str:
    drawn = style.render("\0", color_system=system, legacy_windows=False)
    before, _, _ = drawn.partition("\0")
    return before.removeprefix("\x1b[").removesuffix("m")


@lru_cache(maxsize=4096)
def _look(style: Style, system: ColorSystem | None) -> _Look:
    foreground = _parameters(Style(color=style.color), system) if style.color is not None else ""
    background = _parameters(Style(bgcolor=style.bgcolor), system) if style.bgcolor is not None else ""
    attributes = Style(
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        blink=style.blink,
        reverse=style.reverse,
        conceal=style.conceal,
        strike=style.strike,
        underline2=style.underline2,
        overline=style.overline,
    )
    return _Look(_parameters(attributes, system), foreground, background)


@lru_cache(maxsize=16384)
def _change(old: _Look, new: _Look) -> str:
    """The shortest sequence that turns one look into another."""
    if old == new:
        return ""
    lost = (
        (old.attributes and old.attributes != new.attributes)
        or (old.foreground and not new.foreground)
        or (old.background and not new.background)
    )
    if lost:
        return f"\x1b[{';'.join(['0', *filter(None, new)])}m"
    parts = [after for before, after in zip(old, new, strict=True) if after and after != before]
    return f"\x1b[{';'.join(parts)}m"


class _Pen:
    """Writes segments, changing colours only where they change."""

    def __init__(self, console: Console) -> None:
        self._system = console._color_system
        self._now = _PLAIN
        self.out: list[str] = []

    def draw(self, segments: Iterable[Segment]) -> None:
        for text, style, control in segments:
            if control or not text:
                self.out.append(text)
                continue
            if style is not None and style.link:
                self.finish()
                self.out.append(style.render(text, color_system=self._system, legacy_windows=False))
                continue
            look = _look(style, self._system) if style is not None else _PLAIN
            self.out.append(_change(self._now, look))
            self.out.append(text)
            self._now = look

    def move(self, x: int, y: int) -> None:
        self.out.append(Control.move_to(x, y).segment.text)

    def finish(self) -> None:
        if self._now != _PLAIN:
            self.out.append(_RESET)
            self._now = _PLAIN


def _splits_anywhere(strip: Strip) -> bool:
    """No character of the strip is wider or narrower than one cell."""
    return strip.cell_length == len(strip.text)


class TightUpdate(ChopsUpdate):
    """Changed spans, and nothing beside them."""

    def render_segments(self, console: Console) -> str:
        """The update as terminal sequences."""
        pen = _Pen(console)
        for y, left, right in self.spans:
            at = -1
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                if strip is None or x >= right or end <= left:
                    continue
                start, stop = max(x, left), min(end, right)
                if (start, stop) != (x, end):
                    if not _splits_anywhere(strip):
                        start = x
                    strip = strip.crop(start - x, stop - x)
                if at != start:
                    pen.move(start, y)
                pen.draw(strip)
                at = stop
        pen.finish()
        return "".join(pen.out)


class TightLayoutUpdate(LayoutUpdate):
    """A whole screen."""

    def render_segments(self, console: Console) -> str:
        """The update as terminal sequences."""
        pen = _Pen(console)
        for y, (_, line) in enumerate(zip(self.region.line_range, self.strips, strict=False), self.region.y):
            pen.move(self.region.x, y)
            for strip in line:
                pen.draw(strip)
        pen.finish()
        return "".join(pen.out)


class TightCompositor(Compositor):
    """Composes as Textual does, and sends less."""

    def render_full_update(self, simplify: bool = False) -> LayoutUpdate:
        """A whole screen."""
        update = super().render_full_update(simplify)
        return TightLayoutUpdate(update.strips, update.region)

    def render_partial_update(self) -> ChopsUpdate | None:
        """What is dirty."""
        update = super().render_partial_update()
        return update and TightUpdate(update.chops, update.spans, update.chop_ends)


def send_less(screen: Screen[Any]) -> None:
    """Let a screen that is not shown yet send tight updates."""
    if is_known(Path(textual.__file__).parent):
        screen._compositor = TightCompositor()


def is_known(package: Path) -> bool:
    """Whether the Textual in a folder is the version that this was written for.

    Its own `__version__` imports much to read metadata, which a start-up need not wait for; the folder
    of metadata beside it tells as much. Where there is none of that name, it is asked all the same.
    """
    return (package.parent / f"textual-{VERSION}.dist-info").is_dir() or textual.__version__ == VERSION


def keep_escapes(parser: type[XTermParser] = XTermParser) -> None:
    """Let an Esc live that is read in one piece with the next key, where the two are no letter with Alt.

    Stock Textual loses it: of Esc and `:`, which an editor's user types in one go, only `:` would come.

    Args:
        parser: Turns what the terminal sends into keys.
    """
    stock = parser._sequence_to_key_events
    if getattr(stock, "keeps_escapes", False) or not is_known(Path(textual.__file__).parent):
        return

    def key_events(self: XTermParser, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        digit = len(sequence) == 2 and sequence[0] == "\x1b" and sequence[1].isdigit()
        if digit or (alt and not sequence.isalpha()):
            yield events.Key("escape", "\x1b")
            yield from stock(self, sequence[-1])
        else:
            yield from stock(self, sequence, alt)

    key_events.keeps_escapes = True  # type: ignore[attr-defined]
    parser._sequence_to_key_events = key_events  # type: ignore[method-assign]


async def act_at_once(view: Widget, key: str) -> bool:
    """Do what a view binds to a key now, rather than after the key has gone to the view and come back.

    Stock Textual looks keys of the workspace up when they arrive and those of a view a round later: of `down`, `b`
    in one burst, `b` would come first.

    Returns:
        Whether the view binds the key.
    """
    for owner, bindings in view.screen._modal_binding_chain:
        if owner is view:
            for binding in bindings.key_to_bindings.get(key, ()):
                if not binding.priority and await view.app.run_action(binding.action, view):
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
