"""What the kernel's log says of GPUs, PCIe and the IOMMU since boot. One that cannot be read is not clean."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator

from ladder_backends.hardware.reader import Reader
from ladder_backends.model.fact import Concern, Fact
from ladder_backends.text import clean_line

SOURCE = "/dev/kmsg"
COMMAND = "sudo dmesg | grep -E 'DMAR|AMD-Vi|NVRM|AER|SNP'"
KEPT = 4
"""Lines of each kind that are kept; all are counted."""

XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d+)")
XIDS = {
    13: "graphics exception", 31: "MMU fault", 43: "stopped processing", 45: "cleanup", 48: "double-bit ECC",
    63: "row remapped", 64: "row remapping failed", 74: "NVLink error", 79: "fallen off the bus", 92: "ECC rate",
    94: "contained ECC", 95: "uncontained ECC", 119: "GSP timeout", 120: "GSP error", 154: "recovery action",
}  # fmt: skip
"""Meanings of Xids, by NVIDIA's catalogue."""

OF_PROGRAMS = frozenset((13, 31, 43, 45))
"""Xids that a program's own error brings about; they do not speak against the machine."""

_KINDS = (
    ("log.xid", "Xid", XID, "the driver reported errors of GPUs"),
    (
        "log.iommu_faults",
        "IOMMU faults",
        re.compile(r"IO_PAGE_FAULT|DMAR:.*fault reason|DMAR: \[DMA (?:Read|Write)|arm-smmu.*fault"),
        "transfers went to addresses that the IOMMU does not know: as lost peer writes do",
    ),
    ("log.aer", "PCIe errors", re.compile(r"AER:|PCIe Bus Error"), "the PCIe fabric reported errors"),
    (
        "log.asserts",
        "driver assertions",
        re.compile(r"NVRM:.*(?:assert|Assertion)", re.IGNORECASE),
        "the driver complained",
    ),
)
_NOTES = (
    ("log.iommu.default", "IOMMU default", re.compile(r"iommu: Default domain type: (.*)")),
    ("log.snp", "SNP at boot", re.compile(r"(?:AMD-Vi: )?(SNP: .*|SEV-SNP .*|.*SNP cannot be supported.*)")),
)


def log_facts(reader: Reader, supplied: str | None = None, source: str = "") -> Iterator[Fact]:
    """Counts and last lines by kind.

    Args:
        reader: Of the machine.
        supplied: Output of `COMMAND` or of dmesg that a person pasted, used instead of the log.
        source: Where that comes from.
    """
    text, why, remedy = supplied, "", ""
    if text is None:
        source = SOURCE
        try:
            text = reader.files.kernel_log()
        except OSError as error:
            text = None
            why = "not readable here, which does not mean clean"
            if error.errno in (errno.EACCES, errno.EPERM):
                why = "unread: needs root"
                remedy = COMMAND
    if not text and not why:
        text, why = None, "empty here, which does not mean clean"
    yield Fact(
        "log.readable", "kernel log", text is not None, "read" if text is not None else why, source, live=True
    )
    if text is None:
        for name, label, *_ in _KINDS:
            yield Fact(name, label, source=source, why=why, remedy=remedy, live=True)
        return
    lines = text.splitlines()
    for name, label, pattern, says in _KINDS:
        found = [clean_line(line.strip())[:300] for line in lines if pattern.search(line)]
        shown = _xids(found) if name == "log.xid" and found else f"{len(found):,}" if found else "none since boot"
        fact = Fact(name, label, len(found), shown, source, live=True)
        if found:
            concern = Concern.WRONG if _is_wrong(name, found) else Concern.NOTE
            fact = fact.noted(f"{says}: {shown}" if name == "log.xid" else says, concern)
        yield fact
        if found:
            last = tuple(found[-KEPT:])
            yield Fact(f"{name}.lines", f"{label}, last", last, "  ".join(last), source, live=True)
    for name, label, pattern in _NOTES:
        said = [match[1].strip() for line in lines if (match := pattern.search(line))]
        if said:
            # Its buffer goes round: that it is there no more is no change of the machine.
            yield Fact(name, label, clean_line(said[-1])[:200], source=source, live=True)


def _is_wrong(name: str, lines: list[str]) -> bool:
    """Whether what was found is a fault of the machine, and not of a program, nor a corrected one."""
    if name == "log.xid":
        codes = {int(found[2]) for line in lines if (found := XID.search(line))}
        return bool(codes - OF_PROGRAMS)
    if name == "log.aer":
        return any("Uncorrect" in line or "Fatal" in line or "uncorrect" in line for line in lines)
    return name == "log.iommu_faults"


def _xids(lines: list[str]) -> str:
    counts: dict[tuple[str, int], int] = {}
    for line in lines:
        if found := XID.search(line):
            key = found[1], int(found[2])
            counts[key] = counts.get(key, 0) + 1
    return ", ".join(
        f"{code} ({XIDS[code]})" + (f" ×{count}" if count > 1 else "") + f" on {where}"
        if code in XIDS
        else f"{code} on {where}"
        for (where, code), count in counts.items()
    )


def telling_lines(text: str) -> list[str]:
    """The lines that facts are made of."""
    patterns = (*(kind[2] for kind in _KINDS), *(note[2] for note in _NOTES))
    return [line for line in text.splitlines() if any(each.search(line) for each in patterns)]


def looks_like_log(text: str) -> bool:
    """Whether a pasted text holds lines of a kernel's log."""
    patterns = (*(kind[2] for kind in _KINDS), *(note[2] for note in _NOTES))
    stamped = re.compile(r"^\s*(?:<\d+>)?\[\s*\d+\.\d+\]|^\w{3} +\d+ [\d:]{8} \S+ kernel:")
    return any(stamped.search(line) or any(each.search(line) for each in patterns) for line in text.splitlines())
