"""Pickles that hold plain data only. A pickle can run any code; one that would is refused before it does."""

from __future__ import annotations

import io
import pickle
import pickletools
from typing import NoReturn

MOST_BYTES = 256 << 20
"""A dump of 2,000 entries with stacks has some megabytes."""

_MOST_OPCODES = 20_000_000
_PUTS = ("PUT", "BINPUT", "LONG_BINPUT")
_CALLS = frozenset(
    [
        "GLOBAL",
        "STACK_GLOBAL",
        "INST",
        "OBJ",
        "REDUCE",
        "BUILD",
        "NEWOBJ",
        "NEWOBJ_EX",
        "EXT1",
        "EXT2",
        "EXT4",
        "PERSID",
        "BINPERSID",
        "NEXT_BUFFER",
        "READONLY_BUFFER",
    ]
)
"""Opcodes that name, build or call something that is no plain datum."""


class PickleRefused(ValueError):
    """Bytes that are no pickle of plain data; the text is a clause."""


class _Plain(pickle.Unpickler):
    """Knows no name: whatever the opcodes would call is refused a second time here."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise PickleRefused(f"it would call {module}.{name}")

    def persistent_load(self, pid: object) -> NoReturn:
        raise PickleRefused("it refers to something outside")


def read_plain(raw: bytes) -> object:
    """The numbers, texts, lists, tuples, sets and dictionaries of a pickle.

    Raises:
        PickleRefused: It is none, it is cut, too large, or it would do anything but hold data.
    """
    if len(raw) > MOST_BYTES:
        raise PickleRefused(f"it has more than {MOST_BYTES >> 20} MB")
    count = 0
    try:
        for opcode, argument, _ in pickletools.genops(raw):
            count += 1
            if opcode.name in _CALLS:
                what = f"{argument}".replace(" ", ".") if argument else opcode.name
                raise PickleRefused(f"it would call code ({what[:80]}), which a dump never does")
            # A place far out in the memo makes the reader allocate everything before it.
            far = opcode.name in _PUTS and isinstance(argument, int) and argument > count
            if far or opcode.name == "LONG4" or count > _MOST_OPCODES:
                raise PickleRefused("it holds more than a dump does")
    except PickleRefused:
        raise
    except Exception as error:
        raise PickleRefused("it is cut, or no pickle") from error
    try:
        return _Plain(io.BytesIO(raw)).load()
    except PickleRefused:
        raise
    except Exception as error:
        # Opcodes in an order that makes no sense: the stack underflows, a key cannot be hashed.
        raise PickleRefused("it does not hold together") from error
