from __future__ import annotations

import random

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ladder_tui.widgets.row import (
    Cell,
    Row,
    cell_at,
    changed_spans,
    compose,
    cut,
    hidden_width,
    joined,
    printable,
    skip_cells,
    width_of,
)

STYLES = {"text": Style(), "a": Style(color="red"), "b": Style(color="blue", bold=True)}


def styler(name: str) -> Style:
    return STYLES[name]


def text_of(row: Row, width: int, shift: int = 0) -> str:
    strip = compose(row, width, styler, shift)
    assert strip.cell_length == width
    assert cell_len(strip.text) == width
    return strip.text


def test_a_row_fills_its_width() -> None:
    assert text_of(Row((Cell("ab"),)), 5) == "ab   "
    assert text_of(Row(), 3) == "   "


def test_the_right_part_wins_over_the_left() -> None:
    row = Row((Cell("a long piece of text"),), (Cell("24 lanes"),))
    assert text_of(row, 20) == "a long pie… 24 lanes"
    assert text_of(row, 40).endswith("24 lanes")


def test_a_right_part_that_is_too_wide_is_cut() -> None:
    assert text_of(Row((Cell("ab"),), (Cell("x" * 50),)), 12).startswith("ab ")


@pytest.mark.parametrize("width", range(0, 16))
def test_wide_and_combining_characters_never_break_the_width(width: int) -> None:
    row = Row((Cell("名前"), Cell("e\u0301a\u0300"), Cell("👩‍👩‍👧x")), (Cell("値"),))
    text_of(row, width)
    for shift in range(8):
        text_of(row, width, shift)


def test_scrolling_sideways_leaves_pinned_cells() -> None:
    row = Row((Cell("12 "), Cell("abcdef"), Cell("gh")), pinned=1)
    assert text_of(row, 9, shift=2) == "12 …defgh"
    assert text_of(row, 9, shift=5) == "12 …gh   "
    assert text_of(row, 9, shift=6) == "12 …h    "
    assert text_of(row, 9, shift=9) == "12       "


def test_how_much_of_a_row_is_hidden() -> None:
    assert hidden_width(Row((Cell("abcdef"),)), 6) == 0
    assert hidden_width(Row((Cell("abcdef"),)), 4) == 2
    assert hidden_width(Row((Cell("abcdef"),), (Cell("xy"),)), 8) == 1


def test_half_a_wide_character_becomes_a_space() -> None:
    assert skip_cells("名前x", 1) == " 前x"
    assert skip_cells("名前x", 4) == "x"


@pytest.mark.parametrize("room", range(1, 12))
def test_a_row_that_is_cut_says_so_wherever_its_cells_end(room: int) -> None:
    row = Row((Cell("ab "), Cell("cd"), Cell("ef", "a"), Cell("名"), Cell("gh")), (Cell("|"),))
    shown = text_of(row, room + 6)
    assert shown.rstrip().endswith("|")
    assert ("…" in shown) is (width_of(row.cells) > room + 4)


def test_cut_says_that_it_cut() -> None:
    assert cut("abcdef", 4) == "abc…"
    assert cut("abc", 3) == "abc"
    assert cut("abc", 0) == ""


@pytest.mark.parametrize("hostile", ["\x1b[2J", "a\rb", "\x07", "\x9b31m", "\u202eabc", "a\tb", "\n"])
def test_what_could_move_the_cursor_is_made_visible(hostile: str) -> None:
    shown = printable(hostile)
    assert shown.isprintable()
    assert text_of(Row((Cell(hostile),)), 20).isprintable()


def test_markup_is_text() -> None:
    assert text_of(Row((Cell("[bold]x[/bold]"),)), 14) == "[bold]x[/bold]"


def test_a_click_finds_its_cell() -> None:
    row = Row((Cell("ab", target=1), Cell("cd", target=2)), (Cell("xy", target=3),))
    assert [getattr(cell_at(row, x, 10), "target", None) for x in range(10)] == [1, 1, 2, 2, *[None] * 4, 3, 3]
    assert getattr(cell_at(row, 0, 10, shift=2), "target", None) == 2


def test_segments_that_look_alike_are_sent_as_one() -> None:
    red, blue = STYLES["a"], STYLES["b"]
    parts = [Segment("a", red), Segment("  ", Style()), Segment("b", red), Segment("c", blue)]
    assert [(text, style) for text, style, _ in joined(parts)] == [("a  b", red), ("c", blue)]


def cells_of(strip: Strip) -> list[tuple[str, Style | None]]:
    return [(character, style) for text, style, _ in strip for character in text]


def random_strip(dice: random.Random, width: int) -> Strip:
    segments: list[Segment] = []
    left = width
    while left:
        size = dice.randint(1, min(left, 9))
        segments.append(
            Segment("".join(dice.choice("ab ") for _ in range(size)), dice.choice(list(STYLES.values())))
        )
        left -= size
    return Strip(segments, width)


def test_the_spans_that_are_sent_make_the_new_line_of_the_old() -> None:
    dice = random.Random(7)
    for _ in range(500):
        old = random_strip(dice, 40)
        new = old if dice.random() < 0.2 else random_strip(dice, 40)
        before, after = cells_of(old), cells_of(new)
        spans = changed_spans(old, new)
        assert spans == sorted(spans)
        for start, end in spans:
            before[start:end] = after[start:end]
        assert before == after
        if old is new:
            assert spans == []


def test_a_span_ends_where_the_difference_ends() -> None:
    style = STYLES["a"]
    old = Strip([Segment("value 8   ", style), Segment("          x", style)])
    new = Strip([Segment("value 9   ", style), Segment("          y", style)])
    assert changed_spans(old, new) == [(6, 7), (20, 21)]


def test_wide_characters_are_sent_whole() -> None:
    style = STYLES["a"]
    old, new = Strip([Segment("a名b", style)]), Strip([Segment("a前b", style)])
    [(start, end)] = changed_spans(old, new)
    assert start <= 1
    assert end >= 3


def test_width_counts_cells() -> None:
    assert width_of([Cell("名"), Cell("ab")]) == 4
