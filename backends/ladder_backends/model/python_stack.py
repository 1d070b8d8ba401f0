"""Python frames of a process, as whoever read its interpreter tells of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.provenance import Provenance

if TYPE_CHECKING:
    from ladder_backends.model.frame import Frame
    from ladder_backends.model.variable import Variable


@dataclass(frozen=True, slots=True)
class PythonFrame:
    """One Python frame.

    Attributes:
        function: Qualified name where the interpreter keeps it (3.11 on), clean.
        file: As the interpreter knows it: absolute, or relative to where it was started.
        line: 1-based, or 0 where it is not known.
        entry: It is the outermost frame that its interpreter loop runs: the frames inside it, down to the one after
            the last entry, are run by the same native frame. Every frame is one before 3.11.
        level: Level of the native frame that runs it, where the reader knows; -1 elsewhere.
        variables: Its arguments and locals, or None where they were not asked for.
    """

    function: str
    file: str
    line: int
    entry: bool = True
    level: int = -1
    variables: tuple[Variable, ...] | None = None


@dataclass(frozen=True, slots=True)
class PythonThread:
    """A thread with a Python state.

    Attributes:
        os_thread: Kernel's thread id as the program sees it, or None (before 3.11).
        pthread: Its `pthread_t`, or 0.
        owns_gil: It holds the interpreter lock.
        frames: Innermost first.
    """

    os_thread: int | None
    pthread: int
    name: str
    owns_gil: bool
    frames: tuple[PythonFrame, ...]


@dataclass(frozen=True, slots=True)
class PythonSnapshot:
    """The Python threads of a process at one moment.

    Attributes:
        source: Who read them: `py-spy`, `py-bt`.
        seconds: How long that took.
        provenance: ENGINE; nothing here comes from a report.
    """

    threads: tuple[PythonThread, ...]
    source: str
    seconds: float = 0.0
    provenance: Provenance = Provenance.ENGINE

    def thread(self, pthread: int, os_thread: int | None) -> PythonThread | None:
        """The state of a thread that a debugger knows by these numbers.

        The `pthread_t` is looked at first: kernel numbers differ inside and outside a container.
        """
        if pthread:
            for each in self.threads:
                if each.pthread == pthread:
                    return each
        if os_thread is not None:
            for each in self.threads:
                if each.os_thread == os_thread:
                    return each
        return None


@dataclass(frozen=True, slots=True)
class PythonRow:
    """A Python frame in a woven stack.

    Attributes:
        index: Its position in the thread's Python frames, innermost 0.
        level: Level of the native frame that runs it, or -1 where that is not known.
        owns_gil: The thread holds the interpreter lock; told on its innermost Python frame only.
    """

    frame: PythonFrame
    index: int
    level: int
    owns_gil: bool = False


@dataclass(frozen=True, slots=True)
class FoldedFrames:
    """Native frames of the interpreter's own, side by side.

    Attributes:
        outside: How many native frames that are known stand further out.
    """

    frames: tuple[Frame, ...]
    outside: int = 0


@dataclass(frozen=True, slots=True)
class WovenStack:
    """A native stack with its Python frames in their places.

    Attributes:
        rows: Innermost first.
        exact: Every interpreter loop of the native stack met its Python frames.
        placed: How many of the thread's Python frames have a place.
    """

    rows: tuple[Frame | PythonRow | FoldedFrames, ...]
    exact: bool
    placed: int

    def frame(self, index: int) -> PythonFrame | None:
        """The thread's Python frame of that index, or None."""
        rows = (row for row in self.rows if isinstance(row, PythonRow) and row.index == index)
        return next((row.frame for row in rows), None)
