"""From what was proven, what the host is like and what changed to one sentence and one command.

A pure function: the same sweep and facts give the same verdicts. Rows stand in the order in which they are
believed: what makes every later row worthless comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ladder_backends.model.p2p import Advice, ArmResult, HostFact, PairResult, Result, Stage, Sweep, Verdict
from ladder_backends.p2p import advice
from ladder_backends.p2p.advice import arm_fact, in_guest, p2p_off, under_snp, value
from ladder_backends.p2p.counters import GRAVE, SLIGHT
from ladder_backends.p2p.host_facts import HostFacts
from ladder_backends.p2p.signature import (
    RESIDENT,
    Signature,
    bad_controls,
    common_gpu,
    copies,
    failing,
    one_way,
    shown,
    signature,
)

_FABRIC = (802,)
_CANNOT_MAP = (205,)
_WINDOW = 1 << 20
"""Transfers that fail only beyond so many bytes point at a window, not at the path."""

_ENOUGH_SHM = 512 << 20
"""Bytes of shared memory below which NCCL is known to fail where containers have their default of 64 MiB."""

Row = Callable[[Sweep, Signature, HostFacts], Verdict | None]


def verdicts(sweep: Sweep, facts: HostFacts | None = None, changed: Sequence[str] = ()) -> tuple[Verdict, ...]:
    """Every row of the table that holds, the one to act on first; never empty.

    Args:
        sweep: What was proven.
        facts: What is known of the host; a fact that is missing is unknown.
        changed: What is different on the host since the baseline, one line each.
    """
    known: HostFacts = facts or {}
    seen = signature(sweep)
    found: list[Verdict] = []
    for row in _ROWS:
        verdict = row(sweep, seen, known)
        if verdict is None:
            continue
        found.append(verdict)
        if not verdict.conclusive or row in _LAST_WORD:
            break
    if not found:
        found.append(_right(sweep, seen))
    found += [note for row in _NOTES if (note := row(sweep, seen, known)) is not None]
    moved = tuple(known[name] for name in (GRAVE, SLIGHT) if name in known)
    if moved and found[0].id != "counters":
        found[0] = replace(found[0], facts=(*found[0].facts, *moved))
    return (_with_changes(found[0], changed), *found[1:])


def exit_code(found: Sequence[Verdict]) -> int:
    """0 where all is proven right, 1 where something is wrong or slow, 2 where nothing can be said."""
    if any(not verdict.good and verdict.conclusive for verdict in found):
        return 1
    return 0 if all(verdict.good for verdict in found) else 2


def _with_changes(verdict: Verdict, changed: Sequence[str]) -> Verdict:
    if not changed or verdict.good:
        return verdict
    return replace(verdict, changed=tuple(changed))


# Nothing can be said ------------------------------------------------------------------------------------------


def _not_run(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    if not sweep.failure:
        return None
    if "802" in sweep.failure or "SystemNotReady" in sweep.failure:
        return Verdict(
            "fabric",
            "CUDA does not start: the NVSwitch fabric is not ready (error 802).",
            "the fabric manager is not running, or its version differs from the driver's",
            "high",
            _known(facts, "fabric", "driver.version"),
            Advice("systemctl start nvidia-fabricmanager", "none", "root on the host"),
            (Advice("install the fabric manager of the driver's very version", "a restart", "root on the host"),),
        )
    if advice.arm_without_passthrough(facts) and value(facts, "iommu") == "identity":
        return Verdict(
            "no-context-arm",
            f"CUDA does not start on this arm64 machine, whose SMMU passes through: {sweep.failure}.",
            "kernels before 6.11 lose every CUDA context to an SMMU that passes through while ACS is on",
            "medium",
            _known(facts, "os.arch", "os.kernel", "iommu", "acs"),
            Advice("boot with iommu.passthrough=0", "a reboot", "root on the host"),
            (Advice("or take a kernel from 6.11 on", "a reboot", "root on the host"),),
        )
    remedy = sweep.remedy
    now = Advice(remedy, "", "you") if remedy else None
    return Verdict("not-run", f"Nothing was tested: {sweep.failure}.", conclusive=False, now=now)


def _cancelled(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    if sweep.stage is not Stage.CANCELLED or (seen.tested and len(seen.right) < len(seen.tested)):
        return None
    return Verdict("cancelled", "The sweep was cancelled before it proved anything wrong.", conclusive=False)


def _wedged(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    wedged = [gpu for gpu in sweep.gpus if gpu.state == "wedged"]
    if not wedged:
        return None
    names = ", ".join(f"GPU{gpu.index}" for gpu in wedged)
    hung = failing(sweep, _PEER)
    cause = hung[0] if hung else None
    likely = ""
    if cause is not None:
        likely = f"a transfer GPU{cause.source} → GPU{cause.target} never ended (arm {cause.arm})"
    return Verdict(
        "wedged",
        f"{names} is wedged: {wedged[0].why}.",
        likely,
        "high",
        (*(HostFact(f"GPU{gpu.index}: {gpu.why}", True, "health check") for gpu in wedged), *_controls(sweep)),
        Advice(
            f"nvidia-smi -r -i {','.join(str(gpu.index) for gpu in wedged)}",
            "every program on it has to end first; if it refuses, reboot",
            "root on the host",
        ),
        (p2p_off(sweep, engines=True),),
    )


def _local(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    bad = bad_controls(sweep, "local")
    if not bad:
        return None
    names = ", ".join(sorted({f"GPU{one.source}" for one in bad}))
    return Verdict(
        "memory",
        f"{names} does not hold what it writes into its own memory: nothing can be said of P2P.",
        "bad memory of the GPU",
        "high",
        tuple(arm_fact(f"GPU{one.source}: {one.said}", "local") for one in bad),
        Advice("nvidia-smi -q -d ECC,ROW_REMAPPER", "none", "you; then drain that GPU"),
    )


def _control(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    bad = bad_controls(sweep, "host", "staged")
    if not bad:
        return None
    worst = bad[0]
    return Verdict(
        "control",
        "Inconclusive: the control fails. Copies through the host are wrong too, so P2P alone is not to blame.",
        "host memory, the host link or the IOMMU",
        "none",
        tuple(arm_fact(f"GPU{one.source} → GPU{one.target}: {one.said}", one.arm) for one in bad[:4]),
        Advice(
            "test the host's memory (memtest), then sweep again", "the host is down for hours", "root on the host"
        )
        if worst.arm == "staged"
        else None,
        conclusive=False,
    )


# What P2P is like ---------------------------------------------------------------------------------------------


def _cannot_map(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    refused = [one for one in failing(sweep, ("enable",)) if one.evidence.get("code") in _CANNOT_MAP]
    if not refused:
        return None
    return Verdict(
        "bar1",
        f"P2P is granted but cannot be mapped (error 205) for {shown(_keys(refused), sweep)}.",
        "BAR1 is too small or misaligned",
        "high",
        (arm_fact(refused[0].said, "enable"), *_controls(sweep)),
        p2p_off(sweep),
        (
            Advice(
                "BIOS: Above 4G Decoding and Resizable BAR on",
                "a reboot; no more than that",
                "whoever runs the host",
            ),
        ),
    )


def _asymmetric(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    odd = [
        key
        for key, pair in sweep.pairs.items()
        if pair.claim.offered
        and not _claimed(sweep, key[1], key[0])
        and _claimed(sweep, key[1], key[0]) is not None
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


def _misrouted(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    pairs = seen.having(Result.MISROUTED)
    if not pairs:
        return None
    arm = _worst(sweep.pairs[pairs[0]], Result.MISROUTED)
    return Verdict(
        "misrouted",
        f"Transfers land in the wrong place ({shown(pairs, sweep)}): {arm.said}.",
        "addresses are translated to another device",
        "medium",
        _facts(arm, sweep, facts),
        p2p_off(sweep, engines=True),
        _reboots(facts),
    )


def _mirrored(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    pairs = seen.having(Result.MIRRORED)
    if not pairs:
        return None
    arm = _worst(sweep.pairs[pairs[0]], Result.MIRRORED)
    guest = in_guest(facts)
    return Verdict(
        "mirror",
        "P2P writes go to a private mirror: the writer reads them back, the owner never sees them"
        f" ({shown(pairs, sweep)}).",
        "the hypervisor grants P2P (x-nv-gpudirect-clique) without a working window"
        if guest
        else "the peer window is not backed by the other GPU's memory",
        "high" if guest else "medium",
        _facts(arm, sweep, facts, "vm.hypervisor", "iommu"),
        p2p_off(sweep, engines=True),
        (advice.to_the_host("remove x-nv-gpudirect-clique from the machine's definition"),) if guest else (),
    )


def _dropped(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    pairs = seen.having(Result.DROPPED)
    if not pairs:
        return None
    arm = _worst(sweep.pairs[pairs[0]], Result.DROPPED)
    lost = (
        "Every P2P write is lost"
        if len(pairs) == len(sweep.pairs)
        else f"P2P writes are lost ({shown(pairs, sweep)})"
    )
    sentence = f"{lost}: the target keeps its old bytes while CUDA reports success."
    known = ("iommu", "acs", "snp.host", "snp.guest", "vm.hypervisor", "cmdline.iommu", "log.iommu_faults")
    quoted = _facts(arm, sweep, facts, *known)
    now = p2p_off(sweep, engines=True)
    if one_way(sweep, pairs):
        return Verdict(
            "one-direction",
            f"One direction is dead ({shown(pairs, sweep)}): writes are lost, the way back is right.",
            "firmware placed a window wrongly, or one port redirects (ACS)",
            "medium",
            quoted,
            now,
            tuple(filter(None, (advice.acs_off(facts) if value(facts, "acs") is not False else None, _firmware()))),
        )
    if (gpu := common_gpu(sweep, pairs)) is not None:
        others = ",".join(str(one.index) for one in sweep.gpus if one.index != gpu)
        return Verdict(
            "one-gpu",
            f"Only transfers from and to GPU{gpu} are lost; the other pairs are right.",
            f"GPU{gpu}'s memory window (BAR1) is not as those of the others: a display on it, or its slot",
            "medium",
            (*quoted, *_known(facts, "display")),
            Advice(
                f"export CUDA_VISIBLE_DEVICES={others}",
                "one GPU fewer",
                "you, in the environment of the job",
            ),
            (now, Advice(f"take the display off GPU{gpu} and compare its BAR1", "a reboot", "root on the host")),
        )
    translated, redirect = value(facts, "iommu") == "translated", value(facts, "acs")
    if in_guest(facts):
        likely = "the host's IOMMU and ACS stand between the GPUs; a guest cannot see or change them"
        later: tuple[Advice, ...] = (advice.to_the_host("ask for GPUs with a working P2P path, or stay without"),)
        return Verdict("dropped-guest", sentence, likely, _how_sure(facts, "vm.hypervisor"), quoted, now, later)
    if under_snp(facts):
        likely = "PCIe ACS redirect into a translating IOMMU, required by SEV-SNP here"
        sure = _how_sure(facts, "snp.host", "iommu")
        return Verdict("dropped-snp", sentence, likely, sure, quoted, now, (advice.snp_choice(facts),))
    if redirect is True and translated:
        sure = _how_sure(facts, "iommu", "acs")
        likely = "PCIe ACS redirect into a translating IOMMU"
        return Verdict("dropped-acs", sentence, likely, sure, quoted, now, _reboots(facts))
    if translated:
        likely = "the IOMMU translates what GPUs write to each other"
        if redirect is None:
            likely += "; ACS of the ports is unread, which needs root"
        sure = "high" if redirect is False else "medium"
        pt = advice.passthrough(facts)
        return Verdict("dropped-iommu", sentence, likely, sure, quoted, now, (pt,) if pt else _no_pt(facts))
    if value(facts, "log.iommu_faults"):
        likely = "the IOMMU faults on peer writes: the kernel's log says so"
        return Verdict("dropped-faults", sentence, likely, "medium", quoted, now, _reboots(facts))
    likely = "unknown: " + (
        "the IOMMU is not in the way" if value(facts, "iommu") else "the IOMMU's state is unread"
    )
    return Verdict("dropped", sentence, likely, "low", quoted, now, _firmware_only())


def _stale(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    pairs = seen.having(Result.STALE)
    if not pairs:
        return None
    arm = _worst(sweep.pairs[pairs[0]], Result.STALE)
    return Verdict(
        "stale",
        f"Data arrives late or is that of an earlier transfer ({shown(pairs, sweep)}).",
        "writes are reported complete before the owner can see them",
        "medium",
        _facts(arm, sweep, facts, "iommu", "vm.hypervisor"),
        p2p_off(sweep, engines=True),
        _firmware_only(),
    )


def _partial(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    pairs = seen.having(Result.PARTIAL)
    if not pairs:
        return None
    arm = _worst(sweep.pairs[pairs[0]], Result.PARTIAL)
    first = arm.evidence.get("first_bad_byte")
    other = arm.evidence.get("other")
    now = p2p_off(sweep, engines=True)
    quoted = _facts(arm, sweep, facts, "iommu")
    if other and not arm.evidence.get("old"):
        return Verdict(
            "corrupt",
            f"Some words arrive changed ({shown(pairs, sweep)}): they hold neither the old nor the new bytes.",
            "a marginal riser, slot or cable",
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
    beyond = (isinstance(first, int) and first >= _WINDOW) or arm.arm == "sizes"
    return Verdict(
        "window",
        f"A part of each transfer is lost ({shown(pairs, sweep)}): {arm.said}.",
        "the window onto the other GPU (BAR1) covers only a part of its memory" if beyond else "unknown",
        "medium" if beyond else "low",
        quoted,
        now,
        (
            Advice(
                "BIOS: Resizable BAR on; compare BAR1 with the memory of each GPU",
                "a reboot",
                "whoever runs the host",
            ),
        ),
    )


def _hung(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    pairs = seen.having(Result.HUNG)
    if not pairs or any(gpu.state == "wedged" for gpu in sweep.gpus):
        return None
    arm = _worst(sweep.pairs[pairs[0]], Result.HUNG)
    return Verdict(
        "hang",
        f"A transfer hangs ({shown(pairs, sweep)}) in the step: {arm.evidence.get('step', arm.arm)}.",
        "the path between these GPUs; ACS on a port of it, or the switch"
        if len(pairs) < len(sweep.pairs)
        else "the path between the GPUs",
        "medium" if seen.right else "low",
        _facts(arm, sweep, facts, "acs", "iommu"),
        p2p_off(sweep, engines=True),
        tuple(filter(None, (advice.acs_off(facts),))) if value(facts, "acs") is not False else (),
    )


def _errors(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    pairs = [key for key in seen.having(Result.ERROR) if _worst_code(sweep.pairs[key]) not in _CANNOT_MAP]
    if not pairs:
        return None
    arm = _worst(sweep.pairs[pairs[0]], Result.ERROR)
    if any(arm.evidence.get("code") == code for code in _FABRIC):
        return _not_run(sweep, seen, facts)
    return Verdict(
        "error",
        f"P2P fails with an error ({shown(pairs, sweep)}): {arm.said}.",
        "",
        "low",
        _facts(arm, sweep, facts, "log.xid"),
        p2p_off(sweep),
    )


# What only shows besides plain copies -------------------------------------------------------------------------


def _concurrent(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
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
        (arm_fact(bad[0].said, bad[0].arm), *_controls(sweep), *_known(facts, "iommu", "acs")),
        p2p_off(sweep, engines=True),
        tuple(filter(None, (advice.passthrough(facts),))) if value(facts, "iommu") == "translated" else (),
    )


def _resident(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
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
            (*(arm_fact(one.said, one.arm) for one in (bad[0], off[0])), *_known(facts, "container.shm")),
            Advice("export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1", "NCCL goes through sockets: slow", "you"),
        )
    tried = any("nccl no p2p" in pair.arms for pair in sweep.pairs.values())
    facts_now = [arm_fact(f"GPU{one.source} → GPU{one.target}: {one.said}", one.arm) for one in bad[:3]]
    if tried:
        facts_now.append(arm_fact("the same with P2P off is right", "nccl no p2p"))
    return Verdict(
        "resident",
        f"Copies are right, but kernels that wait for each other over P2P fail ({shown(_keys(bad), sweep)}):"
        " collectives would hang or give wrong sums.",
        "the path does not keep up what resident kernels need: order and visibility of flags",
        "high" if tried else "medium",
        (*facts_now, *_controls(sweep)),
        p2p_off(sweep, engines=True),
        (Advice("export NCCL_P2P_LEVEL=NVL", "P2P over NVLink only", "you, in the environment of the job"),),
    )


def _ipc(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    bad = failing(sweep, ("ipc",))
    if not bad or len(seen.having(Result.RIGHT)) < len(seen.tested) or failing(sweep, RESIDENT):
        return None
    return Verdict(
        "ipc",
        f"Transfers in one process are right, stores of another process are not ({shown(_keys(bad), sweep)}).",
        "memory handles between processes: vLLM's own all-reduce uses them",
        "high" if any("nccl" in pair.arms for pair in sweep.pairs.values()) else "medium",
        (arm_fact(bad[0].said, "ipc"), *_controls(sweep), *_known(facts, "container.namespaces")),
        Advice("vllm serve ... --disable-custom-all-reduce", "small all-reduces get slower", "you"),
        (p2p_off(sweep),),
    )


def _nccl_only(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    off = failing(sweep, ("nccl no p2p", "shm"))
    if not off or failing(sweep, RESIDENT):
        return None
    return Verdict(
        "fallback",
        f"P2P is right, but what NCCL falls back to is not: {off[0].said}.",
        "shared memory of the host or the container",
        "medium",
        (arm_fact(off[0].said, off[0].arm), *_known(facts, "container.shm")),
        Advice("docker run --shm-size=1g --ulimit memlock=-1", "the container is started again", "you"),
    )


def _atomics(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    bad = failing(sweep, ("atomics",))
    if not bad or copies(sweep.pairs[bad[0].source, bad[0].target]) is not Result.RIGHT:
        return None
    return Verdict(
        "atomics",
        f"Atomic adds to another GPU are lost, although they are offered ({shown(_keys(bad), sweep)}).",
        "atomics are not routed on this path",
        "medium",
        (arm_fact(bad[0].said, "atomics"), *_controls(sweep)),
        p2p_off(sweep),
    )


def _slow(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    slow = [pair for pair in sweep.pairs.values() if pair.slow and copies(pair) is Result.RIGHT]
    if not slow:
        return None
    keys = [(pair.source, pair.target) for pair in slow]
    below = [pair for pair in slow if "through the host" in pair.slow]
    quoted = (
        *(HostFact(f"GPU{pair.source} → GPU{pair.target}: {pair.slow}", True, "arm speed") for pair in slow[:3]),
        *_known(facts, "acs", "iommu"),
    )
    if below:
        return Verdict(
            "slow-below-staged",
            f"P2P is right but slower than copies through the host ({shown(keys, sweep)}).",
            "ACS sends peer traffic up through the root port"
            if value(facts, "acs") is not False
            else "the path between the GPUs is narrower than their links to the host",
            "high" if value(facts, "acs") is True else "medium",
            quoted,
            p2p_off(sweep),
            tuple(filter(None, (advice.acs_off(facts),))) if value(facts, "acs") is not False else (),
        )
    return Verdict(
        "slow",
        f"P2P is right but slow ({shown(keys, sweep)}): {slow[0].slow}.",
        "a link that is narrower than it should be, or traffic that takes a detour",
        "medium",
        quoted,
        Advice("ladder-tui hardware", "none: it shows width and speed of each port on the way", "you"),
        (Advice("reseat the card or its riser; compare the slots", "the host is down", "whoever runs the host"),),
    )


def _counters(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
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
        (facts[GRAVE], *((facts[SLIGHT],) if SLIGHT in facts else ()), *_controls(sweep)),
        Advice("ladder-tui p2p --arms soak", "a minute of traffic on all GPUs: does it go on?", "you"),
        (Advice("reseat the card or its cable", "the host is down", "whoever runs the host"),),
    )


def _environment(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Variables that do the opposite of what they seem to say."""
    for name, wrong, says in (
        ("env.NCCL_P2P_LEVEL", ("LOC", "0"), "NCCL_P2P_LEVEL=LOC switches P2P off"),
        ("env.GGML_CUDA_P2P", ("0",), "GGML_CUDA_P2P=0 switches P2P on: llama.cpp asks only whether it is set"),
    ):
        if name in facts and str(facts[name].value) in wrong and seen.tested:
            variable = name.removeprefix("env.")
            return Verdict(
                "environment",
                f"{says}.",
                "",
                "high",
                (facts[name],),
                Advice(f"unset {variable}", "none", "you, in the environment of the job"),
                good=True,
            )
    return None


def _confidential(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
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
        (*_known(facts, "cc.state", "cc.multi_gpu"), *_controls(sweep)),
        p2p_off(sweep),
        (
            Advice(
                "Hopper: cc.mode=ppcie with all GPUs and switches in one machine; Blackwell: cc.mode=on",
                "the virtual machine is started again",
                "whoever runs the host",
            ),
        ),
    )


def _small_shm(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Advice to go through shared memory is worth nothing where there is none of it."""
    size = value(facts, "container.shm")
    if not isinstance(size, int) or isinstance(size, bool) or size >= _ENOUGH_SHM or len(sweep.gpus) < 2:
        return None
    return Verdict(
        "small-shm",
        f"/dev/shm holds {size >> 20:,} MiB: NCCL's shared memory, without P2P, may not fit.",
        "a container with the default limit",
        "medium",
        (facts["container.shm"],),
        Advice(
            "docker run --shm-size=1g --ulimit memlock=-1", "the container is started again", "whoever starts it"
        ),
        good=True,
    )


def _not_offered(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
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
            *_controls(sweep),
            *_known(facts, "vm.hypervisor", "mig"),
        ),
        Advice("nothing: NCCL takes shared memory by itself", "none", "you"),
        good=True,
    )


def _right(sweep: Sweep, seen: Signature) -> Verdict:
    if len(sweep.gpus) == 1:
        arms = ", ".join(dict.fromkeys(one.arm for one in sweep.controls.values()))
        return Verdict(
            "one-gpu-right",
            f"What one GPU allows is right ({arms}); transfers between GPUs cannot be tested with one.",
            confidence="high",
            facts=_controls(sweep),
            good=True,
        )
    if not seen.tested:
        return Verdict("nothing", "Nothing was proven.", conclusive=False)
    rates = [pair.bandwidth for pair in sweep.pairs.values() if pair.bandwidth]
    speed = ""
    if rates:
        low, high = f"{min(rates):g}", f"{max(rates):g}"
        speed = f", {low} GB/s" if low == high else f", {low} to {high} GB/s"
    return Verdict(
        "right",
        f"All {len(seen.right)} pairs are proven right{speed}.",
        confidence="high",
        facts=_controls(sweep),
        good=True,
    )


# Shared by the rows -------------------------------------------------------------------------------------------

_PEER = (
    "push",
    "pull",
    "store",
    "load",
    "speed",
    "sizes",
    "patterns",
    "both ways",
    "handshake",
    "atomics",
    "ipc",
    "nccl",
)


def _keys(arms: Iterable[ArmResult]) -> list[tuple[int, int]]:
    return list(dict.fromkeys((arm.source, arm.target) for arm in arms))


def _claimed(sweep: Sweep, source: int, target: int) -> bool | None:
    pair = sweep.pairs.get((source, target))
    return pair.claim.offered if pair is not None else None


def _worst(pair: PairResult, result: Result) -> ArmResult:
    return next(arm for arm in pair.arms.values() if arm.result is result)


def _worst_code(pair: PairResult) -> object:
    return _worst(pair, Result.ERROR).evidence.get("code")


def _facts(arm: ArmResult, sweep: Sweep, facts: HostFacts, *names: str) -> tuple[HostFact, ...]:
    names = names or ("iommu", "acs", "snp.host", "vm.hypervisor")
    return (arm_fact(arm.said, arm.arm), *_controls(sweep), *_known(facts, *names))


def _known(facts: HostFacts, *names: str) -> tuple[HostFact, ...]:
    """Facts that are known, or unknown for a reason that somebody can do something about."""
    out = []
    for name in names:
        fact = facts.get(name)
        if fact is None or (fact.value in (False, "", 0) and name not in ("acs", "iommu")):
            continue
        if fact.value is not None or "root" in fact.why:
            out.append(
                fact
                if fact.value is not None
                else HostFact(f"{fact.text} ({fact.why})", None, fact.source, fact.why)
            )
    return tuple(out)


def _controls(sweep: Sweep) -> tuple[HostFact, ...]:
    staged = [one for one in sweep.controls.values() if one.arm == "staged"]
    if not staged:
        return ()
    rates = [float(rate) for one in staged if isinstance(rate := one.evidence.get("GBps"), int | float)]
    right = sum(one.result is Result.RIGHT for one in staged)
    speed = f", {min(rates):g} GB/s" if rates else ""
    return (HostFact(f"copies through the host: {right} of {len(staged)} right{speed}", right, "arm staged"),)


def _how_sure(facts: HostFacts, *names: str) -> str:
    known = sum(bool(value(facts, name)) for name in names)
    return "high" if known == len(names) else "medium" if known else "low"


def _reboots(facts: HostFacts) -> tuple[Advice, ...]:
    found = tuple(filter(None, (advice.passthrough(facts), advice.acs_off(facts))))
    return found or _no_pt(facts)


def _no_pt(facts: HostFacts) -> tuple[Advice, ...]:
    if in_guest(facts):
        return (advice.to_the_host("ask for GPUs with a working P2P path, or stay without"),)
    if under_snp(facts):
        return (advice.snp_choice(facts),)
    return (
        Advice(
            "leave the SMMU translating (iommu.passthrough=0) and stay without P2P over PCIe",
            "passing through costs every CUDA context on arm64 kernels before 6.11",
            "root on the host",
        ),
    )


def _firmware() -> Advice:
    return Advice(
        "update the firmware of board and GPUs; compare the ports of the two directions",
        "a reboot",
        "whoever runs the host",
    )


def _firmware_only() -> tuple[Advice, ...]:
    return (_firmware(),)


_ROWS: tuple[Row, ...] = (
    _not_run,
    _wedged,
    _local,
    _control,
    _cannot_map,
    _asymmetric,
    _misrouted,
    _mirrored,
    _dropped,
    _stale,
    _partial,
    _hung,
    _errors,
    _resident,
    _ipc,
    _concurrent,
    _atomics,
    _nccl_only,
    _slow,
    _confidential,
    _not_offered,
    _cancelled,
    _counters,
)
_NOTES: tuple[Row, ...] = (_small_shm, _environment)
"""What is told beside the verdict, and is none by itself."""

_LAST_WORD: tuple[Row, ...] = (_not_run, _wedged, _local, _control)
