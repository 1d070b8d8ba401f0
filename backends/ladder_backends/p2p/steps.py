"""What the arms do, on any GPUs: poison first, write from one side, let the owner look."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ladder_backends.gpu_calls.gpus import Buffer, DeviceFault, Gpus
from ladder_backends.gpu_calls.tally import Expected, Tally, classify
from ladder_backends.gpu_calls.words import Mode, Purpose, Stuff
from ladder_backends.model.p2p import ArmResult, Result
from ladder_backends.p2p.arms import ARMS, CAP, GUARD, MIB, PAYLOAD

Progress = Callable[[str, str, int, int, float], None]
"""Called before each step: arm, step, source, target, seconds that it may take."""

LATE = 0.2
"""Seconds after which the owner looks again at a transfer that did not arrive."""

_MODES = (Mode.TAG, Mode.ZEROS, Mode.ONES, Mode.WALKING_BIT, Mode.CHECKERBOARD)
_EPOCHS = 50
_SIZES = (4, 16, 128, 4092, 4096, 4100, 64 << 10, 2 * MIB - 16, 2 * MIB, 2 * MIB + 16, 64 * MIB, 256 * MIB + 4096)
_OFFSETS = (1, 4, 8, 16)
_LANES = (4, 8, 16)
_ROUNDS = 1000
_NO_MEMORY = 2
"""Error of the runtime that says nothing of a path: a GPU in use has too little memory left."""

_ADDS = 100_000
_TOLD = 0.5
"""Seconds between two rounds that are told of: a soak has thousands."""


class Steps:
    """The arms, over the GPUs of one process.

    Args:
        gpus: The calls.
        progress: Told before each step.
        numbers: Numbers of these GPUs in the sweep, for tags and reports.
        cap: Bytes that one buffer may take.
    """

    def __init__(self, gpus: Gpus, progress: Progress, numbers: tuple[int, ...], cap: int = CAP) -> None:
        self._gpus = gpus
        self._progress = progress
        self._numbers = numbers
        self._cap = cap
        self._epoch = 0

    # Controls --------------------------------------------------------------------------------------------------

    def local(self, gpu: int) -> ArmResult:
        """Its own memory, by its own kernels and its own copy engine."""
        return self._guarded("local", gpu, gpu, self._local)

    def _local(self, gpu: int, _: int) -> ArmResult:
        size = min(32 * MIB, self._cap)
        self._step("local", "fill and check", gpu, gpu)
        with self._buffers(gpu, size, gpu, size) as (one, other):
            data, poison = self._stuff(gpu, gpu)
            self._gpus.fill(gpu, one, data)
            self._gpus.fill(gpu, other, poison)
            self._gpus.copy(gpu, other, 0, one, 0, size)
            tally = self._gpus.check(gpu, other, Expected(0, size, data, poison))
        return self._judged("local", gpu, gpu, tally)

    def host(self, gpu: int) -> ArmResult:
        """Pinned host memory there and back."""
        return self._guarded("host", gpu, gpu, self._host)

    def _host(self, gpu: int, _: int) -> ArmResult:
        self._step("host", "there and back", gpu, gpu)
        tally, down, up = self._gpus.host_link(gpu, 32 * MIB)
        done = self._judged("host", gpu, gpu, tally)
        evidence = {**done.evidence, "to_gpu_GBps": _rounded(down), "from_gpu_GBps": _rounded(up)}
        return ArmResult(done.arm, done.source, done.target, done.result, evidence)

    def staged(self, source: int, target: int) -> ArmResult:
        """A copy with peer access never enabled in this process."""
        return self._guarded("staged", source, target, self._staged)

    def _staged(self, source: int, target: int) -> ArmResult:
        self._step("staged", "copy through the host", source, target)
        size = min(32 * MIB, self._cap)
        with self._buffers(source, size, target, size) as (origin, place):
            data, poison = self._stuff(source, target)
            self._gpus.fill(source, origin, data)
            self._gpus.fill(target, place, poison)
            self._gpus.through_host(place, origin, size)
            tally = self._gpus.check(target, place, Expected(0, size, data, poison))
            seconds = statistics.median(self._gpus.through_host(place, origin, size) for _ in range(5))
        done = self._judged("staged", source, target, tally)
        evidence = {**done.evidence, "GBps": _rounded(size / seconds / 1e9)}
        return ArmResult(done.arm, done.source, done.target, done.result, evidence)

    # One ordered pair ------------------------------------------------------------------------------------------

    def pair(self, arm: str, source: int, target: int) -> ArmResult:
        """One arm of one ordered pair."""
        doing: dict[str, Callable[[int, int], ArmResult]] = {
            "push": lambda a, b: self._copied("push", a, b, a),
            "pull": lambda a, b: self._copied("pull", a, b, b),
            "store": self._store,
            "load": self._load,
            "speed": self._speed,
            "sizes": self._sizes,
            "patterns": self._patterns,
            "both ways": self._both_ways,
            "handshake": self._handshake,
            "atomics": self._atomics,
        }
        return self._guarded(arm, source, target, doing[arm])

    def open_peers(self, source: int, target: int) -> None:
        """Enable peer access in both directions as far as it is offered.

        Raises:
            DeviceFault: It is offered but cannot be enabled.
        """
        for one, other in ((source, target), (target, source)):
            if one != other and self._gpus.can_access(one, other):
                self._gpus.enable_peer(one, other)

    def _copied(self, arm: str, source: int, target: int, by: int) -> ArmResult:
        self._step(arm, "poison", source, target)
        size = PAYLOAD + 2 * GUARD
        with self._buffers(source, size, target, size) as (origin, place):
            data, poison = self._stuff(source, target)
            expected = Expected(GUARD, GUARD + PAYLOAD, data, poison)
            if self._poisoned(source, origin, data) and self._poisoned(target, place, poison):
                self._step(arm, "copy", source, target)
                self._gpus.copy(by, place, GUARD, origin, GUARD, PAYLOAD)
                self._step(arm, "the owner looks", source, target)
                return self._looked(arm, source, target, place, expected, origin)
            return ArmResult(arm, self._of(source), self._of(target), Result.ERROR, _BAD_POISON)

    def _store(self, source: int, target: int) -> ArmResult:
        self._step("store", "poison", source, target)
        size = PAYLOAD + 2 * GUARD
        with self._buffers(target, size) as (place,):
            data, poison = self._stuff(source, target)
            expected = Expected(GUARD, GUARD + PAYLOAD, data, poison)
            if not self._poisoned(target, place, poison):
                return ArmResult("store", self._of(source), self._of(target), Result.ERROR, _BAD_POISON)
            self._step("store", "store through the window", source, target)
            self._gpus.fill(source, place, data, GUARD, GUARD + PAYLOAD)
            self._step("store", "both sides look", source, target)
            return self._looked("store", source, target, place, expected, None)

    def _load(self, source: int, target: int) -> ArmResult:
        size = MIB
        with self._buffers(source, size, target, size) as (origin, place):
            tally = Tally(0)
            for lane in _LANES:
                self._step("load", f"load {lane} bytes a lane", source, target)
                data, poison = self._stuff(source, target)
                self._gpus.fill(source, origin, data)
                self._gpus.fill(target, place, poison)
                self._gpus.load(target, place, origin, size, lane)
                tally = self._gpus.check(target, place, Expected(0, size, data, poison))
                if not tally.right:
                    break
        return self._judged("load", source, target, tally)

    def _speed(self, source: int, target: int) -> ArmResult:
        size = min(256 * MIB, self._cap)
        self._step("speed", "256 MiB", source, target)
        with self._buffers(source, size, target, size) as (origin, place):
            self._gpus.copy(source, place, 0, origin, 0, size, times=3)
            seconds = statistics.median(self._gpus.copy(source, place, 0, origin, 0, size, times=7))
            self._step("speed", "4 bytes", source, target)
            self._gpus.copy(source, place, 0, origin, 0, 4, times=5)
            short = statistics.median(self._gpus.copy(source, place, 0, origin, 0, 4, times=50))
        evidence: dict[str, object] = {
            "GBps": _rounded(size / seconds / 1e9),
            "latency_us": _rounded(short * 1e6),
            "bytes": size,
        }
        evidence["say"] = f"{evidence['GBps']} GB/s, 4 bytes in {evidence['latency_us']} us"
        return ArmResult("speed", self._of(source), self._of(target), Result.RIGHT, evidence)

    def _sizes(self, source: int, target: int) -> ArmResult:
        largest = min(_SIZES[-1], self._cap + MIB)
        room = largest + 64
        room += -room % 8
        tried = 0
        with self._buffers(source, room, target, room) as (origin, place):
            for size in _SIZES:
                for offset in (0, *_OFFSETS) if size <= 64 << 10 else (0,):
                    if offset + size > room:
                        continue
                    self._step("sizes", f"{size:,} bytes at {offset}", source, target)
                    data, poison = self._stuff(source, target)
                    self._gpus.fill(source, origin, data)
                    self._gpus.fill(target, place, poison)
                    self._gpus.copy(source, place, offset, origin, offset, size)
                    tally = self._gpus.check(target, place, Expected(offset, offset + size, data, poison))
                    tried += 1
                    if not tally.right:
                        done = self._judged("sizes", source, target, tally)
                        said = f"{size:,} bytes at offset {offset}: {done.said}"
                        evidence = {**done.evidence, "bytes": size, "offset": offset, "say": said}
                        return ArmResult("sizes", done.source, done.target, done.result, evidence)
        evidence = {"tried": tried, "say": f"{tried} sizes and offsets to {largest:,} bytes, all as written"}
        return ArmResult("sizes", self._of(source), self._of(target), Result.RIGHT, evidence)

    def _patterns(self, source: int, target: int) -> ArmResult:
        size = MIB
        with self._buffers(source, size, target, size) as (origin, place):
            for number in range(_EPOCHS):
                mode = _MODES[number % len(_MODES)]
                if number < len(_MODES) or number % 10 == 0:
                    self._step("patterns", f"epoch {number}", source, target)
                data, poison = self._stuff(source, target)
                data = data._replace(mode=mode)
                self._gpus.fill(source, origin, data)
                self._gpus.fill(target, place, poison)
                self._gpus.copy(source, place, 0, origin, 0, size)
                tally = self._gpus.check(target, place, Expected(0, size, data, poison))
                if not tally.right:
                    done = self._judged("patterns", source, target, tally)
                    said = f"epoch {number}, {mode.name.lower().replace('_', ' ')}: {done.said}"
                    return ArmResult(
                        "patterns", done.source, done.target, done.result, {**done.evidence, "say": said}
                    )
        evidence = {"epochs": _EPOCHS, "say": f"{_EPOCHS} epochs of {len(_MODES)} patterns, all as written"}
        return ArmResult("patterns", self._of(source), self._of(target), Result.RIGHT, evidence)

    def _both_ways(self, source: int, target: int) -> ArmResult:
        size = min(64 * MIB, self._cap)
        self._step("both ways", "both directions", source, target)
        with (
            self._buffers(source, size, target, size) as (here, there),
            self._buffers(source, size, target, size) as (back, out),
        ):
            forth, poison = self._stuff(source, target)
            reverse, _ = self._stuff(target, source)
            for by, buffer, stuff in (
                (source, here, forth),
                (target, out, reverse),
                (target, there, poison),
                (source, back, poison),
            ):
                self._gpus.fill(by, buffer, stuff)
            copies = [(source, there, here, size), (target, back, out, size)]
            self._gpus.many(copies, 1)
            tally = self._gpus.check(target, there, Expected(0, size, forth, poison))
            if tally.right:
                tally = self._gpus.check(source, back, Expected(0, size, reverse, poison))
            seconds = self._gpus.many(copies, 5)
        done = self._judged("both ways", source, target, tally)
        rate = _rounded(2 * size * 5 / seconds / 1e9)
        return ArmResult("both ways", done.source, done.target, done.result, {**done.evidence, "sum_GBps": rate})

    def _handshake(self, source: int, target: int) -> ArmResult:
        self._step("handshake", f"{_ROUNDS} rounds", source, target)
        found = self._gpus.handshake(source, target, _ROUNDS)
        evidence: dict[str, object] = {"rounds": found.rounds, "done": found.done, "wrong": found.wrong}
        if found.done < found.rounds:
            result = Result.HUNG
            said = f"kernels stopped hearing each other after {found.done} of {found.rounds} rounds"
        elif found.wrong:
            result, said = Result.STALE, f"the flag came before its data {found.wrong:,} times"
        else:
            result, said = Result.RIGHT, f"{found.rounds:,} rounds of flag and data"
        return ArmResult("handshake", self._of(source), self._of(target), result, {**evidence, "say": said})

    def _atomics(self, source: int, target: int) -> ArmResult:
        here, there = self._of(source), self._of(target)
        offered = self._gpus.nvml_status(source, target).get("atomics", "")
        if offered != "OK":
            why = f"NVML says {offered}" if offered else "NVML does not say that atomics work"
            return ArmResult("atomics", here, there, Result.NOT_TESTED, {"say": f"not offered: {why}"})
        self._step("atomics", f"{_ADDS:,} adds", source, target)
        wanted, found = self._gpus.atomics(source, target, _ADDS)
        result = Result.RIGHT if wanted == found else Result.PARTIAL
        said = f"{found:,} of {wanted:,} adds counted"
        return ArmResult("atomics", here, there, result, {"wanted": wanted, "found": found, "say": said})

    # All GPUs together -----------------------------------------------------------------------------------------

    def trace(self, source: int, target: int) -> ArmResult:
        """Where a write that does not reach its target goes: every other GPU holds poison of its own."""
        return self._guarded("trace", source, target, self._trace)

    def _trace(self, source: int, target: int) -> ArmResult:
        size = MIB
        count = self._gpus.count()
        self._step("trace", "poison every GPU", source, target)
        buffers = [self._gpus.allocate(gpu, size) for gpu in range(count)]
        origin = self._gpus.allocate(source, size)
        try:
            self._epoch += 1
            canaries = [Stuff(Purpose.CANARY, self._of(gpu), self._of(gpu), self._epoch) for gpu in range(count)]
            for gpu, buffer in enumerate(buffers):
                self._gpus.fill(gpu, buffer, canaries[gpu])
            data, _ = self._stuff(source, target)
            self._gpus.fill(source, origin, data)
            self._step("trace", "copy", source, target)
            self._gpus.copy(source, buffers[target], 0, origin, 0, size)
            for gpu, buffer in enumerate(buffers):
                self._step("trace", f"GPU{self._of(gpu)} looks", source, target)
                found = self._gpus.check(gpu, buffer, Expected(0, size, data, canaries[gpu]))
                if gpu != target and found.old < found.words:
                    lands = self._of(gpu)
                    said = f"a write for GPU{self._of(target)} landed in the memory of GPU{lands}"
                    return ArmResult(
                        "trace",
                        self._of(source),
                        self._of(target),
                        Result.MISROUTED,
                        {**found.evidence(), "landed_on": lands, "say": said},
                    )
            return ArmResult(
                "trace", self._of(source), self._of(target), Result.RIGHT, {"say": "it reached no other GPU"}
            )
        finally:
            for buffer in (*buffers, origin):
                self._gpus.free(buffer)

    def all_at_once(self, arm: str = "all at once", seconds: float = 0.0) -> ArmResult:
        """Every ordered pair copies at the same time, checked; for a soak again and again."""
        return self._guarded(arm, 0, 0, lambda a, b: self._all_at_once(arm, seconds))

    def _all_at_once(self, arm: str, seconds: float) -> ArmResult:
        count = self._gpus.count()
        size = 4 * MIB
        pairs = [
            (one, other)
            for one in range(count)
            for other in range(count)
            if one != other and self._gpus.can_access(one, other)
        ]
        for one, other in pairs:
            self._gpus.enable_peer(one, other)
        origins = {pair: self._gpus.allocate(pair[0], size) for pair in pairs}
        places = {pair: self._gpus.allocate(pair[1], size) for pair in pairs}
        until = time.monotonic() + seconds
        rounds, moved, busy, told = 0, 0, 0.0, 0.0
        try:
            while True:
                if time.monotonic() - told > _TOLD:
                    told = time.monotonic()
                    self._step(arm, f"round {rounds}", 0, 0)
                stuff = {pair: self._stuff(*pair) for pair in pairs}
                for pair in pairs:
                    self._gpus.fill(pair[0], origins[pair], stuff[pair][0])
                    self._gpus.fill(pair[1], places[pair], stuff[pair][1])
                busy += self._gpus.many([(pair[0], places[pair], origins[pair], size) for pair in pairs], 1)
                moved += size * len(pairs)
                for pair in pairs:
                    tally = self._gpus.check(pair[1], places[pair], Expected(0, size, *stuff[pair]))
                    if not tally.right:
                        done = self._judged(arm, *pair, tally)
                        said = f"GPU{done.source} to GPU{done.target}, with {len(pairs)} pairs at once: {done.said}"
                        return ArmResult(arm, done.source, done.target, done.result, {**done.evidence, "say": said})
                rounds += 1
                if time.monotonic() >= until:
                    break
        finally:
            for buffer in (*origins.values(), *places.values()):
                self._gpus.free(buffer)
        rate = _rounded(moved / busy / 1e9) if busy else 0.0
        said = f"{len(pairs)} pairs at once, {rounds:,} time{'s' if rounds > 1 else ''}, all as written"
        return ArmResult(
            arm,
            self._of(0),
            self._of(0),
            Result.RIGHT,
            {"pairs": len(pairs), "rounds": rounds, "sum_GBps": rate, "say": said},
        )

    # Shared by them --------------------------------------------------------------------------------------------

    def _looked(
        self, arm: str, source: int, target: int, place: Buffer, expected: Expected, origin: Buffer | None
    ) -> ArmResult:
        """The owner looks with a kernel and with a copy; on a mismatch the writer looks, and the owner again."""
        owner = self._gpus.check(target, place, expected)
        by_copy = self._gpus.check(target, place, expected, by_copy=True)
        if owner.right and not by_copy.right:
            owner = by_copy
        writer = later = None
        if not owner.right:
            if source != target and self._gpus.can_access(source, target):
                writer = self._gpus.check(source, place, expected)
            time.sleep(LATE)
            later = self._gpus.check(target, place, expected)
        done = self._judged(arm, source, target, owner, writer, later)
        if writer is not None:
            found = "its own data" if writer.right else "no trace of it"
            evidence = {**done.evidence, "writer_reads": found, "owner_by_copy_bad": by_copy.bad}
            return ArmResult(arm, done.source, done.target, done.result, evidence)
        return done

    def _judged(
        self,
        arm: str,
        source: int,
        target: int,
        owner: Tally,
        writer: Tally | None = None,
        later: Tally | None = None,
    ) -> ArmResult:
        result, said = classify(owner, writer, later)
        evidence = {"say": said, **owner.evidence()}
        return ArmResult(arm, self._of(source), self._of(target), result, evidence)

    def _guarded(self, arm: str, source: int, target: int, doing: Callable[[int, int], ArmResult]) -> ArmResult:
        try:
            return doing(source, target)
        except DeviceFault as fault:
            evidence = {"say": fault.line(), "code": fault.code}
            result = Result.NOT_TESTED if fault.code == _NO_MEMORY else Result.ERROR
            return ArmResult(arm, self._of(source), self._of(target), result, evidence)

    def _poisoned(self, gpu: int, buffer: Buffer, stuff: Stuff) -> bool:
        """Fill a buffer by its owner, and see that it is filled."""
        self._gpus.fill(gpu, buffer, stuff)
        return self._gpus.check(gpu, buffer, Expected(0, buffer.size, stuff, stuff)).right

    def _stuff(self, source: int, target: int) -> tuple[Stuff, Stuff]:
        """Data and poison of a new epoch."""
        self._epoch = self._epoch % 255 + 1
        here, there = self._of(source), self._of(target)
        return (
            Stuff(Purpose.DATA, here, there, self._epoch),
            Stuff(Purpose.POISON, there, there, self._epoch),
        )

    def _of(self, gpu: int) -> int:
        return self._numbers[gpu]

    def _step(self, arm: str, step: str, source: int, target: int) -> None:
        self._progress(arm, step, self._of(source), self._of(target), ARMS[arm].limit)

    @contextmanager
    def _buffers(self, *wanted: int) -> Iterator[list[Buffer]]:
        """Buffers by `gpu, size, gpu, size, ...`, given back at the end."""
        made: list[Buffer] = []
        try:
            for gpu, size in zip(wanted[::2], wanted[1::2], strict=True):
                made.append(self._gpus.allocate(gpu, size))
            yield made
        finally:
            for buffer in made:
                try:
                    self._gpus.free(buffer)
                except DeviceFault:
                    # A context that a fault has spoilt gives nothing back; its process ends soon.
                    break


_BAD_POISON: dict[str, object] = {"say": "the owner cannot read back what it wrote before the transfer"}


def _rounded(value: float) -> float:
    return round(value, 1 if value >= 10 else 2)


def with_arm(result: ArmResult, **evidence: object) -> ArmResult:
    """The same result with more evidence."""
    return ArmResult(result.arm, result.source, result.target, result.result, {**result.evidence, **evidence})
