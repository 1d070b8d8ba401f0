"""Reports as they are found pasted: quoted, numbered, coloured, wrapped, without indents."""

from __future__ import annotations

import pytest

from ladder_backends.model.finding import FindingKind, Report
from ladder_backends.sanitizer import TextReportReader

PLAIN = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at k(int *)+0x10 in /src/a.cu:3
=========     by thread (5,0,0) in block (2,0,0)
=========     Access to 0x7f00 is out of bounds
=========
========= ERROR SUMMARY: 1 error
"""


def read(text: str) -> Report:
    reader = TextReportReader()
    reader.feed(text.encode())
    reader.finish()
    return reader.report


def prefixed(mark: str) -> str:
    return "".join(f"{mark}{line}\n" for line in PLAIN.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        prefixed("> "),
        prefixed("# "),
        prefixed("app-1  | "),
        prefixed(" * "),
        prefixed("    "),
        "".join(f"{number}:{line}\n" for number, line in enumerate(PLAIN.splitlines(), 9)),
        "".join(f"{number}-{line}\n" for number, line in enumerate(PLAIN.splitlines(), 99)),
        "".join(f"\x1b[31m{line}\x1b[0m\n" for line in PLAIN.splitlines()),
        "".join(f"\x1b[1;38;5;9m{line}\x1b[m\x1b[K\n" for line in PLAIN.splitlines()),
        PLAIN.replace("=========     ", "========= "),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", " \n"),
        PLAIN.removeprefix("========= COMPUTE-SANITIZER\n"),
    ],
)
def test_the_same_finding_comes_out(text: str) -> None:
    report = read(text)
    (finding,) = report.findings
    assert (finding.kind, finding.kernel, finding.src_file, finding.line) == (
        FindingKind.OOB,
        "k(int *)",
        "/src/a.cu",
        3,
    )
    assert (finding.block, finding.thread, finding.address) == ((2, 0, 0), (5, 0, 0), "0x7f00")
    assert (report.unknown_lines, report.complete, report.program) == (0, True, [])


@pytest.mark.parametrize(
    ("at", "function", "file", "line"),
    [
        ("file.cu:23", "", "file.cu", 23),
        ("candidate.ptx:2 in kernel", "kernel", "candidate.ptx", 2),
        ("k at line 462", "k", "", 462),
        ("?", "", "", None),
    ],
)
def test_places_of_other_forms(at: str, function: str, file: str, line: int | None) -> None:
    report = read(PLAIN.replace("k(int *)+0x10 in /src/a.cu:3", at))
    where = report.findings[0].sides[0].location
    assert (where.function, where.file, where.line) == (function, file, line)


RACE = """\
========= Error: Race reported between Write access at k(float *)+0xb0 in a.cu:28
=========     and Read access at k(float *)+0xc0 in a.cu:30 [1024 hazards]
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""


@pytest.mark.parametrize(
    "text",
    [
        RACE,
        RACE.replace("access at ", "access at\n=========     ").replace(" [1024", "\n=========     [1024"),
        RACE.replace(" in a.cu", "\n=========     in a.cu"),
        RACE.replace(" displayed (", " displayed\n========= ("),
    ],
)
def test_a_race_whose_lines_were_broken(text: str) -> None:
    report = read(text)
    assert (report.unknown_lines, report.complete) == (0, True)
    assert report.summary == {"hazards": 1, "errors": 1, "warnings": 0}
    (finding,) = report.findings
    assert [
        (side.access, side.location.function, side.location.file, side.location.line) for side in finding.sides
    ] == [
        ("write", "k(float *)", "a.cu", 28),
        ("read", "k(float *)", "a.cu", 30),
    ]


def test_words_of_the_program_before_a_record_stay_the_programs() -> None:
    assert read(PLAIN.replace("========= Invalid", "loss 0.3 ========= Invalid")).program == ["loss 0.3 "]


def test_a_record_that_is_cut_in_mid_line_says_so() -> None:
    whole = PLAIN.rpartition("=========\n")[0]
    cut = "=========\n========= Invalid __global__ read of size 4 bytes\n=========     at k(in"
    first, last = read(whole + cut).findings
    assert first.why == ""
    assert "ends inside this record" in last.why
    (only,) = read(whole.rstrip("\n")).findings
    assert only.why == ""
