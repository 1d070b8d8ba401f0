"""Discovery of debuggers through the entry point group `ladder.debuggers`.

Names can be listed without importing anything; a debugger that fails to import is a reason to show, never an end.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING, cast

from ladder_backends import rungs
from ladder_backends.debugger.contract import Debugger
from ladder_backends.errors import EngineMissing
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "ladder.debuggers"

_OURS = {rung.name: rung.entry_point for rung in rungs.OURS if rung.entry_point}
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


def find_rungs() -> bool:
    """Look for debuggers of other packages and give those with a rung of their own a place on the ladder.

    Imports them, so not before the first paint and not on an event loop. One that does not load stands there too,
    and says why.

    Returns:
        Whether there are other rungs than before.
    """
    found: dict[str, rungs.Rung] = {}
    for name in _entries().keys() - _OURS.keys():
        shown = clean_line(name)
        try:
            kind = load_debugger(name)
            rung = rungs.added_rung(
                clean_line(kind.rung),
                name,
                answers=kind.rung_answers,
                device=kind.rung_device,
                opens=kind.rung_opens,
            )
        except EngineMissing as error:
            rung = rungs.added_rung(shown, name, missing=error.line())
        except Exception as error:
            why = clean_line(f"{type(error).__name__}: {error}")
            rung = rungs.added_rung(
                shown, name, missing=f"the debugger {shown} does not say which rung it serves: {why}"
            )
        found.setdefault(rung.name, rung)
    return rungs.add(found)
