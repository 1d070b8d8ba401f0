"""Reasons of stops that are ours: engines tell of these in words alone, or not at all."""

from __future__ import annotations

NO_HISTORY = "no-history"
"""A recorded execution was run to one of its ends."""

UNRECORDABLE = "unrecordable"
"""The next instruction cannot be recorded."""

RECORDED_EXIT = "recorded-exit"
"""The program is about to exit, and its recording with it."""

PROCESS_ENDED = "process-ended"
"""One process of several has ended; the others stand."""

KERNEL_ENTRY = "kernel-entry"
"""A kernel was launched: it stands on its first instruction."""

API_FAILURE = "api-failure"
"""A call of the GPU's driver has failed."""
