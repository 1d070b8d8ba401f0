"""A theme file that is being edited is drawn as it is saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


async def watch_themes(folder: Path, changed: Callable[[], None]) -> None:
    """Call `changed` after a theme file in `folder` was written; runs until it is cancelled."""
    # Imported only where there are themes to watch: it costs as much as a fifth of the start.
    from watchfiles import awatch

    async for changes in awatch(folder, recursive=False, step=100):
        if any(name.endswith(".toml") for _, name in changes):
            changed()
