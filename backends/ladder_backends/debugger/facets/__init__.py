"""Parts of the contract that not every debugger has: what it lacks is None on the debugger, never an error.

Each facet is an abstract class in a file of its own. A debugger that has it puts an instance on itself; sessions
and panes ask `debugger.registers is not None`, not for a type. Methods raise as those of `Debugger`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.exports import on_demand

if TYPE_CHECKING:
    from ladder_backends.debugger.facets.build import Build
    from ladder_backends.debugger.facets.code import Code
    from ladder_backends.debugger.facets.device import DeviceMap
    from ladder_backends.debugger.facets.device_stops import ApiFailures, DeviceStops, LaunchStops
    from ladder_backends.debugger.facets.firewall import Firewall
    from ladder_backends.debugger.facets.gpu_dumps import GpuDumps
    from ladder_backends.debugger.facets.kernel_launches import KernelLaunches
    from ladder_backends.debugger.facets.lane_runs import LaneRuns
    from ladder_backends.debugger.facets.lanes import Lanes
    from ladder_backends.debugger.facets.libraries import Libraries
    from ladder_backends.debugger.facets.memory import Memory
    from ladder_backends.debugger.facets.process import Process
    from ladder_backends.debugger.facets.python_target import PythonTarget
    from ladder_backends.debugger.facets.registers import Registers
    from ladder_backends.debugger.facets.signals import Signals
    from ladder_backends.debugger.facets.source_files import SourceFiles
    from ladder_backends.debugger.facets.threads import Threads
    from ladder_backends.debugger.facets.values import Values
else:
    __getattr__ = on_demand(
        __name__,
        build="Build",
        code="Code",
        device="DeviceMap",
        device_stops="ApiFailures DeviceStops LaunchStops",
        firewall="Firewall",
        gpu_dumps="GpuDumps",
        kernel_launches="KernelLaunches",
        lane_runs="LaneRuns",
        lanes="Lanes",
        libraries="Libraries",
        memory="Memory",
        process="Process",
        python_target="PythonTarget",
        registers="Registers",
        signals="Signals",
        source_files="SourceFiles",
        threads="Threads",
        values="Values",
    )

__all__ = [
    "ApiFailures",
    "Build",
    "Code",
    "DeviceMap",
    "DeviceStops",
    "Firewall",
    "GpuDumps",
    "KernelLaunches",
    "LaneRuns",
    "Lanes",
    "LaunchStops",
    "Libraries",
    "Memory",
    "Process",
    "PythonTarget",
    "Registers",
    "Signals",
    "SourceFiles",
    "Threads",
    "Values",
]
