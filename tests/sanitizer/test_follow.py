"""A report that is read while the tool writes it."""

from __future__ import annotations

from pathlib import Path

from ladder_backends.model.finding import Report
from ladder_backends.sanitizer import read_report
from ladder_backends.sanitizer.follow import SLICE, ReportFollower

LOG = Path(__file__).parent / "reports" / "logs" / "memcheck-oob.log"


def same(one: Report, other: Report) -> bool:
    return (one.findings, one.ran, one.complete, one.reason, one.summary) == (
        other.findings,
        other.ran,
        other.complete,
        other.reason,
        other.summary,
    )


def test_findings_arrive_as_they_are_written(tmp_path: Path) -> None:
    raw = LOG.read_bytes()
    path = tmp_path / "memcheck.log"
    path.write_bytes(b"")
    follower = ReportFollower(path)
    counts = []
    for start in range(0, len(raw), 1000):
        with path.open("ab") as log:
            log.write(raw[start : start + 1000])
        assert follower.has_more()
        assert follower.read_more()
        assert not follower.has_more()
        counts.append(len(follower.report.findings))
        if start + 1000 < len(raw):
            assert (follower.report.complete, follower.report.reason) == (False, None)
    assert counts == sorted(counts)
    assert len(set(counts)) > 10
    assert same(follower.report, read_report(LOG))


def test_a_run_that_begins_the_file_anew(tmp_path: Path) -> None:
    path = tmp_path / "memcheck.log"
    path.write_bytes(LOG.read_bytes())
    follower = ReportFollower(path)
    follower.read_more()
    first = follower.report
    path.write_bytes(LOG.read_bytes()[:3000])
    assert follower.read_more()
    assert follower.report is not first
    assert 0 < len(follower.report.findings) < 24


def test_a_file_that_is_away_for_a_while(tmp_path: Path) -> None:
    path = tmp_path / "memcheck.log"
    follower = ReportFollower(path)
    assert not follower.has_more()
    assert not follower.read_more()
    path.write_bytes(LOG.read_bytes())
    assert follower.read_more()
    assert len(follower.report.findings) == 24


def test_what_comes_after_a_summary_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "memcheck.log"
    path.write_bytes(LOG.read_bytes())
    follower = ReportFollower(path)
    follower.read_more()
    assert follower.report.complete
    with path.open("ab") as log:
        log.write(LOG.read_bytes())
    assert follower.read_more()
    assert same(follower.report, read_report(path))
    assert len(follower.report.findings) == 48


def test_a_file_of_several_runs_is_read_once_to_its_end(tmp_path: Path) -> None:
    raw = LOG.read_bytes()
    path = tmp_path / "memcheck.log"
    # The first run's summary is the last line of the first slice.
    path.write_bytes(b"." * (SLICE - len(raw) - 1) + b"\n" + raw + raw)
    follower = ReportFollower(path)
    first = follower.report
    slices = 0
    while chunk := follower.fetch():
        follower.take(chunk)
        slices += 1
        assert slices < 4
    assert follower.report is not first or slices == 2
    assert same(follower.report, read_report(path))
    assert follower.fetch() == b""
