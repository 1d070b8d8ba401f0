"""Run the backends without a screen: one event loop, settings applied, everything closed at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from ladder_backends.session.ladder import Ladder
    from ladder_tui.config import Settings

Answer = TypeVar("Answer")


def apply_settings(theme: str | None = None) -> Settings:
    """Load the user's settings, tell the backends where engines are, and open the log file."""
    from ladder_backends.let_in import configure_let_in
    from ladder_backends.paths import configure_engines
    from ladder_tui.config import load_settings
    from ladder_tui.log_file import open_log

    settings = load_settings(theme=theme)
    configure_engines(settings.engines)
    configure_let_in(settings.let_in)
    open_log(settings.log_level)
    return settings


def with_ladder(work: Callable[[Ladder], Awaitable[Answer]], *, record: Path | None = None) -> Answer:
    """Give `work` a ladder with the user's settings; its sessions are closed whatever happens."""
    from ladder_backends.session.ladder import Ladder

    settings = apply_settings()

    async def run() -> Answer:
        ladder = Ladder(source_roots=settings.source_roots, record=record)
        ladder.non_stop, ladder.at_fork = settings.non_stop, settings.at_fork
        try:
            return await work(ladder)
        finally:
            await ladder.close()

    return asyncio.run(run())
