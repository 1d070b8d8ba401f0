"""What facts are read through: files and the calls of NVML. Simulated machines stand behind the same two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NO_PERMISSION = 0, 1, 2, 3, 4
NOT_FOUND, DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, FUNCTION_NOT_FOUND = 6, 9, 12, 13
GPU_IS_LOST, LIB_RM_VERSION_MISMATCH, UNKNOWN = 15, 18, 999

NVML_WORDS: Mapping[int, str] = {
    UNINITIALIZED: "NVML is not initialised",
    INVALID_ARGUMENT: "NVML takes no such argument",
    NOT_SUPPORTED: "not supported here",
    NO_PERMISSION: "no permission",
    NOT_FOUND: "not found",
    DRIVER_NOT_LOADED: "the driver is not loaded",
    LIBRARY_NOT_FOUND: "libnvidia-ml.so.1 was not found",
    FUNCTION_NOT_FOUND: "this driver does not have the call",
    GPU_IS_LOST: "the GPU has fallen off the bus",
    LIB_RM_VERSION_MISMATCH: "driver and library are of different versions",
    UNKNOWN: "NVML does not say why",
}
"""NVML's error codes in words, as far as a reader meets them."""


Field: TypeAlias = "int | tuple[int, int]"
"""Number of a field of NVML, alone or with its scope: `(165, 3)` is the state of NVLink 3."""


class NvmlRefused(Exception):
    """NVML answered with an error code.

    Attributes:
        code: `nvmlReturn_t`.
    """

    def __init__(self, code: int, why: str = "") -> None:
        super().__init__(why or NVML_WORDS.get(code, f"NVML error {code}"))
        self.code = code

    @property
    def why(self) -> str:
        """The reason, a clause."""
        return str(self)


class Files(Protocol):
    """Reads `/proc`, `/sys` and `/dev`. Every call raises `OSError` as the system does."""

    def read(self, path: str) -> str:
        """The whole text of a small file."""
        ...

    def read_bytes(self, path: str, limit: int) -> bytes:
        """Up to `limit` bytes of a file."""
        ...

    def names(self, path: str) -> tuple[str, ...]:
        """What lies in a folder, sorted."""
        ...

    def real(self, path: str) -> str:
        """The path with all links followed; it has to exist."""
        ...

    def link(self, path: str) -> str:
        """What a link says, as it stands."""
        ...

    def exists(self, path: str) -> bool:
        """Whether there is anything."""
        ...

    def space(self, path: str) -> int:
        """Bytes of the file system that a folder lies on."""
        ...

    def environment(self) -> Mapping[str, str]:
        """Environment variables of the reader."""
        ...

    def package(self, name: str) -> str | None:
        """Version of a Python package beside this one; None where it is not installed."""
        ...

    def kernel_log(self) -> str:
        """The kernel's log since boot, as far as its buffer goes back."""
        ...


class Nvml(Protocol):
    """The calls of NVML by the names of its C functions, with plain values for answers.

    A GPU is its index. Structures are dicts of their members, times and sizes have the units of the C library.
    """

    def open(self) -> None:
        """Initialise.

        Raises:
            NvmlRefused: There is no library, no driver, or the two do not fit.
        """
        ...

    def ask(self, call: str, *arguments: int) -> Any:
        """One call.

        Raises:
            NvmlRefused: It was answered with an error code.
        """
        ...

    def fields(self, gpu: int, numbers: tuple[Field, ...]) -> dict[Field, int | float | NvmlRefused]:
        """Fields of a GPU in one call; each has a value or its own error. A scope is that of a link.

        Raises:
            NvmlRefused: The whole call failed.
        """
        ...

    def xids(self) -> list[tuple[int, int]]:
        """GPU and number of the Xids since it was last asked; none at first, nor where they are not told."""
        ...

    def close(self) -> None:
        """Let go of the library."""
        ...
