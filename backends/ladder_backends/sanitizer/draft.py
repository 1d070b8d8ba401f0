"""A record while it is being read."""

from __future__ import annotations

from dataclasses import dataclass

from ladder_backends.model.finding import CodeLocation, FindingKind, Side
from ladder_backends.model.focus import Dim3


@dataclass(frozen=True, slots=True)
class Head:
    """What the first line of a record says; records of one bug share it.

    Attributes:
        reason: What is wrong, as far as the first line tells.
        name: NVTX name of an allocation.
        result: Number of an API error.
        location: Place named in the first line, as a race or a barrier trace does.
        message: The record is a word of the tool about its own run; neighbours merge.
        default_kind: The kind follows from the reason, which comes later; this one holds without a reason.
        unknown: The line is of no known form; whether it is about the program shows in the lines that follow.
    """

    kind: FindingKind
    tool: str = ""
    access: str = ""
    size: int | None = None
    space: str = ""
    severity: str = "error"
    reason: str = ""
    address: str = ""
    block: Dim3 | None = None
    thread: Dim3 | None = None
    kernel: str = ""
    name: str = ""
    result: int | None = None
    location: CodeLocation | None = None
    message: bool = False
    default_kind: bool = False
    unknown: bool = False


class HostStack:
    """A host backtrace and the moment it was saved at (`kernel launch time`, `allocation time`, `error`)."""

    __slots__ = ("frames", "moment")

    def __init__(self, moment: str) -> None:
        self.moment = moment
        self.frames: list[CodeLocation] = []


class RecordDraft:
    """The parts of one record, as its lines come in.

    Attributes:
        relation: Where the access lies of the nearest allocation.
        cut: The report ends inside its last line.
        lines: The record's lines as written, clean.
    """

    __slots__ = (
        "access",
        "address",
        "allocation_address",
        "allocation_size",
        "at",
        "block",
        "block_rank",
        "cut",
        "device_frames",
        "distance",
        "head",
        "lines",
        "name",
        "origin",
        "reason",
        "relation",
        "sides",
        "space",
        "stacks",
        "thread",
    )

    def __init__(self, head: Head) -> None:
        self.head = head
        self.access = head.access
        self.address = head.address
        self.reason = head.reason
        self.space = head.space
        self.block = head.block
        self.thread = head.thread
        self.block_rank: int | None = None
        self.at: CodeLocation | None = head.location
        self.sides: list[Side] | None = None
        self.device_frames: list[CodeLocation] | None = None
        self.stacks: list[HostStack] | None = None
        self.name = head.name
        self.relation = ""
        self.distance: int | None = None
        self.allocation_address = ""
        self.allocation_size: int | None = None
        self.origin = ""
        self.cut = False
        self.lines: list[str] = []

    @property
    def has_place(self) -> bool:
        """Whether the lines so far name device code or a thread: the record is about the program."""
        return self.thread is not None or bool(self.sides) or (self.at is not None and self.at != CodeLocation())

    def add_side(self, side: Side) -> None:
        """Add a place; the first one is the record's own."""
        if self.sides is None:
            self.sides = []
        self.sides.append(side)

    def add_device_frame(self, frame: CodeLocation) -> None:
        """Add a caller on the device, from the inside outwards."""
        if self.device_frames is None:
            self.device_frames = []
        self.device_frames.append(frame)

    def open_stack(self, moment: str) -> None:
        """Begin a host backtrace."""
        if self.stacks is None:
            self.stacks = []
        self.stacks.append(HostStack(moment))

    def add_host_frame(self, frame: CodeLocation) -> None:
        """Add a frame to the latest host backtrace; one without a heading is begun when needed."""
        if self.stacks is None:
            self.stacks = [HostStack("")]
        self.stacks[-1].frames.append(frame)
