"""Report files: formats told by content, several as one, and a clear line for everything else."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from ladder_backends.errors import ReportInvalid
from ladder_backends.model.finding import FindingKind
from ladder_backends.sanitizer import exit_code, expand, read_report, sniff

REPORTS = Path(__file__).parent / "reports"
LOG = REPORTS / "logs" / "memcheck-oob.log"
XML = REPORTS / "xml" / "memcheck_vector_add_oob.xml"


@pytest.mark.parametrize("path", [LOG, XML], ids=["text", "xml"])
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress], ids=["gz", "xz", "bz2"])
def test_packed_reports(tmp_path: Path, path: Path, pack: object) -> None:
    packed = tmp_path / "report"
    packed.write_bytes(pack(path.read_bytes()))  # type: ignore[operator]
    assert sniff(packed)
    assert read_report(packed).findings == read_report(path).findings


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks(tmp_path: Path, encoding: str) -> None:
    marked = tmp_path / "report.log"
    marked.write_bytes(LOG.read_text().replace("\n", "\r\n").encode(encoding))
    assert sniff(marked)
    report = read_report(marked)
    assert (len(report.findings), report.unknown_lines, report.complete) == (24, 0, True)


def test_several_files_by_macro_pattern_and_name(tmp_path: Path) -> None:
    for name in ("log.11", "log.12"):
        (tmp_path / name).write_bytes(LOG.read_bytes())
    for given in (
        [tmp_path / "log.%p"],
        [str(tmp_path / "log.*")],
        [tmp_path / "log.11", str(tmp_path / "log.12"), tmp_path / "log.%q{RANK}"],
    ):
        report = read_report(given)
        assert len(report.findings) == 48
        assert [finding.index for finding in report.findings] == list(range(48))
        assert {finding.origin for finding in report.findings} == {
            str(tmp_path / "log.11"),
            str(tmp_path / "log.12"),
        }
        assert report.summary["errors"] == 48
        assert len(report.groups) == 1
        assert (report.ran, report.complete) == (True, True)


def test_one_of_several_that_did_not_run_leaves_the_whole_incomplete(tmp_path: Path) -> None:
    (tmp_path / "r0").write_text("========= COMPUTE-SANITIZER\nx\n========= ERROR SUMMARY: 0 errors\n")
    (tmp_path / "r1").write_text("========= COMPUTE-SANITIZER\n========= Error: Device not supported\n")
    for names in (["r0", "r1"], ["r1", "r0"]):
        report = read_report([tmp_path / name for name in names])
        assert (report.ran, report.complete, exit_code(report)) == (True, False, 2)
        assert report.reason is not None
        assert "r1: Device not supported" in report.reason
    assert exit_code(read_report(tmp_path / "r0")) == 0


def test_text_and_xml_together(tmp_path: Path) -> None:
    report = read_report([LOG, XML])
    assert len(report.findings) == 49
    assert report.complete


@pytest.fixture
def same_run(tmp_path: Path) -> Path:
    """The XML that the run of the text would have written: with the addresses of that."""
    text, xml = LOG.read_text(), XML.read_text()
    here = re.search(r"0x([0-9a-f]{6})[0-9a-f]{6} is out of bounds", text)
    there = re.search(r"<address>0x([0-9a-f]{6})", xml)
    assert here is not None
    assert there is not None
    path = tmp_path / "same.xml"
    path.write_text(xml.replace(f"0x{there[1]}", f"0x{here[1]}"))
    return path


@pytest.mark.parametrize("turn", [1, -1])
def test_text_and_xml_of_one_run_count_once(same_run: Path, turn: int) -> None:
    report = read_report([LOG, same_run][::turn])
    alone = read_report(LOG)
    assert [one for one in report.findings if one.origin == str(LOG)] == [
        replace(one, origin=str(LOG)) for one in alone.findings
    ]
    kinds = {group.kind: len(group.members) for group in report.groups.values()}
    assert kinds[FindingKind.OOB] == 24
    # What only the XML has stays.
    assert len(report.findings) - 24 == sum(one.origin == str(same_run) for one in report.findings)
    assert [note for note in report.notes if "same.xml" in note] == [
        "same.xml repeats 24 records of the text: counted once"
    ]


def test_what_follows_in_the_xml_follows_from_the_record_of_the_text(same_run: Path, tmp_path: Path) -> None:
    record = (
        "<record><kind>Api</kind><what><text>Program hit unspecified launch failure (error 719) on CUDA API call "
        "to cudaDeviceSynchronize</text><api>cudaDeviceSynchronize</api><error>cudaErrorLaunchFailure</error>"
        "<message>unspecified launch failure</message><result>719</result></what></record>"
    )
    text = same_run.read_text()
    same_run.write_text(text.replace("</ComputeSanitizerOutput>", record + "</ComputeSanitizerOutput>"))
    report = read_report([LOG, same_run])
    assert report.findings[-1].kind is FindingKind.API_ERROR
    cause = report.findings[-1].consequence_of
    assert cause is not None
    assert report.findings[cause].kind is FindingKind.OOB
    assert report.findings[-1].group == report.findings[cause].group


def test_a_bug_of_another_run_is_the_same_bug_in_other_words() -> None:
    report = read_report([LOG, XML])
    assert [len(group.members) for group in report.groups.values() if group.kind is FindingKind.OOB] == [48]


def test_two_texts_of_two_runs_count_twice(tmp_path: Path) -> None:
    other = tmp_path / "other.log"
    other.write_bytes(LOG.read_bytes())
    report = read_report([LOG, other])
    assert len(report.findings) == 48


def test_literal_percent_and_brackets(tmp_path: Path) -> None:
    odd = tmp_path / "log[1] %p.txt"
    odd.write_bytes(LOG.read_bytes())
    assert expand([odd]) == [odd]
    assert len(read_report(odd).findings) == 24


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "is empty"),
        (b"hello\nworld\n", "not a sanitizer report"),
        (b"===== test session starts =====\n===== 3 passed =====\n", "not a sanitizer report"),
        (
            b"==1234== Memcheck, a memory error detector\n==1234== ERROR SUMMARY: 0 errors\n",
            "not a sanitizer report",
        ),
        (b"<html><body>hello</body></html>", "not a sanitizer report"),
        (b"<?xml version='1.0'?><testsuite/>", "not a sanitizer report"),
        (random.Random(64).randbytes(64) + b"\x00" * 100_000, "--read"),
        (b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 600, "--read"),
        (b"\x00", "--read"),
        (b"\n\n\n", "not a sanitizer report"),
        (b"=========", "not a sanitizer report"),
        (b"========= \n", "not a sanitizer report"),
        (b"=========     odd\n", "not a sanitizer report"),
        (b"\x1f\x8b", "cannot be unpacked"),
        (gzip.compress(b"x" * 9999, mtime=0)[:40], "cannot be unpacked"),
        (lzma.compress(random.Random(9999).randbytes(9999))[:400], "cannot be unpacked"),
    ],
    ids=lambda value: repr(value[:12]) if isinstance(value, bytes) else "",
)
def test_what_is_no_report(tmp_path: Path, raw: bytes, words: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(raw)
    assert not sniff(path)
    with pytest.raises(ReportInvalid) as caught:
        read_report(path)
    assert words in caught.value.line()
    assert "\n" not in caught.value.line()
    assert str(path) in caught.value.line()


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "none.log", "does not exist"), (tmp_path, "folder")):
        assert not sniff(path)
        with pytest.raises(ReportInvalid, match=words):
            read_report(path)
    with pytest.raises(ReportInvalid, match="no file matches"):
        read_report(tmp_path / "log.%p")
    with pytest.raises(ReportInvalid, match="no report was named"):
        read_report([])


def test_hostile_names_are_cleaned(tmp_path: Path) -> None:
    names = [tmp_path / "a\x1b[31m\n\u202e", tmp_path / "b"]
    for name in names:
        name.write_bytes(LOG.read_bytes())
    assert all("\x1b" not in finding.origin for finding in read_report(names).findings)
    names[0].write_text("hello")
    with pytest.raises(ReportInvalid) as caught:
        read_report(names[0])
    assert "␛[31m␊\\u202e" in caught.value.line()
    assert "␛[31m␊\\u202e" in (read_report(names).reason or "")


def test_pipes_are_read_too(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(LOG.read_bytes()))
    writer.start()
    report = read_report(pipe)
    writer.join()
    assert len(report.findings) == 24


@pytest.mark.parametrize("raw", [b"hello\n", b"", b"\x00\x01" * 100, gzip.compress(LOG.read_bytes())[:200]])
def test_one_bad_file_among_several_is_named_and_the_others_are_read(tmp_path: Path, raw: bytes) -> None:
    bad = tmp_path / "bad.log"
    bad.write_bytes(raw)
    report = read_report([LOG, bad])
    assert sum(finding.origin == str(LOG) for finding in report.findings) == 24
    assert (report.ran, report.complete, exit_code(report)) == (True, False, 1)
    assert "bad.log" in (report.reason or "")
    with pytest.raises(ReportInvalid, match=r"bad\.log"):
        read_report([bad, bad, tmp_path / "bad.*"])
    with pytest.raises(ReportInvalid, match=r"gone\.log does not exist"):
        read_report([LOG, tmp_path / "gone.log"])


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "-").write_text("no report")
    monkeypatch.chdir(tmp_path)
    assert expand(["-"]) == [Path("/dev/stdin")]
    assert expand(["./-"]) == [Path("-")]


def test_report_behind_much_output_and_binary(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_bytes(b"\x00\xff binary\n" + b"progress 12%\r" * 20_000 + b"\n" + LOG.read_bytes())
    assert len(read_report(path).findings) == 24
