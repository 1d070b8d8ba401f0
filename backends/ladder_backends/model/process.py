"""A running process as a person chooses it from a list."""

from __future__ import annotations

from ladder_backends.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class GpuUse:
    """What a process does with GPUs.

    Attributes:
        devices: Indices of the devices, as the driver numbers them; empty where only the driver is open.
        memory: Bytes of device memory over all devices, or None where nobody tells.
    """

    devices: tuple[int, ...] = ()
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """One process; every text is clean.

    Attributes:
        parent: Process id of its parent.
        command: Its command line, or its name where it has overwritten that; cut to a printable length.
        user: Name of its effective user, or the number where there is no name.
        uid: Number of its effective user.
        state: The kernel's letter: R runs, S sleeps, D waits in the kernel, T stopped, t traced, Z ended.
        started: Seconds since the epoch.
        threads: How many it has.
        directory: Its working directory, or an empty string where that may not be read.
        gpu: Its use of GPUs; None where it uses none, or nobody tells.
        container: Which container it is in, where its process or mount namespace is another than ours.
        obstacle: Why it cannot be attached to, a clause; empty where nothing speaks against it.
        remedy: What to do about that, in the imperative.
    """

    pid: int
    parent: int
    command: str
    user: str
    uid: int
    state: str
    started: float
    threads: int
    directory: str = ""
    gpu: GpuUse | None = None
    container: str = ""
    obstacle: str = ""
    remedy: str = ""
