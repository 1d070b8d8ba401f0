"""Themes read from TOML and turned, once, into the styles that panes draw with."""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping, Set
from dataclasses import field
from pathlib import Path
from typing import Any

from rich.color import Color, ColorParseError
from rich.style import Style

from ladder_backends.errors import LadderError
from ladder_backends.late_dataclass import dataclass
from ladder_backends.paths import config_file
from ladder_backends.text import clean_line
from ladder_themes import read_theme, theme_names

_TABLES = ("colors", "styles", "ansi16", "mono")
_ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse")


class ThemeInvalid(LadderError):
    """A theme file that is missing, is not TOML, or names what does not exist."""


class Depth(enum.Enum):
    """How many colours the terminal shows."""

    FULL = "full"
    SIXTEEN = "sixteen"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ThemeSource:
    """A theme with everything it inherits merged in.

    Attributes:
        colors: Name to `#rrggbb`.
        styles: Semantic name to attributes, for 256 colours and more.
        ansi16: The same for terminals with sixteen colours.
        mono: The same without colours; names that are absent are plain.
    """

    name: str
    dark: bool = True
    colors: Mapping[str, str] = field(default_factory=dict)
    styles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ansi16: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mono: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Palette:
    """Every style of one theme at one colour depth, built once.

    Args:
        source: The theme.
        depth: What the terminal can show.
    """

    def __init__(self, source: ThemeSource, depth: Depth = Depth.FULL) -> None:
        self.source = source
        self.depth = depth
        table = {Depth.FULL: source.styles, Depth.SIXTEEN: source.ansi16, Depth.NONE: source.mono}[depth]
        # With sixteen colours a name is one of the terminal's own, never one of the theme's.
        colors = source.colors if depth is Depth.FULL else {}
        names = source.ansi16.keys() | source.styles.keys()
        own = {name: _style(source, name, table.get(name, {}), colors) for name in names}
        plain = Style()
        self.base = own.get("text", plain)
        cursor = self.base + own.get("cursor", plain)
        self.surface = self.base + own.get("surface", plain)
        self._styles = {name: self.base + style for name, style in own.items()}
        self._on_cursor = {name: cursor + (style if name != "text" else plain) for name, style in own.items()}
        self._on_surface = {
            name: self.surface + (style if name != "text" else plain) for name, style in own.items()
        }

    def __getitem__(self, name: str) -> Style:
        """The style of a semantic name; unknown names look like text."""
        return self._styles.get(name, self.base)

    def names(self) -> frozenset[str]:
        """Every semantic name of the theme."""
        return frozenset(self._styles)

    def on_cursor(self, name: str) -> Style:
        """The same on the selected row."""
        return self._on_cursor.get(name, self._on_cursor["text"])

    def on_surface(self, name: str) -> Style:
        """The same on a dialog."""
        return self._on_surface.get(name, self.surface)

    def color(self, name: str, default: str = "#808080") -> str:
        """A named colour of the theme as `#rrggbb`."""
        return self.source.colors.get(name, default)


def _style(source: ThemeSource, name: str, look: Mapping[str, Any], named: Mapping[str, str]) -> Style:
    """One entry as a Rich style.

    Raises:
        ThemeInvalid: An attribute or a colour does not exist.
    """
    unknown = look.keys() - {"fg", "bg", *_ATTRIBUTES}
    if unknown:
        raise ThemeInvalid(
            f"theme {source.name!r}: style {name!r} has no attribute {sorted(unknown)[0]!r}",
            remedy=f"use fg, bg, {', '.join(_ATTRIBUTES)}",
        )
    colors: dict[str, str | None] = {}
    for part in ("fg", "bg"):
        value = look.get(part)
        colors[part] = None if value is None else named.get(str(value), str(value))
        try:
            Color.parse(colors[part] or "default")
        except ColorParseError as error:
            raise ThemeInvalid(
                f"theme {source.name!r}: style {name!r} names an unknown colour {clean_line(str(value))!r}",
                remedy="write #rrggbb or a name of [colors]",
            ) from error
    bold, dim, italic, underline, reverse = (bool(look[key]) if key in look else None for key in _ATTRIBUTES)
    return Style(
        color=colors["fg"],
        bgcolor=colors["bg"],
        bold=bold,
        dim=dim,
        italic=italic,
        underline=underline,
        reverse=reverse,
    )


def user_theme_dir() -> Path:
    """Where a user's own theme files are looked for, before the shipped ones."""
    return config_file().parent / "themes"


def _read(name: str, folder: Path | None) -> tuple[str, str]:
    """TOML text of a theme and where it came from."""
    if folder is not None and (path := folder / f"{name}.toml").is_file():
        return path.read_text(encoding="utf-8", errors="replace"), str(path)
    try:
        return read_theme(name), f"{name}.toml"
    except (FileNotFoundError, ValueError) as error:
        raise ThemeInvalid(
            f"no theme is called {clean_line(name)!r}",
            remedy=f"choose one of {', '.join(available_themes(folder))}",
        ) from error


def available_themes(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the shipped themes and of those in `folder`."""
    own = (path.stem for path in folder.glob("*.toml")) if folder is not None and folder.is_dir() else ()
    return tuple(sorted({*theme_names(), *own}))


def load_theme(name: str, folder: Path | None = None) -> ThemeSource:
    """Read a theme with all that it inherits.

    Args:
        name: File name without `.toml`.
        folder: The user's own themes; they win over shipped ones of the same name.

    Raises:
        ThemeInvalid: Missing, not TOML, unknown names, or a circle of inheritance.
    """
    chain: list[Mapping[str, Any]] = []
    seen: list[str] = []
    wanted: str | None = name
    while wanted:
        # A user's theme may inherit from the shipped one of the same name.
        shipped = seen[-1:] == [wanted]
        if seen.count(wanted) > shipped:
            chain_words = clean_line(" → ".join([*seen, wanted]))
            raise ThemeInvalid(f"theme {clean_line(name)!r} inherits from itself", chain_words)
        text, origin = _read(wanted, None if shipped else folder)
        seen.append(wanted)
        parsed = _parse(text, origin)
        chain.append(parsed)
        parent = parsed.get("inherits")
        wanted = str(parent) if parent else None
        if wanted is None and seen[-1] != "base":
            wanted = "base"
    merged: dict[str, dict[str, Any]] = {table: {} for table in _TABLES}
    dark = True
    for parsed in reversed(chain):
        dark = bool(parsed.get("dark", dark))
        for table in _TABLES:
            entries = parsed.get(table, {})
            if not isinstance(entries, dict):
                raise ThemeInvalid(f"theme {clean_line(name)!r}: [{table}] is not a table")
            merged[table].update(entries)
    _check_names(name, merged)
    return ThemeSource(name, dark, merged["colors"], merged["styles"], merged["ansi16"], merged["mono"])


@functools.lru_cache(maxsize=16)
def _parse(text: str, origin: str) -> Mapping[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ThemeInvalid(f"the theme file {clean_line(origin)} is not TOML", clean_line(str(error))) from error


def _known_names() -> Set[str]:
    names: dict[str, Any] = _parse(read_theme("base"), "base.toml")["ansi16"]
    return names.keys()


def _check_names(name: str, merged: Mapping[str, Mapping[str, Any]]) -> None:
    known = _known_names()
    for table in _TABLES[1:]:
        for key, look in merged[table].items():
            if key not in known:
                raise ThemeInvalid(
                    f"theme {clean_line(name)!r}: [{table}] has no style called {clean_line(key)!r}",
                    remedy="see base.toml for the names",
                )
            if not isinstance(look, dict):
                raise ThemeInvalid(
                    f"theme {clean_line(name)!r}: {clean_line(key)!r} is not a table like {{ fg = … }}"
                )
