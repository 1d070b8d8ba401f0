"""The text reader as a stream: cut anywhere, mixed with anything, hostile."""

# Lines of reports are quoted as the tool writes them.
# ruff: noqa: E501

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ladder_backends.model.finding import Finding, Report
from ladder_backends.sanitizer import TextReportReader, exit_code, headline, member_line, report_json
from ladder_backends.sanitizer.text_report import PROGRAM_LINES

Read = Callable[..., Report]
REPORTS = Path(__file__).parent / "reports"
TEXTS = sorted([*(REPORTS / "cases").glob("*.txt"), *(REPORTS / "logs").iterdir()])
SMALL = [path for path in TEXTS if path.stat().st_size < 2_000 and "xml" not in path.name]

RECORD = """\
========= Invalid __global__ read of size 4 bytes
=========     at k(int *)+0x10 in k.cu:3
=========     by thread (1,0,0) in block (2,0,0)
=========     Access to 0x7f04 is out of bounds
=========
"""


def essence(report: Report) -> tuple[object, ...]:
    return (
        report.findings, report.tool, report.ran, report.complete, report.reason, report.summary, report.program,
        report.dumps, report.notes, report.unknown_lines, [(g.id, g.title, g.members, g.folded) for g in report.groups.values()],
    )  # fmt: skip


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
@pytest.mark.parametrize("chunk", [1, 7, 4096])
def test_chunks_make_no_difference(read: Read, path: Path, chunk: int) -> None:
    raw = path.read_bytes()
    if chunk == 1 and len(raw) > 40_000:
        raw = raw[:40_000]
    assert essence(read(raw, chunk)) == essence(read(raw))


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.name)
def test_line_ends_make_no_difference(read: Read, path: Path) -> None:
    raw = path.read_bytes()
    assert essence(read(raw.replace(b"\n", b"\r\n"))) == essence(read(raw))


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.name)
def test_trailing_blanks_make_no_difference_but_in_raw(read: Read, path: Path) -> None:
    raw = path.read_bytes()
    plain, padded = read(raw), read(raw.replace(b"\n", b"   \n"))
    assert [replace(finding, raw="") for finding in padded.findings] == [
        replace(finding, raw="") for finding in plain.findings
    ]
    assert padded.unknown_lines == 0


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_cut_after_any_line(read: Read, path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    whole = read(b"".join(lines))
    step = max(1, len(lines) // 60)
    for count in range(0, len(lines), step):
        report = read(b"".join(lines[:count]))
        assert report.unknown_lines == 0
        assert len(report.findings) <= len(whole.findings)
        assert exit_code(report) in (0, 1, 2)
        assert report.ran or exit_code(report) == 2
    for count in range(0, len(lines), step):
        assert exit_code(read(b"".join(lines[count:]))) in (0, 1, 2)


def test_findings_come_as_their_records_end() -> None:
    reader = TextReportReader()
    lines = RECORD.splitlines(keepends=True)
    for line in lines[:-1]:
        assert reader.feed_line(line) == []
    (finding,) = reader.feed_line(lines[-1])
    assert finding.index == 0
    assert finding is reader.report.findings[0]
    assert not reader.report.complete
    assert reader.report.ran
    assert reader.report.reason is None


def test_stream_ordered_race_is_not_over_at_its_inner_blanks() -> None:
    reader = TextReportReader()
    head = "========= Use-after-free on allocation of size 4 bytes at 0x8\n"
    stack = "=========     Saved host backtrace up to driver entry point at cudaFreeAsync time\n"
    assert reader.feed(f"{head}=========\n{stack}=========\n".encode()) == []
    assert [finding.kind for finding in reader.feed(RECORD.encode())] == ["stream-race", "oob"]


def test_record_without_an_end_comes_with_the_next_one_and_at_the_end() -> None:
    reader = TextReportReader()
    text = RECORD.removesuffix("=========\n")
    assert reader.feed(text.encode()) == []
    assert [finding.index for finding in reader.feed(text.encode())] == [0]
    assert [finding.index for finding in reader.finish()] == [1]


def test_indented_line_after_an_empty_one_amends_its_finding(read: Read) -> None:
    report = read(
        RECORD
        + "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
        + "=========         Host Frame: main in k.cu:9 [0x1] in k\n=========\n"
        + RECORD
    )
    first, second = report.findings
    assert [frame.line for frame in first.host_frames] == [9]
    assert "Host Frame: main" in first.raw
    assert second.host_frames == ()
    assert first.group == second.group
    assert report.groups[first.group].members == [0, 1]


@pytest.mark.parametrize("prefix", ["####", "[san]", "== ", "compute-sanitizer:"])
def test_prefix_of_ones_own_is_found_in_the_banner(read: Read, prefix: str) -> None:
    text = ("========= COMPUTE-SANITIZER\n" + RECORD + "========= ERROR SUMMARY: 1 error\n").replace(
        "=========", prefix
    )
    report = read(text)
    assert report.complete
    assert report.findings[0].thread == (1, 0, 0)
    assert report.unknown_lines == 0


def test_prefix_given() -> None:
    reader = TextReportReader(prefix="##")
    reader.feed(RECORD.replace("=========", "##").encode())
    reader.finish()
    assert [finding.kind for finding in reader.report.findings] == ["oob"]


def test_program_output_before_the_prefix_and_between_lines(read: Read) -> None:
    lines = RECORD.splitlines()
    report = read(
        "..s.."
        + lines[0]
        + "\nhello\n"
        + lines[1]
        + "\n."
        + lines[2]
        + "\n\xff\xfe binary\n"
        + "\n".join(lines[3:])
        + "\nbye\n"
    )
    (finding,) = report.findings
    assert (finding.thread, finding.reason) == ((1, 0, 0), "out of bounds")
    assert finding.raw == RECORD.rstrip().removesuffix("=========").rstrip()
    assert report.program[:2] == ["..s..", "hello"]
    assert report.program[-1] == "bye"


def test_other_lines_of_equals_signs_are_the_programs(read: Read) -> None:
    report = read(
        "===== test session starts =====\n========== FAILURES ==========\n==================================\n"
        "=========+=========\n========= short test summary info =========\n===1 passed===\n" + RECORD
    )
    assert len(report.findings) == 1
    assert report.unknown_lines == 0
    assert len(report.program) == 6


def test_bytes_that_are_not_utf8_are_shown(read: Read) -> None:
    report = read(RECORD.encode().replace(b"k(int *)", b"k\xff(int *)\xc3\xa9"))
    assert report.findings[0].kernel == "k\\xff(int *)é"


def test_ranks_of_one_stream_are_told_apart(read: Read) -> None:
    one, two = RECORD.splitlines(), RECORD.replace("out of bounds", "misaligned").splitlines()
    mixed = []
    for left, right in zip(one, two, strict=True):
        mixed += [f"[1,0]<stdout>:{left}", f"[1,1]<stdout>:{right}"]
    report = read("\n".join(mixed) + "\n")
    assert [(finding.kind, finding.origin) for finding in report.findings] == [
        ("oob", "rank 0"),
        ("misaligned", "rank 1"),
    ]
    assert report.unknown_lines == 0


@pytest.mark.parametrize(
    "stamp", ["2026-11-30T14:00:01.123Z ", "2026-11-30 14:00:01,123 ", "[2026-11-30 14:00:01] ", "   "]
)
def test_time_stamps_before_the_prefix_are_dropped(read: Read, stamp: str) -> None:
    report = read("".join(stamp + line for line in RECORD.splitlines(keepends=True)))
    assert [finding.kind for finding in report.findings] == ["oob"]
    assert report.program == []


def test_program_flood_is_bounded_and_counted(read: Read) -> None:
    count = 5 * PROGRAM_LINES
    report = read("".join(f"line {number}\n" for number in range(count)) + RECORD)
    assert len(report.program) <= 2 * PROGRAM_LINES
    assert report.program[-1] == f"line {count - 1}"
    assert report.program_dropped + len(report.program) == count


def test_line_without_end_is_bounded(read: Read) -> None:
    report = read(b"x" * 3_000_000 + b"\n" + RECORD.encode(), 65_536)
    assert [finding.kind for finding in report.findings] == ["oob"]


def test_record_of_many_lines_is_bounded(read: Read) -> None:
    frames = "=========         Host Frame: f in f.cu:1 [0x1] in f\n" * 50_000
    report = read(RECORD.removesuffix("=========\n") + "=========     Saved host backtrace\n" + frames + RECORD)
    assert len(report.findings) == 2
    assert len(report.findings[0].raw) < 2_000_000


HOSTILE = "\x1b[31m[/bold]\u202e\u200b\x07\x9b2J[red]\u2066"


def texts(report: Report) -> str:
    return (
        str(report_json(report)) + headline(report) + "".join(member_line(finding) for finding in report.findings)
    )


@pytest.mark.parametrize(
    "old", ["k(int *)", "k.cu", "out of bounds", "read", "4 bytes", "Invalid __global__", "0x7f04"]
)
def test_hostile_text_is_cleaned(read: Read, old: str) -> None:
    report = read(RECORD.replace(old, HOSTILE) + HOSTILE + "\n========= " + HOSTILE + "\n" + RECORD)
    bad = [
        char for char in texts(report) if unicodedata.category(char) in ("Cc", "Cf", "Cs") and char not in "\n\t"
    ]
    assert bad == []
    assert "[/bold]" in texts(report)
    assert report.findings[-1].kind == "oob"


def mutated(raw: bytes, chance: random.Random) -> bytes:
    data = bytearray(raw)
    for _ in range(chance.randrange(1, 12)):
        at = chance.randrange(len(data) or 1)
        match chance.randrange(6):
            case 0:
                data[at : at + chance.randrange(1, 40)] = b""
            case 1:
                data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 20)))
            case 2:
                data[at:at] = chance.choice(
                    [b"\n", b"=========", b"\r", b"\x1b[2J", b"(", b")", b"0x", b" in ", b"<", b"\x00"]
                )
            case 3:
                data[at:at] = data[at : at + chance.randrange(1, 300)]
            case 4:
                data[at:at] = b"9" * chance.randrange(1, 5000)
            case _:
                data[at : at + 1] = bytes([chance.randrange(256)])
    return bytes(data)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_damaged_reports_never_raise(read: Read, path: Path) -> None:
    chance = random.Random(path.name)
    raw = path.read_bytes()[:6_000]
    for _ in range(40):
        damaged = mutated(raw, chance)
        report = read(damaged)
        assert exit_code(report) in (0, 1, 2)
        texts(report)
        for finding in report.findings:
            assert finding.group in report.groups


@pytest.mark.parametrize(
    "line",
    [
        "========= Program hit " + "a on CUDA API call to " * 20_000,
        "========= " + " " * 100_000 + "error detected",
        "========= a" + " " * 100_000 + "b",
        "========= Leaked " + "called " * 20_000,
        "========= Unused memory in allocation" + " called x of size 1" * 10_000,
        "========= Error: Race reported between Read access at " + "k+0x1 in " * 20_000,
        "=========     at " + "f (" * 50_000 + " : 0x1)",
        "=========     Device Frame:" + "f (" * 50_000 + " : 0x1)",
        "=========     Host Frame: " + "f in " * 50_000 + "[0x1] in ",
        "=========     at " + "a:1" * 50_000,
        "=========     at " + "<" * 100_000,
        "=========     and is " + "1," * 50_000 + " bytes after the nearest allocation",
        "=========     by thread (" + "1," * 50_000 + ") in block (0,0,0)",
        "=========     and Write access at " + "[1 hazards] " * 20_000,
        "========= WARN:" + "(Warp Level Programming) " * 10_000,
        "========= out of range " + "out of range " * 20_000,
        "========= Device " + "illegal a " * 20_000,
        "========= " * 20_000,
        "========= ERROR SUMMARY: " + "9" * 200_000,
        "========= ERROR SUMMARY: " + "9," * 100_000 + " errors",
        "========= LEAK SUMMARY: " + "1 bytes " * 20_000,
        "========= Version 1" + " " * 200_000 + "x",
        " " * 200_000 + "========= Version 1",
        "========= Internal Sanitizer Error: while launching " + "k and " * 30_000,
        "0: " * 30_000 + "========= x",
    ],
    ids=lambda line: line[:40],
)
@pytest.mark.timeout(20)
def test_long_lines_take_no_time(read: Read, line: str) -> None:
    report = read("========= Invalid __global__ read of size 4 bytes\n" + line + "\n" + RECORD)
    assert report.findings[-1].kind == "oob"
    texts(report)


def test_equal_reports_have_equal_groups(read: Read) -> None:
    def ids(findings: list[Finding]) -> list[str]:
        return [finding.group for finding in findings]

    path = REPORTS / "logs" / "memcheck_vector_add_oob.txt"
    assert ids(read(path.read_bytes()).findings) == ids(read(path.read_bytes()).findings)
