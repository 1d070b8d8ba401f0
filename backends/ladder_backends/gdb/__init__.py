"""gdb, and what all dialects of it share."""

from ladder_backends.gdb.debugger import GdbDebugger
from ladder_backends.gdb.dialect import GdbDialect, TransportFactory

__all__ = ["GdbDebugger", "GdbDialect", "TransportFactory"]
