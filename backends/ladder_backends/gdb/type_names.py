"""Type names as a person writes them: without template arguments that only repeat a default."""

from __future__ import annotations

import re
from functools import lru_cache

_LONGEST = 2_000
_INLINE_NAMESPACE = re.compile(r"\bstd::__(?:cxx11|1|debug|ndk1)::")
_DEFAULTS = (
    "std::allocator<",
    "std::char_traits<",
    "std::less<",
    "std::hash<",
    "std::equal_to<",
    "std::default_delete<",
    "alloc::alloc::Global",
)
_ALIASES = (
    (re.compile(r"\bstd::basic_string<char>"), "std::string"),
    (re.compile(r"\bstd::basic_string<wchar_t>"), "std::wstring"),
    (re.compile(r"\bstd::basic_string_view<char>"), "std::string_view"),
)


@lru_cache(maxsize=4_096)
def short_type(name: str) -> str:
    """`std::map<std::string, int>` for what an engine writes with all its allocators; other names as they are."""
    if "<" not in name or len(name) > _LONGEST:
        return name
    short = _without_defaults(_INLINE_NAMESPACE.sub("std::", name))
    for pattern, alias in _ALIASES:
        short = pattern.sub(alias, short)
    return short


def _without_defaults(name: str) -> str:
    """The name with its default arguments dropped at every level; as it was where its brackets do not match."""
    open_lists: list[list[str]] = []
    part = ""
    for character in name:
        if character == "<":
            open_lists.append([part])
            part = ""
        elif character == "," and open_lists:
            open_lists[-1].append(part)
            part = ""
        elif character == ">" and open_lists:
            head, *arguments = open_lists.pop()
            arguments.append(part)
            part = f"{head}<{_kept(arguments)}>"
        else:
            part += character
    return part if not open_lists else name


def _kept(arguments: list[str]) -> str:
    first, *others = (argument.strip() for argument in arguments)
    return ", ".join([first, *(other for other in others if not other.startswith(_DEFAULTS))])
