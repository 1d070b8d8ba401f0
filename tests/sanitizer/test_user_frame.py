# Lines of reports are quoted as the tool writes them.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from ladder_backends.model.finding import CodeLocation
from ladder_backends.sanitizer.locations import parse_host_frame
from ladder_backends.sanitizer.user_frame import api_of, is_cuda, user_frame


def frames(*texts: str) -> list[CodeLocation]:
    return [parse_host_frame(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "cuda"),
    [
        ("cuMemAlloc_v2 [0x1] in libcuda.so.1", True),
        (" [0x1] in /usr/lib/libcudart.so.13", True),
        ("cudaLaunchKernel [0x1] in app", True),
        ("cudaError cudaMalloc<float>(float**, unsigned long) in cuda_runtime.h:879 [0x1] in app", True),
        ("helper in /usr/local/cuda/include/crt/device_functions.h:2963 [0x1] in app", True),
        ("start in /tmp/tmpxft_1_k.cudafe1.stub.c:1 [0x1] in app", True),
        ("__device_stub__Z1kv() [0x1] in app", True),
        ("libcudart_static_4d8b [0x1] in app", True),
        ("cuMemHostAlloc [0x1] in nvcuda64.dll", True),
        ("main in main.cu:3 [0x1] in app", False),
        ("cudfjni in a.cpp:3 [0x1] in libcudf.so", False),
        ("customer [0x1] in app", False),
    ],
)
def test_whose_frame(text: str, cuda: bool) -> None:
    assert is_cuda(parse_host_frame(text)) == cuda


@pytest.mark.parametrize(
    ("stack", "function", "line"),
    [
        (("cudaMalloc [0x1] in app", "main in m.cu:3 [0x2] in app"), "main", 3),
        (("cudaMalloc [0x1] in app", "grow [0x2] in app", "main in m.cu:3 [0x2] in app"), "main", 3),
        (("cudaMalloc [0x1] in app", "grow [0x2] in app", "main [0x2] in app", "_start [0x3] in app"), "grow", None),
        (("x in /a/cuda_runtime.h:9 [0x1] in app", "main in m.cu:3 [0x2] in app"), "main", 3),
        (
            (
                "launch [0x1] in l.so",
                "_PyEval_EvalFrameDefault [0x1] in python3",
                "__call__ in /v/lib/python3.12/site-packages/triton/driver.py:713",
                "step in /home/me/train.py:40",
                "<module> in /home/me/train.py:7",
            ),
            "step",
            40,
        ),
        (("launch [0x1] in l.so", "__call__ in driver.py:713", "run in jit.py:744", "<module> in train.py:7"), "<module>", 7),
        (("launch [0x1] in l.so", "__call__ in driver.py:713"), "__call__", 713),
        (("cuInit [0x1] in libcuda.so.1", "c10::init(int) [0x2] in c10.so", "_PyEval in ceval.c:3 [0x1] in x"), "c10::init(int)", None),
        (("/a/Objects/call.c:7:cfunction_call [0x1] in /opt/conda/bin/python3.10", "run [0x1] in libapp.so"), "run", None),
    ],
)  # fmt: skip
def test_the_innermost_frame_a_person_wrote(stack: tuple[str, ...], function: str, line: int | None) -> None:
    found = user_frame(frames(*stack))
    assert found is not None
    assert (found.function, found.line) == (function, line)


def test_no_frame_of_a_person() -> None:
    assert user_frame(frames("cudaFree [0x1] in app", "[0x2]", "_start [0x3] in app")) is None
    assert user_frame([]) is None


def test_call_as_the_program_made_it() -> None:
    assert (
        api_of(frames("cuMemAlloc_v2 [0x1] in libcuda.so.1", "[0x2]", "cudaMalloc [0x1] in app", "main [0x1]"))
        == "cudaMalloc"
    )
    assert api_of(frames("main [0x1] in app", "cudaMalloc [0x1] in app")) == ""
