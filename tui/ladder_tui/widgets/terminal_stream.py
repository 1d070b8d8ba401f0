"""Bytes of a program's terminal, turned into operations on a `TerminalScreen`.

Whatever is not understood is swallowed: nothing of the stream ever reaches the user's own terminal. The few
questions that programs wait to have answered (where the cursor is, what kind of terminal this is) are answered from
the screen.
"""

from __future__ import annotations

import codecs
import re

from ladder_tui.widgets.terminal_row import (
    BOLD,
    DEFAULT_COLOUR,
    DIM,
    ITALIC,
    REVERSE,
    STRIKE,
    TRUE_COLOUR,
    UNDERLINE,
    Rendition,
)
from ladder_tui.widgets.terminal_screen import TerminalScreen

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f]+)"
    r"|(?P<newline>\r\n)"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
    r"|\x1b\[(?P<csi>[\x30-\x3f]*)(?P<between>[\x20-\x2f]*)(?P<final>[\x40-\x7e])"
    r"|\x1b(?P<string>[\]PX^_])"
    r"|\x1b(?P<charset>[\x20-\x2f]+[\x30-\x7e])"
    r"|\x1b(?P<escape>[\x30-\x4f\x51-\x57\x59\x5a\x5c\x60-\x7e])"
    r"|(?P<broken>\x1b(?:\[[\x20-\x3f]*|[\x20-\x2f]*))"
)
_STRING_END = re.compile(r"\x07|\x1b\\|[\x18\x1a]|\x1b(?=[^\\])")
_MAX_STRING = 65_536
_MAX_SEQUENCE = 256
_MAX_PARAMETER = 9_999
_MOST_ANSWERS = 1_024
"""Bytes of answers that wait to be taken; a program that asks for more gets none."""

_VT220 = b"\x1b[?62;22c"
_VT220_VERSION = b"\x1b[>1;10;0c"

_GRAPHICS = str.maketrans("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")

_FLAGS = {1: BOLD, 2: DIM, 3: ITALIC, 4: UNDERLINE, 7: REVERSE, 9: STRIKE, 21: UNDERLINE}
_FLAGS_OFF = {22: BOLD | DIM, 23: ITALIC, 24: UNDERLINE, 27: REVERSE, 29: STRIKE}


class TerminalStream:
    """Feeds bytes to a screen; a sequence may be cut anywhere between two calls.

    Attributes:
        answers: What the terminal has to say to the program; whoever feeds takes it out.
    """

    def __init__(self, screen: TerminalScreen) -> None:
        self.screen = screen
        self.answers = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._rest = ""
        self._string_room = 0
        self._g1_graphics = False
        self._shifted = False
        self._g0_graphics = False

    def feed(self, raw: bytes) -> None:
        """Show bytes; those that are not UTF-8 show as `\\xff`."""
        text = self._rest + self._decoder.decode(raw)
        self._rest = ""
        position = 0
        while position < len(text):
            read = self._skip_string if self._string_room else self._tokens
            position = read(text, position)
        self.screen.revision += 1

    def resume_after_gap(self) -> None:
        """Forget a half-read sequence and the rendition: bytes were left out here."""
        self._decoder.reset()
        self._rest = ""
        self._string_room = 0
        self.screen.rendition = Rendition()

    def _tokens(self, text: str, position: int) -> int:
        screen = self.screen
        for match in _TOKEN.finditer(text, position):
            kind = match.lastgroup
            if kind == "text":
                run = match[0]
                screen.write(run.translate(_GRAPHICS) if screen.graphics else run)
            elif kind == "newline":
                screen.carriage_return()
                screen.line_feed()
            elif kind == "control":
                self._control(match[0])
            elif kind == "final":
                if len(match[0]) <= _MAX_SEQUENCE and not match["between"]:
                    self._csi(match["csi"], match["final"])
                elif match["between"] == "!" and match["final"] == "p":
                    self._soft_reset()
            elif kind == "string":
                self._string_room = _MAX_STRING
                return match.end()
            elif kind == "charset":
                self._charset(match["charset"])
            elif kind == "escape":
                self._escape(match["escape"])
            elif match.end() == len(text) and len(match[0]) <= _MAX_SEQUENCE:
                self._rest = match[0]
        return len(text)

    def _skip_string(self, text: str, position: int) -> int:
        end = _STRING_END.search(text, position, position + self._string_room)
        if end is not None:
            self._string_room = 0
            return end.start() if end[0] == "\x1b" else end.end()
        swallowed = min(len(text) - position, self._string_room)
        self._string_room -= swallowed
        if self._string_room and text.endswith("\x1b"):
            # The terminator may be cut in half here.
            self._rest = "\x1b"
            self._string_room += 1
        return position + swallowed

    def _control(self, control: str) -> None:
        screen = self.screen
        if control in "\n\v\f":
            screen.line_feed()
        elif control == "\r":
            screen.carriage_return()
        elif control == "\b":
            screen.move_by(columns=-1)
        elif control == "\t":
            screen.tab()
        elif control in "\x0e\x0f":
            self._shifted = control == "\x0e"
            self._choose_graphics()

    def _charset(self, designation: str) -> None:
        graphics = designation.endswith("0")
        if designation[0] == "(":
            self._g0_graphics = graphics
        elif designation[0] == ")":
            self._g1_graphics = graphics
        self._choose_graphics()

    def _choose_graphics(self) -> None:
        self.screen.graphics = self._g1_graphics if self._shifted else self._g0_graphics

    def _escape(self, final: str) -> None:
        screen = self.screen
        if final == "7":
            screen.save_cursor()
        elif final == "8":
            screen.restore_cursor()
        elif final == "D":
            screen.line_feed()
        elif final == "E":
            screen.carriage_return()
            screen.line_feed()
        elif final == "M":
            screen.reverse_line_feed()
        elif final == "c":
            self._g0_graphics = self._g1_graphics = self._shifted = False
            screen.reset()

    def _soft_reset(self) -> None:
        screen = self.screen
        screen.cursor_visible = screen.autowrap = True
        screen.insert_mode = screen.origin_mode = screen.application_keys = False
        screen.top, screen.bottom = 0, screen.rows - 1
        screen.rendition = Rendition()

    def _csi(self, parameters: str, final: str) -> None:
        screen = self.screen
        if parameters[:1] in ("?", ">", "<", "="):
            if parameters[0] == "?" and final in "hl":
                for mode in _numbers(parameters[1:]):
                    self._private_mode(mode, final == "h")
            elif parameters[0] == ">" and final == "c":
                self._answer(_VT220_VERSION)
            return
        if final == "m":
            screen.rendition = _select(screen.rendition, parameters)
            return
        numbers = _numbers(parameters)
        first = numbers[0] if numbers else 0
        count = max(1, first)
        if final in _MOVES:
            rows, columns = _MOVES[final]
            if final in "EF":
                screen.carriage_return()
            screen.move_by(rows * count, columns * count)
        elif final in "Hf":
            second = numbers[1] if len(numbers) > 1 else 1
            screen.move_to(count - 1, max(1, second) - 1)
        elif final in "G`":
            screen.move_to(column=count - 1)
        elif final == "d":
            screen.move_to(row=count - 1)
        elif final == "J":
            screen.erase_in_screen(first)
        elif final == "K":
            screen.erase_in_line(first)
        elif final == "r":
            bottom = numbers[1] if len(numbers) > 1 and numbers[1] else screen.rows
            screen.set_region(count - 1, bottom - 1)
        elif final in "hl":
            if 4 in numbers:
                screen.insert_mode = final == "h"
        elif final == "Z":
            screen.tab(-min(count, screen.columns))
        elif final == "I":
            screen.tab(min(count, screen.columns))
        elif final == "s" and not parameters:
            screen.save_cursor()
        elif final == "u" and not parameters:
            screen.restore_cursor()
        elif final == "c" and not first:
            self._answer(_VT220)
        elif final == "n":
            self._report(first)
        elif final in _COUNTED:
            getattr(screen, _COUNTED[final])(count)

    def _report(self, what: int) -> None:
        """Device status report: 5 asks whether all is well, 6 where the cursor is."""
        if what == 5:
            self._answer(b"\x1b[0n")
        elif what == 6:
            row, column = self.screen.cursor
            row -= self.screen.top if self.screen.origin_mode else 0
            self._answer(b"\x1b[%d;%dR" % (row + 1, column + 1))

    def _answer(self, raw: bytes) -> None:
        if len(self.answers) + len(raw) <= _MOST_ANSWERS:
            self.answers += raw

    def _private_mode(self, mode: int, on: bool) -> None:
        screen = self.screen
        if mode == 25:
            screen.cursor_visible = on
        elif mode == 1:
            screen.application_keys = on
        elif mode == 2004:
            screen.bracketed_paste = on
        elif mode == 7:
            screen.autowrap = on
        elif mode == 6:
            screen.origin_mode = on
            screen.move_to(0, 0)
        elif mode in (47, 1047):
            screen.use_alternate(on)
        elif mode == 1049:
            screen.use_alternate(on, save_cursor=True)
        elif mode in _MOUSE:
            screen.mouse = mode if on else 0
        elif mode == 1006:
            screen.mouse_sgr = on
        elif mode == 1004:
            screen.focus_reports = on
        elif mode == 1048:
            (screen.save_cursor if on else screen.restore_cursor)()


_MOUSE = (1000, 1002, 1003)

_MOVES = {
    "A": (-1, 0),
    "B": (1, 0),
    "C": (0, 1),
    "D": (0, -1),
    "E": (1, 0),
    "F": (-1, 0),
    "a": (0, 1),
    "e": (1, 0),
}
_COUNTED = {
    "@": "insert_characters",
    "P": "delete_characters",
    "X": "erase_characters",
    "L": "insert_lines",
    "M": "delete_lines",
    "S": "scroll_up",
    "T": "scroll_down",
    "b": "repeat",
}


def _number(text: str) -> int:
    return min(int(text[:6]), _MAX_PARAMETER) if text.isdecimal() else 0


def _numbers(parameters: str) -> list[int]:
    return [_number(part.partition(":")[0]) for part in parameters.split(";")] if parameters else []


def _select(rendition: Rendition, parameters: str) -> Rendition:
    """Select Graphic Rendition; blinking and hidden text are shown as ordinary text."""
    foreground, background, flags = rendition
    parts = parameters.split(";")
    position = 0
    while position < len(parts):
        part = parts[position]
        position += 1
        code = _number(part.partition(":")[0])
        if code == 0:
            foreground = background = DEFAULT_COLOUR
            flags = 0
        elif code == 4 and part.endswith(":0"):
            flags &= ~UNDERLINE
        elif code in _FLAGS:
            flags |= _FLAGS[code]
        elif code in _FLAGS_OFF:
            flags &= ~_FLAGS_OFF[code]
        elif code in (38, 48, 58):
            colour, position = _colour(part, parts, position)
            if colour is not None and code == 38:
                foreground = colour
            elif colour is not None and code == 48:
                background = colour
        elif 30 <= code <= 37 or 90 <= code <= 97:
            foreground = code - 30 if code < 40 else code - 82
        elif 40 <= code <= 47 or 100 <= code <= 107:
            background = code - 40 if code < 50 else code - 92
        elif code == 39:
            foreground = DEFAULT_COLOUR
        elif code == 49:
            background = DEFAULT_COLOUR
    return Rendition(foreground, background, flags)


def _colour(part: str, parts: list[str], position: int) -> tuple[int | None, int]:
    """The colour after 38 or 48, in the form with colons or with semicolons, and where to read on."""
    if ":" in part:
        fields = [_number(field) for field in part.split(":")[1:]]
        if fields[:1] == [2] and len(fields) > 4:
            # A colour space stands between the 2 and the three channels.
            fields = [2, *fields[2:5]]
    else:
        kind = parts[position] if position < len(parts) else ""
        taken = {"5": 2, "2": 4}.get(kind, 1)
        fields = [_number(field) for field in parts[position : position + taken]]
        position += taken
    if len(fields) >= 2 and fields[0] == 5:
        return min(fields[1], 255), position
    if len(fields) >= 4 and fields[0] == 2:
        red, green, blue = (min(channel, 255) for channel in fields[1:4])
        return TRUE_COLOUR | red << 16 | green << 8 | blue, position
    return None, position
