"""What reaches into Textual's private parts holds for one version of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import textual
from textual import events
from textual._xterm_parser import XTermParser
from textual.geometry import Region

from ladder_tui import _textual_compat
from ladder_tui._textual_compat import VERSION, is_known, keep_escapes


def test_another_version_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "textual"
    assert is_known(package)
    monkeypatch.setattr(textual, "__version__", "9.0.0", raising=False)
    assert not is_known(package)
    (tmp_path / "textual-9.0.0.dist-info").mkdir()
    assert not is_known(package)
    (tmp_path / f"textual-{VERSION}.dist-info").mkdir()
    assert is_known(package)


def test_the_version_is_the_pinned_one() -> None:
    assert textual.__version__ == VERSION


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("\x1b:w", ["escape", "colon", "w"]),
        ("\x1b1", ["escape", "1"]),
        ("\x1b\r", ["escape", "enter"]),
        ("\x1b\t", ["escape", "tab"]),
        ("\x1bb", ["alt+b"]),
        ("\x1bf", ["alt+f"]),
        ("\x1b\x7f", ["alt+backspace"]),
        ("\x1b ", ["escape", "space"]),
        ("\x1ba", ["alt+a"]),
        ("\x1b\x1b", ["escape", "escape"]),
        ("\x1b[A\x1bOP\x1b[1;5D", ["up", "f1", "ctrl+left"]),
        ("\x1b[200~1\x1b[201~", ["paste"]),
    ],
)
def test_an_escape_in_one_piece_with_the_next_key_lives(typed: str, keys: list[str]) -> None:
    class Parser(XTermParser):
        pass

    keep_escapes(Parser)
    keep_escapes(Parser)
    parser = Parser()
    told = list(parser.feed(typed))
    for _ in range(50):
        time.sleep(0.01)
        told += list(parser.tick())
    assert [one.key if isinstance(one, events.Key) else "paste" for one in told] == keys


def test_a_view_is_uncovered_where_it_is_seen_whole() -> None:
    screen = Region(0, 0, 40, 10)
    visible: Any = {
        # Those on top come first.
        "notice": (Region(0, 8, 40, 1), screen),
        "below it": (Region(0, 5, 20, 5), screen),
        "beside it": (Region(0, 0, 20, 5), screen),
        "cut off": (Region(20, 0, 20, 5), Region(20, 0, 10, 5)),
    }
    assert list(_textual_compat._uncovered(visible)) == ["notice", "beside it"]
