from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ladder_backends.model.finding import Finding, Report
from ladder_backends.sanitizer import TextReportReader

REPORTS = Path(__file__).parent / "reports"


@pytest.fixture(scope="session")
def reports() -> Path:
    """Captured and retyped reports: `cases` with index.tsv, `logs`, `xml`."""
    return REPORTS


def read_text(text: str | bytes, chunk: int = 0, status: int | None = None) -> Report:
    """A text report, fed whole or in chunks."""
    raw = text.encode() if isinstance(text, str) else text
    reader = TextReportReader()
    for start in range(0, len(raw), chunk or len(raw) or 1):
        reader.feed(raw[start : start + (chunk or len(raw))])
    reader.finish(status)
    return reader.report


@pytest.fixture
def read() -> Callable[..., Report]:
    """Reads the text of a report."""
    return read_text


@pytest.fixture
def one() -> Callable[[str], Finding]:
    """Reads a report of exactly one finding, all lines of it known."""

    def read_one(text: str) -> Finding:
        report = read_text(text)
        assert report.unknown_lines == 0
        assert len(report.findings) == 1
        return report.findings[0]

    return read_one
