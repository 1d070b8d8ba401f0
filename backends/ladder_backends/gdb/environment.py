"""What of the user's environment is kept from an engine, and given back to the program it starts.

The transport keeps back what breaks an engine's Python, its loader or its start; here is what only engines that
start programs need, and the way back.

`LD_LIBRARY_PATH` is kept from gdb as well, since libraries that are meant for the program (another libstdc++,
ncurses or Python) break it. A gdb that does not run without it, and each cuda-gdb, is given it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ladder_backends.let_in import lets_in
from ladder_backends.mi.environment import LIBRARIES, withheld

_SET: Mapping[str, str] = {
    # The program is started through a shell; the user's own one may not be a POSIX shell.
    "SHELL": "/bin/sh",
    # Lines are typed by us: a vi mode or key bindings of the user's would garble them.
    "INPUTRC": "/dev/null",
    "HISTFILE": "/dev/null",
}

_LEFT_BY_ENGINE = ("LINES", "COLUMNS", "PYTHONHOME", "PYTHONPATH", "PYTHONNOUSERSITE", LIBRARIES)
"""Variables that an engine's line editor, or the script it is started by, puts into the engine's environment."""

PROGRAM_TERM = "xterm-256color"
"""Terminal type of the program's own terminal."""


_BREAKS_PYTHON = "gdb has a Python of its own, which this breaks or leads astray"
_FOR_LOADER = "what it tells the loader is meant for the program, and would hold for gdb too"
_FOR_ALLOCATOR = "what it tells the allocator is meant for the program, and would slow gdb down"
_WHY: Mapping[str, str] = {
    "LD_PRELOAD": "what is preloaded is meant for the program, and runs inside gdb otherwise",
    "LD_AUDIT": "what audits is meant for the program, and runs inside gdb otherwise",
    "LD_DEBUG": "gdb would write what its own loader does into the command line",
    LIBRARIES: "libraries that are meant for the program would take the place of gdb's own",
    "GLIBC_TUNABLES": _FOR_ALLOCATOR,
    "SHELL": "programs are started through a POSIX shell",
    "INPUTRC": "the console types lines, which a vi mode or key bindings of yours would garble",
}
_NOT_LISTED = ("TERM", "DEBUGINFOD_URLS", "HISTFILE")


def engine_environment(*, libraries: bool = False) -> dict[str, str | None]:
    """Variables to set or, with None, to remove for an engine.

    Args:
        libraries: The engine is given `LD_LIBRARY_PATH`.
    """
    changes: dict[str, str | None] = dict(_SET)
    if not libraries:
        changes[LIBRARIES] = None
    changes.update({name: os.environ[name] for name in variables_kept(libraries=libraries) if lets_in(name)})
    return changes


def variables_kept(*, libraries: bool = False) -> dict[str, str]:
    """Variables that are set here and that an engine does not get unless they are let in, each with the reason."""
    names = _withheld(libraries).union(_SET)
    there = sorted(name for name in names.difference(_NOT_LISTED) if os.environ.get(name))
    return {name: _why(name) for name in there if os.environ[name] != _SET.get(name)}


def kept_back(*, libraries: bool = False) -> tuple[str, ...]:
    """Names of the variables that are set here and kept from engines."""
    names = _withheld(libraries) - {"TERM"}
    return tuple(sorted(name for name in names if os.environ.get(name) and not lets_in(name)))


def libraries_of_program(*, libraries: bool) -> tuple[str, ...]:
    """Settings by which an engine that lacks `LD_LIBRARY_PATH` looks for libraries where the program would."""
    path = os.environ.get(LIBRARIES, "")
    if libraries or not path or not path.isprintable() or lets_in(LIBRARIES):
        return ()
    return (f"-gdb-set environment {LIBRARIES} = {path}",)


def _withheld(libraries: bool) -> set[str]:
    names = {name for name, value in withheld(os.environ).items() if value}
    return names if libraries else {*names, LIBRARIES}


def _why(name: str) -> str:
    if name in _WHY:
        return _WHY[name]
    if name.startswith("LD_"):
        return _FOR_LOADER
    return _FOR_ALLOCATOR if name.startswith("MALLOC_") else _BREAKS_PYTHON


def program_environment(extra: Mapping[str, str]) -> dict[str, str | None]:
    """What to change in an engine's environment to make the program's: the user's own again, and `extra`."""
    changes = withheld(os.environ)
    changes.update({name: os.environ.get(name) for name in (*_SET, *_LEFT_BY_ENGINE)})
    changes["TERM"] = os.environ.get("TERM") if lets_in("TERM") else PROGRAM_TERM
    changes.update(extra)
    return changes
