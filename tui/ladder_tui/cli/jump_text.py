"""A jump as text for a person: where it stands, what it sees, its neighbours."""

from __future__ import annotations

from collections.abc import Iterator

from ladder_backends.model.provenance import Provenance
from ladder_backends.session.jump import JumpOutcome
from ladder_tui.cli.session_text import frame_line, variable_lines, warp_lines

_LOGICAL = ("kernel", "block", "thread")
_PHYSICAL = ("device", "sm", "warp", "lane")


def outcome_lines(outcome: JumpOutcome) -> Iterator[str]:
    """Asked and reached lane, stack, variables, the warp's lanes; alternatives where it was not reached."""
    if outcome.asked:
        yield f"asked    {outcome.asked.describe()}"
    if outcome.reached is None:
        yield "reached  nothing"
    else:
        kernel = f" of {outcome.kernel.name}" if outcome.kernel else ""
        yield f"reached  {outcome.reached.describe(*_LOGICAL)}{kernel}"
        if physical := outcome.reached.describe(*_PHYSICAL):
            yield f"         {physical}"
    if exception := _exception(outcome):
        yield f"fault    {exception}"
    if outcome.reason:
        yield f"why      {outcome.reason}"
    for alternative in outcome.alternatives:
        yield f"instead  {alternative.label}"
    if outcome.provenance is Provenance.RECORDING:
        yield "source   a recording, no engine"
    if outcome.frames.frames:
        yield ""
        yield from (frame_line(frame) for frame in outcome.frames.frames)
    if outcome.reached is not None:
        yield from variable_lines(outcome.variables, outcome.note)
    if outcome.warp is not None:
        yield ""
        yield from warp_lines(outcome.warp, outcome.reached.index("lane") if outcome.reached else None)


def _exception(outcome: JumpOutcome) -> str:
    """What the hardware says of the reached lane; an empty string where it has nothing to say."""
    number = outcome.reached.index("lane") if outcome.reached is not None else None
    lanes = outcome.warp.lanes if outcome.warp is not None else ()
    return next((lane.exception for lane in lanes if lane.number == number and lane.exception), "")
