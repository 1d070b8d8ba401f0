"""What panes show of the choices that are a GPU's own."""

from __future__ import annotations

from ladder_backends.debugger.facets.device_stops import ApiFailures, LaunchStops
from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.focus import Focus


@dataclass(slots=True)
class DeviceState:
    """Choices that hold for a session, over restarts of its engine.

    Attributes:
        launches: Kernel launches at which the program stops.
        failures: What happens when a call of the driver fails.
        left: The lane that was left for a thread of the host, or None.
        dumping: Name of the GPU core dump that is being written, or an empty string.
    """

    launches: LaunchStops = LaunchStops.NONE
    failures: ApiFailures = ApiFailures.IGNORE
    left: Focus | None = None
    dumping: str = ""
