"""Every folder the console reads or writes outside the user's own files."""

from __future__ import annotations

import os
from pathlib import Path

_APP = "ladder-tui"


def _xdg(variable: str, default: str) -> Path:
    value = os.environ.get(variable, "")
    # The XDG specification says that a relative path is to be ignored.
    base = Path(value) if value.startswith("/") else Path.home() / default
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


def installed_cuda_gdb() -> Path:
    """Where the project's installer script puts cuda-gdb."""
    return data_dir() / "cuda-gdb" / "bin" / "cuda-gdb"
