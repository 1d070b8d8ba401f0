"""How bytes reach an engine: three channels, whatever is behind them.

An engine has a command line (`cli`), a machine interface (`mi`) and the debugged program's terminal
(`program`). A transport carries bytes on each; it is a real process on three pseudo-terminals, a recording, or
a recorder round another transport. The code above cannot tell which.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Protocol, TypeAlias

from ladder_backends.late_dataclass import dataclass


class Channel(enum.StrEnum):
    """A stream of an engine; the values are those of the recording format."""

    CLI = "cli"
    MI = "mi"
    PROGRAM = "program"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class EngineCommand:
    """How to start an engine.

    Attributes:
        engine: Name for recordings and messages: `gdb`, `cuda-gdb`.
        argv: Program and arguments, without those that wire up the terminals.
        environment: Variables set or, with None, removed for the engine.
        core_size_zero: Start with a core file limit of zero; engines on GPU dumps abort on bad input.
        expendable: The engine never holds a living process, only files; it may be killed where it does not end.
    """

    engine: str
    argv: Sequence[str]
    directory: Path | None = None
    environment: Mapping[str, str | None] = field(default_factory=dict)
    core_size_zero: bool = False
    expendable: bool = False


Receive: TypeAlias = Callable[[Channel, bytes], None]
Ended: TypeAlias = Callable[[int | None], None]


class Transport(Protocol):
    """Bytes to and from an engine. All calls and callbacks are on the event loop's thread.

    Attributes:
        engine: The engine's name for messages.
    """

    engine: str

    async def open(self, receive: Receive, ended: Ended) -> None:
        """Start; `receive` is called with every chunk, `ended` once with the exit status (None: unknown).

        Raises:
            EngineMissing: The engine cannot be started.
        """

    def send(self, channel: Channel, chunk: bytes) -> None:
        """Queue bytes for a channel; never blocks, keeps order. Bytes for an ended engine are dropped."""

    def interrupt(self) -> None:
        """Interrupt the engine's own work (SIGINT to the engine, by pid)."""

    def resize(self, channel: Channel, columns: int, rows: int) -> None:
        """Set the size of a channel's terminal."""

    def forget_input(self, channel: Channel) -> None:
        """Drop what was sent to a channel's terminal and not read yet."""

    def keep_program(self) -> None:
        """The program lives on without the engine: its terminal outlives this transport."""

    def abandon(self) -> None:
        """End an engine outright (SIGKILL) that is stuck before it holds a target: nothing else reaches it."""

    async def close(self) -> None:
        """Close all channels together and wait for the engine.

        No signal goes to an engine that may hold a target.
        """
