from __future__ import annotations

from collections.abc import Callable

import pytest

from ladder_backends.model.finding import Allocation, CodeLocation, Finding
from ladder_backends.sanitizer import allocation_line, member_line, offset_words, short_function

One = Callable[[str], Finding]


@pytest.mark.parametrize(
    ("function", "short"),
    [
        ("vadd(const float *, const float *, float *, int)", "vadd"),
        ("void at::native::k<float, long>(T1 *, ...)", "at::native::k<…>"),
        ("at::native::<unnamed>::k(int)", "at::native::<unnamed>::k"),
        ("(anonymous namespace)::k(int)", "(anonymous namespace)::k"),
        ("foo::operator()(int) const", "foo::operator()"),
        ("[clone k(int *)] sync()", "sync"),
        ("add", "add"),
        ("kernel<a<b>, c>::run(x)", "kernel<…>::run"),
        ("<module>", "<module>"),
        ("", ""),
        ("f" * 100, "f" * 19 + "…" + "f" * 20),
    ],
)
def test_short_function(function: str, short: str) -> None:
    assert short_function(function) == short


@pytest.mark.parametrize(
    ("allocation", "line"),
    [
        (None, ""),
        (Allocation("0x7f00", 4000, "after", 1), "1 B past a 4,000 B allocation at 0x7f00"),
        (Allocation("0x7f00", 8600, "before", 32), "32 B before a 8,600 B allocation at 0x7f00"),
        (Allocation("0x7f00", 4, "inside", 0), "inside a 4 B allocation at 0x7f00"),
        (
            Allocation("0x7f00", 4, "after", 1, "My pool", CodeLocation("main", "/a/app.cu", 16)),
            "1 B past a 4 B allocation My pool at 0x7f00 (allocated by main app.cu:16)",
        ),
        (Allocation("0x7f00", 64), "64 B allocation at 0x7f00"),
    ],
)
def test_allocation_line(allocation: Allocation | None, line: str) -> None:
    assert allocation_line(allocation) == line


def test_member_lines(one: One) -> None:
    access = one(
        "========= Invalid __global__ read of size 4 bytes\n=========     at k+0x10 in k.cu:3\n"
        "=========     by thread (240,0,0) in block (3,0,0)\n"
        "=========     Access to 0x7f586c800fc0 is out of bounds\n"
        "=========     and is 33 bytes after the nearest allocation at 0x7f586c800000 of size 4,000 bytes\n"
    )
    assert member_line(access) == "(3,0,0) (240,0,0)  base+4,032"
    hazard = one(
        "========= Error: Potential RAW hazard detected at __shared__ 0x700 in block (2,0,0) :\n"
        "=========     Write Thread (192,0,0) at r+0x490 in s.cu:6\n"
        "=========     Read Thread (64,0,0) at r+0x800 in s.cu:8\n"
    )
    assert member_line(hazard) == "write (2,0,0) (192,0,0)  <>  read (2,0,0) (64,0,0)  0x700"
    race = one(
        "========= Error: Race reported between Read access at r(int)+0x800 in s.cu:8\n"
        "=========     and Write access at r(int)+0x490 in s.cu:6 [2304 hazards]\n"
    )
    assert member_line(race) == "read r :8  <>  write r :6"
    leak = one("========= Leaked 16 bytes at 0x4012\n")
    assert member_line(leak) == "0x4012"


def test_offset_below_the_allocation(one: One) -> None:
    finding = one(
        "========= Invalid __global__ read of size 8 bytes\n=========     at k+0x10\n"
        "=========     by thread (0,0,0) in block (0,0,0)\n=========     Access to 0x7fe0 is out of bounds\n"
        "=========     and is 32 bytes before the nearest allocation at 0x8000 of size 4,000 bytes\n"
    )
    assert offset_words(finding) == "base-32"
    assert offset_words(finding, told=finding.allocation) == "base-32"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (Allocation(address="0x7f586c800000"), "24 B before 0x…801000"),
        (Allocation(address="0x7f586d801000"), "24 B before 0x7f586c801000"),
    ],
)
def test_an_allocation_that_was_not_told_of_is_named(one: One, told: Allocation, words: str) -> None:
    finding = one(
        "========= Invalid __global__ read of size 4 bytes\n=========     at k+0x10\n"
        "=========     by thread (0,0,0) in block (0,0,0)\n"
        "=========     Access to 0x7f586c800fe8 is out of bounds\n"
        "=========     and is 24 bytes before the nearest allocation at 0x7f586c801000 of size 4,000 bytes\n"
    )
    assert offset_words(finding, told=told) == words


def test_an_access_inside_an_allocation_that_was_not_told_of(one: One) -> None:
    finding = one(
        "========= Invalid __global__ write of size 4 bytes\n=========     at k+0x10\n"
        "=========     by thread (0,0,0) in block (0,0,0)\n=========     Access to 0x7f586c801005 is misaligned\n"
        "=========     and is inside the nearest allocation at 0x7f586c801000 of size 4,000 bytes\n"
    )
    assert offset_words(finding, told=Allocation(address="0x7f586c800000")) == "5 B into 0x…801000"
