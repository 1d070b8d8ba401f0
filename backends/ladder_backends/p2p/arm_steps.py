"""What all arms share: buffers, epochs, what the owner sees, and faults that become results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ladder_backends.gpu_calls.gpus import Buffer, DeviceFault, Gpus
from ladder_backends.gpu_calls.tally import Expected, Tally, classify
from ladder_backends.gpu_calls.words import Purpose, Stuff
from ladder_backends.model.p2p import ArmResult, Result
from ladder_backends.p2p.arms import ARMS, CAP

Progress = Callable[[str, str, int, int, float], None]
"""Called before each step: arm, step, source, target, seconds that it may take."""

LATE = 0.2
"""Seconds after which the owner looks again at a transfer that did not arrive."""

LENGTHS = (4096, 64 << 10, 1 << 20, 2 << 20, 4 << 20)
"""Bytes of the transfers that are tried where a long one fails; the first fits into a window of any size."""

_NO_MEMORY = 2
"""Error of the runtime that says nothing of a path: a GPU in use has too little memory left."""


class ArmSteps:
    """What arms are made of, over the GPUs of one process.

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
        self._open: set[tuple[int, int]] = set()

    def open_peer(self, one: int, other: int) -> None:
        """Let `one` reach memory of `other`, where that is offered.

        Raises:
            DeviceFault: It is offered but cannot be enabled.
        """
        if one != other and self._gpus.can_access(one, other):
            self._gpus.enable_peer(one, other)
            self._open.add((one, other))

    def _looked(
        self,
        arm: str,
        source: int,
        target: int,
        place: Buffer,
        expected: Expected,
        *,
        by_host: bool = True,
        small: Callable[[int, int, int], bool] | None = None,
    ) -> ArmResult:
        """The owner looks with a kernel and with a copy.

        On a mismatch the writer looks, the owner again, and `small` tells whether a short transfer arrives.
        """
        owner = self._gpus.check(target, place, expected)
        # By copy once: it takes the host longer than all else together.
        by_copy = self._gpus.check(target, place, expected, by_copy=True) if by_host else owner
        if owner.right and not by_copy.right:
            owner = by_copy
        writer = later = None
        if not owner.right:
            if source != target and self._gpus.can_access(source, target):
                writer = self._gpus.check(source, place, expected)
            time.sleep(LATE)
            later = self._gpus.check(target, place, expected)
        done = self._judged(arm, source, target, owner, writer, later)
        if small is not None and not owner.right:
            done = ArmResult(
                arm,
                done.source,
                done.target,
                done.result,
                {**done.evidence, **self._lengths(small, source, target)},
            )
        if writer is not None:
            found = "its own data" if writer.right else "no trace of it"
            evidence = {**done.evidence, "writer_reads": found, "owner_by_copy_bad": by_copy.bad}
            return ArmResult(arm, done.source, done.target, done.result, evidence)
        return done

    @staticmethod
    def _lengths(small: Callable[[int, int, int], bool], source: int, target: int) -> dict[str, object]:
        """Up to which length transfers arrive, where longer ones do not."""
        right = 0
        for size in LENGTHS:
            if not small(source, target, size):
                break
            right = size
        return {"small": "right", "right_to": right} if right else {"small": "wrong"}

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


def rounded(value: float) -> float:
    """As a report shows it."""
    return round(value, 1 if value >= 10 else 2)
