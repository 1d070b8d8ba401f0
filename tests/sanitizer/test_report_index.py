"""Every given report against the table that says what is in it."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from ladder_backends.model.finding import Finding
from ladder_backends.sanitizer import exit_code, finding_json, read_report, sniff

REPORTS = Path(__file__).parent / "reports"
CASES = REPORTS / "cases"
COLUMNS = ("kind", "access", "size", "space", "kernel", "src_file", "line", "block", "thread")
ALL_FILES = sorted([*CASES.glob("*.txt"), *(REPORTS / "logs").iterdir(), *(REPORTS / "xml").iterdir()])


def index() -> dict[str, list[dict[str, str]]]:
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    with (CASES / "index.tsv").open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
            rows[row["file"]].append(row)
    return dict(rows)


def cells(finding: Finding) -> dict[str, str]:
    def text(value: object) -> str:
        if isinstance(value, tuple):
            return "(" + ",".join(str(part) for part in value) + ")"
        return "" if value is None else str(value)

    return {column: text(getattr(finding, column)) for column in COLUMNS}


def test_index_names_every_case() -> None:
    assert sorted(index()) == sorted(path.name for path in CASES.glob("*.txt"))
    assert len(index()) == 56


@pytest.mark.parametrize("name", sorted(index()))
def test_findings_match_the_index(name: str) -> None:
    rows = index()[name]
    report = read_report(CASES / name)
    assert [cells(finding) for finding in report.findings] == [
        {column: row[column] for column in COLUMNS} for row in rows
    ]
    for finding, row in zip(report.findings, rows, strict=True):
        if finding.tool:
            assert row["tool"].startswith((finding.tool, "session", "--xml"))


@pytest.mark.parametrize("path", ALL_FILES, ids=lambda path: path.name)
def test_no_line_is_unknown(path: Path) -> None:
    report = read_report(path)
    assert report.unknown_lines == 0
    assert sniff(path)
    assert all(finding.raw and finding.group in report.groups for finding in report.findings)


@pytest.mark.parametrize("path", ALL_FILES, ids=lambda path: path.name)
def test_json_is_plain(path: Path) -> None:
    def plain(value: object) -> bool:
        if isinstance(value, dict):
            return all(type(key) is str and plain(item) for key, item in value.items())
        if isinstance(value, list):
            return all(plain(item) for item in value)
        return value is None or type(value) in (str, int, bool, float)

    assert all(plain(finding_json(finding)) for finding in read_report(path).findings)


def counts(paths: Iterable[Path]) -> dict[str, tuple[int, bool, bool, int]]:
    result = {}
    for path in paths:
        report = read_report(path)
        result[path.name] = (len(report.findings), report.ran, report.complete, exit_code(report))
    return result


def test_captured_logs() -> None:
    assert counts((REPORTS / "logs").iterdir()) == {
        "initcheck-uninit.log": (64, True, True, 1),
        "initcheck_uninit.txt": (64, True, True, 1),
        "memcheck-leak.log": (4, True, True, 1),
        "memcheck-misaligned.log": (32, True, True, 1),
        "memcheck-oob-lineinfo.log": (24, True, True, 1),
        "memcheck-oob.log": (24, True, True, 1),
        "memcheck_triton_head.txt": (2, True, False, 1),
        "memcheck_uninit_m.txt": (39, True, True, 1),
        "memcheck_vector_add_oob.txt": (29, True, True, 1),
        "memcheck_vector_add_oob_li.txt": (29, True, True, 1),
        "racecheck-analysis.log": (1, True, True, 1),
        "racecheck-hazard.log": (20, True, True, 1),
        "racecheck_shared_race.txt": (100, True, True, 1),
        "synccheck_uninit_s.txt": (0, True, True, 0),
        "triton-oob.log": (12, True, True, 1),
    }


def test_captured_xml() -> None:
    assert counts((REPORTS / "xml").iterdir()) == {
        "initcheck_uninit.xml": (64, True, True, 1),
        "memcheck_uninitm.xml": (36, True, True, 1),
        "memcheck_vector_add_oob.xml": (25, True, True, 1),
        "racecheck_shared_race.xml": (1, True, True, 1),
    }


@pytest.mark.parametrize("path", sorted((REPORTS / "not-run").iterdir()), ids=lambda path: path.name)
def test_captured_failures_to_run(path: Path) -> None:
    report = read_report(path)
    assert (report.ran, report.complete, exit_code(report)) == (False, False, 2)
    assert [finding.kind for finding in report.findings] == ["tool-error"]
    assert report.reason
    assert report.unknown_lines == 0


def test_summaries_agree_with_what_was_read() -> None:
    for path in (REPORTS / "logs").glob("memcheck*"):
        report = read_report(path)
        if report.complete:
            about_program = [finding for finding in report.findings if finding.kind != "session"]
            assert len(about_program) == report.summary["errors"]
