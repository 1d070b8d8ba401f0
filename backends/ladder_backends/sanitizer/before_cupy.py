"""Runs a Python script with CuPy's memory pools off: `python before_cupy.py SCRIPT ARGS...`.

Runs in the user's interpreter, not in the console's: nothing of this package is imported.
"""

import os
import runpy
import sys


def _run() -> None:
    script = sys.argv[1]
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        import cupy  # type: ignore[import-not-found]
    except ImportError:
        pass
    else:
        cupy.cuda.set_allocator(None)
        cupy.cuda.set_pinned_memory_allocator(None)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    _run()
