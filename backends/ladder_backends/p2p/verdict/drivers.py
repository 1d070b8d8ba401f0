"""Drivers of which it was reported that P2P is claimed and broken."""

from __future__ import annotations

from typing import NamedTuple

from ladder_backends.model.p2p import Advice, HostFact, Result, Sweep, Verdict
from ladder_backends.p2p.advice import in_guest, p2p_off, under_snp, value
from ladder_backends.p2p.host_facts import HostFacts
from ladder_backends.p2p.signature import RESIDENT, Signature, common_gpu, failing, one_way, shown
from ladder_backends.p2p.verdict.quoting import evidence_of, keys_of


class Reported(NamedTuple):
    """One branch of the driver.

    Attributes:
        branch: The first number of its version.
        model: Only GPUs with this in their name; empty for all.
        what: What was reported.
        source: Where.
    """

    branch: str
    model: str
    what: str
    source: str


REPORTED = (
    Reported("525", "RTX 4090", "claims P2P between GPUs that have none", "nccl-tests#117"),
    Reported("545", "", "P2P was reported broken; the branch before it hid P2P", "pytorch#119638"),
    Reported("560", "", "collectives were reported to hang; 570 was reported well", "xgboost#11242"),
)


def known_driver(sweep: Sweep, seen: Signature, facts: HostFacts) -> Verdict | None:
    """Something fails, nothing about the host explains it, and the driver is known for it."""
    lost = [
        key for result in (Result.DROPPED, Result.PARTIAL, Result.STALE, Result.HUNG) for key in seen.having(result)
    ]
    bad = lost or keys_of(failing(sweep, RESIDENT))
    if not bad or one_way(sweep, lost) or common_gpu(sweep, bad) is not None:
        return None
    if value(facts, "iommu") == "translated" or value(facts, "acs") or in_guest(facts) or under_snp(facts):
        return None
    version = str(value(facts, "driver.version") or sweep.versions.get("driver", ""))
    names = " ".join(gpu.name for gpu in sweep.gpus)
    known = next((one for one in REPORTED if version.split(".")[0] == one.branch and one.model in names), None)
    if known is None:
        return None
    pair = sweep.pairs[bad[0]]
    arm = next(one for one in pair.arms.values() if one.result.wrong)
    return Verdict(
        "known-driver",
        f"P2P fails ({shown(bad, sweep)}) under driver {version}, of which that was reported.",
        f"the driver: {known.what}",
        "medium",
        (
            HostFact(f"driver {version}: {known.what}", version, known.source),
            *evidence_of(arm, sweep, facts),
        ),
        p2p_off(sweep, engines=True),
        (
            Advice(
                "install a driver of another branch", "a restart of every program on the GPUs", "root on the host"
            ),
        ),
    )
