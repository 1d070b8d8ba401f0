"""What the terminal shows, cell by cell, so that an update sends what differs from that and nothing else.

Textual composes whole screens where a layout settles or a dialog opens, and sends them whole. Here a screen that is
composed three times is sent once, and a line that is composed as it stands is not sent at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from operator import is_not, ne, or_
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import split_graphemes
from rich.color import ColorSystem
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate

if TYPE_CHECKING:
    from rich.console import Console
    from rich.segment import Segment
    from textual.geometry import Size
    from textual.strip import Strip

_RESET = "\x1b[0m"
_WORTH_A_MOVE = 4
"""Cells that are rather sent again than jumped over."""
_STYLES = 4096
"""Styles whose looks are kept."""


class Look(NamedTuple):
    """Parameters of a colour sequence, in three parts, and those of a link."""

    attributes: str = ""
    foreground: str = ""
    background: str = ""
    link: str = ""


PLAIN = Look()


def _parameters(style: Style, system: ColorSystem) -> str:
    drawn = style.render("\0", color_system=system, legacy_windows=False)
    before, _, _ = drawn.partition("\0")
    return before.removeprefix("\x1b[").removesuffix("m")


@lru_cache(maxsize=4096)
def _look(style: Style, system: ColorSystem) -> Look:
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
    link = f"id={style.link_id};{style.link}" if style.link else ""
    return Look(_parameters(attributes, system), foreground, background, link)


def _look_of_blanks(style: Style, look: Look) -> Look:
    """Of a blank only the background is seen, unless something is drawn through it."""
    if any((style.underline, style.underline2, style.overline, style.strike, style.reverse, style.link)):
        return look
    return Look(background=look.background)


class _Looks:
    """Looks of styles, of text and of blanks; those that are equal are mostly the same object.

    Args:
        system: Colours of the terminal.
    """

    def __init__(self, system: ColorSystem) -> None:
        self.system = system
        self._kept: dict[Look, Look] = {}
        # By identity, which is faster than the hash of a style; a style that is held keeps its identity.
        self._found: dict[int, tuple[Style, Look, Look]] = {}

    def of(self, style: Style | None, text: str) -> Look:
        """The look of a text in a style."""
        if style is None:
            return PLAIN
        found = self._found.get(id(style)) or self._find(style)
        return found[2] if text[0] == " " and text.isascii() and text.isspace() else found[1]

    def _find(self, style: Style) -> tuple[Style, Look, Look]:
        if len(self._found) >= _STYLES:
            self._found.clear()
            self._kept.clear()
        look = _look(style, self.system)
        blank = _look_of_blanks(style, look)
        found = (style, self._kept.setdefault(look, look), self._kept.setdefault(blank, blank))
        self._found[id(style)] = found
        return found


@lru_cache(maxsize=16384)
def change_of_look(old: Look, new: Look) -> str:
    """The shortest sequence that turns one look into another."""
    linked = f"\x1b]8;{new.link or ';'}\x1b\\" if old.link != new.link else ""
    before, after = old[:3], new[:3]
    if before == after:
        return linked
    lost = (
        (old.attributes and old.attributes != new.attributes)
        or (old.foreground and not new.foreground)
        or (old.background and not new.background)
    )
    if lost:
        return f"{linked}\x1b[{';'.join(['0', *filter(None, after)])}m"
    parts = [part for was, part in zip(before, after, strict=True) if part and part != was]
    return f"{linked}\x1b[{';'.join(parts)}m"


@lru_cache(maxsize=4096)
def _graphemes(text: str) -> tuple[str, ...] | None:
    """One entry a cell, empty behind a wide character; None where each character takes one cell.

    What takes no cell goes with the character before it. What stands before the first one comes first, or an empty
    text. Control characters are left out.
    """
    text = "".join(one for one in text if one >= " " and not "\x7f" <= one < "\xa0")
    before = ""
    cells: list[str] = []
    spans, _ = split_graphemes(text)
    for start, end, width in spans:
        if width:
            cells += (text[start:end], *[""] * (width - 1))
        elif not cells:
            before += text[start:end]
    return None if len(cells) == len(text) and "" not in cells else (before, *cells)


class _Pen:
    """Writes cells, moving and changing colours only where that is needed."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._now = PLAIN
        self._x = self._y = -1
        self.out: list[str] = []

    def move(self, x: int, y: int) -> None:
        if y != self._y:
            self.out.append(f"\x1b[{y + 1};{x + 1}H")
        elif x != self._x:
            self.out.append(f"\x1b[{x + 1}G")
        self._x, self._y = x, y

    def write(self, text: str, cells: int, look: Look) -> None:
        if look != self._now:
            self.out.append(change_of_look(self._now, look))
            self._now = look
        self.out.append(text)
        self._x += cells
        # At the right edge terminals differ in where the cursor is, and in the width of what is no plain character.
        if len(text) != cells or self._x >= self._width:
            self._x = -1

    def finish(self) -> str:
        if self._now != PLAIN:
            self.out.append(change_of_look(self._now, PLAIN))
        return "".join(self.out)


class Shown:
    """Text and look of every cell of the terminal, as far as they are known.

    Attributes:
        whole: A whole screen has been sent since it was forgotten what the terminal shows.
    """

    def __init__(self) -> None:
        self.whole = False
        self._size = (0, 0)
        self._texts: list[list[str | None]] = []
        self._looks: list[list[Look]] = []
        self._styles = _Looks(ColorSystem.TRUECOLOR)

    def forget(self) -> None:
        """Someone else wrote to the terminal, or its size changed: nothing on it is known."""
        self.whole = False
        self._size = (0, 0)

    def difference(self, update: LayoutUpdate | ChopsUpdate, console: Console, size: Size) -> str:
        """Sequences that bring an update onto the terminal; they have to be written, and in this order.

        Args:
            update: What a compositor made.
            console: Knows the colours of the terminal.
            size: Of the screen that was composed.
        """
        height = size.height
        pen = self._begin(console, size)
        try:
            if isinstance(update, LayoutUpdate):
                x = update.region.x
                for y, strips in enumerate(update.strips[: height - update.region.y], update.region.y):
                    segments = [segment for strip in strips for segment in strip]
                    self._draw(pen, y, x, segments, (x, size.width))
                self.whole = self.whole or update.region.size == size
            else:
                for y, left, right in update.spans:
                    if y >= height:
                        continue
                    for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
                        if strip is not None and x < right and end > left:
                            self._draw(pen, y, x, strip._segments, (max(x, left), min(end, right)), end)
        except BaseException:
            # It will not be written.
            self.forget()
            raise
        return pen.finish()

    def of_lines(self, lines: Iterable[tuple[int, int, int, Strip]], console: Console, size: Size) -> str:
        """Sequences that bring lines of views that nothing covers onto the terminal, to be written as they are.

        Args:
            lines: The column, the line and the column behind the end of each, and what it shows.
            console: Knows the colours of the terminal.
            size: Of the screen.
        """
        pen = self._begin(console, size)
        try:
            for x, y, end, strip in lines:
                self._draw(pen, y, x, strip._segments, (x, end), end)
        except BaseException:
            self.forget()
            raise
        return pen.finish()

    def _begin(self, console: Console, size: Size) -> _Pen:
        width, height = size
        if self._size != (width, height):
            self.forget()
            self._size = (width, height)
            self._texts = [[None] * width for _ in range(height)]
            self._looks = [[PLAIN] * width for _ in range(height)]
        # As Textual has it: palettes for a terminal without colours have none.
        system = console._color_system or ColorSystem.TRUECOLOR
        if self._styles.system is not system:
            self._styles = _Looks(system)
        return _Pen(width)

    def _draw(
        self,
        pen: _Pen,
        y: int,
        x: int,
        segments: Sequence[Segment],
        span: tuple[int, int],
        end: int | None = None,
    ) -> None:
        """Send what differs of a span of a line.

        Args:
            pen: Collects what is sent.
            y: The line.
            x: Where the segments begin.
            segments: Of the line, from `x` on.
            span: First cell to look at, and the one behind the last.
            end: Where the segments end at the latest; None for the right edge.
        """
        width = self._size[0]
        end = width if end is None else min(end, width)
        left, right = span[0], min(span[1], width)
        texts, looks = self._texts[y], self._looks[y]
        cells = _plain_cells(segments, self._styles, left - x, right - x)
        if cells is not None:
            right = left + len(cells[0])
            if cells[0] == texts[left:right] and cells[1] == looks[left:right]:
                return
            if "" not in texts:
                self._send(pen, y, left, cells)
                return
        # There are wide characters, or were: none may be cut in two, so the line is looked at as far as is known.
        found, drawn = _all_cells(segments, self._styles, end - x)
        self._mend(pen, y, x, x + len(found), found)
        self._send(pen, y, x, (found, drawn))

    def _mend(self, pen: _Pen, y: int, left: int, right: int, found: list[str]) -> None:
        """Of a wide character that lies half in a span that changes, the other half is blanked."""
        texts, looks = self._texts[y], self._looks[y]
        if left > 0 and left < len(texts) and texts[left] == "":
            pen.move(left - 1, y)
            pen.write(" ", 1, looks[left - 1])
            texts[left - 1] = texts[left] = None
        if right < len(texts) and texts[right] == "" and right > left and texts[right - 1] != found[-1]:
            pen.move(right, y)
            pen.write(" ", 1, looks[right])
            texts[right - 1] = texts[right] = None

    def _send(self, pen: _Pen, y: int, left: int, cells: tuple[list[str], list[Look]]) -> None:
        found, drawn = cells
        right = left + len(found)
        row, row_looks = self._texts[y], self._looks[y]
        old, old_looks = row[left:right], row_looks[left:right]
        # Looks that are equal and yet two objects are sent again: that is rare, and to compare them takes longer.
        differs = bytes(map(or_, map(ne, found, old), map(is_not, drawn, old_looks)))
        row[left:right] = found
        row_looks[left:right] = drawn
        start = differs.find(1)
        while start >= 0:
            stop = differs.find(0, start)
            stop = len(found) if stop < 0 else stop
            after = differs.find(1, stop)
            while 0 <= after <= stop + _WORTH_A_MOVE and drawn[stop:after].count(drawn[stop - 1]) == after - stop:
                stop = differs.find(0, after)
                stop = len(found) if stop < 0 else stop
                after = differs.find(1, stop)
            # A wide character and what it covers differ together, or it alone.
            if stop < len(found) and found[stop] == "":
                stop += 1
            _write_run(pen, y, left, (start, stop), cells)
            start = differs.find(1, stop)


def _write_run(pen: _Pen, y: int, left: int, run: tuple[int, int], cells: tuple[list[str], list[Look]]) -> None:
    """Write the cells of a run, those of one look at once; what is no plain character ends a piece."""
    texts, looks = cells
    at, stop = run
    for look, same in groupby(looks[at:stop]):
        end = at + len(list(same))
        while at < end:
            until, piece = end, texts[at:end]
            text = "".join(piece)
            plain = len(text) == len(piece) and "" not in piece
            if not plain:
                until = _end_of_piece(texts, at, end)
                text = "".join(texts[at:until])
            pen.move(left + at, y)
            pen.write(text, until - at if plain else -1, look)
            at = until


def _end_of_piece(texts: list[str], at: int, end: int) -> int:
    """Where plain characters come again, behind some that are not."""
    plain = True
    while at < end:
        wide = len(texts[at]) != 1 or (at + 1 < end and not texts[at + 1])
        if not wide and not plain:
            break
        plain = plain and not wide
        at += 1
    return at


def _plain_cells(
    segments: Iterable[Segment], styles: _Looks, left: int, right: int
) -> tuple[list[str], list[Look]] | None:
    """Cells between two columns; None where a character takes no cell, or two."""
    texts: list[str] = []
    looks: list[Look] = []
    at = 0
    for text, style, control in segments:
        if control or not text:
            continue
        if at >= right:
            break
        if not (text.isascii() and text.isprintable()) and _graphemes(text) is not None:
            return None
        end = at + len(text)
        if end > left:
            if at < left or end > right:
                text = text[max(0, left - at) : right - at]
            texts += text
            looks += [styles.of(style, text)] * len(text)
        at = end
    return texts, looks


def _all_cells(segments: Iterable[Segment], styles: _Looks, limit: int) -> tuple[list[str], list[Look]]:
    """Cells up to a column, with an empty text behind each wide character."""
    texts: list[str] = []
    looks: list[Look] = []
    for text, style, control in segments:
        if control or not text:
            continue
        graphemes = None if text.isascii() and text.isprintable() else _graphemes(text)
        if graphemes is not None and graphemes[0] and texts:
            # A character was cut from what goes with it.
            texts[-1 if texts[-1] else -2] += graphemes[0]
        new = text if graphemes is None else graphemes[1:]
        texts += new
        looks += [styles.of(style, text)] * len(new)
    if len(texts) > limit:
        cut = texts[limit] == ""
        del texts[limit:], looks[limit:]
        if cut and texts:
            texts[-1] = " "
    return texts, looks
