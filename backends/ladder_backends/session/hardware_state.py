"""The hardware rung, as panes see it: the machine as it was read, its live counters, and what a baseline says."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass

if TYPE_CHECKING:
    from ladder_backends.model.baseline import Comparison
    from ladder_backends.model.gpu_counters import Counters
    from ladder_backends.model.topology import Machine


@dataclass(slots=True)
class HardwareState:
    """What is known of the machine.

    Attributes:
        machine: None before it was read.
        reading: It is being read now.
        failure: Why it could not be read at all, or an empty string.
        simulate: Name or file of the simulated machine; empty for this one.
        counters: Live counters by GPU; empty before the first sample.
        xids: Xids that came while the rung was watched, the newest last: GPU and number.
        comparison: The machine beside a baseline, or None.
    """

    machine: Machine | None = None
    reading: bool = False
    failure: str = ""
    simulate: str = ""
    counters: dict[int, Counters] = field(default_factory=dict)
    xids: list[tuple[int, int]] = field(default_factory=list)
    comparison: Comparison | None = None
