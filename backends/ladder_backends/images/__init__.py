"""Files as they lie on disk: ELF images, GPU core dumps and fat binaries, read without any tool.

An engine aborts on a cut dump and takes any executable; what it does not check is checked here, with every offset
and size bounded by the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.exports import on_demand

if TYPE_CHECKING:
    from ladder_backends.images.elf import ElfImage, ElfInvalid
    from ladder_backends.images.fatbin import carries_device_code
    from ladder_backends.images.gpu_dump import DebugInformation, DumpKernel, GpuDump, read_gpu_dump
    from ladder_backends.images.match import DumpMatch, MatchVerdict, match_executable
else:
    __getattr__ = on_demand(
        __name__,
        elf="ElfImage ElfInvalid",
        fatbin="carries_device_code",
        gpu_dump="DebugInformation DumpKernel GpuDump read_gpu_dump",
        match="DumpMatch MatchVerdict match_executable",
    )

__all__ = [
    "DebugInformation",
    "DumpKernel",
    "DumpMatch",
    "ElfImage",
    "ElfInvalid",
    "GpuDump",
    "MatchVerdict",
    "carries_device_code",
    "match_executable",
    "read_gpu_dump",
]
