"""Which machine is read: this one, or a simulated one. The only place that knows of both."""

from __future__ import annotations

from dataclasses import dataclass

from ladder_backends.hardware.pci import NOTHING_SUPPLIED, Supplied
from ladder_backends.hardware.ports import Files, Nvml, NvmlRefused
from ladder_backends.hardware.read import read_machine
from ladder_backends.model.topology import Machine


@dataclass(frozen=True, slots=True)
class HardwarePorts:
    """What a machine is read through.

    Attributes:
        simulated: Title of the simulated machine, or an empty string.
    """

    files: Files
    nvml: Nvml
    simulated: str = ""

    def read(self, supplied: Supplied = NOTHING_SUPPLIED, log: str | None = None) -> Machine:
        """The whole machine; takes a second where there are eight GPUs."""
        return read_machine(self.files, self.nvml, supplied, log=log, simulated=self.simulated)


def hardware_ports(simulate: str | None = None) -> HardwarePorts:
    """The ports of this machine, or of a simulated one by its name or file.

    Raises:
        MachineInvalid: There is no such simulated machine, or the file describes none.
    """
    if not simulate:
        from ladder_backends.hardware.pynvml_calls import PynvmlCalls
        from ladder_backends.hardware.real_files import RealFiles

        return HardwarePorts(RealFiles(), PynvmlCalls())
    from ladder_backends.simulator.files import SimulatedFiles
    from ladder_backends.simulator.machine import load
    from ladder_backends.simulator.nvml import SimulatedNvml

    machine = load(simulate)
    return HardwarePorts(SimulatedFiles(machine), SimulatedNvml(machine, NvmlRefused), machine.title)
