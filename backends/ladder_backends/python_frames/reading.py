"""From what `py-spy dump --json` writes (0.3.12 to 0.4) to the model. Everything that leaves here is clean."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ladder_backends.model.python_stack import PythonFrame, PythonThread
from ladder_backends.model.variable import Variable
from ladder_backends.text import clean_line

VALUE_LIMIT = 1_000
"""Characters of a value that are kept."""

_NAME_LIMIT = 500
_MOST_VARIABLES = 2_000
_MOST_THREADS = 10_000


def threads_of(document: str) -> tuple[PythonThread, ...]:
    """The threads of one dump.

    Raises:
        ValueError: It is not a dump.
    """
    told = json.loads(document)
    if not isinstance(told, list):
        raise ValueError("not a list of threads")
    return tuple(_thread(row) for row in list(_rows(told))[:_MOST_THREADS])


def _rows(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        for row in value:
            if isinstance(row, dict):
                yield row


def _text(value: Any, limit: int = _NAME_LIMIT) -> str:
    if not isinstance(value, str):
        return ""
    cut = value if len(value) <= limit else value[: limit - 1] + "…"
    return clean_line(cut)


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _thread(row: Mapping[str, Any]) -> PythonThread:
    return PythonThread(
        os_thread=_number(row.get("os_thread_id")),
        pthread=_number(row.get("thread_id")) or 0,
        name=_text(row.get("thread_name")),
        owns_gil=row.get("owns_gil") is True,
        frames=tuple(_frame(frame) for frame in _rows(row.get("frames"))),
    )


def _frame(row: Mapping[str, Any]) -> PythonFrame:
    variables = row.get("locals")
    # Releases before 0.4 tell of no entries: then each frame counts as run by a loop of its own.
    flags = [row.get(name) for name in ("is_entry", "is_shim_entry")]
    return PythonFrame(
        function=_text(row.get("name")) or "??",
        file=_text(row.get("filename"), 4_096),
        line=max(0, _number(row.get("line")) or 0),
        entry=any(flag is True for flag in flags) or all(flag is None for flag in flags),
        variables=_variables(variables) if isinstance(variables, list) else None,
    )


def _variables(rows: list[Any]) -> tuple[Variable, ...]:
    variables = []
    for row in list(_rows(rows))[:_MOST_VARIABLES]:
        raw = row.get("repr")
        value = _text(raw, VALUE_LIMIT)
        variables.append(
            Variable(
                name=_text(row.get("name")) or "?",
                value=value,
                is_argument=row.get("arg") is True,
                error="" if isinstance(raw, str) else "py-spy does not show values of this kind",
            )
        )
    return tuple(variables)
