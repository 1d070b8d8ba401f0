"""Files that describe no machine are told in a line that says where and what."""

from pathlib import Path
from typing import Any

import pytest

from ladder_backends.session.hardware_ports import hardware_ports
from ladder_backends.simulator.machine import MachineInvalid


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("gpu = 3", "write [[gpu]]"),
        ("host = 3", "write [host]"),
        ('[[gpu]]\nbus = "zz"', "no bus address like 0000:41:00.0"),
        ('[[gpu]]\nunder = "x"', "no bus address"),
        ('[[gpu]]\nunder = "0000:40:01.1"', "there is no such [[port]]"),
        ('[[port]]\nbus = "0000:40:01.1"\nunder = "0000:40:01.1"\n[[gpu]]\nunder = "0000:40:01.1"', "under itself"),
        ("[[gpu]]\nmemory_GiB = inf", "memory_GiB is inf"),
        ("[[gpu]]\n[[gpu]]\n[[link]]\nGBps = nan", "GBps is nan"),
        ("[[gpu]]\n[[link]]\nfrom = 7", "from of [[link]] is 7"),
        ('[[gpu]]\n[[fault]]\nkind = "drop"\nto = [0, 3]', "to of [[fault]] is 3"),
        ('[[gpu]]\nmemory_GiB = "many"', "many"),
        ('[[answer]]\ncall = "x"', "arguments"),
        (
            'recorded = true\n[[gpu]]\n[[answer]]\ncall = "nvmlDeviceGetCount"\narguments = []\nvalue = 9000000',
            "index",
        ),
        ("a = " + "[" * 3000, "nested too deeply"),
        ('title = "a', "Unterminated"),
        ("[[gpu]]\n" * 65, "more than 64 GPUs"),
    ],
)
def test_a_wrong_file(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(text)
    with pytest.raises(MachineInvalid) as caught:
        hardware_ports(str(path)).read()
    assert why in caught.value.line()
    assert "\n" not in caught.value.line()


def test_what_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MachineInvalid, match="no simulated machine"):
        hardware_ports(str(path))


def test_text_of_sysfs_moves_no_cursor(read_text: Any) -> None:
    from ladder_backends.hardware.forms import machine_lines

    machine = read_text(
        r"""
title = "\u001b[2Jgone"
driver = "\u009b31m1"
[[gpu]]
name = "\u001b]0;x\u0007 \u202eevil"
bus = "0000:01:00.0"
[[nic]]
name = "mlx\u001b[1m"
bus = "0000:02:00.0"
[host]
log = "NVRM: Xid (PCI:0000:01:00): 79, \u001b[5mblink"
[environment]
NCCL_X = "\u001b[7m"
[files]
"/proc/cmdline" = "a\u001b[31m\u202eb"
"/sys/class/dmi/id/product_name" = "\u001b[0m\u0000"
"/sys/bus/pci/devices/0000:01:00.0/numa_node" = "999999999999999999999999"
"/sys/bus/pci/devices/0000:01:00.0/aer_dev_fatal" = "A 1\nTOTAL_ERR_FATAL x\nB"
"/sys/bus/pci/devices/0000:01:00.0/resource" = "nonsense"
"/etc/nccl.conf" = "NCCL_DEBUG=\u001b[1m"
"""
    )
    lines = list(machine_lines(machine, everything=True))
    assert not [line for line in lines if any(one in line for one in "\x1b\x9b\x07\u202e\x00")]
    assert machine.gpus[0].facts["aer.fatal"].value is None
    assert machine.gpus[0].facts["aer.fatal"].why


def test_a_file_below_a_link_is_the_file_that_the_link_leads_to(read_text: Any) -> None:
    machine = read_text(
        """
driver = "1"
[[gpu]]
bus = "0000:06:10.0"
[host]
guest = true
[files]
"/sys/bus/pci/devices/0000:06:10.0/numa_node" = "1"
"/sys/bus/pci/devices/0000:06:10.0/current_link_speed" = "Unknown"
"/sys/bus/pci/devices/0000:06:10.0/max_link_width" = {denied = true}
"/sys/kernel/iommu_groups/7/type" = "DMA"
[symlinks]
"/sys/bus/pci/devices/0000:06:10.0/iommu_group" = "/sys/kernel/iommu_groups/7"
"""
    )
    facts = machine.gpus[0].facts
    assert facts.value("numa.sysfs") == 1
    assert facts["link.speed"].value is None
    assert "Unknown" in facts["link.speed"].why
    assert facts["link.width.max"].why == "unread: needs root"
    assert facts.value("iommu.type") == "DMA"
