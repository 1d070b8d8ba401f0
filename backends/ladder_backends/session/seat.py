"""Two sessions of one rung: a dump, into which one jumps at once, and a live program, where stepping is wanted."""

from __future__ import annotations

import enum

from ladder_backends.debugger.target import CoreTarget, GpuDumpTarget, Target


class Seat(enum.StrEnum):
    """What kind of target a session holds; a rung has room for one of each."""

    LIVE = "live"
    DUMP = "dump"

    @property
    def other(self) -> Seat:
        """The other kind."""
        return Seat.LIVE if self is Seat.DUMP else Seat.DUMP


def seat_of(target: Target) -> Seat:
    """Where a target is opened."""
    return Seat.DUMP if isinstance(target, GpuDumpTarget | CoreTarget) else Seat.LIVE
