"""What happens before and while cuda-gdb opens a GPU core dump."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ladder_backends.case import unpack_xz
from ladder_backends.case.classify import XZ_MAGIC
from ladder_backends.debugger.target import GpuDumpTarget
from ladder_backends.errors import WrongProgram
from ladder_backends.images import GpuDump, MatchVerdict, match_executable, read_gpu_dump
from ladder_backends.model.frame import file_name
from ladder_backends.text import clean_line

_EXCEPTION = re.compile(r"CUDA Exception: *(?P<name>[^\n]*)")
_ORIGIN = re.compile(r"triggered at PC (?P<pc>0x[0-9a-f]+)[^\n]*?(?:\((?P<file>[^():]+):(?P<line>\d+)[^()]*\))?$")
_SIGNAL = re.compile(r"Program terminated with signal (?P<name>\w+)")


@dataclass(frozen=True, slots=True)
class CheckedDump:
    """A dump that was looked at, ready for an engine.

    Attributes:
        dump: What its file says.
        executable: Absolute path, or None.
        notes: What the user should know although it can be opened.
    """

    dump: GpuDump
    executable: Path | None
    notes: tuple[str, ...] = ()


def check_dump(target: GpuDumpTarget) -> CheckedDump:
    """Unpack, check and compare; reads files, so not on an event loop.

    Raises:
        TargetInvalid: The dump is not whole.
        WrongProgram: The executable does not belong to it.
    """
    dump = read_gpu_dump(_plain(target.dump).absolute())
    if target.executable is None:
        return CheckedDump(dump, None)
    executable = target.executable.absolute()
    match = match_executable(dump, executable)
    if match.verdict is MatchVerdict.DIFFERS:
        raise WrongProgram(
            f"{clean_line(executable.name)} did not make {clean_line(target.dump.name)}",
            match.reason,
            "name the program that made the dump, or leave it out",
        )
    return CheckedDump(dump, executable, (match.reason,) if match.verdict is MatchVerdict.UNKNOWN else ())


def _plain(path: Path) -> Path:
    try:
        with path.open("rb") as file:
            packed = file.read(len(XZ_MAGIC)) == XZ_MAGIC
    except (OSError, ValueError):
        # The check of the dump says what is wrong with it.
        return path
    return unpack_xz(path) if packed else path


@dataclass(frozen=True, slots=True)
class DumpStory:
    """Why the dump was written, from the lines the engine writes when it opens one.

    Attributes:
        description: For a person.
        fault: A hardware exception or assertion, rather than a tool or a user that asked for the dump.
    """

    description: str
    fault: bool


def tell_story(said: Iterable[str]) -> DumpStory:
    """Read the engine's lines."""
    text = "\n".join(said)
    # The exception's name comes in a piece of its own, so it may stand on the next line.
    exception = _EXCEPTION.search(re.sub(r"(CUDA Exception:)\s+", r"\1 ", text))
    if exception is not None:
        origin = next((match for line in text.splitlines() if (match := _ORIGIN.search(line.strip()))), None)
        at = f" at {file_name(origin['file'])}:{origin['line']}" if origin and origin["file"] else ""
        return DumpStory(f"{exception['name'].strip()}{at}", True)
    if "Assertion failed" in text:
        return DumpStory("device assertion failed", True)
    if _SIGNAL.search(text):
        return DumpStory("stopped where the sanitizer reported an error", True)
    return DumpStory("no exception: the dump was asked for", False)
