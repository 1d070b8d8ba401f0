"""What the arms do, on any GPUs: poison first, write from one side, let the owner look."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from ladder_backends.gpu_calls.tally import Expected, Tally
from ladder_backends.gpu_calls.words import Mode
from ladder_backends.model.p2p import ArmResult, Result
from ladder_backends.p2p.arm_steps import LATE, LENGTHS, ArmSteps, rounded
from ladder_backends.p2p.arms import GUARD, MIB, PAYLOAD

_MODES = (Mode.TAG, Mode.ZEROS, Mode.ONES, Mode.WALKING_BIT, Mode.CHECKERBOARD)
_EPOCHS = 50
_SIZES = (4, 16, 128, 4092, 4096, 4100, 64 << 10, 2 * MIB - 16, 2 * MIB, 2 * MIB + 16, 64 * MIB, 256 * MIB + 4096)
_OFFSETS = (1, 4, 8, 16)
_LANES = (4, 8, 16)
_TIMES = 3
"""Transfers of one arm, each of a new epoch: what is stale shows from the second on."""

_ROUNDS = 1000
_SPARE = 768 * MIB
"""Bytes that stay free while all others are taken: for CUDA itself, and for the buffers of the test."""

_ADDS = 100_000


class Steps(ArmSteps):
    """The arms of one GPU and of one ordered pair."""

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
        found = self._gpus.host_link(gpu, 32 * MIB)
        done = self._judged("host", gpu, gpu, found.tally)
        evidence = {**done.evidence, "to_gpu_GBps": rounded(found.down), "from_gpu_GBps": rounded(found.up)}
        if (link := found.link) is not None:
            evidence |= {"link": f"Gen{link.generation} x{link.lanes}"}
            if link.narrow:
                best = f"Gen{link.most_generation} x{link.most_lanes}"
                evidence |= {"link_best": best, "link_narrow": True}
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
        evidence = {**done.evidence, "GBps": rounded(size / seconds / 1e9)}
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
            "far end": self._far_end,
        }
        for one, other in self._needed(arm, source, target):
            if (one, other) not in self._open:
                # CUDA would copy through the host and report success; a kernel would lose its context.
                said = f"GPU{self._of(one)} has no peer access to GPU{self._of(other)}"
                evidence: dict[str, object] = {"say": said}
                return ArmResult(arm, self._of(source), self._of(target), Result.NOT_TESTED, evidence)
        return self._guarded(arm, source, target, doing[arm])

    @staticmethod
    def _needed(arm: str, source: int, target: int) -> tuple[tuple[int, int], ...]:
        """Which GPU has to reach which: the one whose engine or kernel does it."""
        if arm in ("pull", "load"):
            return ((target, source),)
        if arm in ("both ways", "handshake", "atomics"):
            return ((source, target), (target, source)) if arm != "atomics" else ((source, target),)
        return ((source, target),)

    def _copied(self, arm: str, source: int, target: int, by: int) -> ArmResult:
        size = PAYLOAD + 2 * GUARD
        with self._buffers(source, size, target, size) as (origin, place):
            done = None
            for number in range(_TIMES):
                self._step(arm, "poison", source, target)
                data, poison = self._stuff(source, target)
                expected = Expected(GUARD, GUARD + PAYLOAD, data, poison)
                if not (self._poisoned(source, origin, data) and self._poisoned(target, place, poison)):
                    return ArmResult(arm, self._of(source), self._of(target), Result.ERROR, _BAD_POISON)
                self._step(arm, "copy", source, target)
                self._gpus.copy(by, place, GUARD, origin, GUARD, PAYLOAD)
                self._step(arm, "the owner looks", source, target)
                done = self._looked(
                    arm,
                    source,
                    target,
                    place,
                    expected,
                    by_host=not number,
                    small=lambda a, b, length: self._short(a, b, by, length),
                )
                if done.result is not Result.RIGHT:
                    break
            assert done is not None
            return done

    def _store(self, source: int, target: int) -> ArmResult:
        size = PAYLOAD + 2 * GUARD
        with self._buffers(target, size) as (place,):
            done = None
            for number in range(_TIMES):
                self._step("store", "poison", source, target)
                data, poison = self._stuff(source, target)
                expected = Expected(GUARD, GUARD + PAYLOAD, data, poison)
                if not self._poisoned(target, place, poison):
                    return ArmResult("store", self._of(source), self._of(target), Result.ERROR, _BAD_POISON)
                self._step("store", "store through the window", source, target)
                self._gpus.fill(source, place, data, GUARD, GUARD + PAYLOAD)
                self._step("store", "both sides look", source, target)
                done = self._looked(
                    "store", source, target, place, expected, by_host=not number, small=self._short_store
                )
                if done.result is not Result.RIGHT:
                    break
            assert done is not None
            return done

    def _short(self, source: int, target: int, by: int, length: int) -> bool:
        """Whether a copy of some length arrives."""
        with self._buffers(source, length, target, length) as (origin, place):
            data, poison = self._stuff(source, target)
            self._gpus.fill(source, origin, data)
            self._gpus.fill(target, place, poison)
            self._gpus.copy(by, place, 0, origin, 0, length)
            return self._gpus.check(target, place, Expected(0, length, data, poison)).right

    def _short_store(self, source: int, target: int, length: int) -> bool:
        """Whether a store of some length arrives."""
        with self._buffers(target, length) as (place,):
            data, poison = self._stuff(source, target)
            self._gpus.fill(target, place, poison)
            self._gpus.fill(source, place, data)
            return self._gpus.check(target, place, Expected(0, length, data, poison)).right

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
                tally = self._gpus.check(target, place, expected := Expected(0, size, data, poison))
                if not tally.right:
                    time.sleep(LATE)
                    return self._judged(
                        "load", source, target, tally, later=self._gpus.check(target, place, expected)
                    )
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
            "GBps": rounded(size / seconds / 1e9),
            "latency_us": rounded(short * 1e6),
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
                        evidence["small"] = "right" if size > LENGTHS[0] else "wrong"
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
        rate = rounded(2 * size * 5 / seconds / 1e9)
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

    def _far_end(self, source: int, target: int) -> ArmResult:
        """A buffer behind everything that is free; only what lies behind is written."""
        here, there = self._of(source), self._of(target)
        if busy := self._gpus.seen(target).busy:
            return ArmResult("far end", here, there, Result.NOT_TESTED, {"say": f"GPU{there} is in use: {busy}"})
        size = 2 * GUARD + MIB
        self._step("far end", "take what is free", source, target)
        before = self._gpus.memory_left(target) - _SPARE
        # What is taken is not touched, and given back at once; other programs find it taken for a moment.
        with self._buffers(target, before, source, size, target, size) as (_, origin, place):
            data, poison = self._stuff(source, target)
            expected = Expected(GUARD, GUARD + MIB, data, poison)
            self._gpus.fill(source, origin, data)
            if not self._poisoned(target, place, poison):
                return ArmResult("far end", here, there, Result.ERROR, _BAD_POISON)
            self._step("far end", "copy", source, target)
            self._gpus.copy(source, place, GUARD, origin, GUARD, MIB)
            self._step("far end", "the owner looks", source, target)
            done = self._looked("far end", source, target, place, expected)
        said = f"behind {before / (1 << 30):,.1f} GiB: {done.said}"
        evidence = {**done.evidence, "behind": before, "say": said}
        if done.result.wrong:
            evidence |= self._lengths(lambda a, b, length: self._short(a, b, source, length), source, target)
        return ArmResult("far end", here, there, done.result, evidence)


_BAD_POISON: dict[str, object] = {"say": "the owner cannot read back what it wrote before the transfer"}
