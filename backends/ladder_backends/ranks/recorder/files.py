"""Where a rank's flight recorder is dumped to, and how it is asked to dump.

Names: torch/csrc/distributed/c10d/FlightRecorder.cpp (`DebugInfoWriter`) and ProcessGroupNCCL.hpp (`DumpPipe`),
torch 2.2 to 2.14: the file is a prefix with the rank behind it; the pipe is a prefix, the rank and `.pipe`, and any
byte that is written to it makes the rank's watchdog dump.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from ladder_backends.model.ranks import Rank
from ladder_backends.ranks.recorder.plain_pickle import MOST_BYTES

_PREFIXES = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
_PIPES = ("TORCH_FR_DEBUG_INFO_PIPE_FILE", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE")
_BUFFERS = ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
_OLD_DEFAULT = "/tmp/nccl_trace_rank_"
_NEW_DEFAULT = "torch/comm_lib_trace_rank_"


class PipeRefused(Exception):
    """A rank cannot be asked to dump; the text is a clause."""


@dataclass(frozen=True, slots=True)
class DumpFile:
    """A dump that lies there.

    Attributes:
        path: As this console opens it.
        at: Seconds since the epoch when it was last written.
    """

    path: str
    at: float
    size: int


def dump_file(rank: Rank, environment: Mapping[str, str], began: float = 0.0) -> DumpFile | None:
    """The newest dump of a rank; None where there is none.

    Args:
        rank: Whose.
        environment: Its variables.
        began: Seconds since the epoch when the process began: an older file is of another job.
    """
    found: list[DumpFile] = []
    for path in (_inside(rank, each) for each in dump_paths(rank, environment)):
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode) and status.st_size and status.st_mtime >= began:
            found.append(DumpFile(path, status.st_mtime, status.st_size))
    return max(found, key=lambda dump: dump.at, default=None)


def read_file(dump: DumpFile) -> bytes:
    """Its bytes, up to the bound of one dump.

    Raises:
        OSError: It cannot be read, or is no regular file any more.
    """
    # Whoever may write there could put a pipe in its place, which would wait for ever.
    descriptor = os.open(dump.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is no regular file", dump.path)
        return file.read(MOST_BYTES + 1)


def pipe_of(rank: Rank, environment: Mapping[str, str]) -> str:
    """The pipe on which a rank is asked to dump, as this console opens it; empty where it has none."""
    for name in _PIPES:
        stem = environment.get(name, "")
        if stem:
            return _inside(rank, f"{stem}{rank.rank}.pipe")
    return ""


def trigger(path: str) -> None:
    """Ask a rank to dump: one byte into its pipe. Neither side waits.

    Raises:
        PipeRefused: There is no pipe, nobody reads it, or it may not be written.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise PipeRefused(f"its pipe cannot be written: {error.strerror}") from None
    try:
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            raise PipeRefused("what lies where its pipe should be is no pipe")
        os.write(descriptor, b"1")
    except OSError as error:
        raise PipeRefused(f"its pipe takes nothing: {error.strerror}") from None
    finally:
        os.close(descriptor)


def records(environment: Mapping[str, str]) -> bool | None:
    """Whether the recorder is on: as its size tells; None where nothing does (NCCL records since torch 2.6)."""
    for name in _BUFFERS:
        text = environment.get(name)
        if text is not None:
            return text.strip() not in ("", "0")
    return None


def dump_paths(rank: Rank, environment: Mapping[str, str]) -> list[str]:
    """Where a rank may dump to, as it names the paths itself."""
    prefixes = [environment[name] for name in _PREFIXES if environment.get(name)]
    if not prefixes:
        cache = environment.get("XDG_CACHE_HOME") or os.path.join(environment.get("HOME", "/"), ".cache")
        prefixes = [_OLD_DEFAULT, os.path.join(cache, _NEW_DEFAULT)]
    return [f"{prefix}{rank.rank}" for prefix in prefixes]


def _inside(rank: Rank, path: str) -> str:
    """A path of the rank as this console reaches it: in its own root, relative to its own folder."""
    if path.startswith("/"):
        ours, theirs = _link("self", "root"), _link(rank.pid, "root")
        same = _link("self", "ns/mnt") == _link(rank.pid, "ns/mnt") and ours == theirs
        return path if same else f"/proc/{rank.pid}/root{path}"
    return f"/proc/{rank.pid}/cwd/{path}"


def _link(pid: int | str, name: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/{name}")
    except OSError:
        return ""
