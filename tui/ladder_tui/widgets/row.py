"""Rows of styled plain text, how they become strips, and what differs between two strips.

Text in a row is content: it is measured in terminal cells, cut with `…`, and never read as markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, set_cell_size, split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ladder_backends.text import clean_line

Styler = Callable[[str], Style]
Piece: TypeAlias = "tuple[str, Style | None, object]"
"""Text and style; a segment is one, too."""

_WORTH_A_MOVE = 8


class Cell(NamedTuple):
    """A piece of a row.

    Attributes:
        style: A semantic name of the theme.
        target: What a click on it means to the pane, or None.
    """

    text: str
    style: str = "text"
    target: object = None


class Row(NamedTuple):
    """One line of a view.

    Attributes:
        cells: From the left.
        end: Flush right; the left part is cut before this is.
        target: What Enter or a click on the row means to the pane, or None.
        pinned: How many of the first cells stay when the view scrolls sideways.
    """

    cells: tuple[Cell, ...] = ()
    end: tuple[Cell, ...] = ()
    target: object = None
    pinned: int = 0

    def text(self) -> str:
        """The row as plain text, without its right part."""
        return "".join(cell.text for cell in self.cells)


EMPTY = Row()


def printable(text: str) -> str:
    """Text that cannot move the cursor or colour the screen; clean text is returned as it is."""
    return text if text.isprintable() else clean_line(text)


def size_of(text: str) -> int:
    """Terminal cells that a printable text takes."""
    return len(text) if text.isascii() else cell_len(text)


def width_of(cells: Iterable[Cell]) -> int:
    """Terminal cells that the texts take."""
    texts = [text for text, _, _ in cells]
    told = "".join(texts)
    if told.isascii() and told.isprintable():
        return len(told)
    return sum([size_of(printable(text)) for text in texts])


def cut(text: str, room: int) -> str:
    """Text that fits in `room` cells; `…` stands for what was cut."""
    if size_of(text) <= room:
        return text
    if room <= 1:
        return "…"[:room]
    return set_cell_size(text, room - 1).rstrip() + "…"


def cut_front(text: str, room: int) -> str:
    """Like `cut`, for a path: its end, which tells it from others, is what stays."""
    surplus = size_of(text) - room
    return text if surplus <= 0 else "…" + skip_cells(text, surplus + 1)


def skip_cells(text: str, count: int) -> str:
    """Text without its first `count` cells; half of a wide character becomes a space."""
    if text.isascii():
        return text[count:]
    spans, _ = split_graphemes(text)
    position = 0
    for start, _end, width in spans:
        if position >= count:
            return " " * (position - count) + text[start:]
        position += width
    return ""


def compose(row: Row, width: int, styler: Styler, shift: int = 0) -> Strip:
    """Lay a row out over exactly `width` cells, as `segments_of` does."""
    return Strip(joined(segments_of(row, width, styler, shift)), width)


def segments_of(row: Row, width: int, styler: Styler, shift: int = 0) -> list[Segment]:
    """Lay a row out over exactly `width` cells.

    Args:
        row: What to draw.
        width: Terminal cells.
        styler: Semantic name to style.
        shift: Cells scrolled sideways; the row's pinned cells stay.
    """
    segments: list[Segment] = []
    end_width = min(width_of(row.end), max(0, width - 4)) if row.end else 0
    room = width - end_width - (1 if end_width else 0)
    used = 0
    hides = shift > 0
    for index, cell in enumerate(row.cells):
        text = printable(cell.text)
        if shift and index >= row.pinned:
            size = size_of(text)
            text = skip_cells(text, shift)
            shift = max(0, shift - size)
        if not text:
            continue
        if hides and not shift and index >= row.pinned:
            text, hides = "…" + skip_cells(text, 1), False
        size = size_of(text)
        if used + size > room:
            if text.strip() or any(later.text.strip() for later in row.cells[index + 1 :]):
                text = cut(text + " …", room - used) if room > used else ""
                if not text and segments:
                    # What fits ends where a cell does: its last character gives way to the mark of what does not.
                    last, style, _ = segments[-1]
                    segments[-1] = Segment(set_cell_size(cut(last + " …", size_of(last)), size_of(last)), style)
            if text:
                text = set_cell_size(text, room - used)
                segments.append(Segment(text, styler(cell.style)))
            used = room
            break
        segments.append(Segment(text, styler(cell.style)))
        used += size
    if used < width - end_width:
        segments.append(Segment(" " * (width - end_width - used), styler("text")))
    for cell in row.end:
        text = cut(printable(cell.text), end_width)
        if not text:
            break
        end_width -= size_of(text)
        segments.append(Segment(text, styler(cell.style)))
    if end_width > 0 and row.end:
        segments.append(Segment(" " * end_width, styler("text")))
    return segments


def pieces_of(row: Row, width: int, styler: Styler, shift: int = 0) -> Sequence[Piece]:
    """What `segments_of` gives, as text and style alone where nothing is to be cut, which is nearly always."""
    return (None if shift else _pieces_that_fit(row, width, styler)) or segments_of(row, width, styler, shift)


def _pieces_that_fit(row: Row, width: int, styler: Styler) -> list[Piece] | None:
    """For printable text that is not cut; None for any other."""
    cells, end, _, _ = row
    told = "".join([text for text, _, _ in cells])
    last = "".join([text for text, _, _ in end])
    if not (told.isprintable() and last.isprintable()):
        return None
    last_width = size_of(last)
    room = width - size_of(told) - (last_width + 1 if last else 0)
    if room < 0 or last_width > width - 4:
        return None
    pieces: list[Piece] = [(text, styler(style), None) for text, style, _ in cells if text]
    if room or last:
        pieces.append((" " * (room + 1 if last else room), styler("text"), None))
        pieces += [(text, styler(style), None) for text, style, _ in end if text]
    return pieces


def hidden_width(row: Row, width: int) -> int:
    """How many cells of a row's left part do not fit into `width` beside its right part."""
    end_width = min(width_of(row.end), max(0, width - 4)) if row.end else 0
    return max(0, width_of(row.cells) - (width - end_width - (1 if end_width else 0)))


def joined(pieces: Iterable[Piece]) -> list[Segment]:
    """Fewer segments that look the same: each one costs some twenty bytes of colour codes on its way out."""
    out: list[Segment] = []
    last: Style | None = None
    last_text = ""
    for text, style, _ in pieces:
        if last_text:
            if style is last or (text.isspace() and _same_when_blank(last, style)):
                last_text += text
                continue
            if last_text.isspace() and _same_when_blank(style, last):
                last_text, last = last_text + text, style
                continue
            out.append(Segment(last_text, last))
        last, last_text = style, text
    if last_text:
        out.append(Segment(last_text, last))
    return out


@lru_cache(maxsize=4096)
def _same_when_blank(style: Style | None, other: Style | None) -> bool:
    """Whether blanks of `other` may be drawn in `style`."""
    if style is None or other is None:
        return style == other
    plain = not (style.reverse or style.underline or other.reverse or other.underline)
    return plain and style.bgcolor == other.bgcolor


def cell_at(row: Row, x: int, width: int, shift: int = 0) -> Cell | None:
    """The cell of a composed row at column `x`, or None on blank space."""
    end_width = min(width_of(row.end), max(0, width - 4)) if row.end else 0
    position = 0
    if x >= width - end_width:
        position = width - end_width
        for cell in row.end:
            position += cell_len(printable(cell.text))
            if x < position:
                return cell
        return None
    for index, cell in enumerate(row.cells):
        size = cell_len(printable(cell.text))
        if shift and index >= row.pinned:
            gone = min(size, shift)
            shift -= gone
            size -= gone
        position += size
        if x < position:
            return cell
    return None


def _one_cell_each(text: str) -> bool:
    return text.isascii() or _is_narrow(text)


@lru_cache(maxsize=4096)
def _is_narrow(text: str) -> bool:
    return all(cell_len(character) == 1 for character in text)


def changed_spans(old: Strip, new: Strip) -> list[tuple[int, int]]:
    """The columns, from and up to, in which two strips of equal width differ, in order.

    What lies between two differences is sent too where that is shorter than to move there.
    """
    before, after = _runs(old), _runs(new)
    if before is None or after is None:
        span = changed_span(old, new)
        return [span] if span is not None else []
    spans: list[tuple[int, int]] = []
    i = j = x = 0
    while i < len(before) and j < len(after):
        old_start, old_text, old_style = before[i]
        new_start, new_text, new_style = after[j]
        old_end, new_end = old_start + len(old_text), new_start + len(new_text)
        end = min(old_end, new_end)
        start, stop = x, end
        if old_style == new_style:
            one, other = old_text[x - old_start : end - old_start], new_text[x - new_start : end - new_start]
            if one == other:
                start = stop
            else:
                while one[start - x] == other[start - x]:
                    start += 1
                while one[stop - x - 1] == other[stop - x - 1]:
                    stop -= 1
        if start < stop:
            if spans and start - spans[-1][1] <= _WORTH_A_MOVE:
                spans[-1] = (spans[-1][0], stop)
            else:
                spans.append((start, stop))
        x = end
        i += old_end == end
        j += new_end == end
    return spans


def _runs(strip: Strip) -> list[tuple[int, str, Style | None]] | None:
    """Start, text and style of each segment; None where a character is not one cell wide."""
    runs = []
    x = 0
    for text, style, _ in strip:
        if not _one_cell_each(text):
            return None
        runs.append((x, text, style))
        x += len(text)
    return runs


def changed_span(old: Strip, new: Strip) -> tuple[int, int] | None:
    """The columns, from and up to, in which two strips of equal width differ; None where they do not."""
    before, after = list(old), list(new)
    start = 0
    while before and after and before[0] == after[0]:
        start += cell_len(after[0].text)
        del before[0], after[0]
    if not before and not after:
        return None
    end = new.cell_length
    while before and after and before[-1] == after[-1]:
        end -= cell_len(after[-1].text)
        del before[-1], after[-1]
    if before and after:
        start += _same_start(before[0], after[0])
        end -= _same_start(before[-1], after[-1], from_end=True)
    return (start, end) if start < end else None


def _same_start(old: Segment, new: Segment, from_end: bool = False) -> int:
    """Characters that two segments share at one end; 0 where widths or styles would make that unsafe."""
    if old.style != new.style or not (_one_cell_each(old.text) and _one_cell_each(new.text)):
        return 0
    pairs = (
        zip(reversed(old.text), reversed(new.text), strict=False)
        if from_end
        else zip(old.text, new.text, strict=False)
    )
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count
