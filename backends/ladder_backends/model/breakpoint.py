"""Breakpoints as what the user wants, and what an engine made of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ladder_backends.model.frame import Place


@dataclass(frozen=True, slots=True)
class BreakpointIntent:
    """What the user asked for, independent of an engine.

    Attributes:
        id: Stable within a session; 1 and up.
        location: `file:line`, a function name or `*0xaddress`.
        condition: An expression of the target's language, or an empty string.
        temporary: Remove after the first hit.
    """

    id: int
    location: str
    condition: str = ""
    temporary: bool = False
    enabled: bool = True


class BindingState(enum.StrEnum):
    """What became of an intent on the engine of this rung."""

    SET = "set"
    PENDING = "pending"
    MOVED = "moved"
    UNSUPPORTED = "unsupported"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class BreakpointBinding:
    """An intent on one engine.

    Attributes:
        intent: What was asked for; a breakpoint typed in the console gets an intent of its own.
        number: The engine's number, or an empty string where it has none.
        places: Each location it resolved to.
        hits: How often it was hit, as the engine counts.
        why: The reason for any state but SET.
        functions: The functions it lies in.
    """

    intent: BreakpointIntent
    state: BindingState
    number: str = ""
    places: tuple[Place, ...] = ()
    hits: int = 0
    why: str = ""
    functions: tuple[str, ...] = ()
