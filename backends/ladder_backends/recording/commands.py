"""What a command depends on and what it changes, as far as a recording must know."""

from __future__ import annotations

import enum
import re

from ladder_backends.mi.strings import unescape


class Reach(enum.Enum):
    """Kinds of commands."""

    SETTING = enum.auto()
    """Depends on nothing but itself: versions, features, settings."""
    OPENING = enum.auto()
    """Replaces what was open; does not depend on what was before."""
    RUNNING = enum.auto()
    """Lets the target run, or changes it or the engine in an unknown way; depends on everything."""
    BREAKPOINT = enum.auto()
    """Changes breakpoints or lists them."""
    PLACE = enum.auto()
    """Moves to a thread or lane that it names completely."""
    KERNEL_PLACE = enum.auto()
    """Moves to a lane of the focused kernel that it names completely."""
    RELATIVE_PLACE = enum.auto()
    """Moves from where the engine stands."""
    FRAME = enum.auto()
    """Selects a frame of where the engine stands."""
    STACK = enum.auto()
    """Asks about the stack of where the engine stands, whichever frame is selected."""
    QUESTION = enum.auto()
    """Asks about the selected frame of where the engine stands."""
    EVERYWHERE = enum.auto()
    """Asks about a thread and frame that it names, or about what is the same in every place."""
    TABLE = enum.auto()
    """Asks for a table about what it names; only the mark on the focused row depends on the place."""


_SETTINGS = (
    "-list-features",
    "-gdb-version",
    "-gdb-set",
    "-gdb-show",
    "-info-gdb-mi-command",
    "-environment-",
    "-inferior-tty-",
    "-enable-",
)
_SAME_EVERYWHERE = ("-list-target-features", "-file-list-", "-symbol-info-", "-complete")
_OPENINGS = ("-file-", "-target-", "-symbol-file")
_CHANGES = (
    *("-exec-", "-var-assign", "-data-write-", "-gdb-set var"),
    *("-thread-group", "-add-inferior", "-remove-inferior"),
)
_OPENING_LINES = frozenset(("target", "file", "exec-file", "symbol-file", "core-file", "core", "attach"))
_QUESTION_LINES = frozenset(
    (
        *("print", "p", "inspect", "output", "printf", "echo", "x", "ptype", "whatis", "explore", "disassemble"),
        *("info", "i", "list", "l", "backtrace", "bt", "where", "show", "help", "h", "apropos"),
        *("complete", "macro"),
    )
)
_MOVE_LINES = frozenset(("cuda", "thread", "t", "inferior"))
_FRAME_LINES = frozenset(("frame", "f", "select-frame", "up", "down"))
_BREAKPOINT_LINES = frozenset(
    (
        *("break", "b", "br", "tbreak", "tb", "hbreak", "watch", "rwatch", "awatch", "catch"),
        *("delete", "d", "del", "clear", "disable", "enable", "condition", "ignore", "commands"),
    )
)
_CONSOLE = re.compile(r'-interpreter-exec\s+(?:"console"|console)\s+"(?P<line>(?:[^"\\]|\\.)*)"\s*\Z', re.DOTALL)
_WORD = re.compile(r"\s*([\w-]*)")
_ASSIGNMENT = re.compile(r"[^=!<>]=[^=]|\+\+|--")
# Tables that name what they are about.
_NAMED_TABLE = re.compile(
    r"-cuda-info-(?:kernels|devices|contexts|blocks kernel \d+|threads kernel \d+ block \S+"
    r"|sms device \d+|warps device \d+ sm \d+|lanes device \d+ sm \d+ warp \d+)\s*\Z"
)
_OPTION = re.compile(r"--(thread|frame) +\S+")


def reach_of(command: str) -> Reach:
    """The kind of an MI command, given without its token."""
    console = _CONSOLE.match(command)
    if console is not None:
        return reach_of_line(unescape(console["line"]))
    if command.startswith(_CHANGES):
        return Reach.RUNNING
    if command.startswith(_SETTINGS):
        return Reach.SETTING
    if command.startswith(_SAME_EVERYWHERE):
        return Reach.EVERYWHERE
    if command.startswith(_OPENINGS):
        return Reach.OPENING
    if command.startswith("-break-"):
        return Reach.BREAKPOINT
    if command.startswith("-thread-select"):
        return Reach.PLACE
    if command.startswith("-stack-select-frame"):
        return Reach.FRAME
    if command.startswith("-cuda-focus-switch"):
        return _reach_of_switch(command)
    if _NAMED_TABLE.match(command):
        return Reach.TABLE
    if command.startswith("-data-evaluate-expression"):
        expression = _OPTION.sub("", command.removeprefix("-data-evaluate-expression"))
        if _ASSIGNMENT.search(expression):
            return Reach.RUNNING
    options = set(_OPTION.findall(command))
    stack = command.startswith(
        ("-stack-list-frames", "-stack-list-arguments", "-stack-info-depth", "-thread-", "-cuda-")
    )
    if "thread" in options and ("frame" in options or stack):
        return Reach.EVERYWHERE
    return Reach.STACK if stack else Reach.QUESTION


def reach_of_line(line: str) -> Reach:
    """The kind of a line of the engine's command line."""
    match = _WORD.match(line)
    word = match.group(1) if match is not None else ""
    rest = line[match.end() :].strip() if match is not None else ""
    if not word:
        # An empty line repeats the last command.
        return Reach.RUNNING
    if word in _QUESTION_LINES:
        return Reach.RUNNING if word != "echo" and _ASSIGNMENT.search(rest) else Reach.QUESTION
    if word in _OPENING_LINES:
        return Reach.OPENING
    if word == "unset":
        return Reach.SETTING
    if word in _MOVE_LINES:
        return Reach.RELATIVE_PLACE
    if word in _FRAME_LINES:
        return Reach.FRAME
    return Reach.BREAKPOINT if word in _BREAKPOINT_LINES else Reach.RUNNING


def _reach_of_switch(command: str) -> Reach:
    words = set(re.findall(r"[a-z]+", command.removeprefix("-cuda-focus-switch")))
    if {"device", "sm", "warp", "lane"} <= words or {"block", "thread", "kernel"} <= words:
        return Reach.PLACE
    if {"block", "thread"} <= words and not words & {"device", "sm", "warp", "lane", "grid"}:
        return Reach.KERNEL_PLACE
    return Reach.RELATIVE_PLACE
