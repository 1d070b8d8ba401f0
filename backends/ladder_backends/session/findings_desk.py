"""What is known of findings besides the report: a person's remarks, an earlier run, names in the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.model.finding import FindingKind
from ladder_backends.model.frame import file_name
from ladder_backends.sanitizer.allocation_words import name_at
from ladder_backends.sanitizer.comparison import Comparison, compare_reports
from ladder_backends.sanitizer.group_key import group_key
from ladder_backends.sanitizer.user_frame import is_cuda, is_runtime
from ladder_backends.session.finding_query import NOTHING, About
from ladder_backends.session.finding_remarks import NO_REMARK, FindingRemarks, Mark, Remark

if TYPE_CHECKING:
    from ladder_backends.model.finding import CodeLocation, Finding, FindingGroup, Report
    from ladder_backends.session.sources import SourceFile

_LOOKED_AT = 50
_MOST_COMPARED_LIVE = 2_000


def program_of(report: Report) -> Path | None:
    """The program that a report's own host stacks name: the script of an interpreter, else the outermost module."""
    for finding in report.findings[:_LOOKED_AT]:
        python = [frame.file for frame in finding.host_frames if frame.file.endswith(".py")]
        if python and python[-1].startswith("/"):
            return Path(python[-1])
        for frame in reversed(finding.host_frames):
            if frame.module.startswith("/") and not is_cuda(frame) and not is_runtime(frame):
                # A launcher's module, compiled for one kernel, is no program.
                return Path(frame.module) if ".so" not in file_name(frame.module) else None
    return None


class FindingsDesk:
    """Remarks on the bugs of a report, and how it differs from an earlier one.

    Attributes:
        against: The difference, or None where there is no earlier report.
        notice: Why remarks cannot be kept or read, for the user once; empty where they can.
    """

    def __init__(self, source: Callable[[str], SourceFile] | None = None) -> None:
        self._source = source
        self._report: Report | None = None
        self._earlier: Report | None = None
        self._program: Path | None = None
        self._remarks = FindingRemarks(None)
        self._settled = False
        self._keys: dict[str, tuple[str, str]] = {}
        self._there: set[str] = set()
        self._seen = 0
        self._leaks: dict[tuple[str, str, int | None], CodeLocation] = {}
        self._leaks_seen = 0
        self._new: frozenset[str] = frozenset()
        self._compared = (-1, False)
        self._names: dict[CodeLocation, str] = {}
        self.against: Comparison | None = None
        self.notice = ""

    def compare_with(self, earlier: Report) -> None:
        """Compare with an earlier report from now on."""
        self._earlier, self._compared = earlier, (-1, False)

    def take(self, report: Report | None, *, program: Path | None = None, run_again: bool = False) -> bool:
        """Look at a report as it is by now; returns whether what is said of its bugs may have changed.

        Args:
            report: What is open.
            program: Whose report it is, where the report does not tell.
            run_again: A report that is new here is of another run, and not more of the one before.
        """
        changed = False
        if report is not self._report:
            before = self._report
            if before is not None and before.ran and (run_again or before.complete):
                own, theirs = program_of(report) if report is not None else None, program_of(before)
                self._earlier = before if own is None or theirs is None or own == theirs else None
            self._report, self._keys, self._names, self._settled = report, {}, {}, False
            self._there, self._seen = set(), 0
            self._leaks, self._leaks_seen = {}, 0
            self._compared, self._new, self.against = (-1, False), frozenset(), None
            changed = True
        if report is None:
            return changed
        if not self._settled and report.findings:
            own = program_of(report) or program
            self._settled = True
            if own != self._program or own is None:
                self._program, self._remarks = own, FindingRemarks(own)
                self._say(self._remarks)
            changed = True
        return self._compare(report) or changed

    def _compare(self, report: Report) -> bool:
        if self._earlier is None or self._earlier is report:
            if self.against is None:
                return False
            self.against, self._new = None, frozenset()
            return True
        stamp = (len(report.groups), report.complete)
        if stamp == self._compared or (len(report.groups) > _MOST_COMPARED_LIVE and not report.complete):
            return False
        self._compared = stamp
        self.against = compare_reports(self._earlier, report)
        self._new = frozenset(self.against.new)
        return True

    def _keys_of(self, group: FindingGroup) -> tuple[str, str]:
        keys = self._keys.get(group.id)
        if keys is None and self._report is not None:
            keys = group_key(self._report, group), group_key(self._report, group, loose=True)
            self._keys[group.id] = keys
        return keys or ("", "")

    def about(self, group: FindingGroup) -> About:
        """What is said of a bug."""
        if not len(self._remarks):
            return About(NO_REMARK, True) if group.id in self._new else NOTHING
        return About(self._remarks.of(*self._keys_of(group), self._present()), group.id in self._new)

    def _present(self) -> set[str]:
        """The keys of all bugs of the report."""
        groups = self._report.groups if self._report is not None else {}
        if self._seen < len(groups):
            for group in islice(groups.values(), self._seen, None):
                self._there.add(self._keys_of(group)[0])
            self._seen = len(groups)
        return self._there

    def note(self, group: FindingGroup, text: str) -> None:
        """Keep a person's words on a bug; an empty text takes them away."""
        self._put(group, replace(self.about(group).remark, note=" ".join(text.split())))

    def mark(self, group: FindingGroup, mark: Mark) -> Mark:
        """Mark a bug, or open it again where it is marked so; returns what it is now."""
        remark = self.about(group).remark
        now = Mark.OPEN if remark.mark is mark else mark
        self._put(group, replace(remark, mark=now))
        return now

    def _put(self, group: FindingGroup, remark: Remark) -> None:
        key, loose = self._keys_of(group)
        self._remarks.put(key, remark, loose=loose, title=group.title, present=self._present())
        self._say(self._remarks)

    def _say(self, remarks: FindingRemarks) -> None:
        self.notice, remarks.notice = remarks.notice or self.notice, ""

    def take_notice(self) -> str:
        """What is to be said, once."""
        notice, self.notice = self.notice, ""
        return notice

    def notes(self) -> dict[str, str]:
        """The notes on the report's bugs, by group id."""
        groups: Sequence[FindingGroup] = list(self._report.groups.values()) if self._report is not None else ()
        noted = ((group.id, self.about(group).remark.note) for group in groups if group.members)
        return {group: note for group, note in noted if note}

    def leaked_at(self, finding: Finding) -> CodeLocation | None:
        """Who allocated what an access is near to, where the report tells it of a leak of that memory only."""
        report, allocation = self._report, finding.allocation
        if report is None or allocation is None or allocation.where is not None or not allocation.address:
            return None
        for leak in islice(report.findings, self._leaks_seen, None):
            memory = leak.allocation if leak.kind is FindingKind.LEAK else None
            if memory is not None and memory.where is not None:
                self._leaks[leak.origin, memory.address, memory.size] = memory.where
        self._leaks_seen = len(report.findings)
        return self._leaks.get((finding.origin, allocation.address, allocation.size))

    def allocation_name(self, finding: Finding) -> str:
        """The variable that the allocating line of source names; empty where the report or the source has none."""
        where = finding.allocation.where if finding.allocation is not None else None
        where = where or self.leaked_at(finding)
        if where is None or not where.file or where.line is None or self._source is None:
            return ""
        name = self._names.get(where)
        if name is None:
            found = self._source(where.file)
            # A file that was edited since no longer says what the program did there.
            lines = found.lines if found.state == "found" else ()
            name = name_at(lines[where.line - 1]) if 0 < where.line <= len(lines) else ""
            self._names[where] = name
        return name
