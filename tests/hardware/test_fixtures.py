"""What nvidia-smi shows of known machines is what is shown of the shipped ones that stand for them."""

import re
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.hardware.forms import matrix_lines
from ladder_backends.model.fact import Concern
from ladder_backends.simulator.machine import load, names

BRIDGE = """
\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV4\t0-23\t0\t\tN/A
GPU1\tNV4\t X \t0-23\t0\t\tN/A
"""
TWO_H200 = """
\t\x1b[4mGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m
GPU0\t X \tNV18\t0-31\t0\t\tN/A
GPU1\tNV18\t X \t0-31\t0\t\tN/A
"""
TWO_NODES = """
GPU0\t X \tPXB\tSYS\tSYS\t0-27,56-83\t0\tN/A
GPU1\tPXB\t X \tSYS\tSYS\t0-27,56-83\t0\tN/A
GPU2\tSYS\tSYS\t X \tPIX\t28-55,84-111\t1\tN/A
GPU3\tSYS\tSYS\tPIX\t X \t28-55,84-111\t1\tN/A
"""
STATUS = """
GPU0 X OK TNS TNS
GPU1 OK X CNS CNS
GPU2 TNS CNS X DR
GPU3 TNS CNS DR X
"""


def rows(text: str) -> dict[str, list[str]]:
    """Distances, CPUs and node by GPU, from the output of `nvidia-smi topo -m`."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    lines = [line.split() for line in plain.splitlines() if re.match(r"^GPU\d+\s", line)]
    return {name: rest[: len(lines) + 2] for name, *rest in lines}


@pytest.mark.parametrize(
    ("name", "shown"), [("topo-bridge", BRIDGE), ("recorded-2x-h200-topo", TWO_H200), ("topo-two-nodes", TWO_NODES)]
)
def test_the_matrix_is_that_of_nvidia_smi(read: Any, name: str, shown: str) -> None:
    found = {}
    for line in matrix_lines(read(name)):
        word, *rest = line.split()
        if re.fullmatch(r"GPU\d+", word) and "GPU1" not in rest:
            *cells, node, cpus = rest
            found[word] = [*("X" if cell == "·" else cell for cell in cells), cpus, node]
    assert found == rows(shown)


def test_nics_have_their_columns(read: Any) -> None:
    machine = read("topo-nvswitch-nics")
    assert {pair.distance for pair in machine.pairs} == {"NV18"}
    assert [(nic.label, nic.name) for nic in machine.nics] == [("NIC0", "mlx5_0"), ("NIC1", "mlx5_1")]
    told = [[nic.facts.value(f"to.GPU{number}") for nic in machine.nics] for number in (0, 1, 7)]
    assert told == [["PIX", "SYS"], ["NODE", "SYS"], ["SYS", "PIX"]]
    assert machine.gpus[0].facts.value("cpus.sysfs") == "0-47,96-143"
    assert any("NIC0 mlx5_0" in line for line in matrix_lines(machine))


def test_the_status_of_each_pair(read: Any) -> None:
    machine = read("topo-two-nodes")
    for line in STATUS.split("\n")[1:-1]:
        name, *words = line.split()
        for number, word in enumerate(words):
            if word != "X":
                pair = machine.pair(int(name[3:]), number)
                assert pair.facts.value("claim.read") == word, (name, number)


def test_lines_of_the_kernels_log_are_counted_and_told(read: Any) -> None:
    machine = read("iommu-faults")
    assert machine.host["log.iommu_faults"].value == 1
    assert machine.host["log.iommu_faults"].concern is Concern.WRONG
    assert machine.host["log.xid"].value == 1
    assert "MMU fault" in machine.host["log.xid"].text
    params = machine.host["driver.parameters"]
    assert params.value["RegistryDwords"] == "RMForceStaticBar1=1;PeerMappingOverride=1"
    assert "DmaRemapPeerMmio=1" in params.text


@pytest.mark.parametrize("name", [name for name in names() if name.startswith("recorded-")])
def test_what_was_recorded_says_so_and_names_its_origin(name: str) -> None:
    machine = load(name)
    assert "recorded" in machine.title
    assert machine.raw["origin"]
    text = Path(machine.path).read_text()
    assert not re.search(r"GPU-(?!0{8})[0-9a-f]{8}-", text)


def test_the_recorded_h200_answers_as_it_did(read: Any) -> None:
    machine = read("recorded-h200")
    gpu = machine.gpus[0]
    assert gpu.bdf == "0000:00:06.0"
    assert gpu.facts.value("pcie.generation.max") == 5
    assert gpu.facts.value("numa.sysfs") is None
    assert machine.host.value("vm.hypervisor") is True
    assert machine.host.value("iommu.units") is None
    assert "NVLink is switched off" in machine.host["driver.parameters"].says
    # Calls that were not asked when it was written down are unknown, not made up.
    assert gpu.facts["cpus.node"].value is None
