"""The environment an engine is started with.

gdb embeds Python, so variables that steer the console's own interpreter break or misdirect it; what steers the
loader and the allocator (ld.so(8), mallopt(3)) is meant for the program and would run inside the engine; a terminal
type makes it style its command line; a debuginfod server that does not answer keeps it from starting for minutes.
"""

from __future__ import annotations

from collections.abc import Mapping

LIBRARIES = "LD_LIBRARY_PATH"
"""The one variable of the loader that an engine may need for libraries of its own."""

_REMOVED = (
    *("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONEXECUTABLE", "PYTHONPLATLIBDIR", "PYTHONUSERBASE"),
    *("PYTHONWARNINGS", "PYTHONMALLOC", "PYTHONINSPECT", "PYTHONVERBOSE", "PYTHONDEBUG", "GLIBC_TUNABLES"),
)
# Sizes of the console's own terminal; the engine asks its own terminals.
_SIZES = ("LINES", "COLUMNS")
_SET = {"TERM": "dumb", "DEBUGINFOD_URLS": ""}
_PREFIXES = ("CONDA_", "_CONDA_", "VIRTUAL_ENV", "LD_", "MALLOC_")


def _removed(name: str) -> bool:
    if name == LIBRARIES:
        # Whoever starts the engine knows whether it needs it.
        return False
    return name in _REMOVED or name in _SIZES or name.startswith(_PREFIXES)


def engine_environment(base: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """`base` without what harms an engine, then with `changes`; None removes a variable."""
    environment = {name: value for name, value in base.items() if not _removed(name)}
    environment.update(_SET)
    for name, value in changes.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment


def withheld(base: Mapping[str, str]) -> dict[str, str | None]:
    """What a debugged program should find as in `base` although its engine does not; None means unset."""
    restored: dict[str, str | None] = {
        name: value for name, value in base.items() if _removed(name) and name not in _SIZES
    }
    restored.update({name: base.get(name) for name in _SET})
    return restored
