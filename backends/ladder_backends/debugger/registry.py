"""Discovery of debuggers through the entry point group `ladder.debuggers`.

Names can be listed without importing anything; a debugger that fails to import is a reason to show, never an end.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING, cast

from ladder_backends.debugger.contract import Debugger
from ladder_backends.errors import EngineMissing
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "ladder.debuggers"

_OURS = {"gdb": "ladder_backends.gdb:GdbDebugger", "cuda-gdb": "ladder_backends.cuda_gdb:CudaGdbDebugger"}
"""What this distribution registers, known without a search through all that is installed."""


@functools.cache
def _entries() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def debugger_names() -> tuple[str, ...]:
    """Registered names; imports no debugger."""
    return tuple(sorted(_entries()))


def load_debugger(name: str) -> type[Debugger]:
    """The debugger class registered under `name`.

    Raises:
        EngineMissing: No such name, or its package fails to import or does not keep the contract.
    """
    if name in _OURS:
        module, _, kind = _OURS[name].partition(":")
        return cast("type[Debugger]", getattr(import_module(module), kind))
    entry = _entries().get(name)
    if entry is None:
        raise EngineMissing(
            f"no debugger is called {clean_line(name)!r}",
            f"registered are {', '.join(debugger_names()) or 'none'}",
            "install the package that provides it",
        )
    try:
        loaded = entry.load()
    except Exception as error:
        raise EngineMissing(
            f"the debugger {name!r} does not load",
            clean_line(f"{type(error).__name__}: {error}"),
            f"repair or remove the package that registers {entry.value}",
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Debugger)):
        raise EngineMissing(f"{entry.value} is no debugger", "it does not derive from Debugger")
    return loaded
