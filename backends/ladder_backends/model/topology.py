"""One machine as far as user space can read it: host, GPUs, ports above them, and the way between any two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ladder_backends.model.fact import Concern, Fact, Facts


@dataclass(frozen=True, slots=True)
class NvLink:
    """One NVLink of a GPU.

    Attributes:
        number: As NVML counts them.
        active: Whether it is up, or None where that is not known.
        peer: `switch`, the bus address of a GPU, or an empty string where it is not known.
        facts: State, version, speed, remote end and error counters.
    """

    number: int
    active: bool | None
    peer: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class Port:
    """A PCIe function on the way from a GPU to the root: a bridge of a switch, or a root port.

    Attributes:
        bdf: `0000:00:03.1`.
        kind: `root port`, `switch upstream`, `switch downstream`, `bridge`, or an empty string.
        facts: Link, ACS control, AER counters, bridge window.
    """

    bdf: str
    kind: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU.

    Attributes:
        index: As NVML counts them, by bus address; not CUDA's own order.
        uuid: Empty where NVML does not answer.
        bdf: `0000:41:00.0`, in small letters.
        above: Bus addresses of the ports above it, nearest first; empty where sysfs does not tell.
        root: The host bridge that they hang from: `pci0000:40`; empty where sysfs does not tell.
    """

    index: int
    name: str
    uuid: str
    bdf: str
    facts: Facts
    links: tuple[NvLink, ...] = ()
    above: tuple[str, ...] = ()
    root: str = ""

    @property
    def label(self) -> str:
        """`GPU0`."""
        return f"GPU{self.index}"

    @property
    def active_links(self) -> int:
        """NVLinks that are up."""
        return sum(link.active is True for link in self.links)

    @property
    def links_known(self) -> bool:
        """The driver tells of the state of its NVLinks, or it has none."""
        return not self.links or any(link.active is not None for link in self.links)

    @property
    def links_text(self) -> str:
        """`18 of 18 NVLinks up`."""
        if not self.links_known:
            return f"NVLinks ? {self.links[0].facts['state'].why}"
        return f"{self.active_links} of {len(self.links)} NVLinks up" if self.links else "no NVLink seen"


@dataclass(frozen=True, slots=True)
class Nic:
    """An RDMA device.

    Attributes:
        index: By name, as nvidia-smi counts them.
        name: `mlx5_0`.
        facts: Its distance from each GPU, NUMA node, link, IOMMU group, AER counters.
        above, root: As those of a GPU.
    """

    index: int
    name: str
    bdf: str
    facts: Facts
    above: tuple[str, ...] = ()
    root: str = ""

    @property
    def label(self) -> str:
        """`NIC0`."""
        return f"NIC{self.index}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two GPUs and the way between them; `a < b`.

    Attributes:
        distance: `NV18`, `PIX`, `PXB`, `PHB`, `NODE`, `SYS`, or an empty string where it is not known.
        ports: Bus addresses on the way, from the first GPU up to the common ancestor and down to the other.
        ancestor: Bus address of the port, or name of the root, where the two ways meet; empty where unknown.
        facts: Distance, claims in both orders, narrowest link, redirection, what NCCL will choose.
    """

    a: int
    b: int
    distance: str
    ports: tuple[str, ...]
    ancestor: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class Machine:
    """All of it.

    Attributes:
        title: What it is, in a few words: `2× NVIDIA H200`.
        simulated: Title of the simulated machine it is, or an empty string.
        unread: Why the GPUs' own library answers nothing, one line; empty where it does.
        remedy: What to do about that.
        read_at: Seconds since the epoch.
        took: Seconds that reading took.
        commands: What somebody who is root can run, to tell what is unread.
    """

    title: str
    host: Facts
    gpus: tuple[Gpu, ...] = ()
    ports: dict[str, Port] = field(default_factory=dict)
    pairs: tuple[Pair, ...] = ()
    simulated: str = ""
    unread: str = ""
    remedy: str = ""
    read_at: float = 0.0
    took: float = 0.0
    commands: tuple[str, ...] = ()
    nics: tuple[Nic, ...] = ()

    def pair(self, one: int, other: int) -> Pair | None:
        """The pair of two GPUs, in any order."""
        low, high = min(one, other), max(one, other)
        return next((pair for pair in self.pairs if (pair.a, pair.b) == (low, high)), None)

    def gpu_at(self, bdf: str) -> Gpu | None:
        """The GPU at a bus address."""
        return next((gpu for gpu in self.gpus if gpu.bdf == bdf), None)

    def groups(self) -> Iterator[tuple[str, str, Facts]]:
        """Every group of facts: a stable name, a title for people, the facts."""
        yield "host", "host", self.host
        for gpu in self.gpus:
            yield f"gpu.{gpu.uuid or gpu.bdf}", gpu.label, gpu.facts
            for link in gpu.links:
                yield (
                    f"gpu.{gpu.uuid or gpu.bdf}.nvlink.{link.number}",
                    f"{gpu.label} NVLink {link.number}",
                    link.facts,
                )
        for bdf, port in self.ports.items():
            yield f"port.{bdf}", f"{port.kind or 'port'} {bdf}", port.facts
        for nic in self.nics:
            yield f"nic.{nic.bdf}", f"{nic.label} {nic.name}", nic.facts
        for pair in self.pairs:
            one, other = self.gpus[pair.a], self.gpus[pair.b]
            yield f"pair.{one.bdf}-{other.bdf}", f"{one.label} – {other.label}", pair.facts

    def concerns(self) -> list[tuple[str, Fact]]:
        """What needs attention, with the title of what it belongs to; the broken first."""
        found = [(title, fact) for _, title, facts in self.groups() for fact in facts.concerns()]
        return sorted(found, key=lambda one: one[1].concern is not Concern.WRONG)
