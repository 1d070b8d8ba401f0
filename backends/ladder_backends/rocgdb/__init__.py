"""ROCgdb: waves are threads of gdb, work-items are their lanes."""

from ladder_backends.rocgdb.debugger import RocgdbDebugger

__all__ = ["RocgdbDebugger"]
