"""Tell files apart by what is in them; names are only asked where content says nothing (source files)."""

from __future__ import annotations

import codecs
import enum
import re
import stat
import struct
from pathlib import Path

from ladder_backends.images.elf_numbers import ELF_MAGIC, EM_CUDA, ET_CORE, ET_DYN, ET_EXEC, PT_INTERP
from ladder_backends.late_dataclass import dataclass
from ladder_backends.text import clean_line

XZ_MAGIC = b"\xfd7zXZ\x00"
"""How a file in an xz layer begins."""

_HEAD = 256 << 10
_SCAN = 16 << 20
_REPORT = re.compile(rb"(?:^|[^=])={9} +\S|<ComputeSanitizerOutput")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ET_REL, _PT_DYNAMIC = 1, 2
_DT_FLAGS_1, _DF_1_PIE = 0x6FFFFFFB, 0x08000000
_MOST_SEGMENTS = 256
_DYNAMIC = 64 << 10
_SOURCE_SUFFIXES = frozenset(
    {".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc"}
    | {".py", ".ptx", ".cl", ".hip", ".f", ".f90", ".rs", ".go", ".s"}
)


class FileKind(enum.StrEnum):
    """What a file is to the console."""

    CASE = "case"
    REPORT = "report"
    GPU_DUMP = "GPU core dump"
    CORE = "core file"
    EXECUTABLE = "executable"
    SCRIPT = "script"
    RECORDING = "recording"
    SOURCE = "source file"
    RUN = "run of the sanitizer"
    UNKNOWN = "unknown"

    @property
    def phrase(self) -> str:
        """The kind with its article: `an executable`, `a core file`."""
        return f"{'an' if self.value[0] in 'aeiou' else 'a'} {self.value}"


@dataclass(frozen=True, slots=True)
class Classified:
    """A file and what it is.

    Attributes:
        packing: The layer that has to come off before an engine can read it: `xz`, `gzip`, ...; or empty.
        why: For UNKNOWN, the reason, a clause without its subject.
    """

    path: Path
    kind: FileKind
    packing: str = ""
    why: str = ""

    @property
    def packed(self) -> bool:
        """It is inside a layer of compression."""
        return bool(self.packing)


def classify(path: Path) -> Classified:
    """Look into a file; never raises for a bad one, and reads no more than its beginning."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            from ladder_backends.case.run_folder import is_run

            if is_run(path):
                return Classified(path, FileKind.RUN)
            return Classified(path, FileKind.UNKNOWN, why="is a folder")
        if not stat.S_ISREG(mode):
            return Classified(path, FileKind.UNKNOWN, why="is no regular file")
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except FileNotFoundError:
        return Classified(path, FileKind.UNKNOWN, why="does not exist")
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or "cannot be read"
        return Classified(path, FileKind.UNKNOWN, why=f"cannot be read ({clean_line(reason)})")
    if not head:
        return Classified(path, FileKind.UNKNOWN, why="is empty (0 bytes)")
    if head.startswith(ELF_MAGIC):
        # A program that is debugged: what reads packed files is not imported for it.
        return _elf(path, head)
    if head.startswith(_ZIP):
        return Classified(path, FileKind.CASE)
    from ladder_backends.case.packing import packing_of

    if packing := packing_of(head):
        return _inside(path, packing)
    return _by_content(path, head)


def _by_content(path: Path, head: bytes) -> Classified:
    if head.startswith(ELF_MAGIC):
        return _elf(path, head)
    if _looks_recorded(head):
        return Classified(path, FileKind.RECORDING)
    if _REPORT.search(_narrow(head)):
        return Classified(path, FileKind.REPORT)
    if head.startswith(b"#!"):
        return Classified(path, FileKind.SCRIPT)
    if path.suffix.lower() in _SOURCE_SUFFIXES and b"\x00" not in head:
        return Classified(path, FileKind.SOURCE)
    if len(head) == _HEAD and _report_further_on(path):
        return Classified(path, FileKind.REPORT)
    if b"\x00" in head:
        return Classified(path, FileKind.UNKNOWN, why="is a binary file of no kind known here")
    return Classified(path, FileKind.UNKNOWN, why="is text, but no sanitizer report, recording or source file")


def _narrow(head: bytes) -> bytes:
    """UTF-16 with a byte order mark, as PowerShell writes logs, as UTF-8."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "replace").encode()
    return head


def _report_further_on(path: Path) -> bool:
    """Whether the tool's lines begin after a long output of the program itself."""
    try:
        with path.open("rb") as stream:
            return _REPORT.search(stream.read(_SCAN)) is not None
    except OSError:
        return False


def _inside(path: Path, packing: str) -> Classified:
    """Classify what is under one layer of compression, from its first bytes."""
    from ladder_backends.case.packing import Broken, unpacked_head

    try:
        inner = unpacked_head(path, packing, _HEAD)
    except Broken as error:
        return Classified(path, FileKind.UNKNOWN, why=clean_line(str(error))[:160])
    except OSError as error:
        return Classified(path, FileKind.UNKNOWN, why=f"cannot be read ({clean_line(error.strerror or '')})")
    found = _by_content(path.with_suffix(""), inner) if inner else Classified(path, FileKind.UNKNOWN)
    if found.kind in (FileKind.GPU_DUMP, FileKind.CORE):
        return Classified(path, found.kind, packing=packing)
    # Their readers take the layer off themselves.
    if found.kind is FileKind.REPORT and packing in ("gzip", "xz"):
        return Classified(path, FileKind.REPORT)
    if found.kind is FileKind.RECORDING and packing == "gzip":
        return Classified(path, FileKind.RECORDING)
    what = found.kind.phrase if found.kind is not FileKind.UNKNOWN else "a file"
    return Classified(path, FileKind.UNKNOWN, why=f"is {what} packed with {packing}; unpack it first")


def _elf(path: Path, head: bytes) -> Classified:
    if len(head) < 64 or head[4] not in (1, 2) or head[5] not in (1, 2):
        return Classified(path, FileKind.UNKNOWN, why="is an ELF file cut short in its header")
    order = "<" if head[5] == 1 else ">"
    elf_type, machine = struct.unpack_from(order + "HH", head, 16)
    if elf_type == ET_CORE:
        return Classified(path, FileKind.GPU_DUMP if machine == EM_CUDA else FileKind.CORE)
    if machine == EM_CUDA:
        return Classified(path, FileKind.UNKNOWN, why="is GPU code (a cubin), not a program")
    if elf_type == ET_EXEC or (elf_type == ET_DYN and _starts(path, head, order)):
        return Classified(path, FileKind.EXECUTABLE)
    if elf_type == ET_DYN:
        return Classified(path, FileKind.UNKNOWN, why="is a shared library, not a program")
    if elf_type == _ET_REL:
        return Classified(path, FileKind.UNKNOWN, why="is an object file, not a program")
    return Classified(path, FileKind.UNKNOWN, why="is an ELF file of an unknown type")


def _starts(path: Path, head: bytes, order: str) -> bool:
    """Whether a shared object can be started: it names a loader, or says that it is a program (static PIE)."""
    wide = head[4] == 2
    (table,) = struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)
    size, count = struct.unpack_from(order + "HH", head, 54 if wide else 42)
    for index in range(min(count, _MOST_SEGMENTS)):
        at = table + index * size
        if at + size > len(head) or size < (56 if wide else 32):
            return False
        (kind,) = struct.unpack_from(order + "I", head, at)
        if kind == PT_INTERP:
            return True
        if kind == _PT_DYNAMIC:
            offset, _, _, length = struct.unpack_from(
                order + ("4Q" if wide else "4I"), head, at + (8 if wide else 4)
            )
            if _says_program(path, order + ("QQ" if wide else "II"), offset, length):
                return True
    return False


def _says_program(path: Path, entry: str, offset: int, length: int) -> bool:
    """Whether the dynamic section flags a position-independent executable (`DF_1_PIE`)."""
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            raw = stream.read(min(length, _DYNAMIC))
    except (OSError, ValueError, OverflowError):
        return False
    whole = raw[: len(raw) - len(raw) % struct.calcsize(entry)]
    return any(tag == _DT_FLAGS_1 and value & _DF_1_PIE for tag, value in struct.iter_unpack(entry, whole))


def _looks_recorded(head: bytes) -> bool:
    line = head.lstrip()[:4096]
    return line.startswith(b"{") and (b'"ladder_recording"' in line or (b'"t"' in line and b'"d"' in line))
