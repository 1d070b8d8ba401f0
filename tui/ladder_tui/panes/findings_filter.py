"""Which findings are listed, and in which order."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Sequence

from ladder_backends.model.finding import Finding, FindingGroup
from ladder_backends.model.focus import parse_dim3
from ladder_backends.sanitizer import offset_words
from ladder_tui.panes.findings_words import lane_words

_NUMERIC = re.compile(r"(?:base)?[0-9a-fx(),+-]+")
_COORDINATE_DIGITS = 10
_COORDINATE = re.compile(r"\(\d+(?:,\d+){0,2}\)")


class Order(enum.StrEnum):
    """In which order bugs are listed."""

    REPORT = "report"
    COUNT = "count"
    LINE = "line"

    def following(self) -> Order:
        """The order after this one."""
        orders = list(Order)
        return orders[(orders.index(self) + 1) % len(orders)]


def place_key(group: FindingGroup, findings: Sequence[Finding]) -> tuple[bool, str, int]:
    """Sorts bugs by file and line; those without one come last."""
    first = findings[group.members[0]]
    return not first.src_file, first.src_file, first.line or 0


def matching(group: FindingGroup, findings: Sequence[Finding], query: str) -> Sequence[int]:
    """Members that hold every word: in what their group has in common, else in their own lane and address."""
    if not group.members:
        return []
    first = findings[group.members[0]]
    common = f"{group.title} {first.kind} {first.tool} {first.kernel} {first.src_file}:{first.line}".casefold()
    own = [word for word in query.casefold().split() if word not in common]
    if not own:
        return group.members
    tests = [_test(word) for word in own]
    if None in tests:
        return []
    return [number for number in group.members if all(test(findings[number]) for test in tests if test)]


def _test(word: str) -> Callable[[Finding], bool] | None:
    """How to look for a word in a finding's own lane and address; None where neither can hold it."""
    if not _NUMERIC.fullmatch(word):
        return None
    if word[0] == "(" and word[-1] == ")":
        place = parse_dim3(word) if _COORDINATE.fullmatch(word) else None
        return lambda finding: any(place in (side.block, side.thread) for side in finding.sides)
    if "(" in word or "," in word:
        return lambda finding: any(word in part for side in finding.sides for part in lane_words(side))
    if word.startswith(("base", "+", "-")):
        return lambda finding: word in offset_words(finding)
    if word.isdecimal() and len(word) <= _COORDINATE_DIGITS:
        # A number alone is what a person reads off a lane; in an address it would be found by chance.
        number = int(word)
        return lambda finding: any(number in (*(side.block or ()), *(side.thread or ())) for side in finding.sides)
    return lambda finding: word in finding.address
