"""A machine as JSON and as text."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator
from typing import Any

from ladder_backends.model.baseline import Comparison
from ladder_backends.model.fact import Concern, Fact
from ladder_backends.model.machine_words import WITHOUT_A_GPU, choice_groups, concern_groups, number_in_cuda
from ladder_backends.model.topology import Machine, Pair

_HOST = (
    "driver.version", "driver.flavour", "cuda.driver", "os.kernel", "cmdline.iommu", "cpu.vendor", "dmi.product",
    "dmi.bios_version", "vm.hypervisor", "snp.guest", "snp.host", "cc.state", "iommu.units", "container",
    "container.shm", "container.memlock", "log.xid", "log.iommu_faults", "log.aer", "vllm.all_reduce", "llama.p2p",
)  # fmt: skip
"""Facts of the host that the short form shows."""

_NODES = ("numa.sysfs", "numa", "memory.nodes")
"""Facts that tell the NUMA node of a GPU; the first that is known counts."""


# JSON ----------------------------------------------------------------------------------------------------------


def machine_json(machine: Machine, comparison: Comparison | None = None) -> dict[str, Any]:
    """The document of `hardware --json`; live facts stand apart, so that the rest can be compared."""
    document: dict[str, Any] = {
        "format": 1,
        "title": machine.title,
        "simulated": machine.simulated or None,
        "unread": machine.unread or None,
        "remedy": machine.remedy or None,
        "gpus": [
            {
                "index": gpu.index,
                "name": gpu.name,
                "uuid": gpu.uuid or None,
                "bdf": gpu.bdf,
                "nvlinks": len(gpu.links),
                "nvlinks_active": gpu.active_links,
                "ports": list(gpu.above),
            }
            for gpu in machine.gpus
        ],
        "pairs": [pair_json(pair) for pair in machine.pairs],
        "nics": [
            {"index": nic.index, "name": nic.name, "bdf": nic.bdf, "ports": list(nic.above)} for nic in machine.nics
        ],
        "concerns": [
            {"of": title, "name": fact.name, "kind": str(fact.concern), "says": fact.says, "value": fact.value}
            for title, fact in machine.concerns()
        ],
    }
    if comparison is not None:
        document |= comparison_json(comparison)
    document["facts"] = list(_rows(machine, live=False))
    document["live"] = list(_rows(machine, live=True))
    document["read_at"] = round(machine.read_at, 3)
    document["took"] = round(machine.took, 3)
    return document


def pair_json(pair: Pair) -> dict[str, Any]:
    """One pair in a line."""
    return {
        "a": pair.a,
        "b": pair.b,
        "distance": pair.distance or None,
        "nccl": pair.facts.value("nccl"),
        "ancestor": pair.ancestor or None,
        "ports": list(pair.ports),
    }


def fact_json(group: str, fact: Fact) -> dict[str, Any]:
    """One fact in a line: a value with its source, or null and why."""
    row: dict[str, Any] = {"group": group, "name": fact.name, "value": fact.value, "source": fact.source}
    if not fact.known:
        row["why"] = fact.why
    if fact.remedy:
        row["remedy"] = fact.remedy
    if fact.says:
        row["says"] = fact.says
    return row


def _rows(machine: Machine, *, live: bool) -> Iterator[dict[str, Any]]:
    for group, _, facts in machine.groups():
        yield from (fact_json(group, fact) for fact in facts.values() if fact.live is live)


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """What broke beside what changed."""
    return {
        "baseline": {
            "name": comparison.baseline.name,
            "title": comparison.baseline.title,
            "saved_at": comparison.baseline.saved_at,
            "rebooted": comparison.rebooted,
            "stale": comparison.stale,
            "why_stale": comparison.why_stale or None,
        },
        "broke": list(comparison.broke),
        "mended": list(comparison.mended),
        "changed": [
            {"where": one.where, "label": one.label, "kind": one.kind, "before": one.before, "after": one.after}
            for one in comparison.changed
        ],
    }


# Text ----------------------------------------------------------------------------------------------------------


def machine_lines(
    machine: Machine, comparison: Comparison | None = None, *, everything: bool = False
) -> Iterator[str]:
    """For people: what it is, what is wrong, the matrix, and what is known of the host."""
    if machine.simulated:
        yield f"SIMULATED: {machine.simulated}"
    driver = machine.host["driver.version"]
    yield f"{machine.title}" + (f" · driver {driver.text}" if driver.known else "")
    if machine.unread:
        yield f"✗ {'NVML: ' if 'NVML' not in machine.unread else ''}{machine.unread}"
        yield f"  {machine.remedy}"
        if not machine.simulated:
            yield f"  {WITHOUT_A_GPU}"
    yield from concern_lines(machine)
    if comparison is not None:
        yield ""
        yield from comparison_lines(comparison)
    if machine.gpus:
        yield ""
        yield from topology_lines(machine)
    if everything:
        yield from _everything(machine)
        return
    yield ""
    rows = host_rows(machine)
    width = max((len(label) for label, _, _ in rows), default=0)
    for label, value, _ in rows:
        yield f"{label:{width}}  {value}"
    unknown = sum(not fact.known for _, _, each in machine.groups() for fact in each.values())
    total = sum(len(each) for _, _, each in machine.groups())
    yield ""
    yield f"{total - unknown:,} of {total:,} facts are known; --facts shows all of them, with their sources"
    yield from _commands(machine)


def topology_lines(machine: Machine) -> Iterator[str]:
    """The matrix, what NCCL takes, and a line a GPU."""
    yield from matrix_lines(machine)
    yield from _choices(machine)
    yield ""
    yield from _gpu_lines(machine)


def host_rows(machine: Machine) -> list[tuple[str, str, str]]:
    """Label, value and source of what matters most of the host, and of every variable of NCCL and CUDA."""
    names = (*_HOST, *(name for name in machine.host if name.startswith("env.")))
    facts = [fact for name in names if (fact := machine.host[name]).label != name]
    return [(fact.label, fact.text, fact.source) for fact in facts]


def concern_lines(machine: Machine) -> Iterator[str]:
    """What needs attention, a line each, with what to do about it below."""
    for one in concern_groups(machine):
        yield f"{'✗' if one.concern is Concern.WRONG else '!'} {one.text}"
        if one.remedy:
            yield f"  → {one.remedy}"


def matrix_lines(machine: Machine) -> Iterator[str]:
    """Distances, as `nvidia-smi topo -m` lays them out."""
    labels = [*(gpu.label for gpu in machine.gpus), *(nic.label for nic in machine.nics)]
    width = max(5, *(len(pair.distance) + 1 for pair in machine.pairs), *(len(label) + 1 for label in labels))
    yield " " * width + "".join(f"{label:<{width}}" for label in labels) + "NUMA  CPUs"
    for gpu in machine.gpus:
        cells = [
            "·" if gpu.index == other.index else _distance(machine, gpu.index, other.index)
            for other in machine.gpus
        ]
        cells += [str(nic.facts.value(f"to.{gpu.label}") or "?") for nic in machine.nics]
        numa = next((one for one in map(gpu.facts.value, _NODES) if one is not None), None)
        cpus = gpu.facts.value("cpus.sysfs") or gpu.facts.value("cpus")
        yield (
            f"{gpu.label:<{width}}"
            + "".join(f"{cell:<{width}}" for cell in cells)
            + f"{'?' if numa is None else numa!s:<6}{cpus or '?'}"
        )

    if machine.nics:
        yield "  ".join(f"{nic.label} {nic.name} {nic.bdf}" for nic in machine.nics)


def _distance(machine: Machine, one: int, other: int) -> str:
    pair = machine.pair(one, other)
    return pair.distance if pair is not None and pair.distance else "?"


def _choices(machine: Machine) -> Iterator[str]:
    for text, which in choice_groups(machine):
        yield f"NCCL takes {text}  ({which})"


def _gpu_lines(machine: Machine) -> Iterator[str]:
    for gpu in machine.gpus:
        facts = gpu.facts
        parts = [
            gpu.bdf,
            number_in_cuda(gpu),
            facts["memory"].text if facts["memory"].known else "",
            _link_words(
                facts.value("pcie.generation.max"), facts.value("pcie.width"), facts.value("link.speed.max")
            ),
            gpu.links_text,
            f"IOMMU {_iommu_words(machine, facts['iommu.type'])}",
        ]
        yield f"{gpu.label}  {'  '.join(part for part in parts if part)}"


def _iommu_words(machine: Machine, kind: Fact) -> str:
    if kind.known:
        return kind.text
    return "off" if machine.host["iommu.units"].value == () else "?"


def _link_words(generation: Any, lanes: Any, speed: Any) -> str:
    if generation is None and lanes is None:
        return f"{speed:g} GT/s" if speed else "PCIe ?"
    return f"PCIe Gen{generation or '?'} x{lanes or '?'}"


def _everything(machine: Machine) -> Iterator[str]:
    for _, title, facts in machine.groups():
        yield ""
        yield title
        width = max((len(fact.label) for fact in facts.values()), default=0)
        for fact in facts.values():
            yield f"  {fact.label:{width}}  {fact.text}  [{fact.source}]"
            if fact.says:
                yield f"  {'':{width}}  {'✗' if fact.concern is Concern.WRONG else '!'} {fact.says}"
    yield from _commands(machine)


def _commands(machine: Machine) -> Iterator[str]:
    if machine.commands:
        yield ""
        yield "unread without root; run this, and give its output to ladder-tui hardware --paste FILE:"
        for command in machine.commands:
            yield f"  {command}"


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """What broke beside what changed."""
    baseline = comparison.baseline
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(baseline.saved_at))
    yield f"since the baseline {baseline.name} of {when}" + (
        ", with a reboot between" if comparison.rebooted else ""
    )
    for line in comparison.broke:
        yield f"  ✗ {line}"
    for line in comparison.mended:
        yield f"  ✓ {line}"
    for text, _ in comparison.lines():
        yield from textwrap.wrap(f"~ {text}", 100, initial_indent="  ", subsequent_indent="    ")
    if not comparison.changed and not comparison.broke:
        yield "  nothing has changed"
    if comparison.stale and baseline.results is not None:
        yield f"  results of the baseline are stale: {comparison.why_stale}"
