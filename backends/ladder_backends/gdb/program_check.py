"""Whether a file can be started, under gdb or by a tool, told before those are asked: they say little, and late."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import struct
from pathlib import Path

from ladder_backends.errors import TargetInvalid
from ladder_backends.images.elf import (
    ELF_MAGIC,
    EM_CUDA,
    ET_CORE,
    ET_DYN,
    ET_EXEC,
    PT_INTERP,
    ElfImage,
    ElfInvalid,
    read_segments,
)
from ladder_backends.late_dataclass import dataclass
from ladder_backends.text import clean_line, decode

_MACHINES = {
    3: "i386",
    8: "mips",
    20: "ppc",
    21: "ppc64",
    22: "s390x",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
    243: "riscv",
    258: "loongarch64",
}
_RUNS_ON = {
    "x86_64": frozenset({"x86_64", "i386"}),
    "aarch64": frozenset({"aarch64", "arm"}),
    "ppc64le": frozenset({"ppc64"}),
    "s390x": frozenset({"s390x"}),
    "riscv64": frozenset({"riscv"}),
}
_LONGEST_PATH = 4096
_DEBUG_SECTIONS = frozenset({".debug_info", ".zdebug_info", ".stab"})
_KINDS = {1: "an object file, not linked yet", ET_CORE: "a core file"}


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """What a program's file tells.

    Attributes:
        path: Absolute path.
        stripped: It has no symbol table of its own.
        lines: It has debug information of its own.
    """

    path: Path
    stripped: bool = False
    lines: bool = True


def check_program(program: Path) -> ProgramFacts:
    """Find a program as a shell would, and check that it can be started on this machine.

    Raises:
        TargetInvalid: It is missing, no file, not executable, a script, or made for another machine.
    """
    shown = clean_line(str(program))
    path = program
    if not program.exists() and "/" not in str(program):
        found = shutil.which(str(program))
        path = Path(found) if found else program
    head = _head_of(path, shown)
    if interpreter := _interpreter(head):
        raise TargetInvalid(
            f"cannot debug {shown}",
            f"it is a script for {interpreter}",
            f"debug its interpreter: run {' '.join([*_program_of(interpreter), clean_line(str(path))])}",
        )
    _check_content(head, shown)
    _check_name(str(path.absolute()), shown)
    _check_starts(path, shown)
    return read_facts(path)


def check_startable(program: Path) -> None:
    """Check that the system can start a program, or a script, on this machine.

    Raises:
        TargetInvalid: It is missing, no file, not executable, neither a program nor a script, or made for another
            machine.
    """
    shown = clean_line(str(program))
    head = _head_of(program, shown)
    interpreter = _interpreter(head)
    if interpreter:
        name = interpreter.split()[0]
        if not os.path.exists(name):
            raise TargetInvalid(
                f"cannot run {shown}",
                f"its first line names {clean_line(name)}, which is not there",
                "install that, or change the line",
            )
    else:
        _check_content(head, shown)
    _check_starts(program, shown)


def _head_of(path: Path, shown: str) -> bytes:
    """The first bytes of what is a regular file."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise TargetInvalid(f"cannot run {shown}", "there is no such file", "check the path") from None
    except (OSError, ValueError) as error:
        raise TargetInvalid(f"cannot run {shown}", _reason(error)) from error
    if stat.S_ISDIR(mode):
        raise TargetInvalid(f"cannot run {shown}", "it is a folder", "name the program in it")
    if not stat.S_ISREG(mode):
        raise TargetInvalid(f"cannot run {shown}", "it is not a regular file")
    try:
        with path.open("rb") as file:
            return file.read(256)
    except OSError as error:
        raise TargetInvalid(f"cannot run {shown}", _reason(error), "check its permissions") from error


def _check_starts(path: Path, shown: str) -> None:
    if not os.access(path, os.X_OK):
        raise TargetInvalid(
            f"cannot run {shown}", "it is not executable", f"make it so with `chmod +x {clean_line(str(path))}`"
        )
    loader = _loader_of(path)
    if loader and not os.path.exists(loader):
        raise TargetInvalid(
            f"cannot run {shown}",
            f"its loader {clean_line(loader)} is not on this machine",
            "build it here, or install the C library that it was built for",
        )


def _interpreter(head: bytes) -> str:
    """What the first line of a script names, with its words; empty for anything else."""
    return decode(head[2:].split(b"\n", 1)[0]).strip() if head.startswith(b"#!") else ""


def _program_of(interpreter: str) -> list[str]:
    words = interpreter.split()
    if words[0].endswith("/env"):
        words = [word for word in words[1:] if not word.startswith("-")]
    return words[:1]


def _check_name(path: str, shown: str) -> None:
    """Refuse what gdb cannot hand on: its commands are one line, and no backslash is quoted for the shell."""
    for mark, name in (("\n", "a newline"), ("\r", "a carriage return"), ("\\", "a backslash")):
        if mark in path:
            raise TargetInvalid(
                f"cannot run {shown}", f"gdb starts no program with {name} in its path", "give it another name"
            )


def _loader_of(path: Path) -> str:
    """The dynamic loader that a 64-bit program names; empty where it names none, or cannot be read."""
    try:
        with path.open("rb") as file:
            for segment in read_segments(file):
                if segment.type == PT_INTERP:
                    name = os.pread(file.fileno(), min(segment.size, _LONGEST_PATH), segment.offset)
                    return os.fsdecode(name.split(b"\0", 1)[0])
    except (OSError, OverflowError):
        return ""
    return ""


def read_facts(path: Path) -> ProgramFacts:
    """What a program's section table tells; where it cannot be read, nothing is said to be missing."""
    full = path.absolute()
    try:
        with ElfImage.open(path) as image:
            names = {section.name for section in image.sections}
    except (OSError, ElfInvalid):
        # 32-bit programs are not read here; gdb says itself what it finds in them.
        return ProgramFacts(full)
    return ProgramFacts(full, stripped=".symtab" not in names, lines=bool(names & _DEBUG_SECTIONS))


def _check_content(head: bytes, shown: str) -> None:
    if not head:
        raise TargetInvalid(f"cannot run {shown}", "it is empty (0 bytes)", "build it again")
    if not head.startswith(ELF_MAGIC):
        raise TargetInvalid(
            f"cannot run {shown}", "it is no program for this system (no ELF file)", "name a compiled program"
        )
    if len(head) < 20:
        raise TargetInvalid(f"cannot run {shown}", "it is cut short inside its ELF header", "build it again")
    kind, machine = struct.unpack_from("<HH" if head[5] != 2 else ">HH", head, 16)
    if machine == EM_CUDA:
        what = "a GPU core dump" if kind == ET_CORE else "GPU code (a cubin)"
        raise TargetInvalid(f"cannot run {shown}", f"it is {what}, not a program for the host")
    if kind not in (ET_EXEC, ET_DYN):
        raise TargetInvalid(f"cannot run {shown}", f"it is {_KINDS.get(kind, 'no program')}")
    here = platform.machine()
    name = _MACHINES.get(machine, f"machine {machine}")
    if here in _RUNS_ON and name not in _RUNS_ON[here]:
        raise TargetInvalid(
            f"cannot run {shown}", f"it is made for {name}, and this machine is {here}", "build it for this machine"
        )


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return clean_line(str(error))
