"""Every row of the table of verdicts: a machine that brings it about, and one that nearly does."""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ladder_backends.model.p2p import HostFact, Result, Stage, Sweep
from ladder_backends.p2p.verdict import exit_code, table, verdicts
from ladder_backends.p2p.verdict.table import TABLE

from .conftest import Swept, machine
from .machines_of_rows import DROP, GUEST, ROOT, ROWS, TRANSLATED, ports

Sweeper = Callable[..., Awaitable[Swept]]

BY_HAND = {"cancelled": "a person brings it about"}
"""Rows that no machine can bring about by itself; they have tests of their own."""

NOTES = {"small-shm", "environment", "nccl-complains", "unseen"}


def nears(name: str) -> tuple[str, ...]:
    near = ROWS[name][3]
    return (near,) if isinstance(near, str) else near


def test_every_row_has_a_machine_and_a_near_miss() -> None:
    """Over the table itself: a row that is added without both fails here."""
    brought = {row[2] for row in ROWS.values()}
    missed = {near for name in ROWS for near in nears(name)}
    assert set(TABLE) - brought - set(BY_HAND) == set()
    assert set(TABLE) - missed - set(BY_HAND) == set()
    assert brought | missed <= set(TABLE)


def test_the_table_holds_what_the_rows_say() -> None:
    """Each verdict that the code can make is in the table, and the table has none that it cannot make."""
    folder = Path(table.__file__).parent
    made = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Verdict":
                first = node.args[0]
                assert isinstance(first, ast.Constant), path
                made.add(first.value)
    assert made == set(TABLE)


@pytest.mark.parametrize("name", ROWS)
async def test_a_machine_brings_its_row_about_and_not_the_next(name: str, swept: Sweeper) -> None:
    text, depth, expected, _ = ROWS[name]
    found = await swept(text, depth)
    ids = [verdict.id for verdict in found.verdicts]
    assert (expected in ids) if expected in NOTES else ids[0] == expected, (ids, found.verdicts[0])
    assert not set(nears(name)) & set(ids)
    first = found.verdicts[0]
    assert first.good or first.now is not None or not first.conclusive or first.id == "not-transport"


async def test_the_far_end_is_tested_where_it_is_asked_for(swept: Sweeper) -> None:
    text = ROWS["the first half of memory"][0]
    found = await swept(text, asked=("far end",))
    assert found.verdicts[0].id == "window"
    assert "behind the first part" in found.verdicts[0].sentence
    busy = text.replace('bus = "0000:51:00.0"', 'bus = "0000:51:00.0"\nbusy = "python3 (4242), 38 GB"')
    left = (await swept(busy, asked=("far end",), busy_too=True)).sweep.pairs[0, 1].arms["far end"]
    assert left.result is Result.NOT_TESTED
    assert "in use" in left.said


async def test_the_same_sweep_and_facts_give_the_same_verdict(swept: Sweeper) -> None:
    found = await swept(machine(2, DROP, host=TRANSLATED))
    facts = {"iommu": HostFact("translated", "translated", "/sys")}
    assert verdicts(found.sweep, facts) == verdicts(found.sweep, facts)


async def test_advice_fits_the_machine(swept: Sweeper) -> None:
    """Never `iommu=pt` under SNP, in a guest, or on an old arm64 kernel; never ACS inside a guest."""
    for host in (
        TRANSLATED + "snp_host = true",
        GUEST,
        TRANSLATED.replace('kernel = "6.8.0"', 'kernel = "6.5.0"').replace("AMD", "Arm"),
    ):
        found = await swept(machine(2, DROP, host=host))
        first = found.verdicts[0]
        assert first.now is not None
        assert first.now.command == "export NCCL_P2P_DISABLE=1"
        commands = " ".join(one.command for one in first.later)
        assert "add iommu" not in commands, host
        assert "setpci" not in commands, host
    plain = await swept(machine(2, DROP, ports(0x1D), host=ROOT))
    assert "add iommu=pt" in plain.verdicts[0].later[0].command
    assert "reboot" in plain.verdicts[0].later[0].price


async def test_the_price_is_what_was_measured_here(swept: Sweeper) -> None:
    found = await swept(machine(2, DROP))
    assert found.verdicts[0].now is not None
    assert "19.8 GB/s" in found.verdicts[0].now.price


async def test_what_changed_stands_beside_what_is_wrong(swept: Sweeper) -> None:
    found = await swept(machine(2, DROP), changed=("kernel command line: −iommu=pt",))
    assert found.verdicts[0].changed == ("kernel command line: −iommu=pt",)


def test_nothing_tested_is_no_verdict_on_the_machine() -> None:
    failed = Sweep(stage=Stage.FAILED, failure="CuPy is not installed", remedy="install it")
    found = verdicts(failed)
    assert not found[0].conclusive
    assert exit_code(found) == 2
    assert exit_code(verdicts(Sweep(stage=Stage.CANCELLED))) == 2


def test_a_fabric_that_is_not_ready_is_named() -> None:
    failure = "CUDA does not start: cudaErrorSystemNotReady: system not yet initialized"
    found = verdicts(Sweep(stage=Stage.FAILED, failure=failure))
    assert found[0].id == "fabric"
    assert found[0].now is not None
    assert "nvidia-fabricmanager" in found[0].now.command


def test_a_variable_that_does_the_opposite_is_told(swept: Sweeper) -> None:
    from ladder_backends.model.p2p import ArmResult, Claim, GpuReport, PairResult

    arms = {"push": ArmResult("push", 0, 1, Result.RIGHT)}
    pairs = {(0, 1): PairResult(0, 1, Claim(True), arms), (1, 0): PairResult(1, 0, Claim(True), arms)}
    sweep = Sweep((GpuReport(0), GpuReport(1)), pairs, stage=Stage.DONE)
    facts = {"env.GGML_CUDA_P2P": HostFact("GGML_CUDA_P2P=0", "0", "environment")}
    found = verdicts(sweep, facts)
    assert [verdict.id for verdict in found] == ["right", "environment"]
    assert exit_code(found) == 0
    assert verdicts(sweep, {"env.GGML_CUDA_P2P": replace(facts["env.GGML_CUDA_P2P"], value="1")})[0].id == "right"


def known(**values: object) -> dict[str, HostFact]:
    return {
        name.replace("__", "."): HostFact(f"{name}: {value}", value, "a file") for name, value in values.items()
    }


def pairs_of(result: Result, *, offered: bool = True) -> Sweep:
    from ladder_backends.model.p2p import ArmResult, Claim, GpuReport, PairResult

    keys = ((0, 1), (1, 0))
    pairs = {key: PairResult(*key, Claim(offered), {"push": ArmResult("push", *key, result)}) for key in keys}
    return Sweep((GpuReport(0), GpuReport(1)), pairs, stage=Stage.DONE)


def test_an_old_arm_kernel_that_passes_through_has_no_context() -> None:
    failed = Sweep(stage=Stage.FAILED, failure="CUDA does not start: out of memory")
    arm = known(os__arch="aarch64", os__kernel="6.5.0-1019-nvidia", iommu="identity")
    assert verdicts(failed, arm)[0].id == "no-context-arm"
    for other in (
        known(os__arch="aarch64", os__kernel="6.11.0", iommu="identity"),
        known(os__arch="aarch64", os__kernel="6.5.0", iommu="translated"),
        known(os__arch="x86_64", os__kernel="6.5.0", iommu="identity"),
    ):
        assert verdicts(failed, other)[0].id == "not-run"


def test_several_confidential_gpus_need_a_mode() -> None:
    gone = pairs_of(Result.NOT_TESTED, offered=False)
    assert verdicts(gone, known(cc__state="on"))[0].id == "confidential"
    assert verdicts(gone, known(cc__state="on", cc__multi_gpu="ppcie"))[0].id == "not-offered"
    assert verdicts(gone, known(cc__state="off"))[0].id == "not-offered"
    assert verdicts(pairs_of(Result.RIGHT), known(cc__state="on"))[0].id == "right"


def test_little_shared_memory_is_told_beside_advice_to_use_it() -> None:
    found = verdicts(pairs_of(Result.DROPPED), known(container__shm=64 << 20))
    assert [verdict.id for verdict in found] == ["dropped", "small-shm"]
    assert exit_code(found) == 1
    assert [verdict.id for verdict in verdicts(pairs_of(Result.DROPPED), known(container__shm=1 << 30))] == [
        "dropped"
    ]
