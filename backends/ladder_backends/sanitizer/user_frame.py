"""Whose frame is it: the user's, CUDA's, or an interpreter's?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ladder_backends.model.finding import CodeLocation
from ladder_backends.model.frame import file_name

_CUDA_FUNCTION = re.compile(
    r"(?:cudaError(?:_enum)? )?(?:cu[A-Z]\w*|cuda[A-Z]\w*(?:<.*)?|__cuda\w*|__cudart\w*|libcudart\w*"
    r"|__device_stub_\w*)"
    r"(?:\(.*)?$"
)
_API = re.compile(r"(?:cudaError(?:_enum)? )?(cu(?:da)?[A-Z]\w*)")
_CUDA_FILE = re.compile(
    r"(?:cuda_runtime(?:_api)?\.h|device_functions\.h\w*|.*\.cudafe1\.\w+(?:\.c)?|driver_types\.h|cuda_device_runtime\S*)$"
)
_CUDA_MODULE = re.compile(r"(?:.*[\\/])?(?:libcuda|libcudart|nvcuda|cudart|libnvrtc)[\w.-]*$")
_RUNTIME_MODULE = re.compile(
    r"(?:.*[\\/])?(?:libc|libpthread|libstdc\+\+|ld-linux|kernel32|ntdll|ucrtbase)[\w.+-]*$"
)
_INTERPRETER_MODULE = re.compile(
    r"(?:.*[\\/])?(?:(?:lib)?python[\d.]*(?:\.so[\d.]*|\.exe|\.dll)?|libjulia[\w.-]*)$"
)
_INTERPRETER_FUNCTION = re.compile(r"_?Py[A-Z_]\w*$|jl_\w+$")
_LIBRARY_PATH = re.compile(r"[\\/](?:site|dist)-packages[\\/]|[\\/]lib[\\/]python\d|^<frozen ")
_LIBRARY_NAME = frozenset(
    {
        "autotuner.py",
        "driver.py",
        "jit.py",
        "runtime.py",
        "_ops.py",
        "_tensor.py",
        "module.py",
        "function.py",
        "functional.py",
        "compiler.py",
        "dispatcher.py",
        "devices.py",
        "eval_frame.py",
        "__init__.py",
    }
)
_START = frozenset(
    {"_start", "__libc_start_main", "__libc_start_call_main", "BaseThreadInitThunk", "RtlUserThreadStart"}
)


def is_cuda(frame: CodeLocation) -> bool:
    """Whether a host frame belongs to CUDA itself: driver, runtime, launch stub or their headers."""
    if _CUDA_MODULE.match(frame.module) or (frame.file and _CUDA_FILE.match(file_name(frame.file))):
        return True
    return bool(frame.function) and _CUDA_FUNCTION.match(frame.function) is not None


def is_start(frame: CodeLocation) -> bool:
    """Whether a host frame is one that comes before `main`."""
    return frame.function in _START


def is_interpreter(frame: CodeLocation) -> bool:
    """Whether a host frame belongs to the insides of Python or Julia."""
    return (
        _INTERPRETER_MODULE.match(frame.module) is not None
        or _INTERPRETER_FUNCTION.match(frame.function) is not None
    )


def is_runtime(frame: CodeLocation) -> bool:
    """Whether a host frame belongs to the C library or to an interpreter."""
    return frame.function in _START or _RUNTIME_MODULE.match(frame.module) is not None or is_interpreter(frame)


def api_of(frames: Sequence[CodeLocation]) -> str:
    """The CUDA call a host stack was in, as the program made it (`cudaMalloc` rather than `cuMemAlloc_v2`)."""
    name = ""
    for frame in frames:
        if not is_cuda(frame):
            if frame.function or frame.file:
                break
            continue
        match = _API.match(frame.function)
        if match is not None and not frame.function.startswith("cudaError "):
            name = match[1]
    return name


def user_frame(frames: Sequence[CodeLocation]) -> CodeLocation | None:
    """The innermost frame a person wrote, as far as names and paths tell; None where no frame qualifies.

    In stacks of Python programs the Python frames follow the native ones.
    """
    python = [frame for frame in frames if frame.file.endswith(".py")]
    if python:
        for frame in python:
            if not _LIBRARY_PATH.search(frame.file) and (
                "/" in frame.file or "\\" in frame.file or frame.file not in _LIBRARY_NAME
            ):
                return frame
        return python[-1]
    fallback = None
    for frame in frames:
        if is_cuda(frame) or is_runtime(frame):
            continue
        if frame.file:
            return frame
        if fallback is None and frame.function:
            fallback = frame
    return fallback
