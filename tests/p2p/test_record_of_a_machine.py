"""A machine that was read and swept, written down: what stands for it elsewhere comes to the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ladder_backends.p2p.arms import Depth
from ladder_backends.session.hardware_ports import hardware_ports, record_machine
from ladder_demos.record_machine import machine_with_rates

from .conftest import Swept, machine

Sweeper = Callable[..., Awaitable[Swept]]
LINKS = (
    'GBps = 394.0\nlatency_us = 4.3\nnvml = {read = "OK", write = "OK", nvlink = "OK", atomics = "OK", pci = "NS"}'
    "\n[[link]]\nfrom = 1\nto = 0\nGBps = 360.0\nlatency_us = 5.0"
)


async def test_a_recorded_machine_has_the_rates_that_were_measured(swept: Sweeper, tmp_path: Path) -> None:
    text = machine(2, link=LINKS, top='driver = "570.133.20"\n').replace("[[gpu]]", "[[gpu]]\nhost_GBps = 55.0")
    first = await swept(text, Depth.DEEP)
    _, recorded = record_machine(hardware_ports(str(tmp_path / "machine.toml")))
    again = await swept("patience = 0.1\n" + machine_with_rates(recorded, first.sweep), Depth.DEEP)
    assert [gpu.bus for gpu in again.sweep.gpus] == [gpu.bus for gpu in first.sweep.gpus]
    for key, pair in first.sweep.pairs.items():
        there = again.sweep.pairs[key]
        assert there.kind is pair.kind
        assert there.claim == pair.claim
        assert there.bandwidth == pytest.approx(pair.bandwidth, rel=0.005)
        assert there.latency == pytest.approx(pair.latency, rel=0.05)
    assert again.sweep.controls["host", 0, 0].evidence["to_gpu_GBps"] == 55.0
    assert again.verdicts[0].id == first.verdicts[0].id
    assert "real machine" in machine_with_rates(recorded, first.sweep)
