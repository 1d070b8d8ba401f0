# Lines of reports are quoted as the tool writes them.
# ruff: noqa: E501

from __future__ import annotations

import random
import unicodedata
from pathlib import Path

import pytest

from ladder_backends.model.finding import CodeLocation, Report
from ladder_backends.sanitizer import XmlReportReader, exit_code, read_report, report_json
from ladder_backends.sanitizer.xml_report import looks_like_xml

REPORTS = Path(__file__).parent / "reports"
XMLS = sorted([*(REPORTS / "xml").iterdir(), *(REPORTS / "cases").glob("*xml*")])

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<ComputeSanitizerOutput>\n'
TAIL = "</ComputeSanitizerOutput>\n"
PRECISE = """\
  <record>
    <kind>Precise</kind>
    <level>Error</level>
    <who>
      <threadIdx><x>1</x><y>2</y><z>3</z></threadIdx>
      <blockIdx><x>4</x><y>5</y><z>6</z></blockIdx>
    </who>
    <what>
      <text>Invalid __global__ write of size 4 bytes is misaligned</text>
      <space>__global__</space><size>4</size><direction>write</direction>
      <error>misaligned</error><address>0x7f01</address>
    </what>
    <where><func>k&lt;int&gt;</func><path>/src/k.cu</path><line>11</line><pc>0x1b0</pc></where>
    <deviceStack><frame><func>outer</func><path>/src/k.cu</path><line>20</line><pc>0x10</pc></frame></deviceStack>
    <hostStack>
      <saveLocation>kernel launch time</saveLocation>
      <frame><func>cuLaunchKernel</func><pc>0x39</pc><module>/lib/libcuda.so.1</module></frame>
      <frame><func>main</func><path>/src/k.cu</path><line>16</line><pc>0x8d</pc><module>/bin/k</module></frame>
      <frame></frame>
    </hostStack>
  </record>
"""


def read(text: str | bytes, chunk: int = 0) -> Report:
    raw = text.encode() if isinstance(text, str) else text
    reader = XmlReportReader()
    for start in range(0, len(raw), chunk or len(raw) or 1):
        reader.feed(raw[start : start + (chunk or len(raw))])
    reader.finish()
    return reader.report


def test_record() -> None:
    report = read(HEAD + PRECISE + TAIL)
    (finding,) = report.findings
    assert (finding.kind, finding.tool, finding.access, finding.size, finding.space) == (
        "misaligned", "memcheck", "write", 4, "global",
    )  # fmt: skip
    assert (finding.thread, finding.block, finding.lane) == ((1, 2, 3), (4, 5, 6), "exact")
    assert (finding.kernel, finding.src_file, finding.line) == ("outer", "/src/k.cu", 11)
    assert finding.sides[0].location.function == "k<int>"
    assert finding.address == "0x7f01"
    assert finding.host_frames[1] == CodeLocation("main", "/src/k.cu", 16, "0x8d", "/bin/k")
    assert (report.ran, report.complete, report.reason, exit_code(report)) == (True, True, None, 1)


@pytest.mark.parametrize("path", XMLS, ids=lambda path: path.name)
@pytest.mark.parametrize("chunk", [1, 13, 4096])
def test_chunks_make_no_difference(path: Path, chunk: int) -> None:
    raw = path.read_bytes()[:30_000]
    assert read(raw, chunk).findings == read(raw).findings


@pytest.mark.parametrize("name", ["memcheck_vector_add_oob", "memcheck_uninitm"])
def test_xml_and_text_of_a_tool_agree(name: str) -> None:
    text = {"memcheck_vector_add_oob": "memcheck_vector_add_oob.txt", "memcheck_uninitm": "memcheck_uninit_m.txt"}[
        name
    ]
    by_xml = read_report(REPORTS / "xml" / f"{name}.xml")
    by_text = read_report(REPORTS / "logs" / text)
    for one, other in zip(by_xml.findings, by_text.findings, strict=False):
        if one.kind == "api-error":
            break
        assert (one.kind, one.access, one.size, one.space, one.line, one.block, one.thread, one.reason) == (
            other.kind, other.access, other.size, other.space, other.line, other.block, other.thread, other.reason,
        )  # fmt: skip
    assert [(f.access, f.reason) for f in by_xml.findings if f.kind == "api-error"] == [
        (f.access, f.reason) for f in by_text.findings if f.kind == "api-error"
    ][: sum(f.kind == "api-error" for f in by_xml.findings)]


def test_failed_calls_fold_in_xml_too() -> None:
    report = read_report(REPORTS / "xml" / "memcheck_vector_add_oob.xml")
    assert [(len(group.members), len(group.folded)) for group in report.groups.values()] == [(24, 1)]


def test_file_of_a_killed_run_is_read_as_far_as_it_goes() -> None:
    report = read(HEAD + PRECISE + PRECISE[:400])
    assert len(report.findings) == 2
    assert report.findings[1].thread == (1, 2, 3)
    assert (report.ran, report.complete) == (True, False)
    assert "cut" in (report.reason or "")


def test_sample_of_the_manual() -> None:
    report = read(
        " <![CDATA[\n <?xml version=\"1.0\" encoding=\"utf-8\"?>\n   <ComputeSanitizerOutput>\n     <record>\n"
        "       <kind>Api</kind>\n       <what>\n"
        "         <text>Program hit cudaErrorMemoryAllocation (error 2) due to out of memory on CUDA API call to cudaMalloc.</text>\n"
        "         <api>cudaMalloc</api>\n         <error>cudaErrorMemoryAllocation</error>\n"
        "         <message>out of memory</message>\n         <result>2</result>\n       </what>\n"
        "       <hostStack>\n       [...]\n       </hostStack>\n ]]>\n"
    )  # fmt: skip
    (finding,) = report.findings
    assert (finding.kind, finding.access) == ("api-error", "cudaMalloc")
    assert finding.reason == "cudaErrorMemoryAllocation (2): out of memory"


def test_record_that_is_not_closed_ends_where_the_next_begins() -> None:
    report = read(HEAD + PRECISE.replace("</record>", "") + PRECISE + TAIL)
    assert [finding.thread for finding in report.findings] == [(1, 2, 3), (1, 2, 3)]
    assert report.complete


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Imprecise", "hw-exception"),
        ("StackOverflow", "hw-exception"),
        ("Leak", "leak"),
        ("UnusedMemory", "unused-memory"),
        ("Synccheck", "barrier"),
        ("Hazard", "race-hazard"),
        ("Tcgen05Guardrail", "tensor-memory"),
        ("ClusterEntryExit", "cluster-late-entry"),
        ("InitcheckApiError", "uninit-api"),
        ("Syscall", "malloc-free"),
        ("SyncLog", "sync-trace"),
        ("Stream-ordered race", "stream-race"),
        ("Something new", "tool-warning"),
    ],
)
def test_kind_without_a_known_text(kind: str, expected: str) -> None:
    (finding,) = read(
        f"{HEAD}<record><kind>{kind}</kind><what><text>words nobody knows</text></what></record>{TAIL}"
    ).findings
    assert finding.kind == expected
    assert "words nobody knows" in finding.reason


def test_hazard_with_two_threads() -> None:
    def thread(name: str, number: int, access: str) -> str:
        return (
            f"<{name}><direction>{access}</direction><threadIdx><x>{number}</x><y>0</y><z>0</z></threadIdx>"
            f"<where><func>k</func><path>k.cu</path><line>{number}</line></where></{name}>"
        )

    (finding,) = read(
        f"{HEAD}<record><kind>Hazard</kind><level>Warning</level><who><blockIdx><x>2</x><y>0</y><z>0</z></blockIdx></who>"
        f"<what>{thread('thread0', 7, 'Write')}{thread('thread1', 8, 'Read')}</what></record>{TAIL}"
    ).findings
    assert [(side.access, side.thread, side.block) for side in finding.sides] == [
        ("write", (7, 0, 0), (2, 0, 0)),
        ("read", (8, 0, 0), (2, 0, 0)),
    ]
    assert (finding.lane, finding.severity) == ("two", "warning")


def test_host_stack_written_from_the_outside_is_turned() -> None:
    frames = [
        "<frame><func>_start</func><module>/bin/k</module></frame>",
        "<frame><func>main</func><path>k.cu</path><line>9</line><module>/bin/k</module></frame>",
        "<frame><func>cudaFree</func><module>/lib/libcudart.so.13</module></frame>",
        "<frame><pc>0x1</pc><module>/lib/libcuda.so.1</module></frame>",
    ]
    for order in (frames, frames[::-1]):
        (finding,) = read(
            f"{HEAD}<record><kind>Api</kind><what><api>cudaFree</api><error>cudaErrorX</error>"
            f"<result>7</result><message>bad</message></what>"
            f"<hostStack>{''.join(order)}</hostStack></record>{TAIL}"
        ).findings
        assert [frame.function for frame in finding.host_frames] == ["", "cudaFree", "main", "_start"]
        assert "main k.cu:9" in finding.why
        assert finding.reason == "cudaErrorX (7): bad"


@pytest.mark.parametrize("direction", ["Write", "write"])
def test_precise_record_without_a_text(direction: str) -> None:
    (finding,) = read(
        f"{HEAD}<record><kind>Precise</kind><what><space>__shared__</space><size>16</size><direction>{direction}</direction>"
        f"<error>misaligned</error><address>0x8</address></what></record>{TAIL}"
    ).findings
    assert (finding.kind, finding.access, finding.size, finding.space, finding.reason) == (
        "misaligned", "write", 16, "shared", "misaligned",
    )  # fmt: skip


def test_no_record_proves_nothing() -> None:
    report = read(HEAD + TAIL)
    assert exit_code(report) == 2
    assert report.reason


def test_entities_are_not_interpreted() -> None:
    bomb = (
        '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY a "&lol;&lol;&lol;&lol;">'
        '<!ENTITY b SYSTEM "file:///etc/hostname">]><ComputeSanitizerOutput>'
    )
    (finding,) = read(
        bomb + PRECISE.replace("k&lt;int&gt;", "&a;&b;&#65;&#x42;&#27;&#xD800;&amp;lt;") + TAIL
    ).findings
    assert finding.sides[0].location.function == "&a;&b;AB&#27;&#xD800;&lt;"


def test_hostile_text_is_cleaned() -> None:
    report = read((HEAD + PRECISE.replace("outer", "\x1b[31m[/bold]\u202e\x9b") + TAIL).encode() + b"\xff")
    assert report.findings[0].kernel == "␛[31m[/bold]\\u202e\\x9b"
    bad = [char for char in str(report_json(report)) if unicodedata.category(char) in ("Cc", "Cf") and char != "\n"]
    assert bad == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "<record>" + "<a>" * 100_000,
        "<record>" + "<" * 500_000,
        "<record>" + "<a " * 100_000,
        "<record>" + "<![CDATA[" * 50_000,
        "<record>" + "&#x1;&lt" * 100_000,
        "<record>" * 20_000,
        "<record>" + "x" * 6_000_000,
        "<ComputeSanitizerOutput>" + "x" * 3_000_000,
    ],
    ids=lambda text: text[:20],
)
def test_malformed_documents_take_no_time(text: str) -> None:
    report = read(HEAD + text + PRECISE, 1 << 16)
    assert exit_code(report) in (0, 1, 2)


@pytest.mark.parametrize("path", XMLS, ids=lambda path: path.name)
def test_damaged_documents_never_raise(path: Path) -> None:
    chance = random.Random(path.name)
    raw = path.read_bytes()[:8_000]
    for _ in range(60):
        data = bytearray(raw)
        for _ in range(chance.randrange(1, 10)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(0, 60)] = bytes(
                chance.randrange(256) for _ in range(chance.randrange(9))
            )
        report = read(bytes(data))
        assert exit_code(report) in (0, 1, 2)
        report_json(report)


def test_what_looks_like_xml() -> None:
    assert looks_like_xml(HEAD.encode())
    assert looks_like_xml(b"\xef\xbb\xbf\n" + HEAD.encode())
    assert looks_like_xml(b"<record>")
    assert not looks_like_xml(b"<html><body>hello")
    assert not looks_like_xml(b"========= COMPUTE-SANITIZER\n<record>")
