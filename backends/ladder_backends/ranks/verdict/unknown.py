"""Why nothing is known of a job's ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ladder_backends.model.ranks import Evidence


def why_unknown(now: Evidence, silent: Mapping[int, str], world: Sequence[int]) -> str:
    """A clause after a colon, or an empty string where there is no one reason for all.

    Args:
        now: The newest look.
        silent: Ranks that told nothing, and why.
        world: All ranks of the job.
    """
    if now.job.ranks and not now.activity and len(now.unreachable) >= len(now.job.ranks):
        return ": all of them ended before they were looked at"
    reasons = set(silent.values()) - {""}
    if len(reasons) == 1 and len(silent) == len(world):
        return f": {reasons.pop()}"
    notes = {reading.note for reading in now.readings if reading.note}
    return f": {notes.pop()}" if len(notes) == 1 else ""
