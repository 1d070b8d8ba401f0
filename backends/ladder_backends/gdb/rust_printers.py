"""The pretty-printers that come with a Rust compiler, where gdb does not know of them."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

LOADER = "gdb_load_rust_pretty_printers.py"
"""The script that a Rust program names in its section `.debug_gdb_scripts`."""

_BESIDE = Path("lib/rustlib/etc")
_PREFIXES = ("/usr", "/usr/local", "/opt/rust")
_DEFAULT = re.compile(r'^default_toolchain\s*=\s*"(?P<name>[^"/]+)"', re.MULTILINE)
_PLAIN = re.compile(r"/[\w./+@~-]*")


def settings_for_rust() -> tuple[str, ...]:
    """Commands that let gdb find the printers, as `rust-gdb` gives them; none where there is no compiler."""
    folder = find_printers()
    if folder is None:
        return ()
    return (
        f"-interpreter-exec console \"python import sys; sys.path.append('{folder}')\"",
        f'-interpreter-exec console "add-auto-load-safe-path {folder}"',
        f"-environment-directory {folder}",
    )


def find_printers() -> Path | None:
    """The folder of the printers of this machine's Rust compiler, or None; no compiler is run for it."""
    for prefix in _prefixes():
        folder = prefix / _BESIDE
        if _PLAIN.fullmatch(str(folder)) and (folder / LOADER).is_file():
            return folder
    return None


def _prefixes() -> Iterator[Path]:
    """Where compilers are installed, the one that would be run first."""
    compiler = shutil.which("rustc")
    if compiler is not None:
        yield Path(os.path.realpath(compiler)).parents[1]
    home = Path(os.environ.get("RUSTUP_HOME") or Path("~/.rustup").expanduser())
    toolchains = home / "toolchains"
    chosen = [os.environ.get("RUSTUP_TOOLCHAIN", ""), _default_of(home / "settings.toml")]
    yield from (toolchains / name for name in chosen if name)
    with contextlib.suppress(OSError):
        yield from sorted(toolchains.iterdir(), reverse=True)
    yield from map(Path, _PREFIXES)


def _default_of(settings: Path) -> str:
    try:
        match = _DEFAULT.search(settings.read_text(errors="replace")[:65536])
    except OSError:
        return ""
    return match["name"] if match is not None else ""
