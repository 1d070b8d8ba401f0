"""Rows on links that are less than they should be."""

from __future__ import annotations

from ladder_backends.model.p2p import Advice, ArmResult, HostFact, Sweep, Verdict
from ladder_backends.p2p.advice import arm_fact, in_guest, value
from ladder_backends.p2p.host_facts import HostFacts
from ladder_backends.p2p.signature import Signature
from ladder_backends.p2p.verdict.quoting import controls, known_facts

_CROWDED = 0.5
"""All at once should move more than this part of what the pairs move one by one."""


def narrow_link(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """A PCIe link that is narrow or old while it carries data."""
    narrow = [one for one in sweep.controls.values() if one.arm == "host" and one.evidence.get("link_narrow")]
    if not narrow:
        return None
    first = narrow[0]
    is_, best = first.evidence.get("link"), first.evidence.get("link_best")
    more = f", and so do {len(narrow) - 1} more" if len(narrow) > 1 else ""
    slow = [pair for pair in sweep.pairs.values() if pair.slow]
    quoted = [arm_fact(_link_text(one), "host") for one in narrow[:4]]
    quoted += [HostFact(f"GPU{one.source} → GPU{one.target}: {one.slow}", True, "arm speed") for one in slow[:2]]
    return Verdict(
        "narrow-link",
        f"GPU{first.source}'s PCIe link carries data at {is_}, its best here is {best}{more}.",
        "a riser, the slot, or lanes that are shared out (bifurcation)",
        "high" if not in_guest(facts) else "medium",
        (*quoted, *known_facts(facts, "vm.hypervisor")),
        Advice("ladder-tui hardware", "none: it names the port on the way that is narrow", "you"),
        (
            Advice(
                "reseat the card and its riser; BIOS: generation and bifurcation of the slot",
                "the host is down",
                "whoever runs the host",
            ),
        ),
    )


def _link_text(one: ArmResult) -> str:
    rates = f"{one.evidence.get('to_gpu_GBps')} and {one.evidence.get('from_gpu_GBps')} GB/s"
    return (
        f"GPU{one.source} under load: {one.evidence.get('link')} of {one.evidence.get('link_best')},"
        f" {rates} to and from it"
    )


def fewer_nvlinks(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """A GPU some of whose NVLinks are down, or that has fewer than its like."""
    known = value(facts, "nvlinks")
    if not isinstance(known, dict):
        return None
    here = {gpu.index: known[gpu.bus] for gpu in sweep.gpus if gpu.bus in known}
    up = {gpu: links[0] for gpu, links in here.items()}
    if not up or not (most := max(up.values())):
        return None
    # Bridges join two of several GPUs; a GPU with none at all has none, unless its own driver says that it has.
    fewer = {gpu: links for gpu, links in here.items() if links[0] < max(most if links[0] else 0, links[1])}
    if not fewer:
        return None
    worst = min(fewer, key=lambda gpu: fewer[gpu][0])
    alike = [gpu for gpu in here if gpu not in fewer]
    others = f", the other{'s' if len(alike) > 1 else ''} {most}" if alike else ""
    parted = value(facts, "mig")
    mig = parted is True or (
        isinstance(parted, tuple) and any(gpu.bus in parted for gpu in sweep.gpus if gpu.index == worst)
    )
    return Verdict(
        "fewer-nvlinks",
        f"GPU{worst} has {up[worst]} of {max(most, fewer[worst][1])} NVLinks up{others}"
        + (f"; {len(fewer)} GPUs have too few." if len(fewer) > 1 else "."),
        "MIG hides them" if mig else "a link is down: its cable, bridge or switch port, or the GPU",
        "medium",
        (*known_facts(facts, "nvlinks", "fabric", "mig"), *controls(sweep)),
        Advice(f"nvidia-smi nvlink -s -i {worst}; nvidia-smi nvlink -e -i {worst}", "none", "you"),
        (
            Advice(
                f"nvidia-smi -r -i {worst}, then look again; if it stays down, have the GPU or board looked at",
                "every program on it has to end first",
                "root on the host",
            ),
        ),
    )


def nvlink_refused(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """NVLinks join two GPUs, and the driver offers no P2P between them."""
    joined = value(facts, "nvlink.pairs")
    if not isinstance(joined, dict):
        return None
    parted = value(facts, "mig")
    parted = parted if isinstance(parted, tuple) else ()
    bus = {gpu.index: gpu.bus for gpu in sweep.gpus}
    refused = [
        key
        for key, pair in sweep.pairs.items()
        if pair.claim.offered is False
        and joined.get(frozenset((bus.get(key[0]), bus.get(key[1]))))
        and not {bus.get(key[0]), bus.get(key[1])} & set(parted)
    ]
    if not refused:
        return None
    one, other = refused[0]
    said = ", ".join(f"{name} {word}" for name, word in sweep.pairs[refused[0]].claim.nvml.items())
    return Verdict(
        "nvlink-refused",
        f"NVLinks join GPU{one} and GPU{other}, but P2P is not offered between them: NCCL refuses, or goes slowly.",
        "a fault of the link or the GPU; the driver has switched P2P off",
        "medium",
        (
            HostFact(f"NVML of GPU{one} → GPU{other}: {said or 'nothing'}", said, "nvmlDeviceGetP2PStatus"),
            *known_facts(facts, "nvlink.pairs", "fabric"),
            *controls(sweep),
        ),
        Advice("nvidia-smi nvlink -e", "none: error counters of the links", "you"),
        (
            Advice(f"nvidia-smi -r -i {one},{other}", "every program on them has to end first", "root on the host"),
            Advice("export NCCL_IGNORE_DISABLED_P2P=1", "last resort: NCCL goes on without P2P", "you"),
        ),
    )


def crowded(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Right together, and much slower than one by one: a ring, in which no GPU's own link is asked for twice."""
    ring = sweep.together.get("ring")
    total = ring.evidence.get("sum_GBps") if ring is not None else None
    order = [gpu.index for gpu in sweep.gpus if gpu.state == "ok"]
    if not isinstance(total, int | float) or len(order) < 2:
        return None
    rates = [
        sweep.pairs[key].bandwidth for key in zip(order, (*order[1:], order[0]), strict=True) if key in sweep.pairs
    ]
    known = [rate for rate in rates if rate]
    if len(known) < len(order) or total >= _CROWDED * sum(known):
        return None
    return Verdict(
        "crowded",
        f"Transfers that go at the same time share a bottleneck: {total:g} GB/s together,"
        f" {sum(known):g} GB/s one by one.",
        "an uplink of a switch, or the link between processors, that all of them cross",
        "medium",
        (arm_fact(f"each GPU to the next at the same time: {total:g} GB/s", "ring"), *known_facts(facts, "acs")),
        Advice("export NCCL_P2P_LEVEL=PXB", "P2P only below one host bridge; measure whether it helps", "you"),
        (Advice("ladder-tui hardware", "none: it shows which ports the ways share", "you"),),
    )
