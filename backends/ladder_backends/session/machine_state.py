"""What is known of the machine below the source: registers, memory, signals, libraries. Panes pull it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass

if TYPE_CHECKING:
    from ladder_backends.model.kernel_launch import KernelLaunch
    from ladder_backends.model.library import Library
    from ladder_backends.model.memory import MemoryLayout
    from ladder_backends.model.register import Register
    from ladder_backends.model.signal_handling import SignalCause, SignalHandling


@dataclass(slots=True)
class RegistersState:
    """Registers that were looked at.

    Attributes:
        groups: All groups of the architecture, the general ones first.
        read: The registers of each group that was asked for, as of the last look.
        form: How they are printed.
        frame: Level of the frame they are of.
        note: Why there are none, or an empty string.
    """

    groups: tuple[str, ...] = ()
    read: dict[str, tuple[Register, ...]] = field(default_factory=dict)
    form: str = "natural"
    frame: int = 0
    note: str = ""


@dataclass(slots=True)
class MemoryState:
    """Memory that was looked at.

    Attributes:
        asked: What was asked for, as it was typed.
        home: The address it led to, or None before anything was asked for.
        symbol: `<main+12>` of that address, or an empty string.
        layout: Byte order and pointer size.
        windows: What was read since the last stop, by the address of each window.
        before: The same addresses as they were at the stop before, as far as they were read then.
        symbols: What stored pointers point to, by the address each is stored at.
        note: Why there is nothing, or an empty string.
        spaces: The engine's address spaces, the usual one first; none where it has only one.
        space: The one that is looked at, or an empty string for the usual one.
        size: Bytes of that space, where they are told.
        whose: What the space belongs to, as the lane or block in focus; another one has another memory there.
        why: Why bytes of a window cannot be read, by its address, where that was told.
    """

    asked: str = ""
    home: int | None = None
    symbol: str = ""
    layout: MemoryLayout | None = None
    windows: dict[int, tuple[int | None, ...]] = field(default_factory=dict)
    before: dict[int, tuple[int | None, ...]] = field(default_factory=dict)
    symbols: dict[int, str] = field(default_factory=dict)
    note: str = ""
    spaces: tuple[str, ...] = ()
    space: str = ""
    size: int | None = None
    whose: tuple[object, ...] = ()
    why: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class SignalsState:
    """The engine's table of signals.

    Attributes:
        cause: Why the signal came that the target stands at, or None.
        note: Why there is no table, or an empty string.
    """

    table: tuple[SignalHandling, ...] = ()
    cause: SignalCause | None = None
    note: str = ""


@dataclass(slots=True)
class LibrariesState:
    """The target's shared libraries.

    Attributes:
        automatic: Symbols are read as soon as a library is loaded.
        note: Why there are none, or an empty string.
    """

    libraries: tuple[Library, ...] = ()
    automatic: bool = True
    note: str = ""


@dataclass(slots=True)
class KernelState:
    """The launch of the focused lane's kernel.

    Attributes:
        launch: As of the last look, or None.
        error_counter: Address of the instruction that raised the focused lane's exception, or an empty string.
        of: The stop and lane that these are of.
        note: Why there is nothing, or an empty string.
    """

    launch: KernelLaunch | None = None
    error_counter: str = ""
    of: tuple[object, ...] = ()
    note: str = ""


@dataclass(slots=True)
class MachineState:
    """All of it."""

    registers: RegistersState = field(default_factory=RegistersState)
    memory: MemoryState = field(default_factory=MemoryState)
    signals: SignalsState = field(default_factory=SignalsState)
    libraries: LibrariesState = field(default_factory=LibrariesState)
    kernel: KernelState = field(default_factory=KernelState)
