"""The list of processes as rows: which match what was typed, in which order, and how they look."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from ladder_backends.model.process import GpuUse, RunningProcess
from ladder_tui.widgets.row import EMPTY, Cell, Row

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60))
_PATH_STATES = {"T": "stopped", "t": "traced", "D": "in the kernel", "R": "runs", "S": "sleeps", "I": "idle"}


class Order(enum.StrEnum):
    """Ways to sort; own processes come first in each."""

    NEWEST = "newest first"
    GPU = "GPU memory"
    THREADS = "threads"
    COMMAND = "command"
    PID = "pid"

    @property
    def following(self) -> Order:
        """The next one round."""
        every = list(Order)
        return every[(every.index(self) + 1) % len(every)]


def matching(processes: Iterable[RunningProcess], words: str) -> list[RunningProcess]:
    """Processes that hold every word somewhere in id, user, command, GPU use or container; case does not matter."""
    wanted = words.casefold().split()
    return [process for process in processes if all(word in _searched(process) for word in wanted)]


def ordered(processes: Iterable[RunningProcess], order: Order, uid: int) -> list[RunningProcess]:
    """Sorted: those of the user first, and of these the ones that can be attached to."""

    def key(process: RunningProcess) -> tuple[object, ...]:
        group = (process.uid != uid, bool(process.obstacle))
        match order:
            case Order.GPU:
                use = process.gpu
                return (use is None, *group, -(use.memory or 0) if use else 0, -process.started, process.pid)
            case Order.THREADS:
                return (*group, -process.threads, process.pid)
            case Order.COMMAND:
                return (*group, process.command, process.pid)
            case Order.PID:
                return (*group, process.pid)
            case _:
                return (*group, -process.started, -process.pid)

    return sorted(processes, key=key)


def process_row(process: RunningProcess, now: float, *, gpus: bool) -> Row:
    """One process on one line.

    Args:
        process: Which.
        now: Seconds since the epoch.
        gpus: There is a column for GPU use.
    """
    barred = bool(process.obstacle)
    style = "muted" if barred else "text"
    gpu = (Cell(f"{gpu_text(process.gpu):<11.11} ", "number"),) if gpus else ()
    cells = (
        Cell(f"{process.pid:>7} ", "number" if not barred else "muted"),
        Cell(f"{process.user:<8.8} ", style),
        Cell("✗ " if barred else f"{process.state} ", "fault" if barred else "muted"),
        Cell(f"{age_text(now - process.started):>4} ", "muted"),
        Cell(f"{process.threads:>4} ", "muted"),
        *gpu,
        Cell(_short(process.command), style),
    )
    return Row(cells, target=process, pinned=2)


def heading_row(*, gpus: bool) -> Row:
    """Names of the columns."""
    gpu = f"{'gpu':<11} " if gpus else ""
    return Row((Cell(f"{'pid':>7} {'user':<8} s {'age':>4} {'thr':>4} {gpu}command", "muted"),))


def detail_rows(process: RunningProcess | None) -> tuple[Row, Row]:
    """What is known of the selected process beyond its line: why not, or where it runs."""
    if process is None:
        return EMPTY, EMPTY
    if process.obstacle:
        first = Row((Cell("  ✗ ", "fault"), Cell(process.obstacle)))
        return first, Row((Cell(f"    → {process.remedy}" if process.remedy else "", "key"),))
    state = _PATH_STATES.get(process.state, process.state)
    words = [state, f"parent {process.parent}"]
    if process.container:
        words.append(f"container {process.container}")
    if process.gpu is not None:
        words.append(gpu_text(process.gpu))
    folder = process.directory or "a folder that may not be read"
    where = Row((Cell("  in ", "muted"), Cell(folder, "file"), Cell(f"  {process.command}", "muted")))
    return Row((Cell("  "), Cell(" · ".join(words), "muted"))), where


def _short(command: str) -> str:
    """A command line without the folder of its program: what follows tells processes apart."""
    program, space, rest = command.partition(" ")
    return f"{program.rpartition('/')[2] or program}{space}{rest}" if program.startswith("/") else command


def gpu_text(use: GpuUse | None) -> str:
    """`gpu0-3,6 12G`; `gpu` where only the driver is open; empty without use."""
    if use is None:
        return ""
    name = f"gpu{_ranges(use.devices)}"
    return f"{name} {_size_text(use.memory)}" if use.memory else name


def age_text(seconds: float) -> str:
    """`12s`, `5m`, `3h`, `9d`."""
    for unit, size in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"


def _ranges(numbers: Iterable[int]) -> str:
    """`0-3,6`; the numbers ascend."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _size_text(size: int) -> str:
    return f"{size / (1 << 30):.0f}G" if size >= 10 << 30 else f"{size >> 20}M"


def _searched(process: RunningProcess) -> str:
    words = (str(process.pid), process.user, process.command, gpu_text(process.gpu), process.container)
    return " ".join(words).casefold()
