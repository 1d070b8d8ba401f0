"""Breakpoints as what the user wants, and what an engine made of it."""

from __future__ import annotations

import enum

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.focus import Dim3
from ladder_backends.model.frame import Place


class BreakpointKind(enum.StrEnum):
    """What a breakpoint waits for."""

    CODE = "break"
    REGEX = "regex"
    WRITE = "watch"
    READ = "read watch"
    ACCESS = "access watch"
    CATCH = "catch"

    @property
    def watches(self) -> bool:
        """It waits for an expression's value, not for a place in the code."""
        return self in (BreakpointKind.WRITE, BreakpointKind.READ, BreakpointKind.ACCESS)


@dataclass(frozen=True, slots=True)
class SourceAnchor:
    """The text a breakpoint was set on, by which it is found again after the source was edited and built.

    Attributes:
        file: Absolute path of the source on this machine.
        line: 1-based line on which the text stood.
        text: The line without the blanks round it.
        before: The nearest line above that is not blank, likewise.
        after: The nearest line below that is not blank, likewise.
    """

    file: str
    line: int
    text: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class BreakpointIntent:
    """What the user asked for, independent of an engine.

    Attributes:
        id: Stable within a session; 1 and up, 0 for one that has none yet.
        location: By kind: `file:line`, a function name or `*0xaddress`; a regular expression of function names,
            behind `FILE:` or not; an expression; `throw`, `fork`, `signal SIGUSR1`, `syscall write`, `load libm`.
        condition: An expression of the target's language, or an empty string.
        temporary: Remove after the first hit.
        once: Switch off after the first hit.
        ignore: Hits that are passed over before the first stop, counted anew in each run of the program.
        log: Message that is written instead of stopping, with values in `{expression}`; empty where it stops.
        commands: Lines for the engine's command line, run at the stop.
        thread: The engine's number of the only thread it is for, or None.
        anchor: The text of the line it is on; None where it is on none, or the source is not here.
        scope: For a watch, the function in which it was set.
        block: On a GPU, the only block of the grid it is for, or None.
        lane: On a GPU, the only thread of a block it is for, or None.
    """

    id: int
    location: str
    condition: str = ""
    temporary: bool = False
    enabled: bool = True
    kind: BreakpointKind = BreakpointKind.CODE
    ignore: int = 0
    once: bool = False
    log: str = ""
    commands: tuple[str, ...] = ()
    thread: int | None = None
    anchor: SourceAnchor | None = None
    scope: str = ""
    block: Dim3 | None = None
    lane: Dim3 | None = None


class BindingState(enum.StrEnum):
    """What became of an intent on the engine of this rung."""

    SET = "set"
    PENDING = "pending"
    MOVED = "moved"
    UNSUPPORTED = "unsupported"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class BoundLocation:
    """One of the places that an intent came to be bound to; a template has one for each instance.

    Attributes:
        number: The engine's number: `3.2`, or `14` where each place is a breakpoint of its own.
        process: The engine's name of the only process it is in, or an empty string.
    """

    number: str
    place: Place | None = None
    function: str = ""
    address: str = ""
    enabled: bool = True
    process: str = ""


@dataclass(frozen=True, slots=True)
class BreakpointBinding:
    """An intent on one engine.

    Attributes:
        intent: What was asked for; a breakpoint typed in the console gets an intent of its own.
        number: The engine's number, or an empty string where it has none.
        places: Each line it resolved to.
        hits: How often it was hit, as the engine counts.
        why: The reason for any state but SET; for that one, what to know of it, as that it is slow.
        functions: The functions it lies in.
        locations: Where there are several, each of them.
        left: Hits that are still to be passed over.
        addresses: Where it lies in the code, as hex strings.
    """

    intent: BreakpointIntent
    state: BindingState
    number: str = ""
    places: tuple[Place, ...] = ()
    hits: int = 0
    why: str = ""
    functions: tuple[str, ...] = ()
    locations: tuple[BoundLocation, ...] = ()
    left: int = 0
    addresses: tuple[str, ...] = ()
