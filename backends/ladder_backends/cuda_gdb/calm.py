"""The moment in which it is known where the engine's one focus stands."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.gdb.debugger import GdbDebugger

_MOVES = ("-cuda-focus-switch", "-thread-select", "-stack-select-frame", "-exec-")
_AGAIN = 0.01


async def until_calm(engine: GdbDebugger) -> None:
    """Wait until nothing is on its way that moves the focus; what has just arrived gets its turn first.

    Commands that are submitted in the same turn of the event loop are answered where the engine is known to stand,
    and one that leads back there leads nobody astray.
    """
    quiet = 0
    while True:
        moving = engine.console_works or any(text.startswith(_MOVES) for text, _ in engine.pending())
        quiet = 0 if moving else quiet + 1
        if quiet == 2:
            return
        await asyncio.sleep(_AGAIN if moving else 0)
