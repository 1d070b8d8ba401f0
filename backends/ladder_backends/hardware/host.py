"""The host: kernel, command line, processor, firmware, virtual machine, confidential computing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ladder_backends.hardware.ports import NvmlRefused
from ladder_backends.hardware.reader import Reader
from ladder_backends.model.fact import Fact

NO_OPS = {
    "amd_iommu=on": "stock kernels know no such option; the AMD IOMMU is on unless amd_iommu=off",
    "pci=noacs": "stock kernels know no such option",
}
"""Options that people set and that do nothing."""

_IOMMU_WORDS = ("intel_iommu", "amd_iommu", "iommu", "iommu.passthrough", "iommu.strict", "pcie_acs_override",
                "kvm_amd.sev_snp", "mem_encrypt")  # fmt: skip
_OF_PCI = ("noacs", "disable_acs_redir", "config_acs", "realloc", "nommconf")
_SEV = {0: "none", 1: "SEV", 2: "TDX", 3: "SEV-SNP", 4: "SEV-SNP vTOM"}
_MULTI = {0: "none", 1: "protected PCIe", 2: "NVLink encryption"}


def host_facts(reader: Reader) -> Iterator[Fact]:
    """Facts of the machine as a whole, the most telling ones first."""
    line = reader.file("cmdline", "kernel command line", "/proc/cmdline")
    yield line
    yield from _of_the_command_line(line)
    yield reader.file("os.kernel", "kernel", "/proc/sys/kernel/osrelease")
    arch = reader.file("os.arch", "architecture", "/proc/sys/kernel/arch")
    yield arch
    yield reader.file("os.boot_id", "boot", "/proc/sys/kernel/random/boot_id")
    yield reader.file(
        "os.uptime", "up for", "/proc/uptime", lambda text: float(text.split()[0]), shown=_long, live=True
    )
    cpu = reader.text("/proc/cpuinfo")
    vendor = _vendor(cpu)
    yield vendor
    yield reader.file("cpu.online", "CPUs online", "/sys/devices/system/cpu/online")
    yield reader.file(
        "numa.nodes", "NUMA nodes", "/sys/devices/system/node/online", absent="this kernel tells of no nodes"
    )
    yield from _firmware(reader)
    hypervisor = _hypervisor(reader, cpu)
    yield hypervisor
    yield from _confidential(reader, vendor)


def _of_the_command_line(line: Fact) -> Iterator[Fact]:
    label, name = "IOMMU and ACS options", "cmdline.iommu"
    if line.value is None:
        yield Fact(name, label, source=line.source, why=line.why)
        return
    words = str(line.value).split()
    told = [word for word in words if word.partition("=")[0] in _IOMMU_WORDS]
    for word in words:
        if word.startswith("pci="):
            told += [f"pci={one}" for one in re.split(r",(?=[a-z_]+)", word[4:]) if one.startswith(_OF_PCI)]
    fact = Fact(name, label, tuple(told), " ".join(told) or "none given", line.source)
    idle = [f"{word} does nothing: {NO_OPS[word]}" for word in told if word in NO_OPS]
    yield fact.noted("; ".join(idle)) if idle else fact


def _vendor(cpu: str | None) -> Fact:
    name, label, source = "cpu.vendor", "CPU", "/proc/cpuinfo"
    if cpu is None:
        return Fact(name, label, source=source, why="unread")
    found = re.search(r"^vendor_id\s*:\s*(\S+)", cpu, re.MULTILINE)
    model = re.search(r"^model name\s*:\s*(.+)", cpu, re.MULTILINE)
    word = {"AuthenticAMD": "AMD", "GenuineIntel": "Intel", "HygonGenuine": "Hygon"}.get(found[1] if found else "")
    if word is None and re.search(r"^CPU implementer", cpu, re.MULTILINE):
        word = "Arm"
    if word is None:
        return Fact(name, label, source=source, why="it names no vendor")
    return Fact(name, label, word, f"{word}: {model[1].strip()}" if model else word, source)


def _firmware(reader: Reader) -> Iterator[Fact]:
    absent = "no DMI table is visible here"
    for name, label, file in (
        ("dmi.vendor", "machine by", "sys_vendor"),
        ("dmi.product", "machine", "product_name"),
        ("dmi.board", "board", "board_name"),
        ("dmi.bios_version", "BIOS", "bios_version"),
        ("dmi.bios_date", "BIOS of", "bios_date"),
    ):
        yield reader.file(name, label, f"/sys/class/dmi/id/{file}", absent=absent)


def _hypervisor(reader: Reader, cpu: str | None) -> Fact:
    name, label = "vm.hypervisor", "virtual machine"
    kind = reader.text("/sys/hypervisor/type")
    if kind:
        return Fact(name, label, True, f"yes, under {kind}", "/sys/hypervisor/type")
    flags = re.search(r"^flags\s*:(.*)$", cpu, re.MULTILINE) if cpu else None
    if flags is None:
        return Fact(name, label, source="/proc/cpuinfo", why="no CPU flags are told here")
    guest = "hypervisor" in flags[1].split()
    fact = Fact(name, label, guest, "yes" if guest else "no, bare metal", "/proc/cpuinfo flags")
    if guest:
        return fact.noted("the PCIe tree and the IOMMU of the host are not visible from here")
    return fact


def _confidential(reader: Reader, vendor: Fact) -> Iterator[Fact]:
    guest = "/sys/devices/system/cpu/sev"
    if reader.names("/sys/devices/system/cpu") is None:
        yield Fact("snp.guest", "SEV-SNP guest", source=guest, why="unread")
    else:
        inside = reader.files.exists(guest) or reader.files.exists("/dev/sev-guest")
        yield Fact("snp.guest", "SEV-SNP guest", inside, source=guest)
    parameter = "/sys/module/kvm_amd/parameters/sev_snp"
    if vendor.known and vendor.value not in ("AMD", "Hygon"):
        yield Fact("snp.host", "SEV-SNP host", False, f"no, the processor is of {vendor.value}", vendor.source)
    elif reader.names("/sys/module") is not None and not reader.files.exists("/sys/module/kvm_amd"):
        why = "kvm_amd is not loaded; the kernel's log tells of SNP"
        yield Fact("snp.host", "SEV-SNP host", source=parameter, why=why)
    else:
        host = reader.file(
            "snp.host", "SEV-SNP host", parameter, {"Y": True, "1": True, "N": False, "0": False}.get
        )
        yield host.noted("SNP needs a translating IOMMU: iommu=pt would end it") if host.value else host
    yield reader.call(
        "cc.cpu",
        "confidential CPU",
        "nvmlSystemGetConfComputeCapabilities",
        parse=lambda caps: _SEV.get(caps["cpuCaps"], f"kind {caps['cpuCaps']}"),
    )
    yield reader.call(
        "cc.state",
        "confidential GPUs",
        "nvmlSystemGetConfComputeState",
        parse=lambda state: bool(state["ccFeature"]),
        shown=lambda on: "on" if on else "off",
    )
    yield reader.call(
        "cc.multi_gpu",
        "confidential multi-GPU mode",
        "nvmlSystemGetConfComputeSettings",
        parse=lambda settings: _MULTI.get(settings["multiGpuMode"], f"mode {settings['multiGpuMode']}"),
    )
    try:
        state = reader.answer("nvmlSystemGetConfComputeState")
    except NvmlRefused:
        state = None
    if isinstance(state, dict) and state.get("ccFeature"):
        yield reader.call(
            "cc.ready", "confidential GPUs ready", "nvmlSystemGetConfComputeGpusReadyState", parse=bool
        )


def _long(seconds: float) -> str:
    days, rest = divmod(int(seconds), 86_400)
    hours, rest = divmod(rest, 3600)
    return f"{days} d {hours} h" if days else f"{hours} h {rest // 60} min" if hours else f"{rest // 60} min"
