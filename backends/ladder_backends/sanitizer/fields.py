"""Fields that first lines and indented lines share: numbers, coordinates, memory spaces."""

from __future__ import annotations

import re
from functools import lru_cache

from ladder_backends.model.focus import Dim3, parse_dim3

ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
BLOCK = re.compile(r"\bin [Bb]lock \(([^)]*)\)")
SIZE = re.compile(r"of size ([\d,]+)")
CALLED = re.compile(r"\bcalled (.*?)(?: of size [\d,]+(?: bytes?)?.*)?$")
"""An NVTX name: it may hold blanks."""

SPACE = r"(?:(?P<space>__\w+__) )?"
_WORDS = re.compile(r"[^a-z0-9]+")


def number(text: str | None) -> int | None:
    """An integer with or without thousands separators; None where there is none, or one too long to be real."""
    if not text or len(text) > 40:
        return None
    digits = text.replace(",", "")
    return int(digits) if digits.isdecimal() else None


def dim3(text: str | None) -> Dim3 | None:
    """`(x,y,z)` as a coordinate, or None where it is none."""
    return _coordinate(text) if text and len(text) <= 60 else None


@lru_cache(maxsize=8192)
def _coordinate(text: str) -> Dim3 | None:
    try:
        return parse_dim3(text)
    except ValueError:
        return None


def space_name(text: str | None, default: str = "") -> str:
    """`__global__` as `global`."""
    return text.strip("_") if text else default


def slug(text: str) -> str:
    """`Divergent thread(s) in warp` as `divergent-warp`, `Invalid arguments` as `invalid-arguments`."""
    lowered = text.lower()
    if lowered.startswith("divergent thread"):
        return "divergent-" + ("warp" if "warp" in lowered else "block")
    return "-".join(_WORDS.sub(" ", lowered.split(". ")[0]).split()[:6])
