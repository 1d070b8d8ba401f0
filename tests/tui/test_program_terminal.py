"""The program's terminal: what is shown of a stream of bytes, and what is not."""

import random
import unicodedata

import pyte
import pytest

from ladder_tui.widgets.terminal_row import BOLD, REVERSE, TRUE_COLOUR, UNDERLINE, Rendition
from ladder_tui.widgets.terminal_screen import TerminalScreen
from ladder_tui.widgets.terminal_stream import TerminalStream


def shown(raw: bytes, columns: int = 20, rows: int = 5, piece: int | None = None) -> TerminalScreen:
    screen = TerminalScreen(columns, rows, history=50)
    stream = TerminalStream(screen)
    size = piece or len(raw) or 1
    for start in range(0, len(raw), size):
        stream.feed(raw[start : start + size])
    return screen


def text(screen: TerminalScreen) -> list[str]:
    return [line.plain() for line in screen.lines]


def looks(screen: TerminalScreen, row: int = 0) -> list[tuple[str, Rendition]]:
    return [(part, screen.looks[key]) for part, key in screen.lines[row].runs(screen.columns)]


def test_plain_lines_wrap_and_scroll_into_the_history() -> None:
    screen = shown(b"0123456789abcdefghijKLM\r\n" + b"".join(b"line %d\r\n" % n for n in range(5)))
    assert text(screen) == ["line 1", "line 2", "line 3", "line 4", ""]
    assert [row.plain() for row in screen.history] == ["0123456789abcdefghij", "KLM", "line 0"]


def test_the_history_is_bounded_and_counts_what_it_lost() -> None:
    screen = shown(b"".join(b"%d\r\n" % n for n in range(1_000)))
    assert len(screen.history) == 50
    assert screen.dropped_rows == 1_000 - 50 - 4


def test_backspace_tab_and_carriage_return() -> None:
    assert text(shown(b"abc\b\bX\r\n\tq\rz"))[:2] == ["aXc", "z       q"]


def test_a_full_row_wraps_only_when_more_follows() -> None:
    assert text(shown(b"01234567890123456789\r\nnext"))[:3] == ["01234567890123456789", "next", ""]


@pytest.mark.parametrize("piece", [1, 2, 3, 1_000])
def test_sequences_may_be_cut_anywhere(piece: int) -> None:
    raw = "\x1b[1;31mréd\x1b[0m \x1b]0;title\x1b\\日本\x1b[2;3Hx\x1bP0;1|dcs\x1b\\y".encode()
    screen = shown(raw, piece=piece)
    assert text(screen)[:2] == ["réd 日本", "  xy"]
    assert looks(screen)[0] == ("réd", Rendition(1, -1, BOLD))


@pytest.mark.parametrize(
    ("raw", "visible"),
    [
        (b"\xff\xfe\x00\x90ok", r"\xff\xfe\x90ok"),
        (b"\x1b]0;owned\x07ok", "ok"),
        (b"\x1b]52;c;aGk=\x1b\\ok", "ok"),
        (b"\x1bP+q544e\x1b\\ok", "ok"),
        (b"\x1b_Gf=100;AAAA\x1b\\ok", "ok"),
        (b"\x1b^pm\x1b\\\x1bXsos\x1b\\ok", "ok"),
        (b"\x1b[6n\x1b[c\x1b[>c\x1b[21tok", "ok"),
        (b"\x1b[?1000h\x1b[?2004h\x1b=ok", "ok"),
        (b"\x1b[99999999999999999999999;5Zok", "ok"),
        ("a\u202eb\u200bc".encode(), r"a\u202eb\u200bc"),
        ("\u009b31mok".encode(), r"\x9b31mok"),
        (b"[/bold][@click=quit]", "[/bold][@click=quit]"),
        (b"\x1b]0;never ended" + b"x" * 70_000 + b"\r\nok", "ok"),
        (b"\x1b[12\x00ok", "ok"),
        (b"\x1b\x1b\x1b[mok", "ok"),
    ],
)
def test_hostile_output_shows_and_does_nothing(raw: bytes, visible: str) -> None:
    screen = shown(raw, columns=60)
    assert visible in text(screen)[0] or visible in "".join(text(screen))
    for row in [*screen.lines, *screen.history]:
        assert not any(unicodedata.category(character) in ("Cc", "Cf") for character in row.plain())


def test_a_bell_ends_a_title_and_an_escape_ends_it_too() -> None:
    assert text(shown(b"\x1b]2;a\x07b\x1b]2;c\x1b[31md"))[0] == "bd"


def test_colours_and_flags() -> None:
    screen = shown(b"\x1b[1;4;38;5;200;48;2;1;2;3ma\x1b[22;24;91;100mb\x1b[39;49;7mc\x1b[38:2::9:8:7md\x1b[me")
    assert looks(screen) == [
        ("a", Rendition(200, TRUE_COLOUR | 0x010203, BOLD | UNDERLINE)),
        ("b", Rendition(9, 8, 0)),
        ("c", Rendition(-1, -1, REVERSE)),
        ("d", Rendition(TRUE_COLOUR | 0x090807, -1, REVERSE)),
        ("e", Rendition()),
    ]


def test_any_number_of_colours_keeps_memory_bounded() -> None:
    raw = b"".join(b"\x1b[38;2;%d;%d;%dmx\r" % (red, green, 0) for red in range(256) for green in range(256))
    screen = shown(raw)
    assert len(screen.looks) <= 0xD000
    assert text(screen)[0] == "x"


def test_the_alternate_screen_gives_the_main_one_back() -> None:
    screen = shown(b"$ ls\r\nfile\r\n$ vi")
    stream = TerminalStream(screen)
    stream.feed(b"\x1b[?1049h\x1b[2J\x1b[Hin the editor\x1b[5;1H-- INSERT --")
    assert screen.alternate
    assert text(screen) == ["in the editor", "", "", "", "-- INSERT --"]
    stream.feed(b"\n\n\n")
    assert not screen.history
    stream.feed(b"\x1b[?1049l")
    assert text(screen)[:3] == ["$ ls", "file", "$ vi"]
    assert screen.cursor == (2, 4)


def test_a_curses_program_draws_boxes_and_scrolls_its_region() -> None:
    screen = shown(b"\x1b(0lqqk\x1b(B\x1b[2;1H\x1b(0x\x1b(B  \x1b(0x\x1b(B\x1b[3;1H\x1b)0\x0emqqj\x0f")
    assert text(screen)[:3] == ["┌──┐", "│  │", "└──┘"]
    screen = shown(b"head\r\na\r\nb\r\nc\r\nfoot\x1b[2;4r\x1b[4;1H\nnew\x1b[2;1H\x1bMtop")
    assert text(screen) == ["head", "top", "b", "c", "foot"]
    assert not screen.history


def test_editing_within_a_row() -> None:
    assert text(shown(b"abcdef\x1b[3G\x1b[2@"))[0] == "ab  cdef"
    assert text(shown(b"abcdef\x1b[3G\x1b[2P"))[0] == "abef"
    assert text(shown(b"abcdef\x1b[3G\x1b[2X"))[0] == "ab  ef"
    assert text(shown(b"abcdef\x1b[3G\x1b[4hXY\x1b[4l"))[0] == "abXYcdef"
    assert text(shown(b"abc\x1b[3b"))[0] == "abcccc"


def test_wide_and_combining_characters_keep_their_cells() -> None:
    screen = shown("日本\x1b[2Gx".encode())
    assert text(screen)[0] == " x本"
    screen = shown("e\u0301a\u0301".encode() + b"\x1b[1Go")
    assert text(screen)[0] == "oa\u0301"
    screen = shown(("e" + "\u0301" * 500).encode())
    assert len(text(screen)[0]) < 12
    assert text(shown("0123456789012345678日".encode()))[:2] == ["0123456789012345678", "日"]


def test_a_background_fills_what_is_erased() -> None:
    screen = shown(b"\x1b[44m\x1b[K\x1b[0m")
    assert looks(screen) == [(" " * 20, Rendition(background=4))]


def test_resizing_keeps_the_text() -> None:
    screen = shown(b"one\r\ntwo\r\nthree\r\nfour\r\nfive")
    screen.resize(3, 2)
    assert text(screen) == ["four", "five"]
    assert ["".join(part for part, _ in row.runs(3)) for row in screen.lines] == ["fou", "fiv"]
    screen.resize(20, 6)
    assert text(screen) == ["one", "two", "three", "four", "five", ""]
    for size in ((1, 1), (200, 60), (2, 1), (80, 24)):
        screen.resize(*size)
        TerminalStream(screen).feed("x日\x1b[5;5Hy\x1b[9L".encode())
        assert len(screen.lines) == size[1]


def test_random_streams_look_as_in_another_emulator() -> None:
    for seed in range(300):
        raw = _random_stream(random.Random(seed))
        reference = pyte.Screen(20, 5)
        pyte.Stream(reference).feed(raw)
        screen = shown(raw.encode())
        assert text(screen) == [line.rstrip() for line in reference.display], (seed, raw)


def test_random_bytes_never_raise() -> None:
    rng = random.Random(7)
    pieces = [
        b"\x1b",
        b"[",
        b"]",
        b"P",
        b";",
        b"9999",
        b"?",
        b"h",
        b"l",
        b"m",
        b"r",
        b"H",
        b"\xe6\x97\xa5",
        b"\xcc\x81",
    ]
    for _ in range(200):
        raw = b"".join(rng.choice(pieces) if rng.random() < 0.8 else rng.randbytes(2) for _ in range(200))
        screen = shown(raw, columns=rng.randrange(1, 9), rows=rng.randrange(1, 5), piece=rng.randrange(1, 50))
        for row in screen.lines:
            assert len(row.text) == len(row.looks)


def _random_stream(rng: random.Random) -> str:
    """Operations on which emulators agree: no wrap is pending when one moves or erases."""
    out: list[str] = []
    for _ in range(rng.randrange(1, 40)):
        out.append(f"\x1b[{rng.randrange(1, 6)};{rng.randrange(1, 12)}H")
        out.append("".join(rng.choice("abcdefé ") for _ in range(rng.randrange(9))))
        count = rng.choice(["", "1", "2", "3"])
        out.append(
            rng.choice(
                [
                    "\n",
                    "\r",
                    "\r\n",
                    "\b",
                    f"\x1b[{count}{rng.choice('ABCDG@PX')}",
                    f"\x1b[{rng.choice(['', '0', '1', '2'])}{rng.choice('JK')}",
                    f"\x1b[{rng.choice(['0', '1', '31', '7', '38;5;200'])}m",
                    "\x1bM",
                    "\x1bD",
                ]
            )
        )
        out.append(rng.choice(["", "xy"]))
    return "".join(out)
