"""Small files and logs: what they say, and what they do not."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.hardware import containers, driver, kernel_log, pci
from ladder_backends.hardware.gpus import nvml_address
from ladder_backends.hardware.reader import Reader, binary, ranges
from ladder_backends.hardware.real_files import RealFiles
from ladder_backends.model.fact import Concern, Fact, Facts

LOG = """\
nvidia 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021 address=0x20061000000 flags=0x0020]
DMAR: [DMA Write NO_PASID] Request device [16:00.0] fault addr 0x208000000000 [fault reason 0x71] SM: Present bit
NVRM: Xid (PCI:0000:41:00): 31, pid=4242, name=python3, Ch 00000008, intr 00000000. MMU Fault
AMD-Vi: SNP: IOMMU disabled or configured in passthrough mode, SNP cannot be supported.
iommu: Default domain type: Translated
"""


class Tree:
    """A folder that stands for the root."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = RealFiles(str(folder))

    def put(self, path: str, text: str) -> None:
        where = self.folder / path.lstrip("/")
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text)


class NoNvml:
    """Never asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


@pytest.fixture
def reader(tree: Tree) -> Reader:
    return Reader(tree.files, NoNvml())


def facts_of(log: str) -> Facts:
    return Facts(kernel_log.log_facts(Reader(RealFiles(), NoNvml()), log, "pasted"))


def test_lines_of_a_kernel_log() -> None:
    facts = facts_of(LOG)
    assert facts.value("log.iommu_faults") == 2
    assert facts["log.xid"].text == "31 (MMU fault) on 0000:41:00"
    # A program's own fault does not speak against the machine; lost writes do.
    assert facts["log.xid"].concern is Concern.NOTE
    assert facts["log.iommu_faults"].concern is Concern.WRONG
    assert facts.value("log.iommu.default") == "Translated"
    assert "cannot be supported" in facts.value("log.snp")


def test_a_link_error_of_a_gpu_speaks_against_the_machine() -> None:
    assert facts_of("NVRM: Xid (PCI:0000:41:00): 74, NVLink")["log.xid"].concern is Concern.WRONG


def test_a_log_that_says_nothing_is_clean_and_one_that_is_empty_is_unread() -> None:
    assert facts_of("usb 1-1: new device").value("log.xid") == 0
    assert facts_of("").value("log.xid") is None
    assert "not mean clean" in facts_of("")["log.xid"].why


def test_a_log_without_permission_is_unread_and_the_command_is_told(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> str:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(reader.files, "kernel_log", refuse)
    facts = Facts(kernel_log.log_facts(reader))
    assert facts.value("log.xid") is None
    assert "sudo dmesg" in facts["log.xid"].remedy
    assert facts.value("log.readable") is False


def test_what_looks_like_a_log() -> None:
    assert kernel_log.looks_like_log(LOG)
    assert kernel_log.looks_like_log("[    0.000000] Linux version 6.8")
    assert not kernel_log.looks_like_log("0000:40:01.1 001d\n")


@pytest.mark.parametrize(
    ("text", "value"),
    [("16.0 GT/s PCIe", 16.0), ("2.5 GT/s PCIe", 2.5), ("32 GT/s", 32.0), ("Unknown", None), ("", None)],
)
def test_speeds(reader: Reader, tree: Tree, text: str, value: float | None) -> None:
    tree.put(f"{pci.DEVICES}/0000:41:00.0/current_link_speed", text)
    assert Facts(pci.link_facts(reader, "0000:41:00.0")).value("link.speed") == value


@pytest.mark.parametrize(("text", "value"), [("16", 16), ("0", None), ("255", None), ("x", None)])
def test_widths(reader: Reader, tree: Tree, text: str, value: int | None) -> None:
    tree.put(f"{pci.DEVICES}/0000:41:00.0/current_link_width", text)
    assert Facts(pci.link_facts(reader, "0000:41:00.0")).value("link.width") == value


def test_node_minus_one_is_unknown(reader: Reader, tree: Tree) -> None:
    tree.put(f"{pci.DEVICES}/0000:41:00.0/numa_node", "-1\n")
    fact = Facts(pci.numa_facts(reader, "0000:41:00.0"))["numa.sysfs"]
    assert fact.value is None
    assert fact.why


def test_aer_totals() -> None:
    assert pci.aer_total("RxErr 3\nBadTLP 0\nTOTAL_ERR_COR 3\n") == 3
    assert pci.aer_total("Undefined 0\nDLP 2\nSDES 1\n") == 3


def test_bar1_is_the_second_line(reader: Reader, tree: Tree) -> None:
    tree.put(
        f"{pci.DEVICES}/0000:41:00.0/resource",
        "0x00000000a0000000 0x00000000a3ffffff 0x0000000000040200\n"
        "0x0000020000000000 0x0000021fffffffff 0x000000000014220c\n",
    )
    value = Facts(pci.window_facts(reader, "0000:41:00.0")).value("bar1.window")
    assert value == {"start": "0x20000000000", "size": 1 << 37}


def test_the_window_of_a_port_and_the_sizes_of_bar1(reader: Reader, tree: Tree) -> None:
    none = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
    tree.put(
        f"{pci.DEVICES}/0000:40:01.1/resource",
        none * 13
        + "0x0000000000003000 0x0000ffffffffffff 0x0000000000000101\n"
        + "0x00000000a0000000 0x00000000a3ffffff 0x0000000000000200\n"
        + "0x0000020000000000 0x0000022001ffffff 0x0000000000102201\n"
        + none,
    )
    assert pci.bridge_fact(reader, "0000:40:01.1").value == {"start": "0x20000000000", "size": 0x2002000000}
    tree.put(f"{pci.DEVICES}/0000:41:00.0/resource1_resize", "0000000000000500\n")
    assert pci.resize_fact(reader, "0000:41:00.0").text == "256 MiB, 1 GiB"
    assert pci.resize_fact(reader, "0000:42:00.0").value is None


def test_parameters_of_the_driver(reader: Reader, tree: Tree) -> None:
    tree.put(
        driver.PARAMETERS, 'EnableResizableBar: 0\nNvLinkDisable: 1\nRegistryDwords: "RMForceStaticBar1=1;x=2"\n'
    )
    fact = Facts([driver._parameters(reader)])["driver.parameters"]
    assert fact.value["RegistryDwords"] == "RMForceStaticBar1=1;x=2"
    assert "NvLinkDisable=1" in fact.text
    assert "EnableResizableBar" not in fact.text
    assert "NVLink is switched off" in fact.says


@pytest.mark.parametrize(
    ("line", "version", "flavour"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.127.05  Tue Oct  8", "550.127.05", "proprietary"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release", "580.65.06", "open"),
    ],
)
def test_flavours(reader: Reader, tree: Tree, line: str, version: str, flavour: str) -> None:
    tree.put(driver.VERSION, line + "\nGCC version:\n")
    reader.closed = "no NVML"
    facts = Facts(driver.driver_facts(reader))
    assert facts.value("driver.kernel") == version
    assert facts.value("driver.flavour") == flavour


def test_a_module_of_another_version_than_the_library_is_wrong(read_text: Any) -> None:
    machine = read_text(
        'driver = "580.1"\n[[gpu]]\n[files]\n'
        '"/proc/driver/nvidia/version" = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.2  x"\n'
    )
    assert machine.host["driver.kernel"].concern is Concern.WRONG


def test_variables_that_do_the_opposite_of_what_is_meant(read_text: Any) -> None:
    machine = read_text(
        'driver="1"\n[[gpu]]\n[environment]\nGGML_CUDA_P2P = "0"\nNCCL_P2P_LEVEL = "LOC"\nHOME = "/x"\n'
    )
    assert "unset it" in machine.host["env.GGML_CUDA_P2P"].says
    assert "unset it" in machine.host["env.NCCL_P2P_LEVEL"].says
    assert "env.HOME" not in machine.host


def test_locked_memory(reader: Reader, tree: Tree) -> None:
    tree.put(
        "/proc/self/limits", "Limit  Soft  Hard\nMax locked memory         65536                unlimited  bytes\n"
    )
    facts = Facts(containers.container_facts(reader))
    assert facts.value("container.memlock") == 65536
    assert facts["container.memlock"].concern is Concern.NOTE


def test_files_that_cannot_be_read_say_so(tree: Tree, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(reader.files, "read", refuse)
    fact = reader.file("a", "A", "/proc/secret", remedy="sudo cat /proc/secret")
    assert (fact.value, fact.why, fact.remedy) == (None, "unread: needs root", "sudo cat /proc/secret")


def test_real_files_are_bounded_and_never_wait_for_a_pipe(tree: Tree) -> None:
    tree.put("/a", "x" * 100)
    assert tree.files.read_bytes("/a", 10) == b"x" * 10
    os.mkfifo(tree.folder / "pipe")
    assert tree.files.read("/pipe") == ""


def test_addresses_of_nvml() -> None:
    assert nvml_address("00000000:41:00.0") == "0000:41:00.0"
    assert nvml_address("0001A000:C1:00.0") == "1a000:c1:00.0"


def test_numbers_for_people() -> None:
    assert binary(141 << 30) == "141 GiB"
    assert binary(64 << 20) == "64 MiB"
    assert binary(1_500) == "1.5 KiB"
    assert ranges((0, 1, 2, 8, 10, 11)) == "0-2,8,10-11"
    assert ranges(()) == ""


def test_a_fact_that_was_never_read_is_unknown() -> None:
    facts = Facts([Fact("a", "A", False)])
    assert facts.value("a") is False
    assert facts["a"].text == "no"
    assert facts["b"].value is None
    assert facts["b"].text.startswith("?")
    assert "b" not in facts
