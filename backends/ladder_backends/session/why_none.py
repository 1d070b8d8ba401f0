"""Why a view is empty: an engine or a recording did not answer, or has nothing to show."""

from __future__ import annotations

from ladder_backends.errors import DeadlinePassed, LadderError, NotRecorded
from ladder_backends.model.frame import Frame

_NO_LOCALS = "no arguments or locals"
_NO_SYMBOLS = "no debug information here: build it with -g to see variables"
_NO_PROGRAM = "no variables without the program: name it after the core"


def why_none(error: LadderError) -> str:
    """In few words, why something could not be read."""
    if isinstance(error, NotRecorded):
        return "not in this recording"
    if isinstance(error, DeadlinePassed):
        return "the engine did not answer in time"
    return error.line()


def why_no_variables(frame: Frame, missing_program: str) -> str:
    """Why a frame has no variables; `missing_program` names one that a core needs and that was not found."""
    if frame.place is not None:
        return _NO_LOCALS
    return _NO_PROGRAM if frame.function == "??" and missing_program else _NO_SYMBOLS


def status_words(status: int | None) -> str:
    """How an engine ended, in brackets: ` (signal 6)`; empty where it is not known."""
    if status is None:
        return ""
    return f" (signal {-status})" if status < 0 else f" (status {status})"
