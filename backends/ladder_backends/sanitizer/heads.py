"""First lines of records: what a record is about.

The forms are those of the tool's manual and of reports from cuda-memcheck 10 to Compute Sanitizer 2026.4.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from ladder_backends.sanitizer.draft import Head
from ladder_backends.sanitizer.fault_heads import (
    device_runtime_error,
    driver_log,
    fabric_error,
    failed_call,
    hardware_exception,
    managed_fault,
    tensor_memory,
)
from ladder_backends.sanitizer.memory_heads import (
    invalid_access,
    leak,
    stream_race,
    uninitialized_copy,
    uninitialized_read,
    unused_memory,
)
from ladder_backends.sanitizer.messages import known_message, marked_message
from ladder_backends.sanitizer.sync_heads import barrier_call, barrier_error, hazard, race

_SEVERITY = re.compile(r"(WARN(?:ING)?|ERROR|INFO|FATAL)\s*:\s*", re.IGNORECASE)
_LONGEST = 8192

Form: TypeAlias = Callable[[str, str], "Head | None"]
"""Reads a first line without its severity, and the severity; None where the line is of another form."""

_BY_WORD: dict[str, tuple[Form, ...]] = {
    "Invalid": (invalid_access, tensor_memory, hardware_exception),
    "Potential": (invalid_access, hazard, hardware_exception),
    "Uninitialized": (uninitialized_read,),
    "Host": (uninitialized_copy,),
    "Unused": (unused_memory,),
    "Race": (race,),
    "Program": (failed_call,),
    "Leaked": (leak,),
    "Fatal": (managed_fault,),
    "Deadlock": (barrier_call,),
    "Barrier": (barrier_error, barrier_call),
    "CUDA": (driver_log, barrier_call, barrier_error, device_runtime_error),
}
"""Forms by the first word: a new form of record goes here, or to the forms below when its first word varies."""

_ANY_WORD: tuple[Form, ...] = (
    hazard,
    stream_race,
    barrier_call,
    device_runtime_error,
    barrier_error,
    tensor_memory,
    hardware_exception,
    fabric_error,
)


def parse_head(body: str) -> Head | None:
    """Read the first line of a record, its prefix cut off.

    Returns:
        None for a line of no known form.
    """
    body = body.strip()
    if len(body) > _LONGEST and " access at " not in body[:80]:
        body = body[:_LONGEST]
    severity, rest = "error", body
    marked = _SEVERITY.match(body)
    if marked is not None:
        word = marked[1].upper()
        severity = "warning" if word.startswith("WARN") else "info" if word == "INFO" else "error"
        rest = body[marked.end() :]
    word, _, _ = rest.partition(" ")
    for form in _BY_WORD.get(word, ()):
        head = form(rest, severity)
        if head is not None:
            return head
    message = known_message(rest, severity if marked is not None else "")
    if message is not None:
        return message
    for form in _ANY_WORD:
        head = form(rest, severity)
        if head is not None:
            return head
    return marked_message(rest, severity) if marked is not None else None
