"""What a user does with the terminals of a session: the engine's command line and the program's own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ladder_backends.errors import LadderError

if TYPE_CHECKING:
    from ladder_backends.debugger.contract import Debugger
    from ladder_backends.session.typed_ahead import TypedAhead


class TerminalActs:
    """The part of a `DebugSession` that is about terminals; what fails is one notice."""

    debugger: Debugger
    _typed_ahead: TypedAhead
    _program_size: tuple[int, int] | None

    def _told(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    async def console(self, line: str) -> None:
        """Type a line into the engine's command line, as soon as it listens; whatever it changed is followed."""
        if self._typed_ahead.holds:
            self._typed_ahead.hold(line)
        else:
            await self._type(line)

    async def _type(self, line: str) -> None:
        with self._told():
            await self.debugger.console(line)

    async def complete(self, text: str) -> Sequence[str]:
        """The engine's completions; none where it cannot be asked."""
        if self._typed_ahead.holds:
            return ()
        try:
            return await self.debugger.complete(text)
        except LadderError:
            return ()

    def type_to_program(self, raw: bytes) -> None:
        """Keys for the program's terminal."""
        self.debugger.type_to_program(raw)

    def resize_program(self, columns: int, rows: int) -> None:
        """Size of the program's terminal."""
        self._program_size = (columns, rows)
        self.debugger.resize_program(columns, rows)
