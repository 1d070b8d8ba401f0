"""Every era's way to write a part of a record, combined with every other's: the same finding comes out.

Each part below is met in reports; their combinations are not all, but tools change one part at a time.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from ladder_backends.model.finding import Finding, FindingKind, LaneAnswer, Report
from ladder_backends.sanitizer import TextReportReader

FUNCTIONS = (
    "vadd",
    "vadd(const float *, float *, int)",
    "void at::native::<unnamed>::k<float, (int)4, at::native::F<long>>(T1 *, T2, ...)",
    "void ns::(anonymous namespace)::k<int>(int*, int*)",
    "ns::Outer::operator()(int) const",
    "void (*in::handler)(int) in context",
    "_ZN2at6native4kernEPfi",
    "triton_poi_fused_add_0",
    "k[abi:cxx11](int)",
    "[clone .sass] k_clone(int)",
)
FILES = ("/src/in dir/x.cu", "/proj/train.py", "x.cuh", "./rel/x.cu", "C:\\proj\\x.cu", "/tmp/a:b/x.cu")


class Place(NamedTuple):
    text: str
    function: str
    file: str
    line: int | None


def spellings(function: str, file: str) -> Iterator[Place]:
    yield Place(f"{function}+0x370 in {file}:10", function, file, 10)
    yield Place(f"{function}+0xffffffffffffff10", function, "", None)
    yield Place(f"{function}:0x370 in {file}:10", function, file, 10)
    yield Place(f"{function} in {file}:10", function, file, 10)
    yield Place(f"0x00000370 in {file}:10:{function}", function, file, 10)
    yield Place(f"0x370 in {function}", function, "", None)


HEADS = (
    ("Invalid __global__ read of size 4 bytes", FindingKind.OOB, "read", 4, "global"),
    ("Invalid __shared__ write of size 16", FindingKind.OOB, "write", 16, "shared"),
    ("Invalid __local__ atomic of size 8 bytes", FindingKind.OOB, "atomic", 8, "local"),
    ("Invalid __global__ read of size 2,048 bytes", FindingKind.OOB, "read", 2048, "global"),
    ("Uninitialized __global__ memory read of size 1,024 bytes", FindingKind.UNINIT_READ, "read", 1024, "global"),
)
LANES = (
    "by thread (232,0,0) in block (3,0,0)",
    "by thread (232, 0, 0) in block (3, 0, 0)",
    "by thread (232,0,0) in Block (3,0,0)",
)
ADDRESSES = (
    ("Address 0x7f586c800fa0 is out of bounds", ""),
    ("Access at 0x7f586c800fa0 is out of bounds", ""),
    ("Access to 0x7f586c800fa0 is out of bounds", ""),
    (
        "Access to 0x7f586c800fa0 is out of bounds",
        "and is 1 bytes after the nearest allocation at 0x7f586c800000 of size 4,000 bytes",
    ),
    (
        "Address 0x7f586c800fa0 is out of bounds",
        "and is 1 bytes after the nearest allocation at 0x7f586c800000 of size 4000 bytes",
    ),
    (
        "Access at 0x7f586c800fa0 is out of bounds",
        "and is 1,000,000 bytes before the nearest allocation at 0x7f586c8f5240 of size 1,234,567 bytes",
    ),
)
HOSTS: tuple[tuple[str, ...], ...] = (
    ("        Host Frame: main in main.cu:19 [0x1656] in app",),
    ("        Host Frame: main in /src/main.cu:19 [0x1656]", "                       in /src/build/app"),
    ("    Host Frame:/src/main.cu:19:main [0x1656]", "                in /src/build/app"),
    ("    Host Frame:/src/build/app (main + 0x34e) [0x2d725e]",),
    ("    Host Frame:main [0x1656]", "                in /src/build/app"),
)
PREFIXES: dict[str, Callable[[str], str]] = {
    "plain": lambda line: line,
    "ompi tag": lambda line: f"[1,3]<stdout>:{line}",
    "srun tag": lambda line: f"3: {line}",
    "torchrun tag": lambda line: f"[rank3]: {line}",
    "default tag": lambda line: f"[default3]:{line}",
    "time": lambda line: f"2026-11-30 21:00:00.123 {line}",
    "time and zone": lambda line: f"[2026-11-30T21:00:00Z] {line}",
}
ENDS = {"lf": "\n", "crlf": "\r\n", "trailing blank": " \n"}


def record(head: str, place: Place, lane: str, address: tuple[str, str], host: tuple[str, ...]) -> list[str]:
    lines = [
        f"========= {head}",
        f"=========     at {place.text}",
        f"=========     {lane}",
        f"=========     {address[0]}",
    ]
    if address[1]:
        lines.append(f"=========     {address[1]}")
    lines.append("=========     Saved host backtrace up to driver entry point at kernel launch time")
    lines += [f"========= {line}" for line in host]
    return [*lines, "========= "]


def read(text: str, chunk: int = 0) -> Report:
    reader = TextReportReader()
    raw = text.encode()
    for start in range(0, len(raw), chunk or len(raw)):
        reader.feed(raw[start : start + (chunk or len(raw))])
    reader.finish()
    return reader.report


def check(finding: Finding, head: tuple[object, ...], place: Place, address: tuple[str, str]) -> None:
    _, kind, access, size, space = head
    assert (finding.kind, finding.access, finding.size, finding.space) == (kind, access, size, space)
    assert (finding.sides[0].location.function, finding.src_file, finding.line) == place[1:]
    assert (finding.block, finding.thread) == ((3, 0, 0), (232, 0, 0))
    assert finding.lane is LaneAnswer.EXACT
    assert finding.address == "0x7f586c800fa0"
    if address[1]:
        assert finding.allocation is not None
        assert finding.allocation.size in (4000, 1_234_567)
        assert finding.allocation.distance in (1, 1_000_000)
    assert [frame.function for frame in finding.host_frames] == ["main"]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("file", FILES)
def test_every_spelling_of_a_place(function: str, file: str) -> None:
    for place in spellings(function, file):
        lines = record(HEADS[0][0], place, LANES[0], ADDRESSES[3], HOSTS[0])
        made = read("\n".join(["========= COMPUTE-SANITIZER", *lines, "========= ERROR SUMMARY: 1 error\n"]))
        assert made.unknown_lines == 0, place.text
        assert len(made.findings) == 1, place.text
        check(made.findings[0], HEADS[0], place, ADDRESSES[3])


def test_every_part_with_every_other() -> None:
    place = next(spellings(FUNCTIONS[1], FILES[0]))
    for head, lane, address, host in itertools.product(HEADS, LANES, ADDRESSES, HOSTS):
        lines = record(head[0], place, lane, address, host)
        made = read("\n".join(["========= COMPUTE-SANITIZER", *lines, "========= ERROR SUMMARY: 1 error\n"]))
        if head[1] is FindingKind.UNINIT_READ:
            continue
        assert (made.unknown_lines, len(made.findings), made.complete) == (0, 1, True)
        check(made.findings[0], head, place, address)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_every_transport(prefix: str, end: str, chunk: int) -> None:
    chooser = random.Random(f"{prefix} {end} {chunk}")
    wanted = []
    lines = ["========= COMPUTE-SANITIZER"]
    for _ in range(8):
        place = chooser.choice(list(spellings(chooser.choice(FUNCTIONS), chooser.choice(FILES))))
        head, address = chooser.choice(HEADS[:4]), chooser.choice(ADDRESSES)
        wanted.append((head, place, address))
        lines += record(head[0], place, chooser.choice(LANES), address, chooser.choice(HOSTS))
    lines.append("========= ERROR SUMMARY: 8 errors")
    made = read("".join(PREFIXES[prefix](line) + ENDS[end] for line in lines), chunk)
    assert made.unknown_lines == 0
    assert made.complete
    assert len(made.findings) == len(wanted)
    for finding, (head, place, address) in zip(made.findings, wanted, strict=True):
        check(finding, head, place, address)


@pytest.mark.parametrize("before", ["..s..", "epoch 3 loss 0.1", "x" * 300, "100%|████| 3/3 ", "tests/test_a.py ."])
def test_a_record_that_begins_behind_the_programs_own_words(before: str) -> None:
    place = next(spellings(FUNCTIONS[1], FILES[0]))
    lines = record(HEADS[0][0], place, LANES[0], ADDRESSES[3], HOSTS[0])
    made = read(
        "\n".join(
            ["========= COMPUTE-SANITIZER", before + lines[0], *lines[1:], "========= ERROR SUMMARY: 1 error\n"]
        )
    )
    assert len(made.findings) == 1
    check(made.findings[0], HEADS[0], place, ADDRESSES[3])
    assert made.program == [before]


def test_a_log_cut_anywhere_loses_nothing_before_the_cut() -> None:
    place = next(spellings(FUNCTIONS[2], FILES[0]))
    lines = record(HEADS[0][0], place, LANES[0], ADDRESSES[3], HOSTS[1])
    whole = "\n".join(["========= COMPUTE-SANITIZER", *lines, *lines, "========= ERROR SUMMARY: 2 errors\n"])
    first_ends = len("\n".join(["========= COMPUTE-SANITIZER", *lines]))
    for cut in range(0, len(whole), 3):
        made = read(whole[:cut]) if cut else Report()
        if cut > first_ends:
            check(made.findings[0], HEADS[0], place, ADDRESSES[3])
            # What is left of the second record is one finding more, never a stranger.
            assert len(made.findings) <= 2
        assert not made.complete


def test_hostile_names_are_clean_in_every_part() -> None:
    evil = "k\x1b[2J\u202e(int)"
    for place in spellings(evil, "/src/\x07x.cu"):
        lines = record(HEADS[0][0], place, LANES[0], ADDRESSES[3], HOSTS[0])
        made = read("\n".join(["========= COMPUTE-SANITIZER", *lines, ""]))
        text = repr(made.findings) + repr(made.groups)
        assert "\\x1b" not in text
        assert "\\u202e" not in text or "\\\\u202e" in text
        assert "\x1b" not in made.findings[0].kernel
