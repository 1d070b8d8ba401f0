"""Rows on what shows only besides plain transfers: company, kernels that wait, processes, speed, claims."""

from __future__ import annotations

from ladder_backends.model.p2p import Advice, HostFact, Result, Sweep, Verdict
from ladder_backends.p2p import advice
from ladder_backends.p2p.advice import arm_fact, in_guest, p2p_off, value
from ladder_backends.p2p.counters import GRAVE, SLIGHT
from ladder_backends.p2p.host_facts import HostFacts
from ladder_backends.p2p.signature import (
    RESIDENT,
    Signature,
    copies,
    failing,
    shown,
)
from ladder_backends.p2p.verdict.notes import small_shm
from ladder_backends.p2p.verdict.quoting import (
    controls,
    keys_of,
    known_facts,
)


def concurrent(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Right alone, wrong together."""
    bad = [one for one in sweep.together.values() if one.result.wrong]
    bad += [
        one for one in failing(sweep, ("both ways",)) if copies(sweep.pairs[one.source, one.target]) is Result.RIGHT
    ]
    if not bad or len(seen.having(Result.RIGHT)) < len(seen.tested):
        return None
    return Verdict(
        "concurrent",
        f"Each pair alone is right, together they are not: {bad[0].said}.",
        "a shared uplink or switch under load; translation that cannot keep up",
        "medium",
        (arm_fact(bad[0].said, bad[0].arm), *controls(sweep), *known_facts(facts, "iommu", "acs")),
        p2p_off(sweep, engines=True),
        tuple(filter(None, (advice.passthrough(facts),))) if value(facts, "iommu") == "translated" else (),
    )


def resident_kernels(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Copies are right, kernels that wait for each other are not."""
    bad = failing(sweep, RESIDENT)
    if not bad or len(seen.having(Result.RIGHT)) < len(seen.tested):
        return None
    off = failing(sweep, ("nccl no p2p",))
    sockets = failing(sweep, ("nccl sockets",))
    if off and sockets:
        return Verdict(
            "not-transport",
            "NCCL fails over P2P, over shared memory and over sockets: the transport is not to blame.",
            "NCCL's build, the driver, or the host",
            "medium",
            tuple(arm_fact(one.said, one.arm) for one in (bad[0], off[0], sockets[0])),
        )
    if off:
        return Verdict(
            "shared-memory",
            "NCCL fails over P2P and over shared memory, and works over sockets.",
            "shared memory of the host or the container",
            "medium",
            (*(arm_fact(one.said, one.arm) for one in (bad[0], off[0])), *known_facts(facts, "container.shm")),
            Advice("export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1", "NCCL goes through sockets: slow", "you"),
        )
    tried = any("nccl no p2p" in pair.arms for pair in sweep.pairs.values())
    facts_now = [arm_fact(f"GPU{one.source} → GPU{one.target}: {one.said}", one.arm) for one in bad[:3]]
    if tried:
        facts_now.append(arm_fact("the same with P2P off is right", "nccl no p2p"))
    return Verdict(
        "resident",
        f"Copies are right, but kernels that wait for each other over P2P fail ({shown(keys_of(bad), sweep)}):"
        " collectives would hang or give wrong sums.",
        "the path does not keep up what resident kernels need: order and visibility of flags",
        "high" if tried else "medium",
        (*facts_now, *controls(sweep)),
        p2p_off(sweep, engines=True),
        (Advice("export NCCL_P2P_LEVEL=NVL", "P2P over NVLink only", "you, in the environment of the job"),),
    )


def between_processes(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Stores of another process are lost."""
    handles, descriptors = failing(sweep, ("ipc",)), failing(sweep, ("fd",))
    bad = handles or descriptors
    if not bad or len(seen.having(Result.RIGHT)) < len(seen.tested) or failing(sweep, RESIDENT):
        return None
    sure = "high" if any("nccl" in pair.arms for pair in sweep.pairs.values()) else "medium"
    quoted = (
        *(arm_fact(one.said, one.arm) for one in (*handles[:1], *descriptors[:1])),
        *controls(sweep),
        *known_facts(facts, "container.namespaces"),
    )
    if not handles:
        return Verdict(
            "fd",
            "Transfers in one process are right, stores of another process into memory shared by a file descriptor"
            f" are not ({shown(keys_of(bad), sweep)}).",
            "the driver's virtual memory calls: NCCL shares its buffers by them from 2.19 on",
            sure,
            quoted,
            Advice("export NCCL_CUMEM_ENABLE=0", "NCCL shares memory by handles, as before 2.19", "you"),
            (p2p_off(sweep),),
        )
    engines = Advice("vllm serve ... --disable-custom-all-reduce", "small all-reduces get slower", "you")
    off = p2p_off(sweep, engines=bool(descriptors))
    return Verdict(
        "ipc",
        f"Transfers in one process are right, stores of another process are not ({shown(keys_of(bad), sweep)}).",
        "memory handles between processes: vLLM's own all-reduce uses them"
        if not descriptors
        else "memory between processes, by handle and by file descriptor",
        sure,
        quoted,
        off if descriptors else engines,
        (engines,) if descriptors else (off,),
    )


def network_card(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """GPUs and sockets are well, the network card is not."""
    bad = failing(sweep, ("nccl nic",))
    if not bad or failing(sweep, ("nccl", "nccl no p2p", "nccl sockets")):
        return None
    hung = bad[0].result is Result.HUNG
    arms = [arm for pair in sweep.pairs.values() for arm in pair.arms.values()]
    cards = next((f" ({arm.evidence['nics']})" for arm in arms if "nics" in arm.evidence), "")
    return Verdict(
        "nic",
        f"All GPUs are well, but NCCL {'hangs' if hung else 'fails'} through the network card{cards};"
        " through sockets it is right.",
        "the card's way to the GPUs' memory: RDMA, its driver, or ACS and ATS of its port",
        "high",
        (arm_fact(bad[0].said, "nccl nic"), arm_fact("sums through sockets are right", "nccl sockets")),
        Advice("export NCCL_NET_GDR_LEVEL=LOC", "the card copies through the host", "you"),
        (
            Advice("export NCCL_IB_DISABLE=1", "sockets instead of RDMA: slow between machines", "you"),
            advice.to_the_host("in a virtual machine: ATS on for the card"),
        )
        if in_guest(facts)
        else (Advice("export NCCL_IB_DISABLE=1", "sockets instead of RDMA: slow between machines", "you"),),
    )


def fall_back(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """What NCCL falls back to is wrong."""
    off = failing(sweep, ("nccl no p2p", "shm"))
    if not off or failing(sweep, RESIDENT):
        return None
    return Verdict(
        "fallback",
        f"P2P is right, but what NCCL falls back to is not: {off[0].said}.",
        "shared memory of the host or the container",
        "medium",
        (arm_fact(off[0].said, off[0].arm), *known_facts(facts, "container.shm")),
        Advice("docker run --shm-size=1g --ulimit memlock=-1", "the container is started again", "you")
        if value(facts, "container.shm") is None or small_shm(sweep, seen, facts) is not None
        else Advice("unset NCCL_P2P_DISABLE", "none: P2P is right here, and NCCL needs no fall back", "you"),
    )


def lost_adds(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Atomics are offered and do not work."""
    bad = failing(sweep, ("atomics",))
    if not bad or copies(sweep.pairs[bad[0].source, bad[0].target]) is not Result.RIGHT:
        return None
    return Verdict(
        "atomics",
        f"Atomic adds to another GPU are lost, although they are offered ({shown(keys_of(bad), sweep)}).",
        "atomics are not routed on this path",
        "medium",
        (arm_fact(bad[0].said, "atomics"), *controls(sweep)),
        p2p_off(sweep),
    )


def slow_paths(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Right, but slow."""
    slow = [pair for pair in sweep.pairs.values() if pair.slow and copies(pair) is Result.RIGHT]
    if not slow:
        return None
    keys = [(pair.source, pair.target) for pair in slow]
    below = [pair for pair in slow if "through the host" in pair.slow]
    quoted = (
        *(HostFact(f"GPU{pair.source} → GPU{pair.target}: {pair.slow}", True, "arm speed") for pair in slow[:3]),
        *known_facts(facts, "acs", "iommu"),
    )
    if below:
        return Verdict(
            "slow-below-staged",
            f"P2P is right but slower than copies through the host ({shown(keys, sweep)}).",
            "the host's ACS or the virtual bus, which a guest does not see"
            if in_guest(facts)
            else "ACS sends peer traffic up through the root port"
            if value(facts, "acs") is not False
            else "the path between the GPUs is narrower than their links to the host",
            "high" if value(facts, "acs") is True else "medium",
            quoted,
            p2p_off(sweep),
            (advice.to_the_host("look at ACS of the ports above these GPUs"),)
            if in_guest(facts)
            else tuple(filter(None, (advice.acs_off(facts),))),
        )
    redirect = value(facts, "acs") is True
    reseat = Advice("reseat the card or its riser; compare the slots", "the host is down", "whoever runs the host")
    off = advice.acs_off(facts) if redirect else None
    return Verdict(
        "slow",
        f"P2P is right but slow ({shown(keys, sweep)}): {slow[0].slow}.",
        "ACS sends peer traffic up through the root port"
        if redirect
        else "a link that is narrower than it should be, or traffic that takes a detour",
        "medium",
        quoted,
        Advice("ladder-tui hardware", "none: it shows width and speed of each port on the way", "you"),
        (off,) if off is not None else (reseat,),
    )


def confidential(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Several GPUs in a confidential machine need a mode of their own."""
    state = str(value(facts, "cc.state") or "").casefold()
    if state in ("", "off", "none", "false") or len(sweep.gpus) < 2:
        return None
    if len(seen.right) == len(sweep.pairs) or str(value(facts, "cc.multi_gpu") or "").casefold() not in (
        "",
        "none",
    ):
        return None
    return Verdict(
        "confidential",
        "Several GPUs in a confidential machine have no multi-GPU mode: P2P and NVLink are absent or undefined.",
        "confidential computing is on without protected PCIe (Hopper) or NVLink encryption (Blackwell)",
        "medium",
        (*known_facts(facts, "cc.state", "cc.multi_gpu"), *controls(sweep)),
        p2p_off(sweep),
        (
            Advice(
                "Hopper: cc.mode=ppcie with all GPUs and switches in one machine; Blackwell: cc.mode=on",
                "the virtual machine is started again",
                "whoever runs the host",
            ),
        ),
    )


def not_offered(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """There is no P2P here."""
    if len(sweep.gpus) < 2 or any(pair.claim.offered is not False for pair in sweep.pairs.values()):
        return None
    if seen.tested:
        return None
    said = sorted({word for pair in sweep.pairs.values() for word in pair.claim.nvml.values() if word != "OK"})
    guest = in_guest(facts)
    chipset = "CNS" in said
    return Verdict(
        "not-offered",
        "P2P is not offered between these GPUs; copies through the host are right.",
        "the hypervisor shows a chipset that the driver does not know"
        if guest and chipset
        else "MIG is on"
        if value(facts, "mig")
        else f"the driver says {', '.join(said)}"
        if said
        else "",
        "high",
        (
            HostFact(f"NVML: {', '.join(said) or 'no status'}", tuple(said), "nvmlDeviceGetP2PStatus"),
            *controls(sweep),
            *known_facts(facts, "vm.hypervisor", "mig"),
        ),
        Advice("nothing: NCCL takes shared memory by itself", "none", "you"),
        good=True,
    )


def counted_errors(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Everything arrived, but something on the way complained."""
    if GRAVE not in facts or not seen.tested or len(seen.right) < len(seen.tested):
        return None
    lines = facts[GRAVE].value
    first = lines[0] if isinstance(lines, tuple) and lines else facts[GRAVE].text
    return Verdict(
        "counters",
        f"Transfers are right, but errors were counted meanwhile: {first}.",
        "a marginal riser, cable or link; what was wrong was sent again",
        "medium",
        (facts[GRAVE], *((facts[SLIGHT],) if SLIGHT in facts else ()), *controls(sweep)),
        Advice("ladder-tui p2p --arms soak", "a minute of traffic on all GPUs: does it go on?", "you"),
        (Advice("reseat the card or its cable", "the host is down", "whoever runs the host"),),
    )
