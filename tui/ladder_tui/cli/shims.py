"""Programs behind the scripts that version managers put before them on PATH."""

from __future__ import annotations

from pathlib import Path

_LONGEST = 4096
_PATIENCE = 10.0
"""Seconds that a version manager may take; it is a script itself."""

_SHIM = (
    r"""^\s*exec\s+(?P<quote>["']?)(?P<manager>(?:/[^"'\n]*/)?(?:pyenv|rbenv|nodenv|goenv|jenv|asdf))"""
    r"""(?P=quote)\s+exec\s"""
)
"""The last line of a shim, as `pyenv rehash` and `asdf reshim` write it: `exec MANAGER exec NAME "$@"`."""


def behind_shim(path: Path) -> Path:
    """The program that a shim starts, as its manager tells; `path` itself for anything else, or if none is told."""
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST)
    except OSError:
        return path
    if not text.startswith(b"#!"):
        return path
    import re
    import subprocess

    match = re.search(_SHIM, text.decode("utf-8", "replace"), re.MULTILINE)
    if match is None:
        return path
    try:
        told = subprocess.run(
            [match["manager"], "which", path.name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return path
    found = Path(told.decode("utf-8", "surrogateescape").strip())
    return found if found.is_absolute() and found.is_file() else path
