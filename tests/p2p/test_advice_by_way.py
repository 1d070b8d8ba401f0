"""Causes and commands that depend on the way between two GPUs, and on what the machine is like already."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from ladder_backends.model.p2p import Advice, HostFact, Stage, Sweep, Verdict
from ladder_backends.p2p.verdict import verdicts

from .conftest import Swept, machine

Sweeper = Callable[..., Awaitable[Swept]]

DROP = '[[fault]]\nkind = "drop"\n'
DRIVER = 'driver = "570.133.20"\n'
INTEL = 'cpu = "Intel"\nkernel = "6.8.0"\n'
BRIDGES = """GBps = 26.0
nvml = {read = "OK", write = "OK", nvlink = "NS", atomics = "NS", pci = "OK"}
[[link]]
from = [0, 1]
to = [0, 1]
GBps = 48.0
nvml = {read = "OK", write = "OK", nvlink = "OK", atomics = "OK", pci = "OK"}
[[link]]
from = [2, 3]
to = [2, 3]
GBps = 48.0
nvml = {read = "OK", write = "OK", nvlink = "OK", atomics = "OK", pci = "OK"}
"""
ACROSS = DROP + "from = [0, 1]\nto = [2, 3]\n" + DROP + "from = [2, 3]\nto = [0, 1]\n"


def later(verdict: Verdict) -> str:
    return " | ".join(one.command for one in verdict.later)


async def test_nvlinks_that_are_right_stay_in_use(swept: Sweeper) -> None:
    text = machine(4, ACROSS, host=INTEL + 'iommu = "DMA-FQ"', link=BRIDGES, top=DRIVER)
    found = (await swept(text.replace("[[gpu]]", '[[gpu]]\nnvlinks = 4\nremote = "peers"'))).verdicts[0]
    assert found.now is not None
    assert found.now.command == "export NCCL_P2P_LEVEL=NVL"
    assert "4 pairs, right" in found.now.price
    assert "iommu=pt" in later(found)


async def test_one_direction_over_nvlink_is_no_matter_of_ports(swept: Sweeper) -> None:
    link = 'GBps = 394.0\nnvml = {read = "OK", write = "OK", nvlink = "OK", atomics = "OK", pci = "NS"}'
    found = await swept(
        machine(3, DROP + "from = 1\nto = 2\n", host=INTEL + 'iommu = "DMA"', link=link, top=DRIVER)
    )
    first = found.verdicts[0]
    assert first.id == "dropped-nvlink"
    assert "setpci" not in later(first)
    assert "iommu" not in later(first)
    assert "nvlink" in later(first)


async def test_reads_that_fail_are_not_called_writes(swept: Sweeper) -> None:
    found = (await swept(machine(2, DROP + 'via = ["pull", "load"]\n'))).verdicts[0]
    assert found.sentence.startswith("Every P2P read fails")
    assert "writes arrive" in found.sentence


@pytest.mark.parametrize("state", ["identity", "off"])
async def test_passing_through_is_not_advised_where_nothing_translates(swept: Sweeper, state: str) -> None:
    host = f'{INTEL}iommu = "{state}"\n'
    misrouted = '[[fault]]\nkind = "misroute"\nfrom = 0\nto = 1\nlands_on = 2\n'
    for fault in (misrouted, DROP):
        found = (await swept(machine(3, fault, host=host))).verdicts[0]
        assert "iommu" not in later(found), found.id


async def test_a_gpu_into_which_nothing_goes_is_left_out(swept: Sweeper) -> None:
    text = machine(3, DROP + "to = 2\n", host=INTEL, gpu="display = true\nbar1_MiB = 256", top=DRIVER)
    found = (await swept(text)).verdicts[0]
    assert found.id == "one-gpu"
    assert found.now is not None
    assert found.now.command == "export CUDA_VISIBLE_DEVICES=0,1"
    assert "display" in found.likely
    assert any("256 MiB" in fact.text for fact in found.facts)


async def test_a_gpu_that_alone_is_translated_has_no_display(swept: Sweeper) -> None:
    fault = DROP + "to = 2\n" + DROP + "from = 2\n"
    text = machine(3, fault, host=INTEL + 'iommu = "identity"', gpu='domain = "DMA-FQ"', top=DRIVER)
    found = (await swept(text)).verdicts[0]
    assert found.id == "one-gpu"
    assert "translates" in found.likely
    assert "display" not in later(found)


@pytest.mark.parametrize(
    ("gpu", "host", "likely", "advice"),
    [
        ("bar1_MiB = 256", INTEL, "smaller than", "Resizable BAR"),
        ("", INTEL, "covers all memory", "dmesg"),
        ("bar1_MiB = 256", 'guest = true\nvendor = "QEMU"\n', "smaller than", "pass the GPUs through"),
    ],
)
async def test_bar1_is_looked_at_before_it_is_blamed(
    swept: Sweeper, gpu: str, host: str, likely: str, advice: str
) -> None:
    fault = '[[fault]]\nkind = "enable"\ncode = 205\n'
    found = (await swept(machine(2, fault, gpu=gpu, host=host, top=DRIVER))).verdicts[0]
    assert found.id == "bar1"
    assert likely in found.likely
    assert advice in later(found)


async def test_what_is_set_already_is_not_told_as_new(swept: Sweeper) -> None:
    text = machine(2, DROP) + '[environment]\nNCCL_P2P_DISABLE = "1"\nNCCL_SHM_DISABLE = "1"\n'
    found = (await swept(text)).verdicts[0]
    assert found.now is not None
    assert found.now.command == "unset NCCL_SHM_DISABLE; export NCCL_P2P_DISABLE=1"
    assert "set here already" in found.now.price


async def test_memory_behind_a_window_is_all_that_its_fault_strikes(swept: Sweeper) -> None:
    text = machine(2, DROP + "past_GiB = 16\n")
    assert (await swept(text)).verdicts[0].id == "right"
    assert (await swept(text, asked=("far end",))).verdicts[0].id == "window"


async def test_what_is_late_on_every_path_is_late(swept: Sweeper) -> None:
    assert (await swept(machine(2, '[[fault]]\nkind = "late"\n'))).verdicts[0].id == "stale"


async def test_counters_rise_from_nothing(swept: Sweeper) -> None:
    found = await swept(machine(2, gpu="[gpu.rising]\n181 = 3", top=DRIVER))
    assert found.verdicts[0].id == "counters"


async def test_a_gpu_that_hangs_by_itself_is_no_matter_of_p2p(swept: Sweeper) -> None:
    first = (await swept(machine(2, '[[fault]]\nkind = "hang"\nvia = "local"\nto = 1'))).verdicts[0]
    assert first.id == "wedged"
    assert "NCCL_P2P" not in later(first)


@pytest.mark.parametrize(
    ("fault", "sentence", "command"),
    [
        (
            'kind = "corrupt"\nvia = "host"\nto = 2',
            "between GPU2 and the host's memory",
            "ladder-tui p2p --gpus 0,1",
        ),
        ('kind = "hang"\nvia = "staged"', "Copies through the host hang", "sudo dmesg"),
        ('kind = "corrupt"\nvia = "staged"', "Copies through the host are wrong", "sudo dmesg"),
    ],
)
async def test_a_control_that_fails_is_named(swept: Sweeper, fault: str, sentence: str, command: str) -> None:
    first = (await swept(machine(3, "[[fault]]\n" + fault))).verdicts[0]
    assert first.id == "control"
    assert sentence in first.sentence
    assert first.now is not None
    assert first.now.command.startswith(command)


@pytest.mark.parametrize("fault", ['kind = "error"\ncode = 803', 'kind = "hang"'])
async def test_a_start_that_fails_has_something_to_type(swept: Sweeper, fault: str) -> None:
    first = (await swept(machine(2, f'[[fault]]\nvia = "start"\n{fault}'))).verdicts[0]
    assert first.id == "not-run"
    assert first.now is not None
    assert first.now.command.startswith("sudo dmesg")


async def test_a_fall_back_that_hangs_with_enough_memory_needs_no_container(swept: Sweeper) -> None:
    from ladder_backends.p2p.arms import Depth

    text = machine(2, '[[fault]]\nkind = "hang"\nvia = "nccl no p2p"', host="shm_GiB = 64")
    first = (await swept(text, Depth.DEEP)).verdicts[0]
    assert first.id == "fallback"
    assert first.now is not None
    assert "docker" not in first.now.command


async def test_all_variables_that_do_the_opposite_are_told(swept: Sweeper) -> None:
    found = await swept(machine(2, '[environment]\nNCCL_P2P_LEVEL = "LOC"\nGGML_CUDA_P2P = "0"'))
    note = found.verdicts[-1]
    assert note.now is not None
    assert note.now.command == "unset NCCL_P2P_LEVEL GGML_CUDA_P2P"


def test_a_driver_comes_before_a_library() -> None:
    failed = Sweep(stage=Stage.FAILED, failure="CuPy is not installed", remedy="install CuPy")
    why = "libnvidia-ml.so.1 was not found"
    first = verdicts(failed, {"driver.version": HostFact("driver: unknown", None, "NVML", why)})[0]
    assert first.now is not None
    assert "driver" in first.now.command
    assert later(first) == "install CuPy"
    assert verdicts(failed)[0].now == Advice("install CuPy", "", "you")


async def test_an_arm_that_the_machine_does_not_allow_is_told_as_not_tested(swept: Sweeper) -> None:
    from ladder_backends.p2p.arms import Depth

    fault = '[[fault]]\nkind = "error"\ncode = 801\nvia = "fd"'
    untested = (await swept(machine(2, fault), Depth.DEEP)).sweep.untested
    assert any(line.startswith("T11 fd:") for line in untested), untested
