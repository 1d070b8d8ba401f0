"""The process table that a launcher keeps for debuggers, read from its memory while it runs.

The MPIR Process Acquisition Interface (MPI Forum, version 1.0) names the variables: `MPIR_proctable`, an array of
`{char *host_name; char *executable_name; int pid;}` in the order of ranks, and `MPIR_proctable_size`. Open MPI up
to 4.1, srun and others export them; the launcher is not stopped, and need not have debug information.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

from ladder_backends.images.elf import PT_LOAD, ElfImage, ElfInvalid, FileBytes, segments_in
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.text import clean_line

MOST_ROWS = 1 << 20
"""Ranks of a table that are read."""

_TABLE, _SIZE = "MPIR_proctable", "MPIR_proctable_size"
_ROW = struct.Struct("<QQi4x")
_LIKELY = ("rte", "mpir", "mpi", "slurm", "hydra", "prrte", "pmix", "flux", "pals")
_LONGEST_TEXT = 4096
_MAPS = 16 << 20


class TableRow(NamedTuple):
    """One rank's process as its launcher started it: it may be a wrapper. Texts are clean."""

    host: str
    executable: str
    pid: int


def read_table(pid: int, proc: ProcFiles | None = None) -> tuple[TableRow, ...]:
    """The table of a launcher, by rank; empty where it has none, has not filled it yet, or may not be read."""
    proc = proc or ProcFiles()
    try:
        memory = os.open(f"{proc.root}/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ()
    try:
        for table_at, size_at in _places(pid, proc):
            rows = _rows(memory, table_at, size_at)
            if rows:
                return rows
    finally:
        os.close(memory)
    return ()


def _places(pid: int, proc: ProcFiles) -> Iterator[tuple[int, int]]:
    """Addresses of the two variables, of the program first: what it copies counts before its libraries' own."""
    program = proc.link(pid, "exe").removesuffix(" (deleted)")
    seen: set[str] = set()
    files: list[tuple[int, str]] = []
    for line in proc.raw(pid, "maps", _MAPS).decode("utf-8", "surrogateescape").splitlines():
        fields = line.split(None, 5)
        if len(fields) < 6 or fields[2].strip("0") or not fields[5].startswith("/") or fields[5] in seen:
            continue
        seen.add(fields[5])
        name = os.path.basename(fields[5])
        if fields[5] == program or any(word in name for word in _LIKELY):
            files.append((int(fields[0].partition("-")[0], 16), fields[5]))
    for start, path in sorted(files, key=lambda file: file[1] != program):
        # The program may be in another mount namespace; through its own link it is found even where it was deleted.
        where = f"{proc.root}/{pid}/exe" if path == program else f"{proc.root}/{pid}/root{path}"
        values = _values(where)
        if values is not None:
            bias = start - values[2]
            yield bias + values[0], bias + values[1]


def _values(path: str) -> tuple[int, int, int] | None:
    """Values of the two symbols in a file, and the address at which its first byte wants to be."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        content = FileBytes(descriptor)
        found = ElfImage(content).symbol_values((_TABLE, _SIZE))
        first = next((segment for segment in segments_in(content.read) if segment.type == PT_LOAD), None)
    except (ElfInvalid, OSError):
        return None
    finally:
        os.close(descriptor)
    if len(found) < 2 or first is None:
        return None
    return found[_TABLE], found[_SIZE], first.address - first.offset


def _rows(memory: int, table_at: int, size_at: int) -> tuple[TableRow, ...]:
    try:
        (size,) = struct.unpack("<i", os.pread(memory, 4, size_at))
        (table,) = struct.unpack("<Q", os.pread(memory, 8, table_at))
        if not 0 < size <= MOST_ROWS or not table:
            return ()
        raw = os.pread(memory, size * _ROW.size, table)
        texts: dict[int, str] = {}
        rows = []
        for host, executable, pid in _ROW.iter_unpack(raw[: len(raw) // _ROW.size * _ROW.size]):
            for address in (host, executable):
                if address not in texts:
                    texts[address] = _text(memory, address)
            rows.append(TableRow(texts[host], texts[executable], pid))
    except (OSError, OverflowError, struct.error):
        # It changes under us: the launcher is only just filling it, or ends.
        return ()
    return tuple(rows)


def _text(memory: int, address: int) -> str:
    if not address:
        return ""
    # No further than the page: the next one need not be there.
    size = min(_LONGEST_TEXT, 4096 - address % 4096)
    raw = os.pread(memory, size, address)
    if b"\0" not in raw and size < _LONGEST_TEXT:
        try:
            raw += os.pread(memory, _LONGEST_TEXT - size, address + size)
        except OSError:
            return ""
    return clean_line(raw.partition(b"\0")[0].decode("utf-8", "backslashreplace"))
