"""One GPU: what NVML and sysfs say of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ladder_backends.hardware import pci
from ladder_backends.hardware.iommu import group_facts
from ladder_backends.hardware.ports import NvmlRefused
from ladder_backends.hardware.reader import Reader, binary, ranges
from ladder_backends.model.fact import Fact, Facts

RECOVERY = ("none", "reset the GPU", "reboot", "drain P2P", "drain and reset", "recover the IMEX domain",
            "reset the bus", "restart the system")  # fmt: skip
"""Answers of field 230: what the driver wants done before the GPU can be relied on."""

FABRIC = ("not supported", "not started", "in progress", "completed")
VIRTUALIZATION = ("none", "passed through", "vGPU", "vGPU host", "SR-IOV vGPU host")
HEALTH = {1: "healthy", 2: "unhealthy", 3: "limited"}

REPLAYS, RECOVERIES = 94, 169
PCIE_ERRORS = {
    173: ("pcie.correctable", "PCIe correctable"),
    174: ("pcie.naks_in", "PCIe NAKs received"),
    175: ("pcie.receiver", "PCIe receiver errors"),
    176: ("pcie.bad_tlp", "PCIe bad TLP"),
    177: ("pcie.naks_out", "PCIe NAKs sent"),
    178: ("pcie.bad_dllp", "PCIe bad DLLP"),
    179: ("pcie.nonfatal", "PCIe non-fatal"),
    180: ("pcie.fatal", "PCIe fatal"),
    181: ("pcie.unsupported", "PCIe unsupported requests"),
    182: ("pcie.lcrc", "PCIe LCRC"),
    183: ("pcie.lane", "PCIe lane errors"),
}
ATOMICS_OUT, ATOMICS_IN, RECOVERY_ACTION = 228, 229, 230
_FIELDS = (REPLAYS, RECOVERIES, *PCIE_ERRORS, ATOMICS_OUT, ATOMICS_IN, RECOVERY_ACTION)

_SMALL_BAR = 256 << 20
_FABRIC_UP = "sudo systemctl start nvidia-fabricmanager, of the driver's very version"


def nvml_address(text: str) -> str:
    """A bus address as NVML writes it, as sysfs does: `00000000:41:00.0` is `0000:41:00.0`."""
    domain, _, rest = text.strip().lower().partition(":")
    return (
        f"{int(domain, 16):04x}:{rest}" if re.match(r"^[0-9a-f]{1,8}:[0-9a-f]{2}:", text.lower()) else text.lower()
    )


def sysfs_facts(reader: Reader, bdf: str) -> Iterator[Fact]:
    """What sysfs says of a GPU, with a driver or without."""
    yield from group_facts(reader, bdf)
    yield from pci.numa_facts(reader, bdf)
    yield from pci.link_facts(reader, bdf)
    yield from pci.window_facts(reader, bdf)
    yield pci.resize_fact(reader, bdf)
    yield from pci.error_facts(reader, bdf)
    yield _driver_of(reader, bdf)


def _driver_of(reader: Reader, bdf: str) -> Fact:
    path = f"{pci.DEVICES}/{bdf}/driver"
    name, label = "driver.bound", "bound to"
    try:
        bound = reader.files.real(path).rsplit("/", 1)[-1]
    except OSError:
        known = reader.files.exists(f"{pci.DEVICES}/{bdf}")
        return Fact(name, label, source=path, why="no driver has it" if known else "sysfs does not show the device")
    fact = Fact(name, label, bound, source=path)
    return fact if bound.startswith("nvidia") else fact.wrong(f"{bound} has the GPU, and CUDA cannot see it")


def gpu_facts(reader: Reader, index: int, bdf: str) -> Facts:
    """Everything about one GPU, what matters most for transfers first."""
    fields = reader.fields(index, _FIELDS)
    sysfs = list(sysfs_facts(reader, bdf))
    nvml = [
        reader.call("memory", "memory", "nvmlDeviceGetMemoryInfo", index, parse=lambda m: m["total"], shown=binary),
        _bar1(reader, index),
        *_link(reader, index),
        *_places(reader, index),
        *_modes(reader, index),
        *_health(reader, index, fields),
        *_fabric(reader, index),
        *_errors(reader, fields),
        _processes(reader, index),
        reader.call("vbios", "VBIOS", "nvmlDeviceGetVbiosVersion", index),
    ]
    return _with_links(Facts([*nvml, *sysfs]))


def _bar1(reader: Reader, index: int) -> Fact:
    bar = reader.call(
        "bar1", "BAR1", "nvmlDeviceGetBAR1MemoryInfo", index, parse=lambda b: b["bar1Total"], shown=binary
    )
    memory = reader.ask("nvmlDeviceGetMemoryInfo", index)
    if not bar.value or not memory:
        return bar
    if bar.value <= _SMALL_BAR:
        return bar.noted("no resizable BAR: peers reach the memory through a small window only")
    part = "all" if bar.value >= memory["total"] else "a part"
    return Fact(bar.name, bar.label, bar.value, f"{binary(bar.value)}, {part} of the memory", bar.source)


def _link(reader: Reader, index: int) -> Iterator[Fact]:
    def generation(number: int) -> str:
        return f"Gen{number}"

    def lanes(number: int) -> str:
        return f"x{number}"

    for name, label, call, shown in (
        ("pcie.generation", "PCIe now", "nvmlDeviceGetCurrPcieLinkGeneration", generation),
        ("pcie.generation.max", "PCIe at most here", "nvmlDeviceGetMaxPcieLinkGeneration", generation),
        ("pcie.generation.gpu", "PCIe of the GPU", "nvmlDeviceGetGpuMaxPcieLinkGeneration", generation),
        ("pcie.width", "PCIe lanes now", "nvmlDeviceGetCurrPcieLinkWidth", lanes),
        ("pcie.width.max", "PCIe lanes at most", "nvmlDeviceGetMaxPcieLinkWidth", lanes),
    ):
        # The generation falls when the link idles; the number of lanes stays.
        yield reader.call(name, label, call, index, parse=_number, shown=shown, live=name == "pcie.generation")


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 < value < 255 else None


def _with_links(facts: Facts) -> Facts:
    """Say where a link has fewer lanes than it could have; an idle link's generation means nothing."""
    width, most = facts["pcie.width"], facts["pcie.width.max"]
    if width.value and most.value and width.value < most.value:
        return facts.with_facts(
            [width.wrong(f"only {width.value} of {most.value} lanes: reseat it, look at slot and riser")]
        )
    return facts


def _places(reader: Reader, index: int) -> Iterator[Fact]:
    yield reader.call(
        "numa", "NUMA node", "nvmlDeviceGetNumaNodeId", index, parse=lambda n: n if n >= 0 else None,
        unsupported="not told here",
    )  # fmt: skip
    yield reader.call(
        "cpus", "CPUs beside it", "nvmlDeviceGetCpuAffinity", index, parse=lambda c: ranges(c) or None
    )
    for scope, where in enumerate(("node", "socket")):
        yield reader.call(
            f"cpus.{where}",
            f"CPUs of its {where}",
            "nvmlDeviceGetCpuAffinityWithinScope",
            index,
            scope,
            parse=lambda c: ranges(c) or None,
        )
    yield reader.call(
        "memory.nodes", "memory beside it", "nvmlDeviceGetMemoryAffinity", index, parse=lambda n: ranges(n) or None
    )


def _modes(reader: Reader, index: int) -> Iterator[Fact]:
    def on(value: Any) -> str:
        return "on" if value else "off"

    mig = reader.call(
        "mig.mode",
        "MIG",
        "nvmlDeviceGetMigMode",
        index,
        parse=lambda m: bool(m[0]),
        shown=on,
        unsupported="it has no MIG",
    )
    yield mig.noted("P2P is not offered between GPUs in MIG mode; NVLinks read as down") if mig.value else mig
    if mig.value:
        yield reader.call("mig.devices", "MIG devices", "nvmlDeviceGetMigDevices", index, parse=lambda d: tuple(d))
    yield reader.call("persistence", "persistence", "nvmlDeviceGetPersistenceMode", index, parse=bool, shown=on)
    yield reader.call(
        "gsp", "GSP firmware", "nvmlDeviceGetGspFirmwareMode", index, parse=lambda g: bool(g[0]), shown=on
    )
    display = reader.call("display", "display", "nvmlDeviceGetDisplayActive", index, parse=bool, shown=on)
    yield display.noted("a GPU with a display may have its static BAR1 off") if display.value else display
    yield reader.call(
        "virtualization",
        "virtualization",
        "nvmlDeviceGetVirtualizationMode",
        index,
        parse=lambda m: VIRTUALIZATION[m],
    )
    yield reader.call(
        "compute", "compute mode", "nvmlDeviceGetComputeMode", index,
        parse=lambda m: ("default", "one thread", "prohibited", "one process")[m],
    )  # fmt: skip


def _health(reader: Reader, index: int, fields: Any) -> Iterator[Fact]:
    none = "it has no ECC"
    yield reader.call(
        "ecc", "ECC", "nvmlDeviceGetEccMode", index, parse=lambda m: bool(m[0]),
        shown=lambda on: "on" if on else "off", unsupported=none,
    )  # fmt: skip
    for name, label, kind in (("ecc.corrected", "ECC corrected", 0), ("ecc.uncorrected", "ECC uncorrected", 1)):
        fact = reader.call(name, label, "nvmlDeviceGetTotalEccErrors", index, kind, 0, unsupported=none, live=True)
        yield (
            fact.wrong(f"{fact.value:,} uncorrectable errors since the driver was loaded")
            if kind and fact.value
            else fact
        )
    rows = reader.call(
        "rows", "remapped rows", "nvmlDeviceGetRemappedRows", index,
        parse=_rows,
        unsupported="it remaps no rows",
    )  # fmt: skip
    if rows.value and rows.value["failed"]:
        rows = rows.wrong("a remapping failed: the GPU wants replacing")
    elif rows.value and rows.value["pending"]:
        rows = rows.wrong("a remapping waits for a reset of the GPU", _reset(index))
    yield rows
    pages = reader.call(
        "pages.pending", "pages to retire", "nvmlDeviceGetRetiredPagesPendingStatus", index, parse=bool,
        unsupported="it retires no pages",
    )  # fmt: skip
    yield pages.wrong("pages wait for a reset of the GPU", _reset(index)) if pages.value else pages
    yield from _wear(reader, index)
    recovery = reader.field(
        "recovery", "recovery wanted", RECOVERY_ACTION, fields, parse=lambda n: RECOVERY[int(n)]
    )
    if recovery.value not in (None, RECOVERY[0]):
        recovery = recovery.wrong(f"the driver wants this first: {recovery.value}")
    yield recovery


def _wear(reader: Reader, index: int) -> Iterator[Fact]:
    """Spare rows that are left, retired pages, errors of the SRAM, repairs that wait."""
    rows = reader.call("rows.spare", "banks by spare rows", "nvmlDeviceGetRowRemapperHistogram", index, parse=dict)
    spent = rows.value and rows.value.get("none")
    yield rows.noted(f"{spent} banks have no spare row left") if spent else rows
    for name, label, cause in (("pages.single", "pages retired, single-bit", 0), ("pages.double", "double-bit", 1)):
        yield reader.call(
            name, label, "nvmlDeviceGetRetiredPages", index, cause, parse=len, unsupported="it retires no pages"
        )
    sram = reader.call("sram", "SRAM errors", "nvmlDeviceGetSramEccErrorStatus", index, parse=_sram)
    if sram.value and sram.value.get("bThresholdExceeded"):
        sram = sram.wrong("too many uncorrectable errors of the SRAM: the GPU wants replacing")
    yield sram
    repair = reader.call(
        "repair", "repairs that wait", "nvmlDeviceGetRepairStatus", index,
        parse=lambda r: {"channel": bool(r[0]), "TPC": bool(r[1])},
    )  # fmt: skip
    waits = repair.value and any(repair.value.values())
    yield repair.wrong("a repair waits for a reset of the GPU", _reset(index)) if waits else repair


def _sram(status: Any) -> dict[str, int]:
    """Totals since the GPU was made, and whether there are too many."""
    return {
        name: int(value) for name, value in status.items() if name == "bThresholdExceeded" or "aggregate" in name
    }


def _reset(index: int) -> str:
    return f"sudo nvidia-smi --gpu-reset -i {index}, once nothing uses it"


def _rows(answer: Any) -> dict[str, int | bool]:
    corrected, uncorrected, pending, failed = answer
    return {
        "corrected": int(corrected),
        "uncorrected": int(uncorrected),
        "pending": bool(pending),
        "failed": bool(failed),
    }


def _fabric(reader: Reader, index: int) -> Iterator[Fact]:
    name, label, call = "fabric.state", "fabric", "nvmlDeviceGetGpuFabricInfoV"
    try:
        info = reader.answer(call, index)
    except NvmlRefused as refused:
        yield reader.refused(name, label, call, refused, unsupported="no NVSwitch fabric here")
        return
    state = reader.made(name, label, call, info, lambda i: FABRIC[int(i["state"])])
    if state.value in ("not started", "in progress"):
        state = state.wrong("the fabric manager has not brought the NVSwitches up: CUDA answers 802", _FABRIC_UP)
    elif state.value == "completed" and info.get("status"):
        state = state.wrong(f"the fabric came up with error {info['status']}")
    yield state
    if info.get("healthSummary"):
        health = reader.made(
            "fabric.health", "fabric health", call, info, lambda i: HEALTH.get(int(i["healthSummary"]))
        )
        yield (
            health.wrong("NVLinks of the fabric are degraded") if health.value not in (None, "healthy") else health
        )


def _errors(reader: Reader, fields: Any) -> Iterator[Fact]:
    yield reader.field("pcie.replays", "PCIe replays", REPLAYS, fields, live=True)
    yield reader.field("pcie.recoveries", "PCIe recoveries", RECOVERIES, fields, live=True)
    for number, (name, label) in PCIE_ERRORS.items():
        yield reader.field(name, label, number, fields, live=True)
    for number, name, label in (
        (ATOMICS_OUT, "atomics.out", "PCIe atomics out"),
        (ATOMICS_IN, "atomics.in", "PCIe atomics in"),
    ):
        yield reader.field(
            name, label, number, fields, parse=int, shown=lambda mask: f"0x{mask:x}" if mask else "none"
        )


def _processes(reader: Reader, index: int) -> Fact:
    def shown(found: tuple[dict[str, Any], ...]) -> str:
        return ", ".join(f"{one['pid']} ({binary(one['usedGpuMemory'] or 0)})" for one in found) or "none: idle"

    return reader.call(
        "processes", "in use by", "nvmlDeviceGetComputeRunningProcesses", index,
        parse=lambda p: tuple({"pid": one["pid"], "usedGpuMemory": one["usedGpuMemory"]} for one in p),
        shown=shown, live=True,
    )  # fmt: skip
