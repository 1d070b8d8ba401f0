"""All ways to a place that a finding, or a lane on screen, leads to: what each does, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ladder_backends.model.finding import Finding, FindingKind
from ladder_backends.model.focus import Focus, format_coordinate
from ladder_backends.model.frame import file_name
from ladder_backends.rungs import device_rung, host_rung
from ladder_backends.session.alternatives import (
    Act,
    Alternative,
    alternatives_of_finding,
    host_frame,
    programs_of_dump,
)
from ladder_backends.session.jump import asked_by
from ladder_backends.session.live_wish import LiveWish, wish_of
from ladder_backends.session.state import Run

if TYPE_CHECKING:
    from ladder_backends.session.debug_state import DebugState
    from ladder_backends.session.ladder import Ladder

_OPENS, _OPEN = "opens the dump, ~0.1 s", "the dump is open, ~10 ms"


@dataclass(frozen=True, slots=True)
class Goal:
    """What one wants to get to.

    Attributes:
        finding: For whose sake, or None.
        side: Which of its places.
        wish: The lane, its kernel and line; the lane is empty where a finding names none.
    """

    finding: Finding | None
    side: int
    wish: LiveWish

    @property
    def title(self) -> str:
        """`block (3,0,0) thread (232,0,0) at vector_add_oob.cu:10`, or the finding's line."""
        if self.wish.asked:
            return self.wish.words
        if self.wish.location:
            return file_name(self.wish.location)
        host = host_frame(self.finding) if self.finding is not None else None
        return f"{file_name(host.file)}:{host.line} on the host" if host is not None else "no place is told"


def goal_of_finding(finding: Finding, side: int = 0) -> Goal:
    """The lane of a finding's side, or its line where it names no lane."""
    asked = asked_by(finding, side)
    return Goal(finding, side, wish_of(finding, asked, side))


def goal_here(debug: DebugState) -> Goal | None:
    """The lane that was asked for last and not reached, else the one that is shown; None outside of kernels."""
    missed = debug.asked is not None and "block" in debug.asked and debug.reason
    focus = debug.asked if missed else debug.focus
    if focus is None or focus.dim3("block") is None:
        return None
    asked = Focus.of(block=focus.dim3("block"), thread=focus.dim3("thread") or (0, 0, 0))
    place = debug.place
    frames = debug.frames.frames
    kernel = frames[-1].function if len(frames) == 1 else ""
    return Goal(None, 0, LiveWish(asked, kernel, f"{place.file}:{place.line}" if place is not None else ""))


def ways(ladder: Ladder, goal: Goal) -> tuple[Alternative, ...]:
    """The ways, the likeliest first; what a jump that gave up has left to do comes before all."""
    found: list[Alternative] = []
    jumps, finding, asked = ladder.jumps, goal.finding, goal.wish.asked
    live = jumps.live
    debug = live.session.state if live.session is not None else None
    if live.under_way is not None and not live.goes_on and debug is not None and debug.run is not Run.DEAD:
        found += [each for each in debug.alternatives if each.act in (Act.WAIT, Act.STAY, Act.GPU_DUMP)]
    why_not = live.why_not()
    rung_of_kernels = device_rung("CUDA")
    devices = rung_of_kernels.name if rung_of_kernels is not None else ""
    if asked:
        if jumps.wrong_program:
            found += programs_of_dump(asked)
        elif jumps.dump is not None or (jumps.session is not None and jumps.session.target is not None):
            is_open = jumps.session is not None and jumps.session.state.run is Run.DUMP
            found.append(Alternative("into the dump", asked, note=_OPEN if is_open else _OPENS))
        if not why_not:
            found.append(Alternative("live: run to it", asked, act=Act.LIVE, note=live.price()))
    if finding is not None:
        found += _other_sides(finding, goal.side)
        if finding.kind is FindingKind.RACE_ANALYSIS:
            note = "names both lanes of each hazard"
            found.append(Alternative("run again with the hazard report", act=Act.HAZARDS, note=note))
        if not why_not and finding.kernel and finding.src_file and finding.line is not None:
            line = f"{file_name(finding.src_file)}:{finding.line}"
            found.append(
                Alternative(
                    f"stop at {line}",
                    file=finding.src_file,
                    line=finding.line,
                    act=Act.BREAK_LANES,
                    note=f"under {devices}, in any lane",
                )
            )
        found += alternatives_of_finding(finding)
        host = host_frame(finding)
        if host is not None and live.target is not None and not host.file.endswith(".py"):
            line = f"{file_name(host.file)}:{host.line}"
            rung = devices if not why_not else host_rung().name
            found.append(
                Alternative(
                    f"stop at the host's {line}",
                    file=host.file,
                    line=host.line,
                    act=Act.BREAK_HOST,
                    note=f"under {rung}",
                )
            )
    elif debug is not None and debug.asked == asked:
        found += [each for each in debug.alternatives if each.focus is not None and each.act is Act.GO]
    return tuple(dict.fromkeys(found))


def _other_sides(finding: Finding, side: int) -> list[Alternative]:
    found = []
    for number, place in enumerate(finding.sides):
        if number != side and place.block is not None and place.thread is not None:
            lane = Focus.of(block=place.block, thread=place.thread)
            words = f"{format_coordinate(place.block)} {format_coordinate(place.thread)}"
            line = f" at line {place.location.line}" if place.location.line is not None else ""
            access = f"the {place.access} of " if place.access else "the other lane, "
            found.append(Alternative(f"{access}{words}{line}", lane, act=Act.SIDE, line=number))
    return found[:1]
