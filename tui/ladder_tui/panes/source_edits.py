"""What is said of a source that was edited after the program was built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ladder_backends.model.frame import file_name
from ladder_backends.session.moved_lines import line_now
from ladder_backends.session.sources import SourceFile, SourceState
from ladder_backends.session.state import Run
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState


class EditNews:
    """Tells once of an edited source in which a program or a dump stands, or of which a report speaks."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def words(self, debug: DebugState | None, source: SourceFile) -> str:
        """What there is to say, or an empty string."""
        run = debug.run if debug is not None else Run.NOTHING
        if source.state is not SourceState.EDITED or run not in (Run.NOTHING, Run.STOPPED, Run.DUMP):
            return ""
        told = source.note in self._told
        self._told.add(source.note)
        if debug is not None:
            name = clean_line(file_name(source.name))
            told |= any(f"{name} was edited" in one.text for one in debug.notices)
            # Of a process that was attached to nobody knows here when it was made.
            told |= run is Run.STOPPED and debug.build.program is None
        return "" if told else source.note


def index_now(before: Sequence[str], now: Sequence[str], index: int) -> int:
    """Where a line is that was at an index; the same index where that cannot be told."""
    found = line_now(before, now, index + 1) if before and now else None
    return found - 1 if found is not None else index
