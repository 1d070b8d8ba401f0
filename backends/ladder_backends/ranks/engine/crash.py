"""One rank has crashed: which, where, what it left, and how the others stand.

Names of core files: core(5), `/proc/sys/kernel/core_pattern`.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ladder_backends.model.ranks import Rank, RankStack
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.engine.held_rank import Hold
from ladder_backends.ranks.engine.printing import place_words
from ladder_backends.ranks.engine.rank_engine import RankEngine
from ladder_backends.ranks.engine.rank_events import RankEvent, RankEventKind
from ladder_backends.ranks.engine.stack_reading import stacks_of
from ladder_backends.ranks.rank_list import fold
from ladder_backends.text import clean_line

_ANY = re.compile(r"%(.)")


@dataclass(frozen=True, slots=True)
class RankCrash:
    """A crash, and what is around it.

    Attributes:
        first: The crash, or else the first bad end.
        stack: Of the thread that crashed and its fellows, where the rank still stands; the crashed one first.
        core: The core file that it left, or None.
        no_core: Why none is known, a clause; empty where there is one.
        others: Ranks in each state: `running`, `stopped`, `exited`.
        order: Every crash and end that was seen, in the order of time.
    """

    first: RankEvent
    stack: tuple[RankStack, ...]
    core: Path | None
    no_core: str
    others: Mapping[str, frozenset[int]]
    order: tuple[RankEvent, ...]

    def lines(self) -> Iterator[str]:
        """For a person."""
        meaning = f" ({self.first.text})" if self.first.text and self.first.signal else ""
        what = f"{self.first.signal}{meaning}" if self.first.signal else self.first.text
        yield f"rank {self.first.rank}: {what} in {place_words(self.first.frame)}"
        yield f"core: {self.core}" if self.core is not None else f"no core: {self.no_core}"
        told = [f"{fold(ranks)} {state}" for state, ranks in self.others.items() if ranks]
        if told:
            yield f"the others: {', '.join(told)}"
        start = self.order[0].at if self.order else 0.0
        for each in self.order:
            words = f"{each.signal}, held" if each.kind is RankEventKind.CRASHED else each.text
            yield f"  +{each.at - start:.3f} s  rank {each.rank}: {words}"


async def crash_of(engine: RankEngine) -> RankCrash | None:
    """The first crash or bad end that an engine saw; None where there was none."""
    first = next((event for event in engine.endings if _bad(event)), None)
    if first is None or first.rank is None:
        return None
    held = engine.held(first.rank)
    stack: tuple[RankStack, ...] = ()
    if held is not None and held.hold is Hold.CRASHED and held.current is not None:
        # Its other threads may run on: only what stands is read.
        stack = tuple(await stacks_of(engine, [held]))
    rank = engine.job.rank(first.rank)
    core, why = core_of(rank) if rank is not None else (None, "its process is not known")
    states = {
        name: ranks - {first.rank} for name, ranks in engine.states.items() if name not in ("held", "crashed")
    }
    return RankCrash(first, stack, core, why, states, tuple(engine.endings))


def core_of(rank: Rank, proc: ProcFiles | None = None) -> tuple[Path | None, str]:
    """The core file that a rank has left, by what the kernel is told to call it; or why none is known."""
    proc = proc or ProcFiles()
    pattern = proc.setting("kernel/core_pattern")
    if not pattern:
        return None, "kernel.core_pattern is not readable"
    if pattern.startswith("|"):
        words = pattern[1:].split()
        return None, f"the kernel hands cores to {clean_line(words[0] if words else 'a program')}"
    folder = proc.link(rank.pid, "cwd") or os.path.dirname(rank.executable)
    if "%" not in pattern or "%p" not in pattern:
        pattern += ".%p" if proc.setting("kernel/core_uses_pid") == "1" else ""
    name = os.path.basename(rank.executable)
    known = {"p": str(rank.pid), "P": str(rank.pid), "e": name[:15], "h": socket.gethostname(), "%": "%"}
    # What is not known here, as the signal or the time, may be anything.
    path = Path(folder, _ANY.sub(lambda match: known.get(match[1], "*"), pattern))
    found = (
        sorted(path.parent.glob(path.name), key=lambda each: each.stat().st_mtime) if path.parent.is_dir() else []
    )
    if found:
        return found[-1], ""
    return None, f"there is no {clean_line(str(path))}; was `ulimit -c` 0 when the job was started?"


def _bad(event: RankEvent) -> bool:
    return event.kind is RankEventKind.CRASHED or bool(event.signal) or bool(event.code)
