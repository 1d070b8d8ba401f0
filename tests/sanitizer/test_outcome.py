"""Did it run, to its end, and what is that worth as an exit status?"""

# Lines of reports are quoted as the tool writes them.
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable

import pytest

from ladder_backends.model.finding import Report
from ladder_backends.sanitizer import TextReportReader, exit_code, headline

Read = Callable[..., Report]

BANNER = "========= COMPUTE-SANITIZER\n"
CLEAN = "========= ERROR SUMMARY: 0 errors\n"
RECORD = (
    "========= Invalid __global__ read of size 4 bytes\n"
    "=========     at k(int *)+0x10 in k.cu:3\n"
    "=========     by thread (1,0,0) in block (2,0,0)\n"
    "=========     Access to 0x7f04 is out of bounds\n"
    "=========\n"
)


@pytest.mark.parametrize(
    "text",
    [
        "========= Error: Target application terminated before first instrumented API call\n",
        "========= Target application terminated before first instrumented API call\n",
        "========= Error: Target application terminated before first instrumented kernel launch\n",
        "========= Error: Target application terminated before first instrumented API call\n========= ERROR SUMMARY: 0 errors\n",
        "========= Error: No attachable process found. compute-sanitizer timed-out.\n"
        "========= Default timeout can be adjusted with --launch-timeout. Awaiting target completion.\nresult 42\n",
        "========= Error: Device not supported. Please refer to the documentation\n",
        "========= Target application doesn't exist or is not a valid executable\n",
        "========= Error: Could not load report file a.out\n",
        "========= Error: Could not connect to target application with pid 12\n",
        "========= Unable to find injection library libsanitizer-collection.so\n",
        "========= No CUDA-MEMCHECK results found\n",
        "Error: No attachable process found. compute-sanitizer timed-out.\n",
        "unrecognised option '--x'\nUsage: compute-sanitizer [options] [your-program]\n",
        "--xml was enabled but no save location was specified\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("banner", ["", BANNER])
def test_did_not_run(read: Read, text: str, banner: str) -> None:
    report = read(banner + text)
    assert not report.ran
    assert not report.complete
    assert report.reason
    assert exit_code(report) == 2
    assert headline(report).startswith("did not run: ")
    assert report.unknown_lines == 0


@pytest.mark.parametrize("text", ["", BANNER, BANNER + "hello\n", "hello\nworld\n"])
def test_no_word_about_the_program_is_no_run(read: Read, text: str) -> None:
    report = read(text)
    assert (report.ran, report.complete, exit_code(report)) == (False, False, 2)
    assert report.reason


@pytest.mark.parametrize(
    ("status", "word"),
    [(255, "status 255"), (126, "chmod +x"), (13, "--injection-path"), (127, "not found"), (-9, "signal 9"), (124, "limit")],
)  # fmt: skip
def test_exit_status_is_told(status: int, word: str) -> None:
    reader = TextReportReader()
    reader.feed(BANNER.encode())
    reader.finish(status)
    assert word in (reader.report.reason or "")
    assert not reader.report.ran


def test_clean_run(read: Read) -> None:
    report = read(BANNER + "all fine\n" + CLEAN)
    assert (report.ran, report.complete, report.reason, report.summary) == (True, True, None, {"errors": 0})
    assert exit_code(report) == 0
    assert headline(report) == "nothing found"


def test_clean_run_without_any_sign_of_the_program_is_marked(read: Read) -> None:
    report = read(BANNER + CLEAN)
    assert (report.ran, report.complete, exit_code(report)) == (True, True, 0)
    assert "check that it ran" in (report.reason or "")


@pytest.mark.parametrize(
    "text",
    [
        "========= Launch #1\n=========   Kernel: vadd(int*)\n=========   Grid:   (4,1,1)\n=========   Stream: 0x0\n",
        "========= Launch #1 (filtered: not in include list)\n=========   Kernel: vadd(int*)\n",
    ],
)
def test_launch_records_are_a_sign_of_the_program(read: Read, text: str) -> None:
    report = read(BANNER + text + CLEAN)
    assert (report.ran, report.reason, report.findings, report.unknown_lines) == (True, None, [], 0)
    assert report.summary == {"errors": 0, "launches": 1}


def test_racecheck_summary(read: Read) -> None:
    report = read(BANNER + "x\n========= RACECHECK SUMMARY: 1,234 hazards displayed (0 errors, 1,234 warnings)\n")
    assert report.tool == "racecheck"
    assert report.summary == {"hazards": 1234, "errors": 0, "warnings": 1234}


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("========= ERROR SUMMARY: 1 error\n", "the tool counts 1 error,"),
        ("========= ERROR SUMMARY: 12,000 errors\n", "the tool counts 12,000 errors,"),
        ("========= RACECHECK SUMMARY: 3 hazards displayed (0 errors, 3 warnings)\n", "the tool counts 3 errors,"),
        ("========= A word from a version to come\n=========\n========= ERROR SUMMARY: 1 error\n", "counts 1 error,"),
        ("========= Invalid " + "__global__ " * 5_000 + "\n========= ERROR SUMMARY: 1 error\n", "counts 1 error,"),
    ],
)  # fmt: skip
def test_errors_that_only_the_summary_knows_are_no_clean_run(read: Read, text: str, counted: str) -> None:
    report = read(BANNER + "output\n" + text)
    assert (report.ran, report.complete, exit_code(report)) == (True, False, 1)
    assert report.reason is not None
    assert counted in report.reason
    assert headline(report).startswith("errors not shown: ")
    assert len(headline(report)) < 400


def test_errors_of_the_tool_itself_are_no_errors_unseen(read: Read) -> None:
    internal = "========= Internal Sanitizer Error: it didn't track the launch. Errors might go undetected.\n"
    report = read(BANNER + "output\n" + internal + "=========\n========= ERROR SUMMARY: 1 error\n")
    assert (report.complete, exit_code(report)) == (False, 2)
    assert "counts" not in headline(report)


def test_leak_summary_alone_does_not_end_a_run(read: Read) -> None:
    report = read(BANNER + "x\n========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n")
    assert not report.complete
    assert exit_code(report) == 2
    assert report.summary == {"leaked_bytes": 0, "leaked_allocations": 0}


def test_log_that_begins_in_a_record(read: Read) -> None:
    report = read("".join(RECORD.splitlines(keepends=True)[2:]) + "========= ERROR SUMMARY: 1 error\n")
    assert (report.ran, report.complete, exit_code(report)) == (True, False, 1)
    assert report.reason is not None
    assert report.reason.startswith("the log begins in the middle of a record; ")
    assert report.unknown_lines == 0


def test_killed_after_findings(read: Read) -> None:
    report = read(BANNER + RECORD, status=-9)
    assert (report.ran, report.complete, exit_code(report)) == (True, False, 1)
    assert report.reason is not None
    assert "no summary" in report.reason
    assert "signal 9" in report.reason


def test_untracked_launch_makes_a_clean_summary_worthless(read: Read) -> None:
    report = read(
        BANNER + "x\n========= Internal Sanitizer Error: The Sanitizer encountered an error while launching"
        " void f<a, b>(int *) and didn't track the launch. Errors might go undetected. (Unable to allocate enough"
        " memory to perform the requested operation)\n" + CLEAN
    )
    assert (report.ran, report.complete, exit_code(report)) == (True, False, 2)
    assert report.findings[0].kernel == "void f<a, b>(int *)"


@pytest.mark.parametrize("mark", ["might be incorrect", "buffer overflow"])
def test_doubts_of_the_tool(read: Read, mark: str) -> None:
    lines = {
        "might be incorrect": "========= Warning: Detected overflow of tracked cuda::barrier structures."
        " Results might be incorrect. Try using --num-cuda-barriers to fix the issue\n",
        "buffer overflow": "========= ERROR SUMMARY: 12 errors were skipped (error buffer overflow).\n",
    }
    report = read(BANNER + "x\n" + lines[mark] + CLEAN)
    assert (report.ran, report.complete, exit_code(report)) == (True, False, 2)


def test_print_limit(read: Read) -> None:
    report = read(
        RECORD + "========= ERROR SUMMARY: 74476 errors\n"
        "========= ERROR SUMMARY: 74376 errors were not printed. Use --print-limit option to adjust the number of printed errors\n"
    )  # fmt: skip
    assert report.summary == {"errors": 74476, "not_printed": 74376}
    assert report.complete
    assert "--print-limit 0" in (report.reason or "")
    assert [finding.kind for finding in report.findings] == ["oob", "session"]


def test_target_that_failed_is_a_word_about_the_run(read: Read) -> None:
    report = read(
        BANNER + RECORD + "========= Target application returned an error\n========= ERROR SUMMARY: 1 error\n"
    )
    assert [finding.kind for finding in report.findings] == ["oob", "session"]
    assert (report.ran, report.complete, report.reason) == (True, True, None)


def test_neighbouring_words_about_the_run_are_one_finding(read: Read) -> None:
    report = read(
        BANNER + "========= Error: process didn't terminate successfully\n"
        "========= The application may have hit an error when dereferencing Unified Memory from the host."
        " Please rerun the application under cuda-gdb or Nsight Eclipse Edition to catch host side errors.\n"
        "========= Target application returned an error\n"
    )
    assert [finding.kind for finding in report.findings] == ["tool-error"]
    assert report.findings[0].raw.count("\n") == 2
    assert exit_code(report) == 2


def test_several_runs_in_one_log(read: Read) -> None:
    two = read(BANNER + RECORD + "========= ERROR SUMMARY: 1 error\n" + BANNER + "x\n" + CLEAN)
    assert (two.complete, two.summary) == (True, {"errors": 1})
    cut = read(BANNER + "x\n" + CLEAN + BANNER + "x\n")
    assert (cut.ran, cut.complete, exit_code(cut)) == (True, False, 2)
    failed = read(
        BANNER
        + "x\n"
        + CLEAN
        + BANNER
        + "========= Error: No attachable process found. compute-sanitizer timed-out.\n"
    )
    assert exit_code(failed) == 2
    assert not failed.complete


def test_deprecated_tool_says_so_without_a_finding(read: Read) -> None:
    report = read(
        "========= CUDA-MEMCHECK\n"
        "========= This tool is deprecated and will be removed in a future release of the CUDA toolkit\n"
        "========= Please use the compute-sanitizer tool as a drop-in replacement\nx\n" + CLEAN
    )
    assert (report.findings, report.complete) == ([], True)
    assert len(report.notes) == 2


def test_coredump_lines_name_the_dump(read: Read) -> None:
    report = read(
        RECORD + "========= Generating coredump file /tmp/my dump.nvcudmp\n"
        "========= It can be loaded in the debugger with the following command:\n"
        "========= cuda-gdb -ex 'target cudacore /tmp/my dump.nvcudmp'\n=========\n========= ERROR SUMMARY: 1 error\n"
    )
    assert report.dumps == ["/tmp/my dump.nvcudmp"]
    assert len(report.findings) == 1
    assert report.complete


def test_trace_and_warnings_alone_are_not_found(read: Read) -> None:
    trace = (
        "========= Barrier called by threads starting at (0,0,0) in block (0,0,0), (active mask: 0xff) at k()+0x1\n"
    )
    end = "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
    traced, warned = (
        read(BANNER + "x\n" + trace + end),
        read(BANNER + "x\n========= Warning: mind the gap\n" + CLEAN),
    )
    for report in (traced, warned):
        assert len(report.findings) == 1
        assert (exit_code(report), headline(report)) == (0, "nothing found")
