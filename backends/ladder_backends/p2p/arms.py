"""The arms of a sweep: what each does, what it catches, what it costs, in the order from cheap to dangerous."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Scope(enum.StrEnum):
    """What an arm looks at."""

    CONTROL = "control"
    PAIR = "pair"
    OWN_PROCESS = "own process"
    TOGETHER = "together"


class Depth(enum.StrEnum):
    """How far a sweep goes; the last is no depth of a sweep."""

    QUICK = "quick"
    DEEP = "deep"
    SOAK = "soak"
    ASKED = "asked"
    """Of an arm: no depth alone runs it."""


class Arm(NamedTuple):
    """One arm.

    Attributes:
        id: Its name in reports.
        test: Its number in the plan.
        does: What happens, in a few words.
        catches: What fails here that passes before.
        depth: The least deep sweep that runs it.
        seconds: Expected for one ordered pair (or GPU) on a healthy machine.
        limit: Seconds that one step of it may take.
        memory: Bytes on each GPU.
        environment: Variables of its process.
    """

    id: str
    test: str
    does: str
    catches: str
    scope: Scope
    depth: Depth = Depth.QUICK
    seconds: float = 0.1
    limit: float = 8.0
    memory: int = 0
    environment: tuple[tuple[str, str], ...] = ()


MIB = 1 << 20
SMALL, BIG = 8.0, 30.0
PAYLOAD = 8 * MIB
GUARD = MIB
CAP = 256 * MIB

ARMS: dict[str, Arm] = {
    arm.id: arm
    for arm in (
        Arm(
            "local", "T1", "fill and check its own memory", "bad memory", Scope.CONTROL, limit=BIG, memory=64 * MIB
        ),
        Arm("host", "T1", "pinned host memory there and back", "a bad host link", Scope.CONTROL, memory=64 * MIB),
        Arm("staged", "T2", "copy with peer access off", "a bad host path: the control", Scope.CONTROL),
        Arm("push", "T3", "copy engine of the source writes", "dropped writes", Scope.PAIR, memory=10 * MIB),
        Arm("pull", "T3", "copy engine of the target reads", "reads that are refused", Scope.PAIR, memory=10 * MIB),
        Arm("store", "T4", "a kernel stores through the window", "a mirror", Scope.PAIR, memory=10 * MIB),
        Arm("load", "T5", "a kernel loads 4, 8, 16 bytes", "refused reads", Scope.PAIR, memory=10 * MIB),
        Arm("speed", "T3", "256 MiB and 4 bytes, timed", "a slow path", Scope.PAIR, limit=BIG, memory=CAP),
        Arm(
            "sizes",
            "T6",
            "sizes to 256 MiB and odd offsets",
            "windows that wrap, page size faults",
            Scope.PAIR,
            Depth.DEEP,
            0.5,
            BIG,
            CAP + 4 * MIB,
        ),
        Arm(
            "patterns",
            "T7",
            "five patterns, 50 epochs",
            "stuck lanes, old data that passes by luck",
            Scope.PAIR,
            Depth.DEEP,
            0.5,
            BIG,
            10 * MIB,
        ),
        Arm(
            "both ways",
            "T8",
            "both directions at the same time",
            "starved credits",
            Scope.PAIR,
            Depth.DEEP,
            0.2,
            BIG,
            2 * CAP,
        ),
        Arm(
            "handshake",
            "T9",
            "two kernels signal each other, bounded",
            "copies fine, collectives hang",
            Scope.PAIR,
            Depth.DEEP,
            0.2,
            SMALL,
            MIB,
        ),
        Arm(
            "atomics",
            "T10",
            "both add to one counter",
            "adds that are lost",
            Scope.PAIR,
            Depth.DEEP,
            0.1,
            SMALL,
            MIB,
        ),
        Arm(
            "far end",
            "T6",
            "a buffer behind all memory that is free",
            "windows that end before the memory does",
            Scope.PAIR,
            Depth.ASKED,
            2.0,
            BIG,
            10 * MIB,
        ),
        Arm(
            "ipc",
            "T11",
            "another process stores through an IPC handle",
            "engines' own all-reduce",
            Scope.OWN_PROCESS,
            Depth.DEEP,
            2.0,
            BIG,
            10 * MIB,
        ),
        Arm(
            "fd",
            "T11",
            "another process stores through a file descriptor",
            "what NCCL does from 2.19 on",
            Scope.OWN_PROCESS,
            Depth.DEEP,
            0.3,
            BIG,
            10 * MIB,
        ),
        Arm(
            "shm",
            "T12",
            "two processes over shared memory",
            "whether NCCL can fall back",
            Scope.OWN_PROCESS,
            Depth.DEEP,
            0.3,
            BIG,
            10 * MIB,
        ),
        Arm(
            "nccl",
            "T13",
            "NCCL all-reduce, as it is",
            "what the protocols of NCCL break",
            Scope.OWN_PROCESS,
            Depth.DEEP,
            4.0,
            BIG,
            128 * MIB,
            (("NCCL_RUN_DIAGNOSTICS", "1"),),
        ),
        Arm(
            "nccl no p2p",
            "T13",
            "NCCL all-reduce, P2P off",
            "faults of shared memory",
            Scope.OWN_PROCESS,
            Depth.DEEP,
            4.0,
            BIG,
            128 * MIB,
            (("NCCL_P2P_DISABLE", "1"),),
        ),
        Arm(
            "nccl sockets",
            "T13",
            "NCCL all-reduce, sockets alone",
            "faults of neither",
            Scope.OWN_PROCESS,
            Depth.DEEP,
            5.0,
            BIG,
            128 * MIB,
            (("NCCL_P2P_DISABLE", "1"), ("NCCL_SHM_DISABLE", "1"), ("NCCL_IB_DISABLE", "1")),
        ),
        Arm(
            "nccl nic",
            "T13",
            "NCCL all-reduce, through the network card",
            "a hang of RDMA with all GPUs well",
            Scope.OWN_PROCESS,
            Depth.DEEP,
            5.0,
            BIG,
            128 * MIB,
            (("NCCL_P2P_DISABLE", "1"), ("NCCL_SHM_DISABLE", "1"), ("NCCL_IB_DISABLE", "0")),
        ),
        Arm("trace", "T3", "look for a lost write on every GPU", "misrouted writes", Scope.TOGETHER, seconds=1.0),
        Arm(
            "one to all",
            "T8",
            "each GPU in turn writes to all others",
            "an exit that is shared",
            Scope.TOGETHER,
            Depth.DEEP,
            0.5,
            BIG,
            CAP,
        ),
        Arm(
            "all to one",
            "T8",
            "all others write to each GPU in turn",
            "an entrance that is shared",
            Scope.TOGETHER,
            Depth.DEEP,
            0.5,
            BIG,
            CAP,
        ),
        Arm(
            "ring",
            "T8",
            "each GPU writes to the next at the same time",
            "a shared uplink",
            Scope.TOGETHER,
            Depth.DEEP,
            0.5,
            BIG,
            CAP,
        ),
        Arm(
            "all at once",
            "T8",
            "every pair copies at the same time",
            "translation that cannot keep up",
            Scope.TOGETHER,
            Depth.DEEP,
            1.0,
            BIG,
            CAP,
        ),
        Arm(
            "soak",
            "T14",
            "every pair for a minute, checked",
            "a marginal riser or cable",
            Scope.TOGETHER,
            Depth.SOAK,
            60.0,
            BIG,
            64 * MIB,
        ),
    )
}
"""Arms by name, cheap and harmless ones first."""

_DEPTHS = tuple(Depth)
START = 1.5
"""Seconds that a process takes to load CuPy."""

_INIT = 2.0
"""Seconds until CUDA is started on the GPUs of a pair and its kernels are compiled."""

_MORE = 0.4
"""Seconds for each further GPU in one process."""


def arms_of(depth: Depth, scope: Scope, *, asked: tuple[str, ...] = ()) -> tuple[Arm, ...]:
    """The arms of a sweep in one scope, in their order, with those that are asked for by name."""
    reach = _DEPTHS.index(depth)
    return tuple(
        arm
        for arm in ARMS.values()
        if arm.scope is scope and (_DEPTHS.index(arm.depth) <= reach or arm.id in asked)
    )


def expected_parts(
    depth: Depth, gpus: int, *, asked: tuple[str, ...] = (), soak: float = 60.0
) -> dict[Scope, float]:
    """Seconds that each part of a sweep takes on a healthy machine: start of CUDA in each process, and the arms.

    Args:
        depth: How far it goes.
        gpus: How many there are.
        asked: Arms that are asked for by name.
        soak: Seconds of the soak.
    """
    many = _INIT + _MORE * max(0, gpus - 2)
    found = {Scope.CONTROL: START + many + 0.1 * len(arms_of(depth, Scope.CONTROL)) * gpus}
    if gpus < 2:
        found[Scope.OWN_PROCESS] = sum(
            arm.seconds for arm in arms_of(depth, Scope.OWN_PROCESS) if not arm.id.startswith("nccl")
        )
        return found
    found[Scope.CONTROL] += 0.03 * gpus * (gpus - 1)
    rounds = gpus - 1 + (gpus % 2)
    pair = _INIT + 2 * sum(arm.seconds for arm in arms_of(depth, Scope.PAIR, asked=asked))
    found[Scope.PAIR] = rounds * pair
    if own := arms_of(depth, Scope.OWN_PROCESS):
        each = sum(arm.seconds * (1 if arm.test == "T13" else 2) for arm in own)
        found[Scope.OWN_PROCESS] = rounds * (START + _INIT + each)
    if together := [arm for arm in arms_of(depth, Scope.TOGETHER) if arm.id != "trace"]:
        found[Scope.TOGETHER] = many + sum(soak if arm.id == "soak" else arm.seconds for arm in together)
    return found


def expected_seconds(depth: Depth, gpus: int, *, asked: tuple[str, ...] = (), soak: float = 60.0) -> float:
    """How long a whole sweep takes on a healthy machine."""
    return START + sum(expected_parts(depth, gpus, asked=asked, soak=soak).values())
