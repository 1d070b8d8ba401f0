"""What a sweep over pairs of GPUs is to do, and why it may refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ladder_backends.errors import LadderError
from ladder_backends.model.p2p import GpuReport
from ladder_backends.p2p.arms import CAP, Depth
from ladder_backends.p2p.worker_process import Patience

REAL: Mapping[str, object] = {"kind": "cupy"}


class BusyGpus(LadderError):
    """GPUs that somebody uses, and nobody said that they may be tested.

    Attributes:
        gpus: Their numbers.
    """

    def __init__(self, gpus: tuple[GpuReport, ...]) -> None:
        shown = ", ".join(f"GPU{gpu.index} ({gpu.busy})" for gpu in gpus)
        super().__init__(
            "GPUs are in use", shown, "--yes tests them all the same, --gpus takes others; a test slows them down"
        )
        self.gpus = tuple(gpu.index for gpu in gpus)


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be swept.

    Attributes:
        layer: Where the calls go: `REAL`, or a simulated machine.
        simulated: Title of that machine.
        only: Numbers of the GPUs, or empty for all.
        busy_too: GPUs in use may be tested.
        cap: Bytes of one buffer.
        soak: Seconds of the soak.
        asked: Arms that no depth runs by itself.
    """

    layer: Mapping[str, object] = field(default_factory=lambda: REAL)
    simulated: str = ""
    depth: Depth = Depth.QUICK
    only: tuple[int, ...] = ()
    busy_too: bool = False
    cap: int = CAP
    soak: float = 60.0
    asked: tuple[str, ...] = ()
    patience: Patience = field(default_factory=Patience)
