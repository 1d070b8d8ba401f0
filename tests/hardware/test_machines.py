"""Whole machines, read through the same ports as a real one."""

from typing import Any

import pytest

from ladder_backends.model.fact import Concern
from ladder_backends.simulator.machine import names


@pytest.mark.parametrize("name", names())
def test_every_shipped_machine_reads(name: str, read: Any) -> None:
    machine = read(name)
    assert machine.simulated
    for group, title, facts in machine.groups():
        assert group
        assert title
        for fact in facts.values():
            # Each fact has a source; one without a value has a reason.
            assert fact.source, (group, fact.name)
            assert fact.known or fact.why, (group, fact.name)
            assert not (fact.known and fact.why), (group, fact.name)


def test_an_nvswitch_machine_joins_all_pairs_by_18_links(read: Any) -> None:
    machine = read("healthy-8x-h200")
    assert len(machine.gpus) == 8
    assert {pair.distance for pair in machine.pairs} == {"NV18"}
    assert len(machine.pairs) == 28
    assert {pair.facts.value("nccl") for pair in machine.pairs} == {"P2P over NVLink"}
    assert not [fact for _, fact in machine.concerns() if fact.concern is Concern.WRONG]


def test_the_kinds_of_distance_on_two_nodes(read: Any) -> None:
    machine = read("pcie-two-nodes")
    told = {(pair.a, pair.b): pair.distance for pair in machine.pairs}
    assert told == {(0, 1): "PXB", (0, 2): "SYS", (0, 3): "SYS", (1, 2): "SYS", (1, 3): "SYS", (2, 3): "PIX"}
    assert [gpu.facts.value("numa.sysfs") for gpu in machine.gpus] == [0, 0, 1, 1]


def test_without_nvml_the_tree_tells_the_distance(read_text: Any) -> None:
    from ladder_backends.simulator.machine import SCENARIOS

    machine = read_text((SCENARIOS / "pcie-two-nodes.toml").read_text() + "\n[nvml]\nfails = 12\n")
    told = {(pair.a, pair.b): pair.distance for pair in machine.pairs}
    assert told == {(0, 1): "PXB", (0, 2): "SYS", (0, 3): "SYS", (1, 2): "SYS", (1, 3): "SYS", (2, 3): "PIX"}
    assert machine.pair(2, 3).facts["distance"].source == "sysfs"


def test_every_port_of_a_way_is_named_in_order(read: Any) -> None:
    machine = read("pcie-two-nodes")
    pair = machine.pair(1, 0)
    assert pair.ancestor == "0000:15:00.0"
    assert pair.ports == (
        "0000:16:00.0", "0000:15:00.0", "0000:1a:00.0", "0000:1a:10.0", "0000:1b:00.0",
    )  # fmt: skip
    far = machine.pair(0, 3)
    assert far.ancestor == "pci0000:14 | pci0000:c7"
    assert far.ports[0] == "0000:16:00.0"
    assert far.ports[-1] == "0000:c9:01.0"


def test_the_narrowest_link_of_a_way_is_found_at_its_port(read: Any) -> None:
    machine = read("pcie-two-nodes")
    assert machine.pair(0, 1).facts.value("pcie.narrowest") == {"GBps": 15.8, "at": "0000:1b:00.0"}
    assert machine.pair(2, 3).facts.value("pcie.narrowest")["GBps"] == 31.5


def test_acs_redirects_where_rr_cr_or_uf_is_set_and_source_validation_alone_does_not(read: Any) -> None:
    machine = read("pcie-two-nodes")
    assert machine.pair(0, 1).facts.value("acs.redirect") is True
    assert machine.ports["0000:c9:01.0"].facts.value("acs.control") == 0x0001
    assert machine.pair(2, 3).facts.value("acs.redirect") is False


def test_claims_that_differ_by_order_are_told(read: Any) -> None:
    fact = read("pcie-two-nodes").pair(1, 2).facts["claim.read"]
    assert fact.value == "CNS / TNS"
    assert fact.concern is Concern.WRONG
    assert "GPU1→GPU2 CNS" in fact.text


def test_options_that_do_nothing_are_flagged(read: Any) -> None:
    fact = read("pcie-two-nodes").host["cmdline.iommu"]
    assert fact.value == ("intel_iommu=on", "iommu=pt", "amd_iommu=on")
    assert "amd_iommu=on does nothing" in fact.says


def test_a_guest_knows_nothing_of_the_hosts_iommu(read: Any) -> None:
    machine = read("vm-passthrough")
    units = machine.host["iommu.units"]
    assert units.value is None
    assert "host" in units.why
    assert machine.host["vm.hypervisor"].value is True
    assert machine.gpus[0].facts["numa.sysfs"].value is None
    assert machine.gpus[0].facts["link.speed"].value is None
    assert "Unknown" in machine.gpus[0].facts["link.speed"].why
    pair = machine.pairs[0]
    assert pair.distance == "PHB"
    assert "guest" in pair.facts["distance"].says
    assert pair.facts["acs.redirect"].value is None


def test_an_iommu_that_is_off_is_told_apart_from_one_that_is_not_seen(read_text: Any) -> None:
    off = read_text('driver = "1.0"\n[host]\ncpu = "AMD"\niommu = "off"\n[[gpu]]\n')
    unseen = read_text('driver = "1.0"\n[host]\ncpu = "AMD"\n[[gpu]]\n')
    assert off.host["iommu.units"].value == ()
    assert unseen.host["iommu.units"].value is None
    # Where it is not known whether this is a guest, an empty folder says nothing either.
    anywhere = read_text('driver = "1.0"\n[host]\niommu = "off"\n[[gpu]]\n')
    assert anywhere.host["iommu.units"].value is None


def test_acs_is_unread_without_root_and_the_command_is_given(read: Any) -> None:
    machine = read("story")
    port = machine.ports["0000:40:01.1"].facts["acs.control"]
    assert port.value is None
    assert port.why == "unread: needs root"
    assert "setpci -s $p ECAP_ACS+6.w" in port.remedy
    assert machine.pairs[0].facts["acs.redirect"].value is None


def test_what_root_pastes_is_taken_and_its_source_told(read: Any) -> None:
    from ladder_backends.hardware.acs import pasted
    from ladder_backends.hardware.pci import Supplied

    text = "0000:40:01.1 001d\n0000:80:01.1 0000\n0000:a0:01.1 0001\n0000:c0:01.1 0000\n"
    machine = read("story", Supplied(pasted(text), 1_700_000_000.0))
    fact = machine.ports["0000:40:01.1"].facts["acs.control"]
    assert (fact.value, fact.shown) == (0x1D, "0x001d (SV RR CR UF)")
    assert fact.source.startswith("supplied by the user at 2023-11-1")
    assert machine.pair(0, 1).facts.value("acs.redirect") is True
    assert machine.pair(1, 2).facts.value("acs.redirect") is False


def test_a_gpu_in_mig_mode_tells_its_devices_and_no_links(read: Any) -> None:
    machine = read("mig")
    facts = machine.gpus[0].facts
    assert facts.value("mig.mode") is True
    assert len(facts.value("mig.devices")) == 2
    assert machine.gpus[0].links == ()
    assert machine.gpus[1].active_links == 18
    assert not machine.pairs[0].distance.startswith("NV")


def test_older_drivers_tell_errors_of_links_by_another_call(read_text: Any) -> None:
    machine = read_text(
        'driver = "1"\n[[gpu]]\nnvlinks = 2\n[gpu.nvml]\nnvmlDeviceGetNvLinkErrorCounter = 6\n'
        "[gpu.fields]\n161 = {error = 3}\n"
    )
    fact = machine.gpus[0].links[0].facts["error.replays"]
    assert (fact.value, fact.source) == (6, "nvmlDeviceGetNvLinkErrorCounter")
    assert machine.gpus[0].links[0].facts["error.recoveries"].source == "NVML field 162"


def test_a_gpu_that_wants_replacing(read_text: Any) -> None:
    machine = read_text(
        'driver = "1"\n[[gpu]]\n[gpu.nvml]\nnvmlDeviceGetRepairStatus = [0, 1]\n'
        "nvmlDeviceGetRowRemapperHistogram = {max = 600, high = 30, partial = 2, low = 0, none = 1}\n"
        "nvmlDeviceGetSramEccErrorStatus = {aggregateUncParity = 2, bThresholdExceeded = 1}\n"
    )
    wrong = {fact.name for _, fact in machine.concerns() if fact.concern is Concern.WRONG}
    assert wrong == {"sram", "repair"}
    assert "1 banks have no spare row" in machine.gpus[0].facts["rows.spare"].says


def test_links_whose_state_is_not_told_are_unknown_and_not_down(read_text: Any) -> None:
    machine = read_text(
        'driver = "1"\n[[gpu]]\nnvlinks = 18\n[gpu.nvml]\nnvmlDeviceGetNvLinkState = {error = 3}\n'
        '[[gpu]]\nnvlinks = 18\n[[link]]\nnvml = "OK"\n'
    )
    assert not machine.gpus[0].links_known
    assert "?" in machine.gpus[0].links_text
    assert machine.pairs[0].facts["nvlinks"].value is None
    assert "GPU0" in machine.pairs[0].facts["nvlinks"].why
    assert not [fact for _, fact in machine.concerns() if fact.concern is Concern.WRONG]


def test_links_that_read_as_down_in_mig_mode_are_not_called_broken(read_text: Any) -> None:
    machine = read_text(
        'driver = "1"\n[[gpu]]\nmig = true\n[gpu.nvml]\nnvmlDeviceGetNvLinkState = 0\n[gpu.fields]\n91 = 18\n'
    )
    assert len(machine.gpus[0].links) == 18
    assert not machine.gpus[0].links_known
    assert not [fact for _, fact in machine.concerns() if fact.concern is Concern.WRONG]


def test_a_fabric_that_was_not_started_is_wrong(read: Any) -> None:
    fact = read("fabric-down").gpus[0].facts["fabric.state"]
    assert fact.value == "not started"
    assert fact.concern is Concern.WRONG


def test_what_wants_service_is_told(read: Any) -> None:
    machine = read("worn")
    wrong = {fact.name for _, fact in machine.concerns() if fact.concern is Concern.WRONG}
    assert {"rows", "recovery", "state", "error.malformed", "pcie.width", "log.xid", "log.iommu_faults"} <= wrong
    # Corrected errors, and replays of a link, are part of its life.
    assert "log.aer" not in wrong
    assert "error.crc" not in wrong
    assert machine.gpus[0].facts["recovery"].value == "drain P2P"
    assert machine.pairs[0].distance == "NV16"
    assert machine.gpus[0].facts["pcie.unsupported"].value == 7


def test_without_a_driver_the_devices_are_told_and_what_to_do(read: Any) -> None:
    machine = read("no-driver")
    assert "driver is not loaded" in machine.unread
    assert "modprobe" in machine.remedy
    assert [gpu.bdf for gpu in machine.gpus] == ["0000:01:00.0", "0000:02:00.0"]
    assert machine.gpus[0].facts["iommu.type"].value == "DMA-FQ"
    assert machine.gpus[0].facts["memory"].value is None
    assert "driver" in machine.gpus[0].facts["memory"].why
    assert machine.pairs[0].facts["nccl"].value is None


def test_a_machine_without_anything(read_text: Any) -> None:
    machine = read_text('title = "nothing"\n')
    assert machine.unread
    assert machine.gpus == ()


def test_gpus_are_numbered_by_bus_address_as_nvml_does(read_text: Any) -> None:
    machine = read_text(
        'driver = "1"\n[[gpu]]\nbus = "0000:81:00.0"\nname = "far"\n[[gpu]]\nbus = "0000:01:00.0"\n'
    )
    assert [gpu.bdf for gpu in machine.gpus] == ["0000:01:00.0", "0000:81:00.0"]
    assert machine.gpus[1].name == "far"


def test_text_of_a_machine_cannot_steer_the_terminal(read_text: Any) -> None:
    machine = read_text(
        'driver = "1"\n[[gpu]]\nname = "x\\u001b[31my"\n[files]\n"/proc/cmdline" = "a\\u001b]0;b\\u0007 iommu=pt"\n'
    )
    told = [fact.text for _, _, facts in machine.groups() for fact in facts.values()] + [machine.gpus[0].name]
    assert not any("\x1b" in text or "\x07" in text for text in told)


def test_links_of_a_bridge_are_counted_by_the_gpu_at_their_other_end(read_text: Any) -> None:
    machine = read_text(
        'driver = "1"\n[[gpu]]\nnvlinks = 4\nremote = "peers"\n[[gpu]]\nnvlinks = 4\nremote = "peers"\n[[gpu]]\n'
        '[[link]]\nfrom = 0\nto = 1\nboth_ways = true\nnvml = {read="OK", write="OK", nvlink="OK"}\n'
    )
    assert machine.pair(0, 1).distance == "NV4"
    assert not machine.pair(0, 2).distance.startswith("NV")
    assert machine.gpus[0].links[0].peer == machine.gpus[1].bdf
