"""How a target is started and which way it runs, as panes see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.launch import ForkMode, LaunchSettings


@dataclass(slots=True)
class ControlState:
    """Run control beside what the target does now.

    Attributes:
        settings: How the program is started the next time.
        last_used: How it was started in an earlier session, where that was kept.
        fork: What happens at a fork.
        processes: Processes that are held where there are several: ids by the engine's names.
        recording: How execution is recorded: `full`, `btrace`, or an empty string where it is not.
        backwards: Steps and continues run backwards.
        startable: A program can be started, again where it has ended: not a process that was attached to.
    """

    settings: LaunchSettings = field(default_factory=LaunchSettings)
    last_used: LaunchSettings | None = None
    fork: ForkMode = ForkMode.PARENT
    processes: Mapping[str, int] = field(default_factory=dict)
    recording: str = ""
    backwards: bool = False
    startable: bool = True
