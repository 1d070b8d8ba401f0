"""The arms over all GPUs of one process: where a lost write went, and what happens when many transfer at once."""

from __future__ import annotations

import time

from ladder_backends.gpu_calls.gpus import Buffer
from ladder_backends.gpu_calls.tally import Expected
from ladder_backends.gpu_calls.words import Purpose, Stuff
from ladder_backends.model.p2p import ArmResult, Result
from ladder_backends.p2p.arm_steps import ArmSteps, rounded
from ladder_backends.p2p.arms import MIB

Pair = tuple[int, int]

_TOLD = 0.5
"""Seconds between two rounds that are told of: a soak has thousands."""

_CHECKED = 4 * MIB
_TIMED = 64 * MIB
_TIMES = 5


class Together(ArmSteps):
    """The arms in which more than one pair is at work, or looked at."""

    def run(self, arm: str, source: int, target: int, seconds: float) -> ArmResult:
        """One arm; `seconds` are those of a soak."""
        if arm == "trace":
            return self._guarded(arm, source, target, self._trace)
        return self._guarded(arm, source, source, lambda a, b: self._many(arm, seconds if arm == "soak" else 0.0))

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

    def _many(self, arm: str, seconds: float) -> ArmResult:
        """Groups of transfers, each group at once, checked by the owners; for a soak again and again."""
        groups = self._groups(arm)
        pairs = list(dict.fromkeys(pair for group in groups for pair in group))
        if not pairs:
            here = self._of(0)
            return ArmResult(arm, here, here, Result.NOT_TESTED, {"say": "peer access is not offered"})
        for one, other in pairs:
            self._gpus.enable_peer(one, other)
        until = time.monotonic() + seconds
        rounds, told = 0, 0.0
        origins: dict[Pair, Buffer] = {}
        places: dict[Pair, Buffer] = {}
        try:
            for pair in pairs:
                origins[pair] = self._gpus.allocate(pair[0], _CHECKED)
                places[pair] = self._gpus.allocate(pair[1], _CHECKED)
            while True:
                for group in groups:
                    now = time.monotonic()
                    if now - told > _TOLD:
                        told = now
                        left = f", {max(0.0, until - now):.0f} s left" if seconds else ""
                        self._step(arm, f"round {rounds + 1:,}{left}", *group[0])
                    if (wrong := self._moved(arm, group, origins, places)) is not None:
                        return wrong
                rounds += 1
                if time.monotonic() >= until:
                    break
        finally:
            for buffer in (*origins.values(), *places.values()):
                self._gpus.free(buffer)
        rates = [self._rate(arm, group) for group in groups]
        said = f"{len(pairs)} pairs, {rounds:,} time{'s' if rounds > 1 else ''}, all as written"
        said += f"; {rounded(min(rates))} GB/s together"
        here = self._of(0)
        evidence = {
            "pairs": len(pairs),
            "together": max(map(len, groups)),
            "rounds": rounds,
            "sum_GBps": rounded(min(rates)),
            "say": said,
        }
        return ArmResult(arm, here, here, Result.RIGHT, evidence)

    def _groups(self, arm: str) -> list[list[Pair]]:
        """Which transfers go at the same time, as far as they are offered."""
        count = self._gpus.count()
        everyone = range(count)
        all_pairs = [(one, other) for one in everyone for other in everyone if one != other]
        if arm == "one to all":
            groups = [[pair for pair in all_pairs if pair[0] == gpu] for gpu in everyone]
        elif arm == "all to one":
            groups = [[pair for pair in all_pairs if pair[1] == gpu] for gpu in everyone]
        elif arm == "ring":
            groups = [[(gpu, (gpu + 1) % count) for gpu in everyone]]
        else:
            groups = [all_pairs]
        offered = [[pair for pair in group if self._gpus.can_access(*pair)] for group in groups]
        return [group for group in offered if group]

    def _moved(
        self, arm: str, group: list[Pair], origins: dict[Pair, Buffer], places: dict[Pair, Buffer]
    ) -> ArmResult | None:
        """One round of a group; a result where something is wrong."""
        stuff = {pair: self._stuff(*pair) for pair in group}
        for pair in group:
            self._gpus.fill(pair[0], origins[pair], stuff[pair][0])
            self._gpus.fill(pair[1], places[pair], stuff[pair][1])
        self._gpus.many([(pair[0], places[pair], origins[pair], _CHECKED) for pair in group], 1)
        for pair in group:
            tally = self._gpus.check(pair[1], places[pair], Expected(0, _CHECKED, *stuff[pair]))
            if not tally.right:
                done = self._judged(arm, *pair, tally)
                said = f"GPU{done.source} to GPU{done.target}, with {len(group)} pairs at once: {done.said}"
                return ArmResult(arm, done.source, done.target, done.result, {**done.evidence, "say": said})
        return None

    def _rate(self, arm: str, group: list[Pair]) -> float:
        """GB/s of a group together; one buffer a GPU for each role keeps it within the cap."""
        size = min(_TIMED, self._cap // 2)
        self._step(arm, "timed", *group[0])
        origins = {gpu: self._gpus.allocate(gpu, size) for gpu in dict.fromkeys(pair[0] for pair in group)}
        places: dict[int, Buffer] = {}
        try:
            for gpu in dict.fromkeys(pair[1] for pair in group):
                places[gpu] = self._gpus.allocate(gpu, size)
            copies = [(pair[0], places[pair[1]], origins[pair[0]], size) for pair in group]
            self._gpus.many(copies, 1)
            return len(group) * size * _TIMES / self._gpus.many(copies, _TIMES) / 1e9
        finally:
            for buffer in (*origins.values(), *places.values()):
                self._gpus.free(buffer)
