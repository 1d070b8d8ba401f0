"""Lines for a command line that were typed before its engine listens: held, and sent in order once it does."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

from ladder_backends.debugger.contract import Capability
from ladder_backends.session.state import Change, DebugState
from ladder_backends.text import clean_line


class TypedAhead:
    """Holds lines while an engine opens.

    Args:
        state: Its `typed_ahead` counts what waits.
        tell: Notifies of a change.
        notice: Tells the user one line.
    """

    def __init__(
        self, state: DebugState, tell: Callable[[Change], None], notice: Callable[[str, str], None]
    ) -> None:
        self._state = state
        self._tell = tell
        self._notice = notice
        self._lines: deque[str] = deque()
        self.holds = False

    def begin(self) -> None:
        """Hold what is typed from now on."""
        self.holds = True

    def hold(self, line: str) -> None:
        """Keep a line for later."""
        self._lines.append(line)
        self._count()

    async def send(self, console: Callable[[str], Awaitable[None]]) -> None:
        """Type what was held; lines that come meanwhile follow it."""
        if self._lines and not self._state.capabilities & Capability.CONSOLE:
            self.drop("this engine has no command line")
        try:
            while self._lines:
                line = self._lines.popleft()
                self._count()
                await console(line)
        finally:
            self.holds = False

    def drop(self, why: str) -> None:
        """The engine will not listen: say which lines were not sent, as far as there were any."""
        lines, self.holds = list(self._lines), False
        self._lines.clear()
        self._count()
        if lines:
            more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
            self._notice(f"not sent: {clean_line(lines[0])[:60]}{more} — {why}", "warning")

    def _count(self) -> None:
        self._state.typed_ahead = len(self._lines)
        self._tell(Change.CONSOLE)
