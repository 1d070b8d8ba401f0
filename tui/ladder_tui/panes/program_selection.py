"""What is selected in a program's terminal, to be copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ladder_tui.widgets.terminal_row import TerminalRow


@dataclass(slots=True)
class Selection:
    """From one place to another, both included. Lines count from the program's first one, kept or not.

    Attributes:
        anchor: Line and column where it began.
        end: Line and column where it goes to, before or after the anchor.
        whole: Lines are selected whole, whatever the columns.
    """

    anchor: tuple[int, int]
    end: tuple[int, int]
    whole: bool = False

    @property
    def lines(self) -> range:
        """The lines that it touches."""
        first, last = sorted((self.anchor[0], self.end[0]))
        return range(first, last + 1)

    def span(self, line: int, columns: int) -> tuple[int, int] | None:
        """The columns of a line that are selected, from the first to before the last; None where none is."""
        if line not in self.lines:
            return None
        first, last = sorted((self.anchor, self.end))
        if self.whole:
            return 0, columns
        start = first[1] if line == first[0] else 0
        end = last[1] + 1 if line == last[0] else columns
        return min(start, columns), min(end, columns)

    def text(self, row_at: Callable[[int], TerminalRow | None], columns: int) -> str:
        """What is selected, as plain lines without trailing blanks; a line that took several rows is one again."""
        return "".join(self._texts(row_at, columns)).removesuffix("\n")

    def _texts(self, row_at: Callable[[int], TerminalRow | None], columns: int) -> Iterator[str]:
        for line in self.lines:
            row, span = row_at(line), self.span(line, columns)
            if row is not None and span is not None:
                whole = self.whole or span == (0, columns)
                piece = row if whole else row.part(*span)
                if row.wrapped:
                    # A blank at the edge is a blank within the line.
                    yield "".join(text for text, _ in piece.runs(columns))
                else:
                    yield f"{piece.plain()}\n"
