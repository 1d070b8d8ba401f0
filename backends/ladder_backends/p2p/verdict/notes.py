"""What is told beside a verdict, and is none by itself."""

from __future__ import annotations

from ladder_backends.model.p2p import Advice, Sweep, Verdict
from ladder_backends.p2p.advice import value
from ladder_backends.p2p.host_facts import HostFacts
from ladder_backends.p2p.signature import (
    Signature,
)

_ENOUGH_SHM = 512 << 20
"""Bytes of shared memory below which NCCL is known to fail where containers have their default of 64 MiB."""


def environment(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
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
