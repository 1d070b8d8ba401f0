"""Whether an executable belongs to a GPU core dump; cuda-gdb takes any executable without complaint."""

from __future__ import annotations

import enum
import os
from dataclasses import dataclass
from pathlib import Path

from ladder_backends.errors import TargetInvalid
from ladder_backends.images.elf import ElfInvalid
from ladder_backends.images.fatbin import read_device_code
from ladder_backends.images.gpu_dump import GpuDump
from ladder_backends.images.names import kernel_name
from ladder_backends.text import clean_line

_MOST_NAMED = 4


class MatchVerdict(enum.StrEnum):
    """What the comparison gave."""

    MATCHES = "matches"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DumpMatch:
    """The verdict on a dump and an executable.

    Attributes:
        reason: One clause: what was found, or why nothing can be said.
    """

    verdict: MatchVerdict
    reason: str


def match_executable(dump: GpuDump, executable: Path) -> DumpMatch:
    """Compare the kernels a dump stopped in with the kernels an executable carries.

    Raises:
        TargetInvalid: The executable is missing, unreadable or no ELF program.
    """
    shown = clean_line(executable.name)
    try:
        code = read_device_code(executable)
    except FileNotFoundError as error:
        raise TargetInvalid(
            f"there is no executable {clean_line(str(executable))}", "", "check the path, or leave it out"
        ) from error
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise TargetInvalid(
            f"{shown} cannot be read", clean_line(why), "check the path, or leave it out"
        ) from error
    except ElfInvalid as error:
        raise TargetInvalid(
            f"{shown} is no executable program",
            str(error),
            "name the ELF program that made the dump, or leave it out",
        ) from error
    symbols = [kernel.symbol for kernel in dump.kernels if kernel.symbol]
    if not symbols:
        return DumpMatch(MatchVerdict.UNKNOWN, "the dump names no kernel")
    for symbol in symbols:
        if code.holds(symbol):
            return DumpMatch(MatchVerdict.MATCHES, f"{shown} holds the kernel {kernel_name(symbol)}")
    stopped_in = ", ".join(kernel_name(symbol) for symbol in dict.fromkeys(symbols))
    if not code.present:
        return DumpMatch(
            MatchVerdict.UNKNOWN, f"{shown} carries no device code; the kernel {stopped_in} came from elsewhere"
        )
    if code.libraries:
        first = clean_line(code.libraries[0])
        return DumpMatch(
            MatchVerdict.UNKNOWN, f"{shown} itself holds no kernel {stopped_in}; a library such as {first} may"
        )
    held = sorted({clean_line(kernel_name(symbol)) for symbol in code.kernels})
    named = ", ".join(held[:_MOST_NAMED]) + (", ..." if len(held) > _MOST_NAMED else "")
    reason = f"the dump stopped in {stopped_in}, and {shown} holds no such kernel"
    return DumpMatch(MatchVerdict.DIFFERS, f"{reason} (it holds {named})" if named else reason)
