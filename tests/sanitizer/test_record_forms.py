"""Each form of record the tool is known to print, in the spellings of its eras."""

# Lines of reports are quoted as the tool writes them.
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ladder_backends.model.finding import Allocation, CodeLocation, Finding, LaneAnswer, Report
from ladder_backends.sanitizer import exit_code

One = Callable[[str], Finding]

AT = "=========     at k(int *)+0x10 in /src/k.cu:3\n"
BY = "=========     by thread (1,2,3) in block (4,5,6)\n"
LANE = AT + BY


def fields(finding: Finding, names: dict[str, Any]) -> dict[str, Any]:
    return {name: getattr(finding, name) for name in names}


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("Invalid __global__ write of size 4 bytes", {"kind": "oob", "access": "write", "size": 4, "space": "global"}),
        ("Invalid __global__ read of size 8", {"kind": "oob", "access": "read", "size": 8}),
        ("Invalid __shared__ atomic of size 1,024 bytes", {"access": "atomic", "size": 1024, "space": "shared"}),
        ("Invalid __local__ ? of size 2 bytes", {"access": "?", "space": "local"}),
        ("Invalid read of size 4 bytes", {"access": "read", "space": ""}),
        ("Invalid __global__ tensor load of size 128 bytes", {"access": "tensor load", "size": 128}),
        ("Invalid system-scoped atomic operation", {"kind": "permission", "access": "atomic"}),
        ("Uninitialized __global__ memory read of size 4", {"kind": "uninit-read", "tool": "initcheck"}),
        ("Uninitialized __shared__ memory read of size 16 bytes", {"size": 16, "space": "shared"}),
        ("Barrier error detected. Divergent thread(s) in warp", {"kind": "barrier", "access": "divergent-warp"}),
        ("Barrier error detected. Divergent thread(s) in block.", {"access": "divergent-block", "tool": "synccheck"}),
        ("Barrier error detected. Invalid arguments", {"access": "invalid-arguments"}),
        ("Barrier error detected. Missing wait.", {"access": "missing-wait"}),
        (
            "Barrier error detected. Already initialized. Invalidate before reinitializing",
            {"kind": "barrier", "access": "already-initialized"},
        ),
        ("Warpgroup MMA sequence error detected. Missing commit", {"kind": "barrier", "access": "missing-commit"}),
        ("Malloc/Free error encountered : Double free", {"kind": "malloc-free", "access": "double-free"}),
        ("Malloc/Free Error encountered : Heap corruption", {"kind": "malloc-free", "access": "heap-corruption"}),
        ("Out-of-range shared or local address", {"kind": "hw-exception", "space": "shared|local"}),
        ("Out-of-range Shared or Local Address", {"kind": "hw-exception", "space": "shared|local"}),
        ("Misaligned shared or local address", {"kind": "hw-exception", "space": "shared|local"}),
        ("Illegal instruction", {"kind": "hw-exception", "reason": "Illegal instruction"}),
        ("Warp Illegal Instruction", {"kind": "hw-exception"}),
        ("Device Hardware Stack Overflow", {"kind": "hw-exception"}),
        ("Lane User Stack Overflow", {"kind": "hw-exception"}),
        ("Stack overflow", {"kind": "hw-exception"}),
        ("Warp Invalid Address Space", {"kind": "hw-exception"}),
        ("Invalid PC", {"kind": "hw-exception"}),
        ("Warp assert", {"kind": "hw-exception"}),
        ("Cluster target block not present", {"kind": "hw-exception"}),
        ("Device illegal address", {"kind": "hw-exception"}),
        ("Access with a partial warp", {"kind": "hw-exception"}),
        (
            "Tensor Memory column 32 being accessed by instruction tcgen05.ld is not allocated. Columns allocated are: 0-31.",
            {"kind": "tensor-memory", "access": "tcgen05.ld", "space": "tensor"},
        ),
        (
            "Instruction tcgen05.cp.cta of the warp 3 can only access lanes 96-127",
            {"kind": "tensor-memory", "access": "tcgen05.cp.cta"},
        ),
        (
            "Invalid column allocation granularity 7 specified at the instruction tcgen05.alloc.",
            {"kind": "tensor-memory", "access": "tcgen05.alloc"},
        ),
        (
            "Tensor Memory is not deallocated before CTA exit (tensor memory leak).",
            {"kind": "tensor-memory", "access": ""},
        ),
        ("Potential invalid __shared__ write of size 4 bytes", {"kind": "cluster-late-entry", "tool": "racecheck"}),
        ("Error: Invalid __global__ write of size 4 bytes", {"kind": "oob", "severity": "error"}),
        ("Warning: Invalid __global__ write of size 4 bytes", {"kind": "oob", "severity": "warning"}),
    ],
)  # fmt: skip
def test_device_records(one: One, head: str, expected: dict[str, Any]) -> None:
    finding = one(f"========= {head}\n{LANE}")
    assert fields(finding, expected) == expected
    assert (finding.kernel, finding.src_file, finding.line) == ("k(int *)", "/src/k.cu", 3)
    assert (finding.thread, finding.block, finding.lane) == ((1, 2, 3), (4, 5, 6), LaneAnswer.EXACT)
    assert finding.why == ""


@pytest.mark.parametrize("spelling", ["Address {} is {}", "Access at {} is {}", "Access to {} is {}"])
@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("out of bounds", "oob"),
        ("misaligned", "misaligned"),
        ("not readable", "permission"),
        ("not writable", "permission"),
        ("not readable/writable with atomic operations", "permission"),
        ("of a kind nobody has seen yet", "oob"),
    ],
)
def test_reasons(one: One, spelling: str, reason: str, kind: str) -> None:
    line = spelling.format("0x7f00", reason)
    finding = one(f"========= Invalid __global__ read of size 4 bytes\n{LANE}=========     {line}\n=========\n")
    assert (finding.kind, finding.reason, finding.address) == (kind, reason, "0x7f00")


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("located in a block that might not have entered yet", "cluster-late-entry"),
        ("located in a block that might have already exited", "cluster-early-exit"),
        ("located in a block that might have have already exited", "cluster-early-exit"),
    ],
)
def test_cluster_accesses(one: One, reason: str, kind: str) -> None:
    text = f"========= Potential invalid __shared__ read of size 4 bytes\n{LANE}=========     Address 0x10 is {reason}\n"
    assert one(text).kind == kind


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("and is 1 bytes after the nearest allocation at 0x7f00 of size 4,000 bytes", ("0x7f00", 4000, "after", 1)),
        ("and is 593,361,581,569 bytes after the nearest allocation at 0x7 of size 512 bytes", ("0x7", 512, "after", 593361581569)),
        ("and is 32 bytes before the nearest allocation at 0x7f00 of size 8600 bytes", ("0x7f00", 8600, "before", 32)),
        ("and is inside the nearest allocation at 0x7f00 of size 4 bytes", ("0x7f00", 4, "inside", 0)),
    ],
)  # fmt: skip
def test_nearest_allocation(one: One, line: str, expected: tuple[str, int, str, int]) -> None:
    finding = one(f"========= Invalid __global__ read of size 4 bytes\n{LANE}=========     {line}\n")
    assert finding.allocation == Allocation(*expected)


def test_stack_of_the_allocation_names_its_user(one: One) -> None:
    finding = one(
        "========= Invalid __global__ read of size 4 bytes\n"
        + LANE
        + "=========     Address 0x7f04 is out of bounds\n"
        "=========     and is 1 bytes after the nearest allocation at 0x7f00 of size 4 bytes\n"
        "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
        "=========         Host Frame: cudaLaunchKernel [0x1] in app\n"
        "=========         Host Frame: main in app.cu:21 [0x2] in app\n"
        "=========     Saved host backtrace up to driver entry point at allocation time\n"
        "=========         Host Frame: cudaMalloc [0x1] in app\n"
        "=========         Host Frame: cudaError cudaMalloc<float>(float**, unsigned long) in cuda_runtime.h:879 [0x3] in app\n"
        "=========         Host Frame: main in app.cu:16 [0x2] in app\n"
    )
    assert [frame.line for frame in finding.host_frames] == [None, 21]
    assert finding.allocation is not None
    assert finding.allocation.where == CodeLocation("main", "app.cu", 16, "0x2", "app")


@pytest.mark.parametrize(
    ("text", "severity", "sides"),
    [
        (
            "========= WARN:(Warp Level Programming) Potential RAW hazard detected at __shared__ 0xf4 in block (1, 0, 0) :\n"
            "=========     Write Thread (24, 0, 0) at 0x00001ab0 in /g/w.cuh:146:k\n"
            "=========     Read Thread (25, 0, 0) at 0x00001ac0 in /g/w.cuh:147:k\n"
            "=========     Current Value : 0\n",
            "warning",
            [("write", (24, 0, 0), 146), ("read", (25, 0, 0), 147)],
        ),
        (
            "========= ERROR: Potential WAW hazard detected at __shared__ 0x0 in block (1,0,0) :\n"
            "=========     Write Thread (0,0,0) at WAW()+0x2f0 in raceWAW.cu:20\n"
            "=========     Write Thread (1,0,0) at WAW()+0x2f0 in raceWAW.cu:20\n"
            "=========     Current Value : 1, Incoming Value : 2\n",
            "error",
            [("write", (0, 0, 0), 20), ("write", (1, 0, 0), 20)],
        ),
        (
            "========= Info: Potential WAR hazard detected (CUDA barrier operation) at __shared__ 0x0 in block (1,0,0) :\n"
            "=========     Read Thread (0,0,0) (block rank 0) at k+0x2f0\n"
            "=========     Write Thread (1,0,0) (block rank 3) at k+0x2f0\n"
            "=========     Identical data being written\n",
            "info",
            [("read", (0, 0, 0), None), ("write", (1, 0, 0), None)],
        ),
    ],
)  # fmt: skip
def test_hazards_have_two_lanes(one: One, text: str, severity: str, sides: list[Any]) -> None:
    finding = one(text)
    assert (finding.kind, finding.severity, finding.size, finding.lane) == ("race-hazard", severity, 1, "two")
    assert [(side.access, side.thread, side.location.line) for side in finding.sides] == sides
    assert all(side.block == (1, 0, 0) for side in finding.sides)
    assert (finding.block, finding.thread) == ((1, 0, 0), sides[0][1])


def test_hazard_in_a_cluster_knows_the_ranks(one: One) -> None:
    finding = one(
        "========= Error: Potential RAW hazard detected (invalid memcpy_async synchronization) at __shared__ 0x10 in block (1,2,3) :\n"
        "=========     Write Thread (35,0,0) (block rank 1) at k(int *)+0x90 in /p/w.cu:44\n"
        "=========     Read Thread (32,0,0) (block rank 0) at k(int *)+0x120 in /p/w.cu:56\n"
    )  # fmt: skip
    assert [side.block_rank for side in finding.sides] == [1, 0]
    assert finding.reason == "invalid memcpy_async synchronization"


def test_race_analysis_has_lines_and_no_lane(one: One) -> None:
    finding = one(
        "========= WARNING: Race reported between Write access at RAW()+0xf0 in raceGroupBasic.cu:40\n"
        "=========     and Read access at RAW()+0x280 in raceGroupBasic.cu:46 [4 hazards]\n"
        "=========     and Write access at RAW()+0x290 in raceGroupBasic.cu:47 [1,234 hazards]\n"
    )
    assert (finding.access, finding.kernel, finding.line) == ("Write/Read/Write", "RAW()", 40)
    assert [side.location.line for side in finding.sides] == [40, 46, 47]
    assert finding.lane == "none"
    assert "--racecheck-report hazard" in finding.why


def test_race_analysis_on_one_line(one: One) -> None:
    finding = one(
        "========= Error: Race reported between Write access at 0x50 in k(a) and Read access at 0x90 in j(b)\n"
    )
    assert [(side.access, side.location.function) for side in finding.sides] == [
        ("write", "k(a)"),
        ("read", "j(b)"),
    ]


@pytest.mark.parametrize(
    ("text", "access", "reason", "severity"),
    [
        (
            'Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call to cudaFree.',
            "cudaFree", "cudaErrorLaunchFailure (719): unspecified launch failure", "error",
        ),
        ("Program hit CUDA_ERROR_NOT_FOUND (error 500) on CUDA API call to cuModuleGetFunction.",
         "cuModuleGetFunction", "CUDA_ERROR_NOT_FOUND (500)", "error"),
        ('Program hit CUDA_ERROR_NOT_FOUND (error 500) due to "named symbol not found" on CUDA API call to cuGetProcAddress_v2.',
         "cuGetProcAddress_v2", "CUDA_ERROR_NOT_FOUND (500): named symbol not found", "info"),
        ("Program hit error 704 on CUDA API call.", "", "error (704)", "error"),
        ("Program hit error 2 on CUDA API call to cudaMalloc.", "cudaMalloc", "error (2)", "error"),
        ("Program hit invalid copy direction for memcpy (error 21) on CUDA API call to cudaMemcpy.",
         "cudaMemcpy", "invalid copy direction for memcpy (21)", "error"),
        ('Program hit OPTIX_ERROR_INVALID_VALUE (error 7001) due to "Invalid value" on OptiX API call to optixLaunch.',
         "optixLaunch", "OPTIX_ERROR_INVALID_VALUE (7001): Invalid value", "error"),
    ],
)  # fmt: skip
def test_failed_calls(one: One, text: str, access: str, reason: str, severity: str) -> None:
    finding = one(
        f"========= {text}\n=========     Saved host backtrace up to driver entry point at error\n=========\n"
    )
    assert (finding.kind, finding.access, finding.reason, finding.severity) == (
        "api-error",
        access,
        reason,
        severity,
    )
    assert finding.lane == "none"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Leaked 1,024 bytes at 0x7800", {"size": 1024, "space": "global", "address": "0x7800"}),
        ("Leaked 16 bytes at 0x4012 on the device heap", {"size": 16, "space": "device-heap"}),
        ("Leaked 1 bytes at 0x7f26 called My allocation", {"allocation": Allocation("0x7f26", 1, name="My allocation")}),
        ("Leaked 64 bytes at 0x4 on the device heap called a b", {"allocation": Allocation("0x4", 64, name="a b")}),
        ("Leaked 128 bytes from CUDA array 0x40", {"size": 128, "space": "array", "address": "0x40"}),
        ("Leaked an OptixProgramGroup with handle 0x55", {"size": None, "space": "optix", "address": "0x55"}),
        ("Leaked an OptixModule with handle ?", {"space": "optix", "address": "?"}),
    ],
)  # fmt: skip
def test_leaks(one: One, text: str, expected: dict[str, Any]) -> None:
    finding = one(f"========= {text}\n")
    assert finding.kind == "leak"
    assert fields(finding, expected) == expected


def test_stack_of_libraries_alone_is_said_to_be_one(one: One) -> None:
    finding = one(
        "========= Leaked 4 bytes at 0xdf6e00000\n"
        "=========     Saved host backtrace up to driver entry point at allocation time\n"
        "=========         Host Frame: cuMemAlloc_v2 [0x1] in libcuda.so.1\n"
    )
    assert "no frame with a name outside of libraries" in finding.why


def test_leak_names_the_call_and_the_line_that_allocated(one: One) -> None:
    finding = one(
        "========= Leaked 4 bytes at 0xdf6e00000\n"
        "=========     Saved host backtrace up to driver entry point at allocation time\n"
        "=========         Host Frame: cuMemHostAlloc [0x1] in libcuda.so.1\n"
        "=========         Host Frame: cudaHostAlloc [0x2] in libcudart.so.13\n"
        "=========         Host Frame: main in app.cu:9 [0x3] in app\n"
    )
    assert (finding.access, finding.space) == ("cudaHostAlloc", "host-pinned")
    assert "main app.cu:9" in finding.why


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Unused memory in allocation 0x7efc called My allocation of size 1",
         {"size": 1, "space": "global", "allocation": Allocation("0x7efc", 1, name="My allocation")}),
        (" Unused __shared__ memory in allocation of size 100 bytes in block (7,0,0)",
         {"size": 100, "space": "shared", "block": (7, 0, 0), "thread": None}),
        (" Unused __global__ memory in allocation 0x7fed of size 1,000 bytes", {"size": 1000, "address": "0x7fed"}),
    ],
)  # fmt: skip
def test_unused_memory(one: One, text: str, expected: dict[str, Any]) -> None:
    finding = one(
        f"========= {text}\n"
        "=========     Not written 80 bytes at offset 0x14 (0x7fed9f400014)\n"
        "=========     Not written 8 bytes between offsets 0x14 (0x7f) and 0x18 (0x80) (inclusive)\n"
        "=========     80% of allocation were unused.\n"
        "=========     These unused bytes represent 80% of the shared memory.\n"
    )
    assert finding.kind == "unused-memory"
    assert fields(finding, expected) == expected


@pytest.mark.parametrize(
    ("where", "space"),
    [("__shared__ 0x8", "shared"), ("__global__ 0x8", "global"), ("global address 0x8", "global")],
)
def test_space_of_a_hazard(one: One, where: str, space: str) -> None:
    finding = one(
        f"========= Error: Potential RAW hazard detected at {where} in block (0,0,0):\n"
        "=========     Write Thread (1,0,0) in Block (2,0,0) at k+0x1\n"
    )
    assert (finding.space, finding.address, finding.block) == (space, "0x8", (2, 0, 0))


@pytest.mark.parametrize("spelling", ["at", "to"])
@pytest.mark.parametrize("source", ["cudaMemcpy source", "cudaMemcopy source", "cudaMemcpyAsync source"])
@pytest.mark.parametrize("stop", ["", "."])
def test_uninitialized_copies(one: One, spelling: str, source: str, stop: str) -> None:
    finding = one(
        "========= Host API memory access error at host access to 0x7f7fcdc01200 of size 25,600 bytes\n"
        f"=========     Uninitialized access {spelling} 0x7f7fcdc01300 on access by {source}{stop}\n"
    )
    assert (finding.kind, finding.access, finding.size) == ("uninit-api", source, 25600)
    assert finding.address == "0x7f7fcdc01300"


@pytest.mark.parametrize(
    ("text", "kind", "access"),
    [
        ("Fatal UVM GPU fault of type invalid pde due to invalid address", "uvm-gpu-fault", "atomic"),
        ("Fatal UVM CPU fault due to invalid operation", "uvm-cpu-fault", "read"),
    ],
)
def test_managed_memory_faults(one: One, text: str, kind: str, access: str) -> None:
    finding = one(f"========= {text}\n=========     during {access} access to address 0x20be00000\n=========\n")
    assert (finding.kind, finding.access, finding.space) == (kind, access, "managed")
    assert (finding.address, finding.lane) == ("0x20be00000", "none")


@pytest.mark.parametrize("what", ["Use-after-free", "Use-before-alloc", "Free-before-alloc"])
def test_stream_ordered_races_have_blanks_between_their_stacks(read: Callable[..., Report], what: str) -> None:
    report = read(
        f"========= {what} on allocation of size 1,048,576 bytes at 0x302000000\n"
        "=========     Address 0x302000000 is potentially accessed after it is free'd\n"
        "=========\n"
        "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
        "=========         Host Frame: cudaLaunchKernel [0x779ff] in libcudart.so.13\n"
        "=========         Host Frame: main in bug.cu:19 [0x3110] in bug\n"
        "=========\n"
        "=========     Saved host backtrace up to driver entry point at cudaMallocAsync time\n"
        "=========         Host Frame: cudaMallocAsync [0x779ff] in libcudart.so.13\n"
        "=========         Host Frame: main in bug.cu:17 [0x3100] in bug\n"
        "=========\n"
        "========= ERROR SUMMARY: 1 error\n"
    )
    (finding,) = report.findings
    assert (finding.kind, finding.access, finding.size) == ("stream-race", what.lower(), 1048576)
    assert [frame.line for frame in finding.host_frames] == [None, 19]
    assert finding.allocation is not None
    assert finding.allocation.where is not None
    assert finding.allocation.where.line == 17
    assert report.complete
    assert report.unknown_lines == 0


@pytest.mark.parametrize(
    ("text", "kind", "access", "severity"),
    [
        ("Barrier called by threads starting at (1,2,3) in block (4,5,6), (active mask: 0xff) at k(int *)+0x10 in /src/k.cu:3",
         "sync-trace", "barrier", "info"),
        ("Syncwarp called by threads starting at (1,2,3) in block (4,5,6), (active mask: 0xff) at k(int *)+0x10 in /src/k.cu:3",
         "sync-trace", "syncwarp", "info"),
        ("Cuda::barrier arrive and drop called by threads starting at (1,2,3) in block (4,5,6), (active mask: 0x1), barrier address: 0x10 at k(int *)+0x10 in /src/k.cu:3",
         "sync-trace", "cuda::barrier", "info"),
        ("Deadlock detected in Cuda::barrier wait called by threads starting at (1,2,3) in block (4,5,6), (active mask: 0x1), barrier address: 0x0 at k(int *)+0x10 in /src/k.cu:3",
         "deadlock", "cuda::barrier", "error"),
        ("Deadlock detected in Barrier called by threads starting at (1,2,3) in block (4,5,6), (active mask: 0x1) at k(int *)+0x10 in /src/k.cu:3",
         "deadlock", "barrier", "error"),
    ],
)  # fmt: skip
def test_barrier_calls(one: One, text: str, kind: str, access: str, severity: str) -> None:
    finding = one(f"========= {text}\n=========         Sync mask of thread 16: 0xffff0000\n")
    assert (finding.kind, finding.access, finding.severity) == (kind, access, severity)
    assert (finding.thread, finding.block, finding.lane) == ((1, 2, 3), (4, 5, 6), "exact")
    assert (finding.kernel, finding.src_file, finding.line) == ("k(int *)", "/src/k.cu", 3)


def test_caller_on_the_device_is_the_kernel(one: One) -> None:
    finding = one(
        "========= Invalid __global__ write of size 4 bytes\n"
        "=========     at inner(int *)+0xb0 in demo.cu:39\n"
        + BY
        + "=========         Device Frame: middle(int *)+0x30 in demo.cu:42\n"
        "=========         Device Frame: kernel(int *)+0x30 in demo.cu:44\n"
    )
    assert (finding.kernel, finding.line) == ("kernel(int *)", 39)
    assert [frame.function for frame in finding.device_frames] == ["middle(int *)", "kernel(int *)"]


def test_host_frames_on_two_lines(one: One) -> None:
    finding = one(
        "========= Invalid __global__ write of size 4 bytes\n"
        + LANE
        + "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
        "=========     Host Frame: [0x2774ec]\n"
        "=========                in /lib/libcuda.so.1\n"
        "=========     Host Frame:main [0xb0e2]\n"
        "=========                in ./demo\n"
        "=========     Host Frame: [0xffffffffe7e80b26]\n"
        "=========                in \n"
    )
    assert [(frame.function, frame.module) for frame in finding.host_frames] == [
        ("", "/lib/libcuda.so.1"),
        ("main", "./demo"),
        ("", ""),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Warning: Maximum number of hazards reached. Environment variable X can be used to increase this count.",
        "Warning: Detected overflow of tracked cuda::barrier structures. Results might be incorrect.",
        "Internal Sanitizer Warning: something odd",
    ],
)
def test_tool_warnings(one: One, text: str) -> None:
    finding = one(f"========= {text}\n")
    assert (finding.kind, finding.severity) == ("tool-warning", "warning")


def test_unknown_first_line_is_kept_and_counted(read: Callable[..., Report]) -> None:
    report = read("========= Something from a version to come\n=========     with a line of its own\n=========\n")
    (finding,) = report.findings
    assert finding.kind == "tool-warning"
    assert finding.raw.splitlines() == [
        "========= Something from a version to come",
        "=========     with a line of its own",
    ]
    assert report.unknown_lines == 1


@pytest.mark.parametrize(
    ("head", "size", "space"),
    [
        ("Frobnication of size 16 bytes seen at __global__ 0x10", 16, "global"),
        ("Warp went astray", None, ""),
        ("Tiled access refused in __cluster_shared__ window.", None, "cluster_shared"),
    ],
)
def test_unknown_record_with_a_lane_is_about_the_program(
    read: Callable[..., Report], head: str, size: int | None, space: str
) -> None:
    report = read(
        f"========= COMPUTE-SANITIZER\n========= {head}\n{LANE}"
        "=========     Phase of the moon: full\n=========\n========= ERROR SUMMARY: 1 error\n"
    )
    (finding,) = report.findings
    assert (finding.kind, finding.severity, finding.reason) == ("hw-exception", "error", head)
    assert (finding.kernel, finding.line, finding.thread, finding.lane) == ("k(int *)", 3, (1, 2, 3), "exact")
    assert (finding.size, finding.space, report.complete, exit_code(report)) == (size, space, True, 1)
    assert report.unknown_lines == 1


def test_unknown_indented_line_is_kept_and_counted(read: Callable[..., Report]) -> None:
    report = read(
        f"========= Invalid __global__ write of size 4 bytes\n{LANE}=========     Phase of the moon: full\n"
    )
    assert report.unknown_lines == 1
    assert "Phase of the moon: full" in report.findings[0].raw
    assert report.findings[0].thread == (1, 2, 3)


def test_indent_lost_on_the_way(one: One) -> None:
    finding = one(
        "========= Invalid __global__ read of size 4 bytes\n"
        "========= at 0x10 in k(int*)\n"
        "========= by thread (1,0,0) in block (2,0,0)\n"
        "========= Address 0x10 is misaligned\n"
    )
    assert (finding.kind, finding.thread, finding.kernel) == ("misaligned", (1, 0, 0), "k(int*)")
