"""Which way the traffic of bad pairs goes: what is known of the bus says nothing of NVLinks, and the reverse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ladder_backends.model.p2p import Advice, HostFact, Sweep, Verdict
from ladder_backends.p2p.advice import BESIDE, P2P_OFF, value
from ladder_backends.p2p.host_facts import HostFacts

_BUS = ("acs.ports", "snp.host", "log.iommu_faults", "cmdline.iommu")
_TRUE = ("1", "true", "yes", "on")

Key = tuple[int, int]


def joined(sweep: Sweep, facts: HostFacts, pairs: Iterable[Key]) -> list[Key]:
    """Those of some pairs that NVLinks join, as far as NVML tells."""
    known = value(facts, "nvlink.pairs")
    if not isinstance(known, dict):
        return []
    bus = {gpu.index: gpu.bus for gpu in sweep.gpus}
    return [(one, other) for one, other in pairs if known.get(frozenset((bus.get(one), bus.get(other))))]


def bad_pairs(sweep: Sweep) -> list[Key]:
    """Pairs on which something is wrong or slow."""
    return [key for key, pair in sweep.pairs.items() if pair.kind.wrong or pair.slow]


def off_the_bus(sweep: Sweep, facts: HostFacts) -> HostFacts:
    """The facts without those of the bus, where NVLinks join all pairs that are bad."""
    bad = bad_pairs(sweep)
    if not bad or len(joined(sweep, facts, bad)) < len(bad):
        return facts
    left = {name: fact for name, fact in facts.items() if name not in _BUS}
    said = "NVLinks join these pairs: IOMMU and ACS are not on their way"
    return left | {
        "iommu": HostFact(said, BESIDE, "nvmlDeviceGetNvLinkState"),
        "acs": HostFact("ACS: not on that way", False, "nvmlDeviceGetNvLinkState"),
    }


def fitted(found: Sequence[Verdict], sweep: Sweep, facts: HostFacts) -> list[Verdict]:
    """The advice to go without P2P as it fits: NVLinks that are right stay, and what is set is not set again."""
    bad = bad_pairs(sweep)
    over = [key for key in joined(sweep, facts, sweep.pairs) if key not in bad and sweep.pairs[key].claim.offered]
    keeps = bool(over) and not joined(sweep, facts, bad) and bool(bad)

    def fit(one: Advice) -> Advice:
        if one.command != P2P_OFF:
            return one
        command, price = one.command, one.price
        if keeps:
            command = "export NCCL_P2P_LEVEL=NVL"
            price = f"P2P stays on over NVLink ({len(over)} pairs, right); for all others {price}"
        elif _on(facts, "NCCL_P2P_DISABLE"):
            price = f"it is set here already, for what is started from here; {price}"
        if _on(facts, "NCCL_SHM_DISABLE"):
            command = f"unset NCCL_SHM_DISABLE; {command}"
            price += "; with NCCL_SHM_DISABLE, which is set here, it would go through sockets"
        return replace(one, command=command, price=price)

    def told(verdict: Verdict) -> Verdict:
        now = fit(verdict.now) if verdict.now is not None else None
        later = tuple(fit(one) for one in verdict.later)
        taken = now.command if now is not None else ""
        return replace(verdict, now=now, later=tuple(one for one in later if one.command != taken))

    return [told(verdict) for verdict in found]


def _on(facts: HostFacts, name: str) -> bool:
    return str(value(facts, f"env.{name}") or "").casefold() in _TRUE
