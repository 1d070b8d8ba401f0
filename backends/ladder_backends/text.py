"""Text from outside is hostile until it has passed here.

Program output, symbol names, paths and values can hold terminal escapes, control characters and
bidirectional overrides. `clean` makes each of them visible, so that what reaches a widget is content and
nothing else. Call it once, where bytes of a tool become text of the model.
"""

from __future__ import annotations

import re
from functools import lru_cache

_UNSAFE = "\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
"""What is made visible, besides C0 controls, as a class of `re`; none of these is printable to `str`."""


@lru_cache(maxsize=1)
def _unsafe() -> re.Pattern[str]:
    # Compiled when text first needs it: nearly all of it is printable, and a screen is painted before.
    return re.compile(f"[\x00-\x08\x0b-\x1f{_UNSAFE}]")


@lru_cache(maxsize=1)
def _unsafe_line() -> re.Pattern[str]:
    return re.compile(f"[\x00-\x1f{_UNSAFE}]")


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}"


def clean(text: str) -> str:
    """Make control, escape and bidirectional characters visible; keep newline and tab.

    C0 controls become the matching control picture (ESC becomes `␛`), all others an escape such as
    `\\u202e`. Clean text is returned unchanged.
    """
    return text if text.isprintable() else _unsafe().sub(_visible, text)


def clean_line(text: str) -> str:
    """Like `clean`, for text that must stay on one line: newline and tab are made visible too."""
    return text if text.isprintable() else _unsafe_line().sub(_visible, text)


def decode(raw: bytes) -> str:
    """Bytes of a tool as clean text; bytes that are not UTF-8 show as `\\xff`."""
    return clean(raw.decode("utf-8", "backslashreplace"))
