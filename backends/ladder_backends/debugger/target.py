"""What a debugger is pointed at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.launch import ForkMode


@dataclass(frozen=True, slots=True)
class LaunchTarget:
    """A program to start under the debugger; it ends with the console.

    Attributes:
        environment: Variables set, or with None taken away, for the program on top of the console's own.
        stop_at_main: Stop at the first line of `main` instead of running on.
        non_stop: Threads stop one by one, where the engine can do that.
        fork: What happens at a fork; None leaves that to the user's settings.
        stdin: File the program reads instead of its terminal.
    """

    program: Path
    arguments: tuple[str, ...] = ()
    directory: Path | None = None
    environment: Mapping[str, str | None] = field(default_factory=dict)
    stop_at_main: bool = False
    non_stop: bool = False
    fork: ForkMode | None = None
    stdin: Path | None = None


@dataclass(frozen=True, slots=True)
class AttachTarget:
    """A running process; it outlives the console whatever ends it."""

    pid: int


@dataclass(frozen=True, slots=True)
class CoreTarget:
    """A host core file, with its executable where known.

    Attributes:
        folders: Where the executable is looked for besides the places that the core itself leads to.
    """

    core: Path
    executable: Path | None = None
    folders: tuple[Path, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class GpuDumpTarget:
    """A GPU core dump, with the executable whose source and symbols it refers to where known."""

    dump: Path
    executable: Path | None = None


Target: TypeAlias = LaunchTarget | AttachTarget | CoreTarget | GpuDumpTarget
