"""A target in few words."""

from __future__ import annotations

from ladder_backends.debugger.target import AttachTarget, CoreTarget, LaunchTarget, Target
from ladder_backends.text import clean_line


def title_of(target: Target) -> str:
    """`segfault`, `process 4711`, `vector_add_oob · dump`."""
    if isinstance(target, LaunchTarget):
        return clean_line(target.program.name)
    if isinstance(target, AttachTarget):
        return f"process {target.pid}"
    if isinstance(target, CoreTarget):
        return f"{clean_line((target.executable or target.core).name)} · core"
    return f"{clean_line((target.executable or target.dump).name)} · dump"
