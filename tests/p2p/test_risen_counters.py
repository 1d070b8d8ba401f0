"""Counters that rise under test, and what is made of them."""

from __future__ import annotations

from ladder_backends.model.fact import Fact, Facts
from ladder_backends.model.p2p import ArmResult, Claim, GpuReport, PairResult, Result, Stage, Sweep
from ladder_backends.model.topology import Gpu, Machine
from ladder_backends.p2p.counters import GRAVE, SLIGHT, risen
from ladder_backends.p2p.verdict import exit_code, verdicts


def machine(unsupported: int | None, correctable: int = 0) -> Machine:
    facts = Facts(
        (
            Fact("pcie.unsupported", "unsupported requests", unsupported, live=True),
            Fact("aer.correctable", "AER correctable", correctable, live=True),
        )
    )
    return Machine("one", Facts(), (Gpu(0, "GPU", "GPU-0", "0000:41:00.0", facts),))


def swept(result: Result) -> Sweep:
    arms = {"push": ArmResult("push", 0, 1, result)}
    pairs = {(0, 1): PairResult(0, 1, Claim(True), arms), (1, 0): PairResult(1, 0, Claim(True), arms)}
    return Sweep((GpuReport(0), GpuReport(1)), pairs, stage=Stage.DONE)


def test_only_what_rose_is_told() -> None:
    assert risen(machine(7), machine(7)) == {}
    assert risen(machine(None), machine(7)) == {}
    assert risen(machine(7), machine(None)) == {}
    found = risen(machine(7, 3), machine(9, 400))
    assert found[GRAVE].value == ("GPU0 unsupported requests: 7 → 9",)
    assert found[SLIGHT].value == ("GPU0 AER correctable: 3 → 400",)


def test_right_transfers_with_errors_on_the_way_are_no_clean_bill() -> None:
    found = verdicts(swept(Result.RIGHT), risen(machine(7), machine(9)))
    assert found[0].id == "counters"
    assert exit_code(found) == 1
    slight = verdicts(swept(Result.RIGHT), risen(machine(7, 3), machine(7, 4)))
    assert slight[0].id == "right"
    assert slight[0].facts[-1].text.endswith("GPU0 AER correctable: 3 → 4")


def test_counters_are_evidence_where_transfers_are_lost() -> None:
    found = verdicts(swept(Result.DROPPED), risen(machine(7), machine(9)))
    assert found[0].id == "dropped"
    assert "unsupported requests: 7 → 9" in found[0].facts[-1].text
