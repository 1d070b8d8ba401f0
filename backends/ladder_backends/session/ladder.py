"""The ladder: findings, one debug session per rung, and the way from a finding into its lane."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ladder_backends.debugger.target import Target
from ladder_backends.model.finding import Finding
from ladder_backends.session.debug_session import DebugSession, Subscriber
from ladder_backends.session.jump import JumpOutcome
from ladder_backends.session.sources import SourceFile
from ladder_backends.session.state import LadderState


class Ladder:
    """Everything that is open, over all rungs. Screens and headless commands hold one."""

    state: LadderState
    sessions: dict[str, DebugSession]

    def __init__(self) -> None:
        raise NotImplementedError

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Changes of the ladder and of every session on it."""
        raise NotImplementedError

    @property
    def active(self) -> DebugSession | None:
        """The session of the rung on screen; on the sanitizer rung, the one that jumps go to."""
        raise NotImplementedError

    def switch_rung(self, rung: str) -> None:
        """Show another rung; nothing is lost on the one left."""
        raise NotImplementedError

    async def open_target(self, target: Target, *, debugger: str | None = None) -> DebugSession:
        """Open a program, process, core or GPU dump on the rung that fits it (or on the named debugger)."""
        raise NotImplementedError

    async def open_files(self, paths: tuple[Path, ...]) -> None:
        """Open a case, or any combination of report, GPU dump, executable and recording, told apart by content."""
        raise NotImplementedError

    async def jump(self, finding: Finding, side: int = 0) -> JumpOutcome:
        """Stand in the finding's lane; state and outcome tell what was asked and what was reached."""
        raise NotImplementedError

    def source(self, file: str, fullname: str = "") -> SourceFile:
        """Find the source file a tool names; says when it is missing, ambiguous or edited since."""
        raise NotImplementedError

    async def close(self) -> None:
        """End every session."""
        raise NotImplementedError
