"""What each rank does, by its stack: the operation it waits in, the user's line, and a few words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ladder_backends.model.frame import file_name
from ladder_backends.model.ranks import Evidence, RankActivity, RankFrame, RankSource, RankStack
from ladder_backends.ranks.stacks.boundaries import BoundaryKind, bare_function, boundary_of
from ladder_backends.ranks.stacks.cutting import cut_frames
from ladder_backends.ranks.stacks.labels import short_function
from ladder_backends.ranks.verdict.rows import COLLECTIVES_OF_MPI, DOING, HELPER_THREADS, POINT_TO_POINT

_HELPER = re.compile("|".join(f"(?:{one})" for one in HELPER_THREADS))
_FORTRAN = re.compile(r"p?mpi_(\w+?)_*(?:f08(?:ts)?_*)?")
_INSTALLED = ("/site-packages/", "/dist-packages/", "/lib/python3", "/lib64/python3")
_SYSTEM = ("/usr/", "/lib", "/build/", "./", "../")
_WORDS = {name: each.words for each in DOING for name in each.names}


@dataclass(frozen=True, slots=True)
class Standing:
    """One rank.

    Attributes:
        stack: Of the thread that stands for it, joined and not cut.
        op: The operation it waits in, as a person calls it: `MPI_Barrier`, `all_reduce`; or an empty string.
        kind: Kind of the boundary it stands at, or None where it runs code of its own.
        collective: `op` has to be called by all ranks of a group.
        call: The frame that called it, or the innermost of the user's.
        words: What it does, third person: `sleeps`, `waits in MPI_Barrier`.
    """

    rank: int
    stack: RankStack
    op: str
    kind: BoundaryKind | None
    collective: bool
    call: RankFrame | None
    words: str

    @property
    def place(self) -> str:
        """The user's line: `loader.py:41 next_batch`; empty where none is known."""
        return place_of(self.call)


def place_of(frame: RankFrame | None) -> str:
    """A frame as a sentence names it: `loader.py:41`, or `in compute`."""
    if frame is None:
        return ""
    if frame.file and frame.line:
        return f"at {file_name(frame.file)}:{frame.line}"
    return f"in {short_function(frame.function)}" if frame.function not in ("", "??") else ""


def standings(
    stacks: Iterable[RankStack], pids: Mapping[int, int], activity: Iterable[RankActivity] = ()
) -> dict[int, Standing]:
    """What each rank does whose stack is known.

    Args:
        stacks: Of all threads, joined.
        pids: Process id of each rank: the main thread has the same number.
        activity: What the kernel tells, for words where a stack is silent.
    """
    threads: dict[int, list[RankStack]] = {}
    for stack in stacks:
        threads.setdefault(stack.rank, []).append(stack)
    calls = {one.rank: one.syscall for one in activity}
    return {
        rank: _standing(_representing(each, pids.get(rank)), calls.get(rank, "")) for rank, each in threads.items()
    }


def _representing(stacks: Sequence[RankStack], pid: int | None) -> RankStack:
    """The thread that stands for its rank: the main one, unless only another waits in a collective.

    A backward pass has its collectives on a thread of autograd.
    """
    own = [stack for stack in stacks if not _is_helper(stack)] or list(stacks)
    main = next((stack for stack in own if stack.thread == pid), own[0])
    if _collective_at(main.frames)[1]:
        return main
    return next((stack for stack in own if _collective_at(stack.frames)[1]), main)


def _is_helper(stack: RankStack) -> bool:
    return any(_helps(frame.function) for frame in stack.frames[:8] if frame.language == "native")


@lru_cache(maxsize=1 << 12)
def _helps(function: str) -> bool:
    return _HELPER.fullmatch(bare_function(function)) is not None


def _collective_at(frames: Sequence[RankFrame]) -> tuple[str, bool]:
    """The operation at the boundary of a stack, and whether all of a group have to call it."""
    for frame in frames:
        row = boundary_of(frame)
        if row is not None:
            if row.kind is not BoundaryKind.COLLECTIVE:
                return "", False
            return operation_of(frame, row.library)
    return "", False


def operation_of(frame: RankFrame, library: str) -> tuple[str, bool]:
    """What a frame at a boundary is called, and whether it is a collective."""
    name = frame.function.rsplit(".", 1)[-1] if frame.language == "python" else bare_function(frame.function)
    if library == "MPI":
        return _mpi(name)
    if frame.language == "python":
        return name, name not in POINT_TO_POINT and name not in ("wait", "is_initialized", "get_rank")
    if library == "NCCL":
        name = name.removeprefix("p")
        return name, name not in ("ncclSend", "ncclRecv", "ncclGroupEnd", "ncclGroupStart")
    return short_function(frame.function), False


def _mpi(name: str) -> tuple[str, bool]:
    if name.startswith("ompi_mpi_"):
        name = f"MPI_{name.removeprefix('ompi_mpi_').capitalize()}"
    if name.islower():
        fortran = _FORTRAN.fullmatch(name)
        bare = (fortran[1] if fortran is not None else name).capitalize()
        shown = f"MPI_{bare.upper()}"
    else:
        bare = name.removeprefix("P").removeprefix("MPIX_").removeprefix("MPI_")
        shown = name.removeprefix("P")
    # The nonblocking form only begins it: who stands there has not come to wait yet, and has called it.
    if bare in COLLECTIVES_OF_MPI:
        return shown, True
    begun = bare[1:2].upper() + bare[2:] if bare.startswith("I") else ""
    return shown, begun in COLLECTIVES_OF_MPI


def _standing(stack: RankStack, syscall: str) -> Standing:
    frames = cut_frames(stack.frames)
    last = frames[-1] if frames else None
    row = boundary_of(last) if last is not None else None
    op, collective = ("", False)
    if last is not None and row is not None and row.kind is BoundaryKind.COLLECTIVE:
        op, collective = operation_of(last, row.library)
    call = user_frame(frames if row is None else frames[:-1])
    words = f"waits in {op}" if op else _doing(stack.frames, syscall)
    return Standing(stack.rank, stack, op, row.kind if row is not None else None, collective, call, words)


def user_frame(frames: Sequence[RankFrame]) -> RankFrame | None:
    """The innermost frame of the program's own; where all are a library's, the innermost with a line, or name."""
    for frame in reversed(frames):
        if is_own(frame):
            return frame
    lined = next((frame for frame in reversed(frames) if frame.file and frame.line), None)
    return lined or next((frame for frame in reversed(frames) if frame.function not in ("", "??")), None)


def is_own(frame: RankFrame) -> bool:
    """Whether a frame is the program's own, as far as paths tell."""
    if not frame.file or frame.file.startswith("<frozen"):
        return False
    if frame.language == "python":
        return not any(part in frame.file for part in _INSTALLED)
    return not frame.file.startswith(_SYSTEM)


def _doing(frames: Sequence[RankFrame], syscall: str) -> str:
    """A few words on what the innermost frames do."""
    for frame in reversed(frames[-6:]):
        name = bare_function(frame.function).rsplit("::", 1)[-1]
        python = frame.language == "python"
        if python and boundary_of(frame) is None:
            break
        words = _WORDS.get(name.rsplit(".", 1)[-1] if python else name.lstrip("_").removeprefix("GI_").lstrip("_"))
        if words:
            return words
    if words := _WORDS.get(syscall):
        return words
    last = next((frame for frame in reversed(frames) if frame.function not in ("", "??", "<module>")), None)
    return f"runs {short_function(last.function)}" if last is not None else "runs"


def kind_of_stacks(look: Evidence) -> tuple[object, ...]:
    """Who told the stacks of a look: each names frames in its own words."""
    sources = (reading.source for reading in look.readings if reading.answered)
    native = next((source for source in sources if source in (RankSource.EU_STACK, RankSource.GDB)), None)
    return bool(look.native), native, bool(look.python)
