"""Rows on plain transfers between two GPUs."""

from __future__ import annotations

from ladder_backends.model.p2p import Advice, ArmResult, HostFact, Result, Sweep, Verdict
from ladder_backends.p2p import advice
from ladder_backends.p2p.advice import arm_fact, in_guest, p2p_off, under_snp, value
from ladder_backends.p2p.arm_steps import LENGTHS
from ladder_backends.p2p.host_facts import HostFacts
from ladder_backends.p2p.signature import (
    COPIES,
    Signature,
    common_gpu,
    common_target,
    failing,
    one_way,
    shown,
)
from ladder_backends.p2p.verdict.inconclusive import not_run
from ladder_backends.p2p.verdict.quoting import (
    CANNOT_MAP,
    claimed,
    controls,
    evidence_of,
    firmware,
    firmware_only,
    how_sure,
    keys_of,
    known_facts,
    reboots,
    without_passthrough,
    worst_arm,
    worst_code,
)

FABRIC = (802,)


def cannot_map(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Peer access is granted and cannot be enabled."""
    refused = [one for one in failing(sweep, ("enable",)) if one.evidence.get("code") in CANNOT_MAP]
    if not refused:
        return None
    small = bool(value(facts, "bar1.small"))
    likely = "BAR1 is too small or misaligned"
    later = Advice(
        "BIOS: Above 4G Decoding and Resizable BAR on", "a reboot; no more than that", "whoever runs the host"
    )
    if small:
        likely = "BAR1 is smaller than the GPU's memory"
    elif value(facts, "bar1"):
        likely = "BAR1 covers all memory here, so it is misaligned, or the driver cannot map it for others"
        later = Advice(
            "sudo dmesg | grep NVRM; then a newer driver",
            "a restart of every program on the GPUs",
            "root on the host",
        )
    if in_guest(facts):
        later = advice.to_the_host("pass the GPUs through with their whole BAR1")
    return Verdict(
        "bar1",
        f"P2P is granted but cannot be mapped (error 205) for {shown(keys_of(refused), sweep)}.",
        likely,
        "high" if small else "medium",
        (arm_fact(refused[0].said, "enable"), *known_facts(facts, "bar1"), *controls(sweep)),
        p2p_off(sweep),
        (later,),
    )


def asymmetric(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """It is offered in one direction."""
    odd = [
        key
        for key, pair in sweep.pairs.items()
        if pair.claim.offered and not claimed(sweep, key[1], key[0]) and claimed(sweep, key[1], key[0]) is not None
    ]
    if not odd:
        return None
    return Verdict(
        "asymmetric",
        f"P2P is offered in one direction only: {shown(odd, sweep)}, but not back.",
        "the firmware places the GPUs' memory where one side cannot reach it",
        "medium",
        tuple(HostFact(f"GPU{b} cannot reach GPU{a}", False, "cudaDeviceCanAccessPeer") for a, b in odd[:4]),
        p2p_off(sweep),
        (Advice("update the firmware of the board", "a reboot", "whoever runs the host"),),
    )


def misrouted(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Transfers land elsewhere."""
    pairs = seen.having(Result.MISROUTED)
    if not pairs:
        return None
    arm = worst_arm(sweep.pairs[pairs[0]], Result.MISROUTED)
    return Verdict(
        "misrouted",
        f"Transfers land in the wrong place ({shown(pairs, sweep)}): {arm.said}.",
        "addresses are translated to another device",
        "medium",
        evidence_of(arm, sweep, facts),
        p2p_off(sweep, engines=True),
        reboots(facts),
    )


def mirrored(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """The writer sees what the owner does not."""
    pairs = seen.having(Result.MIRRORED)
    if not pairs:
        return None
    arm = worst_arm(sweep.pairs[pairs[0]], Result.MIRRORED)
    guest = in_guest(facts)
    return Verdict(
        "mirror",
        "P2P writes go to a private mirror: the writer reads them back, the owner never sees them"
        f" ({shown(pairs, sweep)}).",
        "the hypervisor grants P2P (x-nv-gpudirect-clique) without a working window"
        if guest
        else "the peer window is not backed by the other GPU's memory",
        "high" if guest else "medium",
        evidence_of(arm, sweep, facts, "vm.hypervisor", "iommu"),
        p2p_off(sweep, engines=True),
        (advice.to_the_host("remove x-nv-gpudirect-clique from the machine's definition"),) if guest else (),
    )


def beyond_a_window(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Small transfers arrive, long ones or those at the far end of memory do not."""
    lost = (Result.DROPPED, Result.PARTIAL)
    pairs = [key for result in lost for key in seen.having(result)]
    if not pairs:
        return None
    bad = [
        next(arm for arm in sweep.pairs[key].arms.values() if arm.result in lost and arm.arm in COPIES)
        for key in pairs
    ]
    if not all(arm.evidence.get("small") == "right" for arm in bad) or any(_changed(arm) for arm in bad):
        return None
    arm = bad[0]
    lengths = [one for arm in bad if isinstance(one := arm.evidence.get("right_to"), int)]
    first = next(
        (one for one in sweep.pairs[pairs[0]].arms.values() if one.arm == "sizes" and one.result in lost), arm
    )
    far = arm.arm == "far end"
    what = "behind the first part of the GPU's memory" if far else "of more than a few bytes"
    if isinstance(size := first.evidence.get("bytes"), int) and size > 1:
        what = f"from {size:,} bytes on"
    elif lengths and not far and max(lengths) < LENGTHS[-1]:
        what = f"longer than {max(lengths):,} bytes"
    elif isinstance(start := arm.evidence.get("first_bad_byte"), int) and arm.result is Result.PARTIAL:
        what = f"behind byte {start:,}"
    return Verdict(
        "window",
        f"Small P2P writes arrive, those {what} are lost ({shown(pairs, sweep)}), while CUDA reports success.",
        "the window onto the other GPU (BAR1) covers only a part of its memory",
        "medium",
        (
            arm_fact("a transfer of 4,096 bytes is right", arm.arm),
            *evidence_of(first, sweep, facts, "iommu", "bar1"),
        ),
        p2p_off(sweep, engines=True),
        (
            Advice(
                "BIOS: Resizable BAR on; compare BAR1 with the memory of each GPU",
                "a reboot",
                "whoever runs the host",
            ),
        ),
    )


def _of_long(arm: ArmResult) -> str:
    """Which transfers fail, where short ones do not."""
    if arm.evidence.get("small") != "right":
        return ""
    if isinstance(limit := arm.evidence.get("right_to"), int) and limit < LENGTHS[-1]:
        return f" of transfers longer than {limit:,} bytes"
    size = arm.evidence.get("bytes")
    return f" of transfers of {size:,} bytes" if isinstance(size, int) else " of long transfers"


def _changed(arm: ArmResult) -> bool:
    """Words arrived, but others."""
    return bool(arm.evidence.get("other")) and not arm.evidence.get("old")


def dropped(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Transfers leave the old bytes in place."""
    pairs = seen.having(Result.DROPPED)
    if not pairs:
        return None
    arm = worst_arm(sweep.pairs[pairs[0]], Result.DROPPED)
    every = len(pairs) == len(seen.tested)
    if _reads_alone(sweep, pairs):
        lost = "Every P2P read fails" if every else f"P2P reads fail ({shown(pairs, sweep)})"
        sentence = f"{lost}: the reader gets no data while CUDA reports success; writes arrive."
    else:
        lost = "Every P2P write is lost" if every else f"P2P writes are lost ({shown(pairs, sweep)})"
        sentence = f"{lost}: the target keeps its old bytes while CUDA reports success."
    known = ("iommu", "acs", "snp.host", "snp.guest", "vm.hypervisor", "cmdline.iommu", "log.iommu_faults")
    quoted = evidence_of(arm, sweep, facts, *known)
    now = p2p_off(sweep, engines=True)
    if value(facts, "iommu") == advice.BESIDE:
        gpus = ",".join(str(gpu) for gpu in sorted({gpu for key in pairs for gpu in key}))
        return Verdict(
            "dropped-nvlink",
            sentence,
            "the NVLinks between these GPUs, their switch, or the driver; neither IOMMU nor ACS",
            "medium",
            (*quoted, *known_facts(facts, "nvlinks", "fabric")),
            now,
            (
                Advice("nvidia-smi nvlink -s; nvidia-smi nvlink -e", "none: state and errors of each link", "you"),
                advice.to_the_host(f"reset GPUs {gpus} and the switches between them")
                if in_guest(facts)
                else Advice(
                    f"nvidia-smi -r -i {gpus}",
                    "every program on them has to end first; all GPUs of an NVSwitch at once",
                    "root on the host",
                ),
            ),
        )
    if (into := common_target(sweep, pairs)) is not None and len(pairs) > 1:
        return _one_gpu(into, "into", sweep, facts, quoted, now)
    if one_way(sweep, pairs):
        return Verdict(
            "one-direction",
            f"One direction is dead ({shown(pairs, sweep)}): "
            + ("reads fail, writes and" if _reads_alone(sweep, pairs) else "writes are lost,")
            + " the way back "
            + ("are right." if _reads_alone(sweep, pairs) else "is right."),
            "firmware placed a window wrongly, or one port redirects (ACS)",
            "medium",
            quoted,
            now,
            tuple(filter(None, (advice.acs_off(facts) if value(facts, "acs") is not False else None, firmware()))),
        )
    if (gpu := common_gpu(sweep, pairs)) is not None:
        return _one_gpu(gpu, "from and to", sweep, facts, quoted, now)
    translated, redirect = value(facts, "iommu") == "translated", value(facts, "acs")
    if in_guest(facts):
        likely = "the host's IOMMU and ACS stand between the GPUs; a guest cannot see or change them"
        later: tuple[Advice, ...] = (advice.to_the_host("ask for GPUs with a working P2P path, or stay without"),)
        return Verdict("dropped-guest", sentence, likely, how_sure(facts, "vm.hypervisor"), quoted, now, later)
    if under_snp(facts):
        likely = "PCIe ACS redirect into a translating IOMMU, required by SEV-SNP here"
        sure = how_sure(facts, "snp.host", "iommu")
        return Verdict("dropped-snp", sentence, likely, sure, quoted, now, (advice.snp_choice(facts),))
    if redirect is True and translated:
        sure = how_sure(facts, "iommu", "acs")
        likely = "PCIe ACS redirect into a translating IOMMU"
        return Verdict("dropped-acs", sentence, likely, sure, quoted, now, reboots(facts))
    if translated:
        likely = "the IOMMU translates what GPUs write to each other"
        if redirect is None:
            likely += "; ACS of the ports is unread, which needs root"
        sure = "high" if redirect is False else "medium"
        pt = advice.passthrough(facts)
        return Verdict(
            "dropped-iommu", sentence, likely, sure, quoted, now, (pt,) if pt else without_passthrough(facts)
        )
    if value(facts, "log.iommu_faults"):
        likely = "the IOMMU faults on peer writes: the kernel's log says so"
        return Verdict("dropped-faults", sentence, likely, "medium", quoted, now, reboots(facts))
    if redirect is True:
        likely = "PCIe ACS sends peer traffic up to the root, which does not send it down again"
        return Verdict("dropped-redirect", sentence, likely, "medium", quoted, now, reboots(facts))
    likely = "unknown: " + (
        "the IOMMU is not in the way" if value(facts, "iommu") else "the IOMMU's state is unread"
    )
    return Verdict("dropped", sentence, likely, "low", quoted, now, firmware_only())


def _reads_alone(sweep: Sweep, pairs: tuple[tuple[int, int], ...]) -> bool:
    """What fails are reads through the window; writes of the same pairs are right."""
    arms = [arm for key in pairs for arm in sweep.pairs[key].arms.values() if arm.arm in COPIES]
    failed = {arm.arm for arm in arms if arm.result is Result.DROPPED}
    wrote = [arm.result for arm in arms if arm.arm in ("push", "store")]
    return failed <= {"pull", "load"} and Result.RIGHT in wrote and not any(one.wrong for one in wrote)


def _one_gpu(
    gpu: int, which: str, sweep: Sweep, facts: HostFacts, quoted: tuple[HostFact, ...], now: Advice
) -> Verdict:
    """All pairs of one GPU fail, those of the others are right: what is different about it?"""
    others = ",".join(str(one.index) for one in sweep.gpus if one.index != gpu)
    bus = next(one.bus for one in sweep.gpus if one.index == gpu)
    odd = [
        facts[name]
        for name in ("iommu.apart", "display", "bar1.small")
        if isinstance(buses := value(facts, name), tuple) and bus in buses
    ]
    names = [name for name in ("iommu.apart", "display", "bar1.small") if name in facts and facts[name] in odd]
    likely = f"GPU{gpu}'s memory window (BAR1) is not as those of the others: a display on it, or its slot"
    later: tuple[Advice | None, ...] = (
        Advice(f"compare GPU{gpu}'s BAR1 with the others': nvidia-smi -q -d MEMORY", "none", "you"),
    )
    if "iommu.apart" in names:
        likely = f"the IOMMU translates what goes from and to GPU{gpu}, and not for the others"
        later = (advice.passthrough(facts),)
    elif names:
        likely = f"GPU{gpu}'s memory window (BAR1) is not as those of the others"
        likely += ": a display is on it" if "display" in names else ": it is smaller than its memory"
        take = Advice(f"take the display off GPU{gpu}", "a restart of the display", "root on the host")
        big = Advice("BIOS: Above 4G Decoding and Resizable BAR on", "a reboot", "whoever runs the host")
        later = (take if "display" in names else None, big if "bar1.small" in names else None)
    if in_guest(facts):
        later = (advice.to_the_host(f"compare how GPU{gpu} is passed through with the others"),)
    return Verdict(
        "one-gpu",
        f"Only transfers {which} GPU{gpu} are lost; the other pairs are right.",
        likely,
        "high" if names else "medium",
        (*odd, *quoted),
        Advice(f"export CUDA_VISIBLE_DEVICES={others}", "one GPU fewer", "you, in the environment of the job"),
        (now, *(one for one in later if one is not None)),
    )


def stale(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Transfers are late, or those of before."""
    pairs = seen.having(Result.STALE)
    if not pairs:
        return None
    arm = worst_arm(sweep.pairs[pairs[0]], Result.STALE)
    return Verdict(
        "stale",
        f"Data arrives late or is that of an earlier transfer ({shown(pairs, sweep)}).",
        "writes are reported complete before the owner can see them",
        "medium",
        evidence_of(arm, sweep, facts, "iommu", "vm.hypervisor"),
        p2p_off(sweep, engines=True),
        firmware_only(),
    )


def partial(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """A part arrives."""
    pairs = seen.having(Result.PARTIAL)
    if not pairs:
        return None
    arm = worst_arm(sweep.pairs[pairs[0]], Result.PARTIAL)
    now = p2p_off(sweep, engines=True)
    quoted = evidence_of(arm, sweep, facts, "iommu")
    if _changed(arm):
        return Verdict(
            "corrupt",
            f"Some words{_of_long(arm)} arrive changed ({shown(pairs, sweep)}): they hold neither the old nor the"
            " new bytes.",
            "a marginal riser, slot or cable" if not _of_long(arm) else "unknown: it depends on the length",
            "medium",
            quoted,
            now,
            (
                Advice(
                    "reseat the card, lower the link's generation, look at AER counters",
                    "the host is down",
                    "whoever runs the host",
                ),
            ),
        )
    return Verdict(
        "partial",
        f"A part of each transfer is lost ({shown(pairs, sweep)}): {arm.said}.",
        "unknown; short transfers fail too, so it is not the size of a window",
        "low",
        quoted,
        now,
        firmware_only(),
    )


def hanging(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """A transfer never ends."""
    pairs = seen.having(Result.HUNG)
    if not pairs or any(gpu.state == "wedged" for gpu in sweep.gpus):
        return None
    arm = worst_arm(sweep.pairs[pairs[0]], Result.HUNG)
    return Verdict(
        "hang",
        f"A transfer hangs ({shown(pairs, sweep)}) in the step: {arm.evidence.get('step', arm.arm)}.",
        "the path between these GPUs; ACS on a port of it, or the switch"
        if len(pairs) < len(sweep.pairs)
        else "the path between the GPUs",
        "medium" if seen.right else "low",
        evidence_of(arm, sweep, facts, "acs", "iommu"),
        p2p_off(sweep, engines=True),
        tuple(filter(None, (advice.acs_off(facts),))) if value(facts, "acs") is not False else (),
    )


def errors(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Calls fail."""
    pairs = [key for key in seen.having(Result.ERROR) if worst_code(sweep.pairs[key]) not in CANNOT_MAP]
    if not pairs:
        return None
    arm = worst_arm(sweep.pairs[pairs[0]], Result.ERROR)
    if any(arm.evidence.get("code") == code for code in FABRIC):
        return not_run(sweep, seen, facts)
    return Verdict(
        "error",
        f"P2P fails with an error ({shown(pairs, sweep)}): {arm.said}.",
        "",
        "low",
        evidence_of(arm, sweep, facts, "log.xid"),
        p2p_off(sweep),
    )
