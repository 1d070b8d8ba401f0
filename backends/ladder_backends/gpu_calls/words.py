"""The words that fill memory under test: each tells where it belongs, so that a wrong one tells where it came from.

A word is eight bytes, little endian: a bijection of (purpose, source GPU, target GPU, epoch, word index). The same
arithmetic runs on the GPU (`cupy_kernels`), in numpy and here.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

WORD = 8
MASK = (1 << 64) - 1
ODD = 0x9E3779B97F4A7C15
ODD_INVERSE = pow(ODD, -1, 1 << 64)
SEED = 0x5DEECE66D1CE4E5B


class Purpose(enum.IntEnum):
    """What a tagged word was written for."""

    DATA = 0xA5
    POISON = 0x5A
    CANARY = 0xC3


class Mode(enum.IntEnum):
    """How a word is made of its index."""

    TAG = 0
    ZEROS = 1
    ONES = 2
    WALKING_BIT = 3
    CHECKERBOARD = 4


class Stuff(NamedTuple):
    """What a stretch of memory is filled with."""

    purpose: int = Purpose.DATA
    source: int = 0
    target: int = 0
    epoch: int = 0
    mode: int = Mode.TAG

    def word(self, index: int) -> int:
        """The word at a word index of the buffer."""
        if self.mode == Mode.ZEROS:
            return 0
        if self.mode == Mode.ONES:
            return MASK
        if self.mode == Mode.WALKING_BIT:
            return 1 << (index & 63)
        if self.mode == Mode.CHECKERBOARD:
            return 0xAAAAAAAAAAAAAAAA if index & 1 else 0x5555555555555555
        return ((self.base + (index & 0xFFFFFFFF)) & MASK) * ODD & MASK ^ SEED

    @property
    def base(self) -> int:
        """The fields above the index."""
        return self.purpose << 56 | self.source << 48 | self.target << 40 | (self.epoch & 0xFF) << 32


class Tag(NamedTuple):
    """The fields that a word holds, if it is one of ours."""

    purpose: int
    source: int
    target: int
    epoch: int
    place: int


def decoded(word: int) -> Tag | None:
    """The fields of a tagged word; None for a word that we never wrote."""
    fields = ((word ^ SEED) & MASK) * ODD_INVERSE & MASK
    tag = Tag(fields >> 56, fields >> 48 & 0xFF, fields >> 40 & 0xFF, fields >> 32 & 0xFF, fields & 0xFFFFFFFF)
    return tag if tag.purpose in (Purpose.DATA, Purpose.POISON, Purpose.CANARY) and tag.source < 64 else None
