# Lines of reports are quoted as the tool writes them.

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ladder_backends.model.finding import Report
from ladder_backends.sanitizer import group_count, headline, read_report

Read = Callable[..., Report]


def record(thread: int = 0, line: int = 3, head: str = "Invalid __global__ read of size 4 bytes") -> str:
    return (
        f"========= {head}\n=========     at k(int *)+0x10 in k.cu:{line}\n"
        f"=========     by thread ({thread},0,0) in block (2,0,0)\n"
        f"=========     Access to {0x7F04 + 4 * thread:#x} is out of bounds\n=========\n"
    )


def failed(api: str, code: int, name: str = "cudaErrorX") -> str:
    return f'========= Program hit {name} (error {code}) due to "text" on CUDA API call to {api}.\n=========\n'


def shape(report: Report) -> list[tuple[list[int], list[int]]]:
    return [(group.members, group.folded) for group in report.groups.values()]


def test_lanes_of_one_bug_are_one_group(read: Read) -> None:
    report = read("".join(record(thread) for thread in range(24)) + record(0, line=4))
    assert shape(report) == [(list(range(24)), []), ([24], [])]
    first, second = report.groups.values()
    assert first.title == "read 4 B out of bounds  k :3"
    assert second.title == "read 4 B out of bounds  k :4"
    assert group_count(report, first) == "24 lanes"
    assert headline(report).startswith("2 bugs · 25 lanes")


def test_calls_that_fail_after_a_device_error_are_folded_under_it(read: Read) -> None:
    report = read(
        record(0) + record(1) + failed("cudaDeviceSynchronize", 719) + failed("cudaFree", 700)
        + failed("cudaMalloc", 2) + failed("cudaGetLastError", 2)
    )  # fmt: skip
    assert shape(report) == [([0, 1], [2, 3]), ([4], [5])]
    assert [finding.consequence_of for finding in report.findings] == [None, None, 0, 0, None, 4]
    assert {finding.group for finding in report.findings[:4]} == {report.findings[0].group}
    assert "folded" in report.findings[2].why


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (4, "cudaErrorLaunchFailure"),
        (77, "cudaErrorIllegalAddress"),
        (999, "cudaErrorX"),
        (700, "CUDA_ERROR_ILLEGAL_ADDRESS"),
    ],
)
def test_numbers_of_other_versions_fold_by_name(read: Read, code: int, name: str) -> None:
    text = "unknown error" if code == 999 else "text"
    assert shape(read(record() + failed("cudaFree", code, name).replace('"text"', f'"{text}"'))) == [([0], [1])]


def test_failed_calls_before_any_device_error_stand_alone(read: Read) -> None:
    report = read(failed("cudaFree", 719) + record())
    assert shape(report) == [([0], []), ([1], [])]


def test_an_uninitialized_read_ends_no_context(read: Read) -> None:
    report = read(record(head="Uninitialized __global__ memory read of size 4 bytes") + failed("cudaFree", 719))
    assert shape(report) == [([0], []), ([1], [])]


def test_echo_needs_the_same_error_right_before(read: Read) -> None:
    assert shape(
        read(failed("cudaFree", 1) + failed("cudaPeekAtLastError", 1) + failed("cudaGetLastError", 1))
    ) == [([0], [1, 2])]
    assert len(shape(read(failed("cudaFree", 1) + failed("cudaGetLastError", 2)))) == 2
    assert (
        len(
            shape(read(failed("cudaFree", 1) + "========= Leaked 1 bytes at 0x1\n" + failed("cudaGetLastError", 1)))
        )
        == 3
    )


def test_leaks_group_by_the_line_that_allocated(read: Read) -> None:
    def leak(line: int, address: int) -> str:
        return (
            f"========= Leaked 4 bytes at {address:#x}\n"
            "=========     Saved host backtrace up to driver entry point at allocation time\n"
            "=========         Host Frame: cudaMalloc [0x1] in app\n"
            f"=========         Host Frame: main in app.cu:{line} [0x2] in app\n=========\n"
        )

    report = read(leak(7, 16) + leak(7, 32) + leak(8, 48))
    assert shape(report) == [([0, 1], []), ([2], [])]
    assert [group.title for group in report.groups.values()] == [
        "leaked 4 B  main app.cu:7",
        "leaked 4 B  main app.cu:8",
    ]
    assert group_count(report, next(iter(report.groups.values()))) == "2 times"


def test_words_about_the_run_are_no_bug(read: Read) -> None:
    report = read(record() + "========= Target application returned an error\n========= ERROR SUMMARY: 1 error\n")
    assert headline(report) == "1 bug · 1 lane"
    assert len(report.groups) == 2


def test_files_do_not_follow_from_each_other(tmp_path: Path) -> None:
    (tmp_path / "log.1").write_text(record())
    (tmp_path / "log.2").write_text(failed("cudaFree", 719))
    report = read_report(tmp_path / "log.%p")
    assert [finding.consequence_of for finding in report.findings] == [None, None]
    assert [Path(finding.origin).name for finding in report.findings] == ["log.1", "log.2"]


@pytest.mark.parametrize("count", [1000])
def test_group_ids_depend_on_the_bug_alone(read: Read, count: int) -> None:
    alone = read(record(5))
    among = read("".join(record(thread, line=9) for thread in range(count)) + record(7))
    assert alone.findings[0].group == among.findings[-1].group


def test_record_cut_before_its_thread_counts_no_lane(read: Callable[..., Report]) -> None:
    cut = "========= Invalid __global__ write of size 4 bytes\n=========     at k(int *)+0x80 in k.cu:5\n"
    once, twice = read(cut), read(cut + cut)
    assert group_count(once, next(iter(once.groups.values()))) == ""
    assert group_count(twice, next(iter(twice.groups.values()))) == "2 times"
