"""A sweep and its verdicts as JSON: the shape of the contract, stable in its order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ladder_backends.model.p2p import (
    Advice,
    ArmResult,
    Claim,
    GpuReport,
    HostFact,
    PairResult,
    Result,
    Stage,
    Sweep,
    Verdict,
)
from ladder_backends.text import clean_line

FORMAT = 1


def sweep_json(sweep: Sweep, found: Sequence[Verdict]) -> dict[str, Any]:
    """Everything that a sweep found."""
    return {
        "format": FORMAT,
        "simulated": sweep.simulated or None,
        "stage": sweep.stage,
        "arms": sweep.depth,
        "seconds": round(sweep.took, 2),
        "reason": sweep.failure or None,
        "versions": dict(sorted(sweep.versions.items())),
        "gpus": [
            {
                "index": gpu.index,
                "name": gpu.name,
                "uuid": gpu.uuid,
                "bus": gpu.bus,
                "memory": gpu.memory,
                "busy": gpu.busy or None,
                "state": gpu.state,
                "why": gpu.why or None,
            }
            for gpu in sweep.gpus
        ],
        "pairs": [pair_json(pair) for _, pair in sorted(sweep.pairs.items())],
        "controls": [_placed(one) for _, one in sorted(sweep.controls.items())],
        "together": [_placed(one) for _, one in sorted(sweep.together.items())],
        "untested": list(sweep.untested),
        "verdict": verdict_json(found[0]) if found else None,
        "also": [verdict_json(one) for one in found[1:]],
    }


def pair_json(pair: PairResult) -> dict[str, Any]:
    """One ordered pair."""
    return {
        "from": pair.source,
        "to": pair.target,
        "claimed": {"cuda": pair.claim.cuda, "nvml": dict(sorted(pair.claim.nvml.items()))},
        "arms": [
            {"arm": arm.arm, "result": arm.result, "evidence": dict(arm.evidence)} for arm in pair.arms.values()
        ],
        "bandwidth_GBps": pair.bandwidth,
        "latency_us": pair.latency,
        "class": pair.kind,
        "slow": pair.slow or None,
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """One verdict."""
    return {
        "id": verdict.id,
        "sentence": verdict.sentence,
        "likely": verdict.likely or None,
        "confidence": verdict.confidence,
        "facts": [_fact(fact) for fact in verdict.facts],
        "now": _advice(verdict.now) if verdict.now is not None else None,
        "later": [_advice(one) for one in verdict.later],
        "changed": list(verdict.changed),
        "reports": verdict.reports or None,
    }


def _placed(arm: ArmResult) -> dict[str, Any]:
    return {
        "arm": arm.arm,
        "from": arm.source,
        "to": arm.target,
        "result": arm.result,
        "evidence": dict(arm.evidence),
    }


def _fact(fact: HostFact) -> dict[str, Any]:
    return {"text": fact.text, "source": fact.source}


def _advice(advice: Advice) -> dict[str, Any]:
    return {"command": advice.command, "price": advice.price or None, "who": advice.who or None}


# Reading back --------------------------------------------------------------------------------------------------


def kept_sweep(document: Mapping[str, Any]) -> Sweep | None:
    """A sweep from its JSON, as far as a matrix shows it; None where the document is none."""
    try:
        gpus = tuple(_gpu_back(one) for one in document["gpus"])
        pairs = {(pair.source, pair.target): pair for pair in map(_pair_back, document["pairs"])}
        known = {gpu.index for gpu in gpus}
        return Sweep(
            gpus,
            {key: pair for key, pair in pairs.items() if set(key) <= known},
            simulated=clean_line(str(document.get("simulated") or "")),
            stage=Stage.DONE,
            took=float(document.get("seconds") or 0.0),
            depth=clean_line(str(document.get("arms") or "")),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _gpu_back(one: Mapping[str, Any]) -> GpuReport:
    return GpuReport(int(one["index"]), clean_line(str(one.get("name", ""))), clean_line(str(one.get("uuid", ""))))


def _pair_back(one: Mapping[str, Any]) -> PairResult:
    source, target = int(one["from"]), int(one["to"])
    claimed = one.get("claimed") or {}
    arms = {
        name: ArmResult(name, source, target, Result(arm["result"]), _evidence_back(arm.get("evidence") or {}))
        for arm in one.get("arms") or ()
        if (name := clean_line(str(arm["arm"])))
    }
    return PairResult(
        source,
        target,
        Claim(
            cuda if isinstance(cuda := claimed.get("cuda"), bool) else None,
            {clean_line(str(key)): clean_line(str(word)) for key, word in (claimed.get("nvml") or {}).items()},
        ),
        arms,
        _figure(one.get("bandwidth_GBps")),
        _figure(one.get("latency_us")),
        slow=clean_line(str(one.get("slow") or "")),
    )


def _evidence_back(evidence: Mapping[str, Any]) -> dict[str, object]:
    return {
        clean_line(str(key)): value if isinstance(value, int | float) else clean_line(str(value))
        for key, value in evidence.items()
    }


def _figure(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
