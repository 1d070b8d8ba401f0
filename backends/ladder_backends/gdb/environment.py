"""What of the user's environment is kept from an engine, and given back to the program it starts.

The transport keeps back what breaks an engine's Python or its start; here is what only engines that start programs
need, and the way back.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ladder_backends.mi.environment import withheld

_KEPT = (
    # What is preloaded is meant for the program.
    "LD_PRELOAD",
    "LD_AUDIT",
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


def engine_environment() -> dict[str, str | None]:
    """Variables to set or, with None, to remove for an engine."""
    return {**dict.fromkeys(_KEPT), **_SET}


def kept_back() -> tuple[str, ...]:
    """Names of the variables that are set here and kept from engines."""
    names = {*(name for name, value in withheld(os.environ).items() if value), *_KEPT} - {"TERM"}
    return tuple(sorted(name for name in names if os.environ.get(name)))


def program_environment(extra: Mapping[str, str]) -> dict[str, str | None]:
    """What to change in an engine's environment to make the program's: the user's own again, and `extra`."""
    changes = withheld(os.environ)
    changes.update({name: os.environ.get(name) for name in (*_KEPT, *_SET, *_LEFT_BY_ENGINE)})
    changes["TERM"] = PROGRAM_TERM
    changes.update(extra)
    return changes
