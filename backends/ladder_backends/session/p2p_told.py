"""What workers tell, cleaned and typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from ladder_backends.model.p2p import ArmResult, Claim, GpuReport, PairResult, Result, Sweep
from ladder_backends.p2p.arms import ARMS, Depth, arms_of
from ladder_backends.p2p.worker_process import Ended
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


def pairs_told(said: Mapping[str, Any], numbers: Set[int]) -> dict[tuple[int, int], PairResult]:
    """The pairs of a survey among some GPUs, with what is claimed of them."""
    pairs = {}
    for claim in said.get("claims", ()):
        source, target = int(claim["source"]), int(claim["target"])
        if source in numbers and target in numbers:
            nvml = {str(key): clean_line(str(value)) for key, value in claim["nvml"].items()}
            pairs[source, target] = PairResult(source, target, Claim(bool(claim["cuda"]), nvml), running="queued")
    return pairs


def stopped(ended: Ended, at: tuple[str, int, int]) -> ArmResult:
    """What the arm came to at which a worker was lost."""
    where = clean_line(str(ended.step.get("step", "start")))
    if ended.hung:
        said = f"no answer in the step: {where}; its process was ended"
        evidence: dict[str, object] = {"say": said, "step": where, "seconds": ended.step.get("limit", 0)}
        return ArmResult(*at, Result.HUNG, evidence)
    evidence = {"say": f"its process died in the step: {where}: {ended.why}", "step": where}
    if ended.killed:
        # Nothing was proven of the path: somebody else, or the kernel for want of memory, ended the process.
        evidence["killed"] = True
    return ArmResult(*at, Result.ERROR, evidence)


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


def left_out(depth: Depth, gpus: int, asked: tuple[str, ...] = ()) -> Iterator[str]:
    """What a sweep of that depth cannot or does not test, one line each."""
    if gpus < 2:
        yield "transfers between GPUs: there is one GPU; pairs, peer access and NCCL need two"
    hidden = [arm for arm in ARMS.values() if arm not in arms_of(depth, arm.scope) and arm.id not in asked]
    if later := [arm.test for arm in hidden if arm.depth is not Depth.ASKED]:
        deeper = "soak" if depth is Depth.DEEP else "deep or soak"
        yield f"{', '.join(dict.fromkeys(later))}: not part of a {depth} sweep; --arms {deeper} runs more"
    if gpus > 1 and depth is not Depth.QUICK and any(arm.id == "far end" for arm in hidden):
        yield "T6 at the far end of memory: --far does, and takes all free memory of idle GPUs for a moment"


def arms_left(sweep: Sweep) -> Iterator[str]:
    """Arms that a sweep of that depth has and this machine did not allow, one line each reason."""
    why: dict[tuple[str, str], int] = {}
    for pair in sweep.pairs.values():
        for arm in pair.arms.values():
            if arm.result is Result.NOT_TESTED and pair.claim.offered is not False and arm.arm in ARMS:
                key = (arm.arm, arm.said)
                why[key] = why.get(key, 0) + 1
    for (name, said), count in why.items():
        where = "" if count == len(sweep.pairs) else f" ({count} of {len(sweep.pairs)} pairs)"
        yield f"{ARMS[name].test} {name}: {said or 'not possible here'}{where}"
