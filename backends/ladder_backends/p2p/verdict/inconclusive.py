"""Rows before anything can be said of P2P, and the one where everything is right."""

from __future__ import annotations

from ladder_backends.model.p2p import Advice, HostFact, Result, Stage, Sweep, Verdict
from ladder_backends.p2p import advice
from ladder_backends.p2p.advice import arm_fact, p2p_off, value
from ladder_backends.p2p.arms import Depth, expected_seconds
from ladder_backends.p2p.host_facts import HostFacts
from ladder_backends.p2p.signature import (
    Signature,
    bad_controls,
    failing,
)
from ladder_backends.p2p.verdict.quoting import (
    controls,
    known_facts,
)

LOG = "sudo dmesg | grep -E 'NVRM|Xid|AER|DMAR|AMD-Vi' | tail -20"
"""What the kernel says where the tests have no word for it."""

PEER = (
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
    "fd",
    "nccl",
    "far end",
)


def not_run(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """CUDA did not start, or nothing could be asked."""
    if not sweep.failure:
        return None
    if "802" in sweep.failure or "SystemNotReady" in sweep.failure:
        return Verdict(
            "fabric",
            "CUDA does not start: the NVSwitch fabric is not ready (error 802).",
            "the fabric manager is not running, or its version differs from the driver's",
            "high",
            known_facts(facts, "fabric", "driver.version"),
            Advice("systemctl start nvidia-fabricmanager", "none", "root on the host"),
            (Advice("install the fabric manager of the driver's very version", "a restart", "root on the host"),),
        )
    passes = value(facts, "iommu") == "identity" and value(facts, "acs") is not False
    if advice.arm_without_passthrough(facts) and passes:
        return Verdict(
            "no-context-arm",
            f"CUDA does not start on this arm64 machine, whose SMMU passes through: {sweep.failure}.",
            "kernels before 6.11 lose every CUDA context to an SMMU that passes through while ACS is on",
            "medium",
            known_facts(facts, "os.arch", "os.kernel", "iommu", "acs"),
            Advice("boot with iommu.passthrough=0", "a reboot", "root on the host"),
            (Advice("or take a kernel from 6.11 on", "a reboot", "root on the host"),),
        )
    remedy = sweep.remedy
    now = Advice(remedy, "", "you") if remedy else Advice(LOG, "none", "root on the host")
    driver = facts.get("driver.version")
    if driver is not None and driver.value is None and "libnvidia-ml" in driver.why:
        # Without a driver whatever else is missing helps nobody yet.
        install = "install NVIDIA's driver; in a container: docker run --gpus all"
        return Verdict(
            "not-run",
            f"Nothing was tested: there is no driver of NVIDIA here ({driver.why}), and {sweep.failure}.",
            conclusive=False,
            now=Advice(install, "", "root on the host"),
            later=(now,) if remedy and now is not None else (),
        )
    return Verdict("not-run", f"Nothing was tested: {sweep.failure}.", conclusive=False, now=now)


def cancelled(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """A person stopped the sweep."""
    if sweep.stage is not Stage.CANCELLED or (seen.tested and len(seen.right) < len(seen.tested)):
        return None
    return Verdict("cancelled", "The sweep was cancelled before it proved anything wrong.", conclusive=False)


def killed(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Somebody else ended a test: that is no word on the path."""
    ended = [
        one
        for one in (
            *sweep.controls.values(),
            *(arm for pair in sweep.pairs.values() for arm in pair.arms.values()),
            *sweep.together.values(),
        )
        if one.evidence.get("killed")
    ]
    wrong = [arm for pair in sweep.pairs.values() for arm in pair.arms.values() if arm.result.wrong]
    if not ended or any(not one.evidence.get("killed") for one in wrong):
        return None
    one = ended[0]
    return Verdict(
        "killed",
        f"Inconclusive: the process of a test (GPU{one.source} → GPU{one.target}, {one.arm}) was killed from"
        " outside; what else was tested is right.",
        "a person, a limit, or the kernel for want of memory",
        "none",
        tuple(arm_fact(f"GPU{each.source} → GPU{each.target}: {each.said}", each.arm) for each in ended[:3]),
        Advice("sweep again; dmesg tells whether the kernel ran out of memory", "none", "you"),
        conclusive=False,
    )


def wedged_gpu(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """A GPU does not come to rest after a test was ended."""
    wedged = [gpu for gpu in sweep.gpus if gpu.state == "wedged"]
    if not wedged:
        return None
    names = ", ".join(f"GPU{gpu.index}" for gpu in wedged)
    hung = failing(sweep, PEER)
    cause = hung[0] if hung else None
    likely = ""
    if cause is not None:
        likely = f"a transfer GPU{cause.source} → GPU{cause.target} never ended (arm {cause.arm})"
    return Verdict(
        "wedged",
        f"{names} is wedged: {wedged[0].why}.",
        likely,
        "high",
        (*(HostFact(f"GPU{gpu.index}: {gpu.why}", True, "health check") for gpu in wedged), *controls(sweep)),
        Advice(
            f"nvidia-smi -r -i {','.join(str(gpu.index) for gpu in wedged)}",
            "every program on it has to end first; if it refuses, reboot",
            "root on the host",
        ),
        (p2p_off(sweep, engines=True),) if cause is not None else (),
    )


def bad_memory(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """A GPU's own memory is wrong."""
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


def bad_control(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Copies through the host are wrong."""
    bad = bad_controls(sweep, "host", "staged")
    if not bad:
        return None
    worst = bad[0]
    do = "hang" if all(one.result is Result.HUNG for one in bad) else "are wrong"
    sentence = f"Copies through the host {do} too, so P2P alone is not to blame."
    gpus = sorted({one.source for one in bad})
    alone = all(one.arm == "host" for one in bad)
    if alone:
        names = ", ".join(f"GPU{gpu}" for gpu in gpus)
        sentence = f"What goes between {names} and the host's memory {'hangs' if do == 'hang' else 'is wrong'}."
    others = ",".join(str(gpu.index) for gpu in sweep.gpus if gpu.index not in gpus)
    now = Advice(LOG, "none", "root on the host")
    if alone and others:
        now = Advice(f"ladder-tui p2p --gpus {others}", "none: it tests the others", "you")
    return Verdict(
        "control",
        f"Inconclusive: the control fails. {sentence}",
        "host memory, the host link or the IOMMU",
        "none",
        tuple(arm_fact(f"GPU{one.source} → GPU{one.target}: {one.said}", one.arm) for one in bad[:4]),
        now,
        (
            Advice(
                "test the host's memory (memtest), then sweep again",
                "the host is down for hours",
                "root on the host",
            ),
        )
        if worst.arm == "staged" and do != "hang"
        else (),
        conclusive=False,
    )


def all_right(sweep: Sweep, seen: Signature) -> Verdict:
    """Everything that was tested is right."""
    if len(sweep.gpus) == 1:
        arms = ", ".join(dict.fromkeys(one.arm for one in sweep.controls.values()))
        return Verdict(
            "one-gpu-right",
            f"What one GPU allows is right ({arms}); transfers between GPUs cannot be tested with one.",
            confidence="high",
            facts=controls(sweep),
            good=True,
        )
    if not seen.tested:
        return Verdict("nothing", "Nothing was proven.", conclusive=False)
    rates = [pair.bandwidth for pair in sweep.pairs.values() if pair.bandwidth]
    speed = ""
    if rates:
        low, high = f"{min(rates):g}", f"{max(rates):g}"
        speed = f", {low} GB/s" if low == high else f", {low} to {high} GB/s"
    absent = sum(pair.claim.offered is False for pair in sweep.pairs.values())
    which = "pairs that are offered" if absent else "pairs"
    rest = f"; {absent} are not offered, and go through the host" if absent else ""
    return Verdict(
        "right",
        f"All {len(seen.right)} {which} are proven right{speed}{rest}.",
        confidence="high",
        facts=controls(sweep),
        later=(
            Advice(
                "ladder-tui p2p --arms deep",
                "if jobs hang or go wrong all the same: kernels that wait, processes, NCCL;"
                f" about {expected_seconds(Depth.DEEP, len(sweep.gpus)):.0f} s",
                "you",
            ),
        )
        if sweep.depth == Depth.QUICK
        else (),
        good=True,
    )
