"""The calls of the tests, answered by a simulated machine; its faults are applied here, below them."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from ladder_backends.gpu_calls.gpus import Buffer, DeviceFault, Handshake, Seen
from ladder_backends.gpu_calls.tally import Expected, Tally
from ladder_backends.gpu_calls.words import Stuff
from ladder_backends.simulator.machine import Fault, SimulatedMachine
from ladder_backends.simulator.memory import NOISE, ONES, Run, Runs, compared, part, written

_LATE = 0.15
"""Seconds after which a late transfer is there."""


class SimulatedGpus:
    """Some of a machine's GPUs, as one process sees them.

    Args:
        machine: What is simulated.
        gpus: Numbers of the machine's GPUs that this process sees, in its own order.
        state: A folder that outlives processes: memory between them, and GPUs that stay at work.
        environment: The process's variables.
    """

    def __init__(
        self, machine: SimulatedMachine, gpus: Sequence[int], state: Path, environment: dict[str, str]
    ) -> None:
        self.versions = {"driver": str(machine.raw.get("driver", "simulated"))}
        self._machine = machine
        self._gpus = tuple(gpus)
        self._state = state
        self._environment = environment
        self._names = count()
        self._memory: dict[str, Runs] = {}
        self._before: dict[str, Runs] = {}
        self._mirrors: dict[tuple[int, str], Runs] = {}
        self._late: list[tuple[float, str, Runs]] = []
        self._slots: dict[int, list[Buffer]] = {}
        self._peers: set[tuple[int, int]] = set()
        self._hits: dict[int, int] = {}
        self._busy = False
        for gpu in self._gpus:
            self._struck("start", gpu, gpu, 0)

    def prepare(self) -> None:
        """Nothing takes long."""

    # Who they are ----------------------------------------------------------------------------------------------

    def count(self) -> int:
        """GPUs that this process sees."""
        return len(self._gpus)

    def seen(self, gpu: int) -> Seen:
        """Who a GPU is."""
        one = self._machine.gpus[self._gpus[gpu]]
        return Seen(one.name, one.uuid, one.bus, one.memory, one.busy)

    def utilisation(self, gpu: int) -> int | None:
        """100 where a transfer never ended."""
        return 100 if self._wedged(self._gpus[gpu]) else 0

    def can_access(self, gpu: int, peer: int) -> bool:
        """As the link claims."""
        link = self._machine.links.get((self._gpus[gpu], self._gpus[peer]))
        return link is not None and link.claimed

    def nvml_status(self, gpu: int, peer: int) -> dict[str, str]:
        """As the link claims."""
        link = self._machine.links.get((self._gpus[gpu], self._gpus[peer]))
        return dict(link.nvml) if link is not None else {"read": "NS", "write": "NS"}

    def enable_peer(self, gpu: int, peer: int) -> None:
        """Refused where nothing is claimed, or by a fault."""
        source, target = self._gpus[gpu], self._gpus[peer]
        if not self.can_access(gpu, peer):
            raise DeviceFault("peer access cannot be enabled", 217, "cudaErrorPeerAccessUnsupported")
        for fault in self._machine.faults:
            if fault.kind == "enable" and fault.on("push", source, target, 1 << 62, concurrent=True):
                raise DeviceFault(
                    "peer access cannot be enabled", fault.code or 205, "cudaErrorMapBufferObjectFailed"
                )
        self._peers.add((gpu, peer))

    # Memory ----------------------------------------------------------------------------------------------------

    def allocate(self, gpu: int, size: int) -> Buffer:
        """Memory that holds zeros."""
        number = self._gpus[gpu]
        if self._wedged(number):
            self._sleep_forever(None, number)
        if size > self._machine.gpus[number].memory:
            raise DeviceFault("out of memory", 2)
        buffer = Buffer(gpu, size, f"m{next(self._names)}")
        self._memory[str(buffer.token)] = [Run(0, size, Stuff(mode=1), 0)]
        self._slots.setdefault(number, []).append(buffer)
        return buffer

    def free(self, buffer: Buffer) -> None:
        """Forget it."""
        self._memory.pop(str(buffer.token), None)
        slots = self._slots.get(self._gpus[buffer.gpu], [])
        if buffer in slots:
            slots.remove(buffer)

    def fill(self, by: int, buffer: Buffer, stuff: Stuff, start: int = 0, stop: int | None = None) -> None:
        """A kernel's stores; through the window where `by` is not the owner."""
        end = buffer.size if stop is None else stop
        via = "local" if by == buffer.gpu else "ipc" if self._is_shared(buffer) else "store"
        if by != buffer.gpu and via == "store" and (by, buffer.gpu) not in self._peers:
            raise DeviceFault("an illegal memory access was encountered", 700)
        self._write(via, by, buffer.gpu, buffer, [Run(start, end, stuff, start)])

    def check(self, by: int, buffer: Buffer, expected: Expected, *, by_copy: bool = False) -> Tally:
        """Compare; a reader through the window sees what a mirror holds for it."""
        self._settle()
        key = str(buffer.token)
        runs = self._read(buffer)
        if by != buffer.gpu and (by, key) in self._mirrors:
            runs = written(runs, self._mirrors[by, key])
        elif by != buffer.gpu:
            via = "ipc" if self._is_shared(buffer) else "load"
            for fault in self._struck(via, self._gpus[buffer.gpu], self._gpus[by], expected.stop - expected.start):
                if fault.kind == "drop":
                    runs = [Run(0, buffer.size, ONES, 0)]
        return compared(runs, expected, buffer.size)

    def copy(
        self, by: int, target: Buffer, target_at: int, source: Buffer, source_at: int, size: int, *, times: int = 1
    ) -> list[float]:
        """A copy of the engine on `by`, and how long the model says it takes."""
        via = "local" if source.gpu == target.gpu else "push" if by == source.gpu else "pull"
        if via != "local" and (by, target.gpu if by == source.gpu else source.gpu) not in self._peers:
            return [self.through_host(target, source, size)] * times
        self._settle()
        runs = [run.moved(target_at - source_at) for run in part(self._read(source), source_at, source_at + size)]
        self._write(via, source.gpu, target.gpu, target, runs, before=self._before.get(str(source.token)))
        return [self._seconds(via, source.gpu, target.gpu, size)] * times

    def load(self, by: int, target: Buffer, source: Buffer, size: int, lane_bytes: int) -> None:
        """A kernel's loads."""
        if (by, source.gpu) not in self._peers and by != source.gpu:
            raise DeviceFault("an illegal memory access was encountered", 700)
        self._settle()
        via = "local" if source.gpu == by else "load"
        self._write(via, source.gpu, by, target, part(self._read(source), 0, size), read=True)

    def many(self, copies: Sequence[tuple[int, Buffer, Buffer, int]], times: int) -> float:
        """All at once: faults that need company strike here."""
        self._busy = len(copies) > 1
        try:
            return max(
                sum(self.copy(by, target, 0, source, 0, size, times=times)) for by, target, source, size in copies
            )
        finally:
            self._busy = False

    def through_host(self, target: Buffer, source: Buffer, size: int) -> float:
        """The staged copy."""
        self._settle()
        self._write("staged", source.gpu, target.gpu, target, part(self._read(source), 0, size))
        rate, latency = self._machine.staged
        factor = self._factor("staged", source.gpu, target.gpu, size)
        return latency * 1e-6 + size / (rate * factor * 1e9)

    def host_link(self, gpu: int, size: int) -> tuple[Tally, float, float]:
        """Down and up again."""
        buffer = self.allocate(gpu, size)
        stuff = Stuff(source=gpu, target=gpu, epoch=1)
        self._write("host", gpu, gpu, buffer, [Run(0, size, stuff, 0)])
        tally = compared(self._read(buffer), Expected(0, size, stuff, stuff), size)
        self.free(buffer)
        rate = self._machine.gpus[self._gpus[gpu]].host_rate * self._factor("host", gpu, gpu, size)
        return tally, rate, rate

    # Kernels that wait for each other --------------------------------------------------------------------------

    def handshake(self, one: int, other: int, rounds: int) -> Handshake:
        """Done in full, unless signals are lost."""
        done, wrong = rounds, 0
        for source, target in ((one, other), (other, one)):
            for fault in self._struck("handshake", self._gpus[source], self._gpus[target], 8):
                if fault.kind in ("signal", "drop", "mirror", "misroute"):
                    done = 0 if fault.kind != "signal" else min(done, fault.after)
                elif fault.kind in ("stale", "corrupt", "late"):
                    wrong += rounds
        return Handshake(rounds, done, wrong)

    def atomics(self, one: int, other: int, adds: int) -> tuple[int, int]:
        """Both add; some are lost by a fault."""
        lost = any(
            fault.kind in ("atomics", "drop", "mirror", "misroute")
            for fault in self._struck("atomics", self._gpus[one], self._gpus[other], 8)
        )
        return 2 * adds, adds + (adds // 3 if lost else adds)

    def all_reduce(self, gpus: Sequence[int], words: int) -> int:
        """Right, unless a fault of the path that NCCL takes says otherwise."""
        off = self._environment.get
        via = "nccl"
        if off("NCCL_P2P_DISABLE") == "1":
            via = "nccl sockets" if off("NCCL_SHM_DISABLE") == "1" else "nccl no p2p"
        wrong = 0
        for source in gpus:
            for target in gpus:
                if source == target:
                    continue
                for fault in self._struck(via, self._gpus[source], self._gpus[target], words * 4):
                    if fault.kind == "signal":
                        self._sleep_forever(fault, self._gpus[target])
                    if fault.kind in ("sums", "drop", "mirror", "misroute", "stale", "corrupt", "partial"):
                        wrong += words
        return wrong

    # Two processes ---------------------------------------------------------------------------------------------

    def share(self, buffer: Buffer) -> str:
        """From now on its content lies in a file."""
        name = f"shared-{os.getpid()}-{buffer.token}"
        with self._held(name) as (_, save):
            save(self._memory[str(buffer.token)])
        buffer.token = name
        return name

    def open(self, gpu: int, handle: str, owner: int, size: int) -> Buffer:
        """The file of another process."""
        if not (self._state / handle).exists():
            raise DeviceFault("invalid device context", 201)
        return Buffer(owner, size, handle)

    def close(self, buffer: Buffer) -> None:
        """Nothing is held."""

    def to_shared(self, path: str, source: Buffer, size: int) -> None:
        """Into the region; faults of shared memory strike on the way in."""
        runs = part(self._read(source), 0, size)
        for fault in self._struck("shm", self._gpus[source.gpu], self._gpus[source.gpu], size):
            runs = _spoiled(fault, runs, []) or runs
        with self._held(Path(path).name) as (_, save):
            save(runs)

    def from_shared(self, path: str, target: Buffer, size: int) -> None:
        """Out of the region."""
        with self._held(Path(path).name) as (runs, _):
            self._save(target, written(self._read(target), part(runs, 0, size)))

    # Below the calls -------------------------------------------------------------------------------------------

    def _write(
        self,
        via: str,
        source: int,
        target: int,
        buffer: Buffer,
        runs: Runs,
        *,
        before: Runs | None = None,
        read: bool = False,
    ) -> None:
        size = sum(run.stop - run.start for run in runs)
        key = str(buffer.token)
        old = self._read(buffer)
        start = min((run.start for run in runs), default=0)
        stop = max((run.stop for run in runs), default=0)
        for fault in self._struck(via, self._gpus[source], self._gpus[target], size):
            if fault.kind == "mirror" and (read or via == "pull"):
                # What the reader's window leads to holds nothing of the owner's.
                runs = [Run(start, stop, Stuff(mode=1), start)]
                continue
            if fault.kind == "mirror":
                overlay = self._mirrors.get((source, key), [])
                self._mirrors[source, key] = written(overlay, runs)
                return
            if fault.kind == "misroute":
                self._misroute(fault, buffer, runs)
                return
            if fault.kind == "late":
                self._late.append((time.monotonic() + _LATE, key, runs))
                return
            if fault.kind == "stale":
                # The data of the transfer before this one arrives instead.
                runs = [run._replace(stuff=run.stuff._replace(epoch=max(0, run.stuff.epoch - 1))) for run in runs]
            elif fault.kind == "drop" and (read or via == "pull"):
                runs = [Run(start, stop, ONES, start)]
            elif spoiled := _spoiled(fault, runs, part(old, start, stop)):
                runs = spoiled
        self._save(buffer, written(old, runs))

    def _misroute(self, fault: Fault, buffer: Buffer, runs: Runs) -> None:
        """The data lands in the memory of another GPU that was allocated in the same order."""
        lands = fault.lands_on
        mine = self._slots.get(self._gpus[buffer.gpu], [])
        for number, slots in self._slots.items():
            if number == lands and buffer in mine and mine.index(buffer) < len(slots):
                other = slots[mine.index(buffer)]
                self._save(other, written(self._read(other), part(runs, 0, other.size)))

    def _struck(self, via: str, source: int, target: int, size: int) -> list[Fault]:
        """The faults that strike a transfer; those that end it do so here."""
        struck = []
        for number, fault in enumerate(self._machine.faults):
            if not fault.on(via, source, target, size, concurrent=self._busy):
                continue
            self._hits[number] = hits = self._hits.get(number, 0) + 1
            if hits <= fault.after and fault.kind != "signal":
                continue
            if fault.kind == "hang":
                self._sleep_forever(fault, target)
            if fault.kind == "error":
                raise DeviceFault(f"CUDA error {fault.code}", fault.code)
            struck.append(fault)
        return struck

    def _factor(self, via: str, source: int, target: int, size: int) -> float:
        factor = 1.0
        for fault in self._machine.faults:
            if fault.kind == "slow" and fault.on(
                via, self._gpus[source], self._gpus[target], size, concurrent=self._busy
            ):
                factor *= fault.factor
        return factor

    def _seconds(self, via: str, source: int, target: int, size: int) -> float:
        if via == "local":
            return 2e-6 + size / 1.5e12
        link = self._machine.links[self._gpus[source], self._gpus[target]]
        return link.latency * 1e-6 + size / (link.rate * self._factor(via, source, target, size) * 1e9)

    def _sleep_forever(self, fault: Fault | None, gpu: int) -> None:
        if fault is not None and fault.wedges:
            (self._state / f"wedged-{gpu}").touch()
        if fault is not None and fault.stubborn:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(3600)

    def _wedged(self, gpu: int) -> bool:
        return (self._state / f"wedged-{gpu}").exists()

    def _settle(self) -> None:
        now = time.monotonic()
        due = [one for one in self._late if one[0] <= now]
        self._late = [one for one in self._late if one[0] > now]
        for _, key, runs in due:
            self._memory[key] = written(self._memory[key], runs)

    def _is_shared(self, buffer: Buffer) -> bool:
        return str(buffer.token).startswith("shared-")

    def _read(self, buffer: Buffer) -> Runs:
        if self._is_shared(buffer):
            with self._held(str(buffer.token)) as (runs, _):
                return runs
        try:
            return self._memory[str(buffer.token)]
        except KeyError:
            raise DeviceFault("invalid argument", 1) from None

    def _save(self, buffer: Buffer, runs: Runs) -> None:
        if self._is_shared(buffer):
            with self._held(str(buffer.token)) as (_, save):
                save(runs)
        else:
            self._memory[str(buffer.token)] = runs

    @contextmanager
    def _held(self, name: str) -> Iterator[tuple[Runs, Callable[[Runs], None]]]:
        """A file of runs, while no other process changes it."""
        with open(self._state / name, "a+", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            runs = [
                Run(start, stop, Stuff(*stuff), origin)
                for start, stop, stuff, origin in json.loads(file.read() or "[]")
            ]

            def save(new: Runs) -> None:
                file.seek(0)
                file.truncate()
                json.dump(new, file)
                file.flush()

            yield runs, save


def _spoiled(fault: Fault, runs: Runs, old: Runs) -> Runs:
    """The runs that arrive in place of others; empty where the fault leaves them alone."""
    start = runs[0].start if runs else 0
    stop = max((run.stop for run in runs), default=0)
    if fault.kind == "drop":
        return old
    if fault.kind == "corrupt":
        middle = (start + stop) // 2 // 8 * 8
        return written(runs, [Run(middle, min(stop, middle + 64), NOISE, 0)])
    if fault.kind == "partial":
        lost = part(old, fault.start, stop if fault.stop is None else fault.stop)
        return written(runs, lost)
    return []
