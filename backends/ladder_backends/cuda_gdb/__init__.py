"""cuda-gdb on GPU core dumps."""

from ladder_backends.cuda_gdb.debugger import CudaGdbDebugger

__all__ = ["CudaGdbDebugger"]
