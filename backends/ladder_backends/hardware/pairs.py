"""The way between two GPUs: distance, ports, claims in both orders, what stands in the way of transfers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ladder_backends.hardware import acs, pci
from ladder_backends.hardware.iommu import TRANSLATED
from ladder_backends.hardware.nccl_choice import choice_fact
from ladder_backends.hardware.reader import Reader
from ladder_backends.model.fact import Fact, Facts
from ladder_backends.model.topology import Gpu, Pair, Port

LEVELS = {0: "X", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
MEANINGS = {
    "PIX": "one PCIe switch",
    "PXB": "several PCIe switches, no host bridge",
    "PHB": "a PCIe host bridge",
    "NODE": "host bridges of one NUMA node",
    "SYS": "the link between NUMA nodes",
}
STATUS = ("OK", "CNS", "GNS", "TNS", "DR", "NS", "U")
STATUS_WORDS = {
    "OK": "offered",
    "CNS": "chipset not supported",
    "GNS": "GPU not supported",
    "TNS": "topology not supported",
    "DR": "disabled by a parameter of the driver",
    "NS": "not supported",
    "U": "unknown",
}
CLAIMS = ("read", "write", "nvlink", "atomics", "pci")
"""Indexes of nvmlDeviceGetP2PStatus, by name; its header file names them so."""


class Route(NamedTuple):
    """The way of a pair through the tree of PCIe.

    Attributes:
        up: Ports from the first GPU up to the common one, without it.
        ancestor: The common port, or the roots, `pci0000:00 | pci0000:40`; empty where sysfs does not tell.
        down: Ports from the common one down to the other GPU.
        shared: The common one is a port.
        distance: By the rules of nvidia-smi; empty where it is unknown.
    """

    up: tuple[str, ...]
    ancestor: str
    down: tuple[str, ...]
    shared: bool
    distance: str

    @property
    def ports(self) -> tuple[str, ...]:
        """All ports on it, in order."""
        return (*self.up, self.ancestor, *self.down) if self.shared else (*self.up, *self.down)


def route(one: Gpu, other: Gpu, roots: Mapping[str, str]) -> Route:
    """The way between two GPUs."""
    if not roots.get(one.bdf) or not roots.get(other.bdf):
        return Route((), "", (), False, "")
    common = next((port for port in one.above if port in other.above), None)
    if common is not None:
        up = one.above[: one.above.index(common)]
        down = tuple(reversed(other.above[: other.above.index(common)]))
        # Below one switch, the common port is its upstream one and each way holds one downstream port.
        return Route(up, common, down, True, "PIX" if len(up) <= 1 and len(down) <= 1 else "PXB")
    up, down = one.above, tuple(reversed(other.above))
    first, second = roots[one.bdf], roots[other.bdf]
    if first == second:
        return Route(up, first, down, False, "PHB")
    nodes = [gpu.facts.value("numa.sysfs") for gpu in (one, other)]
    distance = "" if None in nodes else "NODE" if nodes[0] == nodes[1] else "SYS"
    return Route(up, f"{first} | {second}", down, False, distance)


def read_pair(
    reader: Reader,
    one: Gpu,
    other: Gpu,
    roots: Mapping[str, str],
    ports: Mapping[str, Port],
    host: Facts,
    gpus: int,
    environment: Mapping[str, str],
) -> Pair:
    """One pair, `one` before `other`."""
    way = route(one, other, roots)
    joined = _nvlinks(one, other)
    links, of_links = joined.value or 0, joined.source
    level = reader.call(
        "ancestor", "common ancestor", "nvmlDeviceGetTopologyCommonAncestor", one.index, other.index,
        parse=LEVELS.__getitem__, shown=lambda word: f"{word}, {MEANINGS.get(word, word)}",
    )  # fmt: skip
    pcie = str(level.value or way.distance)
    distance = f"NV{links}" if links else pcie
    source = (
        f"{of_links}, {level.source if level.known else 'sysfs'}"
        if links
        else level.source
        if level.known
        else "sysfs"
    )
    shown = f"{distance}, {MEANINGS.get(distance, f'{links} NVLinks')}"
    first = Fact("distance", "distance", distance or None, shown, source, "" if distance else level.why)
    if host.value("vm.hypervisor") and distance and not links:
        first = first.noted("as this guest is shown it; the host's tree may differ")
    claims = Facts(_claims(reader, one, other))
    facts = Facts(
        [
            first,
            joined,
            level,
            *claims.values(),
            choice_fact(distance, claims, host, gpus, environment),
            _narrowest(one, other, way, ports),
            _redirect(way, ports, guest=host.value("vm.hypervisor")),
            _translated(one, other),
        ]
    )
    return Pair(one.index, other.index, distance, way.ports, way.ancestor, facts)


def _nvlinks(one: Gpu, other: Gpu) -> Fact:
    """How many NVLinks join the two, directly or through switches."""
    name, label, source = "nvlinks", "NVLinks", "nvmlDeviceGetNvLinkState, nvmlDeviceGetNvLinkRemoteDeviceType"
    if not one.links and not other.links:
        return Fact(name, label, source=source, why="no GPU tells of NVLinks")
    direct = sum(link.active is True and link.peer == other.bdf for link in one.links)
    # A switch joins every GPU that has links to it. In a guest its address is not told, so that two planes of
    # switches would look like one.
    switched = min(sum(link.active is True and link.peer == "switch" for link in gpu.links) for gpu in (one, other))
    if not direct and not switched and not (one.links_known and other.links_known):
        dark = other if one.links_known else one
        return Fact(name, label, source=source, why=f"{dark.label}: {dark.links[0].facts['state'].why}")
    return Fact(name, label, direct or switched, source=source)


def _claims(reader: Reader, one: Gpu, other: Gpu) -> Iterator[Fact]:
    for index, name in enumerate(CLAIMS):
        label = f"P2P {name}"
        there = reader.call(
            f"claim.{name}",
            label,
            "nvmlDeviceGetP2PStatus",
            one.index,
            other.index,
            index,
            parse=STATUS.__getitem__,
        )
        back = reader.call(
            f"claim.{name}",
            label,
            "nvmlDeviceGetP2PStatus",
            other.index,
            one.index,
            index,
            parse=STATUS.__getitem__,
        )
        if there.value is None or there.value == back.value:
            word = str(there.value)
            meaning = f"{word}, {STATUS_WORDS[word]}" if there.known else ""
            yield Fact(there.name, label, there.value, meaning, there.source, there.why)
            continue
        value = f"{there.value} / {back.value if back.known else '?'}"
        shown = f"GPU{one.index}→GPU{other.index} {there.value}, GPU{other.index}→GPU{one.index} {back.text}"
        yield Fact(there.name, label, value, shown, there.source).wrong("the two directions differ")


def _narrowest(one: Gpu, other: Gpu, way: Route, ports: Mapping[str, Port]) -> Fact:
    """The slowest link of the way at its best: what each end could do, never what idles now."""
    name, label = "pcie.narrowest", "narrowest PCIe link"
    source = f"{pci.DEVICES}/*/max_link_speed, current_link_width"
    found: list[tuple[float, str]] = []
    for gpu in (one, other):
        speed = gpu.facts.value("link.speed.max")
        lanes = gpu.facts.value("link.width") or gpu.facts.value("pcie.width")
        above = ports[gpu.above[0]].facts if gpu.above and gpu.above[0] in ports else Facts()
        bounds = [speed, above.value("link.speed.max")]
        if speed is not None and lanes is not None:
            found.append((pci.rate(min(b for b in bounds if b is not None), lanes), gpu.label))
    for bdf in way.ports:
        facts = ports[bdf].facts if bdf in ports else Facts()
        # Traffic turns round inside the common switch: its own link up is not on the way.
        if ports.get(bdf) is not None and ports[bdf].kind == "switch upstream" and bdf == way.ancestor:
            continue
        speed, lanes = facts.value("link.speed.max"), facts.value("link.width")
        if speed is not None and lanes is not None:
            found.append((pci.rate(speed, lanes), bdf))
    if not found:
        return Fact(name, label, source=source, why="no link on the way tells its speed")
    slowest, where = min(found)
    return Fact(name, label, {"GBps": round(slowest, 1), "at": where}, f"{slowest:.1f} GB/s at {where}", source)


def _redirect(way: Route, ports: Mapping[str, Port], *, guest: bool | None) -> Fact:
    """Whether a port below the common one sends peer traffic up to the root."""
    name, label = "acs.redirect", "ACS redirect on the way"
    on_the_way = [*way.up, *way.down]
    if not on_the_way:
        why = "no port of the host is visible here" if guest is not False else "no port stands on the way"
        return Fact(name, label, source=pci.DEVICES, why=why)
    facts = {bdf: ports[bdf].facts["acs.control"] for bdf in on_the_way if bdf in ports}
    sources = ", ".join(dict.fromkeys(fact.source for fact in facts.values() if fact.known)) or pci.DEVICES
    redirecting = [bdf for bdf, fact in facts.items() if fact.known and acs.redirects(fact.value)]
    if redirecting:
        return Fact(name, label, True, f"yes, at {', '.join(redirecting)}", sources).noted(
            "writes to a peer go up to the root and into the IOMMU"
        )
    unread = [bdf for bdf, fact in facts.items() if not fact.known]
    if unread:
        why = f"unread at {len(unread)} of {len(on_the_way)} ports: needs root"
        return Fact(name, label, source=sources, why=why, remedy=acs.command(unread))
    return Fact(name, label, False, f"no, at none of {len(on_the_way)} ports", sources)


def _translated(one: Gpu, other: Gpu) -> Fact:
    """Whether a translating IOMMU stands between the two."""
    name, label = "iommu.translated", "IOMMU translates"
    kinds = [gpu.facts["iommu.type"] for gpu in (one, other)]
    source = ", ".join(dict.fromkeys(fact.source for fact in kinds))
    if any(fact.value in TRANSLATED for fact in kinds):
        return Fact(name, label, True, source=source)
    if all(fact.known for fact in kinds):
        return Fact(name, label, False, source=source)
    return Fact(name, label, source=source, why=next(fact.why for fact in kinds if not fact.known))
