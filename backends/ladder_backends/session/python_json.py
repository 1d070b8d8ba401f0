"""A woven stack for machines and for people, without a screen.

`await session.python.look()` reads it; then `woven_json(session.state)` and `woven_lines(session.state)` tell it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ladder_backends.model.frame import Frame
from ladder_backends.model.python_stack import PythonRow

if TYPE_CHECKING:
    from ladder_backends.model.python_stack import PythonSnapshot
    from ladder_backends.session.state import DebugState


def woven_json(state: DebugState) -> dict[str, object] | None:
    """The thread's stack with its Python frames, or None where there are none and could be none.

    `rows` are innermost first, of three kinds: `python` (`function`, `file`, `line`, `level` of the native frame
    that runs it or null, `gil`), `native` (`level`, to be found in the session's `frames`), and `interpreter`
    (`levels`, the first and the last of those folded). `why` says why there are no rows; `exact` is false where the
    places of the Python frames are in doubt.
    """
    told = state.python
    if told.woven is None:
        return {"source": None, "exact": False, "why": told.why, "rows": []} if told.why else None
    rows: list[dict[str, object]] = []
    for row in told.woven.rows:
        if isinstance(row, Frame):
            rows.append({"kind": "native", "level": row.level})
        elif isinstance(row, PythonRow):
            rows.append({**_frame_json(row), "gil": row.owns_gil})
        else:
            rows.append({"kind": "interpreter", "levels": [row.frames[0].level, row.frames[-1].level]})
    return {"source": told.source, "exact": told.woven.exact, "why": "", "rows": rows}


def _frame_json(row: PythonRow) -> dict[str, object]:
    frame = row.frame
    return {
        "kind": "python",
        "function": frame.function,
        "file": frame.file,
        "line": frame.line or None,
        "level": row.level if row.level >= 0 else None,
    }


def woven_lines(state: DebugState) -> Iterator[str]:
    """The Python frames for a person, as in a traceback but innermost first; why there are none."""
    told = state.python
    if told.woven is None:
        if told.why:
            yield f"no Python frames: {told.why}"
        return
    yield f"Python frames, by {told.source}:"
    for row in told.woven.rows:
        if isinstance(row, PythonRow):
            above = f" above #{row.level}" if row.level >= 0 else ""
            gil = "  (holds the interpreter lock)" if row.owns_gil else ""
            yield f"py     {row.frame.function} at {row.frame.file}:{row.frame.line or '?'}{above}{gil}"


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
