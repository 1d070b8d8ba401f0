"""Commands that end cuda-gdb while it holds a GPU core dump: told before they are typed.

What follows was found by typing each to cuda-gdb 12.4 with a dump: it ends by SIGSEGV or SIGABRT, and asks nothing.
"""

from __future__ import annotations

import re

_ONE_DUMP = "one cuda-gdb opens one dump, a second one ends it; open another session"
_STANDS = "a GPU core dump is the moment of the fault: it cannot run, and cuda-gdb dies trying"
_HELD = "cuda-gdb holds a dump, and dies of letting it go"

# Names as short as gdb takes them. At the beginning of the line, or handed in quotes to what runs commands.
_BEGINS = r"(?:^|^\s*(?:py|pi\b|interp|eval)[^\"']*[\"'])\s*"
_DEADLY: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"{_BEGINS}(?:{names})(?![\w-])", re.IGNORECASE), why)
    for names, why in (
        (r"tar(?:g|ge|get)?\s+cudac(?:o|or|ore)?|core(?:-f|-fi|-fil|-file)?", _ONE_DUMP),
        (r"r|ru|run|start|starti", _STANDS),
        (r"at|att|atta|attac|attach|tar(?:g|ge|get)?", f"{_HELD}; run or attach in a session of its own"),
        (r"fil|file|exec-f\w*|sy|sym\w*-?\w*", f"{_HELD}; open the dump again with another program"),
        (r"det|deta|detac|detach|add-inf\w*|clone-inf\w*|nosh\w*", _HELD),
    )
)


def why_deadly(typed: str) -> str:
    """Why a line must not be typed to an engine that holds a dump, a clause; empty where it may."""
    return next((why for pattern, why in _DEADLY if pattern.search(typed)), "")
