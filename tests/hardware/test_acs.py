"""ACS control: in configuration spaces, and in what root prints."""

import pytest

from ladder_backends.hardware import acs


def space(*capabilities: tuple[int, int, bytes]) -> bytes:
    """A configuration space with extended capabilities at offsets."""
    raw = bytearray(4096)
    for number, (offset, kind, body) in enumerate(capabilities):
        following = capabilities[number + 1][0] if number + 1 < len(capabilities) else 0
        raw[offset : offset + 4] = (kind | 1 << 16 | following << 20).to_bytes(4, "little")
        raw[offset + 4 : offset + 4 + len(body)] = body
    return bytes(raw)


ACS_BODY = bytes([0x5F, 0, 0x1D, 0])


def test_the_control_register_behind_other_capabilities() -> None:
    assert acs.control(space((0x100, 1, b""), (0x148, 3, b""), (0x2A0, 0x0D, ACS_BODY))) == 0x1D


def test_a_function_without_it_redirects_nothing() -> None:
    with pytest.raises(acs.NoAcs):
        acs.control(space((0x100, 1, b"")))


@pytest.mark.parametrize("length", [0, 64, 256])
def test_a_space_that_is_cut_short_is_unread_not_off(length: int) -> None:
    with pytest.raises(PermissionError):
        acs.control(space((0x100, 0x0D, ACS_BODY))[:length])


def test_a_chain_that_leads_in_circles_ends() -> None:
    raw = bytearray(4096)
    raw[0x100:0x104] = (1 | 0x200 << 20).to_bytes(4, "little")
    raw[0x200:0x204] = (1 | 0x100 << 20).to_bytes(4, "little")
    with pytest.raises(acs.NoAcs):
        acs.control(bytes(raw))


@pytest.mark.parametrize(
    ("value", "letters", "redirects"),
    [(0, "none", False), (1, "SV", False), (0x1D, "SV RR CR UF", True), (4, "RR", True), (0x40, "DT", False)],
)
def test_bits(value: int, letters: str, redirects: bool) -> None:
    assert acs.bits(value) == letters
    assert acs.redirects(value) is redirects


LSPCI = """\
40:01.1 PCI bridge: Advanced Micro Devices, Inc. [AMD] Starship/Matisse GPP Bridge (prog-if 00 [Normal decode])
        Capabilities: [2a0 v1] Access Control Services
                ACSCap: SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+
                ACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-

0001:80:01.1 PCI bridge: Intel
        Capabilities: <access denied>

0000:a0:01.1 PCI bridge
                ACSCtl: SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-
"""


def test_output_of_lspci() -> None:
    assert acs.pasted(LSPCI) == {"0000:40:01.1": 0x1D, "0000:a0:01.1": 0}


def test_output_of_our_own_command() -> None:
    assert acs.pasted("0000:40:01.1 001d\n41:00.0 0000\ngarbage\n0000:c0:01.1\n") == {
        "0000:40:01.1": 0x1D,
        "0000:41:00.0": 0,
    }


def test_the_command_names_every_port_and_changes_nothing() -> None:
    command = acs.command(("0000:40:01.1", "0000:80:01.1"))
    assert "0000:40:01.1 0000:80:01.1" in command
    assert "ECAP_ACS+6.w" in command
    assert "=" not in command
