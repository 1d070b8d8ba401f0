"""The user's own gdb command files."""

from __future__ import annotations

import os
from pathlib import Path

from ladder_backends.paths import current_folder

_SYSTEM = ("/etc/gdb/gdbinit", "/etc/gdbinit")


def init_files() -> dict[str, Path]:
    """The files that gdb would read at its start, in its order, by the names that the ledger gives them."""
    home = Path(os.path.expanduser("~"))
    config = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(config) if config.startswith("/") else home / ".config"
    # gdb reads the first of these two only.
    own = [folder / "gdb/gdbinit", home / ".gdbinit"]
    found = [Path(name) for name in _SYSTEM if os.path.isfile(name)][:1]
    found += [path for path in own if path.is_file()][:1]
    local = current_folder() / ".gdbinit"
    if local.is_file() and not any(_same(local, path) for path in found):
        found.append(local)
    return {_name(path, home): path for path in found}


def _name(path: Path, home: Path) -> str:
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
