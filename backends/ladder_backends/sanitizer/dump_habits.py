"""Tools that write no GPU core dump with the version and the driver of this machine, as their runs have shown.

Which they are differs from version to version and from driver to driver: with some, synccheck names lanes and
writes nothing. What one run has shown is not asked for again: a run that asks for a dump ends with its first error,
and here it has nothing for it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from ladder_backends.model.finding import LaneAnswer, Report

_DRIVER = Path("/sys/module/nvidia/version")


def driver_version() -> str:
    """`580.159`, or an empty string where no driver tells."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return _DRIVER.read_text().strip()[:40]
    return ""


class DumpHabits:
    """What the runs of one session have shown."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str, str]] = set()

    def without(self, version: str) -> frozenset[str]:
        """Tools that write no dump with a version of compute-sanitizer, and with the driver that is loaded."""
        here = (version, driver_version()) if self._seen else ()
        return frozenset(tool for tool, *versions in self._seen if tuple(versions) == here)

    def learn(self, tool: str, version: str) -> str:
        """Note that a run named lanes and wrote no dump though it was asked to; returns what to say of it."""
        driver = driver_version()
        self._seen.add((tool, version, driver))
        versions = f"compute-sanitizer {version}" + (f" with driver {driver}" if driver else "")
        return f"{tool} wrote no GPU core dump: {versions} writes none for it, and is not asked for one again"


def names_lanes(report: Report, tool: str) -> bool:
    """Whether a report holds lanes that a tool's dump should hold."""
    return any(one.tool == tool and one.lane is LaneAnswer.EXACT for one in report.findings)
