"""Numbers as CUDA takes and gives them, and words compared on the host."""

from __future__ import annotations

from typing import Any

from ladder_backends.gpu_calls.gpus import Buffer
from ladder_backends.gpu_calls.tally import Expected, Tally
from ladder_backends.gpu_calls.words import MASK, ODD, SEED, WORD, Stuff

_NARROW: dict[str, dict[int, str]] = {
    "fill": {4: "int32"},
    "check": {5: "int32", 7: "int32", 8: "int64"},
    "fill32": {2: "uint32"},
    "sums32": {2: "uint32", 3: "uint32"},
}
"""Types of arguments that are no unsigned 64 bits, by kernel and place."""


def typed(numpy: Any, kernel: str, place: int, value: int) -> Any:
    """An argument of a kernel, as wide as the kernel has it."""
    return getattr(numpy, _NARROW.get(kernel, {}).get(place, "uint64"))(value)


def pointer(buffer: Buffer) -> int:
    """The address of a buffer of CUDA's."""
    assert isinstance(buffer.token, int)
    return buffer.token


def version_text(number: int) -> str:
    """12040 as `12.4`."""
    return f"{number // 1000}.{number % 1000 // 10}"


def uuid_text(raw: object) -> str:
    """Sixteen bytes as CUDA_VISIBLE_DEVICES takes them; empty for anything else."""
    text = bytes(raw).hex() if isinstance(raw, bytes | bytearray) else ""
    return f"GPU-{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:32]}" if len(text) >= 32 else ""


def words_array(numpy: Any, stuff: Stuff, count: int) -> Any:
    """The first words of a stretch, as an array of unsigned 64-bit integers."""
    places = numpy.arange(count, dtype=numpy.uint64)
    if stuff.mode:
        # The four plain patterns repeat after 64 words.
        cycle = numpy.array([stuff.word(index) for index in range(64)], dtype=numpy.uint64)
        return cycle[(places & numpy.uint64(63)).astype(numpy.int64)]
    return (places + numpy.uint64(stuff.base)) * numpy.uint64(ODD) ^ numpy.uint64(SEED)


def host_tally(numpy: Any, host: Any, expected: Expected, words: int) -> Tally:
    """What a copy of a whole buffer holds; it was copied to the place that it came from."""
    around = words_array(numpy, expected.around, host.size)
    wanted = around.copy()
    inner = words_array(numpy, expected.data, host.size).view(numpy.uint8)
    wanted.view(numpy.uint8)[expected.start : expected.stop] = inner[expected.start : expected.stop]
    bad = numpy.flatnonzero(host != wanted)
    if not bad.size:
        return Tally(words)
    inside = (bad * WORD + WORD > expected.start) & (bad * WORD < expected.stop)
    wrong = host[bad[inside]]
    old = int((wrong == around[bad[inside]]).sum())
    zeros, ones = int((wrong == 0).sum()), int((wrong == MASK).sum())
    count = int(inside.sum())
    return Tally(
        words,
        count,
        old,
        zeros,
        ones,
        other=max(0, count - old - zeros - ones),
        outside=int((~inside).sum()),
        first=int(bad[0]) * WORD,
        last=int(bad[-1]) * WORD,
        sample=int(host[bad[0]]),
    )
