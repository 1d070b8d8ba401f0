"""Themes as data: one TOML file each, semantic names only, inheriting from each other.

A theme file holds `inherits`, `dark`, and four tables: `[colors]` names colours, `[styles]` gives each semantic
name its look, `[ansi16]` the look on terminals with sixteen colours, `[mono]` the look without colours. What a
theme leaves out it takes from the theme it inherits from.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["read_theme", "theme_names"]

# Not `importlib.resources`, which takes longer to import than a theme to read.
_FOLDER = Path(__file__).parent


def theme_names() -> tuple[str, ...]:
    """Names of the shipped themes that a user may choose, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml") if path.stem != "base"))


def read_theme(name: str) -> str:
    """The TOML text of a shipped theme.

    Raises:
        FileNotFoundError: No theme of that name is shipped.
    """
    return (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
