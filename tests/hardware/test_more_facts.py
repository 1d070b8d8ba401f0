"""Facts beside NVML's first ones: CUDA's numbers, settings in files, daemons, scopes, bit error rates."""

from typing import Any

import pytest

from ladder_backends.hardware.cuda_order import order_facts
from ladder_backends.hardware.forms import machine_lines
from ladder_backends.model.fact import Concern

ALIKE = [("H200", "GPU-aa"), ("H200", "GPU-ab"), ("H200", "GPU-cc")]
MIXED = [("T4", "GPU-aa"), ("H200", "GPU-bb")]
BY_BUS = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


@pytest.mark.parametrize(
    ("gpus", "environment", "numbers"),
    [
        (ALIKE, {}, [0, 1, 2]),
        (ALIKE, {"CUDA_VISIBLE_DEVICES": "2,0"}, [1, "hidden", 0]),
        (ALIKE, {"CUDA_VISIBLE_DEVICES": ""}, ["hidden"] * 3),
        (ALIKE, {"CUDA_VISIBLE_DEVICES": "1,-1,2"}, ["hidden", 0, "hidden"]),
        (ALIKE, {"CUDA_VISIBLE_DEVICES": "1,1"}, ["hidden"] * 3),
        (ALIKE, {"CUDA_VISIBLE_DEVICES": "GPU-c,GPU-ab"}, ["hidden", 1, 0]),
        # Half of a UUID that fits two is none.
        (ALIKE, {"CUDA_VISIBLE_DEVICES": "GPU-a"}, ["hidden"] * 3),
        (ALIKE, {"CUDA_VISIBLE_DEVICES": "9"}, ["hidden"] * 3),
        (MIXED, {}, [None, None]),
        (MIXED, BY_BUS, [0, 1]),
        (MIXED, {**BY_BUS, "CUDA_VISIBLE_DEVICES": "1"}, ["hidden", 0]),
        (MIXED, {"CUDA_VISIBLE_DEVICES": "1"}, [None, None]),
        # By UUID it does not matter which is faster.
        (MIXED, {"CUDA_VISIBLE_DEVICES": "GPU-bb"}, ["hidden", 0]),
    ],
)
def test_cudas_numbers(gpus: Any, environment: dict[str, str], numbers: list[Any]) -> None:
    facts = order_facts(gpus, environment)
    assert [fact.value for fact in facts] == numbers
    assert all(fact.source and (fact.known or fact.why) for fact in facts)
    for index, fact in enumerate(facts):
        assert (fact.concern is Concern.NOTE) == (fact.value is not None and fact.value != index)


def test_a_gpu_with_another_number_in_cuda_is_told(read_text: Any) -> None:
    machine = read_text('driver = "1"\n[[gpu]]\n[[gpu]]\n[[link]]\n[environment]\nCUDA_VISIBLE_DEVICES = "1,0"\n')
    assert [gpu.facts.value("cuda.index") for gpu in machine.gpus] == [1, 0]
    assert any("GPU0" in line and "CUDA 1" in line for line in machine_lines(machine))


FILES = r"""
driver = "1"
[host]
cpu = "Intel"
[[gpu]]
root = "pci0000:00"
[[gpu]]
root = "pci0000:00"
[[link]]
[environment]
HOME = "/home/a"
NCCL_SHM_DISABLE = "0"
[files]
"/home/a/.nccl.conf" = "NCCL_P2P_LEVEL=SYS\nPATH=/evil\n# NCCL_DEBUG=INFO"
"/etc/nccl.conf" = "NCCL_P2P_LEVEL=LOC\nNCCL_SHM_DISABLE=1\nNCCL_NET_TOKEN=x"
"""


def test_nccl_reads_files_too_and_the_environment_wins(read_text: Any) -> None:
    machine = read_text(FILES)
    assert machine.host.value("env.NCCL_P2P_LEVEL") == "SYS"
    assert machine.host["env.NCCL_P2P_LEVEL"].source == "/home/a/.nccl.conf"
    assert machine.host.value("env.NCCL_SHM_DISABLE") == "0"
    assert not [name for name in machine.host if "PATH" in name or "TOKEN" in name or "DEBUG" in name]
    assert "NCCL_P2P_LEVEL=SYS" in machine.pairs[0].facts["nccl"].text


def test_daemons_and_their_ports(read_text: Any) -> None:
    machine = read_text(
        r"""
driver = "1"
[[gpu]]
[files]
"/proc/77/comm" = "nv-fabricmanage"
"/proc/78/comm" = "nvidia-imex"
"/proc/net/tcp" = "  sl  local_address rem_address st\n   0: 0100007F:1A0A 00000000:0000 0A 0"
"/dev/nvidia-caps-imex-channels/channel0" = ""
"""
    )
    assert machine.host.value("fabric.manager") is True
    assert machine.host.value("fabric.port") is True
    assert machine.host.value("imex.daemon") is True
    assert machine.host.value("imex.channels") == ("channel0",)


@pytest.mark.parametrize(
    "line", ["0: 0100007F:1A0B 00000000:0000 0A 0", "0: 0100007F:1A0A 00000000:0000 01 0", "nonsense"]
)
def test_another_port_or_a_connection_is_no_fabric_manager(read_text: Any, line: str) -> None:
    machine = read_text(f'driver = "1"\n[[gpu]]\n[files]\n"/proc/net/tcp" = "head\\n{line}"\n')
    # Not seen is not the same as off: it may be in another namespace.
    assert machine.host.value("fabric.port") is None
    assert machine.host["fabric.port"].why
    assert machine.host.value("imex.channels") is None


def test_cap_sys_nice(read_text: Any) -> None:
    def told(mask: str) -> Any:
        text = f'[[gpu]]\n[files]\n"/proc/self/status" = "Name: x\\nCapEff:\\t{mask}"\n'
        return read_text(text).host["container.sys_nice"]

    assert told("00000000a80425fb").value is False
    assert told("00000000a80425fb").concern is Concern.NOTE
    assert told("000001ffffffffff").value is True
    assert told("words").value is None


def test_bit_error_rates_as_nvidia_smi_writes_them(read_text: Any) -> None:
    machine = read_text('driver = "1"\n[[gpu]]\nname = "B200"\nnvlinks = 1\n[gpu.fields]\n220 = 4094\n222 = 780\n')
    facts = machine.gpus[0].links[0].facts
    assert facts["ber.effective"].text == "15e-254"
    assert facts["ber.symbol"].text == "3e-12"
    assert facts["ber.symbol"].source == "NVML field 222"
    older = read_text('driver = "1"\n[[gpu]]\nnvlinks = 1\n').gpus[0].links[0].facts["ber.symbol"]
    assert older.value is None
    assert older.why


def test_cpus_within_scopes(read_text: Any) -> None:
    machine = read_text('driver = "1"\n[[gpu]]\n[gpu.nvml]\nnvmlDeviceGetCpuAffinityWithinScope = [0, 1, 2, 8]\n')
    assert machine.gpus[0].facts.value("cpus.node") == "0-2,8"
    assert machine.gpus[0].facts["cpus.socket"].source == "nvmlDeviceGetCpuAffinityWithinScope"
