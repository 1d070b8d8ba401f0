"""Drafts become findings of a report: kinds settled, lanes answered, bugs grouped, consequences folded."""

from __future__ import annotations

import hashlib
import re

from ladder_backends.model.finding import (
    Allocation,
    CodeLocation,
    Finding,
    FindingGroup,
    FindingKind,
    Report,
    Side,
)
from ladder_backends.sanitizer.describe import RUN_KINDS, group_title
from ladder_backends.sanitizer.draft import HostStack, RecordDraft
from ladder_backends.sanitizer.lanes import lane_of
from ladder_backends.sanitizer.locations import NOWHERE
from ladder_backends.sanitizer.memory_heads import kind_of_access
from ladder_backends.sanitizer.same_bugs import SameBugs
from ladder_backends.sanitizer.settled import EVERY, set_aside
from ladder_backends.sanitizer.user_frame import api_of, user_frame

_FAULTS = frozenset(
    {
        FindingKind.OOB,
        FindingKind.MISALIGNED,
        FindingKind.PERMISSION,
        FindingKind.MALLOC_FREE,
        FindingKind.HW_EXCEPTION,
        FindingKind.UVM_GPU_FAULT,
        FindingKind.UVM_CPU_FAULT,
        FindingKind.TENSOR_MEMORY,
        FindingKind.BARRIER,
        FindingKind.DEADLOCK,
    }
)
"""Kinds after which the tool ends the context, so that later calls fail."""

_AFTER_FAULT = frozenset({700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721})
"""Results of calls into a context that a device error has ended."""

_AFTER_FAULT_NAME = re.compile(
    r"launch.?fail|illegal.?(?:address|instruction|memory)|misaligned.?address|hardware.?stack|invalid.?(?:pc|program)"
    r"|invalid.?address.?space|\bassert|context.?is.?destroyed|unknown.?error",
    re.IGNORECASE,
)
"""Names and texts of the same, for the numbers of older versions and of WSL."""

_ECHOES = ("cudaGetLastError", "cudaPeekAtLastError")
_HOST_KINDS = frozenset(
    {
        FindingKind.LEAK,
        FindingKind.API_ERROR,
        FindingKind.UNINIT_API,
        FindingKind.STREAM_RACE,
        FindingKind.UNUSED_MEMORY,
    }
)
_HOST_PINNED = ("cuMemHostAlloc", "cuMemAllocHost", "cudaHostAlloc", "cudaMallocHost", "cuMemHostRegister")
_MANAGED = ("cuMemAllocManaged", "cudaMallocManaged")

_Key = tuple[object, ...]


class ReportBuilder:
    """Adds records to a report, in order; each addition takes the same time however many there are.

    Attributes:
        report: Grows with each addition.
        origin: File or rank of the records to come, where there are several.
    """

    def __init__(self, report: Report | None = None) -> None:
        self.report = Report() if report is None else report
        self.origin = ""
        self._tool = ""
        self._ids: dict[_Key, str] = {}
        self._cause: int | None = None
        self._last_api: tuple[int, int | None] | None = None
        self._last_host: tuple[CodeLocation, ...] = ()
        self._same = SameBugs(self.report)

    def begin_file(self, origin: str, *, repeats: bool = False) -> None:
        """Begin another file: its bugs are those of the files before where it only writes them otherwise.

        Args:
            origin: The file's name.
            repeats: It may hold the very records of those files once more, as an XML of the same run does.
        """
        self.begin_origin(origin)
        self._same.begin(repeats=repeats)

    def begin_origin(self, origin: str) -> None:
        """Begin another file or rank: nothing in it follows from what came before."""
        self.origin = origin
        self._cause = None
        self._last_api = None

    def begin_run(self, tool: str) -> None:
        """Begin the run of a known tool: all that comes is its own, and follows from nothing before."""
        self.begin_origin("")
        self._tool = tool
        names = [name for name in self.report.tool.split(", ") if name]
        self.report.tool = ", ".join(dict.fromkeys((*names, tool)))

    @property
    def repeated(self) -> int:
        """Records of this file that were there already."""
        return self._same.repeated

    def add(self, draft: RecordDraft) -> Finding:
        """Append the finding of a record to the report."""
        report = self.report
        finding, user = self._finding(draft, len(report.findings))
        twin = self._same.twin_of(finding)
        if twin is not None:
            self._follows(finding.index, twin)
            return report.findings[twin]
        finding = self._same.grouped(finding)
        self._file(finding, user)
        report.findings.append(finding)
        if finding.index % EVERY == EVERY - 1:
            set_aside()
        return finding

    def amend(self, index: int, draft: RecordDraft) -> Finding:
        """Replace a finding whose record turned out to go on; it stays in its group."""
        old = self.report.findings[index]
        new, _ = self._finding(draft, index, old)
        self.report.findings[index] = new
        return new

    def _follows(self, index: int, twin: int) -> None:
        """What follows from a record that is there already follows from that."""
        if self._cause == index:
            self._cause = twin
        if self._last_api is not None and self._last_api[0] == index:
            self._last_api = (twin, self._last_api[1])

    def _finding(
        self, draft: RecordDraft, index: int, old: Finding | None = None
    ) -> tuple[Finding, CodeLocation | None]:
        """The finding of a record, and the user's frame on the host where that names its bug."""
        head, report = draft.head, self.report
        kind = kind_of_access(head, draft.reason) if head.default_kind else head.kind
        severity = head.severity
        if head.unknown and draft.has_place:
            # A record of a form still to come: it stands in device code, so it is no word about the run.
            kind, severity = FindingKind.HW_EXCEPTION, "error"
        tool = self._tool or head.tool or ("" if kind in RUN_KINDS else report.tool or "memcheck")
        if not report.tool and tool and kind is not FindingKind.API_ERROR:
            report.tool = tool
        frames = tuple(draft.device_frames) if draft.device_frames is not None else ()
        sides = self._places(draft)
        first = sides[0] if sides else None
        at = first.location if first is not None else draft.at or NOWHERE
        stacks = draft.stacks
        host = self._shared(stacks[0].frames) if stacks else ()
        user = user_frame(host) if host and kind in _HOST_KINDS else None
        access, space = draft.access, draft.space
        if kind is FindingKind.LEAK and host:
            access = access or api_of(host)
            space = _leak_space(access, space)
        kernel = frames[-1].function if frames else at.function or head.kernel
        if old is None:
            key: _Key = (tool, kind, access, space, draft.reason, kernel, at.function, at.file, at.line, user)
            cause = self._cause_of(kind, head.result, access, draft.reason, index)
        else:
            key, cause = (), old.consequence_of
        block = first.block if first is not None else draft.block
        thread = first.thread if first is not None else draft.thread
        lanes = sum(1 for side in sides if side.thread is not None and side.block is not None)
        lane, why = lane_of(kind, lanes, user, bool(host), cause is not None, draft.cut)
        finding = Finding(
            index=index,
            kind=kind,
            tool=tool,
            access=access,
            size=head.size,
            space=space,
            kernel=kernel,
            src_file=at.file,
            line=at.line,
            block=block,
            thread=thread,
            sides=sides,
            device_frames=frames,
            host_frames=host,
            allocation=_allocation(draft, kind, stacks),
            address=draft.address,
            severity=severity,
            reason=draft.reason,
            lane=lane,
            why=why,
            group=old.group if old is not None else self._group(key, cause),
            consequence_of=cause,
            origin=draft.origin or self.origin,
            raw="\n".join(draft.lines),
        )
        return finding, user

    def _shared(self, frames: list[CodeLocation]) -> tuple[CodeLocation, ...]:
        """The frames as a tuple, the same one for record after record of one bug."""
        host = tuple(frames)
        if host != self._last_host:
            self._last_host = host
        return self._last_host

    def _places(self, draft: RecordDraft) -> tuple[Side, ...]:
        if draft.sides is not None:
            return tuple(draft.sides)
        at = draft.at
        if at is None and draft.thread is None:
            return ()
        return (Side(draft.access, at or NOWHERE, draft.block, draft.thread, draft.block_rank),)

    def _cause_of(self, kind: FindingKind, result: int | None, access: str, reason: str, index: int) -> int | None:
        """The earlier finding this API error follows from."""
        if kind is not FindingKind.API_ERROR:
            if kind in _FAULTS and self._cause is None:
                self._cause = index
            if kind not in RUN_KINDS:
                self._last_api = None
            return None
        cause = None
        if self._cause is not None and (result in _AFTER_FAULT or _AFTER_FAULT_NAME.search(reason)):
            cause = self._cause
        elif access.startswith(_ECHOES) and self._last_api is not None and self._last_api[1] == result:
            cause = self._last_api[0]
        self._last_api = (cause if cause is not None else index, result)
        return cause

    def _group(self, key: _Key, cause: int | None) -> str:
        if cause is not None:
            return self.report.findings[cause].group
        known = self._ids.get(key)
        if known is None:
            text = "\x1f".join("" if part is None else str(part) for part in key)
            known = hashlib.blake2s(text.encode("utf-8", "replace"), digest_size=5).hexdigest()
            self._ids[key] = known
        return known

    def _file(self, finding: Finding, user: CodeLocation | None) -> None:
        group = self.report.groups.get(finding.group)
        if finding.consequence_of is not None and group is not None:
            group.folded.append(finding.index)
            return
        if group is None:
            group = FindingGroup(finding.group, group_title(finding, user), finding.kind)
            self.report.groups[finding.group] = group
        group.members.append(finding.index)


def _leak_space(api: str, space: str) -> str:
    if api.startswith(_HOST_PINNED):
        return "host-pinned"
    if api.startswith(_MANAGED):
        return "managed"
    return space


def _allocation(draft: RecordDraft, kind: FindingKind, stacks: list[HostStack] | None) -> Allocation | None:
    where = None
    if stacks is not None:
        for stack in stacks:
            if "alloc" in stack.moment or "Alloc" in stack.moment:
                where = user_frame(stack.frames)
                break
    if draft.relation:
        return Allocation(
            draft.allocation_address, draft.allocation_size, draft.relation, draft.distance, draft.name, where
        )
    if kind in (FindingKind.LEAK, FindingKind.UNUSED_MEMORY, FindingKind.STREAM_RACE):
        return Allocation(draft.head.address, draft.head.size, name=draft.name, where=where)
    if where is not None or draft.name:
        return Allocation(name=draft.name, where=where)
    return None
