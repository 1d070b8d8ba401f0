"""What is told beside a verdict, and is none by itself."""

from __future__ import annotations

from ladder_backends.model.p2p import Advice, Result, Sweep, Verdict
from ladder_backends.p2p.advice import arm_fact, value
from ladder_backends.p2p.host_facts import HostFacts
from ladder_backends.p2p.nccl_diagnostics import complaint
from ladder_backends.p2p.signature import (
    Signature,
)

_ENOUGH_SHM = 512 << 20
"""Bytes of shared memory below which NCCL is known to fail where containers have their default of 64 MiB."""


def environment(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Variables that do the opposite of what they seem to say."""
    told = []
    for name, wrong, says in (
        ("env.NCCL_P2P_LEVEL", ("LOC", "0"), "NCCL_P2P_LEVEL=LOC switches P2P off"),
        ("env.GGML_CUDA_P2P", ("0",), "GGML_CUDA_P2P=0 switches P2P on: llama.cpp asks only whether it is set"),
    ):
        if name in facts and str(facts[name].value) in wrong and seen.tested:
            told.append((name, says))
    if not told:
        return None
    variables = " ".join(name.removeprefix("env.") for name, _ in told)
    return Verdict(
        "environment",
        "; ".join(says for _, says in told) + ".",
        "",
        "high",
        tuple(facts[name] for name, _ in told),
        Advice(f"unset {variables}", "none", "you, in the environment of the job"),
        good=True,
    )


def small_shm(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
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


def nccl_complains(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """NCCL's own diagnostics find something where the tests find nothing."""
    told = [
        (arm, line)
        for pair in sweep.pairs.values()
        if (arm := pair.arms.get("nccl")) is not None
        and isinstance(lines := arm.evidence.get("nccl_diagnostics"), list)
        if (line := complaint([str(one) for one in lines]))
    ]
    if not told or len(seen.having(Result.RIGHT)) < len(seen.tested):
        return None
    arm, line = told[0]
    return Verdict(
        "nccl-complains",
        f"NCCL's own diagnostics disagree (GPU{arm.source} – GPU{arm.target}): {line}.",
        "",
        "low",
        (arm_fact(line, "nccl"),),
        Advice("NCCL_RUN_DIAGNOSTICS=1 NCCL_DEBUG=INFO, in the job itself", "none", "you"),
        good=True,
    )


def unseen(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Ranks that see one GPU each cannot open each other's memory."""
    told = [arm for pair in sweep.pairs.values() for arm in pair.arms.values() if "unseen" in arm.evidence]
    if not told:
        return None
    return Verdict(
        "unseen",
        "Processes that see one GPU each cannot open each other's memory; those that see both can.",
        "",
        "medium",
        (arm_fact(f"{told[0].arm}: {told[0].evidence['unseen']}", told[0].arm),),
        Advice("give every rank all GPUs: no CUDA_VISIBLE_DEVICES, and a device by local rank", "none", "you"),
        good=True,
    )
