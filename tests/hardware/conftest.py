"""Simulated machines to read, by name or by the text of their file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ladder_backends.hardware.pci import NOTHING_SUPPLIED, Supplied
from ladder_backends.hardware.ports import NvmlRefused
from ladder_backends.hardware.read import read_machine
from ladder_backends.model.topology import Machine
from ladder_backends.simulator.files import SimulatedFiles
from ladder_backends.simulator.machine import load
from ladder_backends.simulator.nvml import SimulatedNvml

Reading = Callable[..., Machine]


def _read(name: str, supplied: Supplied = NOTHING_SUPPLIED, log: str | None = None) -> Machine:
    machine = load(name)
    return read_machine(
        SimulatedFiles(machine), SimulatedNvml(machine, NvmlRefused), supplied, log=log, simulated=machine.title
    )


@pytest.fixture
def read() -> Reading:
    """A shipped machine by its name."""
    return _read


@pytest.fixture
def read_text(tmp_path: Path) -> Reading:
    """A machine by the text of its file."""

    def reading(text: str, supplied: Supplied = NOTHING_SUPPLIED, log: str | None = None) -> Machine:
        path = tmp_path / "machine.toml"
        path.write_text(text)
        return _read(str(path), supplied, log)

    return reading
