"""Two reports of one program: which bugs are new, which are gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ladder_backends.model.finding import FindingGroup, Report
from ladder_backends.sanitizer.describe import NO_FAULT_KINDS
from ladder_backends.sanitizer.group_key import group_key


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a report differs from an earlier one, by bug.

    Attributes:
        new: Ids of the later report's groups that the earlier one does not hold.
        same: Ids of the later report's groups with the ids they had in the earlier one.
        moved: The later ids among `same` whose lines are others than before.
        gone: Groups of the earlier report that the later one should hold, and does not.
        not_looked_for: Groups of the earlier report of tools that the later run did not use.
        sure: The later run came to its end: what is gone is gone, and not only not met yet.
    """

    new: tuple[str, ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    moved: frozenset[str] = frozenset()
    gone: tuple[FindingGroup, ...] = ()
    not_looked_for: tuple[FindingGroup, ...] = ()
    sure: bool = True

    def words(self) -> str:
        """`2 gone, 1 new, 3 as before`; what is none is left out."""
        gone = "gone" if self.sure else "not seen (the run is incomplete)"
        counts = (
            (len(self.gone), gone),
            (len(self.new), "new"),
            (len(self.same) - len(self.moved), "as before"),
            (len(self.moved), "moved"),
            (len(self.not_looked_for), "of another tool"),
        )
        return ", ".join(f"{count:,} {noun}" for count, noun in counts if count) or "nothing in either"


def _bugs(report: Report) -> list[FindingGroup]:
    return [group for group in report.groups.values() if group.members and group.kind not in NO_FAULT_KINDS]


def _tools(report: Report, bugs: list[FindingGroup]) -> set[str]:
    return {report.tool, *(report.findings[group.members[0]].tool for group in bugs)} - {""}


def compare_reports(earlier: Report, later: Report) -> Comparison:
    """Pair the bugs of two reports: those of equal key, then those that differ in their lines alone."""
    before, after = _bugs(earlier), _bugs(later)
    same: list[tuple[str, str]] = []
    moved: set[str] = set()
    for loose in (False, True):
        known: dict[str, list[FindingGroup]] = {}
        for group in before:
            known.setdefault(group_key(earlier, group, loose=loose), []).append(group)
        left = []
        for group in after:
            paired = known.get(group_key(later, group, loose=loose))
            if not paired:
                left.append(group)
                continue
            same.append((group.id, paired.pop(0).id))
            if loose:
                moved.add(group.id)
        after = left
        before = [group for groups in known.values() for group in groups]
    tools = _tools(later, _bugs(later))
    other = [group for group in before if tools and earlier.findings[group.members[0]].tool not in {*tools, ""}]
    skipped = {group.id for group in other}
    return Comparison(
        new=tuple(group.id for group in after),
        same=tuple(same),
        moved=frozenset(moved),
        gone=tuple(group for group in before if group.id not in skipped),
        not_looked_for=tuple(other),
        sure=later.ran and later.complete,
    )


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """The `against` part of a report's JSON: ids of groups, and titles of what is gone."""

    def rows(groups: tuple[FindingGroup, ...]) -> list[dict[str, Any]]:
        return [{"group": one.id, "kind": str(one.kind), "title": one.title} for one in groups]

    return {
        "new": list(comparison.new),
        "same": [
            {"group": now, "was": before, "moved": now in comparison.moved} for now, before in comparison.same
        ],
        "gone": rows(comparison.gone),
        "not_looked_for": rows(comparison.not_looked_for),
        "sure": comparison.sure,
        "words": comparison.words(),
    }
