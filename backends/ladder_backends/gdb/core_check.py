"""Whether a file is a host core that gdb can open."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from ladder_backends.case.packing import packing_of
from ladder_backends.errors import TargetInvalid
from ladder_backends.images.elf import ELF_MAGIC, EM_CUDA, ET_CORE, PT_LOAD, read_segments
from ladder_backends.rungs import dump_rung
from ladder_backends.text import clean_line


def check_core(core: Path) -> list[str]:
    """Check a host core; returns what is wrong with it without making it useless, one clause each.

    Raises:
        TargetInvalid: It is missing, empty, of a GPU, of another format, or cut so that nothing is left of it.
    """
    shown = clean_line(str(core))
    try:
        if core.is_dir():
            raise TargetInvalid(f"cannot open {shown}", "it is a folder", "name the core file in it")
        size = core.stat().st_size
        with core.open("rb") as file:
            head = file.read(64)
            segments = read_segments(file)
    except FileNotFoundError:
        raise TargetInvalid(f"cannot open {shown}", "there is no such file", "check the path") from None
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise TargetInvalid(f"cannot open {shown}", why, "check its permissions") from error
    if size == 0:
        raise TargetInvalid(
            f"cannot open {shown}", "it is empty (0 bytes)", "look at `ulimit -c` and the disk, then crash again"
        )
    if packing := packing_of(head):
        raise TargetInvalid(f"cannot open {shown}", f"it is compressed ({packing})", "unpack it first")
    if not head.startswith(ELF_MAGIC):
        raise TargetInvalid(f"cannot open {shown}", "it is no core file (no ELF file)", "name a core file")
    if len(head) < 64:
        raise TargetInvalid(f"cannot open {shown}", f"it is cut after {size} bytes", "copy it again")
    kind, machine = struct.unpack_from("<HH", head, 16)
    if machine == EM_CUDA:
        raise TargetInvalid(
            f"cannot open {shown} with gdb",
            "it is GPU code or a GPU core dump",
            f"open it on the {dump_rung().name} rung",
        )
    if kind != ET_CORE:
        raise TargetInvalid(
            f"cannot open {shown}", "it is a program or library, not a core file", "name the core file first"
        )
    end = max((segment.offset + segment.size for segment in segments if segment.type == PT_LOAD), default=0)
    if not segments and head[4:6] == b"\x02\x01":
        raise TargetInvalid(
            f"cannot open {shown}", f"it is cut after {size} bytes, before its contents", "copy it again"
        )
    if segments and min(segment.offset for segment in segments) >= size:
        raise TargetInvalid(f"cannot open {shown}", f"it is cut after {size} of {end} bytes", "copy it again")
    if end > size:
        return [f"the core is cut after {size} of {end} bytes: memory beyond is missing"]
    return []
