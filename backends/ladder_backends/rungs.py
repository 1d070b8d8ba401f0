"""The rungs of the ladder, once: bar, digits, layouts, start screen, configuration and debuggers are drawn from it.

Next to nothing is imported for it, not even dataclasses: `--help` reads it. A debugger that another package adds
brings its own rung, which stands at the end; `debugger.registry.find_rungs` looks for those.
"""

from __future__ import annotations

import enum
from typing import NamedTuple


class Layout(enum.StrEnum):
    """Which panes come first."""

    HOST = "host"
    DEVICE = "device"
    HARDWARE = "hardware"
    RANKS = "ranks"


class Rung(NamedTuple):
    """One rung.

    Attributes:
        key: The digit that goes to it, or an empty string.
        name: What it is called everywhere; that of its debugger, where it has one.
        short: Its name where there is little room.
        answers: The questions it is for.
        debugger: Name of the debugger that programs, processes or dumps are opened with on it, or an empty string.
        entry_point: Where the debugger that is registered under the rung's name lies, `module:Class`, for those of
            this distribution.
        engine: Name of the executable that does its work, or an empty string.
        variable: Environment variable that names the executable.
        install: How to get the engine, in the imperative.
        layout: Which panes come first.
        findings: It holds the findings of a report.
        device: Whose kernels its debugger stands in, `CUDA` or `HIP`; else an empty string.
        dumps: GPU core dumps are opened on it.
        opens: The command that opens something on it, or an empty string.
        missing: Why it cannot be used in this version, or an empty string.
    """

    key: str
    name: str
    short: str
    answers: str = ""
    debugger: str = ""
    entry_point: str = ""
    engine: str = ""
    variable: str = ""
    install: str = ""
    layout: Layout = Layout.HOST
    findings: bool = False
    device: str = ""
    dumps: bool = False
    opens: str = ""
    missing: str = ""

    @property
    def lanes(self) -> bool:
        """Findings lead to lanes that are shown here."""
        return self.findings or self.dumps

    @property
    def place(self) -> str:
        """The rung as texts name it: `rung 3`, or `the lldb rung` where no digit leads there."""
        return f"rung {self.key}" if self.key else f"the {self.name} rung"


OURS: tuple[Rung, ...] = (
    Rung(
        "0",
        "hardware",
        "hw",
        "do the GPUs and their transfers work",
        layout=Layout.HARDWARE,
    ),
    Rung(
        "1",
        "gdb",
        "gdb",
        "which line, which caller, which value",
        debugger="gdb",
        entry_point="ladder_backends.gdb:GdbDebugger",
        engine="gdb",
        variable="LADDER_GDB",
        install="install it (`apt install gdb`, `dnf install gdb`), or set LADDER_GDB to its path",
        opens="ladder-tui run PROGRAM",
    ),
    Rung(
        "2",
        "sanitizer",
        "sanit",
        "which access, which lane, which allocation",
        engine="compute-sanitizer",
        variable="LADDER_SANITIZER",
        layout=Layout.DEVICE,
        findings=True,
    ),
    Rung(
        "3",
        "cuda-gdb",
        "cuda",
        "what that lane sees, where the others are",
        debugger="cuda-gdb",
        entry_point="ladder_backends.cuda_gdb:CudaGdbDebugger",
        engine="cuda-gdb",
        variable="LADDER_CUDA_GDB",
        install="run `ladder-tui demo --install-cuda-gdb`, or set LADDER_CUDA_GDB to its path",
        layout=Layout.DEVICE,
        device="CUDA",
        dumps=True,
        opens="ladder-tui open DUMP PROGRAM",
    ),
    Rung(
        "4",
        "rocgdb",
        "roc",
        "what a work-item sees, where the other waves are",
        engine="rocgdb",
        variable="LADDER_ROCGDB",
        layout=Layout.DEVICE,
        device="HIP",
        missing="the rocgdb rung is not built yet; rocgdb itself works in a terminal",
    ),
    Rung(
        "5",
        "ranks",
        "ranks",
        "which rank waits for which",
        entry_point="ladder_backends.ranks.engine.rank_debugger:RankDebugger",
        layout=Layout.RANKS,
    ),
)
"""The rungs of this distribution, from the hardware up."""

_FREE_KEYS = "6789"
_SHORT = 5
_OURS_NAMED = {rung.name: rung for rung in OURS}
_added: dict[str, Rung] = {}


def rungs() -> tuple[Rung, ...]:
    """Every rung: ours, then those of debuggers that were added, in the order of their names."""
    return (*OURS, *added())


def added() -> tuple[Rung, ...]:
    """The rungs of debuggers that other packages add; the first ones get the digits that are left."""
    return tuple(_added.values())


def add(found: dict[str, Rung]) -> bool:
    """Take the rungs that added debuggers bring, by name; ours cannot be replaced.

    Returns:
        Whether there are other rungs than before.
    """
    names = sorted(found.keys() - {rung.name for rung in OURS})
    before = dict(_added)
    _added.clear()
    for number, name in enumerate(names):
        rung = found[name]
        key = _FREE_KEYS[number] if number < len(_FREE_KEYS) else ""
        _added[name] = rung._replace(key=key)
    return _added != before


def added_rung(
    name: str, debugger: str, *, answers: str = "", device: str = "", opens: str = "", missing: str = ""
) -> Rung:
    """A rung of a debugger that another package adds, before it has a digit."""
    return Rung(
        "",
        name,
        name if len(name) <= _SHORT else name[:_SHORT],
        answers,
        debugger=debugger,
        layout=Layout.DEVICE if device else Layout.HOST,
        device=device,
        opens=opens or f"ladder-tui run --rung {debugger} PROGRAM",
        missing=missing,
    )


def debugger_list() -> str:
    """The debuggers of this distribution, for texts: `gdb or cuda-gdb`."""
    return " or ".join(rung.debugger for rung in OURS if rung.debugger)


def rung_named(name: str) -> Rung:
    """The rung of that name; one that nobody knows is a rung of which only the name is known."""
    return _OURS_NAMED.get(name) or _added.get(name) or Rung("", name, name[:_SHORT])


def rung_at(key: str | None) -> Rung | None:
    """The rung that a digit goes to."""
    return next((rung for rung in rungs() if key and rung.key == key), None)


def host_rung() -> Rung:
    """The rung on which programs, processes and cores are opened where nothing speaks for another."""
    return next(rung for rung in OURS if rung.debugger and not rung.device)


def findings_rung() -> Rung:
    """The rung that holds findings."""
    return next(rung for rung in OURS if rung.findings)


def dump_rung() -> Rung:
    """The rung on which GPU core dumps are opened."""
    return next(rung for rung in OURS if rung.dumps)


def device_rung(device: str) -> Rung | None:
    """The rung whose debugger stands in the kernels of `CUDA` or `HIP`."""
    return next((rung for rung in OURS if device and rung.device == device), None)
