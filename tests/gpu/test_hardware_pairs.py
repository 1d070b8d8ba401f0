"""Pairs of real GPUs, through the same workers as everything else: what is right, how fast, what a kill leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import warnings

import pytest

from ladder_backends.model.p2p import Result, Stage, Sweep
from ladder_backends.p2p.arms import Depth
from ladder_backends.p2p.verdict import exit_code, verdicts
from ladder_backends.p2p.worker_process import Ended, Patience, WorkerProcess
from ladder_backends.session.p2p_sweep import PairSweep
from ladder_backends.session.p2p_wish import Wish

with warnings.catch_warnings():
    # CuPy warns of parts of CUDA that it misses.
    warnings.simplefilter("ignore")
    cupy = pytest.importorskip("cupy", reason="needs CuPy")


def gpus_here() -> int:
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


COUNT = gpus_here()
two = pytest.mark.skipif(COUNT < 2, reason="needs two GPUs")


async def swept(depth: Depth = Depth.QUICK, **more: object) -> Sweep:
    sweep = PairSweep()
    await sweep.sweep(Wish(depth=depth, busy_too=True, **more))  # type: ignore[arg-type]
    return sweep.state


def measured(program: str) -> str:
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment).stdout


def shown(sweep: Sweep) -> str:
    lines = [f"{sweep.stage} {sweep.failure} {sweep.took:.1f} s {dict(sweep.versions)}"]
    arms = [arm for pair in sweep.pairs.values() for arm in pair.arms.values()]
    everything = (*sweep.controls.values(), *arms, *sweep.together.values())
    lines += [f"{arm.arm} {arm.source}>{arm.target} {arm.result} {arm.said}" for arm in everything]
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


async def test_the_link_is_looked_at_while_it_carries_data() -> None:
    sweep = await swept()
    for (arm, gpu, _), one in sweep.controls.items():
        if arm == "host":
            print(f"GPU{gpu}", dict(one.evidence))
            assert str(one.evidence["link"]).startswith("Gen")
            assert float(str(one.evidence["to_gpu_GBps"])) > 1


async def test_memory_of_another_process_by_file_descriptor() -> None:
    sweep = await swept(Depth.DEEP)
    one = sweep.controls["fd", 0, 0] if COUNT == 1 else sweep.pairs[0, 1].arms["fd"]
    print(one)
    # A sandbox may refuse exports; it says so, and nothing is called wrong.
    assert one.result is Result.RIGHT or (one.result is Result.NOT_TESTED and one.said)


async def test_deep_sweep_is_right() -> None:
    sweep = await swept(Depth.DEEP)
    print(shown(sweep))
    assert sweep.stage is Stage.DONE, shown(sweep)
    wrong = [arm for pair in sweep.pairs.values() for arm in pair.arms.values() if arm.result.wrong]
    wrong += [one for one in (*sweep.controls.values(), *sweep.together.values()) if one.result.wrong]
    assert not wrong, shown(sweep)
    if COUNT == 1:
        assert {"ipc", "fd", "shm"} <= {one.arm for one in sweep.controls.values()}
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
        # As p2pBandwidthLatencyTest does: 40 M integers, five copies between two events.
        a, b = cupy.cuda.Event(), cupy.cuda.Event()
        a.record(s)
        for _ in range(5): r.memcpyPeerAsync(there, 1, here, 0, 160_000_000, s.ptr)
        b.record(s); s.synchronize()
        print(5 * 160_000_000 / (cupy.cuda.get_elapsed_time(a, b) / 1000) / 1e9)
    """
    raw_rate, sample_rate = map(float, measured(textwrap.dedent(raw)).split())
    print(f"ours {ours} GB/s, raw {raw_rate} GB/s, as the CUDA sample {sample_rate} GB/s")
    print(f"4 bytes in {sweep.pairs[0, 1].latency} us")
    assert ours == pytest.approx(raw_rate, rel=0.03)
    assert ours == pytest.approx(sample_rate, rel=0.05)


async def test_a_worker_that_is_killed_in_a_transfer_leaves_the_gpu_well() -> None:
    gpus = [0, 1] if COUNT > 1 else [0]
    work = [["soak", 0, 0]] if COUNT > 1 else [["local", 0, 0]] * 1000
    job = {
        "format": 1,
        "role": "together",
        "layer": {"kind": "cupy"},
        "gpus": gpus,
        "work": work,
        "cap": 256 << 20,
        "seconds": 60,
    }
    worker = WorkerProcess(job, ",".join(map(str, gpus)), {}, Patience())

    async def kill_at_the_sixth_step() -> None:
        steps = 0
        async for told in worker.lines():
            steps += told["event"] == "step"
            if steps == 6 and worker.pid is not None:
                os.kill(worker.pid, signal.SIGKILL)

    with pytest.raises(Ended) as ended:
        await kill_at_the_sixth_step()
    assert "SIGKILL" in ended.value.why
    after = await swept()
    assert after.stage is Stage.DONE
    assert all(gpu.state == "ok" for gpu in after.gpus)
    assert all(one.result is Result.RIGHT for one in after.controls.values()), shown(after)


class Hurried:
    """From the controls on no step has the time it needs; the look at the GPU after that has."""

    term, gone = 1.0, Patience().gone

    def __init__(self, sweep: PairSweep) -> None:
        self._sweep = sweep

    @property
    def factor(self) -> float:
        state = self._sweep.state
        lost = any(one.result is Result.HUNG for one in state.controls.values())
        return 0.0001 if state.stage is Stage.CONTROL and not lost else 1.0


async def test_a_step_that_takes_too_long_is_ended_and_its_gpu_looked_at() -> None:
    sweep = PairSweep()
    await sweep.sweep(Wish(busy_too=True, patience=Hurried(sweep)))
    hung = [one for one in sweep.state.controls.values() if one.result is Result.HUNG]
    assert len(hung) == 1, shown(sweep.state)
    assert all(gpu.state == "ok" for gpu in sweep.state.gpus), sweep.state.gpus


def test_headless_json() -> None:
    command = [sys.executable, "-m", "ladder_tui", "p2p", "--json", "--yes"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    document = json.loads(done.stdout)
    print(json.dumps(document["verdict"]))
    assert document["format"] == 1
    assert len(document["gpus"]) == COUNT
    assert done.returncode in (0, 1), done.stderr
