"""Which files a running process has loaded, by the names under which its loader knows them.

The names are read from the loader's own list (`struct link_map` of `<link.h>`) in the memory of the process, while
it runs: debuggers look libraries up by these, not by the paths of `/proc/PID/maps`, in which links are resolved.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable

from ladder_backends.late_dataclass import dataclass
from ladder_backends.processes.proc_files import ProcFiles

MOST_OBJECTS = 4_000
"""Libraries that are looked at."""

_MAPS = 16 << 20
_LONGEST_NAME = 4096
_AT_PHDR, _AT_PHENT, _AT_PHNUM = 3, 4, 5
_PT_DYNAMIC, _PT_PHDR = 2, 6
_DT_DEBUG = 21
_MOST_HEADERS = 256
_DYNAMIC = 64 << 10
_GONE = " (deleted)"
_LINE_END = r"\012"
"""How the kernel writes the one character that it escapes in the paths of `maps`."""

_HEADER = struct.Struct("<IIQQQQQQ")
_PAIR = struct.Struct("<QQ")
_LINK = struct.Struct("<QQQQ")


@dataclass(frozen=True, slots=True)
class LoadedObjects:
    """The program and the libraries of a process.

    Attributes:
        executable: Path of the program, in the process's own file system; empty where it may not be read.
        executable_gone: That file has been deleted or replaced since the process started.
        libraries: Absolute names of its libraries, in the order of loading, without those that are gone.
        gone: Libraries whose files have been deleted or replaced since they were loaded.
        root: Prefix under which this console finds the files of the process: empty for the same file system.
    """

    executable: str = ""
    executable_gone: bool = False
    libraries: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    root: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """What can be read: the program, if it is there, and its libraries."""
        first = () if self.executable_gone or not self.executable else (self.executable,)
        return (*first, *self.libraries)


def loaded_objects(pid: int, proc: ProcFiles | None = None) -> LoadedObjects:
    """Look a process's files up without stopping it; empty where it may not be looked into."""
    proc = proc or ProcFiles()
    executable = proc.link(pid, "exe")
    gone = executable.endswith(_GONE)
    mapped = _mapped(proc.raw(pid, "maps", _MAPS))
    names = _loader_names(pid, proc)
    if names is None:
        paths = dict.fromkeys(path for _, _, path, _ in mapped if _is_library(path) and path != executable)
        names = [(0, path) for path in paths]
    deleted = {path for _, _, path, is_gone in mapped if is_gone}
    libraries: list[str] = []
    lost: list[str] = []
    for address, name in names:
        row = next((row for row in mapped if row[0] <= address < row[1]), None) if address else None
        lies_gone = row[3] if row is not None else name in deleted
        (lost if lies_gone else libraries).append(name)
    return LoadedObjects(
        executable.removesuffix(_GONE),
        gone,
        tuple(dict.fromkeys(libraries)),
        tuple(dict.fromkeys(lost)),
        _root(pid, proc),
    )


def _root(pid: int, proc: ProcFiles) -> str:
    theirs, ours = proc.link(pid, "ns/mnt"), proc.link("self", "ns/mnt")
    elsewhere = bool(theirs and ours and theirs != ours) or proc.link(pid, "root") not in ("", "/")
    return f"{proc.root}/{pid}/root" if elsewhere else ""


def _is_library(path: str) -> bool:
    name = os.path.basename(path)
    return path.startswith("/") and (name.endswith(".so") or ".so." in name)


def _mapped(raw: bytes) -> list[tuple[int, int, str, bool]]:
    """Rows of `maps` with a file: from, up to, path, and whether that file is gone."""
    rows = []
    for line in raw.decode("utf-8", "surrogateescape").split("\n"):
        fields = line.split(None, 5)
        if len(fields) < 6 or not fields[5].startswith("/"):
            continue
        start, _, end = fields[0].partition("-")
        path = fields[5].replace(_LINE_END, "\n")
        try:
            rows.append((int(start, 16), int(end, 16), path.removesuffix(_GONE), path.endswith(_GONE)))
        except ValueError:
            continue
    return rows


def _loader_names(pid: int, proc: ProcFiles) -> list[tuple[int, str]] | None:
    """Address of the dynamic section and name of each library; None where the loader's list cannot be read."""
    if proc.raw(pid, "exe", 5)[4:5] == b"\x01":
        # 32-bit: the structures have another layout.
        return None
    try:
        memory = os.open(f"{proc.root}/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None

    def read(address: int, size: int) -> bytes:
        return os.pread(memory, size, address)

    try:
        return _walk(proc.raw(pid, "auxv"), read)
    except (OSError, OverflowError, struct.error, KeyError, StopIteration):
        # The list changes under us, or the process has none: a static program, one that is only just starting.
        return None
    finally:
        os.close(memory)


def _walk(auxiliary: bytes, read: Callable[[int, int], bytes]) -> list[tuple[int, str]] | None:
    told = dict(_PAIR.iter_unpack(auxiliary[: len(auxiliary) // 16 * 16]))
    table, count = told[_AT_PHDR], min(told[_AT_PHNUM], _MOST_HEADERS)
    if told[_AT_PHENT] != _HEADER.size:
        return None
    headers = list(_HEADER.iter_unpack(read(table, count * _HEADER.size)))
    bias = next((table - row[3] for row in headers if row[0] == _PT_PHDR), 0)
    dynamic = next(row for row in headers if row[0] == _PT_DYNAMIC)
    section = read(bias + dynamic[3], min(dynamic[6], _DYNAMIC))
    debug = dict(reversed(list(_PAIR.iter_unpack(section[: len(section) // 16 * 16]))))[_DT_DEBUG]
    if not debug:
        return None
    # `struct r_debug` begins with its version; the list's head is next, aligned to a pointer.
    (link,) = struct.unpack("<Q", read(debug + 8, 8))
    found: list[tuple[int, str]] = []
    seen: set[int] = set()
    while link and link not in seen and len(seen) < MOST_OBJECTS:
        seen.add(link)
        _, name_at, section_at, link = _LINK.unpack(read(link, _LINK.size))
        name = os.fsdecode(_string(name_at, read)) if name_at else ""
        if name.startswith("/"):
            found.append((section_at, name))
    return found


def _string(address: int, read: Callable[[int, int], bytes]) -> bytes:
    """A string of at most a path's length; what lies behind it may not be readable."""
    text = b""
    while len(text) < _LONGEST_NAME:
        # Up to the end of the page only.
        size = 4096 - address % 4096
        chunk = read(address, size)
        head, zero, _ = chunk.partition(b"\0")
        text += head
        if zero or len(chunk) < size:
            return text
        address += size
    return text[:_LONGEST_NAME]
