"""Which calls the tests run on: those of CUDA through CuPy, or those of a simulated machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ladder_backends.gpu_calls.gpus import Gpus


def open_layer(layer: Mapping[str, object], gpus: Sequence[int] | None) -> Gpus:
    """The calls on some GPUs of the machine; on all of them where None.

    Args:
        layer: `{"kind": "cupy"}`, or `{"kind": "simulated", "machine": file, "state": folder}`.
        gpus: Numbers; a real process sees the GPUs that its CUDA_VISIBLE_DEVICES names, in that order.

    Raises:
        DeviceFault: There is no CUDA device, or no CuPy.
    """
    if layer["kind"] == "simulated":
        from ladder_backends.simulator.gpus import SimulatedGpus
        from ladder_backends.simulator.machine import load

        machine = load(str(layer["machine"]))
        numbers = range(len(machine.gpus)) if gpus is None else gpus
        return SimulatedGpus(machine, numbers, Path(str(layer["state"])), dict(os.environ))
    from ladder_backends.p2p.cupy_gpus import CupyGpus

    return CupyGpus()
