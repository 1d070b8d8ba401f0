"""What happens to an engine and its target, as typed events.

A debugger turns records of its tool into these; the session turns them into state. Text in them is clean.
"""

from __future__ import annotations

from typing import TypeAlias

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.breakpoint import BreakpointBinding
from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame, Place
from ladder_backends.model.variable import Variable


@dataclass(frozen=True, slots=True)
class TargetRunning:
    """The target (or some thread of it) runs.

    Attributes:
        at: `time.monotonic()` when the record was read.
    """

    at: float


@dataclass(frozen=True, slots=True)
class TargetStopped:
    """The target stopped.

    Attributes:
        reason: The engine's word: `breakpoint-hit`, `signal-received`, `end-stepping-range`...
        description: The reason in a person's words: `SIGSEGV, Segmentation fault`.
        frame: The innermost frame, as far as the record told; no query was made for it.
        focus: Where the engine stands now, as far as the record told.
        at: `time.monotonic()` when the record was read.
        fault: The stop is a signal or exception rather than a step or breakpoint.
        returned: What a function returned that was run to its end, or None.
        origin: Where the fault was raised, as the engine told; the frame may stand past it. None elsewhere.
        meaning: What the fault means and what helps, in a sentence; or an empty string.
    """

    reason: str
    description: str
    frame: Frame | None
    focus: Focus | None
    at: float
    fault: bool = False
    returned: Variable | None = None
    origin: Place | None = None
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class TargetExited:
    """The target ended, or was let go.

    Attributes:
        code: Its exit status.
        signal: Name of the signal that ended it.
        words: How it was ended where that was asked for: `killed`, `detached`.
    """

    code: int | None = None
    signal: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class ThreadsChanged:
    """Threads were created or have ended.

    Attributes:
        created: Their ids, with the engine's name of their process.
        ended: Ids.
    """

    created: tuple[tuple[int, str], ...] = ()
    ended: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ThreadStopped:
    """In non-stop, a thread stopped that is not the focused one; the focus stays where it is."""

    thread: int
    stop: TargetStopped


@dataclass(frozen=True, slots=True)
class ThreadsRunning:
    """In non-stop, threads run now: their ids, or None for all of them."""

    threads: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class FocusEnded:
    """In non-stop, the focused thread has ended.

    Attributes:
        ended: Its id.
        now: The thread that the engine's commands speak of from now on.
        stop: Where that one stands, or None where it runs.
    """

    ended: int
    now: Focus
    stop: TargetStopped | None = None


@dataclass(frozen=True, slots=True)
class SettingChanged:
    """One of the engine's settings was changed in its command line: `scheduler-locking`, `on`."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class RecordingChanged:
    """The engine began to record the target's execution; it ended to where `method` is empty."""

    method: str


@dataclass(frozen=True, slots=True)
class BreakpointsChanged:
    """The engine's breakpoints differ from before; all of them are here."""

    bindings: tuple[BreakpointBinding, ...]


@dataclass(frozen=True, slots=True)
class LogWritten:
    """A log point wrote its message, and the target ran on.

    Attributes:
        intent: Id of the log point's intent.
        text: The message with its values.
    """

    intent: int
    text: str


@dataclass(frozen=True, slots=True)
class FocusChanged:
    """The engine's focus moved without a stop, for instance by a command typed in the console.

    Attributes:
        frame: The frame the engine has selected now, as far as the record told.
    """

    focus: Focus | None
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class ConsoleOutput:
    """The engine's command line wrote something; may be part of a line."""

    text: str


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """The debugged program wrote to its terminal. Raw bytes: the program pane interprets its escapes itself."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class EngineNotice:
    """One line the engine's user should see: a warning, a malformed record, a lost event."""

    text: str
    severity: str = "warning"


@dataclass(frozen=True, slots=True)
class EngineExited:
    """The engine process ended.

    Attributes:
        status: Exit status; negative is the number of the signal that ended it; None where unknown.
        expected: It was asked to.
        last_words: The last lines it wrote, clean.
    """

    status: int | None
    expected: bool
    last_words: str = ""


Event: TypeAlias = (
    TargetRunning
    | TargetStopped
    | TargetExited
    | ThreadsChanged
    | ThreadStopped
    | ThreadsRunning
    | FocusEnded
    | SettingChanged
    | RecordingChanged
    | BreakpointsChanged
    | LogWritten
    | FocusChanged
    | ConsoleOutput
    | ProgramOutput
    | EngineNotice
    | EngineExited
)
