"""The tool's own count at the end of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SUMMARY = re.compile(
    r"(?:(?P<what>[A-Z]+) )?SUMMARY\s*:\s*(?P<rest>.*)$|(?P<more>\([\d,]+ errors?, [\d,]+ warnings?\))$"
)
_COUNT = re.compile(r"(?<![\d,])(\d[\d,]{0,30}) +(\w+)")
_NOT_PRINTED = re.compile(r"(?<![\d,])(\d[\d,]{0,30}) (?:errors?|hazards?|records?) (?:were|was) not printed")
_SKIPPED = re.compile(r"(?<![\d,])(\d[\d,]{0,30}) (?:errors?|hazards?|records?) (?:were|was) skipped")
_LONGEST = 1_000
_NAMES = {
    "error": "errors",
    "errors": "errors",
    "warning": "warnings",
    "warnings": "warnings",
    "hazard": "hazards",
    "hazards": "hazards",
    "bytes": "leaked_bytes",
    "byte": "leaked_bytes",
    "allocation": "leaked_allocations",
    "allocations": "leaked_allocations",
}


def is_summary(body: str) -> bool:
    """Whether a line of the tool is one of its summaries."""
    return _SUMMARY.match(body) is not None


def counted_errors(summary: Mapping[str, int]) -> int:
    """How many faults the tool counts; a hazard is an error or a warning."""
    return max(summary.get("errors", 0), summary.get("hazards", 0))


def _count(digits: str) -> int:
    return int(digits.replace(",", ""))


def read_summary(body: str, into: dict[str, int]) -> tuple[str, bool]:
    """Add the numbers of a summary line to `into`; several runs in one log add up.

    Returns:
        The tool the line gives away (`racecheck`) or an empty string, and whether this line ends a run, which the
        lines about leaks and about what was not printed do not.
    """
    match = _SUMMARY.match(body)
    if match is None:
        return "", False
    rest = (match["rest"] or match["more"] or "")[:_LONGEST]
    for pattern, name in ((_NOT_PRINTED, "not_printed"), (_SKIPPED, "skipped")):
        partial = pattern.search(rest)
        if partial is not None:
            into[name] = into.get(name, 0) + _count(partial[1])
            return "", False
    told = False
    for digits, word in _COUNT.findall(rest):
        counted = _NAMES.get(word.lower())
        if counted is not None:
            told = True
            into[counted] = into.get(counted, 0) + _count(digits)
    what = match["what"] or ""
    tool = what.lower() if what in ("RACECHECK", "MEMCHECK", "INITCHECK", "SYNCCHECK") else ""
    # A line that was cut before its number ends nothing.
    return tool, told and what != "LEAK"
