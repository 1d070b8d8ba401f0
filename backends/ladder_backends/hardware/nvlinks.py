"""NVLinks of a GPU: state, version, speed, remote end, errors."""

from __future__ import annotations

from typing import Any

from ladder_backends.hardware.gpus import nvml_address
from ladder_backends.hardware.ports import NvmlRefused
from ladder_backends.hardware.reader import Reader
from ladder_backends.model.fact import Fact, Facts
from ladder_backends.model.topology import NvLink

MOST = 36
COUNT, STATE, SPEED, SPEED_COMMON = 91, 165, 164, 90
ERRORS = {
    161: ("replays", "replays"),
    162: ("recoveries", "recoveries"),
    163: ("crc", "CRC errors"),
    206: ("malformed", "malformed packets"),
    208: ("receive", "receive errors"),
    211: ("integrity", "integrity errors"),
    214: ("failed_recoveries", "failed recoveries"),
    219: ("effective", "effective errors"),
    221: ("symbol", "symbol errors"),
}
"""Error counters of a link by field; the older ones stand first."""

OLDER = {161: 0, 162: 1, 163: 3}
"""Counters of nvmlDeviceGetNvLinkErrorCounter that stand for fields which a driver does not know."""

CAPABILITIES = {0: ("offers.p2p", "offers P2P"), 2: ("offers.atomics", "offers atomics")}
"""Indexes of nvmlDeviceGetNvLinkCapability."""

RATES = {220: ("effective", "effective bit error rate"), 222: ("symbol", "symbol bit error rate")}
"""Bit error rates of a link, from NVLink 5 on: four bits of mantissa above eight of a negative power of ten."""

BAD = frozenset((206, 208, 211, 214))
"""Counters that are no part of a healthy link's life."""

VERSIONS = {1: "1.0", 2: "2.0", 3: "2.2", 4: "3.0", 5: "3.1", 6: "4.0", 7: "5.0"}
"""nvmlDeviceGetNvLinkVersion answers an enumeration, not a version."""

_STATE_CALL = "nvmlDeviceGetNvLinkState"

REMOTE = {0: "GPU", 1: "NPU", 2: "switch"}


def read_links(reader: Reader, index: int, *, mig: bool = False) -> tuple[NvLink, ...]:
    """Every NVLink that the GPU has; none where it has none or where NVML does not tell.

    Args:
        reader: Of the machine.
        index: Of the GPU.
        mig: It is in MIG mode, in which every link reads as down, whatever it is.
    """
    count = reader.fields(index, (COUNT,))[COUNT]
    if isinstance(count, NvmlRefused):
        # Older drivers tell of links only when asked for each.
        places: range = range(MOST) if not reader.closed else range(0)
    else:
        places = range(min(int(count), MOST))
    links = []
    for number in places:
        try:
            state = reader.answer(_STATE_CALL, index, number)
        except NvmlRefused as refused:
            if isinstance(count, NvmlRefused):
                break
            links.append(_refused_link(reader, number, refused))
            continue
        if mig and not state:
            why = "it reads as down, as every link does in MIG mode"
            links.append(NvLink(number, None, "", Facts([Fact("state", "state", source=_STATE_CALL, why=why)])))
            continue
        links.append(_link(reader, index, number, state))
    return tuple(links)


def _refused_link(reader: Reader, number: int, refused: NvmlRefused) -> NvLink:
    fact = reader.refused("state", "state", _STATE_CALL, refused, unsupported="NVLink is off or in MIG")
    return NvLink(number, None, "", Facts([fact]))


def _link(reader: Reader, index: int, number: int, state: Any) -> NvLink:
    active = bool(state)
    fact = Fact("state", "state", active, "up" if active else "down", _STATE_CALL)
    fields = reader.fields(index, tuple((field, number) for field in (SPEED, *ERRORS, *RATES)))
    remote = _remote(reader, index, number)
    facts = [
        fact if active else fact.wrong("the link is down"),
        reader.call(
            "version", "version", "nvmlDeviceGetNvLinkVersion", index, number,
            parse=lambda v: VERSIONS.get(v, f"enumeration value {v}"),
        ),
        reader.field(
            "speed", "speed", (SPEED, number), fields, parse=lambda s: s or None,
            shown=lambda s: f"{s / 1000:.1f} GB/s",
        ),
        remote,
        *(
            reader.call(name, label, "nvmlDeviceGetNvLinkCapability", index, number, which, parse=bool)
            for which, (name, label) in CAPABILITIES.items()
        ),
        *(
            _counter(_error(reader, index, number, field, fields), field) for field in ERRORS
        ),
        *(
            reader.field(
                f"ber.{name}", label, (field, number), fields, parse=int, shown=_bit_errors, live=True
            )
            for field, (name, label) in RATES.items()
        ),
    ]  # fmt: skip
    return NvLink(number, active, str(remote.value or ""), Facts(facts))


def _bit_errors(value: int) -> str:
    """`15e-254` as nvidia-smi writes it: nothing was counted yet."""
    return f"{value >> 8 & 0xF}e-{value & 0xFF}"


def _error(reader: Reader, index: int, number: int, field: int, fields: Any) -> Fact:
    name, label = f"error.{ERRORS[field][0]}", ERRORS[field][1]
    fact = reader.field(name, label, (field, number), fields, live=True)
    if fact.known or field not in OLDER:
        return fact
    older = reader.call(name, label, "nvmlDeviceGetNvLinkErrorCounter", index, number, OLDER[field], live=True)
    return older if older.known else fact


def _counter(fact: Fact, field: int) -> Fact:
    return fact.wrong(f"{fact.value:,} {fact.label}") if field in BAD and fact.value else fact


def _remote(reader: Reader, index: int, number: int) -> Fact:
    """The other end: `switch`, or the bus address of a GPU. In a guest the address of a switch is not told."""
    kind = reader.call(
        "remote", "remote end", "nvmlDeviceGetNvLinkRemoteDeviceType", index, number, parse=REMOTE.__getitem__
    )
    if kind.value == "switch":
        return kind
    address = reader.call(
        "remote", "remote end", "nvmlDeviceGetNvLinkRemotePciInfo", index, number,
        parse=lambda info: nvml_address(info["busId"]) if not info["busId"].lower().startswith("ffff") else None,
    )  # fmt: skip
    return address if address.known or not kind.known else kind
