"""The same bugs in several files: written with other paths and names, or the very records once more.

A run with `--save F --xml` and a text report tells everything twice: its XML with whole paths and bare names, its
text with arguments and, since 2025, without folders.
"""

from __future__ import annotations

from dataclasses import replace

from ladder_backends.model.finding import Finding, Report
from ladder_backends.sanitizer.group_key import finding_key, group_key

_Identity = tuple[object, ...]


class SameBugs:
    """Compares the records of one file with those of the files before; does nothing before a second one begins.

    Attributes:
        repeated: Records of this file that were there already.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._twins: dict[_Identity, list[int]] = {}
        self._groups: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self.repeated = 0

    def begin(self, *, repeats: bool) -> None:
        """Begin a file; with `repeats`, one that may hold the very records of the others."""
        report, self.repeated = self._report, 0
        self._groups = {}
        for group in report.groups.values():
            if key := group_key(report, group):
                self._groups.setdefault(key, group.id)
        self._known = {}
        self._twins = {}
        for finding in report.findings if repeats else ():
            self._twins.setdefault(_identity(finding), []).append(finding.index)

    def twin_of(self, finding: Finding) -> int | None:
        """The index of the record that a record repeats; each is repeated once at most."""
        if not self._twins:
            return None
        twins = self._twins.get(_identity(finding))
        if not twins:
            return None
        self.repeated += 1
        return twins.pop(0)

    def grouped(self, finding: Finding) -> Finding:
        """The finding in the group of its bug, where a file before has that in other words."""
        group = finding.group
        if not self._groups or group in self._report.groups:
            return finding
        known = self._known.get(group)
        if known is None:
            self._known[group] = known = self._groups.get(finding_key(finding), group)
        return finding if known == group else replace(finding, group=known)


def _identity(finding: Finding) -> _Identity:
    """What a record is about: its bug, its lanes and its address."""
    lanes = tuple((side.block, side.thread) for side in finding.sides)
    return finding_key(finding), finding.block, finding.thread, finding.address, lanes
