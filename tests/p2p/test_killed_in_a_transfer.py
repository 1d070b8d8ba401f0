"""A worker that is killed while it copies: what is said of it, what goes on, and what a baseline makes of it."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from ladder_backends.hardware import baseline
from ladder_backends.model.p2p import Result, Stage, Sweep
from ladder_backends.p2p.arms import Depth
from ladder_backends.p2p.report_json import sweep_json
from ladder_backends.p2p.verdict import exit_code, verdicts
from ladder_backends.session.hardware_ports import hardware_ports
from ladder_backends.session.p2p_sweep import PairSweep
from ladder_backends.session.p2p_wish import Wish

from .conftest import machine, wish_for

HANGS = '[[fault]]\nkind = "hang"\nvia = "store"\nfrom = 0\nto = 1'


def written(path: Path, state: Path, text: str, depth: Depth = Depth.QUICK, **more: object) -> Wish:
    path.write_text(text)
    state.mkdir()
    return wish_for(path, state, depth, **more)


async def swept(path: Path, state: Path, text: str) -> Sweep:
    sweep = PairSweep()
    await sweep.sweep(written(path, state, text))
    return sweep.state


async def killed_in_a_transfer(path: Path, state: Path) -> Sweep:
    """Sweep a machine on which a transfer never ends, and kill its worker from outside while it copies."""
    wish = written(path, state, machine(3, HANGS).replace("patience = 0.1", "patience = 1.0"))
    killed: list[int] = []

    def changed() -> None:
        pair = sweep.state.pairs.get((0, 1))
        if pair is not None and pair.running == "store: store through the window" and not killed:
            killed.extend(sweep.pids(0, 1))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    sweep = PairSweep(changed)
    await sweep.sweep(wish)
    assert len(killed) == 1
    return sweep.state


async def test_a_kill_is_told_as_one_and_a_baseline_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "kept"))
    path = tmp_path / "machine.toml"
    healthy = await swept(path, tmp_path / "healthy", machine(3))
    host = hardware_ports(str(path)).read()
    baseline.save("before", host, sweep_json(healthy, verdicts(healthy)))

    after = await killed_in_a_transfer(path, tmp_path / "killed")
    assert after.stage is Stage.DONE
    store = after.pairs[0, 1].arms["store"]
    assert store.result is Result.ERROR
    assert "SIGKILL" in store.said
    assert "through the window" in store.said
    # What is left of the pair is done by a fresh worker, and the GPUs were looked at in between.
    right = {name for name, arm in after.pairs[0, 1].arms.items() if arm.result is Result.RIGHT}
    assert right == {"push", "pull", "load", "speed"}
    assert all(gpu.state == "ok" for gpu in after.gpus)
    assert all(after.pairs[key].kind is Result.RIGHT for key in after.pairs if key != (0, 1))

    found = verdicts(after)
    assert found[0].id == "killed"
    assert exit_code(found) == 2
    compared = baseline.compare(baseline.load("before"), host, sweep_json(after, found))
    assert not compared.changed
    assert len(compared.broke) == 1
    assert "GPU0" in compared.broke[0]
    assert "GPU1" in compared.broke[0]
    again = baseline.compare(baseline.load("before"), host, sweep_json(healthy, verdicts(healthy)))
    assert not again.broke


async def test_a_gpu_that_stays_at_work_after_the_kill_is_wedged(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    text = machine(3, HANGS + "\nwedges = true").replace("patience = 0.1", "patience = 0.3")
    wish = written(path, tmp_path / "state", text)
    killed: list[int] = []

    def changed() -> None:
        pair = sweep.state.pairs.get((0, 1))
        if pair is not None and pair.running == "store: store through the window" and not killed:
            killed.extend(sweep.pids(0, 1))
            # A moment later, so that the GPU has begun.
            for pid in killed:
                asyncio.get_running_loop().call_later(0.3, os.kill, pid, signal.SIGKILL)

    sweep = PairSweep(changed)
    await sweep.sweep(wish)
    assert [gpu.state for gpu in sweep.state.gpus] == ["ok", "wedged", "ok"]
    assert verdicts(sweep.state)[0].id == "wedged"


async def test_a_soak_that_is_stopped_says_how_far_it_came(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    told: list[str] = []
    begun = asyncio.Event()

    def changed() -> None:
        told.append(sweep.state.step)
        if sum(step.startswith("soak: round ") for step in set(told)) > 1:
            begun.set()

    sweep = PairSweep(changed)
    wish = written(path, tmp_path / "state", machine(2), Depth.SOAK, soak=30.0)
    task = asyncio.ensure_future(sweep.sweep(wish))
    await begun.wait()
    await sweep.cancel()
    await task
    assert any("s left" in step for step in told)
    soak = sweep.state.together["soak"]
    assert soak.result is Result.NOT_TESTED
    assert "all right until then" in soak.said
    assert sweep.state.stage is Stage.CANCELLED
    assert not sweep.state.step
