"""What of the user's environment is kept from an engine, and given back to the program it starts.

The transport keeps back what breaks an engine's Python or its start; here is what only engines that start programs
need, and the way back.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ladder_backends.let_in import lets_in
from ladder_backends.mi.environment import withheld

_KEPT = (
    # What is preloaded, audited or told by the loader is meant for the program. LD_LIBRARY_PATH stays: an engine
    # that comes with a module or a toolchain may need it for its own libraries.
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_DEBUG",
    "LD_DEBUG_OUTPUT",
    "LD_SHOW_AUXV",
    "LD_TRACE_LOADED_OBJECTS",
    "PYTHONWARNINGS",
)

_SET: Mapping[str, str] = {
    # The program is started through a shell; the user's own one may not be a POSIX shell.
    "SHELL": "/bin/sh",
    # Lines are typed by us: a vi mode or key bindings of the user's would garble them.
    "INPUTRC": "/dev/null",
    "HISTFILE": "/dev/null",
}

_LEFT_BY_ENGINE = ("LINES", "COLUMNS", "PYTHONHOME", "PYTHONPATH", "PYTHONNOUSERSITE", "LD_LIBRARY_PATH")
"""Variables that an engine's line editor, or the script it is started by, puts into the engine's environment."""

PROGRAM_TERM = "xterm-256color"
"""Terminal type of the program's own terminal."""


_BREAKS_PYTHON = "gdb has a Python of its own, which this breaks or leads astray"
_WHY: Mapping[str, str] = {
    "LD_PRELOAD": "what is preloaded is meant for the program, and runs inside gdb otherwise",
    "LD_AUDIT": "what audits is meant for the program, and runs inside gdb otherwise",
    "LD_DEBUG": "gdb would write what its own loader does into the command line",
    "SHELL": "programs are started through a POSIX shell",
    "INPUTRC": "the console types lines, which a vi mode or key bindings of yours would garble",
}
_NOT_LISTED = ("TERM", "DEBUGINFOD_URLS", "HISTFILE")


def engine_environment() -> dict[str, str | None]:
    """Variables to set or, with None, to remove for an engine."""
    changes = {**dict.fromkeys(_KEPT), **_SET}
    changes.update({name: os.environ[name] for name in variables_kept() if lets_in(name)})
    return changes


def variables_kept() -> dict[str, str]:
    """Variables that are set here and that an engine does not get unless they are let in, each with the reason."""
    names = {*(name for name, value in withheld(os.environ).items() if value), *_KEPT, *_SET}
    there = sorted(name for name in names.difference(_NOT_LISTED) if os.environ.get(name))
    return {name: _WHY.get(name, _BREAKS_PYTHON) for name in there if os.environ[name] != _SET.get(name)}


def kept_back() -> tuple[str, ...]:
    """Names of the variables that are set here and kept from engines."""
    names = {*(name for name, value in withheld(os.environ).items() if value), *_KEPT} - {"TERM"}
    return tuple(sorted(name for name in names if os.environ.get(name) and not lets_in(name)))


def program_environment(extra: Mapping[str, str]) -> dict[str, str | None]:
    """What to change in an engine's environment to make the program's: the user's own again, and `extra`."""
    changes = withheld(os.environ)
    changes.update({name: os.environ[name] for name in _KEPT if name in os.environ})
    changes.update({name: os.environ.get(name) for name in (*_SET, *_LEFT_BY_ENGINE)})
    changes["TERM"] = os.environ.get("TERM") if lets_in("TERM") else PROGRAM_TERM
    changes.update(extra)
    return changes
