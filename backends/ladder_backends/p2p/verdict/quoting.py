"""What rows of the table of verdicts quote and advise alike."""

from __future__ import annotations

from collections.abc import Iterable

from ladder_backends.model.p2p import Advice, ArmResult, HostFact, PairResult, Result, Sweep
from ladder_backends.p2p import advice
from ladder_backends.p2p.advice import arm_fact, in_guest, under_snp, value
from ladder_backends.p2p.host_facts import HostFacts

CANNOT_MAP = (205,)
"""Errors of the runtime where a peer's memory cannot be mapped."""


def keys_of(arms: Iterable[ArmResult]) -> list[tuple[int, int]]:
    """The pairs of some arms, each once."""
    return list(dict.fromkeys((arm.source, arm.target) for arm in arms))


def claimed(sweep: Sweep, source: int, target: int) -> bool | None:
    """Whether a pair is offered; None where it was not asked for."""
    pair = sweep.pairs.get((source, target))
    return pair.claim.offered if pair is not None else None


def worst_arm(pair: PairResult, result: Result) -> ArmResult:
    """The first arm of a pair that came to a result."""
    return next(arm for arm in pair.arms.values() if arm.result is result)


def worst_code(pair: PairResult) -> object:
    """The error number of a pair's first error."""
    return worst_arm(pair, Result.ERROR).evidence.get("code")


def evidence_of(arm: ArmResult, sweep: Sweep, facts: HostFacts, *names: str) -> tuple[HostFact, ...]:
    """An arm, the controls, and what is known of the host under some names."""
    names = names or ("iommu", "acs", "snp.host", "vm.hypervisor")
    return (arm_fact(arm.said, arm.arm), *controls(sweep), *known_facts(facts, *names))


def known_facts(facts: HostFacts, *names: str) -> tuple[HostFact, ...]:
    """Facts that are known, or unknown for a reason that somebody can do something about."""
    out = []
    for name in names:
        fact = facts.get(name)
        if fact is None or (fact.value in (False, "", 0, ()) and name not in ("acs", "iommu")):
            continue
        if fact.value is not None or "root" in fact.why:
            out.append(
                fact
                if fact.value is not None
                else HostFact(f"{fact.text} ({fact.why})", None, fact.source, fact.why)
            )
    return tuple(out)


def controls(sweep: Sweep) -> tuple[HostFact, ...]:
    """What the copies through the host showed, as a fact."""
    staged = [one for one in sweep.controls.values() if one.arm == "staged"]
    if not staged:
        return ()
    rates = [float(rate) for one in staged if isinstance(rate := one.evidence.get("GBps"), int | float)]
    right = sum(one.result is Result.RIGHT for one in staged)
    speed = f", {min(rates):g} GB/s" if rates else ""
    return (HostFact(f"copies through the host: {right} of {len(staged)} right{speed}", right, "arm staged"),)


def how_sure(facts: HostFacts, *names: str) -> str:
    """High where all of some facts hold, medium where one does."""
    known = sum(bool(value(facts, name)) for name in names)
    return "high" if known == len(names) else "medium" if known else "low"


def reboots(facts: HostFacts) -> tuple[Advice, ...]:
    """What needs a reboot and can work on this machine."""
    found = tuple(filter(None, (advice.passthrough(facts), advice.acs_off(facts))))
    return found or without_passthrough(facts)


def without_passthrough(facts: HostFacts) -> tuple[Advice, ...]:
    """What is left where the IOMMU cannot pass through."""
    if in_guest(facts):
        return (advice.to_the_host("ask for GPUs with a working P2P path, or stay without"),)
    if under_snp(facts):
        return (advice.snp_choice(facts),)
    if not advice.arm_without_passthrough(facts) or value(facts, "iommu") != "translated":
        return firmware_only()
    return (
        Advice(
            "leave the SMMU translating (iommu.passthrough=0) and stay without P2P over PCIe",
            "passing through costs every CUDA context on arm64 kernels before 6.11",
            "root on the host",
        ),
    )


def firmware() -> Advice:
    """A newer firmware."""
    return Advice(
        "update the firmware of board and GPUs; compare the ports of the two directions",
        "a reboot",
        "whoever runs the host",
    )


def firmware_only() -> tuple[Advice, ...]:
    """Nothing but a newer firmware."""
    return (firmware(),)
