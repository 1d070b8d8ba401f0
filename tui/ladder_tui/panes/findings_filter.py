"""Which findings are listed, and in which order."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from ladder_backends.model.finding import Finding, FindingGroup
from ladder_backends.sanitizer import offset_words
from ladder_tui.panes.findings_words import lane_words


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
    if not all(any(character in "0123456789(),+x" for character in word) for word in own):
        return []
    return [number for number in group.members if all(word in _lane_text(findings[number]) for word in own)]


def _lane_text(finding: Finding) -> str:
    lanes = (" ".join(lane_words(side)) for side in finding.sides)
    return f"{' '.join(lanes)} {offset_words(finding)} {finding.address}"
