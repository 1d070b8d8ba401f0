"""The debugger contract: what an engine must offer to stand on a rung of the ladder."""

from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import Capability, Debugger, FocusRefused, StepKind
from ladder_backends.debugger.target import (
    AttachTarget,
    CoreTarget,
    GpuDumpTarget,
    LaunchTarget,
    Target,
)
from ladder_backends.exports import on_demand

if TYPE_CHECKING:
    from ladder_backends.debugger.probe import Probe
else:
    __getattr__ = on_demand(__name__, probe="Probe")

__all__ = [
    "AttachTarget",
    "Capability",
    "CoreTarget",
    "Debugger",
    "FocusRefused",
    "GpuDumpTarget",
    "LaunchTarget",
    "Probe",
    "StepKind",
    "Target",
]
