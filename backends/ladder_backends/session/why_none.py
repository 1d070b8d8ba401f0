"""Why a view is empty, where an engine or a recording did not answer."""

from __future__ import annotations

from ladder_backends.errors import DeadlinePassed, LadderError, NotRecorded


def why_none(error: LadderError) -> str:
    """In few words, why something could not be read."""
    if isinstance(error, NotRecorded):
        return "not in this recording"
    if isinstance(error, DeadlinePassed):
        return "the engine did not answer in time"
    return error.line()
