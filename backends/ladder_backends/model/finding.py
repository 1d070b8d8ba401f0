"""Sanitizer findings, the same whatever era, spelling or format the report was written in."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from ladder_backends.model.focus import Dim3


class FindingKind(enum.StrEnum):
    """What a finding is about; the values are those of the JSON contract."""

    OOB = "oob"
    MISALIGNED = "misaligned"
    PERMISSION = "permission"
    UNINIT_READ = "uninit-read"
    UNINIT_API = "uninit-api"
    UNUSED_MEMORY = "unused-memory"
    MALLOC_FREE = "malloc-free"
    HW_EXCEPTION = "hw-exception"
    UVM_GPU_FAULT = "uvm-gpu-fault"
    UVM_CPU_FAULT = "uvm-cpu-fault"
    TENSOR_MEMORY = "tensor-memory"
    STREAM_RACE = "stream-race"
    RACE_HAZARD = "race-hazard"
    RACE_ANALYSIS = "race-analysis"
    CLUSTER_LATE_ENTRY = "cluster-late-entry"
    CLUSTER_EARLY_EXIT = "cluster-early-exit"
    DEADLOCK = "deadlock"
    SYNC_TRACE = "sync-trace"
    BARRIER = "barrier"
    LEAK = "leak"
    API_ERROR = "api-error"
    TOOL_ERROR = "tool-error"
    TOOL_WARNING = "tool-warning"
    SESSION = "session"


class LaneAnswer(enum.StrEnum):
    """Whether a finding names lanes."""

    EXACT = "exact"
    TWO = "two"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class CodeLocation:
    """A location of a report: device or host frame.

    Attributes:
        function: Clean name, or an empty string.
        file: Path as written: absolute, or a basename where the tool strips paths; empty without line info.
        line: 1-based, or None.
        offset: Offset or address as a hex string, or an empty string.
        module: Shared object, for host frames.
    """

    function: str = ""
    file: str = ""
    line: int | None = None
    offset: str = ""
    module: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """One place of a finding with, where the report has it, the lane that was there.

    Attributes:
        access: `read`, `write`, `atomic`, `?` or an empty string.
        block: Block index, or None.
        thread: Thread index in the block, or None.
        block_rank: Rank of the block in its cluster, or None.
    """

    access: str = ""
    location: CodeLocation = CodeLocation()
    block: Dim3 | None = None
    thread: Dim3 | None = None
    block_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Allocation:
    """The allocation nearest to an access.

    Attributes:
        address: Hex string.
        size: Bytes.
        relation: `before`, `after`, `inside` or an empty string: where the access lies.
        distance: As the tool counts: 1 after is the first byte past the end, 4 before is four bytes below the
            start; 0 inside.
        name: NVTX name, or an empty string.
        where: The user's frame that allocated it, where the report has that stack.
    """

    address: str = ""
    size: int | None = None
    relation: str = ""
    distance: int | None = None
    name: str = ""
    where: CodeLocation | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One record of a sanitizer report.

    Attributes:
        index: Position in the report, 0 and up.
        tool: memcheck, racecheck, initcheck, synccheck, or an empty string where the report does not say.
        access: read, write, atomic, `?`; RAW, WAR, WAW for a hazard; the API's name for an API error.
        size: Bytes accessed, leaked or unused; None where not told.
        space: global, shared, local, ...; an empty string where not told.
        kernel: Function of the outermost device frame, else of the `at` line.
        src_file: File of the `at` line as written.
        line: Line of the `at` line.
        block: Block of the first side.
        thread: Thread of the first side.
        sides: Every place: one for an access, two for a hazard (both with lanes), two or more without lanes for a
            race analysis, none for what happened on the host.
        device_frames: Callers of the `at` line on the device, innermost first.
        host_frames: The host stack that led here (launch, API call, allocation), innermost first.
        address: Hex string of the accessed address, or an empty string.
        severity: error, warning or info.
        reason: What is wrong, in the report's words: `out of bounds`, `misaligned`, the text of an API error...
        why: Why there is no exact lane, and which action would get one; empty when there is one.
        group: Id of the bug this finding is an instance of.
        consequence_of: Index of the finding that caused this one, or None.
        origin: The file or rank it was read from, where a report has several; otherwise an empty string.
        raw: The record's lines as written, clean.
    """

    index: int
    kind: FindingKind
    tool: str = ""
    access: str = ""
    size: int | None = None
    space: str = ""
    kernel: str = ""
    src_file: str = ""
    line: int | None = None
    block: Dim3 | None = None
    thread: Dim3 | None = None
    sides: tuple[Side, ...] = ()
    device_frames: tuple[CodeLocation, ...] = ()
    host_frames: tuple[CodeLocation, ...] = ()
    allocation: Allocation | None = None
    address: str = ""
    severity: str = "error"
    reason: str = ""
    lane: LaneAnswer = LaneAnswer.NONE
    why: str = ""
    group: str = ""
    consequence_of: int | None = None
    origin: str = ""
    raw: str = ""


@dataclass(slots=True)
class FindingGroup:
    """One bug: the findings that differ only in lane and address.

    Attributes:
        id: Stable for equal reports: a digest of what the members have in common.
        title: `read 4 B out of bounds  vadd :10`.
        members: Indices into the report's findings, in order.
        folded: Indices of consequences (API errors after the fault) shown under this group.
    """

    id: str
    title: str
    kind: FindingKind
    members: list[int] = field(default_factory=list)
    folded: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """A sanitizer run as far as it was read; grows while the tool runs.

    Attributes:
        tool: memcheck, racecheck, ...; an empty string where unknown.
        ran: The tool instrumented the program. False is never "no findings".
        complete: The tool's own summary was read, and nothing says that the tool missed something.
        reason: Why it did not run or is incomplete, or None.
        summary: Numbers of the summary lines: errors, hazards, warnings, leaked_bytes, leaked_allocations,
            not_printed, skipped, launches, reports (where several files were read as one).
        program: The last lines of the program's own output met between the tool's lines, clean.
        program_dropped: How many older lines of it are not kept.
        dumps: GPU core dumps the tool wrote, as it names them.
        notes: Lines of the tool about the run itself that are no finding, clean.
        unknown_lines: Lines of the tool that fit no known form; they are kept in `raw` of a finding.
    """

    tool: str = ""
    ran: bool = False
    complete: bool = False
    reason: str | None = None
    summary: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    groups: dict[str, FindingGroup] = field(default_factory=dict)
    program: list[str] = field(default_factory=list)
    program_dropped: int = 0
    dumps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unknown_lines: int = 0
