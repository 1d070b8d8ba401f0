"""Arms that need a process of their own: memory handles, shared memory, NCCL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ladder_backends.gpu_calls.gpus import DeviceFault, Gpus
from ladder_backends.gpu_calls.tally import Expected, Tally, classify
from ladder_backends.gpu_calls.words import Purpose, Stuff
from ladder_backends.model.p2p import ArmResult, Result
from ladder_backends.p2p.arms import ARMS, GUARD, MIB, PAYLOAD

if TYPE_CHECKING:
    from ladder_backends.p2p.worker import Lines

_REDUCED = (1, 4 * MIB)
"""Words of the sums: 4 bytes take one protocol of NCCL, 16 MiB another."""

_SHM = "/dev/shm"


class OwnProcess:
    """The arms between processes, run by the process that owns the memory.

    Args:
        job: The job of this process.
        gpus: Its calls.
        lines: Where its steps are told.
        numbers: Numbers of its GPUs in the sweep.
    """

    def __init__(self, job: Mapping[str, Any], gpus: Gpus, lines: Lines, numbers: tuple[int, ...]) -> None:
        self._job = job
        self._gpus = gpus
        self._lines = lines
        self._numbers = numbers

    def run(self, arm: str, source: int, target: int) -> ArmResult:
        """One arm of one ordered pair, or on one GPU where both are the same."""
        try:
            if arm == "ipc":
                return self._ipc(source, target)
            if arm == "shm":
                return self._shm(source, target)
            return self._nccl(arm, source, target)
        except DeviceFault as fault:
            # What the second process lost is not this process's context.
            return self._result(arm, source, target, Result.ERROR, {"say": fault.line()})

    def _ipc(self, source: int, target: int) -> ArmResult:
        size = PAYLOAD + 2 * GUARD
        owner = writer = Tally(0)
        self._step("ipc", "start the second process", source, target)
        with self._partner(source, target) as ask:
            for epoch in (1, 2):
                # Opened twice: a handle that is closed and opened again must lead to the same memory.
                data, poison = self._stuff(source, target, epoch)
                expected = Expected(GUARD, GUARD + PAYLOAD, data, poison)
                place = self._gpus.allocate(target, size)
                self._gpus.fill(target, place, poison)
                handle = self._gpus.share(place)
                self._step("ipc", "store from the other process", source, target)
                answer = ask(
                    do="ipc", handle=handle, size=size, start=GUARD, stop=GUARD + PAYLOAD, data=data, around=poison
                )
                writer = Tally(*answer["tally"])
                self._step("ipc", "the owner looks", source, target)
                owner = self._gpus.check(target, place, expected)
                if owner.right:
                    owner = self._gpus.check(target, place, expected, by_copy=True)
                self._gpus.free(place)
                if not owner.right:
                    break
        result, said = classify(owner, writer)
        found = "its own data" if writer.right else "something else"
        return self._result("ipc", source, target, result, {"say": said, **owner.evidence(), "writer_reads": found})

    def _shm(self, source: int, target: int) -> ArmResult:
        size = PAYLOAD
        data, poison = self._stuff(source, target, 1)
        self._step("shm", "start the second process", source, target)
        folder = _SHM if os.access(_SHM, os.W_OK) else None
        with (
            tempfile.NamedTemporaryFile(prefix="ladder-p2p-", dir=folder) as region,
            self._partner(source, target) as ask,
        ):
            try:
                os.posix_fallocate(region.fileno(), 0, size)
            except OSError as error:
                said = f"{size:,} bytes do not fit into {_SHM}: {error.strerror}"
                return self._result("shm", source, target, Result.ERROR, {"say": said})
            place = self._gpus.allocate(target, size)
            self._gpus.fill(target, place, poison)
            self._step("shm", "through shared memory", source, target)
            ask(do="shm", path=region.name, size=size, start=0, stop=size, data=data, around=poison)
            self._gpus.from_shared(region.name, place, size)
            tally = self._gpus.check(target, place, Expected(0, size, data, poison))
            self._gpus.free(place)
        result, said = classify(tally)
        return self._result("shm", source, target, result, {"say": said, **tally.evidence()})

    def _nccl(self, arm: str, source: int, target: int) -> ArmResult:
        for words in _REDUCED:
            self._step(arm, f"sum of {words * 4:,} bytes", source, target)
            try:
                wrong = self._gpus.all_reduce((source, target), words)
            except DeviceFault as fault:
                if fault.code == -1:
                    return self._result(arm, source, target, Result.NOT_TESTED, {"say": fault.line()})
                raise
            if wrong:
                said = f"{wrong:,} of {2 * words:,} words of a sum of {words * 4:,} bytes are wrong"
                return self._result(
                    arm, source, target, Result.PARTIAL, {"say": said, "bytes": words * 4, "wrong": wrong}
                )
        said = " and ".join(f"{words * 4:,}" for words in _REDUCED) + " bytes summed, exact"
        return self._result(arm, source, target, Result.RIGHT, {"say": said})

    @contextmanager
    def _partner(self, source: int, target: int) -> Iterator[_Ask]:
        """The second process, in this one's group, so that it ends with it."""
        job = {**self._job, "role": "partner", "writer": source, "owner": target}
        child = subprocess.Popen(
            [sys.executable, "-m", "ladder_backends.p2p.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        ask = _Ask(child)
        try:
            ask.send(job)
            ask.answer()
            yield ask
        finally:
            if child.stdin is not None:
                child.stdin.close()
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdout is not None:
                child.stdout.close()

    def _stuff(self, source: int, target: int, epoch: int) -> tuple[Stuff, Stuff]:
        here, there = self._numbers[source], self._numbers[target]
        return Stuff(Purpose.DATA, here, there, epoch), Stuff(Purpose.POISON, there, there, epoch)

    def _step(self, arm: str, step: str, source: int, target: int) -> None:
        self._lines.step(arm, step, self._numbers[source], self._numbers[target], ARMS[arm].limit)

    def _result(
        self, arm: str, source: int, target: int, result: Result, evidence: Mapping[str, object]
    ) -> ArmResult:
        return ArmResult(arm, self._numbers[source], self._numbers[target], result, evidence)


class _Ask:
    """Questions to the second process."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self._child = child

    def __call__(self, **asked: object) -> Mapping[str, Any]:
        self.send(asked)
        return self.answer()

    def send(self, words: Mapping[str, object]) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(words) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise DeviceFault("the second process ended") from None

    def answer(self) -> Mapping[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise DeviceFault("the second process ended")
        found: Mapping[str, Any] = json.loads(line)
        if found["event"] == "failed":
            raise DeviceFault(str(found["text"]), int(found["code"]))
        return found
