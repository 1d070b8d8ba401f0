"""Which calls the tests run on: those of CUDA through CuPy, or those of a simulated machine."""

from __future__ import annotations

import contextlib
import importlib
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from ladder_backends.gpu_calls.gpus import Gpus


def load_layer(layer: Mapping[str, object]) -> None:
    """Load what takes long and touches no GPU; what is missing is told when the layer is opened."""
    if layer["kind"] == "simulated":
        from ladder_backends.simulator.machine import load

        time.sleep(load(str(layer["machine"])).times.start)
        return
    for name in ("cupy", "pynvml"):
        # Libraries warn of what they lack, and break in ways of their own.
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(name)


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
