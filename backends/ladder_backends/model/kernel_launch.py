"""How the kernel of the focused lane was launched, and what the lane was doing when it stopped."""

from __future__ import annotations

from dataclasses import dataclass

from ladder_backends.model.frame import Place
from ladder_backends.model.grid import Kernel
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import Variable


@dataclass(frozen=True, slots=True)
class LaneException:
    """A hardware exception.

    Attributes:
        number: The n of `CUDA_EXCEPTION_n`, or None where only its name was told.
        name: The engine's words: `Warp Misaligned Address`.
        meaning: What happened, in one sentence; empty for one that is not known here.
        remedy: What helps to find it.
        exact: `lane`, `warp` or `device`: how exactly it is told who raised it.
    """

    number: int | None
    name: str
    meaning: str = ""
    remedy: str = ""
    exact: str = ""


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """A launch, as far as the engine tells of it; None where it does not.

    Attributes:
        kernel: With its dimensions.
        arguments: Of the kernel itself, the outermost frame of a lane.
        shared: Bytes of shared memory of each block, of both kinds and what the system keeps.
        dynamic: Bytes of shared memory that the launch asked for beside what the kernel declares.
        registers: Of each thread.
        error_counter: Address of the instruction that raised an exception, or an empty string.
        error_symbol: The function it lies in with its offset, or an empty string.
        error_place: Its line, where that was told.
        exception: The one the focused lane stands at, or None.
        debug: What it was compiled with: `full`, `lines`, `none`; or an empty string where that is not known.
        build: Who compiled it and which flags tell more, in one sentence; or an empty string.
    """

    kernel: Kernel
    arguments: tuple[Variable, ...] = ()
    shared: int | None = None
    dynamic: int | None = None
    registers: int | None = None
    error_counter: str = ""
    error_symbol: str = ""
    error_place: Place | None = None
    exception: LaneException | None = None
    debug: str = ""
    build: str = ""
    provenance: Provenance = Provenance.ENGINE
