"""Who compiled a kernel, as far as its name, its source and the program tell, and how to have it tell more."""

from __future__ import annotations

import re
from typing import NamedTuple

from ladder_backends.images import DebugInformation

_PYTHON_SOURCE = re.compile(r"\.py\Z")
_TRITON_NAME = re.compile(r"_0d1d|_\d+c?d?e?\d*d\Z")
_INDUCTOR_NAME = re.compile(r"\Atriton_(poi|red|per|tem|for|spl|mm)_")
_INDUCTOR_SOURCE = re.compile(r"torchinductor|/inductor/|output_code")
_NUMBA_NAME = re.compile(r"cudapy|B\d+v\d+B")
_RUNTIME_SOURCE = re.compile(r"default_program|\.cubin\.cu\Z|nvrtc|<program source>|cupy", re.IGNORECASE)
_TORCH_NAME = re.compile(r"\A_ZN2at|\A_ZN3c10|\A(?:void )?at::(native|cuda)::")
_EXTENSION = re.compile(r"torch_extensions|\.cpython-")
_INTERPRETER = re.compile(r"(?:\A|/)python[\d.]*\Z")
_NVCC_SOURCES = (".cu", ".cuh", ".h", ".hpp", ".cpp")


class ToolChain(NamedTuple):
    """A compiler, and what it needs to be told.

    Attributes:
        name: What people call it.
        lines: How to have lines of source.
        variables: How to have variables besides; empty where there is no way.
    """

    name: str
    lines: str
    variables: str


NVCC = ToolChain("", "rebuild with -lineinfo", "rebuild with -G")
TRITON = ToolChain("Triton", "set TRITON_DISABLE_LINE_INFO=0 and clear ~/.triton/cache", "")
INDUCTOR = ToolChain("torch.compile", "set TRITON_DISABLE_LINE_INFO=0 and TORCH_COMPILE_DEBUG=1", "")
NUMBA = ToolChain("Numba", "@cuda.jit(lineinfo=True)", "@cuda.jit(debug=True, opt=False)")
RUNTIME = ToolChain("NVRTC", 'compile with options=("-lineinfo",)', 'compile with options=("-G",)')
TORCH = ToolChain("PyTorch itself", "build PyTorch from source with -lineinfo", "")
EXTENSION = ToolChain("nvcc for a PyTorch extension", 'extra_cuda_cflags=["-lineinfo"]', 'extra_cuda_cflags=["-G"]')
RAW = ToolChain(
    "CuPy, NVRTC or Triton",
    'RawKernel(..., options=("-lineinfo",)), or TRITON_DISABLE_LINE_INFO=0',
    'RawKernel(..., options=("-G",))',
)


def tool_chain_of(symbol: str, source: str, program: str) -> ToolChain:
    """Who compiled a kernel.

    Args:
        symbol: Its name, mangled where that is known.
        source: The file of its lines, or an empty string.
        program: Path of the host program, or an empty string.
    """
    if _INDUCTOR_NAME.search(symbol) or _INDUCTOR_SOURCE.search(source):
        return INDUCTOR
    if _NUMBA_NAME.search(symbol):
        return NUMBA
    if _PYTHON_SOURCE.search(source) or _TRITON_NAME.search(symbol):
        return TRITON
    if _EXTENSION.search(source) or _EXTENSION.search(program):
        return EXTENSION
    if _TORCH_NAME.search(symbol):
        return TORCH
    if _RUNTIME_SOURCE.search(source):
        return RUNTIME
    if _INTERPRETER.search(program) and not symbol.startswith("_Z") and not source.endswith(_NVCC_SOURCES):
        # A plain name in a program of Python: a raw kernel, or one of Triton without lines.
        return RAW
    return NVCC


def build_words(chain: ToolChain, debug: DebugInformation | None, *, lines: bool = True) -> str:
    """What a kernel was compiled with, and what would tell more, in one sentence; nothing where all is there.

    Args:
        chain: Who compiled it.
        debug: What with, or None where only the engine can tell.
        lines: The engine tells a line of source.
    """
    if debug is DebugInformation.FULL:
        return ""
    by = f" by {chain.name}" if chain.name else ""
    more = chain.variables or f"{chain.name} usually writes none"
    if debug is DebugInformation.LINES:
        return f"compiled{by} with {'lines' if by else '-lineinfo'} only: no locals; {more}"
    if debug is DebugInformation.NONE or not lines:
        both = f"{chain.lines} or -G" if chain is NVCC else chain.lines
        return f"compiled{by} without line information: no source, no locals; {both}"
    return f"no locals: there are none here, or it was compiled{by} with lines only; {more}"
