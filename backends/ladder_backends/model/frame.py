"""Stack frames and source places."""

from __future__ import annotations

import enum

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.provenance import Provenance


def file_name(path: str) -> str:
    """The last part of a path as a tool wrote it, of either kind of slash."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]


class FrameKind(enum.StrEnum):
    """What executes a frame."""

    NATIVE = "native"
    DEVICE = "device"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Place:
    """A line of source as a tool names it.

    Attributes:
        file: The path as the tool wrote it: absolute, relative or a basename.
        line: 1-based line number.
        fullname: Absolute path as recorded in the debug information; it need not exist on this machine.
    """

    file: str
    line: int
    fullname: str = ""

    def __str__(self) -> str:
        return f"{file_name(self.file)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stack; level 0 is the innermost.

    Attributes:
        level: The engine's number of the frame.
        function: Demangled name, clean; `??` where unknown.
        place: Source line, or None where there is no line information.
        address: Program counter as a hex string, or an empty string.
        module: Shared object or kernel image the frame is in, or an empty string.
        inlined: The compiler put it into its caller: both have one program counter.
        launcher: With it begins the stack of the host thread that launched the kernel of the frames before it.
        image_offset: For a frame without a symbol, where in its file the program counter lies: `libfoo.so+0x1104`.
    """

    level: int
    function: str
    place: Place | None = None
    address: str = ""
    module: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    kind: FrameKind = FrameKind.NATIVE
    provenance: Provenance = Provenance.ENGINE
    image_offset: str = ""
    inlined: bool = False
    launcher: bool = False


@dataclass(frozen=True, slots=True)
class FrameWindow:
    """A window of a stack, never the whole of a deep one.

    Attributes:
        start: Level of the first frame here.
        more: The stack goes on beyond the last frame here.
    """

    frames: tuple[Frame, ...] = ()
    start: int = 0
    more: bool = False
