"""A woven stack for machines and for people, without a screen.

`await session.python.look()` reads it; then `woven_json(session.state)` tells it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ladder_backends.model.frame import Frame
from ladder_backends.model.python_stack import PythonRow

if TYPE_CHECKING:
    from ladder_backends.model.python_stack import PythonSnapshot, WovenStack
    from ladder_backends.session.state import DebugState


def woven_json(state: DebugState) -> dict[str, object] | None:
    """The thread's stack with its Python frames, or None where there are none and could be none."""
    told = state.python
    return rows_json(told.woven, told.source, told.why) if told.woven is not None or told.why else None


def rows_json(woven: WovenStack | None, source: str, why: str = "") -> dict[str, object]:
    """A woven stack, or why there is none.

    `rows` are innermost first, of three kinds: `python` (`function`, `file`, `line`, `level` of the native frame
    that runs it or null, `gil`), `native` (`level`, to be found in the stack's `frames`), and `interpreter`
    (`levels`, the first and the last of those folded). `why` says why there are no rows; `exact` is false where the
    places of the Python frames are in doubt.
    """
    if woven is None:
        return {"source": None, "exact": False, "why": why, "rows": []}
    rows: list[dict[str, object]] = []
    for row in woven.rows:
        if isinstance(row, Frame):
            rows.append({"kind": "native", "level": row.level})
        elif isinstance(row, PythonRow):
            rows.append({**_frame_json(row), "gil": row.owns_gil})
        else:
            rows.append({"kind": "interpreter", "levels": [row.frames[0].level, row.frames[-1].level]})
    return {"source": source, "exact": woven.exact, "why": "", "rows": rows}


def _frame_json(row: PythonRow) -> dict[str, object]:
    frame = row.frame
    return {
        "kind": "python",
        "function": frame.function,
        "file": frame.file,
        "line": frame.line or None,
        "level": row.level if row.level >= 0 else None,
    }


def woven_lines(woven: WovenStack, native: Callable[[Frame], str]) -> Iterator[str]:
    """A woven stack for a person; `native` writes the frames that are not Python's."""
    for row in woven.rows:
        if isinstance(row, Frame):
            yield native(row)
        elif isinstance(row, PythonRow):
            gil = "  (holds the interpreter lock)" if row.owns_gil else ""
            yield f"py     {row.frame.function} at {row.frame.file}:{row.frame.line or '?'}{gil}"
        elif len(row.frames) == 1:
            yield f"       (#{row.frames[0].level}: interpreter)"
        else:
            yield f"       (#{row.frames[0].level} to #{row.frames[-1].level}: interpreter)"


def snapshot_json(snapshot: PythonSnapshot) -> dict[str, object]:
    """The Python threads of a process that no debugger holds."""
    return {
        "format": 1,
        "source": snapshot.source,
        "seconds": round(snapshot.seconds, 6),
        "threads": [
            {
                "name": thread.name,
                "os_thread": thread.os_thread,
                "pthread": hex(thread.pthread) if thread.pthread else None,
                "gil": thread.owns_gil,
                "frames": [
                    {"function": frame.function, "file": frame.file, "line": frame.line or None}
                    for frame in thread.frames
                ],
            }
            for thread in snapshot.threads
        ],
    }
