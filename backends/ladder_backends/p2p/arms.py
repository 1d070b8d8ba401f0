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
    """How far a sweep goes."""

    QUICK = "quick"
    DEEP = "deep"
    SOAK = "soak"


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
            "ipc",
            "T11",
            "another process stores through an IPC handle",
            "engines' own all-reduce",
            Scope.OWN_PROCESS,
            Depth.DEEP,
            4.0,
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
            4.0,
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
            5.0,
            BIG,
            128 * MIB,
        ),
        Arm(
            "nccl no p2p",
            "T13",
            "NCCL all-reduce, P2P off",
            "faults of shared memory",
            Scope.OWN_PROCESS,
            Depth.DEEP,
            5.0,
            BIG,
            128 * MIB,
            (("NCCL_P2P_DISABLE", "1"),),
        ),
        Arm(
            "nccl sockets",
            "T13",
            "NCCL all-reduce, P2P and SHM off",
            "faults of neither",
            Scope.OWN_PROCESS,
            Depth.DEEP,
            6.0,
            BIG,
            128 * MIB,
            (("NCCL_P2P_DISABLE", "1"), ("NCCL_SHM_DISABLE", "1")),
        ),
        Arm("trace", "T3", "look for a lost write on every GPU", "misrouted writes", Scope.TOGETHER, seconds=1.0),
        Arm(
            "all at once",
            "T8",
            "every pair copies at the same time",
            "a shared uplink, translation thrash",
            Scope.TOGETHER,
            Depth.DEEP,
            2.0,
            BIG,
            64 * MIB,
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
_INIT = 2.5


def arms_of(depth: Depth, scope: Scope) -> tuple[Arm, ...]:
    """The arms of a sweep in one scope, in their order."""
    reach = _DEPTHS.index(depth)
    return tuple(arm for arm in ARMS.values() if arm.scope is scope and _DEPTHS.index(arm.depth) <= reach)


def expected_seconds(depth: Depth, gpus: int) -> float:
    """How long a sweep takes on a healthy machine: start of CUDA in each process, and the arms."""
    control = _INIT + sum(arm.seconds for arm in arms_of(depth, Scope.CONTROL)) * gpus
    if gpus < 2:
        return control
    rounds = gpus - 1 + gpus % 2
    pair = _INIT + 2 * sum(arm.seconds for arm in arms_of(depth, Scope.PAIR))
    own = sum(arm.seconds * (1 if arm.test == "T13" else 2) for arm in arms_of(depth, Scope.OWN_PROCESS)) * rounds
    together = sum(arm.seconds for arm in arms_of(depth, Scope.TOGETHER) if arm.id != "trace")
    return _INIT + control + rounds * pair + own + together
