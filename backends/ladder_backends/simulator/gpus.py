"""The calls of the tests, answered by a simulated machine; its faults are applied here, below them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from ladder_backends.gpu_calls.gpus import UNSEEN, Buffer, DeviceFault, Handshake, HostLink, LinkState, Seen
from ladder_backends.gpu_calls.tally import Expected, Tally
from ladder_backends.gpu_calls.words import Stuff
from ladder_backends.simulator.error_names import error_text
from ladder_backends.simulator.machine import Fault, SimulatedMachine
from ladder_backends.simulator.memory import ONES, Run, Runs, compared, part, spoiled, written
from ladder_backends.simulator.shared_memory import held

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
        if "nccl" in machine.raw:
            self.versions["nccl"] = str(machine.raw["nccl"])
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
        self._busy = 1
        self._places: dict[str, tuple[int, int, int]] = {}
        for gpu in self._gpus:
            self._struck("start", gpu, gpu, 0)

    def prepare(self) -> None:
        """As long as CUDA takes to start on each GPU."""
        time.sleep(self._machine.times.context * len(self._gpus))

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
            if fault.kind == "enable" and fault.on("push", source, target, 1 << 62, concurrent=1 << 30):
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
        if size > self.memory_left(gpu):
            raise DeviceFault("out of memory", 2)
        buffer = Buffer(gpu, size, f"m{next(self._names)}")
        key = str(buffer.token)
        self._places[key] = (gpu, self._end(gpu), size)
        self._memory[key] = [Run(0, size, Stuff(mode=1), 0)]
        self._slots.setdefault(number, []).append(buffer)
        return buffer

    def free(self, buffer: Buffer) -> None:
        """Forget it."""
        self._memory.pop(str(buffer.token), None)
        self._places.pop(str(buffer.token), None)
        slots = self._slots.get(self._gpus[buffer.gpu], [])
        if buffer in slots:
            slots.remove(buffer)

    def memory_left(self, gpu: int) -> int:
        """Behind the last buffer: what lies between them is not given out again."""
        return max(0, self._machine.gpus[self._gpus[gpu]].memory - self._end(gpu))

    def _end(self, gpu: int) -> int:
        used = self._machine.table(self._gpus[gpu]).get("used_GiB", 0.5)
        return max(
            (start + size for owner, start, size in self._places.values() if owner == gpu), default=0
        ) or int(float(used) * (1 << 30))

    def fill(self, by: int, buffer: Buffer, stuff: Stuff, start: int = 0, stop: int | None = None) -> None:
        """A kernel's stores; through the window where `by` is not the owner."""
        end = buffer.size if stop is None else stop
        via = self._between(buffer) or ("local" if by == buffer.gpu else "store")
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
            via = self._between(buffer) or "load"
            size = expected.stop - expected.start
            for fault in self._struck(via, self._number(buffer), self._gpus[by], size):
                if fault.kind == "drop":
                    runs = [Run(0, buffer.size, ONES, 0)]
        return compared(runs, expected, buffer.size)

    def copy(
        self, by: int, target: Buffer, target_at: int, source: Buffer, source_at: int, size: int, *, times: int = 1
    ) -> list[float]:
        """A copy of the engine on `by`, and how long the model says it takes."""
        via = "local" if source.gpu == target.gpu else "push" if by == source.gpu else "pull"
        if via != "local" and (by, target.gpu if by == source.gpu else source.gpu) not in self._peers:
            # As CUDA does it: through the host, and reported as a success.
            return [self._staged(target, target_at, source, source_at, size)] * times
        self._settle()
        runs = [run.moved(target_at - source_at) for run in part(self._read(source), source_at, source_at + size)]
        self._write(via, source.gpu, target.gpu, target, runs, before=self._before.get(str(source.token)))
        seconds = self._seconds(via, source.gpu, target.gpu, size)
        self._pass(seconds * times)
        return [seconds] * times

    def load(self, by: int, target: Buffer, source: Buffer, size: int, lane_bytes: int) -> None:
        """A kernel's loads."""
        if (by, source.gpu) not in self._peers and by != source.gpu:
            raise DeviceFault("an illegal memory access was encountered", 700)
        self._settle()
        via = "local" if source.gpu == by else "load"
        self._write(via, source.gpu, by, target, part(self._read(source), 0, size), read=True)

    def many(self, copies: Sequence[tuple[int, Buffer, Buffer, int]], times: int) -> float:
        """All at once: faults that need company strike here."""
        self._busy = len(copies)
        try:
            return max(
                sum(self.copy(by, target, 0, source, 0, size, times=times)) for by, target, source, size in copies
            )
        finally:
            self._busy = 1

    def through_host(self, target: Buffer, source: Buffer, size: int) -> float:
        """The staged copy."""
        return self._staged(target, 0, source, 0, size)

    def _staged(self, target: Buffer, target_at: int, source: Buffer, source_at: int, size: int) -> float:
        self._settle()
        runs = [run.moved(target_at - source_at) for run in part(self._read(source), source_at, source_at + size)]
        self._write("staged", source.gpu, target.gpu, target, runs)
        rate, latency = self._machine.staged
        factor = self._factor("staged", source.gpu, target.gpu, size)
        seconds = latency * 1e-6 + size / (rate * factor * 1e9)
        self._pass(seconds)
        return seconds

    def host_link(self, gpu: int, size: int) -> HostLink:
        """Down and up again."""
        buffer = self.allocate(gpu, size)
        stuff = Stuff(source=gpu, target=gpu, epoch=1)
        self._write("host", gpu, gpu, buffer, [Run(0, size, stuff, 0)])
        tally = compared(self._read(buffer), Expected(0, size, stuff, stuff), size)
        self.free(buffer)
        rate = self._machine.gpus[self._gpus[gpu]].host_rate * self._factor("host", gpu, gpu, size)
        return HostLink(tally, rate, rate, self._loaded_link(self._gpus[gpu]))

    def _loaded_link(self, number: int) -> LinkState | None:
        """By the tables; a machine that was written down holds what NVML answered."""
        table = self._machine.table(number)
        if self._machine.raw.get("recorded"):
            return None
        best, lanes = int(table.get("generation", 5)), int(table.get("lanes", 16))
        return LinkState(int(table.get("loaded", best)), lanes, best, int(table.get("most_lanes", lanes)))

    def nics(self) -> tuple[str, ...]:
        """Those of the machine's file."""
        return tuple(str(one["name"]) for one in self._machine.raw.get("nic", ()))

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
            via = "nccl no p2p"
            if off("NCCL_SHM_DISABLE") == "1":
                via = "nccl nic" if self.nics() and off("NCCL_IB_DISABLE") != "1" else "nccl sockets"
        self._diagnose(gpus)
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

    def _diagnose(self, gpus: Sequence[int]) -> None:
        """NCCL's own report, on descriptor 1, from the version on that has it."""
        parts = str(self._machine.raw.get("nccl", "0")).split(".")
        new = [int(part) for part in parts[:2] if part.isdecimal()] >= [2, 31]
        if not new or self._environment.get("NCCL_RUN_DIAGNOSTICS") != "1":
            return
        pairs = [(self._gpus[one], self._gpus[other]) for one in gpus for other in gpus if one != other]
        bad = [
            pair
            for pair in pairs
            if any(
                fault.kind in ("drop", "corrupt", "stale", "partial", "misroute")
                and any(fault.on(via, *pair, 8, concurrent=1) for via in ("store", "nccl diagnostics"))
                for fault in self._machine.faults
            )
        ]
        said = "[OK]   p2p: verified P2P access in both directions between every GPU pair"
        if bad:
            passed = f"{len(pairs) - len(bad)}/{len(pairs)}"
            said = f"[INFO] p2p: only {passed} GPU-to-GPU peer accesses passed verification"
        os.write(1, f"NCCL DIAG === NCCL Diagnostics ===\nNCCL DIAG {said}\n".encode())

    # Two processes ---------------------------------------------------------------------------------------------

    def share(self, buffer: Buffer) -> str:
        """From now on its content lies in a file."""
        name = f"shared-{self._gpus[buffer.gpu]}-{os.getpid()}-{buffer.token}"
        with held(self._state, name) as (_, save):
            save(self._memory[str(buffer.token)])
        buffer.token = name
        return name

    def open(self, gpu: int, handle: str, owner: int, size: int) -> Buffer:
        """The file of another process."""
        if not (self._state / handle).exists():
            raise DeviceFault("invalid device context", 201)
        self._seen_from_here(gpu, owner, handle)
        return Buffer(owner, size, handle)

    def close(self, buffer: Buffer) -> None:
        """Nothing is held."""

    def allocate_exported(self, gpu: int, size: int) -> tuple[Buffer, int]:
        """A file that holds the name of another is what the descriptor stands for."""
        buffer = self.allocate(gpu, size)
        name = f"exported-{self._gpus[gpu]}-{os.getpid()}-{buffer.token}"
        with held(self._state, name) as (_, save):
            save(self._memory[str(buffer.token)])
        buffer.token = name
        return buffer, os.open(self._state / name, os.O_RDONLY)

    def open_exported(self, gpu: int, descriptor: int, owner: int, size: int) -> Buffer:
        """The file of another process."""
        name = Path(os.readlink(f"/proc/self/fd/{descriptor}")).name
        self._seen_from_here(gpu, owner, name)
        return Buffer(owner, size, name)

    def _seen_from_here(self, gpu: int, owner: int, name: str) -> None:
        """A driver may refuse memory of a GPU that the process does not see."""
        if owner == UNSEEN:
            self._struck("unseen", int(name.split("-")[1]), self._gpus[gpu], 1)

    def free_exported(self, buffer: Buffer) -> None:
        """Nothing is held."""

    def to_shared(self, path: str, source: Buffer, size: int) -> None:
        """Into the region; faults of shared memory strike on the way in."""
        runs = part(self._read(source), 0, size)
        for fault in self._struck("shm", self._gpus[source.gpu], self._gpus[source.gpu], size):
            runs = spoiled(fault, runs, [Run(0, size, Stuff(mode=1), 0)]) or runs
        with held(self._state, Path(path).name) as (_, save):
            save(runs)

    def from_shared(self, path: str, target: Buffer, size: int) -> None:
        """Out of the region."""
        with held(self._state, Path(path).name) as (runs, _):
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
        owner = self._gpus[target] if target != UNSEEN else self._number(buffer)
        place = self._places.get(key, (0, 0, 0))[1]
        for fault in self._struck(via, self._gpus[source], owner, size, place):
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
            elif instead := spoiled(fault, runs, part(old, start, stop)):
                runs = instead
        self._save(buffer, written(old, runs))

    def _misroute(self, fault: Fault, buffer: Buffer, runs: Runs) -> None:
        """The data lands in the memory of another GPU that was allocated in the same order."""
        lands = fault.lands_on
        mine = self._slots.get(self._number(buffer), [])
        for number, slots in self._slots.items():
            if number == lands and buffer in mine and mine.index(buffer) < len(slots):
                other = slots[mine.index(buffer)]
                self._save(other, written(self._read(other), part(runs, 0, other.size)))

    def _struck(self, via: str, source: int, target: int, size: int, place: int = 0) -> list[Fault]:
        """The faults that strike a transfer; those that end it do so here."""
        struck = []
        for number, fault in enumerate(self._machine.faults):
            if not fault.on(via, source, target, size, concurrent=self._busy, place=place):
                continue
            self._hits[number] = hits = self._hits.get(number, 0) + 1
            if hits <= fault.after and fault.kind != "signal":
                continue
            if fault.kind == "hang":
                self._sleep_forever(fault, target)
            if fault.kind == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if fault.kind == "error":
                raise DeviceFault(error_text(fault.code), fault.code)
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

    def _pass(self, seconds: float) -> None:
        if self._machine.times.pace:
            time.sleep(seconds * self._machine.times.pace)

    def _number(self, buffer: Buffer) -> int:
        """Number of a buffer's owner in the machine; one of another process carries it in its name."""
        if buffer.gpu != UNSEEN:
            return self._gpus[buffer.gpu]
        return int(str(buffer.token).split("-")[1])

    def _between(self, buffer: Buffer) -> str:
        """The path by which another process reaches it; empty for memory of this one."""
        token = str(buffer.token)
        # Its owner reaches it as any other memory of its own.
        if token.split("-")[2:3] == [str(os.getpid())]:
            return ""
        return "ipc" if token.startswith("shared-") else "fd" if token.startswith("exported-") else ""

    def _is_shared(self, buffer: Buffer) -> bool:
        return str(buffer.token).startswith(("shared-", "exported-"))

    def _read(self, buffer: Buffer) -> Runs:
        if self._is_shared(buffer):
            with held(self._state, str(buffer.token)) as (runs, _):
                return runs
        try:
            return self._memory[str(buffer.token)]
        except KeyError:
            raise DeviceFault("invalid argument", 1) from None

    def _save(self, buffer: Buffer, runs: Runs) -> None:
        if self._is_shared(buffer):
            with held(self._state, str(buffer.token)) as (_, save):
                save(runs)
        else:
            self._memory[str(buffer.token)] = runs
