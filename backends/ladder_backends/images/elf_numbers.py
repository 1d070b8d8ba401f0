"""Numbers of ELF files: System V ABI, chapters 4 and 5; `EM_CUDA` as NVIDIA's images have it."""

from __future__ import annotations

ELF_MAGIC = b"\x7fELF"

EM_CUDA = 190
ET_EXEC = 2
ET_DYN = 3
ET_CORE = 4

PT_LOAD = 1
PT_INTERP = 3
PT_NOTE = 4
