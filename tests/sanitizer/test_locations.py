# Lines of reports are quoted as the tool writes them.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from ladder_backends.model.finding import CodeLocation
from ladder_backends.sanitizer.locations import parse_device_frame, parse_host_frame, parse_location


@pytest.mark.parametrize(
    ("text", "function", "file", "line", "offset"),
    [
        ("0x2570 in /p/03-m.py:223:matmul_0d1d", "matmul_0d1d", "/p/03-m.py", 223, "0x2570"),
        ("0x00000170 in ./race.cu:4:test(int*, int*)", "test(int*, int*)", "./race.cu", 4, "0x00000170"),
        ("0x10 in C:\\p q\\k.cu:7:k(int)", "k(int)", "C:\\p q\\k.cu", 7, "0x10"),
        ("0x20 in test(int*, int*)", "test(int*, int*)", "", None, "0x20"),
        ("0x440 in triton__0d1d2d", "triton__0d1d2d", "", None, "0x440"),
        ("0x9 in a::b<(int)4>::c(d::e)", "a::b<(int)4>::c(d::e)", "", None, "0x9"),
        ("f(void *, const void *)+0x390 in f.cu:97", "f(void *, const void *)", "f.cu", 97, "0x390"),
        ("k()+0xc0 in /src/cub/block.cuh", "k()", "/src/cub/block.cuh", None, "0xc0"),
        ("k(int)+0x10 in C:\\p\\k.cu:7", "k(int)", "C:\\p\\k.cu", 7, "0x10"),
        ("k(int)+0x10", "k(int)", "", None, "0x10"),
        ("unaligned_kernel():0x160 in demo.cu:6", "unaligned_kernel()", "demo.cu", 6, "0x160"),
        ("f(int in)+0xffffffffffffff10 in /a in b/k.cu:3", "f(int in)", "/a in b/k.cu", 3, "0xffffffffffffff10"),
        ("k()+0x10 in /h+0x5/k.cu:5", "k()", "/h+0x5/k.cu", 5, "0x10"),
        ("RAW()+0x280 in raceGroupBasic:46", "RAW()", "raceGroupBasic", 46, "0x280"),
        ("[clone k(int *)] sync()+0x11f0 in t.cu:42", "[clone k(int *)] sync()", "t.cu", 42, "0x11f0"),
        ("at::<unnamed>::f(T1 *, ...)+0x70", "at::<unnamed>::f(T1 *, ...)", "", None, "0x70"),
        ("f(main::[lambda(int, double &) (instance 1)] *)+0x1", "f(main::[lambda(int, double &) (instance 1)] *)", "", None, "0x1"),
        ("cp_mask in cp_async_bulk.h:236", "cp_mask", "cp_async_bulk.h", 236, ""),
        ("k in /x y/z.cu:7", "k", "/x y/z.cu", 7, ""),
        ("race.cu:21:race_kernel(float*)", "race_kernel(float*)", "race.cu", 21, ""),
        ("void a::k<b<...>>(T1::Params)", "void a::k<b<...>>(T1::Params)", "", None, ""),
        ("0x79d8", "", "", None, "0x79d8"),
        ("?", "", "", None, ""),
        ("", "", "", None, ""),
        ("kernel$241(Array<float, 1, C>)+0x5 in x.py:9", "kernel$241(Array<float, 1, C>)", "x.py", 9, "0x5"),
    ],
)  # fmt: skip
def test_location(text: str, function: str, file: str, line: int | None, offset: str) -> None:
    assert parse_location(text) == CodeLocation(function, file, line, offset)


@pytest.mark.parametrize(
    ("text", "function", "file", "line", "offset"),
    [
        (" F+0x130 in c.cuh:196", "F", "c.cuh", 196, "0x130"),
        ("/a/s.jl:12:call_3 (call_3 : 0x46c0)", "call_3", "/a/s.jl", 12, "0x46c0"),
        ("__cuda_sm70_warpsync (__cuda_sm70_warpsync : 0x30)", "__cuda_sm70_warpsync", "", None, "0x30"),
        ("/u/x.hpp:110:...::f(unsigned int) (... : 0x100)", "...::f(unsigned int)", "/u/x.hpp", 110, "0x100"),
        ("test(int*, int*) (test(int*, int*) : 0x60)", "test(int*, int*)", "", None, "0x60"),
        ("f(g (h)) (f(g (h)) : 0x60)", "f(g (h))", "", None, "0x60"),
        ("/s/b.h:127:c::init(unsigned int) const [0xb20]", "c::init(unsigned int) const", "/s/b.h", 127, "0xb20"),
        ("/s/x.hpp:382:c::GemmUniversal<...>", "c::GemmUniversal<...>", "/s/x.hpp", 382, ""),
        ("NVIDIA Internal [0x520]", "NVIDIA Internal", "", None, "0x520"),
    ],
)
def test_device_frame(text: str, function: str, file: str, line: int | None, offset: str) -> None:
    assert parse_device_frame(text) == CodeLocation(function, file, line, offset)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[0x2774ec]", CodeLocation(offset="0x2774ec")),
        ("  [0x15c2f] in libcudart.so.13", CodeLocation(offset="0x15c2f", module="libcudart.so.13")),
        ("__cudart803 [0xfccb]", CodeLocation("__cudart803", offset="0xfccb")),
        (
            "/lib64/libcuda.so.1 (cuLaunchKernel + 0x346) [0x297db6]",
            CodeLocation("cuLaunchKernel", offset="0x297db6", module="/lib64/libcuda.so.1"),
        ),
        ("./invalid-read [0x101d9]", CodeLocation(offset="0x101d9", module="./invalid-read")),
        (
            "C:\\Program Files (x86)\\x.dll (foo + 0x1) [0x22]",
            CodeLocation("foo", offset="0x22", module="C:\\Program Files (x86)\\x.dll"),
        ),
        ("../nptl/x.h:58:__start [0x2d]", CodeLocation("__start", "../nptl/x.h", 58, "0x2d")),
        ("main in main.cu:688 [0xab50] in main", CodeLocation("main", "main.cu", 688, "0xab50", "main")),
        ("main in main.cu:688 [0xab50]", CodeLocation("main", "main.cu", 688, "0xab50")),
        (
            "f(void*, rmm::v) in /a in b/m.hpp:186 [0x35a7] in bug",
            CodeLocation("f(void*, rmm::v)", "/a in b/m.hpp", 186, "0x35a7", "bug"),
        ),
        ("<module> in /h/t.py:7", CodeLocation("<module>", "/h/t.py", 7)),
        ("<lambda> in jit.py:370", CodeLocation("<lambda>", "jit.py", 370)),
        (
            "f(ncclComm*) [clone .isra.5] in f(ncclComm*) [clone .isra.5]:0 [0x405465]",
            CodeLocation("f(ncclComm*) [clone .isra.5]", offset="0x405465"),
        ),
        (
            "std::function<void (int)>::operator()(int) const in functional:591 [0x12] in app",
            CodeLocation("std::function<void (int)>::operator()(int) const", "functional", 591, "0x12", "app"),
        ),
        ("void* foo(int) [0x12]", CodeLocation("void* foo(int)", offset="0x12")),
    ],
)
def test_host_frame(text: str, expected: CodeLocation) -> None:
    assert parse_host_frame(text) == expected
