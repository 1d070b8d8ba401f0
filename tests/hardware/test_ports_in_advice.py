"""Advice about ACS names the very ports, where their registers were read, and is not given where it cannot help."""

from typing import Any

from ladder_backends.hardware.pci import Supplied
from ladder_backends.p2p.advice import acs_off
from ladder_backends.p2p.host_facts import host_facts


def test_the_command_has_the_ports_that_redirect(read: Any) -> None:
    advice = acs_off(host_facts(read("pcie-two-nodes")))
    assert advice is not None
    # 0000:c9:01.0 has only source validation, which redirects nothing.
    assert advice.command == "for p in 0000:16:00.0; do sudo setpci -s $p ECAP_ACS+6.w=0000; done"


def test_before_they_are_read_no_port_is_named(read: Any) -> None:
    machine = read("iommu-faults")
    advice = acs_off(host_facts(machine))
    assert advice is not None
    assert "ladder-tui hardware names them" in advice.command
    pasted = read("iommu-faults", Supplied(dict.fromkeys(machine.ports, 0x001D), 1.0))
    told = acs_off(host_facts(pasted))
    assert told is not None
    assert all(bdf in told.command for bdf in machine.ports)


def test_never_in_a_guest_nor_under_snp(read: Any) -> None:
    story = read("story")
    pasted = read("story", Supplied(dict.fromkeys(story.ports, 0x001D), 1.0))
    assert "acs.ports" in host_facts(pasted)
    assert acs_off(host_facts(pasted)) is None
    assert acs_off(host_facts(read("vm-passthrough"))) is None
