"""Mouse events as the bytes that a terminal sends for them (xterm)."""

from __future__ import annotations

import enum

_SHIFT, _ALT, _CTRL = 4, 8, 16
_MOTION = 32
_RELEASE = 3
_FARTHEST = 222
"""Last column and row, 0-based, that the old form of a report can name."""


class MouseAct(enum.Enum):
    """What happened."""

    PRESS = "press"
    RELEASE = "release"
    MOVE = "move"


def mouse_bytes(
    act: MouseAct,
    button: int,
    column: int,
    row: int,
    *,
    mode: int,
    sgr: bool,
    shift: bool = False,
    alt: bool = False,
    ctrl: bool = False,
) -> bytes | None:
    """What a program reads for a mouse event, or None for one it did not ask for.

    Args:
        act: What happened.
        button: 0 left, 1 middle, 2 right, 3 none held, 64 and 65 the wheel up and down.
        column: Cell, 0-based.
        row: Cell, 0-based.
        mode: What it asked for: 0, 1000, 1002 or 1003.
        sgr: It reads the form that knows no limits.
        shift: With this key held.
        alt: With this key held.
        ctrl: With this key held.
    """
    if not mode:
        return None
    if act is MouseAct.MOVE and (mode == 1000 or (mode == 1002 and button == _RELEASE)):
        return None
    code = button + (_SHIFT if shift else 0) + (_ALT if alt else 0) + (_CTRL if ctrl else 0)
    code += _MOTION if act is MouseAct.MOVE else 0
    if sgr:
        return b"\x1b[<%d;%d;%d%c" % (code, column + 1, row + 1, b"m" if act is MouseAct.RELEASE else b"M")
    if column > _FARTHEST or row > _FARTHEST:
        return None
    if act is MouseAct.RELEASE:
        code = code & ~3 | _RELEASE
    return b"\x1b[M" + bytes((32 + code, 33 + column, 33 + row))
