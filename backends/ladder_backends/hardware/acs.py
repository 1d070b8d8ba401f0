"""PCIe Access Control Services: from a port's configuration space, or from output of lspci that a person pastes.

The control register stands six bytes into the extended capability 0x000D (PCI Express Base Specification, 7.7.11).
Without CAP_SYS_ADMIN the kernel gives the first 64 bytes of a function's configuration space and no extended
capability, so that a port's control is unread, which is not the same as off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

BITS = (
    ("SV", 0x01, "SrcValid"),
    ("TB", 0x02, "TransBlk"),
    ("RR", 0x04, "ReqRedir"),
    ("CR", 0x08, "CmpltRedir"),
    ("UF", 0x10, "UpstreamFwd"),
    ("EC", 0x20, "EgressCtrl"),
    ("DT", 0x40, "DirectTrans"),
)
REDIRECT = 0x04 | 0x08 | 0x10
"""Any of these sends what one GPU writes to another up to the root; SrcValid alone does not."""

_EXTENDED = 0x100
_ACS = 0x000D
_CONTROL = 6
_SIZE = 4096
_MOST_CAPABILITIES = 480

_BDF = re.compile(r"^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?:\s|$)", re.IGNORECASE)
_CONTROL_LINE = re.compile(r"ACSCtl:\s*(.*)")
_HEX_LINE = re.compile(
    r"^\s*((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s+(?:ACSCtl\s*[:=]?\s*)?(?:0x)?([0-9a-f]{4})\s*$",
    re.IGNORECASE,
)


class NoAcs(LookupError):
    """The function has no ACS capability: it redirects nothing by itself."""


def control(space: bytes) -> int:
    """The control register in a function's configuration space.

    Raises:
        NoAcs: It was read whole, and there is no such capability.
        PermissionError: Only the part that everyone may read is there.
    """
    if len(space) <= _EXTENDED:
        raise PermissionError(13, "only the first bytes of the configuration space can be read")
    offset = _EXTENDED
    for _ in range(_MOST_CAPABILITIES):
        if offset < _EXTENDED or offset + 4 > min(len(space), _SIZE):
            break
        head = int.from_bytes(space[offset : offset + 4], "little")
        if head in (0, 0xFFFFFFFF):
            break
        if head & 0xFFFF == _ACS and offset + _CONTROL + 2 <= len(space):
            return int.from_bytes(space[offset + _CONTROL : offset + _CONTROL + 2], "little")
        offset = head >> 20
        if offset == 0:
            break
    raise NoAcs


def bits(value: int) -> str:
    """The bits that are set, by their letters: `SV RR CR UF`; `none` for zero."""
    return " ".join(letters for letters, bit, _ in BITS if value & bit) or "none"


def redirects(value: int) -> bool:
    """Whether requests between two functions below this port go up to the root."""
    return bool(value & REDIRECT)


def command(ports: Iterable[str]) -> str:
    """What prints the control registers of ports, for root; `ladder-tui hardware --paste` reads its output."""
    names = " ".join(ports)
    return (
        f"for p in {names}; do echo $p $(sudo setpci -s $p ECAP_ACS+6.w); done"
        if names
        else "sudo lspci -vvv | cat"
    )


def pasted(text: str) -> dict[str, int]:
    """Control registers by bus address, from the output of `command` or of `lspci -vvv`.

    Ports of which the text says nothing, or `access denied`, are not in it.
    """
    found: dict[str, int] = {}
    here = ""
    for line in text.splitlines():
        if short := _HEX_LINE.match(line):
            found[full_address(short[1])] = int(short[2], 16)
            continue
        if head := _BDF.match(line):
            here = full_address(head[1])
        elif here and (said := _CONTROL_LINE.search(line)):
            found[here] = sum(bit for _, bit, word in BITS if f"{word}+" in said[1])
    return found


def full_address(bdf: str) -> str:
    """A bus address with its domain of four digits, in small letters: `41:00.0` is `0000:41:00.0`."""
    bdf = bdf.strip().lower()
    if bdf.count(":") == 1:
        return f"0000:{bdf}"
    domain, _, rest = bdf.partition(":")
    return f"{int(domain, 16):04x}:{rest}"
