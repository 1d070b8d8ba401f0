"""Bounded logs of what an engine and its target write."""

from __future__ import annotations

from ladder_backends.session.state import DebugState

LINE_LENGTH = 4_000
"""Characters of a console line; a longer one is continued on the next."""

PROGRAM_BYTES = 4 << 20
"""Bytes of the program's output that are kept."""

_CHUNK = 4_096
"""Bytes up to which pieces are joined: a program that writes byte by byte loses no more than one that does not."""


class OutputLog:
    """Writes the console and program part of a `DebugState`, and counts what had to go."""

    def __init__(self, state: DebugState) -> None:
        self._state = state
        self._program_bytes = sum(map(len, state.program))

    def console(self, text: str) -> None:
        """Add text of the engine's command line; it may end, and go on, within a line."""
        state = self._state
        lines = state.console
        for number, piece in enumerate(text.split("\n")):
            if number or not lines:
                self._add_line("")
            while len(lines[-1]) + len(piece) > LINE_LENGTH:
                room = LINE_LENGTH - len(lines[-1])
                lines[-1] += piece[:room]
                piece = piece[room:]
                self._add_line("")
            lines[-1] += piece

    def program(self, raw: bytes) -> None:
        """Add bytes of the program's terminal."""
        state = self._state
        if len(raw) > PROGRAM_BYTES:
            state.program_dropped += len(raw) - PROGRAM_BYTES
            raw = raw[-PROGRAM_BYTES:]
        self._program_bytes += len(raw)
        if state.program and len(state.program[-1]) + len(raw) <= _CHUNK:
            state.program[-1] += raw
            return
        while state.program and (self._program_bytes > PROGRAM_BYTES or len(state.program) == state.program.maxlen):
            dropped = len(state.program.popleft())
            self._program_bytes -= dropped
            state.program_dropped += dropped
        state.program.append(raw)

    def begin_run(self) -> None:
        """Begin a line for what a new run writes, where the run before ended within one."""
        if self._state.program and not self._state.program[-1].endswith(b"\n"):
            self.program(b"\r\n")

    def _add_line(self, line: str) -> None:
        lines = self._state.console
        if len(lines) == lines.maxlen:
            self._state.console_dropped += 1
        lines.append(line)
