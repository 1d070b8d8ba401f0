"""Python frames: who runs Python, what py-spy and py-bt tell of it, and where that belongs in a native stack.

`snapshot(pid)` needs no debugger: it reads memory, stops nothing, and costs the process nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ladder_backends.exports import on_demand

if TYPE_CHECKING:
    from ladder_backends.python_frames.detect import Interpreter, interpreter_of
    from ladder_backends.python_frames.reasons import PythonUnreadable
    from ladder_backends.python_frames.spy import COST, find_py_spy, snapshot, snapshot_of_core
    from ladder_backends.python_frames.weaving import weave
else:
    __getattr__ = on_demand(
        __name__,
        detect="Interpreter interpreter_of",
        reasons="PythonUnreadable",
        spy="COST find_py_spy snapshot snapshot_of_core",
        weaving="weave",
    )

__all__ = [
    "COST",
    "Interpreter",
    "PythonUnreadable",
    "find_py_spy",
    "interpreter_of",
    "snapshot",
    "snapshot_of_core",
    "weave",
]
