"""The facts of a machine that verdicts lean on, by the names that the table of verdicts uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ladder_backends.model.fact import Fact
from ladder_backends.model.p2p import HostFact
from ladder_backends.model.topology import Machine

HostFacts = Mapping[str, HostFact]

_HOST = (
    "os.arch",
    "os.kernel",
    "cmdline",
    "cmdline.iommu",
    "driver.version",
    "vm.hypervisor",
    "snp.guest",
    "snp.host",
    "cc.state",
    "cc.multi_gpu",
    "iommu.units",
    "acs.redirect",
    "container.shm",
    "log.readable",
    "log.iommu_faults",
    "log.xid",
    "cpu.vendor",
)


def host_facts(machine: Machine) -> dict[str, HostFact]:
    """What is known of the host, with `iommu`, `acs`, `fabric` and `mig` summed up over its GPUs."""
    found = {name: told(machine.host[name]) for name in _HOST}
    for name in machine.host:
        if name.startswith("env."):
            found[name] = told(machine.host[name])
    kinds = [gpu.facts["iommu.type"] for gpu in machine.gpus]
    found["iommu"] = _iommu(kinds, found["iommu.units"])
    found["acs"] = _acs([pair.facts["acs.redirect"] for pair in machine.pairs], machine.host["acs.redirect"])
    found |= _nvlinks(machine)
    between = {bdf for pair in machine.pairs for bdf in pair.ports}
    redirecting = tuple(
        bdf for bdf, port in machine.ports.items() if bdf in between and _redirects(port.facts["acs.control"])
    )
    if redirecting:
        found["acs.ports"] = HostFact(f"ACS redirects at {', '.join(redirecting)}", redirecting, "ACS registers")
    fabric = [gpu.facts["fabric.state"] for gpu in machine.gpus if gpu.facts["fabric.state"].known]
    if fabric:
        found["fabric"] = told(fabric[0])
    found |= _by_gpu(machine, "mig", "mig.mode") | _by_gpu(machine, "display", "display") | _bar1(machine)
    apart = [gpu for gpu in machine.gpus if str(gpu.facts.value("iommu.type")).upper().startswith("DMA")]
    if apart and len(apart) < len(machine.gpus):
        names = ", ".join(f"GPU{gpu.index}" for gpu in apart)
        source = apart[0].facts["iommu.type"].source
        found["iommu.apart"] = HostFact(
            f"the IOMMU translates for {names} alone", tuple(gpu.bdf for gpu in apart), source
        )
    return found


def _by_gpu(machine: Machine, name: str, fact: str) -> dict[str, HostFact]:
    """The bus addresses of the GPUs of which something is true; empty where it is known of none."""
    known = [gpu for gpu in machine.gpus if gpu.facts[fact].known]
    on = [gpu for gpu in known if gpu.facts.value(fact)]
    if not known:
        return {}
    first = (on or known)[0].facts[fact]
    names = ", ".join(f"GPU{gpu.index}" for gpu in on)
    where = f" ({names})" if on and len(on) < len(machine.gpus) else ""
    return {name: HostFact(f"{first.label}: {first.text}{where}", tuple(gpu.bdf for gpu in on), first.source)}


def _bar1(machine: Machine) -> dict[str, HostFact]:
    """How BAR1 of each GPU compares with its memory, and where it is smaller."""
    known = [
        (gpu, bar1, memory)
        for gpu in machine.gpus
        if isinstance(bar1 := gpu.facts.value("bar1"), int) and isinstance(memory := gpu.facts.value("memory"), int)
    ]
    if not known:
        return {}
    source = known[0][0].facts["bar1"].source
    small = [(gpu, bar1, memory) for gpu, bar1, memory in known if bar1 < memory]
    if not small:
        covers = "BAR1 of every GPU covers all of its memory" if len(known) == len(machine.gpus) else ""
        return {"bar1": HostFact(covers, "whole", source)} if covers else {}
    gpu, bar1, memory = small[0]
    more = f", and {len(small) - 1} more like it" if len(small) > 1 else ""
    text = f"BAR1 of GPU{gpu.index}: {bar1 >> 20:,} MiB of {memory >> 20:,} MiB of memory{more}"
    fact = HostFact(text, tuple(one.bdf for one, _, _ in small), source)
    return {"bar1": fact, "bar1.small": fact}


def _nvlinks(machine: Machine) -> dict[str, HostFact]:
    """Links that are up and links in all by bus address, and how many join two GPUs."""
    counts = {gpu.bdf: (gpu.active_links, len(gpu.links)) for gpu in machine.gpus if gpu.links and gpu.links_known}
    counts |= {gpu.bdf: (0, 0) for gpu in machine.gpus if not gpu.links}
    out = {}
    if any(total for _, total in counts.values()):
        text = ", ".join(f"GPU{gpu.index} {gpu.links_text}" for gpu in machine.gpus if gpu.bdf in counts)
        out["nvlinks"] = HostFact(text, counts, "nvmlDeviceGetNvLinkState")
    bus = {gpu.index: gpu.bdf for gpu in machine.gpus}
    joined = {
        frozenset((bus[pair.a], bus[pair.b])): links
        for pair in machine.pairs
        if (links := pair.facts.value("nvlinks"))
    }
    if joined:
        out["nvlink.pairs"] = HostFact(f"NVLinks join {len(joined)} of {len(machine.pairs)} pairs", joined, "NVML")
    return out


def _redirects(control: Fact) -> bool:
    """RR, CR or UF is set: what a peer is sent goes up to the root."""
    return isinstance(control.value, int) and bool(control.value & 0x1C)


def told(fact: Fact) -> HostFact:
    """A fact of the machine as a verdict quotes it."""
    text = f"{fact.label}: {fact.text if fact.known else 'unknown'}"
    return HostFact(text, fact.value, fact.source, fact.why)


def _iommu(kinds: Iterable[Fact], units: HostFact) -> HostFact:
    """`translated`, `identity` or `off`, or None where nothing tells."""
    known = [fact for fact in kinds if fact.known]
    source = next((fact.source for fact in known), "/sys/kernel/iommu_groups")
    translated = [fact for fact in known if str(fact.value).upper().startswith("DMA")]
    if translated:
        text = f"IOMMU translates for {len(translated)} of {len(known)} GPUs (group type {translated[0].value})"
        return HostFact(text, "translated", source)
    if known:
        return HostFact(f"IOMMU passes through (group type {known[0].value})", "identity", source)
    if units.value is not None and not units.value:
        return HostFact("the kernel has no IOMMU", "off", units.source)
    why = next((fact.why for fact in kinds if fact.why), "no group type can be read")
    return HostFact("IOMMU domain type unknown", None, source, why)


def _acs(pairs: Iterable[Fact], whole: Fact) -> HostFact:
    """True where a port on the way between GPUs redirects, False where none does, None where one is unread."""
    pairs = tuple(pairs)
    if redirecting := [fact for fact in pairs if fact.value is True]:
        text = f"ACS redirects on the way of {len(redirecting)} of {len(pairs)} pairs"
        return HostFact(text, True, redirecting[0].source)
    if pairs and all(fact.value is False for fact in pairs):
        return HostFact("ACS redirects nothing between the GPUs", False, pairs[0].source)
    if whole.known:
        return told(whole)
    why = next((fact.why for fact in pairs if fact.why), whole.why or "not read")
    return HostFact("ACS of the ports between the GPUs is unread", None, whole.source, why)
