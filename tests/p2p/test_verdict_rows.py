"""Every row of the table of verdicts: a machine that brings it about, and one that nearly does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from ladder_backends.model.p2p import HostFact, Result, Stage, Sweep
from ladder_backends.p2p.arms import Depth
from ladder_backends.p2p.verdict import exit_code, verdicts

from .conftest import Swept, machine

Sweeper = Callable[..., Awaitable[Swept]]

DROP = '[[fault]]\nkind = "drop"\n'
BARE = 'kernel = "6.8.0"\ncpu = "AMD"\n'
TRANSLATED = BARE + 'cmdline = "quiet"\niommu = "DMA-FQ"\n'
ROOT = TRANSLATED + "root = true\n"
GUEST = 'kernel = "6.8.0"\ncpu = "AMD"\nguest = true\nvendor = "QEMU"\nproduct = "Standard PC (Q35 + ICH9, 2009)"\n'


def ports(acs: int) -> str:
    return "".join(f'[[port]]\nbus = "0000:{0x40 + 0x10 * n:02x}:01.1"\nacs = {acs}\n' for n in range(2))


ROWS = {
    "right": (machine(), Depth.QUICK, "right", "dropped"),
    "dropped, nothing known": (
        machine(2, DROP, host=BARE + 'iommu = "off"'),
        Depth.QUICK,
        "dropped",
        "dropped-acs",
    ),
    "dropped, ACS on": (machine(2, DROP, ports(0x1D), host=ROOT), Depth.QUICK, "dropped-acs", "dropped-iommu"),
    "dropped, ACS off": (machine(2, DROP, ports(0), host=ROOT), Depth.QUICK, "dropped-iommu", "dropped-acs"),
    "dropped, source validation alone": (
        machine(2, DROP, ports(0x01), host=ROOT),
        Depth.QUICK,
        "dropped-iommu",
        "dropped-acs",
    ),
    "dropped, ACS unread": (machine(2, DROP, host=TRANSLATED), Depth.QUICK, "dropped-iommu", "dropped-acs"),
    "dropped, SNP host": (
        machine(2, DROP, host=TRANSLATED + "snp_host = true"),
        Depth.QUICK,
        "dropped-snp",
        "dropped-iommu",
    ),
    "dropped in a guest": (machine(2, DROP, host=GUEST), Depth.QUICK, "dropped-guest", "dropped"),
    "one direction": (
        machine(3, '[[fault]]\nkind = "drop"\nfrom = 2\nto = 1'),
        Depth.QUICK,
        "one-direction",
        "dropped",
    ),
    "both directions of one pair": (
        machine(3, '[[fault]]\nkind = "drop"\nfrom = [1, 2]\nto = [1, 2]', host=BARE),
        Depth.QUICK,
        "dropped",
        "one-direction",
    ),
    "one GPU's pairs": (
        machine(3, '[[fault]]\nkind = "drop"\nfrom = 2', '[[fault]]\nkind = "drop"\nto = 2'),
        Depth.QUICK,
        "one-gpu",
        "dropped",
    ),
    "mirror in a guest": (machine(2, '[[fault]]\nkind = "mirror"', host=GUEST), Depth.QUICK, "mirror", "dropped"),
    "misrouted": (
        machine(3, '[[fault]]\nkind = "misroute"\nfrom = 0\nto = 1\nlands_on = 2'),
        Depth.QUICK,
        "misrouted",
        "dropped",
    ),
    "stale": (machine(2, '[[fault]]\nkind = "stale"'), Depth.QUICK, "stale", "dropped"),
    "late": (machine(2, '[[fault]]\nkind = "late"\nvia = "push"'), Depth.QUICK, "stale", "dropped"),
    "a part": (
        machine(2, '[[fault]]\nkind = "partial"\nstart = 4194304'),
        Depth.QUICK,
        "window",
        "corrupt",
    ),
    "above 2 MiB alone": (
        machine(2, '[[fault]]\nkind = "drop"\nvia = "push"\nabove = 16777216'),
        Depth.DEEP,
        "dropped",
        "right",
    ),
    "changed words": (machine(2, '[[fault]]\nkind = "corrupt"'), Depth.QUICK, "corrupt", "window"),
    "hang": (
        machine(2, '[[fault]]\nkind = "hang"\nvia = "store"\nfrom = 0'),
        Depth.QUICK,
        "hang",
        "wedged",
    ),
    "wedged": (
        machine(3, '[[fault]]\nkind = "hang"\nvia = "store"\nfrom = 0\nto = 1\nwedges = true'),
        Depth.QUICK,
        "wedged",
        "hang",
    ),
    "bad memory": (
        machine(2, '[[fault]]\nkind = "corrupt"\nvia = "local"\nto = 1'),
        Depth.QUICK,
        "memory",
        "control",
    ),
    "bad control": (
        machine(2, '[[fault]]\nkind = "corrupt"\nvia = "staged"', DROP),
        Depth.QUICK,
        "control",
        "dropped",
    ),
    "cannot map": (machine(2, '[[fault]]\nkind = "enable"\ncode = 205'), Depth.QUICK, "bar1", "error"),
    "another error": (
        machine(2, '[[fault]]\nkind = "error"\ncode = 719\nvia = "store"'),
        Depth.QUICK,
        "error",
        "bar1",
    ),
    "handshake": (
        machine(2, '[[fault]]\nkind = "signal"\nvia = ["handshake", "nccl"]'),
        Depth.DEEP,
        "resident",
        "hang",
    ),
    "sums of NCCL over P2P": (machine(2, '[[fault]]\nkind = "sums"\nvia = "nccl"'), Depth.DEEP, "resident", "ipc"),
    "sums of NCCL, SHM too": (
        machine(2, '[[fault]]\nkind = "sums"\nvia = ["nccl", "nccl no p2p"]'),
        Depth.DEEP,
        "shared-memory",
        "resident",
    ),
    "sums of NCCL everywhere": (
        machine(2, '[[fault]]\nkind = "sums"\nvia = ["nccl", "nccl no p2p", "nccl sockets"]'),
        Depth.DEEP,
        "not-transport",
        "shared-memory",
    ),
    "IPC alone": (machine(2, DROP + 'via = "ipc"'), Depth.DEEP, "ipc", "resident"),
    "fall back": (machine(2, '[[fault]]\nkind = "corrupt"\nvia = "shm"'), Depth.DEEP, "fallback", "right"),
    "together": (machine(3, '[[fault]]\nkind = "corrupt"\nconcurrent = true'), Depth.DEEP, "concurrent", "corrupt"),
    "atomics": (
        machine(2, '[[fault]]\nkind = "atomics"\nvia = "atomics"', link='nvml = {read = "OK", atomics = "OK"}'),
        Depth.DEEP,
        "atomics",
        "right",
    ),
    "atomics not offered": (
        machine(2, '[[fault]]\nkind = "atomics"\nvia = "atomics"', link='nvml = {read = "OK", atomics = "NS"}'),
        Depth.DEEP,
        "right",
        "atomics",
    ),
    "below the host": (
        machine(2, '[[fault]]\nkind = "slow"\nfactor = 0.5'),
        Depth.QUICK,
        "slow-below-staged",
        "slow",
    ),
    "one slow direction": (
        machine(2, '[[fault]]\nkind = "slow"\nfrom = 0\nfactor = 0.8', link="GBps = 50.0"),
        Depth.QUICK,
        "slow",
        "slow-below-staged",
    ),
    "nearly slow": (
        machine(2, '[[fault]]\nkind = "slow"\nfrom = 0\nfactor = 0.9', link="GBps = 50.0"),
        Depth.QUICK,
        "right",
        "slow",
    ),
    "not offered": (
        machine(2, link='claimed = false\nnvml = "CNS"', host=GUEST),
        Depth.QUICK,
        "not-offered",
        "dropped-guest",
    ),
    "offered one way": (
        machine(2, "[[link]]\nfrom = 1\nto = 0\nclaimed = false"),
        Depth.QUICK,
        "asymmetric",
        "not-offered",
    ),
    "one GPU": (machine(1), Depth.QUICK, "one-gpu-right", "nothing"),
}


@pytest.mark.parametrize("name", ROWS)
async def test_a_machine_brings_its_row_about_and_not_the_next(name: str, swept: Sweeper) -> None:
    text, depth, expected, near = ROWS[name]
    found = await swept(text, depth)
    ids = [verdict.id for verdict in found.verdicts]
    assert ids[0] == expected, (ids, found.verdicts[0].facts)
    assert near not in ids


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
