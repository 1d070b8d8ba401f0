"""Pairs of real GPUs, through the same workers as everything else: what is right, how fast, what a kill leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

from ladder_backends.model.p2p import Result, Stage, Sweep
from ladder_backends.p2p.arms import Depth
from ladder_backends.p2p.verdict import exit_code, verdicts
from ladder_backends.p2p.worker_process import Patience
from ladder_backends.session.p2p_sweep import PairSweep, Wish

cupy = pytest.importorskip("cupy", reason="needs CuPy")
COUNT = int(cupy.cuda.runtime.getDeviceCount()) if os.path.exists("/dev/nvidiactl") else 0
two = pytest.mark.skipif(COUNT < 2, reason="needs two GPUs")


async def swept(depth: Depth = Depth.QUICK, **more: object) -> Sweep:
    sweep = PairSweep()
    await sweep.sweep(Wish(depth=depth, busy_too=True, **more))  # type: ignore[arg-type]
    return sweep.state


def shown(sweep: Sweep) -> str:
    lines = [f"{sweep.stage} {sweep.failure} {sweep.took:.1f} s {dict(sweep.versions)}"]
    arms = [arm for pair in sweep.pairs.values() for arm in pair.arms.values()]
    for arm in (*sweep.controls.values(), *arms, *sweep.together.values()):
        lines.append(f"{arm.arm} {arm.source}>{arm.target} {arm.result} {arm.said}")
    return "\n".join((*lines, *sweep.untested))


async def test_quick_sweep_is_right_and_says_what_it_cannot_test() -> None:
    sweep = await swept()
    print(shown(sweep))
    assert sweep.stage is Stage.DONE, shown(sweep)
    assert len(sweep.gpus) == COUNT
    assert all(gpu.uuid.startswith("GPU-") and gpu.memory > 1 << 30 for gpu in sweep.gpus)
    assert all(one.result is Result.RIGHT for one in sweep.controls.values()), shown(sweep)
    if COUNT == 1:
        assert "one GPU" in sweep.untested[0]
    offered = [pair for pair in sweep.pairs.values() if pair.claim.offered]
    assert all(not pair.kind.wrong for pair in offered), shown(sweep)
    found = verdicts(sweep)
    assert exit_code(found) in (0, 1), found


async def test_deep_sweep_is_right() -> None:
    sweep = await swept(Depth.DEEP)
    print(shown(sweep))
    assert sweep.stage is Stage.DONE, shown(sweep)
    wrong = [arm for pair in sweep.pairs.values() for arm in pair.arms.values() if arm.result.wrong]
    wrong += [one for one in (*sweep.controls.values(), *sweep.together.values()) if one.result.wrong]
    assert not wrong, shown(sweep)
    if COUNT == 1:
        assert {"ipc", "shm"} <= {one.arm for one in sweep.controls.values()}
    else:
        arms = sweep.pairs[0, 1].arms
        assert {"sizes", "patterns", "both ways", "handshake", "ipc", "shm", "nccl"} <= set(arms)
        assert arms["ipc"].result is arms["handshake"].result is Result.RIGHT


@two
async def test_bandwidth_is_that_of_the_raw_copy() -> None:
    sweep = await swept(only=(0, 1))
    ours = sweep.pairs[0, 1].bandwidth
    raw = """
        import cupy, statistics
        from cupy.cuda import runtime as r
        size = 256 << 20
        r.setDevice(1); there = r.malloc(size)
        r.setDevice(0); here = r.malloc(size)
        r.deviceEnablePeerAccess(1)
        s = cupy.cuda.Stream(non_blocking=True)
        seconds = []
        for _ in range(12):
            a, b = cupy.cuda.Event(), cupy.cuda.Event()
            a.record(s); r.memcpyPeerAsync(there, 1, here, 0, size, s.ptr); b.record(s); s.synchronize()
            seconds.append(cupy.cuda.get_elapsed_time(a, b) / 1000)
        print(size / statistics.median(seconds[3:]) / 1e9)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(raw)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"},
    )
    print(f"ours {ours} GB/s, raw {done.stdout.strip()} GB/s, latency {sweep.pairs[0, 1].latency} us")
    assert ours == pytest.approx(float(done.stdout), rel=0.03)


async def test_a_worker_that_is_killed_in_a_transfer_leaves_the_gpu_well() -> None:
    # Steps are given so little time that the first one is over it: the kill, the look at the GPU after it, and the
    # fresh worker are real.
    sweep = PairSweep()
    seen: list[str] = []

    def watch() -> None:
        if sweep.state.stage is Stage.CONTROL and not seen:
            seen.append("control")
            sweep.wish = Wish(depth=Depth.QUICK, busy_too=True, patience=Patience(factor=0.0001, term=1.0))

    sweep = PairSweep(watch)
    await sweep.sweep(Wish(busy_too=True))
    print(shown(sweep.state))
    hung = [one for one in sweep.state.controls.values() if one.result is Result.HUNG]
    assert hung, shown(sweep.state)
    after = await swept()
    assert after.stage is Stage.DONE
    assert all(gpu.state == "ok" for gpu in after.gpus)
    assert all(one.result is Result.RIGHT for one in after.controls.values()), shown(after)


def test_headless_json() -> None:
    command = [sys.executable, "-m", "ladder_tui", "p2p", "--json", "--yes"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    document = json.loads(done.stdout)
    print(json.dumps(document["verdict"]))
    assert document["format"] == 1
    assert len(document["gpus"]) == COUNT
    assert done.returncode in (0, 1), done.stderr
