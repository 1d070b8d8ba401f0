"""Errors as the CUDA runtime tells them."""

from __future__ import annotations

_NAMES = {
    2: "cudaErrorMemoryAllocation: out of memory",
    35: "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version",
    46: "cudaErrorDevicesUnavailable: all CUDA-capable devices are busy or unavailable",
    100: "cudaErrorNoDevice: no CUDA-capable device is detected",
    700: "cudaErrorIllegalAddress: an illegal memory access was encountered",
    719: "cudaErrorLaunchFailure: unspecified launch failure",
    801: "cudaErrorNotSupported: operation not supported",
    802: "cudaErrorSystemNotReady: system not yet initialized",
    999: "cudaErrorUnknown: unknown error",
}


def error_text(code: int) -> str:
    """The number, and the runtime's own words where they are known."""
    name = _NAMES.get(code)
    return f"CUDA error {code}: {name}" if name else f"CUDA error {code}"
