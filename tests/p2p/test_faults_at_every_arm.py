"""Every kind of fault at every arm it can strike: the arm that is struck says so, and names the class."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ladder_backends.gpu_calls.gpus import DeviceFault
from ladder_backends.model.p2p import ArmResult, Result
from ladder_backends.p2p.arms import ARMS, Depth, Scope
from ladder_backends.p2p.steps import Steps
from ladder_backends.p2p.together import Together
from ladder_backends.simulator.gpus import SimulatedGpus
from ladder_backends.simulator.machine import Fault, load

from .conftest import Swept, machine

Sweeper = Callable[..., Awaitable[Swept]]

VIA = {
    "push": "push",
    "pull": "pull",
    "store": "store",
    "load": "load",
    "sizes": "push",
    "patterns": "push",
    "both ways": "push",
    "far end": "push",
    "one to all": "push",
    "all to one": "push",
    "ring": "push",
    "all at once": "push",
    "soak": "push",
    "staged": "staged",
    "local": "local",
    "host": "host",
}
"""Arms that move words, and the path by which they do."""

CLASSES = {
    "drop": {Result.DROPPED},
    "mirror": {Result.MIRRORED, Result.DROPPED},
    "misroute": {Result.DROPPED, Result.MISROUTED},
    "stale": {Result.STALE},
    "late": {Result.STALE, Result.DROPPED},
    "partial": {Result.PARTIAL},
    "corrupt": {Result.PARTIAL},
    "error": {Result.ERROR},
}
"""What may be said of each; an arm that looks once from the owner's side cannot tell a mirror from a loss."""


class Hung(Exception):
    """Where a worker would sleep for ever."""


class Hanging(SimulatedGpus):
    """A layer that tells where it would hang."""

    def _sleep_forever(self, fault: Fault | None, gpu: int) -> None:
        raise Hung


def layer(text: str, folder: Path) -> Hanging:
    path = folder / "machine.toml"
    path.write_text(text)
    known = load(str(path))
    return Hanging(known, range(len(known.gpus)), folder, {})


def struck(arm: str, fault: str, folder: Path) -> ArmResult:
    """One arm on a machine of three GPUs with one fault."""
    link = 'nvml = {read = "OK", atomics = "OK"}'
    gpus = layer(machine(3, f"[[fault]]\n{fault}", link=link), folder)
    numbers = (0, 1, 2)
    if ARMS[arm].scope is Scope.TOGETHER:
        return Together(gpus, lambda *_: None, numbers).run(arm, 0, 1, 0.0)
    steps = Steps(gpus, lambda *_: None, numbers)
    if arm in ("local", "host"):
        return steps.local(1) if arm == "local" else steps.host(1)
    if arm == "staged":
        return steps.staged(0, 1)
    for one in numbers:
        for other in numbers:
            steps.open_peer(one, other)
    return steps.pair(arm, 0, 1)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("arm", VIA)
def test_an_arm_that_is_struck_says_what_happened(arm: str, kind: str, tmp_path: Path) -> None:
    more = {"partial": "start = 512", "misroute": "lands_on = 2"}.get(kind, "")
    if arm in ("local", "host", "staged") and kind in ("mirror", "misroute", "late"):
        pytest.skip("there is no peer window on this path")
    # Patterns that are alike between two transfers cannot be told apart by what is old.
    fault = f'kind = "{kind}"\nvia = "{VIA[arm]}"\n{more}'
    if kind == "partial" and arm == "sizes":
        fault = fault.replace("512", "8")
    done = struck(arm, fault, tmp_path)
    assert done.result in CLASSES[kind], (done.result, done.evidence)
    assert done.said


@pytest.mark.parametrize("arm", [*VIA, "speed", "handshake", "atomics"])
def test_an_arm_on_a_healthy_machine_is_right(arm: str, tmp_path: Path) -> None:
    done = struck(arm, 'kind = "drop"\nvia = "ipc"', tmp_path)
    assert done.result is Result.RIGHT, done.evidence


@pytest.mark.parametrize("arm", [*VIA, "speed", "handshake", "atomics"])
def test_a_transfer_that_never_ends_is_seen_at_every_arm(arm: str, tmp_path: Path) -> None:
    via = {**VIA, "speed": "push", "handshake": "handshake", "atomics": "atomics"}[arm]
    with pytest.raises(Hung):
        struck(arm, f'kind = "hang"\nvia = "{via}"', tmp_path)


def test_a_hang_at_the_kth_step_comes_at_that_step(tmp_path: Path) -> None:
    assert struck("push", 'kind = "hang"\nvia = "push"\nafter = 3', tmp_path).result is Result.RIGHT
    with pytest.raises(Hung):
        struck("push", 'kind = "hang"\nvia = "push"\nafter = 2', tmp_path)
    with pytest.raises(Hung):
        struck("patterns", 'kind = "hang"\nvia = "push"\nafter = 49', tmp_path)
    (tmp_path / "second").mkdir()
    assert struck("patterns", 'kind = "hang"\nvia = "push"\nafter = 50', tmp_path / "second").result is Result.RIGHT


def test_corrupt_above_two_mebibytes_is_seen_by_sizes_and_not_by_patterns(tmp_path: Path) -> None:
    fault = 'kind = "corrupt"\nvia = "push"\nabove = 2097152'
    assert struck("patterns", fault, tmp_path).result is Result.RIGHT
    done = struck("sizes", fault, tmp_path)
    assert done.result is Result.PARTIAL
    assert done.evidence["bytes"] == 2097152 + 16


def test_corrupt_in_company_is_seen_only_there(tmp_path: Path) -> None:
    fault = 'kind = "corrupt"\nvia = "push"\nconcurrent = true'
    assert struck("push", fault, tmp_path).result is Result.RIGHT
    for arm in ("both ways", "one to all", "all to one", "ring", "all at once", "soak"):
        assert struck(arm, fault, tmp_path).result is Result.PARTIAL, arm


@pytest.mark.parametrize("arm", ["one to all", "all to one", "ring", "all at once"])
def test_a_group_is_as_large_as_it_says(arm: str, tmp_path: Path) -> None:
    count = {"one to all": 2, "all to one": 2, "ring": 3, "all at once": 6}[arm]
    for together, result in ((count, Result.PARTIAL), (count + 1, Result.RIGHT)):
        fault = f'kind = "corrupt"\nvia = "push"\nconcurrent = {together}'
        assert struck(arm, fault, tmp_path).result is result


def test_slow_is_measured_where_time_is(tmp_path: Path) -> None:
    slow = struck("speed", 'kind = "slow"\nvia = "push"\nfactor = 0.25', tmp_path)
    fast = struck("speed", 'kind = "slow"\nvia = "ipc"', tmp_path)
    assert float(str(slow.evidence["GBps"])) == pytest.approx(float(str(fast.evidence["GBps"])) / 4, rel=0.02)


@pytest.mark.parametrize(
    ("kind", "arm", "result"),
    [
        ("drop", "handshake", Result.HUNG),
        ("mirror", "handshake", Result.HUNG),
        ("misroute", "handshake", Result.HUNG),
        ("signal", "handshake", Result.HUNG),
        ("stale", "handshake", Result.STALE),
        ("late", "handshake", Result.STALE),
        ("corrupt", "handshake", Result.STALE),
        ("drop", "atomics", Result.PARTIAL),
        ("mirror", "atomics", Result.PARTIAL),
        ("misroute", "atomics", Result.PARTIAL),
        ("atomics", "atomics", Result.PARTIAL),
    ],
)
def test_kernels_that_wait_or_add(kind: str, arm: str, result: Result, tmp_path: Path) -> None:
    assert struck(arm, f'kind = "{kind}"\nvia = "{arm}"\nlands_on = 2', tmp_path).result is result


def test_access_that_cannot_be_enabled_or_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DeviceFault) as fault:
        struck("push", 'kind = "enable"\ncode = 205', tmp_path)
    assert fault.value.code == 205


@pytest.mark.parametrize("arm", ["ipc", "fd", "shm"])
@pytest.mark.parametrize("kind", ["drop", "mirror", "stale", "partial", "corrupt", "error", "hang", "die"])
async def test_between_processes(arm: str, kind: str, swept: Sweeper) -> None:
    if arm == "shm" and kind in ("mirror", "stale"):
        pytest.skip("shared memory has no window, and holds no earlier transfer")
    fault = f'[[fault]]\nkind = "{kind}"\nvia = "{arm}"\nfrom = 0\nto = "*"\nstart = 65536'
    found = await swept(machine(2, fault), Depth.DEEP)
    expected = {
        **{name: next(iter(classes)) for name, classes in CLASSES.items()},
        "mirror": Result.MIRRORED,
        "hang": Result.HUNG,
        "die": Result.ERROR,
    }[kind]
    assert found.sweep.pairs[0, 1].arms[arm].result is expected, found.sweep.pairs[0, 1].arms[arm]
    assert found.sweep.pairs[1, 0].arms[arm].result is Result.RIGHT
    others = {"ipc", "fd", "shm"} - {arm}
    assert all(found.sweep.pairs[0, 1].arms[other].result is Result.RIGHT for other in others)
