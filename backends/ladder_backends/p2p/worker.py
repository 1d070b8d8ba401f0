"""The process in which pairs are tested: one job on standard input, JSON lines out, nothing else.

Its argument is the layer, as JSON: what takes long to load is loaded before the job comes, and told by `warm`; no
GPU is touched until then. Lines out: `step` before each step with the seconds it may take, `arm` after each arm,
`survey`, `ready` before arms that are timed (it waits for a line then), `spoilt` when its CUDA context is lost,
`failed`, `done`. It is meant to be killed at any point: it holds nothing but memory of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import IO, Any

from ladder_backends.gpu_calls.gpus import DeviceFault, Gpus
from ladder_backends.model.p2p import ArmResult
from ladder_backends.p2p.arms import ARMS, Scope
from ladder_backends.p2p.layers import load_layer, open_layer
from ladder_backends.p2p.own_process import OwnProcess
from ladder_backends.p2p.steps import Steps
from ladder_backends.p2p.together import Together

_SPOILT = frozenset((46, 214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999))
"""Errors of the CUDA runtime after which nothing works in this process."""

_ASKED = 5
"""How often capabilities are asked for: a driver that changes its mind is worth a line."""

_PR_SET_PDEATHSIG = 1

_START = 60.0
"""Seconds that the start of CUDA and the first compilation may take."""


class Lines:
    """Where results go, and where the next word of the engine comes from."""

    def __init__(self, out: IO[str], inward: IO[str]) -> None:
        self._out = out
        self._in = inward

    def tell(self, event: str, **more: object) -> None:
        """Send one line."""
        self._out.write(json.dumps({"event": event, **more}) + "\n")
        self._out.flush()

    def arm(self, result: ArmResult) -> None:
        """Send what an arm came to."""
        self.tell(
            "arm",
            arm=result.arm,
            source=result.source,
            target=result.target,
            result=result.result,
            evidence=dict(result.evidence),
        )

    def step(self, arm: str, step: str, source: int, target: int, limit: float) -> None:
        """Send that a step begins."""
        self.tell("step", arm=arm, step=step, source=source, target=target, limit=limit)

    def heard(self) -> Mapping[str, Any] | None:
        """Wait for a line; None at the end."""
        line = self._in.readline()
        if not line:
            return None
        found: Mapping[str, Any] = json.loads(line)
        return found


def main() -> int:
    """Do the job that comes on standard input; 0 when it was done, whatever it found."""
    _end_with_parent()
    # Libraries print where they like; the lines are kept apart from that.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lines = Lines(out, sys.stdin)
    if len(sys.argv) > 1:
        load_layer(json.loads(sys.argv[1]))
    lines.tell("warm")
    job = lines.heard()
    if job is None:
        return 2
    try:
        if job.get("role") == "partner":
            from ladder_backends.p2p.partner import serve

            return serve(job, lines)
        _work(job, lines)
    except DeviceFault as fault:
        lines.tell(
            "failed", text=fault.line(), code=fault.code, what=fault.what, why=fault.why, remedy=fault.remedy
        )
    lines.tell("done")
    return 0


def _end_with_parent() -> None:
    """Let the kernel end this process with its parent: one that hangs in a transfer sees no pipe close."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _work(job: Mapping[str, Any], lines: Lines) -> None:
    numbers = tuple(job["gpus"]) if job.get("gpus") is not None else None
    here, there = (numbers[0], numbers[-1]) if numbers else (0, 0)
    lines.step("start", "start CUDA", here, there, _START)
    gpus = open_layer(job["layer"], numbers)
    numbers = numbers or tuple(range(gpus.count()))
    if job["role"] == "survey":
        return _survey(gpus, lines)
    gpus.prepare()
    if job["role"] == "health":
        return _health(gpus, lines, numbers)
    steps = Steps(gpus, lines.step, numbers, int(job["cap"]))
    together = Together(gpus, lines.step, numbers, int(job["cap"]))
    between = OwnProcess(job, gpus, lines, numbers)
    if job.get("peers"):
        _open_peers(gpus, steps, together, lines, numbers)
    timed = False
    try:
        for arm, source, target in job["work"]:
            one, other = numbers.index(source), numbers.index(target)
            if arm == "speed" and not timed:
                lines.tell("ready")
                if lines.heard() is None:
                    return None
                timed = True
            scope = ARMS[arm].scope
            if scope is Scope.TOGETHER:
                result = together.run(arm, one, other, float(job.get("seconds", 0)))
            elif scope is Scope.OWN_PROCESS:
                result = between.run(arm, one, other)
            else:
                result = _of_one_process(steps, arm, one, other)
            lines.arm(result)
            if result.evidence.get("code") in _SPOILT:
                return lines.tell("spoilt")
    finally:
        between.close()
    return None


def _of_one_process(steps: Steps, arm: str, source: int, target: int) -> ArmResult:
    if arm == "local":
        return steps.local(source)
    if arm == "host":
        return steps.host(source)
    if arm == "staged":
        return steps.staged(source, target)
    return steps.pair(arm, source, target)


def _open_peers(gpus: Gpus, steps: Steps, together: Together, lines: Lines, numbers: tuple[int, ...]) -> None:
    """Each direction by itself: what one refuses says nothing of the other."""
    for one in range(gpus.count()):
        for other in range(gpus.count()):
            if one == other:
                continue
            lines.step("enable", "enable peer access", numbers[one], numbers[other], 8.0)
            try:
                steps.open_peer(one, other)
                together.open_peer(one, other)
            except DeviceFault as fault:
                lines.tell(
                    "refused", source=numbers[one], target=numbers[other], text=fault.line(), code=fault.code
                )


def _survey(gpus: Gpus, lines: Lines) -> None:
    count = gpus.count()
    seen = []
    for gpu in range(count):
        one = gpus.seen(gpu)
        seen.append({**one._asdict(), "utilisation": gpus.utilisation(gpu)})
    claims = []
    for source in range(count):
        for target in range(count):
            if source != target:
                answers = [gpus.can_access(source, target) for _ in range(_ASKED)]
                nvml = gpus.nvml_status(source, target)
                steady = len(set(answers)) == 1
                claims.append(
                    {"source": source, "target": target, "cuda": answers[0], "nvml": nvml, "steady": steady}
                )
    lines.tell("survey", gpus=seen, claims=claims, versions=dict(gpus.versions))


def _health(gpus: Gpus, lines: Lines, numbers: tuple[int, ...]) -> None:
    """Whether a small allocation still works, and nothing is at work any more."""
    from ladder_backends.gpu_calls.tally import Expected
    from ladder_backends.gpu_calls.words import Stuff

    for gpu, number in enumerate(numbers):
        lines.step("health", "allocate and fill", number, number, 8.0)
        buffer = gpus.allocate(gpu, 1 << 20)
        stuff = Stuff(source=number, target=number)
        gpus.fill(gpu, buffer, stuff)
        right = gpus.check(gpu, buffer, Expected(0, buffer.size, stuff, stuff)).right
        gpus.free(buffer)
        lines.tell("health", gpu=number, right=right, utilisation=gpus.utilisation(gpu))


if __name__ == "__main__":
    sys.exit(main())
