"""Which program a target is of: what a user keeps is kept by it."""

from __future__ import annotations

import shutil
from pathlib import Path

from ladder_backends.debugger.target import AttachTarget, CoreTarget, GpuDumpTarget, LaunchTarget, Target


def program_of(target: Target) -> Path | None:
    """The executable of a target; None where that is not known without asking an engine."""
    if isinstance(target, LaunchTarget):
        program = target.program
        if "/" not in str(program) and not program.exists():
            return Path(shutil.which(str(program)) or program)
        return program
    if isinstance(target, AttachTarget):
        try:
            return Path(f"/proc/{target.pid}/exe").readlink()
        except OSError:
            return None
    if isinstance(target, CoreTarget | GpuDumpTarget):
        return target.executable
    return None
