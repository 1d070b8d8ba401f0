"""Two to eight GPUs of one machine: everything at once, as a person and as a node check would do it.

One run says all: the deep sweep through the command, the quick one against its budget, rates against the raw copy
and a loop as CUDA's own sample makes it, the matrix in a terminal, a baseline, a kill in mid-transfer, and a record
of the machine. What was found is printed; screens and the record are kept where `LADDER_SCREENS` names a folder.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.model.p2p import Result, Stage
from ladder_backends.p2p.arms import ARMS, Depth, Scope, arms_of, expected_seconds
from ladder_backends.p2p.verdict import exit_code, verdicts
from ladder_backends.p2p.worker_process import Ended, Patience, WorkerProcess
from ladder_backends.session.p2p_sweep import PairSweep
from ladder_backends.session.p2p_wish import Wish
from ladder_backends.simulator.machine import load

from ..e2e.conftest import Terminal

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
PAIRS = COUNT * (COUNT - 1)
BUDGETS = {2: 10.0, 8: 60.0}
"""Seconds of the quick arms."""

pytestmark = [
    pytest.mark.skipif(COUNT < 2, reason=f"needs two GPUs, here are {COUNT}"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def state_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where baselines of this module are kept."""
    return tmp_path_factory.mktemp("state")


def command(state_home: Path, *words: str) -> tuple[int, dict[str, Any], float]:
    """`ladder-tui p2p --json`: exit code, document, seconds."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "ladder_tui", "p2p", "--json", "--yes", *words],
        capture_output=True,
        text=True,
        timeout=500,
        env={**os.environ, "XDG_STATE_HOME": str(state_home)},
    )
    took = time.monotonic() - began
    print(done.stderr)
    return done.returncode, json.loads(done.stdout), took


@pytest.fixture(scope="module")
def quick(state_home: Path) -> tuple[int, dict[str, Any], float]:
    """The quick sweep, kept as a baseline."""
    return command(state_home, "--baseline", "save", "before")


@pytest.fixture(scope="module")
def deep(state_home: Path) -> tuple[int, dict[str, Any], float]:
    """The deep sweep, with the far end of memory."""
    return command(state_home, "--arms", "deep", "--far")


def shown(document: dict[str, Any]) -> str:
    """Every arm that is not simply right, and one line of each that is."""
    lines = [
        f"{document['stage']} {document['seconds']} s {document['versions']} {document['verdict']['sentence']}"
    ]
    seen = set()
    for pair in document["pairs"]:
        for arm in pair["arms"]:
            said = f"{arm['arm']:<14}{arm['result']:<11}{arm['evidence'].get('say', '')}"
            if arm["result"] != "right" or arm["arm"] not in seen:
                lines.append(f"  GPU{pair['from']} > GPU{pair['to']}  {said}")
            seen.add(arm["arm"])
    lines += [
        f"  GPU{one['from']} > GPU{one['to']}  {one['arm']:<14}{one['result']:<11}{one['evidence']}"
        for one in (*document["controls"], *document["together"])
    ]
    return "\n".join((*lines, *document["untested"]))


def test_the_quick_sweep_is_right_and_in_time(quick: tuple[int, dict[str, Any], float]) -> None:
    code, document, took = quick
    print(shown(document))
    print(print(f"quick: {took:.1f} s with the command; expected {expected_seconds(Depth.QUICK, COUNT):.0f} s"))
    assert document["stage"] == "done"
    assert len(document["gpus"]) == COUNT
    assert len(document["pairs"]) == PAIRS
    assert all(one["result"] == "right" for one in document["controls"]), shown(document)
    assert code in (0, 1), shown(document)
    assert document["seconds"] <= next(budget for count, budget in BUDGETS.items() if count >= COUNT)


def test_the_deep_sweep_has_every_arm_on_every_pair(deep: tuple[int, dict[str, Any], float]) -> None:
    code, document, took = deep
    print(shown(document))
    print(print(f"deep: {took:.1f} s with the command; expected {expected_seconds(Depth.DEEP, COUNT):.0f} s"))
    assert document["stage"] == "done"
    wanted = {
        arm.id
        for scope in (Scope.PAIR, Scope.OWN_PROCESS)
        for arm in arms_of(Depth.DEEP, scope, asked=("far end",))
    }
    wrong = []
    for pair in document["pairs"]:
        if not pair["claimed"]["cuda"]:
            continue
        assert {arm["arm"] for arm in pair["arms"]} == wanted
        wrong += [arm for arm in pair["arms"] if arm["result"] not in ("right", "not_tested")]
        idle = {arm["arm"] for arm in pair["arms"] if arm["result"] == "not_tested"}
        # A machine may have no network card, no NCCL, no atomics; it has all others.
        assert idle <= {"nccl nic", "nccl", "nccl no p2p", "nccl sockets", "atomics", "far end"}, idle
    assert not wrong, wrong
    together = {one["arm"]: one for one in document["together"]}
    assert set(together) == {arm.id for arm in arms_of(Depth.DEEP, Scope.TOGETHER)} - {"trace"}
    assert all(one["result"] == "right" for one in together.values())
    assert code in (0, 1)


RECORDING = ("--yes", "--arms", "quick")

RAW = """
import cupy, statistics, sys
from cupy.cuda import runtime as r
count, size, small = int(sys.argv[1]), 256 << 20, 160_000_000
spin = cupy.RawKernel(r'''extern "C" __global__ void spin(long long cycles) {
    long long began = clock64(); while (clock64() - began < cycles) {} }''', "spin")
def seconds(a, b): return cupy.cuda.get_elapsed_time(a, b) / 1000
for one in range(count):
    for other in range(count):
        if one == other or not r.deviceCanAccessPeer(one, other): continue
        r.setDevice(other); there = r.malloc(size)
        r.setDevice(one); here = r.malloc(size)
        try: r.deviceEnablePeerAccess(other)
        except r.CUDARuntimeError as error:
            if error.status != 704: raise
        s = cupy.cuda.Stream(non_blocking=True)
        raw = []
        for _ in range(12):
            a, b = cupy.cuda.Event(), cupy.cuda.Event()
            a.record(s); r.memcpyPeerAsync(there, other, here, one, size, s.ptr); b.record(s); s.synchronize()
            raw.append(seconds(a, b))
        # As p2pBandwidthLatencyTest does: behind a kernel that spins, five copies of 40 M integers between two
        # events, and a hundred of 16 bytes.
        a, b = cupy.cuda.Event(), cupy.cuda.Event()
        with s: spin((1,), (1,), (10_000_000,))
        a.record(s)
        for _ in range(5): r.memcpyPeerAsync(there, other, here, one, small, s.ptr)
        b.record(s); s.synchronize()
        rate = 5 * small / seconds(a, b) / 1e9
        with s: spin((1,), (1,), (10_000_000,))
        a.record(s)
        for _ in range(100): r.memcpyPeerAsync(there, other, here, one, 16, s.ptr)
        b.record(s); s.synchronize()
        print(one, other, size / statistics.median(raw[3:]) / 1e9, rate, seconds(a, b) / 100 * 1e6)
        r.free(here); r.setDevice(other); r.free(there)
"""


def test_rates_are_those_of_the_raw_copy_and_of_the_sample(quick: tuple[int, dict[str, Any], float]) -> None:
    ours = {(pair["from"], pair["to"]): pair for pair in quick[1]["pairs"]}
    environment = {**os.environ, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(RAW), str(COUNT)],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    off = []
    for line in done.stdout.splitlines():
        one, other, *figures = line.split()
        pair = ours[int(one), int(other)]
        raw, sample, latency = map(float, figures)
        rate = pair["bandwidth_GBps"]
        print(
            f"GPU{one} > GPU{other}  ours {rate} GB/s, {pair['latency_us']} us"
            f"   raw {raw:.1f} ({100 * (rate / raw - 1):+.1f} %)"
            f"   sample {sample:.1f} ({100 * (rate / sample - 1):+.1f} %), {latency:.2f} us"
        )
        if abs(rate / raw - 1) > 0.03 or abs(rate / sample - 1) > 0.05:
            off.append(line)
    assert not off, off


def test_nothing_broke_since_the_baseline(quick: tuple[int, dict[str, Any], float], state_home: Path) -> None:
    code, document, _ = command(state_home, "--baseline", "compare", "before")
    print(json.dumps(document["baseline"], indent=1))
    assert document["baseline"]["broke"] == []
    assert document["baseline"]["changed"] == []
    assert code == quick[0]


@pytest.fixture
def terminals(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Terminals of tmux; their last screens are kept."""
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    made: list[Terminal] = []

    def make(columns: int, rows: int) -> Terminal:
        made.append(Terminal(columns, rows, tmp_path))
        return made[-1]

    yield make
    for one in made:
        keep(one, f"{request.node.name}-last")
        one._tmux("kill-server")


def keep(terminal: Terminal, name: str) -> None:
    """Keep a screen for people."""
    print(terminal.text())
    if folder := os.environ.get("LADDER_SCREENS"):
        (Path(folder) / f"{name.replace('[', '-').replace(']', '')}.txt").write_text(terminal.text())


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_the_matrix_in_a_terminal(terminals: Any, columns: int, rows: int, state_home: Path) -> None:
    screen = terminals(columns, rows)
    screen.start("p2p", "--tui", "--yes", XDG_STATE_HOME=str(state_home))
    screen.wait("GPU1", 60)
    keep(screen, f"matrix-{columns}-begins")
    lines = screen.wait(lambda found: any("quick · done" in line for line in found), 120)
    keep(screen, f"matrix-{columns}-done")
    assert any(f"proven {PAIRS}" in line for line in lines) or any("~" in line for line in lines)
    screen.press("Enter")
    screen.wait("GPU0 → GPU1")
    keep(screen, f"matrix-{columns}-evidence")
    screen.press("Escape")
    screen.wait("proven")
    screen.press("q")


async def test_a_worker_that_is_killed_in_mid_transfer_leaves_all_well(
    state_home: Path, quick: tuple[int, dict[str, Any], float]
) -> None:
    killed: list[int] = []

    def changed() -> None:
        pair = sweep.state.pairs.get((0, 1))
        if pair is not None and pair.running == "speed: 256 MiB" and not killed:
            killed.extend(sweep.pids(0, 1))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    sweep = PairSweep(changed)
    await sweep.sweep(Wish(busy_too=True))
    state = sweep.state
    assert len(killed) == 1
    assert state.stage is Stage.DONE
    lost = state.pairs[0, 1].arms["speed"]
    print(lost)
    if lost.result is not Result.RIGHT:
        # Where it was faster than the kill, nothing is lost.
        assert lost.evidence["killed"]
        assert verdicts(state)[0].id == "killed"
        assert exit_code(verdicts(state)) == 2
    assert all(gpu.state == "ok" for gpu in state.gpus), state.gpus
    others = [arm for key, pair in state.pairs.items() for arm in pair.arms.values() if arm is not lost]
    assert not [arm for arm in others if arm.result.wrong]
    code, document, _ = command(state_home, "--baseline", "compare", "before")
    assert document["baseline"]["broke"] == []
    assert code == quick[0]


async def test_a_kill_while_all_copy_at_once_leaves_all_well() -> None:
    everyone = list(range(COUNT))
    job = {
        "format": 1,
        "role": "together",
        "layer": {"kind": "cupy"},
        "gpus": everyone,
        "work": [["soak", 0, 0]],
        "cap": 256 << 20,
        "seconds": 60,
    }
    worker = WorkerProcess(job, None, {}, Patience())

    async def killed_in_the_third_round_that_is_told() -> None:
        async with aclosing(worker.lines()) as lines:
            steps = 0
            async for told in lines:
                steps += told["event"] == "step" and told["arm"] == "soak"
                if steps == 3 and worker.pid is not None:
                    os.kill(worker.pid, signal.SIGKILL)

    with pytest.raises(Ended) as ended:
        await killed_in_the_third_round_that_is_told()
    assert ended.value.killed
    assert "SIGKILL" in ended.value.why
    sweep = PairSweep()
    await sweep.sweep(Wish(busy_too=True))
    assert all(gpu.state == "ok" for gpu in sweep.state.gpus)
    assert not [arm for pair in sweep.state.pairs.values() for arm in pair.arms.values() if arm.result.wrong]


def test_the_machine_is_written_down_as_a_case(tmp_path: Path) -> None:
    out = Path(os.environ.get("LADDER_SCREENS", str(tmp_path)))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ladder_demos.record_machine",
            str(out),
            f"recorded-{COUNT}",
            "--yes",
            "--arms",
            "quick",
        ],
        capture_output=True,
        text=True,
        timeout=400,
    )
    print(done.stdout, done.stderr)
    assert done.returncode == 0
    machine = load(str(out / f"recorded-{COUNT}.toml"))
    assert len(machine.gpus) == COUNT
    assert len(machine.links) == PAIRS
    words = ("--simulate", str(out / f"recorded-{COUNT}.toml"), "--arms", "deep")
    code, document, _ = command(tmp_path, *words)
    real = json.loads((out / f"recorded-{COUNT}.p2p.json").read_text())
    for here, there in zip(document["pairs"], real["pairs"], strict=True):
        assert here["class"] == there["class"]
        assert here["bandwidth_GBps"] == pytest.approx(there["bandwidth_GBps"], rel=0.01)
    assert code in (0, 1)
    assert len(ARMS) > len(real["together"])
