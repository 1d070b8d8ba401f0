"""What is read without the standard library's reader reads the same there."""

from __future__ import annotations

import tomllib

import pytest

from ladder_themes import read_theme, theme_names
from ladder_tui.plain_toml import read_plain, read_toml


@pytest.mark.parametrize("name", ["base", *theme_names()])
def test_shipped_themes_are_plain(name: str) -> None:
    text = read_theme(name)
    assert read_plain(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    "line",
    [
        'a = "b"',
        'a = "x = y, z"',
        "a = true",
        "a = {}",
        'a = { fg = "#123456", bold = true }',
        'a = { fg = "x, y" }',
        'a = { b = { c = "d" } }',
        'a = { b = "}" }',
        'a = { b = "{" }',
        '"a.b" = "c"',
        '"a = b" = "c"',
        '"" = "c"',
        'a.b = "c"',
        "a = 'b'",
        'a = "b" # c',
        'a = "b" # "c"',
        'a = "\\u0041"',
        'a = """b"""',
        'a = ""',
        "a = 1",
        "a = [1]",
        'a="b"',
        ' a = "b"',
        '\ta = "b"',
        'a = "b"\r\nc = "d"',
        "[t]\na = true\n[t.u]\nb = true",
        "[ t ]\na = true",
        "[[t]]\na = true",
        '["t"]\na = true',
        "# only a comment",
        "a-b_1 = false",
        "1 = false",
    ],
)
def test_what_is_read_here_is_what_toml_says(line: str) -> None:
    assert read_plain(line) in (None, tomllib.loads(line))
    assert read_toml(line) == tomllib.loads(line)


@pytest.mark.parametrize(
    "line",
    [
        'a = "b',
        'a = b"',
        'a = "b" c',
        "a = True",
        "a =",
        "= true",
        "a",
        " = true",
        'a = "b"\na = "c"',
        "[t]\n[t]",
        "a = true\n[a]",
        "[t",
        "[]",
        "[a b]",
        "a b = true",
        'a = { b = "c"',
        "a = { }x }",
        "a = { b = true, b = false }",
        "a = { b = true, }",
        'a = "\x00"',
        "# \x00",
        "é = true",
    ],
)
def test_faults_are_left_to_the_standard_library(line: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(line)
    assert read_plain(line) is None
