"""The calls of the tests on real GPUs, through the runtime as CuPy hands it on.

Nothing of CuPy that moves data by itself is used: array operations between devices enable peer access behind one's
back, and its memory pools share one handle among allocations. Memory is plain device memory, never managed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

from ladder_backends.gpu_calls.gpus import Buffer, Handshake, HostLink, LinkState, Seen
from ladder_backends.gpu_calls.tally import Expected, Tally
from ladder_backends.gpu_calls.words import MASK, WORD, Stuff
from ladder_backends.p2p import nccl_source
from ladder_backends.p2p.cuda_kernels import COUNTERS
from ladder_backends.p2p.cupy_between import CupyBetween
from ladder_backends.p2p.cupy_values import host_tally, pointer, uuid_text, words_array

_ALREADY_ENABLED = 704
_H2D, _D2H, _DEFAULT = 1, 2, 4
_QUEUED = 24
"""Copies of 32 MiB under which a link is looked at: 15 to 60 ms, and NVML answers in one or two."""

_PER_SECOND = 1_500_000_000
"""Clock cycles that stand for a second in bounded waits; a slower clock only waits longer."""

_HANDSHAKE_SECONDS = 2


class CupyGpus(CupyBetween):
    """The GPUs that CUDA shows this process, in its order.

    Raises:
        DeviceFault: CuPy is missing, or CUDA does not start.
    """

    def prepare(self) -> None:
        """Start CUDA on each GPU and compile the kernels: about a second each, the first time."""
        for gpu in range(self._count):
            self._kernel(gpu, "fill")

    # Who they are ----------------------------------------------------------------------------------------------

    def count(self) -> int:
        """GPUs that this process sees."""
        return self._count

    def seen(self, gpu: int) -> Seen:
        """Who a GPU is, and who uses it."""
        with self._calls("a GPU does not say who it is"):
            known = self._runtime.getDeviceProperties(gpu)
        name = known["name"]
        name = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
        uuid = self._facts.uuid(gpu) or uuid_text(known.get("uuid", b""))
        return Seen(name, uuid, self._bus(gpu), int(known["totalGlobalMem"]), self._facts.busy(gpu))

    def utilisation(self, gpu: int) -> int | None:
        """Percent busy by NVML; waits for it to come to rest, up to five seconds."""
        return self._facts.utilisation(gpu)

    def can_access(self, gpu: int, peer: int) -> bool:
        """What CUDA says of a peer."""
        with self._calls("peer access cannot be asked for"):
            return bool(self._runtime.deviceCanAccessPeer(gpu, peer))

    def nvml_status(self, gpu: int, peer: int) -> dict[str, str]:
        """What NVML says of a peer; empty where it says nothing."""
        return self._facts.p2p_status(gpu, peer)

    def enable_peer(self, gpu: int, peer: int) -> None:
        """Let `gpu` reach memory of `peer`."""
        self._use(gpu)
        try:
            self._runtime.deviceEnablePeerAccess(peer)
        except self._runtime.CUDARuntimeError as error:
            if error.status != _ALREADY_ENABLED:
                raise self._fault("peer access cannot be enabled", error) from None

    # Memory ----------------------------------------------------------------------------------------------------

    def fill(self, by: int, buffer: Buffer, stuff: Stuff, start: int = 0, stop: int | None = None) -> None:
        """Words by a kernel on `by`."""
        end = (buffer.size if stop is None else stop) // WORD
        self._launch(by, "fill", end - start // WORD, pointer(buffer), start // WORD, end, stuff.base, stuff.mode)
        self._sync(by, buffer.gpu)

    def check(self, by: int, buffer: Buffer, expected: Expected, *, by_copy: bool = False) -> Tally:
        """By a kernel on `by`; or the owner's copy, compared on the host."""
        words = (expected.stop + WORD - 1) // WORD - expected.start // WORD
        if by_copy:
            return self._checked_on_host(buffer, expected, words)
        counts = self._numpy.zeros(COUNTERS, dtype=self._numpy.uint64)
        counts[8] = MASK
        own = self._counters(by)
        with self._calls("a check cannot be made"):
            self._runtime.memcpy(own, counts.ctypes.data, counts.nbytes, _H2D)
        self._launch(
            by,
            "check",
            buffer.size // WORD,
            pointer(buffer),
            buffer.size // WORD,
            expected.start,
            expected.stop,
            expected.data.base,
            expected.data.mode,
            expected.around.base,
            expected.around.mode,
            expected.shift,
            own,
        )
        self._sync(by)
        with self._calls("a check cannot be read"):
            self._runtime.memcpy(counts.ctypes.data, own, counts.nbytes, _D2H)
        found = [int(one) for one in counts]
        bad, old, zeros, ones, earlier, foreign, other, outside, first, last, sample, _ = found
        if not bad and not outside:
            return Tally(words)
        return Tally(words, bad, old, zeros, ones, earlier, foreign, other, outside, first, last, sample)

    def _checked_on_host(self, buffer: Buffer, expected: Expected, words: int) -> Tally:
        host = self._numpy.empty(buffer.size // WORD, dtype=self._numpy.uint64)
        self._use(buffer.gpu)
        with self._calls("memory cannot be read back"):
            self._runtime.memcpy(host.ctypes.data, buffer.token, host.nbytes, _D2H)
        return host_tally(self._numpy, host, expected, words)

    def copy(
        self, by: int, target: Buffer, target_at: int, source: Buffer, source_at: int, size: int, *, times: int = 1
    ) -> list[float]:
        """Copies by the engine of `by`; each is timed by events on its own stream."""
        stream = self._stream(by)
        to, origin = pointer(target) + target_at, pointer(source) + source_at
        self._sync(source.gpu, target.gpu)
        self._use(by)
        cuda = self._cupy.cuda
        with self._calls("a copy cannot be made"):
            marks = [cuda.Event() for _ in range(times + 1)]
            marks[0].record(stream)
            for mark in marks[1:]:
                self._runtime.memcpyAsync(to, origin, size, _DEFAULT, stream.ptr)
                mark.record(stream)
            stream.synchronize()
            seconds = [float(cuda.get_elapsed_time(one, other)) / 1000 for one, other in pairwise(marks)]
        self._sync(source.gpu, target.gpu)
        return seconds

    def load(self, by: int, target: Buffer, source: Buffer, size: int, lane_bytes: int) -> None:
        """A kernel's loads in pieces of 4, 8 or 16 bytes."""
        count = size // lane_bytes
        self._launch(by, f"load{lane_bytes}", count, pointer(target), pointer(source), count)
        self._sync(by, source.gpu)

    def many(self, copies: Sequence[tuple[int, Buffer, Buffer, int]], times: int) -> float:
        """All are started before any is waited for, each on a stream of its own."""
        cuda = self._cupy.cuda
        streams = []
        with self._calls("copies cannot be made"):
            for by, *_ in copies:
                self._use(by)
                streams.append(cuda.Stream(non_blocking=True))
            for gpu in range(self._count):
                self._sync(gpu)
            began = time.perf_counter()
            for _ in range(times):
                for (by, target, source, size), stream in zip(copies, streams, strict=True):
                    self._use(by)
                    self._runtime.memcpyAsync(pointer(target), pointer(source), size, _DEFAULT, stream.ptr)
            for (by, *_), stream in zip(copies, streams, strict=True):
                self._use(by)
                stream.synchronize()
            return time.perf_counter() - began

    def through_host(self, target: Buffer, source: Buffer, size: int) -> float:
        """The driver's own copy between devices without peer access: it goes through the host."""
        self._sync(source.gpu, target.gpu)
        began = time.perf_counter()
        with self._calls("a copy through the host cannot be made"):
            self._runtime.memcpyPeer(target.token, target.gpu, source.token, source.gpu, size)
        self._sync(source.gpu, target.gpu)
        return time.perf_counter() - began

    def memory_left(self, gpu: int) -> int:
        """Bytes that are free."""
        self._use(gpu)
        with self._calls("a GPU does not say what is free"):
            return int(self._runtime.memGetInfo()[0])

    def host_link(self, gpu: int, size: int) -> HostLink:
        """Pinned memory down, copied on the device, and up again into other pinned memory."""
        numpy, cuda = self._numpy, self._cupy.cuda
        stuff = Stuff(source=gpu, target=gpu, epoch=1)
        place = self.allocate(gpu, size)
        with self._calls("pinned memory cannot be had"):
            down, up = cuda.alloc_pinned_memory(size), cuda.alloc_pinned_memory(size)
        one = numpy.frombuffer(down, dtype=numpy.uint64, count=size // WORD)
        other = numpy.frombuffer(up, dtype=numpy.uint64, count=size // WORD)
        one[:] = words_array(numpy, stuff, size // WORD)
        other[:] = 0
        stream = self._stream(gpu)
        self._use(gpu)
        rates = []
        with self._calls("the host link does not work"):
            for to, origin, kind in ((place.token, down.ptr, _H2D), (up.ptr, place.token, _D2H)):
                best = 0.0
                for _ in range(3):
                    marks = [cuda.Event(), cuda.Event()]
                    marks[0].record(stream)
                    self._runtime.memcpyAsync(to, origin, size, kind, stream.ptr)
                    marks[1].record(stream)
                    stream.synchronize()
                    best = max(best, size / (float(cuda.get_elapsed_time(*marks)) / 1000) / 1e9)
                rates.append(best)
        owner = self.check(gpu, place, Expected(0, size, stuff, stuff))
        bad = int((other != one).sum())
        link = self._loaded_link(gpu, place.token, down.ptr, size)
        self.free(place)
        tally = owner if not owner.right else Tally(size // WORD, bad, other=bad)
        return HostLink(tally, rates[0], rates[1], link)

    def _loaded_link(self, gpu: int, to: object, origin: int, size: int) -> LinkState | None:
        """The link while copies are on it: at rest it falls back to its slowest, on purpose.

        One that has just woken may take a moment to rise: the best of some looks counts.
        """
        best: LinkState | None = None
        stream = self._stream(gpu)
        self._use(gpu)
        for _ in range(3):
            with self._calls("the host link does not work"):
                for _ in range(_QUEUED):
                    self._runtime.memcpyAsync(to, origin, size, _H2D, stream.ptr)
            seen = self._facts.link(gpu)
            with self._calls("the host link does not work"):
                stream.synchronize()
            if seen is None:
                return best
            best = max(best or seen, seen)
            if not best.narrow:
                break
        return best

    # Kernels that wait for each other --------------------------------------------------------------------------

    def handshake(self, one: int, other: int, rounds: int) -> Handshake:
        """Two kernels of one thread at the same time, each bounded by its own clock."""
        size = 4096
        places = {gpu: self.allocate(gpu, size) for gpu in (one, other)}
        outs = {gpu: self.allocate(gpu, 64) for gpu in (one, other)}
        limit = _HANDSHAKE_SECONDS * _PER_SECOND
        for gpu in (one, other):
            self._use(gpu)
            with self._calls("memory cannot be cleared"):
                self._runtime.memset(places[gpu].token, 0, size)
                self._runtime.memset(outs[gpu].token, 0, 64)
            # Compiled before the partner waits.
            self._kernel(gpu, "handshake")
            self._sync(gpu)
        for number, (gpu, peer) in enumerate(((one, other), (other, one))):
            self._launch(
                gpu,
                "handshake",
                1,
                pointer(places[gpu]),
                pointer(places[peer]),
                number,
                rounds,
                limit,
                pointer(outs[gpu]),
                single=True,
            )
        self._sync(one, other)
        found = self._numpy.zeros(2, dtype=self._numpy.uint64)
        done, wrong = rounds, 0
        for gpu in (one, other):
            self._use(gpu)
            with self._calls("memory cannot be read back"):
                self._runtime.memcpy(found.ctypes.data, outs[gpu].token, found.nbytes, _D2H)
            done, wrong = min(done, int(found[0])), wrong + int(found[1])
        for buffer in (*places.values(), *outs.values()):
            self.free(buffer)
        return Handshake(rounds, done, wrong)

    def atomics(self, one: int, other: int, adds: int) -> tuple[int, int]:
        """Both add to one counter on `other`, at the same time."""
        counter = self.allocate(other, 64)
        self._use(other)
        with self._calls("memory cannot be cleared"):
            self._runtime.memset(counter.token, 0, 64)
        self._sync(other)
        for gpu in (one, other):
            self._launch(gpu, "adds", adds, pointer(counter), adds)
        self._sync(one, other)
        found = self._numpy.zeros(1, dtype=self._numpy.uint64)
        self._use(other)
        with self._calls("memory cannot be read back"):
            self._runtime.memcpy(found.ctypes.data, counter.token, found.nbytes, _D2H)
        self.free(counter)
        return 2 * adds, int(found[0])

    def all_reduce(self, gpus: Sequence[int], words: int) -> int:
        """NCCL's sum over communicators of this process, checked on each GPU."""
        size = max(16, words * 4)
        places, wrongs = [], []
        for number, gpu in enumerate(gpus):
            places.append(self.allocate(gpu, size))
            wrongs.append(self.allocate(gpu, 64))
            self._use(gpu)
            with self._calls("memory cannot be cleared"):
                self._runtime.memset(wrongs[-1].token, 0, 64)
            self._launch(gpu, "fill32", words, pointer(places[-1]), words, number + 1)
            self._sync(gpu)
        streams = [self._stream(gpu).ptr for gpu in gpus]
        self.versions["nccl from"] = nccl_source.sum_up(
            gpus, [pointer(place) for place in places], words, streams, self._use, self._sync
        )
        bad = 0
        salts = sum(range(1, len(gpus) + 1))
        found = self._numpy.zeros(1, dtype=self._numpy.uint64)
        for gpu, place, wrong in zip(gpus, places, wrongs, strict=True):
            self._sync(gpu)
            self._launch(gpu, "sums32", words, pointer(place), words, salts, len(gpus), pointer(wrong))
            self._sync(gpu)
            with self._calls("memory cannot be read back"):
                self._runtime.memcpy(found.ctypes.data, wrong.token, found.nbytes, _D2H)
            bad += int(found[0])
        for buffer in (*places, *wrongs):
            self.free(buffer)
        return bad
