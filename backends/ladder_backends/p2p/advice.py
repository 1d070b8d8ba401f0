"""Commands that a verdict may name: what each costs, who may run it, and where it must not be named."""

from __future__ import annotations

import re

from ladder_backends.model.p2p import Advice, HostFact, Sweep
from ladder_backends.p2p.host_facts import HostFacts

_PASSTHROUGH_SAFE = (6, 11)
"""Linux from here on starts CUDA on arm64 with ACS on and the SMMU passed through."""


P2P_OFF = "export NCCL_P2P_DISABLE=1"
BESIDE = "beside"
"""Of the IOMMU: it is not on the way of the pairs that are bad."""

_X86 = ("AMD", "Intel", "Hygon", "Zhaoxin")


def value(facts: HostFacts, name: str) -> object:
    """What is known under a name; None where nothing is."""
    return facts[name].value if name in facts else None


def in_guest(facts: HostFacts) -> bool:
    """This is a virtual machine: host settings are out of reach, and what it sees of PCIe is not the host's."""
    hypervisor = value(facts, "vm.hypervisor")
    return bool(value(facts, "snp.guest")) or (
        bool(hypervisor) and str(hypervisor).casefold() not in ("none", "no")
    )


def under_snp(facts: HostFacts) -> bool:
    """SEV-SNP holds the IOMMU in translation: passing through is refused by the kernel."""
    return bool(value(facts, "snp.host")) or bool(value(facts, "snp.guest"))


def arm_without_passthrough(facts: HostFacts) -> bool:
    """An arm64 kernel on which passing through costs every CUDA context; an unknown version counts as old."""
    if not _is_arm(facts):
        return False
    version = re.match(r"(\d+)\.(\d+)", str(value(facts, "os.kernel") or ""))
    return version is None or (int(version[1]), int(version[2])) < _PASSTHROUGH_SAFE


def _is_arm(facts: HostFacts) -> bool:
    """By its architecture; by its CPU where an older kernel does not tell."""
    arch = value(facts, "os.arch")
    if arch is not None:
        return str(arch) in ("aarch64", "arm64")
    vendor = value(facts, "cpu.vendor")
    return vendor is not None and str(vendor) not in _X86


def p2p_off(sweep: Sweep, *, engines: bool = False) -> Advice:
    """NCCL without P2P, at the price that was measured here."""
    rates = [
        rate
        for one in sweep.controls.values()
        if one.arm == "staged" and isinstance(rate := one.evidence.get("GBps"), int | float)
    ]
    shm = [pair.arms["shm"] for pair in sweep.pairs.values() if "shm" in pair.arms]
    price = "NCCL goes through shared memory"
    if rates and all(one.result.value == "right" for one in sweep.controls.values() if one.arm == "staged"):
        price += f": copies through the host are right here, {min(rates):g} GB/s"
    if shm and not any(one.result.wrong for one in shm):
        price += "; two processes over /dev/shm are right too"
    if engines:
        price += "; vLLM needs --disable-custom-all-reduce besides"
    return Advice(P2P_OFF, price, "you, in the environment of the job")


def passthrough(facts: HostFacts) -> Advice | None:
    """`iommu=pt`, where it can work at all."""
    if in_guest(facts) or under_snp(facts) or arm_without_passthrough(facts):
        return None
    if value(facts, "iommu") in ("identity", "off", BESIDE):
        return None
    token = "iommu.passthrough=1" if _is_arm(facts) else "iommu=pt"
    return Advice(
        f"add {token} to the kernel's command line and reboot",
        "a reboot; devices can reach all of the host's memory",
        "root on the host",
    )


def acs_off(facts: HostFacts) -> Advice | None:
    """Redirection switched off at the ports, where they are the machine's own."""
    if in_guest(facts) or under_snp(facts) or value(facts, "acs") is False:
        return None
    ports = value(facts, "acs.ports")
    named = " ".join(str(port) for port in ports) if isinstance(ports, tuple) else ""
    return Advice(
        f"for p in {named}; do sudo setpci -s $p ECAP_ACS+6.w=0000; done"
        if named
        else "setpci -s PORT ECAP_ACS+6.w=0000 for each port between the GPUs (ladder-tui hardware names them)",
        "lost at the next reboot; devices below a port are no longer kept apart",
        "root on the host",
    )


def to_the_host(what: str) -> Advice:
    """What only the owner of the host can change."""
    return Advice(what, "the virtual machine has to be started again", "whoever runs the host; not from inside")


def snp_choice(facts: HostFacts) -> Advice:
    """SEV-SNP and P2P over PCIe exclude each other."""
    return Advice(
        "keep SEV-SNP and run without P2P, or boot the host without SNP and with iommu=pt",
        "either P2P or the isolation of confidential guests",
        "whoever runs the host",
    )


def arm_fact(text: str, arm: str) -> HostFact:
    """What a test of this sweep has shown, as a fact."""
    return HostFact(text, True, f"arm {arm}")
