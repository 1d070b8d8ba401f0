"""The files of a simulated machine.

```toml
[host]
cmdline = "root=/dev/md0 ro quiet iommu=pt"
kernel = "6.8.0-31-generic"
boot_id = "..."
cpu = "AMD"                # or Intel, Arm
guest = false              # it is a virtual machine
vendor = "Supermicro"
product = "AS-4125GS-TNRT"
bios = "2.1"
bios_date = "03/14/2025"
iommu = "identity"         # DMA, DMA-FQ; "off": there is none; left out: not visible
snp_host = false
snp_guest = false
flavour = "open"           # or proprietary
shm_GiB = 64
memlock = "unlimited"      # or bytes
root = false               # true: configuration space can be read whole, with [[port]] acs
log = "..."                # of the kernel; left out: not readable without root
parameters = {NvLinkDisable = "1"}   # of the driver
packages = {cupy-cuda13x = "14.2.0"}

[environment]
NCCL_P2P_LEVEL = "SYS"

[files]                    # stand above all that is made from the tables
"/proc/cmdline" = "..."
"/sys/kernel/iommu_groups/38/type" = {denied = true}      # or {missing = true}, or {hex = "86802a0d"} for bytes

[symlinks]
"/sys/bus/pci/devices/0000:41:00.0/iommu_group" = "/sys/kernel/iommu_groups/38"
```
"""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Mapping
from typing import Any

from ladder_backends.simulator.machine import SimulatedMachine
from ladder_backends.simulator.tree import SPEEDS, Device, tree

_DEVICES = "/sys/bus/pci/devices"
_GROUPS = "/sys/kernel/iommu_groups"
_MOST_LINKS = 20
_MISSING, _DENIED = "missing", "denied"
_CPUS = {"AMD": "AuthenticAMD", "Intel": "GenuineIntel", "Hygon": "HygonGenuine"}
_AER = "{name}ERR 0\nTOTAL_ERR_{kind} {count}"


class SimulatedFiles:
    """Answers as a file system would, errors and links included."""

    def __init__(self, machine: SimulatedMachine) -> None:
        self._host: Mapping[str, Any] = machine.raw.get("host", {})
        self._environment = {str(key): str(value) for key, value in machine.raw.get("environment", {}).items()}
        self._texts: dict[str, str | bytes] = {}
        self._links: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        self._empty: set[str] = set()
        if not machine.raw.get("recorded"):
            self._make_host(machine)
            devices = tree(machine)
            for device in devices.values():
                self._make_device(device, machine)
            for table in machine.raw.get("nic", ()):
                # Its own folder lies below the device, and the class has a link to it.
                path = devices[str(table["bus"]).lower()].path
                self._put(f"{path}/class", "0x020700\n")
                self._links[f"/sys/class/infiniband/{table['name']}/device"] = path
        links: dict[str, str] = {}
        for path, target in machine.raw.get("symlinks", {}).items():
            links[self._place(str(path))] = str(target)
            self._links |= links
        for path, text in machine.raw.get("files", {}).items():
            if str(path).endswith("/."):
                self._empty.add(self._place(posixpath.dirname(str(path))))
            else:
                self._put(self._place(str(path)), text)
        # A folder's listing may have named a link as if it were a file.
        self._links |= links
        self._folders = {
            parent
            for path in (*self._texts, *self._links, *self._refused)
            if self._refused.get(path) != _MISSING
            for parent in _parents(path)
        } | {each for path in self._empty for each in (path, *_parents(path))}

    # The port --------------------------------------------------------------------------------------------------

    def read(self, path: str) -> str:
        """The text of a file."""
        found = self._content(path)
        return found.decode("utf-8", "backslashreplace") if isinstance(found, bytes) else found

    def read_bytes(self, path: str, limit: int) -> bytes:
        """The first bytes of a file."""
        found = self._content(path)
        return (found if isinstance(found, bytes) else found.encode())[:limit]

    def names(self, path: str) -> tuple[str, ...]:
        """What lies in a folder, sorted."""
        where = self._follow(path)
        if where not in self._folders:
            raise _error(errno.ENOTDIR if where in self._texts else errno.ENOENT, path)
        inside = where.rstrip("/") + "/"
        known = (*self._texts, *self._links, *self._folders, *self._refused)
        return tuple(
            sorted(
                {
                    each.removeprefix(inside).split("/")[0]
                    for each in known
                    if each.startswith(inside) and each != inside and self._refused.get(each) != _MISSING
                }
            )
        )

    def real(self, path: str) -> str:
        """The path with all links followed."""
        where = self._follow(path)
        if where not in self._texts and where not in self._folders and where not in self._refused:
            raise _error(errno.ENOENT, path)
        return where

    def link(self, path: str) -> str:
        """What a link says."""
        where = posixpath.join(self._follow(posixpath.dirname(path)), posixpath.basename(path))
        if where not in self._links:
            raise _error(errno.EINVAL if where in self._texts else errno.ENOENT, path)
        return self._links[where]

    def exists(self, path: str) -> bool:
        """Whether there is anything."""
        try:
            where = self._follow(path)
        except OSError:
            return False
        return where in self._texts or where in self._folders or self._refused.get(where) == _DENIED

    def space(self, path: str) -> int:
        """Bytes of the file system; only that of `/dev/shm` is known."""
        if path != "/dev/shm" or "shm_GiB" not in self._host:
            raise _error(errno.ENOENT, path)
        return int(float(self._host["shm_GiB"]) * (1 << 30))

    def environment(self) -> Mapping[str, str]:
        """The table `[environment]`, and nothing of this process."""
        return self._environment

    def package(self, name: str) -> str | None:
        """Version of a package, by `[host] packages`."""
        found = self._host.get("packages", {}).get(name)
        return None if found is None else str(found)

    def kernel_log(self) -> str:
        """The log of `[host]`."""
        if "log" not in self._host:
            raise _error(errno.EPERM, "/dev/kmsg")
        return str(self._host["log"])

    # Making ----------------------------------------------------------------------------------------------------

    def _place(self, path: str) -> str:
        """Where a path lies once the links to its folder are followed: by either name it is one file."""
        path = posixpath.normpath(path)
        try:
            return posixpath.join(self._follow(posixpath.dirname(path)), posixpath.basename(path))
        except OSError:
            return path

    def _put(self, path: str, text: object) -> None:
        path = posixpath.normpath(path)
        for table in (self._texts, self._links, self._refused):
            table.pop(path, None)
        if isinstance(text, Mapping) and "hex" in text:
            self._texts[path] = bytes.fromhex(text["hex"])
            return
        if isinstance(text, Mapping):
            self._refused[path] = _DENIED if text.get(_DENIED) else _MISSING
            return
        self._texts[path] = str(text)

    def _make_host(self, machine: SimulatedMachine) -> None:
        host = self._host
        for key, path in (
            ("cmdline", "/proc/cmdline"),
            ("kernel", "/proc/sys/kernel/osrelease"),
            ("arch", "/proc/sys/kernel/arch"),
            ("boot_id", "/proc/sys/kernel/random/boot_id"),
            ("vendor", "/sys/class/dmi/id/sys_vendor"),
            ("product", "/sys/class/dmi/id/product_name"),
            ("board", "/sys/class/dmi/id/board_name"),
            ("bios", "/sys/class/dmi/id/bios_version"),
            ("bios_date", "/sys/class/dmi/id/bios_date"),
        ):
            if key in host:
                self._put(path, f"{host[key]}\n")
        cpu = host.get("cpu")
        if cpu or host.get("guest"):
            # A guest says that it is one, of whichever processor.
            named = f"vendor_id\t: {_CPUS[cpu]}" if cpu in _CPUS else "CPU implementer\t: 0x41"
            vendor = named if cpu else ""
            flags = "fpu sse2 hypervisor" if host.get("guest") else "fpu sse2"
            self._put("/proc/cpuinfo", f"processor\t: 0\n{vendor}\nflags\t\t: {flags}\n")
        if host:
            self._put("/sys/devices/system/cpu/online", "0-31\n")
        if host.get("snp_guest"):
            self._put("/sys/devices/system/cpu/sev/vmpl", "0\n")
        if "snp_host" in host:
            self._put("/sys/module/kvm_amd/parameters/sev_snp", "Y\n" if host["snp_host"] else "N\n")
        driver = machine.raw.get("driver")
        if driver:
            open_module = (
                "Open Kernel Module for x86_64" if host.get("flavour") == "open" else "x86_64 Kernel Module"
            )
            self._put(
                "/proc/driver/nvidia/version", f"NVRM version: NVIDIA UNIX {open_module}  {driver}  Release\n"
            )
            lines = [f"{name}: {value}" for name, value in host.get("parameters", {}).items()]
            self._put("/proc/driver/nvidia/params", "\n".join(["ResmanDebugLevel: 4294967295", *lines]) + "\n")
        if "memlock" in host:
            bound = str(host["memlock"])
            self._put("/proc/self/limits", f"Max locked memory         {bound:<20} {bound:<20} bytes\n")
        if "shm_GiB" in host:
            for name in ("ipc", "pid", "net"):
                self._links[f"/proc/self/ns/{name}"] = f"{name}:[4026531839]"
        kind = host.get("iommu")
        if kind is not None and kind != "off" and not host.get("guest"):
            self._put("/sys/class/iommu/ivhd0/uevent" if cpu == "AMD" else "/sys/class/iommu/dmar0/uevent", "")
        if kind == "off" or host.get("guest"):
            self._empty.add("/sys/class/iommu")

    def _make_device(self, device: Device, machine: SimulatedMachine) -> None:
        folder = device.path
        self._links[f"{_DEVICES}/{device.bus}"] = folder
        gpu = device.gpu is not None
        speed, best = (SPEEDS[number] for number in (device.idle, device.generation))
        files = {
            "class": "0x030200" if gpu else "0x060400",
            "vendor": "0x10de" if gpu else "0x1022",
            "device": "0x2335" if gpu else "0x14a5",
            "numa_node": str(device.numa),
            "current_link_speed": f"{speed} GT/s PCIe",
            "max_link_speed": f"{best} GT/s PCIe",
            "current_link_width": str(device.lanes),
            "max_link_width": str(device.most_lanes),
            "aer_dev_correctable": _AER.format(name="Rx", kind="COR", count=device.table.get("aer", 0)),
            "aer_dev_nonfatal": _AER.format(name="Rx", kind="NONFATAL", count=device.table.get("aer_nonfatal", 0)),
            "aer_dev_fatal": _AER.format(name="Rx", kind="FATAL", count=device.table.get("aer_fatal", 0)),
        }
        if "cpus" in device.table:
            files["local_cpulist"] = str(device.table["cpus"])
        if gpu:
            size = _bar1(machine, device.gpu or 0)
            start = 0x20000000000 + (device.gpu or 0) * (1 << 40)
            files["resource"] = (
                "0x00000000a0000000 0x00000000a3ffffff 0x0000000000040200\n"
                f"0x{start:016x} 0x{start + size - 1:016x} 0x000000000014220c\n"
            )
            if machine.raw.get("driver"):
                self._links[f"{folder}/driver"] = "/sys/bus/pci/drivers/nvidia"
                self._put("/sys/bus/pci/drivers/nvidia/module", "")
        for name, text in files.items():
            self._put(f"{folder}/{name}", text + "\n")
        whole = bool(self._host.get("root"))
        self._texts[f"{folder}/config"] = _config(device.acs, whole=whole)
        domain = device.table.get("domain") or self._host.get("iommu")
        if domain and domain != "off":
            group = str(device.table.get("group") or _group(device.bus))
            self._links[f"{folder}/iommu_group"] = f"{_GROUPS}/{group}"
            self._links[f"{_GROUPS}/{group}/devices/{device.bus}"] = folder
            self._put(f"{_GROUPS}/{group}/type", f"{domain}\n")

    # Looking ---------------------------------------------------------------------------------------------------

    def _content(self, path: str) -> str | bytes:
        where = self._follow(path)
        if self._refused.get(where) == _DENIED:
            raise _error(errno.EACCES, path)
        if where in self._texts:
            return self._texts[where]
        raise _error(errno.EISDIR if where in self._folders else errno.ENOENT, path)

    def _follow(self, path: str) -> str:
        where, steps = "/", 0
        parts = [part for part in posixpath.normpath(path).split("/") if part]
        while parts:
            where = posixpath.join(where, parts.pop(0))
            if where in self._links and (parts or not where.startswith("/proc/self/ns/")):
                steps += 1
                if steps > _MOST_LINKS:
                    raise _error(errno.ELOOP, path)
                target = posixpath.normpath(posixpath.join(posixpath.dirname(where), self._links[where]))
                parts, where = [*(part for part in target.split("/") if part), *parts], "/"
        return where


def _parents(path: str) -> list[str]:
    found = ["/"]
    while (path := posixpath.dirname(path)) not in ("/", ""):
        found.append(path)
    return found


def _error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)


def _group(bus: str) -> str:
    """A number of its own for each device."""
    return str(int(bus.split(":")[1], 16))


def _bar1(machine: SimulatedMachine, gpu: int) -> int:
    table = machine.raw["gpu"][gpu]
    if "bar1_MiB" in table:
        return int(float(table["bar1_MiB"]) * (1 << 20))
    return 1 << (machine.gpus[gpu].memory - 1).bit_length()


def _config(control: int | None, *, whole: bool) -> bytes:
    """A configuration space: without root the kernel gives 64 bytes of it."""
    space = bytearray(4096)
    space[0:4] = (0x14A51022).to_bytes(4, "little")
    if not whole:
        return bytes(space[:64])
    # Advanced Error Reporting first, as most functions have it; then ACS.
    following = 0x2A0 if control is not None else 0
    space[0x100:0x104] = (0x0001 | 2 << 16 | following << 20).to_bytes(4, "little")
    if control is not None:
        space[0x2A0:0x2A4] = (0x000D | 1 << 16).to_bytes(4, "little")
        space[0x2A6:0x2A8] = control.to_bytes(2, "little")
    return bytes(space)
