"""Themes as data: one TOML file each, semantic names only, inheriting from each other.

A theme file holds `inherits`, `dark`, and four tables: `[colors]` names colours, `[styles]` gives each semantic
name its look, `[ansi16]` the look on terminals with sixteen colours, `[mono]` the look without colours. What a
theme leaves out it takes from the theme it inherits from.
"""

from __future__ import annotations

from importlib.resources import files

__all__ = ["read_theme", "theme_names"]


def theme_names() -> tuple[str, ...]:
    """Names of the shipped themes that a user may choose, sorted."""
    names = (
        entry.name.removesuffix(".toml") for entry in files(__name__).iterdir() if entry.name.endswith(".toml")
    )
    return tuple(sorted(name for name in names if name != "base"))


def read_theme(name: str) -> str:
    """The TOML text of a shipped theme.

    Raises:
        FileNotFoundError: No theme of that name is shipped.
    """
    return (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
