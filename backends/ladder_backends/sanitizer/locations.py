"""Locations as reports spell them.

Four spellings of a device location are in use; function names hold `:`, `(`, `<`, `,`, blanks and the word `in`:

1. `0xOFF in /path/f.ext:LINE:FUNC` (to 12.2)
2. `0xOFF in FUNC` (to 12.2, no line information)
3. `FUNC+0xOFF[ in file[:LINE]]` (from 12.3; the manual also shows `FUNC:0xOFF in file:LINE`)
4. `FUNC in file:LINE`, also a bare `0xOFF`, a bare `FUNC` and `?`

Device frames of old tools read `file:LINE:FUNC (FUNC : 0x60)` or `file:LINE:FUNC [0xb20]`. Host frames come as
`/lib (symbol + 0x34e) [0x2d725e]` (cuda-memcheck), `symbol [0xoff]` with ` in /module` on the next line, and
`symbol in file.c:NN [0xoff] in module`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ladder_backends.model.finding import CodeLocation
from ladder_backends.sanitizer.fields import number

NOWHERE = CodeLocation()
"""A location that says nothing."""

_OFFSET_FIRST = re.compile(r"(0x[0-9a-fA-F]+)(?: in (.*))?$")
_OFFSET_LAST = re.compile(r"(.*\S)\s?[+:](-?0x[0-9a-fA-F]+)(?: in (.*))?$")
_FILE_LINE_FUNCTION = re.compile(r"((?:[A-Za-z]:[\\/])?(?:(?!::).)+?):(\d+):(?!:)(.*)$")
_FILE_LINE = re.compile(r"(.*\S):(\d+)$")
_FILE_LINE_ONLY = re.compile(r"((?:[A-Za-z]:[\\/])?[^:]+):(\d+)(?: in (\S.*))?$")
_AT_LINE = re.compile(r"(.*\S) at line (\d+)$")
_BRACKET = re.compile(r"\s*\[(0x[0-9a-fA-F]+)\](?: in ?(.*))?$")
_ABSOLUTE = re.compile(r" in (?=/|[A-Za-z]:[\\/])")


def _place(text: str) -> tuple[str, int | None]:
    """`file:LINE` or a file alone."""
    match = _FILE_LINE.match(text)
    if match is not None:
        return match[1], number(match[2])
    return text, None


def _file_first(text: str) -> CodeLocation | None:
    """`file:LINE:FUNC`, where the part before the line looks like a file."""
    match = _FILE_LINE_FUNCTION.match(text)
    if match is None or not _looks_like_file(match[1]):
        return None
    return CodeLocation(function=match[3].strip(), file=match[1], line=number(match[2]))


def _looks_like_file(text: str) -> bool:
    if text.startswith(("/", "./", "../")) or text[1:3] in (":\\", ":/"):
        return True
    name = re.split(r"[\\/]", text)[-1]
    return "." in name and not any(mark in name for mark in "(<>,")


def _function_in_file(text: str) -> tuple[str, str, int | None]:
    """Split `FUNC in file:LINE`; the file part is empty where there is none."""
    match = _ABSOLUTE.search(text)
    if match is not None:
        file, line = _place(text[match.end() :])
        return text[: match.start()], file, line
    function, middle, tail = text.rpartition(" in ")
    if middle:
        file, line = _place(tail)
        if line != 0 and "(" not in file and (line is not None or _looks_like_file(file)):
            return function, file, line
        if line == 0:
            return function, "", None
    return text, "", None


def parse_location(text: str) -> CodeLocation:
    """Read a device location in any spelling; what fits none is kept whole as the function."""
    text = text.strip()
    if not text or text == "?":
        return NOWHERE
    match = _OFFSET_FIRST.match(text)
    if match is not None:
        rest = (match[2] or "").strip()
        found = _file_first(rest)
        if found is not None:
            return CodeLocation(found.function, found.file, found.line, match[1])
        file, line = _place(rest)
        if line is not None and _looks_like_file(file):
            return CodeLocation("", file, line, match[1])
        return CodeLocation(function=rest, offset=match[1])
    match = _OFFSET_LAST.match(text)
    if match is not None:
        file, line = _place(match[3]) if match[3] else ("", None)
        return CodeLocation(match[1], file, line, match[2])
    found = _file_first(text)
    if found is not None:
        return found
    function, file, line = _function_in_file(text)
    if not file:
        match = _FILE_LINE_ONLY.match(text)
        if match is not None and _looks_like_file(match[1]):
            return CodeLocation(match[3] or "", match[1], number(match[2]))
        match = _AT_LINE.match(text)
        if match is not None:
            return CodeLocation(match[1], "", number(match[2]))
    return CodeLocation(function, file, line)


def _old_device_offset(text: str) -> tuple[str, str] | None:
    """Split `BODY (SYMBOL : 0xOFF)`; the symbol mostly repeats the end of the body."""
    at = text.rfind(" : 0x")
    if at < 0 or not text.endswith(")"):
        return None
    offset = text[at + 3 : -1]
    cut = text.rfind(" (", 0, at)
    candidate = text.find(" (", 0, at)
    while 0 <= candidate < cut:
        if text.endswith(text[candidate + 2 : at], 0, candidate):
            cut = candidate
            break
        candidate = text.find(" (", candidate + 1, at)
    return (text[:cut], offset) if cut > 0 else None


def _bracketed(text: str) -> tuple[str, str, str]:
    """Split `BODY [0xOFF] in MODULE` into its three parts; missing ones are empty."""
    at = 0 if text.startswith("[0x") else text.rfind(" [0x")
    match = _BRACKET.match(text, at) if at >= 0 else None
    if match is None:
        return text, "", ""
    return text[:at].strip(), match[1], (match[2] or "").strip()


def parse_device_frame(text: str) -> CodeLocation:
    """Read what follows `Device Frame:`, new or old."""
    text = text.strip()
    old = _old_device_offset(text)
    if old is None:
        body, offset, module = _bracketed(text)
        if not offset or module:
            return parse_location(text)
        old = body, offset
    found = _file_first(old[0]) or CodeLocation(function=old[0])
    return CodeLocation(found.function, found.file, found.line, old[1])


def _old_host_symbol(body: str) -> tuple[str, str] | None:
    """Split `MODULE (SYMBOL + 0xOFF)`."""
    end = body.rfind(" + 0x")
    if end < 0 or not body.endswith(")"):
        return None
    cut = body.find(" (", max(body.rfind("/", 0, end), body.rfind("\\", 0, end), 0))
    return (body[:cut], body[cut + 2 : end]) if 0 < cut < end else None


def parse_host_frame(text: str) -> CodeLocation:
    """Read what follows `Host Frame:`; the module may follow on a line of its own."""
    body, offset, module = _bracketed(text.strip())
    old = _old_host_symbol(body)
    if old is not None:
        return CodeLocation(function=old[1], offset=offset, module=old[0])
    if not body:
        return CodeLocation(offset=offset, module=module)
    if offset and not module and body.startswith(("/", "./", "../")) and ":" not in body and " in " not in body:
        return CodeLocation(offset=offset, module=body)
    found = _file_first(body)
    if found is None:
        found = CodeLocation(*_function_in_file(body))
    return CodeLocation(found.function, found.file, found.line, offset, module)


@lru_cache(maxsize=4096)
def with_module(frame: CodeLocation, module: str) -> CodeLocation:
    """The frame of a two-line host frame, its module now known."""
    return CodeLocation(frame.function, frame.file, frame.line, frame.offset, module)
