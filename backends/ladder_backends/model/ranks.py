"""A parallel job, its ranks, and what is known of each before and after anything is stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Launcher(StrEnum):
    """Who started the ranks, as far as their environment tells."""

    OPENMPI = "openmpi"
    MPICH = "mpich"
    SLURM = "slurm"
    TORCHRUN = "torchrun"
    TORCH = "torch"
    """Somebody who sets the variables of torch by hand: a script, ssh, a scheduler of its own."""
    PMIX = "pmix"
    PIDS = "pids"
    """Nobody that is known: the ranks were named by their process ids."""


class RankSource(StrEnum):
    """Who can tell something of a rank, from the cheapest to the dearest."""

    PROC = "proc"
    RECORDER = "flight recorder"
    RAS = "RAS"
    PY_SPY = "py-spy"
    EU_STACK = "eu-stack"
    PY_SPY_NATIVE = "py-spy native"
    GDB = "gdb"


@dataclass(frozen=True, slots=True)
class Beside:
    """A process that carries a rank's environment and is not the rank: a wrapper, a DataLoader worker.

    Attributes:
        command: Its command line, clean.
        why: What it is, a noun: `wrapper`, `DataLoader worker`, `child`.
    """

    pid: int
    command: str
    why: str


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank and its process.

    Attributes:
        rank: Its number in the job.
        started: Clock ticks from the boot of its host to its start (proc(5), field 22 of `stat`): with the pid it
            names one process for ever, though the pid may be used again.
        executable: Path of its program as its own file system has it.
        command: Its command line, word by word, clean.
        local_rank: Its number on its host, where that is told.
        state: The kernel's letter when it was looked at: R S D T t Z, and X for gone.
        wchan: Function of the kernel it waits in; empty where it runs or that may not be read.
        tracer: Process id of who traces it, or 0.
        others: Processes that carry the same environment.
    """

    rank: int
    pid: int
    host: str
    started: int
    executable: str
    command: tuple[str, ...] = ()
    local_rank: int | None = None
    state: str = ""
    wchan: str = ""
    tracer: int = 0
    others: tuple[Beside, ...] = ()


@dataclass(frozen=True, slots=True)
class Mesh:
    """The axes along which a job divides its work, the last one varying fastest with the rank.

    Attributes:
        axes: Name and size of each: `(("dp", 2), ("pp", 2), ("tp", 2))`.
        source: Who said so.
    """

    axes: tuple[tuple[str, int], ...]
    source: str = ""

    @property
    def size(self) -> int:
        """Ranks that it covers."""
        size = 1
        for _, length in self.axes:
            size *= length
        return size

    def coordinates(self, rank: int) -> dict[str, int]:
        """Where a rank lies on each axis."""
        found: dict[str, int] = {}
        for name, length in reversed(self.axes):
            rank, found[name] = divmod(rank, length)
        return dict(reversed(found.items()))

    def rank(self, coordinates: Mapping[str, int]) -> int:
        """The rank at one place; an axis that is not named counts as 0."""
        rank = 0
        for name, length in self.axes:
            rank = rank * length + coordinates.get(name, 0)
        return rank


@dataclass(frozen=True, slots=True)
class Job:
    """One parallel job as it was found on the hosts that were looked at.

    Attributes:
        key: What tells it from other jobs: `torchrun:none@127.0.0.1:29500`, `pmix:1234567-1`, `slurm:42.0`.
        launcher_pid: Process id of its launcher on this host, where there is one.
        size: World size that it was asked for, where that is told.
        ranks: In ascending order, one for each number.
        missing: Ranks that the size asks for and that have no live process, each with the reason.
        sources: Who said which ranks there are: `environment`, `MPIR table of 4711`.
        title: What it runs, short: `mpirun ./solver · 8 ranks`.
        restart: How often the ranks were started again (torchrun).
        notes: What a person has to know of the finding: `4712 and 4713 both say they are rank 3`.
        elsewhere: Ranks that run on hosts where nobody has looked; they are not missing.
    """

    key: str
    launcher: Launcher
    launcher_pid: int | None
    size: int | None
    ranks: tuple[Rank, ...]
    missing: tuple[tuple[int, str], ...] = ()
    sources: tuple[str, ...] = ()
    mesh: Mesh | None = None
    title: str = ""
    restart: int = 0
    notes: tuple[str, ...] = ()
    elsewhere: tuple[int, ...] = ()

    def rank(self, number: int) -> Rank | None:
        """The rank of that number, or None."""
        return next((rank for rank in self.ranks if rank.rank == number), None)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts with ranks, each once, in the order of ranks."""
        return tuple(dict.fromkeys(rank.host for rank in self.ranks))


@dataclass(frozen=True, slots=True)
class RankFrame:
    """One frame of a rank's stack.

    Attributes:
        line: 1-based, or 0 where it is not known.
        language: `native` or `python`.
        offset: Of the program counter in its module's file, or -1 where it is not known.
        entry: Of a Python frame: it is the outermost one that its interpreter loop runs (`PythonFrame.entry`).
    """

    function: str
    file: str = ""
    line: int = 0
    module: str = ""
    language: str = "native"
    offset: int = -1
    entry: bool = True


@dataclass(frozen=True, slots=True)
class RankStack:
    """The stack of one thread of a rank.

    Attributes:
        thread: Kernel's thread id.
        frames: Outermost first.
        state: The kernel's letter of that thread, or an empty string.
    """

    rank: int
    thread: int
    name: str
    frames: tuple[RankFrame, ...]
    state: str = ""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A rank that did not answer, and why: a clause; and what to do about it, in the imperative."""

    rank: int
    reason: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Collective:
    """One operation of a rank as the flight recorder or RAS tells of it.

    Attributes:
        seq: Its number among the collectives of its group; for a point-to-point operation, among those.
        op: `all_reduce`, `all_gather`, `broadcast`; in the recorder's words without the back end: `nccl:all_reduce`
            is `all_reduce`.
        sizes: Shapes of the inputs, of all of them.
        dtype: Element type of the first input, or an empty string.
        state: `scheduled`, `started` or `completed`.
        group: Name of the process group.
        frames: Where the program asked for it, outermost first.
        source: Who tells.
        group_ranks: Global ranks of the group, where that is told.
        output_sizes: Shapes of the outputs.
        point_to_point: It is a send or receive.
        age: Seconds since it was asked for, or None.
        time_out: Seconds after which the back end gives it up, or None.
    """

    seq: int
    op: str
    sizes: tuple[tuple[int, ...], ...] = ()
    dtype: str = ""
    state: str = ""
    group: str = ""
    frames: tuple[RankFrame, ...] = ()
    source: RankSource = RankSource.RECORDER
    group_ranks: tuple[int, ...] = ()
    output_sizes: tuple[tuple[int, ...], ...] = ()
    point_to_point: bool = False
    age: float | None = None
    time_out: float | None = None


@dataclass(frozen=True, slots=True)
class RankActivity:
    """What the kernel tells of a rank between two looks.

    Attributes:
        state: The kernel's letter at the second look.
        wchan: Where the main thread waits in the kernel, or an empty string.
        syscall: The main thread's system call by name or number, `running`, or an empty string.
        cpu: Seconds of processor time used between the looks; None after one look.
        between: Seconds between the looks.
        obstacle: Why no debugger can attach, a clause; empty where nothing speaks against it.
        remedy: What to do about that, in the imperative.
    """

    rank: int
    state: str
    wchan: str = ""
    syscall: str = ""
    tracer: int = 0
    threads: int = 0
    cpu: float | None = None
    between: float = 0.0
    obstacle: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class RasCounts:
    """How many operations a rank has begun on one NCCL communicator, as NCCL's RAS tells.

    Attributes:
        communicator: Its hash, as RAS writes it.
        counts: By operation, `AllReduce`: how many were begun.
        unchanged: A second query told the same counts; only such ones mean anything.
        state: What RAS says of the rank: `RUNNING`, `INIT`, `MISSING`, `ERROR`.
    """

    rank: int
    communicator: str
    counts: Mapping[str, int]
    unchanged: bool
    state: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What asking one source cost, and how many ranks it answered for.

    Attributes:
        answered: Ranks that it told something of.
        silent: Ranks that it was asked for and told nothing of, with the reason of each.
        predicted: Seconds that each rank was expected to stand still.
        measured: Seconds that the rank held longest did stand still.
        took: Seconds from the question to the answer.
        note: One clause about it all: why it was not asked, what it changed (`wrote to 4 pipes`).
    """

    source: RankSource
    answered: tuple[int, ...] = ()
    silent: tuple[Unreachable, ...] = ()
    predicted: float = 0.0
    measured: float = 0.0
    took: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of a job's ranks at one moment, and who said it.

    Attributes:
        at: Seconds since the epoch when the looking began.
        readings: One for each source, in the order asked.
        stacks: Python and native stacks as their sources told them, not joined.
        collectives: By rank, in ascending order of recording; a rank is absent where no source told of it.
        unreachable: Ranks from which nothing at all was heard, `missing` ones of the job too.
    """

    job: Job
    at: float = 0.0
    readings: tuple[Reading, ...] = ()
    activity: tuple[RankActivity, ...] = ()
    python: tuple[RankStack, ...] = ()
    native: tuple[RankStack, ...] = ()
    collectives: Mapping[int, tuple[Collective, ...]] = field(default_factory=dict)
    ras: tuple[RasCounts, ...] = ()
    unreachable: tuple[Unreachable, ...] = ()

    def reading(self, source: RankSource) -> Reading | None:
        """What one source cost and for whom it answered, or None where it was not asked."""
        return next((reading for reading in self.readings if reading.source is source), None)
