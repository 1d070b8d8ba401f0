"""Types as the user wrote them: cuda-gdb adds the storage of each pointer and variable."""

from __future__ import annotations

import re

_STORAGE = re.compile(
    r"@(?:generic|global|shared|local|parameter|register|uregister|const|code|managed|texture)\b ?"
)


def plain_type(text: str) -> str:
    """`const @generic float * @parameter` as `const float *`, `@register int` as `int`."""
    return _STORAGE.sub("", text).rstrip() if "@" in text else text
