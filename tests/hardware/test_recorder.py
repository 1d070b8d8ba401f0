"""A machine that was written down answers as it did."""

from pathlib import Path
from typing import Any

import pytest

from ladder_backends.hardware import baseline
from ladder_backends.hardware.pynvml_calls import PynvmlCalls
from ladder_backends.hardware.real_files import RealFiles
from ladder_backends.model.topology import Machine
from ladder_backends.session.hardware_ports import HardwarePorts, hardware_ports, record_machine
from ladder_backends.simulator.machine import names


def facts_of(machine: Machine) -> dict[str, Any]:
    return dict(baseline.fingerprint(machine))


def written(ports: HardwarePorts, folder: Path) -> tuple[Machine, Machine]:
    machine, text = record_machine(ports)
    path = folder / "recorded.toml"
    path.write_text(text)
    return machine, hardware_ports(str(path)).read()


@pytest.mark.parametrize("name", names())
def test_every_shipped_machine_survives_being_written_down(name: str, tmp_path: Path) -> None:
    machine, again = written(hardware_ports(name), tmp_path)
    assert facts_of(again) == facts_of(machine)
    assert [pair.distance for pair in again.pairs] == [pair.distance for pair in machine.pairs]
    assert again.unread == machine.unread


def test_this_machine_does_too(tmp_path: Path) -> None:
    machine, again = written(HardwarePorts(RealFiles(), PynvmlCalls()), tmp_path)
    assert facts_of(again) == facts_of(machine)


def test_nothing_private_is_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_PLACE", "hush-hush")
    monkeypatch.setenv("NCCL_API_TOKEN", "hush-hush")
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    _, text = record_machine(HardwarePorts(RealFiles(), PynvmlCalls()))
    assert "hush-hush" not in text
    assert '"NCCL_DEBUG" = "INFO"' in text
    assert "/comm" not in text
