"""Reach a lane of a dump: by cuda-gdb, or by a recording where there is no cuda-gdb."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ladder_backends.case import Opened
from ladder_backends.debugger.target import GpuDumpTarget
from ladder_backends.errors import TargetInvalid
from ladder_backends.model.events import EngineNotice
from ladder_backends.model.finding import Finding
from ladder_backends.model.focus import Focus
from ladder_backends.rungs import dump_rung
from ladder_backends.session.engines import Engines
from ladder_backends.session.jump import JumpOutcome, jump
from ladder_backends.session.lane_values_state import LaneValuesState
from ladder_tui.cli.output import say

_ENGINE = dump_rung().debugger


def reach(
    opened: Opened,
    asked: Focus,
    finding: Finding | None = None,
    *,
    record: Path | None = None,
    over: LaneValuesState | None = None,
) -> JumpOutcome:
    """Stand in the lane; an empty focus stays where the dump itself points.

    Args:
        opened: Files that belong together, the dump among them.
        asked: The lane.
        finding: Where the wish comes from, or None.
        record: File that the engine's streams are recorded into, or None.
        over: An expression that is asked there of many lanes; its answers are put into it.

    Raises:
        TargetInvalid: There is no dump.
        EngineMissing: There is neither a cuda-gdb nor a recording.
    """
    if opened.dump is None:
        remedy = "ladder-tui open shows what its report says" if opened.reports else ""
        raise TargetInvalid(f"there is no lane in {opened.title}", "none of the files is a GPU core dump", remedy)
    engines = Engines(record)
    target = GpuDumpTarget(opened.dump, opened.executable)
    return asyncio.run(_reach(engines, opened, target, asked, finding, over))


async def _reach(
    engines: Engines,
    opened: Opened,
    target: GpuDumpTarget,
    asked: Focus,
    finding: Finding | None,
    over: LaneValuesState | None,
) -> JumpOutcome:
    stand_in = engines.stand_in(_ENGINE, opened.recordings)
    if stand_in is not None:
        say(stand_in.notice)
    debugger = engines.make(_ENGINE) if stand_in is None else engines.replay(_ENGINE, stand_in.recording)
    told: list[str] = []
    debugger.listen(lambda event: told.append(event.text) if isinstance(event, EngineNotice) else None)
    try:
        await debugger.open(target)
        for text in told:
            say(text)
        outcome = await jump(debugger, asked, finding=finding)
        if over is not None and outcome.reached is not None:
            from ladder_tui.cli.over_lanes import ask_over_lanes

            await ask_over_lanes(debugger, over)
        return outcome
    finally:
        await debugger.close()
