"""Whether an expression of C or C++ writes: what is asked of many at once, unasked, must only read."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_WRITES = re.compile(r"\+\+|--|<<=|>>=|(?<![=!<>])=(?!=)")


def why_writes(expression: str) -> str:
    """Why an expression is not one that only reads, or an empty string."""
    if not expression.strip():
        return "there is no expression"
    found = _WRITES.search(_QUOTED.sub("''", expression))
    return f"it would write: {found.group()} — ask for a value without it" if found else ""
