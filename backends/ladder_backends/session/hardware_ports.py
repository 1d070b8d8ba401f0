"""Which machine is read: this one, or a simulated one. The only place that knows of both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
        """The whole machine; takes a second where there are eight GPUs.

        Raises:
            MachineInvalid: A simulated machine gives an answer that no real one would.
        """
        if not self.simulated:
            return read_machine(self.files, self.nvml, supplied, log=log)
        with _described(self.simulated):
            return read_machine(self.files, self.nvml, supplied, log=log, simulated=self.simulated)


def record_machine(ports: HardwarePorts) -> tuple[Machine, str]:
    """Read a machine, and write down what it answered: the text of a file that stands for it elsewhere."""
    from ladder_backends.hardware.recorder import RecordingFiles, RecordingNvml, machine_text

    files, nvml = RecordingFiles(ports.files), RecordingNvml(ports.nvml)
    machine = HardwarePorts(files, nvml, ports.simulated).read()
    return machine, machine_text(machine, files, nvml)


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
    with _described(machine.title):
        return HardwarePorts(SimulatedFiles(machine), SimulatedNvml(machine, NvmlRefused), machine.title)


@contextmanager
def _described(title: str) -> Iterator[None]:
    """What a file describes wrongly is told of the file, not of us."""
    from ladder_backends.simulator.machine import MachineInvalid
    from ladder_backends.simulator.shape import DOCUMENT

    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        why = f"{error} is missing, or is no such value" if isinstance(error, KeyError) else str(error)
        raise MachineInvalid(f"{title} describes no machine", why, f"its form is in {DOCUMENT}") from None
