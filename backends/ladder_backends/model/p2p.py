"""What is asked of pairs of GPUs and what came of it: arms, pairs, a sweep, a verdict.

GPUs are numbered as CUDA numbers them in the process that looked first. Rates are GB/s of 1e9 bytes, times seconds
unless a name says microseconds.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

Evidence = Mapping[str, object]


class Result(enum.StrEnum):
    """What an arm came to; the names of the failures are classes, each with a cause of its own."""

    RIGHT = "right"
    DROPPED = "dropped"
    MIRRORED = "mirrored"
    MISROUTED = "misrouted"
    STALE = "stale"
    PARTIAL = "partial"
    HUNG = "hung"
    SLOW = "slow"
    ERROR = "error"
    NOT_TESTED = "not_tested"

    @property
    def wrong(self) -> bool:
        """Something is proven not to work."""
        return self not in (Result.RIGHT, Result.SLOW, Result.NOT_TESTED)


WORST_FIRST = (
    Result.HUNG,
    Result.MIRRORED,
    Result.MISROUTED,
    Result.DROPPED,
    Result.STALE,
    Result.PARTIAL,
    Result.ERROR,
    Result.SLOW,
    Result.RIGHT,
    Result.NOT_TESTED,
)
"""Results by what is told of a pair first."""


@dataclass(frozen=True, slots=True)
class ArmResult:
    """What one arm found for one ordered pair, or for one GPU where both numbers are the same.

    Attributes:
        evidence: What was seen: counts of words, the first bad byte, an error's text; `say` is a sentence of it.
    """

    arm: str
    source: int
    target: int
    result: Result
    evidence: Evidence = field(default_factory=dict)

    @property
    def said(self) -> str:
        """The evidence as one sentence; may be empty."""
        return str(self.evidence.get("say", ""))


@dataclass(frozen=True, slots=True)
class Claim:
    """What the driver says of an ordered pair; None where it was not asked or did not answer.

    Attributes:
        cuda: cudaDeviceCanAccessPeer.
        nvml: The words of NVML's P2P status by index: read, write, nvlink, atomics, pci.
    """

    cuda: bool | None = None
    nvml: Mapping[str, str] = field(default_factory=dict)

    @property
    def offered(self) -> bool | None:
        """Whether peer transfers are offered at all."""
        return self.cuda


@dataclass(frozen=True, slots=True)
class PairResult:
    """All that is known of one ordered pair: `source` writes to `target`.

    Attributes:
        arms: Results by the name of the arm.
        bandwidth: GB/s of the copy engine, or None.
        latency: Microseconds of a four-byte copy, or None.
        running: The step at work on it now, or an empty string.
        slow: Why its speed is not what it should be, or an empty string.
    """

    source: int
    target: int
    claim: Claim = Claim()
    arms: Mapping[str, ArmResult] = field(default_factory=dict)
    bandwidth: float | None = None
    latency: float | None = None
    running: str = ""
    slow: str = ""

    @property
    def kind(self) -> Result:
        """The class: the worst result of the peer arms; `not_tested` before there is one."""
        found = {arm.result for arm in self.arms.values()}
        worst = next((result for result in WORST_FIRST if result in found), Result.NOT_TESTED)
        return Result.SLOW if worst is Result.RIGHT and self.slow else worst


@dataclass(frozen=True, slots=True)
class GpuReport:
    """One GPU as the survey saw it.

    Attributes:
        memory: Bytes in all.
        busy: Who uses it, as text; empty for an idle one.
        state: `ok`, `wedged`, or `unwell`; `why` says more.
    """

    index: int
    name: str = ""
    uuid: str = ""
    bus: str = ""
    memory: int = 0
    busy: str = ""
    state: str = "ok"
    why: str = ""


class Stage(enum.StrEnum):
    """How far a sweep is."""

    NEW = "new"
    SURVEY = "survey"
    CONTROL = "control"
    PAIRS = "pairs"
    PROCESSES = "processes"
    TOGETHER = "together"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep over the pairs of a machine, at any moment of it.

    Attributes:
        simulated: Title of the simulated machine, or an empty string.
        controls: Arms that use no peer access, by `(arm, source, target)`.
        together: Arms over all GPUs at once, by name.
        step: What is at work on all GPUs together, with the time that is left; empty at other times.
        untested: What could not be tested and why, one line each.
        failure: Why nothing was tested, or an empty string.
        remedy: What to do about it.
        began: Seconds since the epoch.
        took: Seconds so far.
        versions: Of driver, CUDA, CuPy, NCCL, as far as known.
    """

    gpus: tuple[GpuReport, ...] = ()
    pairs: Mapping[tuple[int, int], PairResult] = field(default_factory=dict)
    controls: Mapping[tuple[str, int, int], ArmResult] = field(default_factory=dict)
    together: Mapping[str, ArmResult] = field(default_factory=dict)
    step: str = ""
    untested: tuple[str, ...] = ()
    simulated: str = ""
    stage: Stage = Stage.NEW
    failure: str = ""
    remedy: str = ""
    began: float = 0.0
    took: float = 0.0
    depth: str = "quick"
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Nothing runs any more."""
        return self.stage in (Stage.DONE, Stage.CANCELLED, Stage.FAILED)


@dataclass(frozen=True, slots=True)
class HostFact:
    """A fact about the machine that a verdict leans on.

    Attributes:
        text: The fact as a sentence.
        value: What is compared; None where it is unknown, which is never the same as off.
        source: The file, call or arm it comes from.
        why: Why it is unknown, or an empty string.
    """

    text: str
    value: object = None
    source: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """A command, what it costs, and who may run it."""

    command: str
    price: str
    who: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """One cause, named.

    Attributes:
        id: Name of the row of the table.
        confidence: `high`, `medium`, `low`, or `none` where it is inconclusive.
        good: Everything that was tested is right.
        reports: Where the same was reported publicly, or is described.
    """

    id: str
    sentence: str
    likely: str = ""
    confidence: str = "none"
    facts: tuple[HostFact, ...] = ()
    now: Advice | None = None
    later: tuple[Advice, ...] = ()
    changed: tuple[str, ...] = ()
    good: bool = False
    conclusive: bool = True
    reports: str = ""
