"""Arms that need a process of their own: memory handles, file descriptors, shared memory, NCCL."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ladder_backends.gpu_calls.gpus import UNSEEN, Buffer, DeviceFault, Gpus
from ladder_backends.gpu_calls.tally import Expected, Tally, classify
from ladder_backends.gpu_calls.words import Purpose, Stuff
from ladder_backends.model.p2p import ArmResult, Result
from ladder_backends.p2p import nccl_diagnostics
from ladder_backends.p2p.arms import ARMS, GUARD, MIB, PAYLOAD
from ladder_backends.p2p.nccl_source import NO_NCCL
from ladder_backends.p2p.second_process import SecondProcess

if TYPE_CHECKING:
    from ladder_backends.p2p.worker import Lines

_REDUCED = (1, 4 * MIB)
"""Words of the sums: 4 bytes take one protocol of NCCL, 16 MiB another."""

_SHM = "/dev/shm"
_NOT_SUPPORTED = 801

Store = Callable[[str, SecondProcess, int, int, Stuff, Stuff], tuple[Tally, Tally | None]]
"""One store of another process: what the owner finds, and what the writer reads back."""


class OwnProcess:
    """The arms between processes, run by the process that owns the memory; second processes are kept till `close`.

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
        self._seconds: dict[tuple[int, int, bool], SecondProcess] = {}

    def run(self, arm: str, source: int, target: int) -> ArmResult:
        """One arm of one ordered pair, or on one GPU where both are the same."""
        try:
            if arm == "ipc":
                return self._between(arm, source, target, self._by_handle)
            if arm == "fd":
                return self._between(arm, source, target, self._by_descriptor)
            if arm == "shm":
                return self._shm(source, target)
            return self._nccl(arm, source, target)
        except DeviceFault as fault:
            # What the second process lost is not this process's context.
            result = Result.NOT_TESTED if fault.code == _NOT_SUPPORTED else Result.ERROR
            return self._result(arm, source, target, result, {"say": fault.line()})

    def close(self) -> None:
        """End the second processes."""
        for process in self._seconds.values():
            process.close()
        self._seconds.clear()

    # Stores of another process ---------------------------------------------------------------------------------

    def _between(self, arm: str, source: int, target: int, store: Store) -> ArmResult:
        """Each process sees its own GPU alone, as ranks often do; where that fails, both see both."""
        alone = source != target
        try:
            return self._stored(arm, source, target, store, alone=alone)
        except DeviceFault as fault:
            self._drop(source, target, alone=alone)
            if not alone or fault.code == _NOT_SUPPORTED:
                raise
            done = self._stored(arm, source, target, store, alone=False)
            why = f"only where both processes see both GPUs; with one visible to each: {fault.line()}"
            said = f"{done.said}, but {why}"
            return ArmResult(
                arm, done.source, done.target, done.result, {**done.evidence, "unseen": fault.line(), "say": said}
            )

    def _stored(self, arm: str, source: int, target: int, store: Store, *, alone: bool) -> ArmResult:
        owner, writer = Tally(0), None
        self._step(arm, "start the second process", source, target)
        process = self._second(source, target, alone=alone)
        for epoch in (1, 2):
            # Opened twice: what is closed and opened again must lead to the same memory.
            data, poison = self._stuff(source, target, epoch)
            owner, writer = store(arm, process, source, target, data, poison)
            if not owner.right:
                break
        result, said = classify(owner, writer)
        evidence = {"say": said, **owner.evidence()}
        if writer is not None:
            evidence["writer_reads"] = "its own data" if writer.right else "something else"
        return self._result(arm, source, target, result, evidence)

    def _by_handle(
        self, arm: str, process: SecondProcess, source: int, target: int, data: Stuff, poison: Stuff
    ) -> tuple[Tally, Tally | None]:
        place = self._gpus.allocate(target, PAYLOAD + 2 * GUARD)
        try:
            self._gpus.fill(target, place, poison)
            handle = self._gpus.share(place)
            self._step(arm, "store from the other process", source, target)
            asked = self._asked(place, data, poison)
            process.ask(do="ipc", handle=handle, **asked)
            return self._both_look(arm, source, target, place, process, asked)
        finally:
            self._gpus.free(place)

    def _by_descriptor(
        self, arm: str, process: SecondProcess, source: int, target: int, data: Stuff, poison: Stuff
    ) -> tuple[Tally, Tally | None]:
        place, descriptor = self._gpus.allocate_exported(target, PAYLOAD + 2 * GUARD)
        try:
            self._gpus.fill(target, place, poison)
            self._step(arm, "store from the other process", source, target)
            asked = self._asked(place, data, poison)
            process.ask(descriptor, do="fd", **asked)
            return self._both_look(arm, source, target, place, process, asked)
        finally:
            os.close(descriptor)
            self._gpus.free_exported(place)

    def _asked(self, place: Buffer, data: Stuff, poison: Stuff) -> dict[str, Any]:
        return {"size": place.size, "start": GUARD, "stop": GUARD + PAYLOAD, "data": data, "around": poison}

    def _both_look(
        self, arm: str, source: int, target: int, place: Buffer, process: SecondProcess, asked: dict[str, Any]
    ) -> tuple[Tally, Tally | None]:
        """The owner looks; the writer, whose read is a transfer of its own, only where something is wrong."""
        self._step(arm, "the owner looks", source, target)
        expected = Expected(asked["start"], asked["stop"], asked["data"], asked["around"])
        found = self._gpus.check(target, place, expected)
        if found.right:
            found = self._gpus.check(target, place, expected, by_copy=True)
        writer = None
        if not found.right:
            self._step(arm, "the writer looks", source, target)
            writer = Tally(*process.ask(do="look", **asked)["tally"])
        process.ask(do="close")
        return found, writer

    def _shm(self, source: int, target: int) -> ArmResult:
        size = PAYLOAD
        data, poison = self._stuff(source, target, 1)
        self._step("shm", "start the second process", source, target)
        process = self._second(source, target, alone=source != target)
        folder = _SHM if os.access(_SHM, os.W_OK) else None
        with tempfile.NamedTemporaryFile(prefix="ladder-p2p-", dir=folder) as region:
            try:
                os.posix_fallocate(region.fileno(), 0, size)
            except OSError as error:
                said = f"{size:,} bytes do not fit into {_SHM}: {error.strerror}"
                return self._result("shm", source, target, Result.ERROR, {"say": said})
            place = self._gpus.allocate(target, size)
            self._gpus.fill(target, place, poison)
            self._step("shm", "through shared memory", source, target)
            process.ask(do="shm", path=region.name, size=size, start=0, stop=size, data=data, around=poison)
            self._gpus.from_shared(region.name, place, size)
            tally = self._gpus.check(target, place, Expected(0, size, data, poison))
            self._gpus.free(place)
        result, said = classify(tally)
        return self._result("shm", source, target, result, {"say": said, **tally.evidence()})

    # NCCL ------------------------------------------------------------------------------------------------------

    def _nccl(self, arm: str, source: int, target: int) -> ArmResult:
        nics = self._gpus.nics()
        if arm == "nccl nic" and not nics:
            return self._result(arm, source, target, Result.NOT_TESTED, {"say": "no network card for RDMA here"})
        report: list[str] = []
        for words in _REDUCED:
            self._step(arm, f"sum of {words * 4:,} bytes", source, target)
            try:
                with nccl_diagnostics.standard_output() as told:
                    wrong = self._gpus.all_reduce((source, target), words)
            except DeviceFault as fault:
                if fault.code == NO_NCCL:
                    return self._result(arm, source, target, Result.NOT_TESTED, {"say": fault.line()})
                raise
            report = report or told
            if wrong:
                said = f"{wrong:,} of {2 * words:,} words of a sum of {words * 4:,} bytes are wrong"
                evidence = {"say": said, "bytes": words * 4, "wrong": wrong}
                return self._result(
                    arm, source, target, Result.PARTIAL, {**evidence, **self._witness(report, said)}
                )
        said = " and ".join(f"{words * 4:,}" for words in _REDUCED) + " bytes summed, exact"
        more = {"nics": ", ".join(nics)} if arm == "nccl nic" else {}
        return self._result(arm, source, target, Result.RIGHT, {"say": said, **self._witness(report, said), **more})

    @staticmethod
    def _witness(report: list[str], said: str) -> dict[str, object]:
        """NCCL's own diagnostics, where it has made them."""
        if not report:
            return {}
        found: dict[str, object] = {"nccl_diagnostics": report}
        if complaint := nccl_diagnostics.complaint(report):
            found["say"] = f"{said}; NCCL's own diagnostics: {complaint}"
        return found

    # Shared by them --------------------------------------------------------------------------------------------

    def _second(self, source: int, target: int, *, alone: bool) -> SecondProcess:
        key = (source, target, alone)
        if key not in self._seconds:
            job = {**self._job, "writer": source, "owner": target}
            devices = None
            if alone:
                job |= {"gpus": [self._numbers[source]], "writer": 0, "owner": UNSEEN}
                devices = self._visible(source)
            self._seconds[key] = SecondProcess(job, devices)
        return self._seconds[key]

    def _drop(self, source: int, target: int, *, alone: bool) -> None:
        """A second process that failed may have lost its context."""
        process = self._seconds.pop((source, target, alone), None)
        if process is not None:
            process.close()

    def _visible(self, gpu: int) -> str | None:
        """One of the GPUs that this process sees, as CUDA names it; None where nothing was chosen."""
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        return visible[gpu] if len(visible) > gpu and visible[gpu] else str(gpu)

    def _stuff(self, source: int, target: int, epoch: int) -> tuple[Stuff, Stuff]:
        here, there = self._numbers[source], self._numbers[target]
        return Stuff(Purpose.DATA, here, there, epoch), Stuff(Purpose.POISON, there, there, epoch)

    def _step(self, arm: str, step: str, source: int, target: int) -> None:
        self._lines.step(arm, step, self._numbers[source], self._numbers[target], ARMS[arm].limit)

    def _result(
        self, arm: str, source: int, target: int, result: Result, evidence: Mapping[str, object]
    ) -> ArmResult:
        return ArmResult(arm, self._numbers[source], self._numbers[target], result, evidence)
