"""Every folder the console reads or writes outside the user's own files, and where engines are found."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from ladder_backends.late_dataclass import dataclass
from ladder_backends.rungs import OURS

_APP = "ladder-tui"

ENGINE_VARIABLES: Mapping[str, str] = {
    **{rung.engine: rung.variable for rung in OURS if rung.engine},
    "py-spy": "LADDER_PY_SPY",
}
"""Engines and tools by name, with the environment variable that names their executable."""

_configured: dict[str, str] = {}


def _xdg(variable: str, default: str) -> Path:
    value = os.environ.get(variable, "")
    # The XDG specification says that a relative path is to be ignored.
    base = Path(value) if value.startswith("/") else Path(os.path.expanduser("~")) / default
    return base / _APP


def state_dir() -> Path:
    """`$XDG_STATE_HOME/ladder-tui`: breakpoints, the log file, console history."""
    return _xdg("XDG_STATE_HOME", ".local/state")


def config_file() -> Path:
    """`$XDG_CONFIG_HOME/ladder-tui/config.toml`."""
    return _xdg("XDG_CONFIG_HOME", ".config") / "config.toml"


def data_dir() -> Path:
    """`$XDG_DATA_HOME/ladder-tui`: engines that the installer script unpacked."""
    return _xdg("XDG_DATA_HOME", ".local/share")


def cache_dir() -> Path:
    """`$XDG_CACHE_HOME/ladder-tui`: unpacked parts of cases and compiled demos."""
    return _xdg("XDG_CACHE_HOME", ".cache")


def installed(name: str) -> Path:
    """Where the project's installer scripts put an engine."""
    return data_dir() / name / "bin" / name


@dataclass(frozen=True, slots=True)
class EngineExecutable:
    """Where an engine's executable is, or why there is none.

    Attributes:
        path: The executable, or None.
        origin: Who named it: the environment variable, `config.toml`, `PATH` or `installer`.
        missing: Why there is none, a clause; empty where there is one.
    """

    path: Path | None
    origin: str = ""
    missing: str = ""


def current_folder() -> Path:
    """The working folder; where that was deleted, as by a build that starts afresh, the path that it had."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        with contextlib.suppress(OSError):
            return Path(os.readlink("/proc/self/cwd").removesuffix(" (deleted)"))
        return Path("/")


def folder_instead() -> Path | None:
    """Where to start what would inherit a working folder that was deleted; None where that is there.

    Some engines crash in a folder without a name.
    """
    try:
        os.getcwd()
    except FileNotFoundError:
        folder = current_folder()
        return folder if folder.is_dir() else Path("/")
    return None


def typed_path(text: str) -> Path:
    """An absolute path from what a person typed: `~` and `~name` are home folders where there are such."""
    # `Path.expanduser` raises where there is no such user.
    return current_folder() / os.path.expanduser(text.strip())


def configure_engines(paths: Mapping[str, str]) -> None:
    """Take the executables that the configuration names, by engine; they rank below the environment."""
    _configured.clear()
    _configured.update(paths)


def engine_variable(name: str) -> str:
    """The environment variable that names an engine's executable: `LADDER_MY_GDB` for `my-gdb`."""
    return ENGINE_VARIABLES.get(name) or "LADDER_" + re.sub(r"\W", "_", name, flags=re.ASCII).upper()


def find_engine(name: str) -> EngineExecutable:
    """Find an engine: its environment variable, then the configuration, then PATH, then the installer's folder.

    A place that names something unusable is the answer, with the reason; it is not passed over in silence.

    Args:
        name: A key of `ENGINE_VARIABLES`, or another engine, whose variable is called after it.
    """
    variable = engine_variable(name)
    named = (
        (os.environ.get(variable, ""), variable),
        (_configured.get(name, ""), "config.toml"),
    )
    for text, origin in named:
        if text:
            return _named(text, origin)
    found = shutil.which(name)
    if found:
        return EngineExecutable(Path(found).absolute(), "PATH")
    if name in ENGINE_VARIABLES and _is_program(installed(name)):
        return EngineExecutable(installed(name), "installer")
    return EngineExecutable(None, missing=f"{name} is not on PATH")


def _named(text: str, origin: str) -> EngineExecutable:
    path = Path(os.path.expanduser(text))
    if "/" not in text:
        found = shutil.which(text)
        if found is None:
            return EngineExecutable(None, origin, f"{origin} names {text}, which is not on PATH")
        return EngineExecutable(Path(found).absolute(), origin)
    if not path.exists():
        return EngineExecutable(None, origin, f"{origin} names {text}, which does not exist")
    if not _is_program(path):
        return EngineExecutable(None, origin, f"{origin} names {text}, which is not an executable file")
    return EngineExecutable(path.absolute(), origin)


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
