"""Numbers no machine counts to, in every place where a report has one: nothing fails, no finding is lost."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ladder_backends.sanitizer import headline, read_report, report_json
from ladder_backends.sanitizer.exporting import exported

REPORTS = Path(__file__).parent / "reports"
FILES = sorted(path for path in REPORTS.rglob("*") if path.suffix in (".log", ".txt", ".xml"))


@pytest.mark.parametrize("put", [lambda _: "9" * 5000, lambda _: "²", lambda match: f"{match[0]}²"])
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_it_is_read_and_written(tmp_path: Path, file: Path, put: object) -> None:
    text = file.read_bytes()[:20_000].decode("utf-8", "replace")
    absurd = tmp_path / file.name
    absurd.write_text(re.sub(r"(?<![\w=])\d+", put, text))  # type: ignore[call-overload]
    before, after = tmp_path / f"plain-{file.name}", absurd
    before.write_text(text)
    plain, report = read_report([before]), read_report([after])
    assert bool(report.findings) >= bool(plain.findings)
    assert headline(report)
    json.dumps(report_json(report))
    for form in ("json", "markdown", "sarif"):
        assert "".join(exported(report, form, version="1"))
