"""What an engine says of a recorded execution in words alone, beside a stop that names no reason."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ladder_backends.mi.records import Value
from ladder_backends.model.stop_reasons import NO_HISTORY, RECORDED_EXIT, UNRECORDABLE

_END = "No more reverse-execution history"
_EXIT = "Process record: inferior program stopped"
_UNKNOWN = re.compile(r"Process record(?: does not support|: failed to record|: the current)")


class HistoryWords:
    """Remembers what was said since the target ran last.

    Attributes:
        recording: Execution is recorded.
    """

    def __init__(self) -> None:
        self.recording = False
        self._end = self._exit = self._unknown = False

    def forget(self) -> None:
        """The target runs again."""
        self._end = self._exit = self._unknown = False

    def hear(self, line: str) -> None:
        """Take one line of the console or log stream."""
        if _END in line:
            self._end = True
        elif _EXIT in line:
            self._exit = True
        elif _UNKNOWN.search(line):
            self._unknown = True

    def reason(self, results: Mapping[str, Value], function: str) -> tuple[str, str] | None:
        """Reason and words of a stop that the recording caused; None for any other.

        Args:
            results: Of the stop's record.
            function: Where it stands; tells an exit where the words for that come late or nowhere.
        """
        told = results.get("reason")
        unasked = self.recording and results.get("signal-name") == "0"
        if (self._exit and (told is None or unasked)) or (unasked and not self._unknown and "_exit" in function):
            return RECORDED_EXIT, "about to exit"
        if unasked or (self._unknown and told is None):
            return UNRECORDABLE, "cannot record on"
        if told == NO_HISTORY or (told is None and self._end):
            return NO_HISTORY, "end of the recording"
        return None
