"""The debugger contract: what an engine must offer to stand on a rung of the ladder."""

from ladder_backends.debugger.contract import Capability, Debugger, FocusRefused, StepKind
from ladder_backends.debugger.probe import Probe
from ladder_backends.debugger.target import (
    AttachTarget,
    CoreTarget,
    GpuDumpTarget,
    LaunchTarget,
    Target,
)

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
