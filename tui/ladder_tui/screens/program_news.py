"""What a program wrote that nobody has looked at, and whether it seems to wait for input."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass
from ladder_backends.session.state import Change, Run

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState

QUIET_AFTER = 0.5
"""Seconds without output after which half a line looks like a question."""

_OVER = (Run.NOTHING, Run.EXITED, Run.DEAD)
_LOOKS = re.compile(rb"(?:\x1b\[[0-?]*[ -/]*[@-~])+\Z")
"""Colours and cursor moves after the last character."""


@dataclass(slots=True)
class _Output:
    debug: DebugState
    unread: bool = False
    half_line: bool = False
    written: float = 0.0


class ProgramNews:
    """Follows the output of each rung's program, without reading more of it than its end.

    Args:
        clock: Seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._outputs: dict[str, _Output] = {}

    def _of(self, debug: DebugState) -> _Output:
        output = self._outputs.get(debug.place_name)
        if output is None or output.debug is not debug:
            output = self._outputs[debug.place_name] = _Output(debug)
        return output

    def note(self, debug: DebugState, change: Change, *, seen: bool) -> None:
        """Take in a change of a session.

        Args:
            debug: The session's state, after it.
            change: What differs.
            seen: The program's terminal is on the screen.
        """
        output = self._of(debug)
        if change & Change.PROGRAM and debug.program:
            output.unread = True
            output.written = self._clock()
            output.half_line = not _LOOKS.sub(b"", debug.program[-1][-256:]).endswith((b"\n", b"\r"))
        elif change & Change.RUN and debug.run is Run.STARTING:
            output.half_line = False
        if debug.run in _OVER:
            output.half_line = False
        if seen:
            output.unread = False

    def unread(self, debug: DebugState | None) -> bool:
        """Whether the program wrote something since its terminal was last on the screen."""
        return debug is not None and self._of(debug).unread

    def asks(self, debug: DebugState | None) -> bool:
        """Whether the program runs, and has been silent since it wrote half a line."""
        if debug is None or debug.run is not Run.RUNNING:
            return False
        output = self._of(debug)
        return output.half_line and self._clock() - output.written >= QUIET_AFTER
