"""Where a value comes from. Nothing computed from a report may look as if an engine had said it."""

from __future__ import annotations

import enum


class Provenance(enum.StrEnum):
    """The source of a value on the screen or in JSON."""

    ENGINE = "engine"
    RECORDING = "recording"
    REPORT = "report"
