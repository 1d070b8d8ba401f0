"""What workers tell, cleaned and typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ladder_backends.model.p2p import ArmResult, GpuReport
from ladder_backends.p2p.arms import ARMS, Depth, arms_of
from ladder_backends.text import clean_line


def gpu_told(index: int, one: Mapping[str, Any]) -> GpuReport:
    """A GPU of the survey."""
    return GpuReport(
        index,
        clean_line(str(one["name"])),
        clean_line(str(one["uuid"])),
        clean_line(str(one["bus"])).lower(),
        int(one["memory"]),
        clean_line(str(one["busy"])),
    )


def figure(result: ArmResult, name: str) -> float | None:
    """A number of the evidence, or None."""
    value = result.evidence.get(name)
    return float(value) if isinstance(value, int | float) else None


def cleaned(evidence: Mapping[str, object]) -> dict[str, object]:
    """Evidence whose texts move no cursor."""
    return {
        clean_line(str(key)): clean_line(value) if isinstance(value, str) else value
        for key, value in evidence.items()
    }


def left_out(depth: Depth, gpus: int) -> Iterator[str]:
    """What a sweep of that depth cannot or does not test, one line each."""
    if gpus < 2:
        yield "transfers between GPUs: there is one GPU; pairs, peer access and NCCL need two"
    if later := [arm.test for arm in ARMS.values() if arm not in arms_of(depth, arm.scope)]:
        deeper = "soak" if depth is Depth.DEEP else "deep or soak"
        yield f"{', '.join(dict.fromkeys(later))}: not part of a {depth} sweep; --arms {deeper} runs more"
