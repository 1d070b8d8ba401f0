"""Notes and marks on findings, kept for the next run; what changed since an earlier one."""

import json
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.model.finding import Report
from ladder_backends.sanitizer import TextReportReader
from ladder_backends.sanitizer.allocation_words import allocation_words
from ladder_backends.session.finding_remarks import FindingRemarks, Mark, Remark
from ladder_backends.session.findings_desk import FindingsDesk, program_of
from ladder_backends.session.sources import SourceFile, SourceState

RECORD = """\
========= Invalid __global__ read of size 4 bytes
=========     at k(int *)+0x10 in /src/a.cu:{line}
=========     by thread (0,0,0) in block (0,0,0)
=========     Access to 0x{line}00 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main in /src/a.cu:99 [0x1]
=========                        in {program}
=========
"""


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "ladder-tui/findings"


def report(*lines: int, program: str = "/home/user/build/prog", end: bool = True) -> Report:
    reader = TextReportReader()
    text = "".join(RECORD.format(line=line, program=program) for line in lines)
    reader.feed(f"========= COMPUTE-SANITIZER\n{text}".encode())
    if end:
        reader.feed(b"========= ERROR SUMMARY: 1 errors\n")
    reader.finish()
    return reader.report


def group(made: Report, place: int = 0) -> Any:
    return list(made.groups.values())[place]


def test_a_note_is_there_at_the_next_run() -> None:
    made = report(10)
    desk = FindingsDesk()
    desk.take(made)
    desk.note(group(made), "  off by\none ")
    assert desk.mark(group(made), Mark.IGNORED) is Mark.IGNORED
    again, later = FindingsDesk(), report(10)
    again.take(later)
    assert again.about(group(later)).remark == Remark("off by one", Mark.IGNORED)
    assert again.notes() == {group(later).id: "off by one"}
    assert again.mark(group(later), Mark.IGNORED) is Mark.OPEN


def test_an_edit_above_moves_the_note_with_its_bug() -> None:
    made = report(10)
    desk = FindingsDesk()
    desk.take(made)
    desk.note(group(made), "mine")
    moved = report(12)
    desk.take(moved)
    assert desk.about(group(moved)).remark.note == "mine"
    desk.note(group(moved), "still mine")
    back = report(10, 12)
    other = FindingsDesk()
    other.take(back)
    # The bug of line 12 is the noted one; that of line 10 is another.
    assert other.about(group(back, 1)).remark.note == "still mine"


def test_two_bugs_that_differ_in_lines_alone_are_not_taken_for_a_third() -> None:
    made = report(10, 20)
    desk = FindingsDesk()
    desk.take(made)
    desk.note(group(made, 0), "one")
    desk.note(group(made, 1), "two")
    other = report(30)
    desk.take(other)
    assert desk.about(group(other)).remark.note == ""


def test_another_program_has_notes_of_its_own() -> None:
    made = report(10)
    desk = FindingsDesk()
    desk.take(made)
    desk.note(group(made), "mine")
    theirs = report(10, program="/home/user/build/other")
    desk.take(theirs)
    assert desk.about(group(theirs)).remark.note == ""


def test_a_report_that_tells_no_program_is_kept_by_what_is_known(state_folder: Path) -> None:
    made = report(10, program="prog")
    assert program_of(made) is None
    desk = FindingsDesk()
    desk.take(made, program=Path("/src/log.txt"))
    desk.note(group(made), "mine")
    assert len(list(state_folder.iterdir())) == 1
    without = FindingsDesk()
    without.take(made)
    without.note(group(made), "mine")
    assert "last only as long" in without.take_notice()
    assert without.take_notice() == ""
    assert without.about(group(made)).remark.note == "mine"


def test_a_file_that_cannot_be_read_is_put_aside(state_folder: Path) -> None:
    remarks = FindingRemarks(Path("/p"))
    remarks.put("k", Remark("x"), loose="l")
    file = next(state_folder.iterdir())
    for bad in ("{", "[]", '{"format": 9}', '{"format": 1, "remarks": []}'):
        file.write_text(bad)
        again = FindingRemarks(Path("/p"))
        assert again.notice.endswith(".json.bad")
        assert again.of("k") == Remark()
    file.write_text(
        json.dumps(
            {
                "format": 1,
                "remarks": {
                    "a": 1,
                    "b": {"note": "x"},
                    "c" * 99: {},
                    "k": {"loose": "l", "title": "t", "note": "ok\x1b", "mark": "done"},
                },
            }
        )
    )
    assert FindingRemarks(Path("/p")).of("k") == Remark("ok␛", Mark.DONE)


def test_a_folder_that_cannot_be_written_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    remarks = FindingRemarks(Path("/p"))
    remarks.put("k", Remark("x"))
    assert "cannot be kept" in remarks.notice


def test_a_run_again_tells_what_is_gone_and_new() -> None:
    desk, before = FindingsDesk(), report(10, 20)
    desk.take(before)
    assert desk.against is None
    again = report(10, end=False)
    desk.take(again, run_again=True)
    assert desk.against is not None
    assert not desk.against.sure
    later = report(20, 30)
    desk.take(later, run_again=True)
    assert desk.about(group(later, 1)).new is True


def test_more_of_the_same_report_is_no_other_run() -> None:
    desk = FindingsDesk()
    desk.take(report(10, end=False))
    desk.take(report(10, 20, end=False))
    assert desk.against is None


def test_another_programs_report_is_not_compared() -> None:
    desk = FindingsDesk()
    desk.take(report(10))
    desk.take(report(10, program="/home/user/build/other"))
    assert desk.against is None


def test_python_scripts_are_programs_and_launchers_are_not() -> None:
    log = Path(__file__).parents[1] / "sanitizer/reports/logs/triton-oob.log"
    reader = TextReportReader()
    reader.feed(log.read_bytes())
    assert program_of(reader.report) == Path("/home/user/ladder/triton_oob.py")
    assert program_of(report(10)) == Path("/home/user/build/prog")
    assert program_of(Report()) is None


@pytest.mark.parametrize(("state", "name"), [(SourceState.FOUND, "a"), (SourceState.EDITED, "")])
def test_names_are_read_only_from_source_that_is_as_it_was(state: SourceState, name: str) -> None:
    log = Path(__file__).parents[1] / "sanitizer/reports/logs/memcheck-leak.log"
    reader = TextReportReader()
    reader.feed(log.read_bytes())
    lines = ("",) * 13 + ("  cudaMalloc(&a, 256);",)
    desk = FindingsDesk(lambda file: SourceFile(file, state, Path(file), lines))
    desk.take(reader.report)
    leak = next(one for one in reader.report.findings if one.allocation is not None)
    assert desk.allocation_name(leak) == name


LEAK = """\
========= Leaked 4,000 bytes at 0x7f586c800000
=========     Saved host backtrace up to driver entry point at allocation time
=========         Host Frame: main in /src/a.cu:16 [0x14b7]
=========                        in /home/user/build/prog
=========
"""


@pytest.mark.parametrize(("size", "where"), [("4,000", 16), ("8,000", None)])
def test_a_leak_of_the_same_memory_tells_who_allocated_it(size: str, where: int | None) -> None:
    log = (Path(__file__).parents[1] / "sanitizer/reports/logs/memcheck-oob.log").read_text()
    reader = TextReportReader()
    reader.feed((log + LEAK.replace("4,000", size)).encode())
    reader.finish()
    lines = ("",) * 15 + ("  cudaMalloc(&a, 4000);",)
    desk = FindingsDesk(lambda file: SourceFile(file, SourceState.FOUND, Path(file), lines))
    desk.take(reader.report)
    first = reader.report.findings[0]
    site = desk.leaked_at(first)
    assert (site.line if site is not None else None) == where
    assert desk.allocation_name(first) == ("a" if where else "")
    assert allocation_words(first, desk.allocation_name(first), site) == (
        "1 B past a[1000], 4,000 B, allocated by main a.cu:16 as its leak record says, “a” by that line of source"
        if where
        else "1 B past a 4,000 B allocation at 0x7f586c800000"
    )


def test_a_run_with_leak_check_on_a_device_tells_who_allocated_what_is_overrun() -> None:
    log = Path(__file__).parents[1] / "sanitizer/reports/combined/memcheck-oob-leaks.log"
    reader = TextReportReader()
    reader.feed(log.read_bytes())
    reader.finish()
    desk = FindingsDesk()
    desk.take(reader.report)
    assert reader.report.unknown_lines == 0
    first = reader.report.findings[0]
    assert allocation_words(first, "", desk.leaked_at(first)) == (
        "1 B past a 256 B allocation at 0x7f7bbe800000, allocated by main a.cu:4 as its leak record says"
    )
