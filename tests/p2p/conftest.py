"""Simulated machines as TOML, swept through real worker processes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ladder_backends.model.p2p import Sweep, Verdict
from ladder_backends.p2p.arms import Depth
from ladder_backends.p2p.counters import risen
from ladder_backends.p2p.host_facts import host_facts
from ladder_backends.p2p.verdict import verdicts
from ladder_backends.p2p.worker_process import Patience
from ladder_backends.session.hardware_ports import hardware_ports
from ladder_backends.session.p2p_sweep import PairSweep
from ladder_backends.session.p2p_wish import Wish
from ladder_backends.simulator.machine import load


class Swept(NamedTuple):
    """A finished sweep and what it means."""

    sweep: Sweep
    verdicts: tuple[Verdict, ...]


def machine(
    gpus: int = 2, *tables: str, link: str = "GBps = 26.0", host: str = "", gpu: str = "", top: str = ""
) -> str:
    """A machine with some GPUs, every pair linked alike, and more tables; `gpu` is said of the last one."""
    text = 'title = "made for a test"\npatience = 0.1\n' + top
    text += "".join(f'[[gpu]]\nbus = "0000:{0x41 + 0x10 * number:02x}:00.0"\n' for number in range(gpus))
    return text + f"{gpu}\n[[link]]\n{link}\n[staged]\nGBps = 20.0\n[host]\n{host}\n" + "\n".join(tables)


def wish_for(path: Path, state: Path, depth: Depth = Depth.QUICK, **more: object) -> Wish:
    """What sweeps the machine of a file."""
    known = load(str(path))
    layer = {"kind": "simulated", "machine": str(path), "state": str(state)}
    patience = Patience(known.patience, 0.3, 1.0)
    return Wish(layer, known.title, depth, patience=patience, **more)  # type: ignore[arg-type]


@pytest.fixture
def swept(tmp_path: Path) -> Callable[..., Awaitable[Swept]]:
    """Sweeps a machine: TOML text in, sweep and verdicts out."""

    async def run(text: str, depth: Depth = Depth.QUICK, changed: tuple[str, ...] = (), **more: object) -> Swept:
        path = tmp_path / "machine.toml"
        path.write_text(text)
        state = tmp_path / "state"
        state.mkdir(exist_ok=True)
        sweep = PairSweep()
        ports = hardware_ports(str(path))
        before = ports.read()
        await sweep.sweep(wish_for(path, state, depth, **more))
        facts = host_facts(before) | risen(before, ports.read())
        return Swept(sweep.state, verdicts(sweep.state, facts, changed))

    return run
