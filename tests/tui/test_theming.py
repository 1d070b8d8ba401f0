from __future__ import annotations

from pathlib import Path

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style

from ladder_themes import theme_names
from ladder_tui.theming import Depth, Palette, ThemeInvalid, available_themes, load_theme

QUIET = {"rule", "lane-absent", "surface", "cursor"}
"""Styles that draw lines, emptiness and ground, not words."""


def luminance(color: Color) -> float:
    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    triplet = color.get_truecolor()
    return 0.2126 * linear(triplet.red) + 0.7152 * linear(triplet.green) + 0.0722 * linear(triplet.blue)


def contrast(style: Style) -> float:
    assert style.color is not None
    assert style.bgcolor is not None
    high, low = sorted((luminance(style.color), luminance(style.bgcolor)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def as_256(style: Style) -> Style:
    assert style.color is not None
    assert style.bgcolor is not None
    return Style(
        color=style.color.downgrade(ColorSystem.EIGHT_BIT), bgcolor=style.bgcolor.downgrade(ColorSystem.EIGHT_BIT)
    )


@pytest.mark.parametrize("name", theme_names())
@pytest.mark.parametrize("colors", ["full", "256"])
def test_every_word_is_legible(name: str, colors: str) -> None:
    palette = Palette(load_theme(name))
    for key in sorted(palette.names() - QUIET):
        for style in (palette[key], palette.on_cursor(key), palette.on_surface(key)):
            shown = style if colors == "full" else as_256(style)
            assert contrast(shown) >= 3.0, f"{name}: {key} has a contrast of {contrast(shown):.1f}"


@pytest.mark.parametrize("name", theme_names())
def test_plain_text_has_the_contrast_of_a_book(name: str) -> None:
    palette = Palette(load_theme(name))
    for key in ("text", "strong", "fault", "warn", "ok", "value", "title"):
        assert contrast(palette[key]) >= 4.5, key


@pytest.mark.parametrize("name", theme_names())
def test_heat_steps_are_distinct_with_256_and_with_16_colours(name: str) -> None:
    full, sixteen = Palette(load_theme(name)), Palette(load_theme(name), Depth.SIXTEEN)
    steps = [f"heat-{step}" for step in range(9)]
    assert len({as_256(full[step]).color for step in steps}) == 9
    assert len({sixteen[step].color for step in steps}) == 9


def test_sixteen_colours_are_the_terminals_own() -> None:
    palette = Palette(load_theme("dark"), Depth.SIXTEEN)
    for key in palette.names():
        for color in (palette[key].color, palette[key].bgcolor):
            assert color is None or color.is_default or color.number is not None, key


def test_no_colour_means_none() -> None:
    palette = Palette(load_theme("dark"), Depth.NONE)
    for key in palette.names():
        assert palette[key].color is None
        assert palette[key].bgcolor is None
    assert palette.on_cursor("text").reverse


def test_every_style_of_the_base_is_there_in_every_theme() -> None:
    base = load_theme("base")
    for name in theme_names():
        assert base.ansi16.keys() == load_theme(name).styles.keys(), name


def test_a_users_theme_changes_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "dark.toml").write_text('inherits = "dark"\n[colors]\nblue = "#0000ff"\n')
    theme = load_theme("dark", tmp_path)
    assert theme.colors["blue"] == "#0000ff"
    assert theme.colors["red"] == load_theme("dark").colors["red"]
    assert "dark" in available_themes(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("inherits = [", "not TOML"),
        ('inherits = "other"', "inherits from itself"),
        ('inherits = "nowhere"', "no theme is called 'nowhere'"),
        ('inherits = "dark"\n[styles]\nfalt = { fg = "red" }', "no style called 'falt'"),
        ('inherits = "dark"\n[styles]\nfault = { fg = "rde" }', "unknown colour 'rde'"),
        ('inherits = "dark"\n[styles]\nfault = { blod = true }', "no attribute 'blod'"),
        ('inherits = "dark"\n[styles]\nfault = "red"', "not a table"),
        ('inherits = "dark"\nstyles = 1', "not a table"),
    ],
)
def test_a_bad_theme_says_what_is_wrong_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "loop.toml").write_text(text)
    (tmp_path / "other.toml").write_text('inherits = "loop"')
    with pytest.raises(ThemeInvalid) as caught:
        Palette(load_theme("loop", tmp_path))
    assert told in caught.value.line()
    assert "\n" not in caught.value.line()
