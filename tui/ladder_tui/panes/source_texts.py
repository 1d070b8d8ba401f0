"""Source files as the source pane shows them: lines, colours, and which reading of a file."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ladder_backends.model.frame import Place, file_name
from ladder_backends.session.sources import SourceFile, SourceState
from ladder_tui.highlight import Line, can_highlight, expand, highlight

if TYPE_CHECKING:
    from ladder_backends.session.ladder import Ladder

_KEPT_FILES = 12


class SourceText:
    """One file.

    Attributes:
        source: Where it was found, and its lines as they are in the file.
        lines: The lines as they are shown.
        colours: Cells of each line; None where it has no colours yet.
        as_built: It is what the program was built from.
        colouring: Its colours are being worked out, or are there.
    """

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.as_built = source.state is SourceState.FOUND
        self.lines = [expand(line) for line in source.lines]
        self.colours: list[Line | None] = [None] * len(self.lines)
        self.colouring = False

    def colour(self, line: int, height: int, done: Callable[[], None]) -> Coroutine[Any, Any, None]:
        """Work out the colours, those within `height` lines of a 0-based line first; calls `done` for each part."""
        view = range(max(0, line - height), min(len(self.lines), line + height))
        return highlight(file_name(self.source.name), self.lines, self.colours, view, done)


class SourceTexts:
    """The files that were shown last, each read again only where it has changed."""

    def __init__(self, ladder: Ladder, colour: Callable[[SourceText, int], None]) -> None:
        self._ladder = ladder
        self._colour = colour
        self._kept: dict[tuple[str, str], SourceText] = {}

    def at(self, place: Place) -> SourceText:
        """The file of a place."""
        key = (place.file, place.fullname)
        text = self._kept.get(key)
        if text is None or text.source.path is not None or not text.lines:
            # It may have been edited, and the program built again, since it was read; the finder reads only then.
            source = self._ladder.source(*key, place.line)
            if text is not None and text.as_built and source.state is SourceState.EDITED:
                # What was read before the edit is what the program was built from.
                text.source = replace(source, lines=text.source.lines)
            elif text is None or (source.lines and source.lines is not text.source.lines):
                self._kept.pop(key, None)
                if len(self._kept) >= _KEPT_FILES:
                    self._kept.pop(next(iter(self._kept)))
                text = self._kept[key] = SourceText(source)
            elif source.lines or not text.lines:
                text.source = source
        if not text.colouring and text.lines and can_highlight(file_name(place.file)):
            text.colouring = True
            self._colour(text, place.line - 1)
        return text

    def forget(self, place: Place) -> None:
        """Read the file of a place again when it is shown."""
        self._kept.pop((place.file, place.fullname), None)
