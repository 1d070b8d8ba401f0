"""What is sent makes the terminal show what was composed, and is no more than differs from what it showed."""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pyte
import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.drivers.headless_driver import HeadlessDriver
from textual.geometry import Region, Size
from textual.strip import Strip

from ladder_backends.model.frame import Frame, FrameWindow, Place
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.session.state import Change
from ladder_tui._shown import Look, Shown, change_of_look

STOP = Change.RUN | Change.FRAMES | Change.VARIABLES | Change.FOCUS | Change.BREAKPOINTS
_PRIVATE = re.compile(r"\x1b\[[<>=][^a-zA-Z]*[a-zA-Z]|\x1b\[\?2026[hl]|\x1b\]22;[^\x1b]*\x1b\\")
"""Sequences that the emulator would print: of the keyboard, of the pointer's shape."""


class Emulator:
    """A terminal, which is told what an application writes."""

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.Stream(self.screen)
        self.fed = 0
        self.stream.feed("\x1b[?7l")

    def feed(self, text: str) -> None:
        text = _PRIVATE.sub("", text)
        self.fed += len(text)
        self.stream.feed(text.replace("\n", "\r\n"))

    def cells(self) -> list[list[Any]]:
        """Text, colours and attributes; of a blank only what is seen of it."""

        def look(cell: Any) -> Any:
            plain = not (cell.underscore or cell.strikethrough or cell.reverse)
            return (" ", cell.bg) if cell.data[:1] == " " and plain else tuple(cell)

        buffer = self.screen.buffer
        return [[look(buffer[y][x]) for x in range(self.screen.columns)] for y in range(self.screen.lines)]

    def scribble(self) -> None:
        """Something else writes over all of it."""
        self.stream.feed("\x1b[H" + "\r\n".join(["#" * self.screen.columns] * (self.screen.lines - 1)))


def fresh(update: LayoutUpdate, console: Console, size: Size) -> Emulator:
    """A terminal that was sent a whole screen in Textual's own way."""
    emulator = Emulator(*size)
    emulator.feed("\x1b[H\x1b[2J" + update.render_segments(console))
    return emulator


# Updates at random -------------------------------------------------------------------------------------------

PIECES = ("a", "b", " ", "  ", "ab cd", "…", "名", "値前", "e\u0301", "o\u0302x", "│", "한글", "🙂")
STYLES = [
    Style.parse(text)
    for text in (
        "",
        "red",
        "bold red on blue",
        "on blue",
        "underline",
        "italic #123456 on #654321",
        "reverse",
    )
]


class Composer:
    """Screens at random: lines of strips, cut where widgets would end."""

    def __init__(self, seed: int, size: Size) -> None:
        self.random = random.Random(seed)
        self.dirty: list[tuple[int, int, int]] = []
        self.resize(size)

    def resize(self, size: Size) -> None:
        self.size = size
        draw = self.random
        inner = [sorted(draw.sample(range(1, size.width), 2)) for _ in range(size.height)]
        self.cuts = [[0, *cuts, size.width] for cuts in inner]
        self.lines = [[self.strip(b - a) for a, b in pairwise(cuts)] for cuts in self.cuts]

    def strip(self, width: int) -> Strip:
        draw = self.random
        segments = [Segment(draw.choice(PIECES), draw.choice(STYLES)) for _ in range(width)]
        return Strip(segments).adjust_cell_length(width, STYLES[3])

    def change(self) -> None:
        """Some strips become others, in a part or in the whole."""
        draw = self.random
        for _ in range(draw.randint(1, 4)):
            y = draw.randrange(self.size.height)
            index = draw.randrange(3)
            old = self.lines[y][index]
            width = old.cell_length
            at = draw.randrange(width + 1)
            if draw.random() < 0.5:
                middle = self.strip(min(2, width - at))
                new = Strip.join([old.crop(0, at), middle, old.crop(at + middle.cell_length, width)])
                # What is cut in two is blank on both sides.
                span = (max(0, at - 1), min(width, at + middle.cell_length + 1))
            else:
                new, span = self.strip(width), (0, width)
            self.lines[y][index] = Strip(list(new), width)
            left = self.cuts[y][index]
            self.dirty.append((y, left + span[0], left + span[1]))

    def partial(self) -> ChopsUpdate:
        self.dirty = []
        self.change()
        chops: list[dict[int, Strip | None]] = []
        for y, line in enumerate(self.lines):
            chops.append(dict(zip(self.cuts[y][:-1], line, strict=True)))
        return ChopsUpdate(chops, sorted(self.dirty), [cuts[1:] for cuts in self.cuts])

    def full(self) -> LayoutUpdate:
        return LayoutUpdate([list(line) for line in self.lines], self.size.region)


@pytest.mark.parametrize("system", ["standard", "256", "truecolor", None])
@pytest.mark.parametrize("seed", range(6))
def test_any_updates_make_the_screen_that_was_composed(seed: int, system: Any) -> None:
    # Rich keeps the codes of a style for the first system that it is drawn with.
    for style in STYLES:
        style._ansi = None
    console = Console(color_system=system, force_terminal=True)
    composer, shown = Composer(seed, Size(30, 6)), Shown()
    emulator = Emulator(30, 6)
    for turn in range(40):
        action = composer.random.random()
        if action < 0.1:
            composer.resize(Size(composer.random.randint(12, 40), composer.random.randint(2, 9)))
            emulator = Emulator(*composer.size)
            update: Any = composer.full()
        elif action < 0.2 or not turn:
            composer.dirty = []
            composer.change()
            update = composer.full()
        else:
            update = composer.partial()
        emulator.feed(shown.difference(update, console, composer.size))
        assert shown.whole
        expected = fresh(composer.full(), console, composer.size)
        assert emulator.cells() == expected.cells(), (seed, turn)
        assert shown.difference(composer.full(), console, composer.size) == ""


def line_of(*texts: str) -> LayoutUpdate:
    strips = [Strip([Segment(text)]) for text in texts]
    width = sum(strip.cell_length for strip in strips)
    return LayoutUpdate([strips], Region(0, 0, width, 1))


@pytest.mark.parametrize(
    ("before", "after", "sent"),
    [
        ("abcdefghijklmnop", "abcdefghijklmnop", ""),
        ("abcdefghijklmnop", "abcdefghijXlmnop", "\x1b[1;11HX"),
        ("abcdefghijklmnop", "Xbcdefghijklmnoq", "\x1b[1;1HX\x1b[16Gq"),
        ("abcdefghijklmnop", "abXdeXghijklmnop", "\x1b[1;3HXdeX"),
        ("ab名前efghijkl", "ab名X efghijkl", "\x1b[1;5HX "),
        ("ab名前efghijkl", "ab X前efghijkl", "\x1b[1;3H X"),
        ("ab X前efghijkl", "a名X前efghijkl", "\x1b[1;2H名"),
        ("abe\u0301defghijkl", "abedefghijkl", "\x1b[1;3He"),
        # Where the cursor is behind what is no plain character is the terminal's to say.
        ("abcdefgh", "ab前e\u0301gX", "\x1b[1;3H前e\u0301\x1b[6GgX"),
    ],
)
def test_what_is_sent_is_what_differs(before: str, after: str, sent: str) -> None:
    shown, console = Shown(), Console(color_system="truecolor", force_terminal=True)
    update = line_of(before)
    size = Size(update.region.width, 1)
    shown.difference(update, console, size)
    assert shown.difference(line_of(after), console, size) == sent


@pytest.mark.parametrize(
    ("dirty", "sent", "then"),
    [
        # Of the other half nobody knows what a terminal makes: it is blanked, and sent again when it is composed.
        ((None, "Ycd"), "\x1b[1;3H Y", "\x1b[1;3HX"),
        (("abX", None), "\x1b[1;4H \x1b[3GX", "\x1b[1;4HY"),
        (("abX", "Ycd"), "\x1b[1;4H \x1b[3GXY", ""),
    ],
)
def test_half_of_a_wide_character_takes_the_other_half_along(dirty: Any, sent: str, then: str) -> None:
    shown, console, size = Shown(), Console(color_system="truecolor", force_terminal=True), Size(6, 1)
    shown.difference(line_of("ab名cd"), console, size)
    strips = [text and Strip([Segment(text)]) for text in dirty]
    update = ChopsUpdate([dict(zip((0, 3), strips, strict=True))], [(0, 0, 6)], [[3, 6]])
    assert shown.difference(update, console, size) == sent
    assert shown.difference(line_of("abX", "Ycd"), console, size) == then


def test_what_cannot_be_drawn_is_not_taken_for_shown() -> None:
    shown, console, size = Shown(), Console(color_system=None, force_terminal=True), Size(4, 1)
    shown.difference(line_of("abcd"), console, size)
    broken: Any = LayoutUpdate([[None]], Region(0, 0, 4, 1))  # type: ignore[list-item]
    with pytest.raises(TypeError):
        shown.difference(broken, console, size)
    assert not shown.whole
    assert shown.difference(line_of("abcd"), console, size) == "\x1b[1;1Habcd"


def test_a_change_of_look_is_as_short_as_it_can_be() -> None:
    red, blue, bold = Look("", "31", "40"), Look("", "34", "40"), Look("1", "31", "40")
    assert change_of_look(red, red) == ""
    assert change_of_look(red, blue) == "\x1b[34m"
    assert change_of_look(red, bold) == "\x1b[1m"
    assert change_of_look(bold, red) == "\x1b[0;31;40m"
    assert change_of_look(red, Look("", "", "40")) == "\x1b[0;40m"
    assert change_of_look(red, red._replace(link="id=1;a")) == "\x1b]8;id=1;a\x1b\\"
    assert change_of_look(red._replace(link="id=1;a"), Look()) == "\x1b]8;;\x1b\\\x1b[0m"


# The whole application ---------------------------------------------------------------------------------------


class Wired:
    """The application, whose driver writes into an emulator."""

    def __init__(self, view: Any, emulator: Emulator) -> None:
        self.view = view
        self.emulator = emulator

    @property
    def app(self) -> Any:
        return self.view.app

    def expected(self) -> Emulator:
        app = self.app
        update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
        assert isinstance(update, LayoutUpdate)
        return fresh(update, app.console, app.size)

    def check(self) -> None:
        """The terminal shows what the application would."""
        expected = self.expected()
        assert self.emulator.screen.display == expected.screen.display
        assert self.emulator.cells() == expected.cells()

    async def cost(self, doing: Awaitable[Any]) -> tuple[int, int, int]:
        """What something sends, how many cells it changes, and how often these change colours among themselves."""
        before, sent = self.emulator.cells(), self.emulator.fed
        await doing
        await self.view.settle()
        after = self.emulator.cells()
        rows = zip(before, after, strict=True)
        changed = [b[1:] for old, new in rows for a, b in zip(old, new, strict=True) if a != b]
        turns = sum(a != b for a, b in pairwise(changed))
        return self.emulator.fed - sent, len(changed), turns

    async def press(self, *keys: str) -> None:
        await self.view.press(*keys)

    async def resize(self, columns: int, rows: int) -> None:
        self.emulator.screen.resize(rows, columns)
        await self.view.resize(columns, rows)


@pytest.fixture
def wired(show: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    @asynccontextmanager
    async def opened(ladder: Any, size: tuple[int, int] = (100, 30), **settings: Any) -> AsyncIterator[Wired]:
        emulator = Emulator(*size)
        monkeypatch.setattr(HeadlessDriver, "write", lambda driver, text: emulator.feed(text))
        monkeypatch.setattr(HeadlessDriver, "is_headless", False)
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("COLORTERM", "truecolor")
        async with show(ladder, size, **settings) as view:
            yield Wired(view, emulator)

    return opened


def stand_elsewhere(ladder: Any, draw: random.Random) -> None:
    """A stop with other names, some of them wide."""
    debug = ladder.active.state
    place = Place("segfault.c", draw.randint(3, 11), "/src/segfault.c")
    debug.place, debug.fault, debug.run_detail = place, False, draw.choice(["", "end-stepping-range"])
    debug.since += 1
    name = draw.choice(["compute_total", "名前", "e\u0301tude", "한글x"])
    debug.frames = FrameWindow((Frame(0, name, place), *debug.frames.frames[1:]))
    debug.variables = VariableWindow(
        tuple(
            Variable(draw.choice(["data", "値", "n"]), draw.choice(["0x0", "値" * 9, "12"]), changed=changed)
            for changed in draw.choices((False, True), k=draw.randint(1, 9))
        )
    )


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_is_done_the_terminal_shows_the_screen(seed: int, segfault: Any, wired: Any) -> None:
    draw = random.Random(seed)
    keys = ("down", "up", "right", "left", "pagedown", "home", "tab", "z", "w", "v", "b", "1", "2", "3", "colon")
    opened = ("question_mark", "B", "ctrl+p", "E", "g", "slash", "O", "M", "W")
    async with wired(segfault) as one:
        one.check()
        for turn in range(45):
            kind = draw.choice(["key", "key", "key", "stop", "stop", "dialog", "leave", "size", "theme"])
            if kind == "key":
                await one.press(*draw.choices(keys, k=draw.randint(1, 3)))
            elif kind == "stop":
                stand_elsewhere(segfault, draw) if segfault.active else None
                # The clock stands still, and stops that come too fast are not painted at once.
                one.app.workspace._painted_at = one.app.clock() if turn % 3 == 0 else 0.0
                one.app.workspace.apply(STOP)
            elif kind == "dialog":
                await one.press(draw.choice(opened))
                await one.press("down")
            elif kind == "leave":
                await one.press("escape", "escape")
            elif kind == "theme":
                one.app.use_theme(draw.choice(["ladder-dark", "ladder-light", "high-contrast"]))
            else:
                await one.resize(draw.choice([70, 80, 100, 121]), draw.choice([20, 24, 30, 41]))
            await one.view.settle()
            try:
                one.check()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, turn {turn}: {kind}") from error


async def test_the_lines_of_a_stop_are_sent_without_composing_the_screen(
    segfault: Any, wired: Any, monkeypatch: Any
) -> None:
    async with wired(segfault) as one:
        stand_elsewhere(segfault, random.Random(1))
        with monkeypatch.context() as patch:
            patch.setattr(one.app.screen._compositor, "render_update", lambda **_: pytest.fail("composed"))
            one.app.workspace.apply(STOP)
            # Nothing is left to be done later, either.
            await one.view.pilot.pause(0.05)
        one.check()


@pytest.mark.parametrize("cover", ["notice", "dialog"])
async def test_what_lies_over_a_view_stays_there_at_a_stop(cover: str, segfault: Any, wired: Any) -> None:
    async with wired(segfault) as one:
        if cover == "notice":
            one.app.say("this is said " * 20, "error")
        else:
            await one.press("B")
        await one.view.settle()
        for seed in range(3):
            stand_elsewhere(segfault, random.Random(seed))
            one.app.workspace._painted_at = 0.0
            one.app.workspace.apply(STOP)
            await one.view.settle()
            one.check()
        assert one.app.workspace.notice_line.display or one.app.screen is not one.app.workspace


async def test_a_key_costs_about_what_it_changes(segfault: Any, wired: Any) -> None:
    async with wired(segfault, (80, 24)) as one:
        await one.press("w", "escape")
        for keys in (("w",), ("h",), ("w",), ("v",), ("question_mark",), ("escape",), ("B",), ("escape",), ("z",)):
            sent, changed, turns = await one.cost(one.press(*keys))
            # A change of colour takes 20 to 40 bytes in 24 bits, and the cursor is put back where it was. A list of
            # keys is little but changes of colour.
            assert sent <= 300 + max(4 * changed, changed + 20 * turns), (keys, sent, changed, turns)
        one.check()


async def test_what_is_painted_as_it_stands_costs_nothing(segfault: Any, wired: Any) -> None:
    async with wired(segfault, (80, 24)) as one:
        screen = one.app.workspace
        again: list[Callable[[], Any]] = [
            screen.refresh,
            lambda: screen.refresh(layout=True),
            lambda: [pane.refresh() for pane in screen.panes.values()],
            lambda: screen.apply(STOP),
        ]
        for doing in again:
            sent = one.emulator.fed
            doing()
            await one.view.settle()
            assert one.emulator.fed == sent


async def test_a_step_costs_few_bytes(segfault: Any, wired: Any) -> None:
    async with wired(segfault, (120, 40)) as one:
        sizes = []
        debug = segfault.active.state
        for step in range(20):
            sent = one.emulator.fed
            place = Place("segfault.c", 3 + step % 8, "/src/segfault.c")
            debug.place, debug.fault, debug.run_detail = place, False, "end-stepping-range"
            debug.frames = FrameWindow((Frame(0, "compute_total", place), *debug.frames.frames[1:]))
            debug.variables = VariableWindow(
                tuple(
                    Variable(name, str(step * 7), "int", changed=step % 3 == 0) for name in ("data", "n", "total")
                )
            )
            one.app.workspace.apply(STOP)
            await one.view.settle()
            sizes.append(one.emulator.fed - sent)
            one.check()
        assert sorted(sizes)[10] <= 800
        assert max(sizes[1:]) <= 1_200


@pytest.mark.parametrize("before", [(), ("question_mark",), ("B",), ("colon",), ("g",), ("ctrl+p",)])
async def test_ctrl_l_paints_what_something_else_wrote_over(before: Any, segfault: Any, wired: Any) -> None:
    async with wired(segfault) as one:
        await one.press(*before)
        one.emulator.scribble()
        with pytest.raises(AssertionError):
            one.check()
        await one.press("ctrl+l")
        one.check()


async def test_the_start_screen_is_painted_anew_too(empty_ladder: Any, wired: Any, monkeypatch: Any) -> None:
    from ladder_tui.screens.start import StartScreen

    async with wired(empty_ladder) as one:
        one.app.push_screen(StartScreen(one.app.palette))
        await one.view.settle()
        one.emulator.scribble()
        await one.press("ctrl+l")
        one.check()


async def test_a_program_that_is_typed_to_hears_of_ctrl_l(segfault: Any, wired: Any) -> None:
    async with wired(segfault, (120, 40)) as one:
        assert one.app.workspace.show_pane("program") is not None
        await one.press("i", "x", "ctrl+l")
        assert [raw for name, *raw in segfault.active.asked if name == "type_to_program"] == [[b"x"], [b"\x0c"]]
        one.emulator.scribble()
        await one.press("ctrl+l")
        one.check()


async def test_a_terminal_that_comes_back_with_the_same_size_is_painted_whole(segfault: Any, wired: Any) -> None:
    async with wired(segfault) as one:
        one.emulator.scribble()
        one.app.post_message(events.Resize(one.app.size, one.app.size))
        await one.view.pilot.pause(0.3)
        one.check()


async def test_a_resize_there_and_back_is_painted_whole(segfault: Any, wired: Any) -> None:
    async with wired(segfault) as one:
        size = one.app.size
        one.app.post_message(events.Resize(Size(90, 28), Size(90, 28)))
        one.emulator.scribble()
        one.app.post_message(events.Resize(size, size))
        await one.view.pilot.pause(0.3)
        one.check()


async def test_what_was_not_written_is_sent_again(segfault: Any, wired: Any, monkeypatch: Any) -> None:
    async with wired(segfault) as one:
        app = one.app
        stand_elsewhere(segfault, random.Random(1))
        # Built again, and not painted yet.
        app.workspace._refresh_panes(STOP)

        def gone(driver: Any, text: str) -> None:
            raise OSError("gone")

        with monkeypatch.context() as patch:
            patch.setattr(HeadlessDriver, "write", gone)
            with pytest.raises(OSError, match="gone"):
                app._display(app.screen, app.screen._compositor.render_update(full=True))
        one.emulator.scribble()
        # The next change, however small, brings all of it.
        app.workspace.status_bar.refresh(Region(0, 0, 3, 1))
        await one.view.settle()
        one.check()


async def test_what_was_held_back_in_a_batch_is_not_taken_for_shown(segfault: Any, wired: Any) -> None:
    async with wired(segfault) as one:
        with one.app.batch_update():
            stand_elsewhere(segfault, random.Random(1))
            one.app.workspace.apply(STOP)
            one.app._display(one.app.screen, one.app.screen._compositor.render_update(full=True))
        one.app.screen.refresh()
        await one.view.settle()
        one.check()
