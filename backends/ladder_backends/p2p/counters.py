"""Error counters that rose while pairs were tested: what a link, slot or memory says of the transfers itself."""

from __future__ import annotations

from ladder_backends.model.p2p import HostFact
from ladder_backends.model.topology import Machine

_GRAVE = (
    "aer.nonfatal",
    "aer.fatal",
    "ecc.uncorrected",
    "error.crc",
    "error.replays",
    "error.recoveries",
    "error.malformed",
    "error.receive",
    "error.integrity",
    "error.failed_recoveries",
    "log.iommu_faults",
    "log.xid",
    "pcie.unsupported",
)
_SLIGHT = (
    "aer.correctable",
    "ecc.corrected",
    "log.aer",
    "pcie.replays",
    "pcie.correctable",
    "pcie.bad_tlp",
    "pcie.lcrc",
)
GRAVE, SLIGHT = "rose", "rose slightly"
"""Names of the two facts: counters that should never move, and those that a healthy machine moves now and then."""


def risen(before: Machine, after: Machine) -> dict[str, HostFact]:
    """The counters of a machine that rose between two readings, as up to two facts."""
    old = {group: facts for group, _, facts in before.groups()}
    grave: list[str] = []
    slight: list[str] = []
    for group, title, facts in after.groups():
        for name in (*_GRAVE, *_SLIGHT):
            was = old[group].value(name) if group in old else None
            now = facts.value(name)
            if isinstance(was, int) and isinstance(now, int) and now > was:
                where = f"{title} " if group != "host" else ""
                told = f"{where}{facts[name].label}: {was:,} → {now:,}"
                (grave if name in _GRAVE else slight).append(told)
    return {
        name: HostFact(
            f"rose while pairs were tested: {'; '.join(lines)}", tuple(lines), "counters before and after"
        )
        for name, lines in ((GRAVE, grave), (SLIGHT, slight))
        if lines
    }
