"""What is left to say of an engine that has ended: why, and not where to report it."""

from __future__ import annotations

from ladder_backends.gdb.command_line import CommandLine
from ladder_backends.mi.ending import LastWords

_CRASH = (
    "0x55d8 ???\n---------------------\nA fatal error internal to GDB has been detected, further\n"
    "debugging is not possible.  GDB will now terminate.\n\n"
    "This is a bug, please report it.  For instructions, see:\n<https://www.gnu.org/software/gdb/bugs/>.\n\n"
)


def test_advice_for_its_makers_is_no_last_word() -> None:
    words = LastWords()
    words.feed(_CRASH.encode())
    assert str(words).endswith("debugging is not possible.  GDB will now terminate.")
    line = CommandLine()
    line.feed(_CRASH.encode())
    assert line.last_words().splitlines()[-1] == "debugging is not possible.  GDB will now terminate."
