"""A sweep over pairs of GPUs: which worker does what when, and what is known after each line of theirs."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from ladder_backends.errors import LadderError
from ladder_backends.model.p2p import (
    ArmResult,
    PairResult,
    Result,
    Stage,
    Sweep,
)
from ladder_backends.p2p.arms import ARMS, Arm, Scope, arms_of
from ladder_backends.p2p.rounds import rounds
from ladder_backends.p2p.speed import judged
from ladder_backends.p2p.worker_process import Ended, WorkerProcess
from ladder_backends.session.p2p_hangs import Work
from ladder_backends.session.p2p_health import unwell
from ladder_backends.session.p2p_told import arms_left, cleaned, figure, gpu_told, left_out, pairs_told, stopped
from ladder_backends.session.p2p_turn import Turn
from ladder_backends.session.p2p_wish import BusyGpus, Wish
from ladder_backends.session.p2p_workers import Workers
from ladder_backends.text import clean_line

_TRIES = 3
"""Workers that one job may cost: each may be lost to another arm."""


class PairSweep:
    """Sweeps, one at a time; `state` is always what is known.

    Args:
        changed: Called after each change of `state`.
    """

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self.state = Sweep()
        self.wish = Wish()
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._began = 0.0
        self._workers = Workers(self.wish)

    @property
    def running(self) -> bool:
        """A sweep, or the test of one cell, is at work."""
        return self._task is not None and not self._task.done()

    def pids(self, *gpus: int) -> tuple[int, ...]:
        """Processes at work on exactly these GPUs; ours, and in no other program's group."""
        return self._workers.pids(*gpus)

    async def sweep(self, wish: Wish) -> Sweep:
        """Sweep all pairs.

        Raises:
            BusyGpus: Some are in use and `busy_too` is not set.
            LadderError: Another sweep is at work.
        """
        await self._alone(self._sweep(wish))
        return self.state

    async def again(self, source: int, target: int) -> Sweep:
        """Test one ordered pair again, with the arms of the last sweep.

        Raises:
            LadderError: There was no sweep, or one is at work.
        """
        if (source, target) not in self.state.pairs:
            raise LadderError("this pair was never tested", "", "start a sweep first")
        await self._alone(self._again(source, target))
        return self.state

    async def cancel(self) -> None:
        """Stop; the workers are ended, and what is known stays."""
        task = self._task
        if task is not None and not task.done():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, LadderError):
                await task

    async def interrupt(self) -> None:
        """What Ctrl-C asks for."""
        await self.cancel()

    async def _alone(self, doing: Any) -> None:
        if self.running:
            doing.close()
            raise LadderError("a sweep is at work", "", "wait for it, or cancel it")
        self._task = asyncio.ensure_future(doing)
        try:
            await self._task
        except asyncio.CancelledError:
            if not self._task.cancelled():
                raise
            if (current := asyncio.current_task()) is not None and current.cancelling():
                raise

    # One sweep -------------------------------------------------------------------------------------------------

    async def _sweep(self, wish: Wish) -> None:
        self.wish = wish
        self._workers = Workers(wish)
        self._began = time.monotonic()
        self.state = Sweep(simulated=wish.simulated, depth=wish.depth, began=time.time(), stage=Stage.SURVEY)
        self._changed()
        try:
            await self._survey()
            if self.state.failure:
                return self._now(stage=Stage.FAILED)
            gpus = tuple(gpu.index for gpu in self.state.gpus)
            self._now(stage=Stage.CONTROL)
            groups = rounds(gpus)
            await self._ahead(groups[:1])
            await self._control(gpus)
            self._now(stage=Stage.PAIRS)
            for number, group in enumerate(groups):
                await self._round([pair for pair in group if self._fit(*pair)], groups[number + 1 : number + 2])
            if self._arms(Scope.OWN_PROCESS):
                self._now(stage=Stage.PROCESSES)
                await self._own_processes(gpus)
            self._now(stage=Stage.TOGETHER)
            await self._together(gpus)
            self._leave_out(gpus)
            self._now(stage=Stage.DONE)
        except asyncio.CancelledError:
            self._stop_cells()
            self._now(stage=Stage.CANCELLED, step="")
            raise
        except LadderError as error:
            self._stop_cells()
            self._now(stage=Stage.FAILED, failure=self.state.failure or error.what)
            raise
        finally:
            await self._workers.close()
        return None

    async def _ahead(self, groups: list[list[tuple[int, int]]]) -> None:
        """Let the workers of a coming round load while this one is at work: other processes, other GPUs or none."""
        for group in groups:
            for pair in group:
                both = (self.state.pairs.get(key) for key in (pair, pair[::-1]))
                if self._fit(*pair) and any(one is not None and one.claim.offered for one in both):
                    await self._workers.ahead(pair)

    async def _again(self, source: int, target: int) -> None:
        before = self.state.stage
        # The clock goes on from where the sweep left it.
        self._began = time.monotonic() - self.state.took
        pair = self.state.pairs[source, target]
        self._put(replace(pair, arms={}, bandwidth=None, latency=None, running="queued", slow=""))
        self._now(stage=Stage.PAIRS)
        try:
            await self._pair(source, target, [(arm.id, source, target) for arm in self._arms(Scope.PAIR)], None)
            for arms in self._own_arms():
                await self._own_process(arms, source, target)
            await self._trace()
            self._judge_speed()
        finally:
            await self._workers.close()
            self._stop_cells()
            self._now(stage=before if before in (Stage.DONE, Stage.CANCELLED) else Stage.DONE)

    async def _survey(self) -> None:
        said: Mapping[str, Any] = {}
        survey = self._workers.take("survey", None)
        try:
            if not self.wish.only:
                # It loads beside the survey; what is left over without GPUs is ended with the sweep.
                await self._workers.ahead(None)
            async with aclosing(survey.lines()) as lines:
                async for told in lines:
                    if told["event"] == "survey":
                        said = told
                    elif told["event"] == "failed":
                        return self._now(
                            failure=clean_line(": ".join(part for part in (told["what"], told["why"]) if part)),
                            remedy=clean_line(told["remedy"]),
                        )
        except Ended as ended:
            what = "the start of CUDA hangs" if ended.hung else "the first worker died"
            return self._now(failure=what + (f": {ended.why}" if ended.why else ""), remedy="")
        gpus = tuple(gpu_told(index, one) for index, one in enumerate(said.get("gpus", ())))
        if not gpus:
            return self._now(failure="there is no GPU", remedy="check nvidia-smi, and CUDA_VISIBLE_DEVICES")
        wanted = self.wish.only
        if absent := [number for number in wanted if not 0 <= number < len(gpus)]:
            raise LadderError(f"there is no GPU{absent[0]}", f"they are 0 to {len(gpus) - 1}")
        chosen = tuple(gpu for gpu in gpus if not wanted or gpu.index in wanted)
        pairs = pairs_told(said, {gpu.index for gpu in chosen})
        versions = {str(key): clean_line(str(value)) for key, value in said.get("versions", {}).items()}
        self._workers.know({gpu.index: gpu.uuid for gpu in chosen}, everything=not wanted)
        self._now(gpus=chosen, pairs=pairs, versions=versions)
        if (busy := tuple(gpu for gpu in chosen if gpu.busy)) and not self.wish.busy_too:
            raise BusyGpus(busy)
        return None

    async def _control(self, gpus: tuple[int, ...]) -> None:
        """Memory and host links of each GPU, and copies between them with peer access never enabled."""
        work: list[Work] = [(arm, gpu, gpu) for arm in ("local", "host") for gpu in gpus]
        work += [("staged", one, other) for one in gpus for other in gpus if one != other]
        await self._through("control", gpus, work)

    async def _round(self, group: list[tuple[int, int]], after: list[list[tuple[int, int]]]) -> None:
        """Disjoint pairs side by side; each measures when all are there, alone."""
        turn = Turn(len(group))
        arms = self._arms(Scope.PAIR)
        jobs = []
        for one, other in group:
            work: list[Work] = []
            for arm in sorted(arms, key=lambda arm: (arm.id == "speed", arms.index(arm))):
                work += [(arm.id, one, other), (arm.id, other, one)]
            jobs.append(asyncio.ensure_future(self._pair(one, other, self._offered(work), turn)))
        try:
            await asyncio.sleep(0)
            await self._ahead(after)
            await asyncio.gather(*jobs)
        finally:
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
        self._judge_speed()

    def _offered(self, work: list[Work]) -> list[Work]:
        """The arms of directions that the driver offers; the others are told as such."""
        out = []
        for arm, source, target in work:
            if self.state.pairs[source, target].claim.offered:
                out.append((arm, source, target))
            else:
                evidence = {"say": "not offered: CUDA says that this GPU cannot reach the other"}
                self._arm(ArmResult(arm, source, target, Result.NOT_TESTED, evidence))
        return out

    async def _pair(self, one: int, other: int, work: list[Work], turn: Turn | None) -> None:
        try:
            if work:
                await self._through("pair", (one, other), work, turn=turn, peers=True)
        finally:
            if turn is not None:
                turn.leave((one, other))
            for pair in ((one, other), (other, one)):
                if pair in self.state.pairs:
                    self._put(replace(self.state.pairs[pair], running=""))

    async def _own_processes(self, gpus: tuple[int, ...]) -> None:
        """Arms between processes: nothing in them is timed, so disjoint pairs go side by side."""
        for group in rounds(gpus) if len(gpus) > 1 else [[(gpu, gpu) for gpu in gpus]]:
            jobs = [asyncio.ensure_future(self._between_processes(*pair)) for pair in group]
            try:
                await asyncio.gather(*jobs)
            finally:
                for job in jobs:
                    job.cancel()
                await asyncio.gather(*jobs, return_exceptions=True)

    async def _between_processes(self, one: int, other: int) -> None:
        for arms in self._own_arms():
            await self._own_process(arms, one, other, both_ways=one != other)

    def _own_arms(self) -> list[list[Arm]]:
        """Arms that may share a process stand together: those with an environment of their own do not."""
        arms = self._arms(Scope.OWN_PROCESS)
        return [[arm for arm in arms if not arm.environment], *([arm] for arm in arms if arm.environment)]

    async def _own_process(self, arms: list[Arm], source: int, target: int, *, both_ways: bool = False) -> None:
        if not self._fit(source, target):
            return
        pair = self.state.pairs.get((source, target))
        work: list[Work] = []
        for arm in arms:
            nccl = arm.id.startswith("nccl")
            if source == target and nccl:
                continue
            for key in ((source, target), (target, source)) if both_ways and not nccl else ((source, target),):
                known = self.state.pairs.get(key)
                if arm.id not in ("ipc", "fd") or known is None or known.claim.offered:
                    work.append((arm.id, *key))
        if not work:
            return
        gpus = (source,) if source == target else (source, target)
        await self._through("own", gpus, work, environment=dict(arms[0].environment))
        if arms[0].id.startswith("nccl") and pair is not None:
            done = self.state.pairs[source, target].arms.get(arms[0].id)
            if done is not None:
                self._arm(replace(done, source=target, target=source))

    async def _trace(self) -> None:
        """Where the writes went that did not reach their targets, in one process that sees every GPU."""
        gpus = tuple(gpu.index for gpu in self.state.gpus if gpu.state == "ok")
        lost = [
            key
            for key, pair in self.state.pairs.items()
            if pair.kind is Result.DROPPED and set(key) <= set(gpus) and "trace" not in pair.arms
        ]
        if lost and len(gpus) > 2:
            await self._through("together", gpus, [("trace", *pair) for pair in lost], peers=True)

    async def _together(self, gpus: tuple[int, ...]) -> None:
        gpus = tuple(gpu for gpu in gpus if self._fit(gpu, gpu))
        await self._trace()
        offered = any(pair.claim.offered for pair in self.state.pairs.values())
        arms = [arm for arm in self._arms(Scope.TOGETHER) if arm.id != "trace"]
        if arms and len(gpus) > 1 and offered:
            work: list[Work] = [(arm.id, gpus[0], gpus[0]) for arm in arms]
            try:
                await self._through("together", gpus, work, seconds=self.wish.soak)
            except asyncio.CancelledError:
                self._broken_off(gpus[0])
                raise
            finally:
                self._now(step="")

    def _broken_off(self, gpu: int) -> None:
        """What was at work when a person stopped it is told as far as it came."""
        arm, _, where = self.state.step.partition(": ")
        if arm in ARMS and arm not in self.state.together:
            said = f"stopped in {where}; all right until then"
            self._arm(ArmResult(arm, gpu, gpu, Result.NOT_TESTED, {"say": said}))

    # Workers ---------------------------------------------------------------------------------------------------

    async def _through(
        self,
        role: str,
        gpus: tuple[int, ...],
        work: list[Work],
        *,
        turn: Turn | None = None,
        peers: bool = False,
        seconds: float = 0.0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Get work done, with a fresh worker after each that is lost; what cannot be done says why."""
        left = list(work)
        for _ in range(max(_TRIES, len({arm for arm, *_ in work}) if role != "control" else 0)):
            if not left:
                return
            if not all(self._fit(gpu, gpu) for gpu in gpus):
                break
            worker = self._workers.take(
                role, gpus, left, peers=peers, seconds=seconds, environment=environment or {}
            )
            try:
                # Closed here, whatever happens in between: a worker outlives nobody who waits for it.
                async with aclosing(worker.lines()) as lines:
                    async for told in lines:
                        await self._heard(told, left, worker, turn, gpus)
            except Ended as ended:
                await self._lost(ended, left, gpus)
        for arm, source, target in left:
            why = self._unfit(gpus) or "its workers were lost to other arms"
            self._arm(ArmResult(arm, source, target, Result.NOT_TESTED, {"say": why}))

    async def _heard(
        self,
        told: Mapping[str, Any],
        left: list[Work],
        worker: WorkerProcess,
        turn: Turn | None,
        gpus: tuple[int, ...],
    ) -> None:
        event = told["event"]
        if event == "step":
            key = (int(told["source"]), int(told["target"]))
            step = clean_line(str(told["step"]))
            if told["arm"] in ARMS and ARMS[told["arm"]].scope is Scope.TOGETHER:
                self._now(step=f"{told['arm']}: {step}")
            elif key in self.state.pairs and told["arm"] in ARMS:
                self._put(replace(self.state.pairs[key], running=f"{told['arm']}: {step}"))
        elif event == "arm":
            result = ArmResult(
                str(told["arm"]),
                int(told["source"]),
                int(told["target"]),
                Result(told["result"]),
                cleaned(told["evidence"]),
            )
            done = next(
                (one for one in left if one[0] == result.arm and one[1:] == (result.source, result.target)), None
            )
            if done is None and result.arm != "trace" and ARMS[result.arm].scope is Scope.TOGETHER:
                done = next((one for one in left if one[0] == result.arm), None)
            if done is not None:
                left.remove(done)
            self._arm(result)
            here = (result.source, result.target)
            if here in self.state.pairs and ARMS[result.arm].scope is Scope.CONTROL:
                self._put(replace(self.state.pairs[here], running="queued"))
        elif event == "ready":
            if turn is not None:
                await turn.take(gpus)
            await self._workers.rest()
            worker.go()
        elif event == "refused":
            # Its arms say themselves that they had no access.
            evidence = {"say": clean_line(str(told["text"])), "code": told["code"]}
            key = (int(told["source"]), int(told["target"]))
            if key in self.state.pairs:
                self._arm(ArmResult("enable", *key, Result.ERROR, evidence))
        elif event == "failed":
            evidence = {"say": clean_line(str(told["text"])), "code": told.get("code", 0)}
            for arm, source, target in left:
                self._arm(ArmResult(arm, source, target, Result.ERROR, evidence))
            left.clear()

    async def _lost(self, ended: Ended, left: list[Work], gpus: tuple[int, ...]) -> None:
        """A worker was lost: the arm it was at is told of, and its GPUs are looked at."""
        step = ended.step
        at = next(
            (
                one
                for one in left
                if one[0] == step.get("arm") and one[1:] == (step.get("source"), step.get("target"))
            ),
            next((one for one in left if one[0] == step.get("arm")), left[0] if left else None),
        )
        if at is not None:
            left.remove(at)
            self._arm(stopped(ended, at))
            for one in self._workers.hangs.spared(at, left) if ended.hung else ():
                left.remove(one)
                self._arm(ArmResult(*one, Result.NOT_TESTED, {"say": f"it hung in {at[0]}"}))
        for gpu in gpus if ended.stuck else ():
            self._wedge(gpu, "its process is stuck in the kernel and cannot be ended")
        if not ended.stuck and (ended.hung or ended.killed):
            await self._check_health(gpus)

    async def _check_health(self, gpus: tuple[int, ...]) -> None:
        for gpu, why in zip(gpus, await unwell(self._workers, gpus), strict=True):
            if why:
                self._wedge(gpu, why)

    # What is known ---------------------------------------------------------------------------------------------

    def _arm(self, result: ArmResult) -> None:
        key = (result.source, result.target)
        scope = ARMS[result.arm].scope if result.arm in ARMS else Scope.PAIR
        if scope is Scope.CONTROL or (result.source == result.target and scope is Scope.OWN_PROCESS):
            self._now(controls={**self.state.controls, (result.arm, *key): result})
        elif scope is Scope.TOGETHER and result.arm != "trace":
            self._now(together={**self.state.together, result.arm: result})
        elif key in self.state.pairs:
            pair = self.state.pairs[key]
            arms = {**pair.arms, result.arm: result}
            bandwidth, latency = pair.bandwidth, pair.latency
            if result.arm == "speed" and result.result is Result.RIGHT:
                bandwidth, latency = figure(result, "GBps"), figure(result, "latency_us")
            self._put(replace(pair, arms=arms, bandwidth=bandwidth, latency=latency))

    def _put(self, pair: PairResult) -> None:
        self._now(pairs={**self.state.pairs, (pair.source, pair.target): pair})

    def _wedge(self, gpu: int, why: str) -> None:
        self._now(
            gpus=tuple(
                replace(one, state="wedged", why=why) if one.index == gpu else one for one in self.state.gpus
            )
        )

    def _arms(self, scope: Scope) -> tuple[Arm, ...]:
        return arms_of(self.wish.depth, scope, asked=self.wish.asked)

    def _fit(self, *gpus: int) -> bool:
        return not self._unfit(gpus)

    def _unfit(self, gpus: Iterable[int]) -> str:
        for one in self.state.gpus:
            if one.index in gpus and one.state != "ok":
                return f"GPU{one.index} is {one.state}: {one.why}"
        return ""

    def _judge_speed(self) -> None:
        self._now(pairs=judged(self.state))

    def _leave_out(self, gpus: tuple[int, ...]) -> None:
        """What this machine or this depth did not allow."""
        untested = [*left_out(self.wish.depth, len(gpus), self.wish.asked), *arms_left(self.state)]
        untested += [
            f"GPU{pair.source} to GPU{pair.target}: {why}"
            for pair in self.state.pairs.values()
            if not pair.arms and (why := self._unfit((pair.source, pair.target)))
        ]
        self._stop_cells()
        self._now(untested=tuple(untested))

    def _stop_cells(self) -> None:
        self._now(pairs={key: replace(pair, running="") for key, pair in self.state.pairs.items()})

    def _now(self, **changes: Any) -> None:
        self.state = replace(self.state, took=time.monotonic() - self._began, **changes)
        self._changed()
