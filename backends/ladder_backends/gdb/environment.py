"""What of the user's environment is kept from an engine, and given back to the program it starts."""

from __future__ import annotations

import os
from collections.abc import Mapping

KEPT_FROM_ENGINE: tuple[str, ...] = (
    # An engine embeds a Python of its own, which these break or lead astray.
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONEXECUTABLE",
    "PYTHONPLATLIBDIR",
    "PYTHONWARNINGS",
    # What is preloaded is meant for the program.
    "LD_PRELOAD",
    "LD_AUDIT",
    # A symbol server that does not answer stalls every start by minutes.
    "DEBUGINFOD_URLS",
)
"""Variables that are removed for an engine and restored for its target."""

_SET_FOR_ENGINE: Mapping[str, str] = {
    # Prompts and echoes without escape sequences.
    "TERM": "dumb",
    # The program is started through a shell; its own one may not be a POSIX shell.
    "SHELL": "/bin/sh",
    # Lines are typed by us: a vi mode or key bindings of the user's would garble them.
    "INPUTRC": "/dev/null",
    "HISTFILE": "/dev/null",
}

_LEFT_BY_ENGINE = ("LINES", "COLUMNS")
"""Variables that an engine's line editor puts into its own environment, which its target inherits."""

PROGRAM_TERM = "xterm-256color"
"""Terminal type of the program's own terminal."""


def engine_environment() -> dict[str, str | None]:
    """Variables to set or, with None, to remove for an engine."""
    changes: dict[str, str | None] = dict.fromkeys(KEPT_FROM_ENGINE)
    changes.update(_SET_FOR_ENGINE)
    return changes


def kept_back() -> tuple[str, ...]:
    """Names of the variables that are set here and kept from engines."""
    return tuple(name for name in KEPT_FROM_ENGINE if name in os.environ)


def program_environment(extra: Mapping[str, str]) -> dict[str, str | None]:
    """What to change in an engine's environment to make the program's: the user's own again, and `extra`."""
    changes: dict[str, str | None] = {name: os.environ[name] for name in KEPT_FROM_ENGINE if name in os.environ}
    changes.update({name: os.environ.get(name) for name in (*_SET_FOR_ENGINE, *_LEFT_BY_ENGINE)})
    changes["TERM"] = PROGRAM_TERM
    changes.update(extra)
    return changes
