"""What keeps cuda-gdb from debugging at all: its last words, each with one cause and one remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """Why it does not go on.

    Attributes:
        what: A clause without a full stop, short enough for a state.
        remedy: What to do, in the imperative.
        fatal: The engine has given up on the target.
    """

    what: str
    remedy: str
    fatal: bool = True


_NOISE = (
    "CUDA ELF Image contains unknown ABI version",
    "No exception was found on any device",
    "No focus could be set on any device",
    "auto-loading has been declined",
)


def says_nothing(warning: str) -> bool:
    """Whether a warning is of what is so on every machine, or is seen without it."""
    return any(words in warning for words in _NOISE)


_AS_GDB = "the gdb rung shows its host side"
_KNOWN: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern), what, remedy)
    for pattern, what, remedy in (
        (
            r"An instance of cuda-gdb ?\(pid (?P<pid>\d+)\) is already using device (?P<device>\d+)",
            "process {pid}, another cuda-gdb, is already using device {device}",
            "end it, or choose another GPU with CUDA_VISIBLE_DEVICES",
        ),
        (
            r"CUDBG_ERROR_NO_DEVICE_AVAILABLE",
            "there is no GPU that can be debugged here",
            f"run it where there is one; {_AS_GDB}",
        ),
        (
            r"CUDBG_ERROR_COMMUNICATION_FAILURE",
            "cuda-gdb lost its connection to the driver's debugger",
            "try again with CUDBG_USE_LEGACY_DEBUGGER=1 in the environment",
        ),
        (
            r"CUDBG_ERROR_(?:INCOMPATIBLE_API|INITIALIZATION_FAILURE|UNINITIALIZED)",
            "this cuda-gdb and this driver do not fit together",
            f"use the cuda-gdb of the driver's CUDA version; {_AS_GDB}",
        ),
        (
            r"Failed to suspend device.*CUDBG_ERROR_INTERNAL",
            "the driver does not let the GPU be stopped",
            "under WSL, debugging has to be enabled in the registry; open a GPU core dump instead",
        ),
        (
            r"CUDBG_ERROR_INVALID_DEVICE|[Dd]evice not supported",
            "this GPU, or the sandbox round it, cannot be debugged",
            f"run it outside of the sandbox; {_AS_GDB}",
        ),
        (
            r"does not support attaching to a running CUDA process",
            "this driver does not let a debugger attach to a running CUDA process",
            "start the program here, or with CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1 and dump it",
        ),
        (
            r"(?P<error>CUDBG_ERROR_\w+)",
            "cuda-gdb gave up: {error}",
            _AS_GDB,
        ),
    )
)
_MARKS = (
    "CUDBG_ERROR",
    "fatal:",
    "already using device",
    "evice not supported",
    "attaching to a running",
    "API error",
)
"""One of them is in each line that matters; what a user has printed by the megabyte is looked through fast."""

_LONGEST = 500
_UNREADABLE = re.compile(r"(?:read|write)_\w+\(|[Ff]ailed to (?:read|write)\b")
_FATAL = re.compile(r"^\s*fatal:\s*(?P<why>.*)")
_OWN = "CUDBG_"
_LETS_RUN = re.compile(
    r"\s*(?:r|run|start|starti|c|cont|continue|n|next|s|step|ni|nexti|si|stepi|fin|finish|u|until|advance|j|jump"
    r"|signal|attach|target)\b"
)


def failure_in(line: str) -> Failure | None:
    """What a line of the engine says of its end with the target; None where it says nothing of it.

    A line that begins with `fatal:` is one whatever follows; a second debugger is one without that word.
    """
    fatal = _FATAL.match(line)
    if fatal is None and _UNREADABLE.search(line):
        # Of one address, or of one lane's registers; who asked for it tells.
        return None
    for pattern, what, remedy in _KNOWN:
        match = pattern.search(line)
        if match is not None:
            return Failure(what.format(**match.groupdict()), remedy, fatal is not None)
    return Failure(f"cuda-gdb gave up: {fatal['why'].rstrip('.')}", _AS_GDB) if fatal else None


class ConsoleEar:
    """Finds lines that matter in what the command line writes: much that happens by itself is told there alone.

    Args:
        take: Takes such a line.
        typed: Tells the line that was typed and is worked on, or an empty string.
    """

    def __init__(self, take: Callable[[str], None], typed: Callable[[], str]) -> None:
        self._take, self._typed = take, typed
        self._begun = ""

    def hear(self, text: str) -> None:
        """Take the next piece; it may end within a line."""
        whole = self._begun + text
        *lines, begun = whole.split("\n")
        self._begun = begun[-_LONGEST:]
        if any(mark in whole for mark in _MARKS):
            for line in lines:
                if any(mark in line for mark in _MARKS) and not self._of_another(line):
                    self._take(line)

    def _of_another(self, line: str) -> bool:
        """A line such as `fatal: not a git repository`: of a program that was called with `shell` or `make`."""
        typed = self._typed()
        return bool(typed) and _OWN not in line and _FATAL.match(line) is not None and not _LETS_RUN.match(typed)
