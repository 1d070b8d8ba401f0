"""What the calls on real GPUs share: CuPy's runtime, streams, kernels, and failures that become ours."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

from ladder_backends.gpu_calls.gpus import Buffer, DeviceFault
from ladder_backends.gpu_calls.words import WORD
from ladder_backends.p2p import nccl_source
from ladder_backends.p2p.cuda_kernels import COUNTERS, SOURCE
from ladder_backends.p2p.cupy_values import pointer, typed, version_text
from ladder_backends.p2p.gpu_facts import GpuFacts

INSTALL = "install it with ladder-tui[cuda12] or ladder-tui[cuda13], as nvidia-smi names the driver's CUDA"

_BLOCK, _GRID = 256, 1024


class CupyCalls:
    """The GPUs that CUDA shows this process, in its order.

    Raises:
        DeviceFault: CuPy is missing, or CUDA does not start.
    """

    def __init__(self) -> None:
        try:
            # By name: there are none of them, nor their types, where this is developed and checked.
            self._cupy: Any = importlib.import_module("cupy")
            self._numpy: Any = importlib.import_module("numpy")
        except ImportError as error:
            raise DeviceFault("CuPy is not installed", 0, str(error), INSTALL) from None
        self._runtime: Any = self._cupy.cuda.runtime
        self._kernels: dict[tuple[int, str], Any] = {}
        self._modules: dict[int, Any] = {}
        self._streams: dict[int, Any] = {}
        self._clean: dict[int, int] = {}
        with self._calls("CUDA does not start"):
            self._count = int(self._runtime.getDeviceCount())
            driver, runtime = self._runtime.driverGetVersion(), self._runtime.runtimeGetVersion()
        self._facts = GpuFacts(self._bus(gpu) for gpu in range(self._count))
        self.versions = {
            "cuda": version_text(runtime),
            "cuda of the driver": version_text(driver),
            "cupy": str(self._cupy.__version__),
            **self._facts.versions(),
        }
        self.versions.update(nccl_source.versions())

    def allocate(self, gpu: int, size: int) -> Buffer:
        """Plain device memory of its own."""
        self._use(gpu)
        with self._calls("memory cannot be allocated"):
            return Buffer(gpu, size, int(self._runtime.malloc(size)))

    def free(self, buffer: Buffer) -> None:
        """Give it back."""
        self._use(buffer.gpu)
        with self._calls("memory cannot be given back"):
            self._runtime.free(buffer.token)

    # Below -----------------------------------------------------------------------------------------------------

    def _use(self, gpu: int) -> None:
        with self._calls(f"CUDA does not start on GPU {gpu}"):
            self._runtime.setDevice(gpu)

    def _sync(self, *gpus: int) -> None:
        for gpu in dict.fromkeys(gpus):
            if gpu < 0:
                # A GPU of the other process alone: it looks itself.
                continue
            self._use(gpu)
            with self._calls("a GPU reports an error"):
                self._runtime.deviceSynchronize()

    def _stream(self, gpu: int) -> Any:
        if gpu not in self._streams:
            self._use(gpu)
            self._streams[gpu] = self._cupy.cuda.Stream(non_blocking=True)
        return self._streams[gpu]

    def _counters(self, gpu: int) -> int:
        if gpu not in self._clean:
            self._clean[gpu] = pointer(self.allocate(gpu, COUNTERS * WORD))
        self._use(gpu)
        return self._clean[gpu]

    def _kernel(self, gpu: int, name: str) -> Any:
        key = (gpu, name)
        if key not in self._kernels:
            self._use(gpu)
            with self._calls("a kernel cannot be compiled"):
                if gpu not in self._modules:
                    self._modules[gpu] = self._cupy.RawModule(code=SOURCE, options=("-std=c++14",))
                self._kernels[key] = self._modules[gpu].get_function(name)
        return self._kernels[key]

    def _launch(self, by: int, name: str, count: int, *arguments: int, single: bool = False) -> None:
        """Launch over `count` elements; arguments are 64 bits wide, modes and 32-bit sums narrower."""
        numpy = self._numpy
        kernel = self._kernel(by, name)
        given = [typed(numpy, name, place, value) for place, value in enumerate(arguments)]
        blocks = 1 if single else max(1, min(_GRID, (count + _BLOCK - 1) // _BLOCK))
        self._use(by)
        with self._calls("a kernel cannot be launched"), self._stream(by):
            kernel((blocks,), (1 if single else _BLOCK,), tuple(given))

    def _bus(self, gpu: int) -> str:
        with self._calls("a GPU does not say where it is"):
            found = self._runtime.deviceGetPCIBusId(gpu)
        text = found.decode("ascii", "replace") if isinstance(found, bytes) else str(found)
        return text.strip("\0").lower()

    @contextlib.contextmanager
    def _calls(self, what: str) -> Iterator[None]:
        """Failures of CUDA become ours."""
        try:
            yield
        except DeviceFault:
            raise
        except (OSError, ImportError, RuntimeError) as error:
            raise self._fault(what, error) from None
        except Exception as error:
            # CuPy wraps what its compiler says in exceptions of its own.
            if type(error).__module__.split(".")[0] not in ("cupy", "cupy_backends"):
                raise
            raise self._fault(what, error) from None

    def _fault(self, what: str, error: BaseException) -> DeviceFault:
        code = getattr(error, "status", 0)
        text = " ".join(str(error).split())[:300]
        remedy = ""
        if code in (35, 100, 999):
            remedy = "check nvidia-smi; in a container, start it with the GPUs (--gpus all)"
        return DeviceFault(what, int(code) if isinstance(code, int) else 0, text, remedy)
