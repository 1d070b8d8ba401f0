"""One engine's machine interface: numbered commands become answers, everything else becomes records in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ladder_backends.mi.records import AsyncRecord, ResultRecord, StreamRecord, UnknownRecord
from ladder_backends.mi.transport import Channel, Transport

Notice: TypeAlias = AsyncRecord | StreamRecord | UnknownRecord


@dataclass(frozen=True, slots=True)
class PendingCommand:
    """A command without an answer yet. `age` is in seconds."""

    text: str
    age: float


class MiSession:
    """Numbered commands over a transport.

    Answers are matched by token alone, never by prompts. A late answer to a command that was cancelled or passed its
    deadline is dropped. When the engine ends, every pending command fails with `EngineDied`.
    """

    def __init__(self, transport: Transport) -> None:
        raise NotImplementedError

    def listen(
        self,
        *,
        notice: Callable[[Notice], None],
        stream: Callable[[Channel, bytes], None],
        ended: Callable[[int | None, bool], None],
    ) -> None:
        """Set the callbacks: MI records that answer no command; bytes of the other channels; the end (status, expected)."""
        raise NotImplementedError

    async def start(self) -> None:
        """Open the transport and wait until the machine interface answers."""
        raise NotImplementedError

    async def command(self, text: str, *, deadline: float | None = 10.0) -> ResultRecord:
        """Send `-...` without a token and wait for its answer.

        Args:
            text: The command; newlines are refused.
            deadline: Seconds, or None for no limit.

        Raises:
            CommandFailed: The engine answered with an error.
            DeadlinePassed: No answer in time.
            EngineDied: The engine ended, or had ended.
            NotRecorded: A recording stands in and does not hold the answer.
        """
        raise NotImplementedError

    def pending(self) -> Sequence[PendingCommand]:
        """Commands without an answer, oldest first."""
        raise NotImplementedError

    @property
    def alive(self) -> bool:
        """The engine has been started and has not ended."""
        raise NotImplementedError

    def send(self, channel: Channel, chunk: bytes) -> None:
        """Type into the command line or the program's terminal."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """Interrupt the engine's own work."""
        raise NotImplementedError

    async def close(self) -> None:
        """`-gdb-exit`, then close all terminals together, then wait."""
        raise NotImplementedError
