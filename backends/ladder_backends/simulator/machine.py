"""A simulated machine as its TOML file describes it.

```toml
title = "2 GPUs behind a switch"        # what the screen calls it
about = "one sentence"
patience = 0.2                           # of the seconds that a step may take: what hangs here is known to hang

[[gpu]]                                  # numbered from 0 in their order
name = "NVIDIA RTX PRO 6000"
uuid = "GPU-..."                         # made up where left out
bus = "0000:41:00.0"
memory_GiB = 96
busy = "python3 (4242), 38 GB"           # left out: idle
host_GBps = 50.0                         # pinned host memory, each way

[[link]]                                 # between two GPUs, or "*" for all of them
from = "*"
to = "*"
GBps = 53.0                              # one direction, copy engine
latency_us = 1.3
claimed = true                           # cudaDeviceCanAccessPeer
nvml = "OK"                              # or a table: {read = "OK", pci = "NS"}
both_ways = false                        # true: the reverse too

[staged]
GBps = 24.0
latency_us = 14.0

[times]                                  # seconds that are slept, so that a sweep takes as long as a real one
start = 1.5                              # a process loads its libraries
context = 0.4                            # CUDA starts on one GPU
pace = 1.0                               # of what the model says that a transfer takes

[[fault]]                                # below the calls: each of them still reports success
kind = "drop"
from = 0                                 # a number, a list, or "*"; the direction in which the data goes
to = "*"
via = ["push", "pull", "store", "load"]  # see VIAS; left out: every peer path
above = 2097152                          # only transfers longer than this many bytes
past_GiB = 16                            # only memory of the target that lies behind its first so many GiB
concurrent = true                        # only while other transfers run; a number: while so many do at least
after = 3                                # only from the fourth matching transfer of a process on
start = 65536                            # partial: of each transfer, bytes from here ..
stop = 131072                            # .. to here are lost; left out: to the end
lands_on = 2                             # misroute: where the data goes
factor = 0.2                             # slow: of the link's rate
wedges = true                            # hang: the target stays at work after its process was ended
stubborn = true                          # hang: SIGTERM does not end it
code = 205                               # error: the runtime's number
```

Kinds: drop, mirror, misroute, stale, late, partial, corrupt, slow, hang, die (the process is killed), error, enable
(peer access cannot be enabled), signal (kernels do not see each other's flags), atomics (adds are lost), sums (NCCL
adds up wrong).
Other tables belong to the readers of the machine's files and of NVML.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ladder_backends.errors import LadderError
from ladder_backends.simulator.shape import DOCUMENT, check

SCENARIOS = Path(__file__).parent / "scenarios"
MOST_GPUS = 64
MOST_BYTES = 4_000_000
PEER = ("push", "pull", "store", "load", "ipc", "fd", "handshake", "atomics", "nccl")
VIAS = (
    *PEER,
    "staged",
    "local",
    "host",
    "shm",
    "start",
    "nccl no p2p",
    "nccl sockets",
    "nccl nic",
    "nccl diagnostics",
    "unseen",
)
KINDS = (
    "drop",
    "mirror",
    "misroute",
    "stale",
    "late",
    "partial",
    "corrupt",
    "slow",
    "hang",
    "die",
    "error",
    "enable",
    "signal",
    "atomics",
    "sums",
)


class MachineInvalid(LadderError):
    """A file that describes no machine."""


@dataclass(frozen=True, slots=True)
class SimulatedGpu:
    """One GPU of a simulated machine."""

    name: str
    uuid: str
    bus: str
    memory: int
    busy: str
    host_rate: float


@dataclass(frozen=True, slots=True)
class Link:
    """One direction between two GPUs; rate in GB/s, latency in microseconds."""

    rate: float = 50.0
    latency: float = 1.5
    claimed: bool = True
    nvml: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong below the calls; None or empty selects everything."""

    kind: str
    sources: frozenset[int] | None = None
    targets: frozenset[int] | None = None
    via: frozenset[str] = frozenset(PEER)
    above: int = -1
    past: int = -1
    concurrent: int = 0
    after: int = 0
    start: int = 0
    stop: int | None = None
    lands_on: int | None = None
    factor: float = 0.2
    wedges: bool = False
    stubborn: bool = False
    code: int = 1

    def on(self, via: str, source: int, target: int, size: int, *, concurrent: int, place: int = 0) -> bool:
        """Whether it strikes a transfer; `concurrent` are at work, and `place` is where the owner's buffer lies."""
        return (
            via in self.via
            and (self.sources is None or source in self.sources)
            and (self.targets is None or target in self.targets)
            and size > self.above
            and place > self.past
            and concurrent >= self.concurrent
        )


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds that are slept; none where a file says nothing."""

    start: float = 0.0
    context: float = 0.0
    pace: float = 0.0


@dataclass(frozen=True, slots=True)
class SimulatedMachine:
    """A machine that does not exist.

    Attributes:
        raw: The whole file, with the tables that other readers own.
        staged: GB/s and microseconds of a copy through the host.
        patience: Part of its seconds that a step is waited for.
    """

    title: str
    about: str
    path: Path
    gpus: tuple[SimulatedGpu, ...]
    links: Mapping[tuple[int, int], Link]
    staged: tuple[float, float]
    faults: tuple[Fault, ...]
    raw: Mapping[str, Any]
    patience: float = 1.0
    times: Times = Times()

    def table(self, gpu: int) -> Mapping[str, Any]:
        """All that the file says of a GPU."""
        found: Mapping[str, Any] = self.raw["gpu"][gpu]
        return found


def names() -> tuple[str, ...]:
    """The machines that are shipped."""
    return tuple(sorted(path.stem for path in SCENARIOS.glob("*.toml")))


def load(name: str) -> SimulatedMachine:
    """Read a shipped machine by its name, or a file.

    Raises:
        MachineInvalid: There is none, or it describes no machine.
    """
    shipped = SCENARIOS / f"{name}.toml"
    path = shipped if "/" not in name and shipped.is_file() else Path(name)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise MachineInvalid(f"{name} is no simulated machine", f"it is longer than {MOST_BYTES:,} bytes")
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MachineInvalid(
            f"there is no simulated machine {name}", error.strerror or "", "--simulate list names the shipped ones"
        ) from None
    except UnicodeDecodeError:
        raise MachineInvalid(f"{name} is no simulated machine", "it is no text") from None
    except tomllib.TOMLDecodeError as error:
        raise MachineInvalid(f"{name} is no simulated machine", str(error)) from None
    except RecursionError:
        raise MachineInvalid(f"{name} is no simulated machine", "it is nested too deeply") from None
    try:
        return _machine(raw, path.absolute())
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise MachineInvalid(f"{name} describes no machine", why, f"its form is in {DOCUMENT}") from None


def _machine(raw: Mapping[str, Any], path: Path) -> SimulatedMachine:
    check(raw)
    gpus = tuple(_gpu(one, index) for index, one in enumerate(raw.get("gpu", ())))
    if len(gpus) > MOST_GPUS:
        raise ValueError(f"it has more than {MOST_GPUS} GPUs")
    links: dict[tuple[int, int], Link] = {}
    everything = frozenset(range(len(gpus)))
    tables = raw.get("link", ())
    if "link" not in raw and not raw.get("recorded"):
        # Nothing is said of them: as links are where nothing is wrong.
        tables = ({},)
    for table in tables:
        link = _link(table)
        sources = _numbers(table.get("from", "*"), "from") or everything
        targets = _numbers(table.get("to", "*"), "to") or everything
        for source in sources:
            for target in targets - {source}:
                links[source, target] = link
                if table.get("both_ways"):
                    links[target, source] = link
    staged = raw.get("staged", {})
    return SimulatedMachine(
        str(raw.get("title", path.stem)),
        str(raw.get("about", "")),
        path,
        gpus,
        links,
        (float(staged.get("GBps", 24.0)), float(staged.get("latency_us", 14.0))),
        tuple(_fault(one) for one in raw.get("fault", ())),
        raw,
        min(1.0, max(0.01, float(raw.get("patience", 1.0)))),
        Times(**{key: min(60.0, max(0.0, float(value))) for key, value in raw.get("times", {}).items()}),
    )


def _gpu(table: Mapping[str, Any], index: int) -> SimulatedGpu:
    return SimulatedGpu(
        str(table.get("name", "NVIDIA simulated")),
        str(table.get("uuid", f"GPU-00000000-0000-0000-0000-{index:012d}")),
        str(table.get("bus", f"0000:{index + 1:02x}:00.0")),
        int(float(table.get("memory_GiB", 80)) * (1 << 30)),
        str(table.get("busy", "")),
        float(table.get("host_GBps", 50.0)),
    )


def _link(table: Mapping[str, Any]) -> Link:
    nvml = table.get("nvml", "OK")
    if isinstance(nvml, str):
        nvml = dict.fromkeys(("read", "write"), nvml)
    return Link(
        float(table.get("GBps", 50.0)),
        float(table.get("latency_us", 1.5)),
        bool(table.get("claimed", True)),
        {str(key): str(value) for key, value in nvml.items()},
    )


def _fault(table: Mapping[str, Any]) -> Fault:
    kind = str(table["kind"])
    if kind not in KINDS:
        raise ValueError(f"there is no fault {kind}; they are {', '.join(KINDS)}")
    via = table.get("via", PEER)
    via = frozenset([via] if isinstance(via, str) else via)
    if unknown := via - set(VIAS):
        raise ValueError(f"there is no path {sorted(unknown)[0]}; they are {', '.join(VIAS)}")
    stop = table.get("stop")
    lands_on = table.get("lands_on")
    return Fault(
        kind,
        _numbers(table.get("from", "*"), "from"),
        _numbers(table.get("to", "*"), "to"),
        via,
        int(table.get("above", -1)),
        int(float(table["past_GiB"]) * (1 << 30)) if "past_GiB" in table else -1,
        _together(table.get("concurrent", False)),
        int(table.get("after", 0)),
        int(table.get("start", 0)),
        None if stop is None else int(stop),
        None if lands_on is None else int(lands_on),
        float(table.get("factor", 0.2)),
        bool(table.get("wedges", False)),
        bool(table.get("stubborn", False)),
        int(table.get("code", 1)),
    )


def _together(value: object) -> int:
    return 2 if value is True else max(0, int(str(value))) if value else 0


def _numbers(value: object, name: str) -> frozenset[int] | None:
    if value == "*":
        return None
    if isinstance(value, int):
        return frozenset((value,))
    if isinstance(value, list) and all(isinstance(one, int) for one in value):
        return frozenset(value)
    raise ValueError(f"{name} is a number, a list of them, or *")
