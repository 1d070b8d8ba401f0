"""NCCL, wherever this Python has it: CuPy's binding, the library itself, or the one that torch was built with.

Sums are made in this process over all of its GPUs, in place, on 32-bit words. The numbers of types and operations
are those of nccl.h, which has kept them since version 2.0.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ladder_backends.gpu_calls.gpus import DeviceFault

NO_NCCL = -1
"""Code of the fault where there is no NCCL."""

_UINT32, _SUM = 3, 0
_LIBRARY = "libnccl.so.2"

Use = Callable[[int], None]
"""Makes a GPU the current one, or waits for it."""


def versions() -> dict[str, str]:
    """The version of NCCL and where it comes from; torch is not asked, its import takes seconds."""
    found = _of_cupy() or _of_library()
    if found is None:
        return {}
    with contextlib.suppress(Exception):
        return {"nccl": version_text(found.version()), "nccl from": found.name}
    return {}


def version_text(number: int) -> str:
    """23001 as `2.30.1`; before 2.9 a number had a digit fewer."""
    if number < 10000:
        return f"{number // 1000}.{number // 100 % 10}.{number % 100}"
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def sum_up(
    gpus: Sequence[int], places: Sequence[int], words: int, streams: Sequence[int], use: Use, wait: Use
) -> str:
    """Sum `words` 32-bit words over the GPUs, each at its place; returns whose NCCL it was.

    Raises:
        DeviceFault: There is no NCCL (`NO_NCCL`), or it fails.
    """
    source = _of_cupy() or _of_library() or _of_torch()
    if source is None:
        raise DeviceFault(
            "NCCL is not there",
            NO_NCCL,
            "neither CuPy, nor a library of that name, nor torch has it",
            "install nvidia-nccl-cu12 (or -cu13) beside CuPy",
        )
    try:
        source.sum_up(gpus, places, words, streams, use)
        for gpu in gpus:
            wait(gpu)
        source.leave()
    except (RuntimeError, OSError, AttributeError) as error:
        raise DeviceFault("NCCL fails", 0, " ".join(str(error).split())[:300]) from None
    return source.name


class _OfCupy:
    """CuPy's binding."""

    name = "CuPy"

    def __init__(self, nccl: Any) -> None:
        self._nccl = nccl

    def version(self) -> int:
        return int(self._nccl.get_version())

    def sum_up(
        self, gpus: Sequence[int], places: Sequence[int], words: int, streams: Sequence[int], use: Use
    ) -> None:
        nccl = self._nccl
        groups = nccl.NcclCommunicator.initAll(list(gpus))
        nccl.groupStart()
        for group, gpu, place, stream in zip(groups, gpus, places, streams, strict=True):
            use(gpu)
            group.allReduce(place, place, words, nccl.NCCL_UINT32, nccl.NCCL_SUM, stream)
        nccl.groupEnd()
        self._groups = groups

    def leave(self) -> None:
        for group in self._groups:
            group.destroy()


class _OfLibrary:
    """The library itself, by its C names."""

    name = _LIBRARY

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        library.ncclGetErrorString.restype = ctypes.c_char_p
        library.ncclAllReduce.argtypes = [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]

    def version(self) -> int:
        number = ctypes.c_int()
        self._done(self._library.ncclGetVersion(ctypes.byref(number)))
        return number.value

    def sum_up(
        self, gpus: Sequence[int], places: Sequence[int], words: int, streams: Sequence[int], use: Use
    ) -> None:
        groups = (ctypes.c_void_p * len(gpus))()
        self._done(self._library.ncclCommInitAll(groups, len(gpus), (ctypes.c_int * len(gpus))(*gpus)))
        self._done(self._library.ncclGroupStart())
        for group, gpu, place, stream in zip(groups, gpus, places, streams, strict=True):
            use(gpu)
            self._done(
                self._library.ncclAllReduce(place, place, words, _UINT32, _SUM, group, ctypes.c_void_p(stream))
            )
        self._done(self._library.ncclGroupEnd())
        self._groups = groups

    def leave(self) -> None:
        for group in self._groups:
            self._done(self._library.ncclCommDestroy(ctypes.c_void_p(group)))

    def _done(self, status: int) -> None:
        if status:
            said = self._library.ncclGetErrorString(status) or b"an error"
            raise RuntimeError(f"{said.decode('utf-8', 'replace')} ({status})")


class _Words:
    """Memory as other libraries take it without a copy."""

    def __init__(self, place: int, words: int) -> None:
        self.__cuda_array_interface__ = {"shape": (words,), "typestr": "<i4", "data": (place, False), "version": 3}


class _OfTorch:
    """The NCCL that torch was built with."""

    name = "torch"

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def sum_up(
        self, gpus: Sequence[int], places: Sequence[int], words: int, streams: Sequence[int], use: Use
    ) -> None:
        torch = self._torch
        # Sums of words that wrap are the same with a sign and without.
        tensors = [
            torch.as_tensor(_Words(place, words), device=f"cuda:{gpu}")
            for gpu, place in zip(gpus, places, strict=True)
        ]
        torch.cuda.nccl.all_reduce(tensors)
        for gpu in gpus:
            torch.cuda.synchronize(gpu)

    def leave(self) -> None:
        """It keeps its communicators."""


def _of_cupy() -> _OfCupy | None:
    try:
        nccl: Any = importlib.import_module("cupy.cuda.nccl")
    except ImportError:
        return None
    return _OfCupy(nccl) if getattr(nccl, "available", True) else None


def _of_library() -> _OfLibrary | None:
    for path in (*_packaged(), _LIBRARY):
        with contextlib.suppress(OSError, AttributeError):
            return _OfLibrary(ctypes.CDLL(path))
    return None


def _packaged() -> tuple[str, ...]:
    """Where NVIDIA's own package has it."""
    try:
        found = importlib.util.find_spec("nvidia.nccl")
    except (ImportError, ValueError):
        return ()
    folders = (found.submodule_search_locations or ()) if found is not None else ()
    return tuple(str(path) for folder in folders if (path := Path(folder) / "lib" / _LIBRARY).is_file())


def _of_torch() -> _OfTorch | None:
    try:
        torch: Any = importlib.import_module("torch")
        importlib.import_module("torch.cuda.nccl")
    except (ImportError, OSError):
        return None
    return _OfTorch(torch) if torch.cuda.is_available() and torch.distributed.is_nccl_available() else None
