"""Names that gdb's AMD GPU target gives to waves, lanes and dispatches.

They are made in `gdb/amd-dbgapi-target.c`, by `target_id_string`, `dispatch_pos_string` and their like:
`AMDGPU Wave 1:2:1:1 (0,0,0)/0`, `AMDGPU Lane 1:2:1:1/5 (0,0,0)[5,0,0]`, `AMDGPU Dispatch 1:2:1 (PKID 0)`. What a
process that was attached to without `HSA_ENABLE_DEBUG=1` does not tell is `?` there.
"""

from __future__ import annotations

import re

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.focus import Dim3, Focus, FocusLevel

FOCUS_SCHEMA = (
    FocusLevel("dispatch"),
    FocusLevel("workgroup", is_dim3=True),
    FocusLevel("workitem", is_dim3=True),
    FocusLevel("agent", physical=True),
    FocusLevel("queue", physical=True),
    FocusLevel("wave", physical=True),
    FocusLevel("lane", physical=True),
    FocusLevel("thread", physical=True),
)
"""The place in the dispatch's grid first; `thread` is gdb's number of the wave, or of a thread of the host."""

_NUMBER = r"(\d+|\?)"
_POSITION = r"\((\d+|\?),(\d+|\?),(\d+|\?)\)"
_WAVE = re.compile(rf"AMDGPU Wave (\d+):(\d+):{_NUMBER}:(\d+) {_POSITION}/{_NUMBER}")
_LANE = re.compile(rf"AMDGPU Lane (\d+):(\d+):{_NUMBER}:(\d+)/(\d+) {_POSITION}\[(\d+|\?),(\d+|\?),(\d+|\?)\]")
_DISPATCH = re.compile(r"AMDGPU Dispatch (\d+):(\d+):(\d+) \(PKID (\d+)\)")


@dataclass(frozen=True, slots=True)
class WaveName:
    """A wave.

    Attributes:
        agent, queue, wave: The runtime's numbers.
        dispatch: The runtime's number, or None where it is not known.
        workgroup: In the dispatch, or None where it is not known.
        place: Of the wave in its work-group, or None where it is not known.
    """

    agent: int
    queue: int
    dispatch: int | None
    wave: int
    workgroup: Dim3 | None
    place: int | None

    def focus(self, thread: int, lane: int | None = None, workitem: Dim3 | None = None) -> Focus:
        """The focus on this wave, or on a lane of it."""
        return Focus.of(
            dispatch=self.dispatch,
            workgroup=self.workgroup,
            workitem=workitem,
            agent=self.agent,
            queue=self.queue,
            wave=self.wave,
            lane=lane,
            thread=thread,
        )


@dataclass(frozen=True, slots=True)
class DispatchName:
    """A dispatch: the runtime's numbers, and its packet in the queue."""

    agent: int
    queue: int
    dispatch: int
    packet: int


def wave_of(target_id: str) -> WaveName | None:
    """The wave that a thread's target id names; None for a thread of the host."""
    match = _WAVE.search(target_id)
    if match is None:
        return None
    agent, queue, dispatch, wave, x, y, z, place = match.groups()
    return WaveName(int(agent), int(queue), _known(dispatch), int(wave), _position(x, y, z), _known(place))


def workitem_of(target_id: str) -> Dim3 | None:
    """The work-item, in its work-group, of a lane's target id; None where it is not known."""
    match = _LANE.search(target_id)
    return _position(*match.groups()[8:]) if match is not None else None


def dispatch_of(target_id: str) -> DispatchName | None:
    """The dispatch of its target id."""
    match = _DISPATCH.search(target_id)
    return DispatchName(*(int(part) for part in match.groups())) if match is not None else None


def waves_pattern(dispatch: DispatchName, workgroup: Dim3 | None = None) -> str:
    """For `thread find`: the waves of a work-group, or of each work-group its first one.

    The command takes a basic regular expression, in which a dot stands for each bracket, whatever that means there.
    """
    head = f"AMDGPU Wave {dispatch.agent}:{dispatch.queue}:{dispatch.dispatch}:[0-9]*"
    if workgroup is None:
        return f"{head} .*/0$"
    x, y, z = workgroup
    return f"{head} .{x},{y},{z}./"


def _known(text: str) -> int | None:
    return None if text == "?" else int(text)


def _position(x: str, y: str, z: str) -> Dim3 | None:
    return None if "?" in (x, y, z) else (int(x), int(y), int(z))
